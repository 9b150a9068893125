"""A file's mechanism for any parameters: it is read, derived, planned and assembled once, and then only retuned.

The tape of the file (spec/living.py) knows all numbers as functions of some of its parameters. Where other values of
these keep the structure, their motion needs no more than these numbers, a start beside the file's own, and a march that
is tuned to them. Where they do not, the file is read again. Nothing that a run finds is used by another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from mechsim.engine import order_for
from mechsim.engine.fleets import Fleets
from mechsim.engine.leading import planned
from mechsim.engine.machine import Machines
from mechsim.errors import AssemblyError, Fault, IntegrationError, Note, warn_caller
from mechsim.frozen import frozen
from mechsim.handle.tuning import StraightWay, Tuning
from mechsim.initial import Beside, Lost, Start, Way, assemble, start_beside
from mechsim.initial.assembly import with_state_rates
from mechsim.initial.many import ManyBeside, ManyStarts
from mechsim.initial.overlaps import refuse_overlaps
from mechsim.initial.parted import as_started
from mechsim.initial.problem import InitialValueProblem
from mechsim.kernel.numbers import TunedPlan, TunedSystem
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System
from mechsim.simulation import Prepared, adjust, prepare
from mechsim.spec.document import MechSpec, Problem

Told = Callable[[str], None]  # that a branch could not be followed, and why


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

    @cached_property
    def beside(self) -> Beside:
        """The starts on the branch of the file's own."""
        return Beside(self.start, self.spec.problem)

    @property
    def start(self) -> Start:
        found = self.prepared.start
        assert isinstance(found, Start)  # a family is made with the file's own
        return found

    @cached_property
    def whole(self) -> Family | None:
        """That of the mechanism before pins and rods were taken apart that events let go: where these start."""
        whole, asked = self.spec.whole, self.spec.problem
        if whole is None:
            return None
        times = replace(whole.problem, t0=asked.t0, tend=asked.tend, branch=asked.branch)
        return Family(replace(whole, problem=times), *self.times)

    def prepared_anew(self, spec: MechSpec, names: tuple[str, ...], tell: Told) -> Prepared:
        """The mechanism of the file read again with other values of these parameters, started on the same branch."""
        problem = InitialValueProblem.of(spec)
        if self.whole is not None and spec.whole is not None and problem.whole is not None:
            whole = self.whole.prepared_anew(replace(spec.whole, problem=problem.whole.asked), names, tell)
            assert isinstance(whole.start, Start)
            return prepare(spec, replace(problem, whole=replace(problem.whole, given=whole.start)))
        try:
            variation = self.variation(names)
            beside = self.beside.retold(problem.system.bilateral, spec.problem)
        except (AssemblyError, IntegrationError):
            return prepare(spec, problem)  # the file's own parameters have no start, but these may
        way = variation.way_to(variation.tuning.column(spec.parameters))
        start = start_on_branch(beside, problem.system.bilateral, spec.problem, way, tell, thorough=True)
        return prepare(spec, replace(problem, given=start))

    def variation(self, names: tuple[str, ...]) -> Variation:
        """The numbers as functions of these parameters. Threads may make one twice; both are alike."""
        if names not in self._variations:
            self._variations[names] = Variation(self, names)
        return self._variations[names]


