"""How many digits two runs of one problem share: the check that needs no other program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mechsim.engine.solution import Solution
from mechsim.frozen import frozen
from mechsim.model.mechanism import Mechanism
from mechsim.result.layout import Array
from mechsim.result.motion import State

COMPARED_TIMES = 200  # where along the motion two runs are compared
MOST_DIGITS = 16.0  # a double holds no more
NONE = 0.5  # digits: nothing that could be told apart from chance
NOISE = 1e-9  # of what others of its kind come to: who never comes near that is at rest but for rounding
SHOWN = 4  # names in one message


@frozen
class Agreement:
    """Digits two runs share in one quantity: at the end, and at the worst moment of the motion. `difference` is there
    the largest, over what quantities of its kind come to."""

    quantity: str
    at_end: float
    throughout: float
    difference: float


def agreement(first: Solution, second: Solution) -> list[Agreement]:
    """Compare two solutions of one mechanism, point by point; differences are relative to each quantity's peak."""
    times = np.linspace(first.t[0], first.t[-1], COMPARED_TIMES)
    mechanism = first.system.mechanism
    compared = []
    for place, suffix in ((0, ""), (1, "_dot")):
        one, other = (State(mechanism, solution.sample(times)[place]) for solution in (first, second))
        for names in _kinds(mechanism):
            peak = max((float(_norms(one[name]).max()) for name in names), default=0.0)
            compared += [_compare(name, suffix, one, other, peak) for name in names]
    return compared


def disagreement(compared: Sequence[Agreement]) -> tuple[str, ...]:
    """What to say where two runs share no digit."""
    apart = [each.quantity for each in compared if not each.throughout > NONE and not each.difference < NOISE]
    if not apart:
        return ()
    shown = ", ".join(apart[:SHOWN]) + (f" and {len(apart) - SHOWN} more" if len(apart) > SHOWN else "")
    return (
        f"a second run shares no digit of {shown} at some time: the motion is chaotic, or one of the runs is wrong; "
        "try a shorter time, and other tolerances",
    )


def _kinds(mechanism: Mechanism) -> list[list[str]]:
    """Points that move, then turn angles and states, by what they measure."""
    points = [name for name, slots in mechanism.points.items() if any(slot >= 0 for slot in slots)]
    others: dict[str, list[str]] = {}
    for variable in mechanism.variables:
        if variable.kind != "position":
            others.setdefault(variable.kind, []).append(variable.label)
    return [points, *others.values()]


def _compare(name: str, suffix: str, one: Mapping[str, Array], other: Mapping[str, Array], peak: float) -> Agreement:
    distance, size = (_norms(values) for values in (one[name] - other[name], one[name]))
    at_end, throughout = (_digits(float(error), float(size.max())) for error in (distance[-1], distance.max()))
    return Agreement(name + suffix, at_end, throughout, float(distance.max()) / (peak or 1.0))


def _norms(values: Array) -> Array:
    return np.abs(values) if values.ndim == 1 else np.linalg.norm(values, axis=1)


def _digits(error: float, reference: float) -> float:
    if error == 0.0 or not 0.0 < reference < np.inf:
        return MOST_DIGITS if error == 0.0 else 0.0
    return float(np.clip(-np.log10(error / reference), 0.0, MOST_DIGITS))
