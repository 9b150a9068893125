"""The equations of a Lagrangian for any values of its parameters, by one program of these (see kernel/numbers.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mechsim.engine.fleets import Sets
from mechsim.engine.leading import planned
from mechsim.kernel.numbers import Numbers
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System
from mechsim.model.mechanism import Mechanism
from mechsim.result.layout import Array
from mechsim.spec.living import Tape
from mechsim.structure import Structure

Made = Callable[[Mapping[str, float], Sequence[float]], Mechanism]  # with these parameters and scales


class Tuned:
    """A system with its structure, and what others that differ in numbers alone have of it."""

    def __init__(self, made: Made, parameters: Mapping[str, float], system: System, structure: Structure):
        plan = planned(system, structure)
        self.like, self.structure, self.plan = system.completed() if plan.complete else system, structure, plan
        self.names = tuple(parameters)
        tape = Tape(self.names)
        living = {name: tape.value_of(name, value) for name, value in parameters.items()}
        self.mechanism = made(living, [variable.scale for variable in system.mechanism.variables])
        self.numbers = Numbers(tape, self.mechanism, self.like)

    def system(self, parameters: Mapping[str, float]) -> tuple[System, Plan] | None:
        """The system with these parameters and its plan; None where it is another one."""
        sets = self.sets(parameters, {}, 1)
        if not sets.hold[0]:
            return None
        system = sets.system(self.like, 0)
        return system, sets.plan(self.plan, system, 0)

    def sets(self, parameters: Mapping[str, float], columns: Mapping[str, Array], count: int) -> Sets:
        """The numbers of many systems, of which some parameters are in columns."""
        values = [np.broadcast_to(columns.get(name, parameters[name]), count) for name in self.names]
        table = np.array(values, dtype=float).reshape(len(self.names), count)
        return Sets(self.numbers, self.numbers.values(table), self.mechanism)


class Family:
    """All of these: where a parameter becomes zero, or stops being it, equations are others."""

    def __init__(self, made: Callable[[Mapping[str, float]], Tuned], parameters: Mapping[str, float]):
        self._made, self._known = made, [made(parameters)]

    def tuned(self, parameters: Mapping[str, float]) -> Tuned:
        """Those that serve these parameters."""
        for each in self._known:
            if each.system(parameters) is not None:
                return each
        self._known.append(self._made(parameters))
        return self._known[-1]

    def problem(self, parameters: Mapping[str, float]) -> tuple[System, Structure, Plan]:
        tuned = self.tuned(parameters)
        found = tuned.system(parameters)
        assert found is not None  # it was made for these
        return found[0], tuned.structure, found[1]
