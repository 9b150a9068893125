"""Measures: numbers of a motion, as a person writes them: `max(A_y) - min(A_y)`, `period(A_x)`, `integral(T)/tend`.

Extremes, crossings and integrals come from the polynomials of the steps, not from rows of a table: see piecewise.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mechsim.errors import Mark, SpecError
from mechsim.frozen import frozen
from mechsim.measure.bernstein import Array, Mask
from mechsim.measure.gathered import Gathered
from mechsim.measure.meanings import Names
from mechsim.measure.parameters import Parameters
from mechsim.measure.reading import Asked, Reader
from mechsim.measure.scalars import Scalars
from mechsim.measure.steps import Block, Many, Series, Steps, blocks_of
from mechsim.result import Motion
from mechsim.spec.document import MechSpec


@frozen(eq=False)
class Measures:
    """What is measured of each case: `labels` are names of columns, in `units`; `keep` says what a motion must keep for
    it, "final" or "polynomials"."""

    labels: tuple[str, ...]
    units: tuple[str, ...]
    keep: str
    spec: MechSpec
    asked: tuple[Asked, ...]
    changing: bool  # constants of the mechanism change along its motions

    @classmethod
    def parse(cls, texts: Sequence[str], spec: MechSpec, marks: Sequence[Mark] | None = None) -> Measures:
        """Read measures; `marks` are their places, if they stand in a file. Raises SpecError with all that is wrong."""
        places = marks or [Mark(f"--measure {number}", 1, 1) for number in range(1, len(texts) + 1)]
        reader = Reader(Names(spec))
        asked = [each for text, mark in zip(texts, places, strict=True) for each in reader.read(text, mark)]
        if reader.faults:
            raise SpecError(*reader.faults)
        keep = "final" if all(each.is_final for each in asked) else "polynomials"
        labels, units = tuple(each.label for each in asked), tuple(each.unit for each in asked)
        return cls(labels, units, keep, spec, tuple(asked), reader.names.changing)

    def of_motion(self, motion: Motion) -> tuple[Array, str]:
        """The numbers of one motion, NaN where there is none, and then why."""
        values, messages = self.of_many(Gathered([motion], motion.facts["settings"]["overrides"]))
        return values[0], messages[0]

    def of_many(self, many: Many) -> tuple[Array, list[str]]:
        """The numbers of many motions, (cases, measures), NaN where there is none, and for each case why, if so. Those
        of a motion that did not finish are NaN: its own status says why."""
        count = len(many.t)
        values, messages = np.full((count, len(self.asked)), np.nan), [""] * count
        parameters = Parameters(self.spec, many.parameters)
        series = None if self.keep == "final" else many.polynomials  # once: it may be made when asked for
        for block in self._blocks(many, series):
            steps = Steps(many, block, parameters, self.changing)
            scalars = Scalars(steps)
            for place, asked in enumerate(self.asked):
                values[block.cases, place] = scalars.of(asked)
            for case, message in scalars.messages.items():
                messages[block.cases[case]] = message
        for k in [] if series is None else np.flatnonzero(many.finished & _is_other(series)).tolist():
            values[k], messages[k] = self.of_motion(many.motion(k))
        return values, messages

    def _blocks(self, many: Many, series: Series | None) -> Iterator[Block]:
        """Finished cases, as many at once as belong together."""
        cases = np.flatnonzero(many.finished if series is None else many.finished & ~_is_other(series))
        if series is not None:
            yield from blocks_of(cases, series)
        elif len(cases):
            yield Block(cases)


def _is_other(series: Series) -> Mask:
    """Which cases have no steps with the others, or not all of their numbers: their mechanism has another structure."""
    found = (np.diff(series.offsets) == 0) | np.isnan(series.constants).any(axis=1)
    if not found.all():  # else there may be no polynomials at all
        found[~found] = np.isnan(series.coefficients[series.offsets[:-1][~found], 0]).any(axis=1)
    return found
