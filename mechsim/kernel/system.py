"""System: a mechanism with its equations, `[(program, instances)]`, and their values at any point.

Equations and unknowns are numbered alike: rows 0..n-1 are the Euler-Lagrange rows of the coordinates, rows n..n+m-1
the constraints; unknowns are the coordinates, then the multipliers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mechsim.derive import program_for
from mechsim.derive.program import Program
from mechsim.kernel.groups import Group, ProgramKey, group_of, levels_of, members_by_program
from mechsim.kernel.incidence import Incidence, Triplets
from mechsim.kernel.values import Values
from mechsim.lagrangian import kind_named
from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.law import kind_of
from mechsim.model.mechanism import Mechanism, Sampler, Switch

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Group", "System", "Triplets"]


class System(Incidence, Values):
    """A mechanism with its equations. Frozen: what changes (state, time) is passed in."""

    def __init__(
        self,
        mechanism: Mechanism,
        kinds: Mapping[str, Kind] | None = None,
        dropped: frozenset[int] = frozenset(),
        complete: bool = False,
        known: Mapping[ProgramKey, Program] | None = None,
    ):
        self.mechanism = mechanism
        self.kinds = {name: kind.at(mechanism.dimension) for name, kind in (kinds or {}).items()}
        self.dropped = dropped
        self.n = len(mechanism.variables)
        multipliers = mechanism.multipliers
        kept = [i for i in range(len(multipliers)) if i not in dropped]
        self.m = len(kept)
        self._constraint_number = np.full(len(multipliers) + 1, -1)
        self._constraint_number[kept] = np.arange(self.m)
        self.labels = tuple(v.label for v in mechanism.variables) + tuple(multipliers[i] for i in kept)
        self.scales = np.array([v.scale for v in mechanism.variables] + [1.0] * self.m)
        self.constants = np.array(mechanism.constants, dtype=float)
        # Constraints that are gaps, and the constants that are 1 while these are closed.
        gaps = [
            (int(self._constraint_number[row]), gap)
            for row, gap in zip(mechanism.gap_rows, mechanism.gaps, strict=True)
        ]
        self.events = mechanism.events
        self.gaps = tuple(gap for row, gap in gaps if row >= 0)
        self.gap_rows = np.array([row for row, _ in gaps if row >= 0], dtype=int)
        self.gap_modes = np.array([gap.mode for gap in self.gaps], dtype=int)
        self.frictions = mechanism.frictions
        self.friction_rows = self._constraint_number[list(mechanism.friction_rows)]
        self.friction_modes = np.array([friction.mode for friction in self.frictions], dtype=int)
        self.complete = complete
        self._known = dict(known or {})
        self.groups = tuple(self._groups())

    def without(self, constraints: Iterable[int]) -> System:
        """The same mechanism with these constraints (numbered as they are now) left out."""
        numbers = {int(np.flatnonzero(self._constraint_number == c)[0]) for c in constraints}
        if not numbers:
            return self
        return System(self.mechanism, self.kinds, self.dropped | numbers, self.complete, self._programs_known)

    @cached_property
    def bilateral(self) -> System:
        """The same without gaps: what holds at the start, which that and the freedom are made of."""
        return System(self.mechanism.bilateral, self.kinds, self.dropped) if self.gaps or self.frictions else self

    @property
    def is_conservative(self) -> bool:
        """Whether no force does work that no potential gives back, and no velocity is constrained by itself. What is
        struck gives all back where its restitution is one and it does not move by itself."""
        elements, laws = self.mechanism.elements, self.mechanism.laws
        elastic = {
            gap.account
            for gap in self.gaps
            if gap.restitution == 1.0 and not (gap.slow or gap.bond or laws[elements[gap.element].kind].is_prescribed)
        }
        return bool(not (set(self.accounts.tolist()) - elastic) and not self.frictions and np.all(self.levels == 2))

    @property
    def prescribed(self) -> set[int]:
        """Constraints that move what they bind."""
        return {int(self._constraint_number[row]) for row in self.mechanism.prescribed} - {-1}

    @cached_property
    def loose(self) -> System:
        """The same without gaps and bonds: what always holds, which offsets are made of."""
        return System(self.mechanism.loose, self.kinds, self.dropped) if self.gaps or self.frictions else self

    @cached_property
    def unaccounted(self) -> System:
        """The same without accounts of work, which no motion depends on; with contacts the same."""
        mechanism = self.mechanism.unaccounted
        return self if mechanism is self.mechanism else self.rebuilt(mechanism)

    def completed(self) -> System:
        """With derivatives of the rows by positions and velocities too, which only unusual structures need."""
        return System(self.mechanism, self.kinds, self.dropped, True)

    def holding(self, constants: ArrayLike) -> System:
        """The same system with other constants of the mechanism: one set, or one for each of many points."""
        held = System.__new__(type(self))
        held.__dict__.update(self.__dict__, constants=np.asarray(constants, dtype=float))
        return held

    def switching(self, switches: tuple[Switch, ...]) -> System:
        """The same system with other times at which constants change."""
        other = System.__new__(type(self))
        other.__dict__.update(self.__dict__, mechanism=replace(self.mechanism, switches=switches), switches=switches)
        return other

    def rebuilt(self, mechanism: Mechanism) -> System:
        """The equations of this system for a mechanism of the same elements with other parameters or scales.

        Programs that are known are not derived again, also those of kinds that no disk cache can hold.
        """
        return System(mechanism, self.kinds, self.dropped, self.complete, self._programs_known)

    @property
    def switches(self) -> tuple[Switch, ...]:
        """Times at which constants change, and how."""
        return self.mechanism.switches

    @property
    def samplers(self) -> tuple[Sampler, ...]:
        """What is computed at times and held between them."""
        return self.mechanism.samplers

    @property
    def _programs_known(self) -> dict[ProgramKey, Program]:
        return {(group.kind.name, group.zero_parameters): group.program for group in self.groups}

    # --- building

    def _groups(self) -> list[Group]:
        self.levels = levels_of(self.mechanism, self._kind)[self._constraint_number[:-1] >= 0]
        places = {label: number for number, label in enumerate(self.mechanism.multipliers)}
        return [
            group_of(self._kind(name), zeros, members, self._program(name, zeros), self._constraint_number, places)
            for (name, zeros), members in members_by_program(self.mechanism, self._kind).items()
        ]

    def _kind(self, name: str) -> Kind:
        if name not in self.kinds:
            laws = self.mechanism.laws
            self.kinds[name] = kind_of(laws[name]) if name in laws else kind_named(name, self.mechanism.dimension)
        return self.kinds[name]

    def _program(self, name: str, zeros: frozenset[int]) -> Program:
        return self._known.get((name, zeros)) or program_for(self._kind(name), zeros, self.complete)
