"""A sweep as it is plotted: its columns on the axes of its grids, with what is said about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mechsim.errors import Fault
from mechsim.frozen import frozen
from mechsim.render.sizes import LEAST_NOISE, NOISE, Sizes
from mechsim.result.layout import Array
from mechsim.result.paths import OutputError
from mechsim.spec.suggest import listed, nearest
from mechsim.study.grid import Axis, Grid, failures, values_of

if TYPE_CHECKING:
    from mechsim.study.statistics import Statistics
    from mechsim.study.table import SweepTable

CROSS = "(\N{MULTIPLICATION SIGN})"
ASIDE = 0.05  # room beside what is drawn, as a share of it
Fixed = Mapping[int, int]  # by the number of an axis, which of its values is shown


@frozen(slots=False)
class Swept:
    """The table of a sweep with its grid."""

    table: SweepTable
    grid: Grid = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "grid", Grid.of(self.table))

    @cached_property
    def statistics(self) -> Statistics:
        from mechsim.study.statistics import summary

        return summary(self.table)

    @property
    def parameters(self) -> list[str]:
        return [each["name"] for each in self.table.vary]

    @cached_property
    def measures(self) -> dict[str, str]:
        """Units by label."""
        return {each["label"]: each["unit"] for each in self.table.measures}

    @property
    def columns(self) -> list[str]:
        return [*self.parameters, *self.measures, "steps"]

    def flat(self, label: str) -> Array:
        """A column, a number for each case; NaN where there is none."""
        return values_of(self.table, label)

    def gridded(self, label: str, order: Sequence[int], fixed: Fixed) -> Array:
        """A column over some axes, in this order, then draws; the other axes as `fixed` has them."""
        values = self.flat(label).reshape(self.grid.shape)
        place = tuple(fixed.get(number, slice(None)) for number in range(len(self.grid.axes)))
        values = values[place]
        left = [number for number in range(len(self.grid.axes)) if number not in fixed]
        return np.transpose(values, [*(left.index(number) for number in order), len(left)])

    def named(self, word: str, option: str) -> str:
        """A column as a person writes it, spaces or not. Raises OutputError with what there is."""
        squeezed = {"".join(label.split()): label for label in self.columns}
        if (label := squeezed.get("".join(word.split()))) is not None:
            return label
        near = nearest(word, self.columns)
        there = f"the sweep varies {listed(self.parameters)} and measures {listed(self.measures)}"
        hint = f"did you mean {near!r}? {there}" if near else there
        raise OutputError(Fault(f"{option} names {word!r}, which is no column of the sweep", hint=hint))

    def matching(self, word: str, option: str) -> list[str]:
        """Columns by name, or by a pattern such as `at(A_x*`."""
        found = [label for label in self.columns if fnmatchcase(label, word)] if "*" in word else []
        exact = "".join(word.split()) in ("".join(label.split()) for label in self.columns)
        return found if found and not exact else [self.named(word, option)]

    def words(self, label: str) -> str:
        """A column with its unit, for an axis."""
        unit = self.measures.get(label, "")
        return f"{label} / ({unit})" if "/" in unit or " " in unit else f"{label} / {unit}" if unit else label

    def limits(self, *values: Array) -> tuple[float, float]:
        """An axis as long as its values, or as the quantity is large where they are constant but for errors of the
        runs."""
        tolerance = float(self.table.facts["settings"].get("tol") or 0.0)
        low, high, changes = Sizes({}, max(LEAST_NOISE, NOISE * tolerance)).limits("", *values)
        aside = ASIDE * (high - low) if changes else 0.0
        return low - aside, high + aside

    def at(self, fixed: Fixed) -> str:
        """`l = 1, g = 9.81`: where the axes stand that a panel does not show."""
        return ", ".join(f"{self.grid.axes[k].name} = {self.grid.axes[k].values[i]:.4g}" for k, i in fixed.items())

    @property
    def told(self) -> str:
        """`63 cases, 14 failed`."""
        count, failed = len(self.table), len(self.table) - int(np.sum(self.table.finished))
        return f"{count:,} case{'s' if count != 1 else ''}" + (f", {failed:,} failed {CROSS}" if failed else "")

    @property
    def notes(self) -> list[str]:
        """How many cases have no value, and why."""
        count, by_status = len(self.table.status), failures(self.table.status)
        notes = []
        if by_status:
            kinds = ", ".join(f"{word} {number:,}" for word, number in by_status.items())
            notes.append(f"{sum(by_status.values()):,} of {count:,} cases failed ({kinds}): they have no values")
        finished = np.asarray(self.table.status) == "finished"
        for label in self.measures:
            if empty := int((finished & ~np.isfinite(self.flat(label))).sum()):
                notes.append(f"{label}: {empty:,} of the {int(finished.sum()):,} finished cases have no value")
        return notes


def sorted_axis(axis: Axis) -> tuple[Array, list[int]]:
    """The values of an axis from the least on, and where each of them stands."""
    order = np.argsort(axis.values, kind="stable")
    return np.asarray(axis.values)[order], order.tolist()
