"""How a start changes with one of its own coordinates or rates: what would be found with that one held beside where it
is. What is fixed stays as it is, and what is guessed or free goes to what is nearest to the guesses again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechsim.errors import AssemblyError, Fault, Mark, SpecError
from mechsim.initial.sensitivity import Living, asked_changes
from mechsim.initial.start import Array, Start, Wishes, wishes
from mechsim.kernel.changes import NumberChanges
from mechsim.kernel.system import System
from mechsim.model.placement import placed
from mechsim.spec.document import Problem, StartValue
from mechsim.spec.number import Number


class _Held(float):
    """The number that a coordinate is held at, and that changes."""


def coordinate_changes(system: System, start: Start, problem: Problem, name: str) -> tuple[Array, Array]:
    """Changes of the positions and velocities of a start, (n, 1), with a coordinate (`A_x`) or a rate (`A_x_dot`) of
    it. SpecError where the constraints decide it, with what is fixed."""
    scales = system.scales[: system.n]
    positions, velocities = wishes(system.mechanism, problem)
    if name in positions.labels:
        place = positions.labels.index(name)
        positions = _holding(positions, place, start.positions[place])
    else:
        place = velocities.labels.index(name)
        velocities = _holding(velocities, place, start.velocities[place])
        if system.mechanism.variables[place].kind == "state":
            raise SpecError(Fault(f"nothing to differentiate by: the motion itself decides {name}"))

    def change_of(number: float) -> Array:
        return np.array([scales[place] if isinstance(number, _Held) else 0.0])

    still = NumberChanges.none(system, 1)
    living = Living(system.mechanism, problem, change_of, still, placed(system.mechanism, problem).numbers())
    for pulled in (True, False):  # a start that is not nearest to its guesses: the least change of it
        try:
            found = asked_changes(system, start, living, (positions, velocities), pulled)
        except AssemblyError:
            continue
        return found[0] / scales[place], found[1] / scales[place]
    raise SpecError(_decided(name, (positions, velocities)))


def _holding(asked: Wishes, place: int, value: float) -> Wishes:
    held = StartValue(Number(_Held(value), "", Mark("", 1, 1)), fixed=True)
    return replace(asked, values=(*asked.values[:place], held, *asked.values[place + 1 :]))


def _decided(name: str, asked: tuple[Wishes, Wishes]) -> Fault:
    fixed = [level.labels[k] for level in asked for k in level.fixed if level.labels[k] != name]
    if not fixed:
        return Fault(f"nothing to differentiate by: the constraints decide {name} at the start")
    message = f"nothing to differentiate by: the constraints decide {name} at the start, with what is fixed"
    return Fault(message, hint=f"fixed are {', '.join(fixed)}: differentiate by these, or fix less")
