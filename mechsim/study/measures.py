"""Measures: numbers of a motion, as a person writes them: `max(A_y) - min(A_y)`, `period(A_x)`, `integral(T)/tend`.

Extremes, crossings and integrals come from the polynomials of the steps, not from rows of a table: see piecewise.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mechsim.errors import Mark, SpecError
from mechsim.result import Motion
from mechsim.spec.document import MechSpec
from mechsim.study.bernstein import Array, Indices
from mechsim.study.parameters import Parameters
from mechsim.study.reading import Asked, Reader
from mechsim.study.scalars import Scalars
from mechsim.study.steps import Gathered, Many, Steps

BLOCK = 1 << 15  # steps at once: what they need stays near the processor, and bounds what is needed of memory


@dataclass(frozen=True, slots=True, eq=False)
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
        reader = Reader(spec)
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
        """The numbers of many motions, (cases, measures), NaN where there is none, and for each case why, if so. Those of
        a motion that did not finish are NaN: its own status says why."""
        count = len(many.t)
        values, messages = np.full((count, len(self.asked)), np.nan), [""] * count
        parameters = Parameters(self.spec, many.parameters)
        for cases in self._blocks(many):
            steps = Steps(many, cases, parameters, self.changing)
            scalars = Scalars(steps)
            for place, asked in enumerate(self.asked):
                values[cases, place] = scalars.of(asked)
            for case, message in scalars.messages.items():
                messages[cases[case]] = message
        for k in self._others(many):
            values[k], messages[k] = self.of_motion(many.motion(k))
        return values, messages

    def _blocks(self, many: Many) -> Iterator[Indices]:
        """Finished cases whose steps are there, as many at once as belong together."""
        cases = np.flatnonzero(many.finished)
        if self.keep == "final":
            yield from (cases,) if len(cases) else ()
            return
        counts = np.diff(many.polynomials.offsets)[cases]
        cases, counts = cases[counts > 0], counts[counts > 0]
        yield from (
            cases[first:last] for first, last in _spans(np.cumsum(counts), BLOCK)
        )

    def _others(self, many: Many) -> list[int]:
        """Finished cases whose steps are not with the others': their mechanism has another structure."""
        if self.keep == "final":
            return []
        without = np.diff(many.polynomials.offsets) == 0
        return np.flatnonzero(many.finished & without).tolist()


def _spans(ends: Array, most: int) -> Iterator[tuple[int, int]]:
    """Ranges whose sums are at most so much, or that have one member; `ends` are sums until each."""
    first, before = 0, 0
    while first < len(ends):
        last = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield first, last
        first, before = last, int(ends[last - 1])
