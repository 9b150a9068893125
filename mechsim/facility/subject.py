"""A Lagrangian system with a start as what analyses are about; how its numbers and its start change with parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from mechsim.analysis.flow import projected
from mechsim.analysis.kept import keeping
from mechsim.analysis.named import joined
from mechsim.analysis.subject import Case, Directed, Sides
from mechsim.engine import InitialState, State
from mechsim.engine.tangents import Directions
from mechsim.errors import Fault, SpecError
from mechsim.facility.tuned import Family, Made
from mechsim.frozen import frozen
from mechsim.initial import Start
from mechsim.initial.coordinates import coordinate_changes
from mechsim.initial.sensitivity import Living, start_changes
from mechsim.initial.start import wishes
from mechsim.kernel.numbers import Numbers
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System
from mechsim.measure.plain import PlainNames
from mechsim.model.placement import placed
from mechsim.result.layout import Array
from mechsim.result.trajectory import Facts
from mechsim.spec.document import Problem
from mechsim.spec.living import Living as LivingNumber
from mechsim.spec.living import Tape
from mechsim.structure import Structure

MET = 1e-9  # of sizes: a guess that is met
BESIDE = 1e-4  # of a parameter: how far beside its value it is looked whether sizes change


@frozen(eq=False)
class Stated:
    """Equations with their parameters and scales, and a start: what a Lagrangian's motion is made of."""

    made: Made
    parameters: Mapping[str, float]
    problem: Problem
    system: System
    structure: Structure
    start: InitialState
    guessed: Callable[[Mapping[str, float]], np.ndarray]  # sizes in which the start is searched for, by parameters
    facts: Facts
    plan: Plan | None = None
    starts: Mapping[str, float] = field(default_factory=dict)  # those that may vary: coordinates (x), rates (x_dot)
    started: Callable[[Mapping[str, float]], Problem] | None = None  # the problem with other such values

    def case(self) -> Case:
        return Case(self.system, self.structure, self.start, self.directed, self.facts, self.plan)

    def starting(self, state: State, nearest: bool = False) -> Stated:
        """The same from a state, or from the consistent one `nearest` to it."""
        if nearest:
            state = State(state.t, *projected(self.system, state.t, state.positions, state.velocities))
        return replace(self, start=state)

    def directed(self, names: Sequence[str]) -> Directed:
        """See `Case.directed`."""
        varied = tuple(name for name in dict.fromkeys(names) if name in self.parameters or name in self.starts)
        kept, own = self._varied(varied) if varied else (self, None)
        known = [*self.parameters, *self.starts]
        return kept.case(), joined(kept.system, kept.start, names, own, known, kept._beside)

    def _varied(self, names: tuple[str, ...]) -> tuple[Stated, Directions]:
        tape = Tape(names)
        living = {name: tape.value_of(name, value) for name, value in self.parameters.items()}
        starts = {name: tape.value_of(name, value) for name, value in self.starts.items()}
        problem = self.problem if self.started is None else self.started(starts)
        scales = [variable.scale for variable in self.system.mechanism.variables]
        mechanism = self.made(living, scales)
        known = {**self.starts, **self.parameters}
        here = np.array([[known[name]] for name in names])
        system, structure = keeping(self.system, self.structure, tape, mechanism, here)
        numbers = Numbers(tape, mechanism, system)
        changes = numbers.changes(numbers.values(here)[:, 0], np.eye(len(names)))

        def change_of(number: float) -> np.ndarray:
            return np.asarray(changes[number.number]) if isinstance(number, LivingNumber) else np.zeros(len(names))

        told = Living(
            mechanism,
            problem,
            change_of,
            numbers.as_changes(changes),
            placed(mechanism, problem).numbers(),
        )
        self._refuse_sizes([name for name in names if name in self.parameters])
        kept = replace(self, system=system, structure=structure, plan=self.plan if system is self.system else None)
        given = {name: row for name, row in zip(names, np.eye(len(names)), strict=True) if name in self.parameters}
        return kept, Directions(names, *kept._start_changes(told), told.numbers, given=given)

    def _start_changes(self, told: Living) -> tuple[np.ndarray, np.ndarray]:
        """A start that was searched for is nearest to its guesses, in the sizes that the search had."""
        start = self.start
        if not isinstance(start, Start):  # a given state stays as it is, but for what the constraints ask of it
            still = np.zeros((self.system.n, told.numbers.count))
            return still, still.copy()
        searched = self._searched(start)
        return start_changes(searched.system, searched, told)

    def _beside(self, name: str) -> tuple[np.ndarray, np.ndarray] | None:
        """How a start that was searched for changes with a coordinate or a rate of it."""
        if not isinstance(self.start, Start):
            return None
        searched = self._searched(self.start)
        return coordinate_changes(searched.system, searched, self.problem, name)

    def _searched(self, start: Start) -> Start:
        """The start of this system, in the sizes that the search had."""
        searched = copy(self.system)
        searched.scales = np.concatenate([start.system.scales[: self.system.n], self.system.scales[self.system.n :]])
        return replace(start, system=searched)

    def _refuse_sizes(self, names: Sequence[str]) -> None:
        """Raise where the sizes in which a start is nearest to its guesses change with a parameter, by inertia."""
        if not isinstance(self.start, Start):
            return
        n, here = self.system.n, self.guessed(self.parameters)
        target = wishes(self.system.mechanism, self.problem)[0].written_into(np.zeros(n))
        if np.allclose(self.start.positions, target, rtol=0, atol=MET * here.max()):
            return
        for name in names:
            beside = self.parameters[name] + BESIDE * (self.parameters[name] or 1.0)
            ratio = self.guessed({**self.parameters, name: beside}) / here
            if not np.allclose(ratio, ratio[0], rtol=MET, atol=0):
                message = f"how the start changes with {name} is not known: guesses are met by sizes that inertia tells"
                raise SpecError(Fault(message, hint="give positions that meet the constraints, or `scales` for all"))


