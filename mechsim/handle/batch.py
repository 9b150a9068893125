"""Motions of one plan that went in lanes together, and what can be told of each when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from mechsim.engine.fleets import Sets
from mechsim.engine.many import STATUSES, Many, words_of
from mechsim.errors import Fault, IntegrationError, MechsimError
from mechsim.handle.family import Variation
from mechsim.handle.series import Steps, steps_of
from mechsim.kernel.columns import energies_of
from mechsim.model.mechanism import Mechanism
from mechsim.result import Motion
from mechsim.result.layout import Array
from mechsim.simulation import Prepared, adjust
from mechsim.spec.document import MechSpec


@dataclass(eq=False)
class Batch:
    """Motions in lanes. Numbers of their equations are computed again when they are asked for, for they are many."""

    variation: Variation
    columns: Array  # of parameters, (names, motions)
    many: Many
    begins: Array
    tends: Array
    spec: MechSpec  # of the file's own parameters, with the settings of the call
    reactions: Sequence[str]

    @property
    def mechanism(self) -> Mechanism:
        """Of all of them, but for its constants."""
        return self.variation.like.mechanism

    @cached_property
    def constants(self) -> Array:
        """Of the mechanism, (motions, constants)."""
        numbers = self.variation.numbers
        return np.ascontiguousarray(numbers.values(self.columns)[numbers.constants].T)

    def message(self, place: int) -> str:
        return self.many.message(place)

    def error(self, place: int) -> MechsimError | None:
        if self.many.codes[place] == 0:
            return None
        return IntegrationError(Fault(f"the integration stopped: {self.message(place)}"))

    def motion(self, place: int) -> Motion | None:
        if not self.many.kept or not np.isfinite(self.many.t[place]):
            return None
        solution = self._one(place).solution(0)
        numbers = zip(self.variation.names, self.columns[:, place].tolist(), strict=True)
        spec = adjust(self.spec, t0=float(self.begins[place]), tend=float(self.tends[place]))
        spec = replace(spec, overrides={**spec.overrides, **{name: repr(value) for name, value in numbers}})
        facts = Prepared(spec, solution.system, solution.ending, solution.structure).facts
        return Motion(solution, facts, self.reactions)

    def _one(self, place: int) -> Many:
        """One of them, with its numbers."""
        own, variation = slice(place, place + 1), self.variation
        values = variation.numbers.values(np.ascontiguousarray(self.columns[:, own]))
        many = self.many
        statistics = {name: column[own] for name, column in many.statistics.items()}
        sets = Sets(variation.numbers, values, variation.mechanism)
        parts = {name: getattr(many, name)[own] for name in ("t", "q", "v", "lam", "codes", "kept")}
        return replace(many, **parts, statistics=statistics, sets=sets)

    def steps(self, place: int) -> Steps | None:
        """The polynomials of one motion."""
        kept = self.many.kept[place] if self.many.kept else None
        if kept is None:
            return None
        if not isinstance(kept, tuple):
            return steps_of(kept, tuple(self.variation.like.labels))
        return kept[0], kept[3]

    @cached_property
    def energies(self) -> Array:
        """Kinetic and potential, (2, motions), where they ended."""
        variation, many = self.variation, self.many
        values = variation.numbers.values(self.columns)
        return energies_of(variation.like, variation.numbers, values, many.t, many.q, many.v)

    def settled(self) -> Settled:
        """What can be pickled."""
        places = range(len(self.many))
        told = [(STATUSES[self.many.codes[k]], float(self.many.t[k])) for k in places]
        motions = [self.motion(k) for k in places] if self.many.kept else []
        return Settled(self.mechanism, self.constants, self.energies, told, motions)


@dataclass(eq=False)
class Settled:
    """A batch without its machinery."""

    mechanism: Mechanism
    constants: Array
    energies: Array
    told: list[tuple[str, float]]
    motions: list[Motion | None] = field(default_factory=list)

    def message(self, place: int) -> str:
        return words_of(*self.told[place])

    def error(self, place: int) -> MechsimError | None:
        if self.told[place][0] == STATUSES[0]:
            return None
        return IntegrationError(Fault(f"the integration stopped: {self.message(place)}"))

    def motion(self, place: int) -> Motion | None:
        return self.motions[place] if self.motions else None

    def steps(self, place: int) -> Steps | None:
        motion = self.motion(place)
        return None if motion is None else steps_of(motion.solution, tuple(motion.system.labels))

    def settled(self) -> Settled:
        return self
