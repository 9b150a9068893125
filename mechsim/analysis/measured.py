"""Measures of single motions of a subject: a file's mechanism, or a user's Lagrangian."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mechsim.analysis.subject import Subject
from mechsim.errors import Mark, SpecError
from mechsim.frozen import frozen
from mechsim.measure.gathered import Gathered
from mechsim.measure.reading import Asked, Reader
from mechsim.measure.scalars import Scalars
from mechsim.measure.steps import Steps, blocks_of
from mechsim.result import Motion
from mechsim.result.layout import Array

Texts = str | Sequence[str] | Mapping[str, str]  # a measure, measures, or these by their labels


@frozen(slots=False, eq=False)
class Measured:
    """What is measured of motions: see study/measures."""

    subject: Subject
    asked: tuple[Asked, ...]

    @classmethod
    def of(cls, subject: Subject, texts: Texts) -> Measured:
        """Measures as they are written, with labels of their own where these are given. Raises SpecError with all that
        is wrong."""
        reader = Reader(subject.names)
        named = texts if isinstance(texts, Mapping) else dict.fromkeys([texts] if isinstance(texts, str) else texts)
        asked = []
        for number, (key, text) in enumerate(named.items(), 1):
            found = reader.read(key if text is None else text, Mark(f"measure {number}", 1, 1))
            asked += found if text is None else [replace(each, label=key) for each in found]
        if reader.faults:
            once = {(fault.message, fault.hint): fault for fault in reversed(reader.faults)}  # the first of those alike
            raise SpecError(*reversed(once.values()))
        return cls(subject, tuple(asked))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(each.label for each in self.asked)

    @property
    def units(self) -> tuple[str, ...]:
        return tuple(each.unit for each in self.asked)

    def __call__(self, motion: Motion, parameters: Mapping[str, float]) -> Array:
        """The numbers of a motion with some other parameters, NaN where there is none."""
        if not self.asked:
            return np.zeros(0)
        many = Gathered([motion], {})
        block = next(blocks_of(np.array([0]), many.polynomials))
        scalars = Scalars(Steps(many, block, self.subject.numbers(parameters), self.subject.names.changing))
        return np.array([float(scalars.of(each)[0]) for each in self.asked])
