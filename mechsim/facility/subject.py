"""A Lagrangian system with a start as what analyses are about; how its numbers and its start change with parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from mechsim.analysis.kept import keeping
from mechsim.analysis.named import joined
from mechsim.analysis.subject import Case, Directed
from mechsim.engine import InitialState, State
from mechsim.engine.tangents import Directions
from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.initial import Start
from mechsim.initial.sensitivity import Living, start_changes
from mechsim.initial.start import wishes
from mechsim.kernel.numbers import Numbers
from mechsim.kernel.system import System
from mechsim.model.mechanism import Mechanism
from mechsim.spec.document import Problem
from mechsim.spec.living import Living as LivingNumber
from mechsim.spec.living import Tape
from mechsim.structure import Structure

MET = 1e-9  # of sizes: a guess that is met
BESIDE = 1e-4  # of a parameter: how far beside its value it is looked whether sizes change

Made = Callable[[Mapping[str, float], Sequence[float]], Mechanism]  # with these parameters and scales


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

    def case(self) -> Case:
        return Case(self.system, self.structure, self.start, self.directed)

    def starting(self, state: State) -> Stated:
        return replace(self, start=state)

    def directed(self, names: Sequence[str]) -> Directed:
        """See `Case.directed`."""
        varied = tuple(name for name in dict.fromkeys(names) if name in self.parameters)
        kept, own = self._varied(varied) if varied else (self, None)
        return kept.case(), joined(kept.system, kept.start, names, own, self.parameters)

    def _varied(self, names: tuple[str, ...]) -> tuple[Stated, Directions]:
        tape = Tape(names)
        living = {name: tape.value_of(name, value) for name, value in self.parameters.items()}
        scales = [variable.scale for variable in self.system.mechanism.variables]
        mechanism = self.made(living, scales)
        here = np.array([[self.parameters[name]] for name in names])
        system, structure = keeping(self.system, self.structure, tape, mechanism, here)
        numbers = Numbers(tape, mechanism, system)
        changes = numbers.changes(numbers.values(here)[:, 0], np.eye(len(names)))

        def change_of(number: float) -> np.ndarray:
            return np.asarray(changes[number.number]) if isinstance(number, LivingNumber) else np.zeros(len(names))

        told = Living(
            mechanism,
            self.problem,
            change_of,
            numbers.as_changes(changes),
            lambda _: (system.mechanism, self.problem),  # nothing is placed by shapes
        )
        self._refuse_sizes(names)
        kept = replace(self, system=system, structure=structure)
        return kept, Directions(names, *kept._start_changes(told), told.numbers)

    def _start_changes(self, told: Living) -> tuple[np.ndarray, np.ndarray]:
        """A start that was searched for is nearest to its guesses, in the sizes that the search had."""
        start = self.start
        if not isinstance(start, Start):  # a given state stays as it is, but for what the constraints ask of it
            still = np.zeros((self.system.n, told.numbers.count))
            return still, still.copy()
        searched = copy(self.system)
        searched.scales = np.concatenate([start.system.scales[: self.system.n], self.system.scales[self.system.n :]])
        return start_changes(searched, replace(start, system=searched), told)

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


@frozen(eq=False)
class LagrangianSubject:
    """See `analysis.subject.Subject`: `stated` gives the motion for other parameters."""

    parameters: Mapping[str, float]
    stated: Callable[[Mapping[str, float]], Stated]

    def case(self, parameters: Mapping[str, float], start: State | None = None, tend: float | None = None) -> Case:
        found = self.stated({**self.parameters, **parameters})
        return (found if start is None else found.starting(start)).case()
