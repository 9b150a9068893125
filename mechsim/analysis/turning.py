"""Coordinates that are angles: after whole turns a mechanism is where it was."""

from __future__ import annotations

import numpy as np

from mechsim.engine import Points, Solution
from mechsim.kernel.system import System
from mechsim.result.layout import Array

TURN = 2 * np.pi
POINTS = 16  # of a motion, at which it is looked whether turns matter
SAME = 1e-9  # of the largest force: rows that differ by less are the same


def angles_of(solution: Solution) -> Array:
    """Which coordinates are angles, (n,): the equations along a motion are the same after a turn, but not after less.

    Of files these are turn angles; of a Lagrangian any coordinate may be one. Where a spring feels how often something
    has turned, its angle is none.
    """
    system = solution.system
    chosen = np.unique(np.linspace(0, len(solution.t) - 1, POINTS).round().astype(int))
    points = solution.points[chosen]
    found = np.zeros(system.n, dtype=bool)
    for place, variable in enumerate(system.mechanism.variables):
        if variable.kind == "state" or (variable.kind != "angle" and variable.units != ("", "")):
            continue
        moves = variable.kind == "angle" or not _is_same(points, solution, place, 1.0)
        found[place] = moves and _is_same(points, solution, place, TURN)
    return found


def _is_same(points: Points, solution: Solution, place: int, shift: float) -> bool:
    """Whether the equations hold as they do when a coordinate is shifted."""
    accelerations, multipliers = solution.leading(points)
    shifted = points.q.copy()
    shifted[:, place] += shift
    here, there = (_rows(points.system, points, q, accelerations, multipliers) for q in (points.q, shifted))
    return bool(np.abs(there - here).max(initial=0.0) <= SAME * (1.0 + np.abs(accelerations).max(initial=0.0)))


def _rows(system: System, points: Points, q: Array, accelerations: Array, multipliers: Array) -> Array:
    state = points.t, q, points.v
    rates = system.constraint_rate(*state)
    return np.concatenate([system.residuals(*state, accelerations, multipliers), rates], axis=1)


def whole_turns(angles: Array, before: Array, after: Array) -> Array:
    """By how many turns each coordinate has gone on, the nearest whole number; 0 for what is no angle."""
    return np.where(angles, np.round((after - before) / TURN), 0.0)


def folded(angles: Array, q: Array) -> Array:
    """Positions (..., n) with angles between -pi and pi."""
    return np.where(angles, q - TURN * np.round(q / TURN), q)