@frozen
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
        self.family = family
        like = family.system.completed() if family.plan.complete else family.system
        self.tuning = Tuning(family.spec, like, names, family.times)
        self.names, self.like = names, like
        self.numbers, self.mechanism = self.tuning.numbers, self.tuning.mechanism
        self._own = self.numbers.values(self.tuning.column(family.spec.parameters))[:, 0]
        self._machines: dict[tuple[int, float], Machines] = {}
        self._fleets: dict[tuple[int, float], Fleets] = {}

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

    def starts(self, values: np.ndarray) -> ManyStarts:
        """Starts for many sets of values, (nodes, sets), that hold: the file's own where no number of it has changed,
        else those on its branch that are found side by side; `start_alone` finds others, also those to which the way is
        not as short as it seems."""
        starting = self.tuning.starting
        changed = np.flatnonzero((values[starting] != self._own[starting, None]).any(axis=0))
        found = self._own_starts(values)
        if len(changed) and not self.many.finds:
            found.found[changed] = False
        elif len(changed):
            chosen = np.ascontiguousarray(values[:, changed])
            some = self.many.starts(chosen, self.tuning.parameters(chosen))
            for name in ("t", "positions", "velocities", "found", "singular"):
                getattr(found, name)[changed] = getattr(some, name)
            found.found[changed[self.tuning.turning(chosen)]] = False
        return found

    def _own_starts(self, values: np.ndarray) -> ManyStarts:
        """The file's own start for each set, with the rates of its states."""
        own, count = self.family.start, values.shape[1]
        q, v = (np.repeat(each[None], count, axis=0) for each in (own.positions, own.velocities))
        if self._has_states:
            v = self.many.with_state_rates(np.ascontiguousarray(values), own.t, own.positions, own.velocities)
        return ManyStarts(np.full(count, own.t), q, v, np.ones(count, dtype=bool), np.full(count, own.singular))

    @cached_property
    def many(self) -> ManyBeside:
        """The starts of many sets beside the file's own."""
        return ManyBeside(self.family.beside, self.tuning.asked)

    def member(self, parameters: Mapping[str, float], tell: Told) -> Member | None:
        """The mechanism with these parameters; None where the file must be read again for it."""
        values = self.tuning.values(self.tuning.column(parameters))
        if values is None:
            return None
        own = self.family.prepared
        system = self.system(values)
        start = self._start(system, values, tell)
        if start is None:
            return None
        refuse_overlaps(system, start)
        overrides = {**own.spec.overrides, **{name: repr(float(value)) for name, value in parameters.items()}}
        prepared = Prepared(replace(own.spec, overrides=overrides), system, start, own.structure)
        plan = TunedPlan(self.family.plan, self.numbers, values, system)
        return Member(prepared, plan, self, values)

    def system(self, values: np.ndarray) -> TunedSystem:
        """The system with the values of all nodes."""
        return self.tuning.system(values)

    def _start(self, system: System, values: np.ndarray, tell: Told) -> Start | None:
        """The start of one set, as `starts` has it, or found alone; None where rank differs."""
        own = self.family.start
        if self.like.gaps:
            return self._start_with_gaps(system, values, tell)
        found = self.starts(values[:, None])
        if not found.found[0]:
            return self.start_alone(values, tell)
        q, v = found.positions[0], found.velocities[0]
        if np.array_equal(values[self.tuning.starting], self._own[self.tuning.starting]):
            return replace(own, system=system, velocities=v)
        return Start(float(found.t[0]), q, v, (), own.redundancy, system, fixed=own.fixed)

    def _start_with_gaps(self, system: System, values: np.ndarray, tell: Told) -> Start | None:
        """The kernel's search knows no gaps: what always holds is searched alone, if a number of it has changed."""
        own, t = self.family.start, self.family.start.t
        if np.array_equal(values[self.tuning.starting], self._own[self.tuning.starting]):
            v = with_state_rates(system.mechanism, system, t, own.positions, own.velocities.copy())
            return replace(own, system=system.bilateral, velocities=v)
        return (
            self.start_alone(values, tell) if self.family.whole is None else self._start_as_whole(system, values, tell)
        )

    def _start_as_whole(self, system: System, values: np.ndarray, tell: Told) -> Start | None:
        """Of pins and rods that events let go: where they start if they are not."""
        family = self.family.whole
        assert family is not None
        parameters = dict(zip(self.names, self.tuning.parameters(values[:, None])[:, 0].tolist(), strict=True))
        member = family.variation(self.names).member(parameters, tell)
        if member is None:
            return None
        first, asked = member.prepared.start, self.tuning.problem(values)
        assert isinstance(first, Start)
        problem = as_started(first, member.prepared.mechanism, asked, self.family.spec.twins)
        start = assemble(system.bilateral.mechanism, system.bilateral, problem)
        return replace(start, rows=first.rows, notes=first.notes)

    def start_alone(self, values: np.ndarray, tell: Told) -> Start | None:
        """The start of one set on the branch of the file's own; None where rank differs."""
        problem, way = self.tuning.problem(values), self.way_to(self.tuning.parameters(values[:, None]))
        start = start_on_branch(self.family.beside, self.system(values).bilateral, problem, way, tell)
        return start if start.redundancy == self.family.start.redundancy else None

    def way_to(self, there: np.ndarray) -> StraightWay:
        return StraightWay(self.tuning, self.family.spec, there, self.family.times)

    @cached_property
    def _has_states(self) -> bool:
        return any(variable.kind == "state" for variable in self.mechanism.variables)


def start_on_branch(
    beside: Beside | None, system: System, problem: Problem, way: Way, tell: Told, *, thorough: bool = False
) -> Start:
    """The start on the branch of a known one; where that cannot be followed, as the file read anew has it, which may be
    on another branch: that is told."""
    other = Lost("the mechanism has other coordinates or constraints with these parameters")
    found = other if beside is None else start_beside(beside, system, problem, way, thorough=thorough)
    if isinstance(found, Start):
        return found
    message = f"{found.why}: the start was searched for anew, and may be on another branch"
    tell(message)  # who does not want that may stop it here
    start = assemble(system.mechanism, system, problem, branch=problem.branch)
    return replace(start, notes=(*start.notes, Note(message)))


def warned(message: str) -> None:
    """What a person is told where one motion is asked for."""
    warn_caller(message)


def refused(message: str) -> None:
    """Where only starts on the branch are wanted, and quickly."""
    raise AssemblyError(Fault(f"{message.split(': the start')[0]}: there is no start on its branch"))


def untold(message: str) -> None:
    """Where another start is given, that of the file does not matter."""
