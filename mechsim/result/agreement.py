"""How many digits two runs of one problem share: the check that needs no other program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechsim.result.layout import Array
from mechsim.result.motion import State

COMPARED_TIMES = 200  # where along the motion two runs are compared
MOST_DIGITS = 16.0  # a double holds no more


@dataclass(frozen=True, slots=True)
class Agreement:
    """Digits two runs share in one quantity: at the end, and at the worst moment of the motion."""

    quantity: str
    at_end: float
    throughout: float


def agreement(first: Any, second: Any) -> list[Agreement]:
    """Compare two solutions of one mechanism, point by point; differences are relative to each quantity's peak."""
    times = np.linspace(first.t[0], first.t[-1], COMPARED_TIMES)
    mechanism = first.system.mechanism
    compared = []
    for place, suffix in ((0, ""), (1, "_dot")):
        one, other = (State(mechanism, solution.sample(times)[place]) for solution in (first, second))
        compared += [_compare(name, suffix, one, other) for name in _moving(mechanism)]
    return compared


def _moving(mechanism: Any) -> list[str]:
    """Points that move, then turn angles and states."""
    points = [name for name, slots in mechanism.points.items() if any(slot >= 0 for slot in slots)]
    return points + [variable.label for variable in mechanism.variables if variable.kind != "position"]


def _compare(name: str, suffix: str, one: Mapping[str, Array], other: Mapping[str, Array]) -> Agreement:
    distance, size = (_norms(values) for values in (one[name] - other[name], one[name]))
    digits = [_digits(float(error), float(size.max())) for error in (distance[-1], distance.max())]
    return Agreement(name + suffix, *digits)


def _norms(values: Array) -> Array:
    return np.abs(values) if values.ndim == 1 else np.linalg.norm(values, axis=1)


def _digits(error: float, reference: float) -> float:
    if error == 0.0 or reference == 0.0:
        return MOST_DIGITS if error == 0.0 else 0.0
    return float(np.clip(-np.log10(error / reference), 0.0, MOST_DIGITS))
