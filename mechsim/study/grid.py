"""How the cases of a sweep lie: on the axes of grids and lists, with draws (or cases of a file) at every point."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen
from mechsim.study.rows import FINISHED

if TYPE_CHECKING:
    from mechsim.study.table import SweepTable

Array = NDArray[np.float64]


@frozen
class Axis:
    """A parameter on a grid or a list."""

    name: str
    values: tuple[float, ...]
    log: bool


@frozen
class Grid:
    """Cases are numbered by the axes in their order, the last fastest, and then by draws."""

    axes: tuple[Axis, ...]  # with two values or more
    drawn: tuple[str, ...]  # parameters without an axis: drawn, or listed in a file of cases
    draws: int  # at every point of the axes; 1 where nothing is drawn

    @classmethod
    def of(cls, table: SweepTable) -> Grid:
        axes = [
            Axis(each["name"], tuple(float(value) for value in each["values"]), each["scale"] == "log")
            for each in table.vary
            if each["values"] is not None
        ]
        drawn = tuple(each["name"] for each in table.vary if each["values"] is None)
        points = math.prod(len(axis.values) for axis in axes)
        if not points or len(table.status) % points:  # rows were taken away: what is left lies on no grid
            return cls((), (*(axis.name for axis in axes), *drawn), len(table.status))
        return cls(tuple(axis for axis in axes if len(axis.values) > 1), drawn, len(table.status) // points)

    @property
    def shape(self) -> tuple[int, ...]:
        """Axes, then draws."""
        return (*(len(axis.values) for axis in self.axes), self.draws)

    def axis(self, name: str) -> int | None:
        """The place of an axis, or None if the parameter has none."""
        return next((place for place, axis in enumerate(self.axes) if axis.name == name), None)


def values_of(table: SweepTable, name: str) -> Array:
    """A column as numbers; of a measure only where the case came to its end, else NaN."""
    column = np.asarray(table[name], float)
    measures = {each["label"] for each in table.measures}
    return np.where(np.asarray(table.status) == FINISHED, column, np.nan) if name in measures else column


def failures(status: Sequence[str] | np.ndarray) -> Mapping[str, int]:
    """How many cases ended otherwise than finished, by status, most first."""
    words, counts = np.unique(np.asarray(status, str), return_counts=True)
    found = [(str(word), int(count)) for word, count in zip(words, counts, strict=True) if word != FINISHED]
    return dict(sorted(found, key=lambda each: (-each[1], each[0])))
