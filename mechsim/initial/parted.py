"""The start of a mechanism some of whose pins and rods events let go: that of the mechanism in which they are whole,
for what happens later must not change where a motion begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mechsim.initial.start import Array, Start
from mechsim.model.mechanism import Mechanism
from mechsim.spec.document import Problem, StartValue
from mechsim.spec.number import Number


def as_started(start: Start, whole: Mechanism, asked: Problem, twins: Mapping[str, str]) -> Problem:
    """The problem with guesses that are the start of the `whole` mechanism; points of `twins` are where their twins
    are. What was fixed stays so."""
    points = {name: slots for name, slots in whole.points.items() if slots[0] >= 0}
    points |= {own: whole.points[point] for own, point in twins.items()}
    still = [0.0] * len(whole.constants)
    angles, rates = dict(asked.angles), dict(asked.rates)
    for slot, variable in enumerate(whole.variables):
        if variable.kind == "angle":
            for wished, values in ((angles, start.positions), (rates, start.velocities)):
                given = wished.get(variable.owner)
                (wished[variable.owner],) = _guessed((slot,), values, still, (given,) if given else (), asked)
    return replace(
        asked,
        positions={
            name: _guessed(slots, start.positions, whole.constants, asked.positions.get(name, ()), asked)
            for name, slots in points.items()
        },
        velocities={
            name: _guessed(slots, start.velocities, still, asked.velocities.get(name, ()), asked)
            for name, slots in points.items()
        },
        angles=angles,
        rates=rates,
        branch=None,
    )


def _guessed(
    slots: Sequence[int],
    values: Array,
    constants: Sequence[float],
    wished: Sequence[StartValue | None],
    asked: Problem,
) -> tuple[StartValue, ...]:
    """The values of these slots as guesses, but for wishes that are fixed."""
    found = []
    for place, slot in enumerate(slots):
        value = float(values[slot] if slot >= 0 else constants[-1 - slot])
        wish = wished[place] if place < len(wished) else None
        found.append(wish if wish and wish.fixed else StartValue(Number(value, f"{value!r}", asked.t0.mark), False))
    return tuple(found)
