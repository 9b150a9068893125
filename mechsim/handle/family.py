"""A file's mechanism for any parameters: it is read, derived, planned and assembled once, and then only retuned.

The tape of the file (spec/living.py) knows all numbers as functions of some of its parameters. Where other values of
these keep the structure, their motion needs no more than these numbers, a start beside the file's own, and a march that
is tuned to them. Where they do not, the file is read again. Nothing that a run finds is used by another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import SupportsFloat

import numpy as np

from mechsim.engine import order_for
from mechsim.engine.fleets import Fleets
from mechsim.engine.leading import planned
from mechsim.engine.machine import Machines
from mechsim.errors import AssemblyError, IntegrationError
from mechsim.initial import assemble, start_beside
from mechsim.initial.assembly import with_state_rates
from mechsim.initial.problem import InitialValueProblem
from mechsim.initial.start import Start
from mechsim.kernel.numbers import Numbers, TunedPlan, TunedSystem
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System
from mechsim.lagrangian.vector import labels
from mechsim.model import build
from mechsim.model.mechanism import Mechanism
from mechsim.simulation import Prepared, adjust, prepare
from mechsim.spec import parse
from mechsim.spec.document import MechSpec, Problem
from mechsim.spec.living import Tape, nodes_in, settled


class Family:
    """The mechanism of a file with its own parameters, and what others have in common with it."""

    def __init__(self, spec: MechSpec, t0: float | None = None, tend: float | None = None):
        self.times = t0, tend
        self.spec = adjust(spec, t0=t0, tend=tend)
        self._orders: dict[float, int] = {}
        self._variations: dict[tuple[str, ...], Variation] = {}

    @cached_property
    def problem(self) -> InitialValueProblem:
        return InitialValueProblem.of(self.spec)

    @property
    def system(self) -> System:
        return self.problem.system

    @cached_property
    def prepared(self) -> Prepared:
        return prepare(self.spec, self.problem)

    @cached_property
    def plan(self) -> Plan:
        return planned(self.prepared.system, self.prepared.structure)

    def order(self, tolerance: float) -> int:
        """The cheapest, by the plan that all have in common."""
        if tolerance not in self._orders:
            self._orders[tolerance] = order_for(tolerance, self.plan)
        return self._orders[tolerance]

    def variation(self, names: tuple[str, ...]) -> Variation:
        """The numbers as functions of these parameters. Threads may make one twice; both are alike."""
        if names not in self._variations:
            self._variations[names] = Variation(self, names)
        return self._variations[names]


@dataclass(frozen=True, slots=True)
class Member:
    """One mechanism of a family, ready to be integrated; `values` are those of all nodes of its variation."""

    prepared: Prepared
    plan: Plan
    variation: Variation
    values: np.ndarray

    def machines(self, order: int | None, tolerance: float) -> Machines:
        return self.variation.machines(order or self.variation.family.order(tolerance), tolerance)


class Variation:
    """The numbers of a family's mechanism as functions of some parameters."""

    def __init__(self, family: Family, names: tuple[str, ...]):
        spec = family.spec
        tape = Tape(names)
        living = parse(spec.text, spec.path, spec.overrides, spec.files, tape=tape)
        living = adjust(living, t0=family.times[0], tend=family.times[1])
        self.family, self.names = family, names
        self.problem: Problem = living.problem
        self.mechanism: Mechanism = build(living, noted=False)
        like = family.system.completed() if family.plan.complete else family.system
        self._starting = np.array(sorted(nodes_in(_decides_start(self.mechanism, self.problem))), dtype=np.intp)
        self.numbers = Numbers(tape, self.mechanism, like)
        self.like = like
        self._own = self.numbers.values(self._column(spec.parameters))[:, 0]
        self._machines: dict[tuple[int, float], Machines] = {}
        self._fleets: dict[tuple[int, float], Fleets] = {}

    def _column(self, parameters: Mapping[str, SupportsFloat]) -> np.ndarray:
        return np.array([[float(parameters[name])] for name in self.names]).reshape(len(self.names), 1)

    def machines(self, order: int, tolerance: float) -> Machines:
        key = order, tolerance
        if key not in self._machines:
            self._machines[key] = Machines(self.family.plan, self.numbers, order, tolerance)
        return self._machines[key]

    def fleets(self, order: int | None, tolerance: float) -> Fleets:
        """Lanes for any numbers of the family. Their pivots are those of the file's own start, whoever asks first."""
        key = order or self.family.order(tolerance), tolerance
        if key not in self._fleets:
            self._fleets[key] = Fleets(self.like, self.family.plan, self.family.prepared.start, *key)
        return self._fleets[key]

    def system(self, values: np.ndarray) -> TunedSystem:
        """The system with the values of all nodes."""
        return TunedSystem(self.like, self.numbers, values, self.mechanism)

    def starts(self, values: np.ndarray) -> list[Any]:
        """Starts for many sets of values, (nodes, sets), as of `member`; None where the file must be read again."""
        own = self.family.prepared
        hold = self.numbers.hold(values)
        unchanged = (values[self._starting] == self._own[self._starting, None]).all(axis=0) & (not self._has_states)
        found: list[Any] = [own.start if known else None for known in hold & unchanged]
        for k in np.flatnonzero(hold & ~unchanged):
            column = np.ascontiguousarray(values[:, k])
            try:
                found[k] = self._start(self.system(column), column, own)
            except (AssemblyError, IntegrationError):
                continue
        return found

    def member(self, parameters: Mapping[str, float]) -> Member | None:
        """The mechanism with these parameters; None where the file must be read again for it."""
        values = self.numbers.values(self._column(parameters))
        if not self.numbers.hold(values)[0]:
            return None
        values = values[:, 0].copy()
        own = self.family.prepared
        system = self.system(values)
        start = self._start(system, values, own)
        if start is None:
            return None
        overrides = {**own.spec.overrides, **{name: repr(float(value)) for name, value in parameters.items()}}
        prepared = Prepared(replace(own.spec, overrides=overrides), system, start, own.structure)
        return Member(prepared, TunedPlan(self.family.plan, self.numbers, values, system), self, values)

    def _start(self, system: System, values: np.ndarray, own: Prepared) -> Start | None:
        """The file's own start where no number of it has changed, else one beside it; None where rank differs."""
        known = own.start
        assert isinstance(known, Start)  # a family is made with the file's own
        if np.array_equal(values[self._starting], self._own[self._starting]):
            start = replace(known, system=system)
            if not self._has_states:
                return start
            v = with_state_rates(system.mechanism, system, start.t, start.positions, start.velocities.copy())
            return replace(start, velocities=v)
        problem = settled(self.problem, lambda number: float(values[number.number]))
        beside = start_beside(system, problem, known)
        found = beside or assemble(system.mechanism, system, problem, branch=problem.branch)
        return found if found.redundancy == known.redundancy else None

    @cached_property
    def _has_states(self) -> bool:
        return any(variable.kind == "state" for variable in self.mechanism.variables)


def _decides_start(mechanism: Mechanism, problem: Problem) -> list[object]:
    """All numbers that a start depends on: guesses, constraints, sizes, and where down is."""
    binding = [element.parameters for element in mechanism.elements if element.multipliers]
    down = [
        element.parameters.get(name, 0.0) for element in mechanism.elements for name in labels("g", mechanism.dimension)
    ]
    placing = [mechanism.variables, mechanism.constants, mechanism.parts, mechanism.guesses, mechanism.guides]
    return [problem, *placing, mechanism.size, binding, down]