@frozen(slots=False, eq=False)
class LagrangianSubject:
    """See `analysis.subject.Subject` and `design.course.Measurable`: `stated` gives the motion for other parameters,
    among which may be start values (`starts`), from its own start, which is searched for, or for a given state, which
    is not."""

    parameters: Mapping[str, float]
    stated: Callable[[Mapping[str, float], State | None], Stated]
    family: Family
    starts: Mapping[str, float] = field(default_factory=dict)
    times: tuple[float, float] = (0.0, 1.0)
    tolerance: float = 1e-12

    def case(
        self,
        parameters: Mapping[str, float],
        start: State | None = None,
        tend: float | None = None,
        *,
        nearest: bool = False,
    ) -> Case:
        found = self.stated({**self.parameters, **parameters}, start)
        return (found if start is None else found.starting(start, nearest)).case()

    def sides(self, columns: Mapping[str, Array], count: int) -> Sides:
        own = {name: value for name, value in self.parameters.items() if name not in self.starts}
        tuned = self.family.tuned({**own, **{name: float(column[0]) for name, column in columns.items()}})
        return Sides(tuned.like, tuned.structure, tuned.plan, tuned.sets(own, columns, count))

    @cached_property
    def names(self) -> PlainNames:
        own = [name for name in self.parameters if name not in self.starts]
        return PlainNames(self.stated(self.parameters, None).system, own, self.times)

    def tend(self, parameters: Mapping[str, float]) -> float:
        return self.times[1]

    def numbers(self, parameters: Mapping[str, float]) -> Callable[[str], Array]:
        values = {**self.parameters, **parameters}
        return lambda name: np.asarray(float(values[name]))

    def living(self, tape: Tape) -> Mapping[str, float]:
        return {name: tape.value_of(name, value) for name, value in self.parameters.items()}
