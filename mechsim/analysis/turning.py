"""Coordinates that are angles: after whole turns a mechanism is where it was."""

from __future__ import annotations

import numpy as np

from mechsim.engine.points import Points
from mechsim.engine.solution import Solution
from mechsim.kernel.linear import generic
from mechsim.kernel.system import System
from mechsim.result.layout import Array

TURN = 2 * np.pi
POINTS = 16  # of a motion, at which it is looked whether turns matter
SAME = 1e-9  # of the largest force: rows that differ by less are the same


def angles_of(solution: Solution) -> Array:
    """Which coordinates are angles, (n,): the equations along a motion are the same after a turn, but not after less.

    Of files these are turn angles, and what leads along closed curves; of a Lagrangian any coordinate may be one. Where
    a spring feels how often something has turned, its angle is none.
    """
    chosen = np.unique(np.linspace(0, len(solution.t) - 1, POINTS).round().astype(int))
    points = solution.points[chosen]
    return _angles(points, *solution.leading(points))


def angles_near(system: System, t: float, q: Array) -> Array:
    """The same by what the equations are around a pose, wherever and however it moves: on constraints or not."""
    return _angles(*_around(system, t, q))


def is_same_after(system: System, t: float, q: Array, turns: Array) -> bool:
    """Whether the equations there are the same after so many turns of each coordinate, all at once: a drive may hold a
    difference of angles, each of which it feels."""
    points, accelerations, multipliers = _around(system, t, q)
    return _is_same(points, TURN * turns, accelerations, multipliers)


def _around(system: System, t: float, q: Array) -> tuple[Points, Array, Array]:
    sizes = system.n, system.n, system.n, system.m
    numbers = generic(POINTS * sum(sizes)).reshape(POINTS, -1)
    aside, v, accelerations, multipliers = np.split(numbers, np.cumsum(sizes)[:-1], axis=1)
    scales = system.scales[: system.n]
    points = Points(system, np.full(POINTS, t), q + scales * aside, scales * v)
    return points, scales * accelerations, multipliers


def _angles(points: Points, accelerations: Array, multipliers: Array) -> Array:
    system = points.system
    found = np.zeros(system.n, dtype=bool)

    def is_same(place: int, shift: float) -> bool:
        return _is_same(points, shift * np.eye(system.n)[place], accelerations, multipliers)

    for place, variable in enumerate(system.mechanism.variables):
        has_none = variable.units == ("", "") or (variable.kind == "coordinate" and variable.units is None)
        if variable.kind == "state" or (variable.kind != "angle" and not has_none):
            continue
        found[place] = (variable.kind == "angle" or not is_same(place, 1.0)) and is_same(place, TURN)
    return found


def _is_same(points: Points, shift: Array, accelerations: Array, multipliers: Array) -> bool:
    """Whether the equations hold as they do when coordinates are shifted."""
    here, there = (_rows(points, q, accelerations, multipliers) for q in (points.q, points.q + shift))
    off = np.abs(there - here)
    known = np.isfinite(off).all(axis=1)  # a formula may have no value everywhere
    return bool(known.any() and off[known].max(initial=0.0) <= SAME * (1.0 + np.abs(accelerations).max(initial=0.0)))


def _rows(points: Points, q: Array, accelerations: Array, multipliers: Array) -> Array:
    system, state = points.system, (points.t, q, points.v)
    rates = system.constraint_rate(*state)
    return np.concatenate([system.residuals(*state, accelerations, multipliers), rates], axis=1)


def whole_turns(angles: Array, before: Array, after: Array) -> Array:
    """By how many turns each coordinate has gone on, the nearest whole number; 0 for what is no angle."""
    return np.where(angles, np.round((after - before) / TURN), 0.0)


def in_one_piece(angles: Array, apart: float = TURN / 3) -> Array:
    """Angles between -pi and pi that lie on both sides of that seam, put beside each other: the others of a turn may be
    where most room is, if that is more than `apart`."""
    order = np.sort(angles[np.isfinite(angles)])
    if len(order) < 2 or np.abs(order).max() > np.pi + SAME:
        return angles
    gaps = np.diff(order)
    widest = int(np.argmax(gaps))
    if gaps[widest] < apart or gaps[widest] <= 2 * (TURN - (order[-1] - order[0])):
        return angles
    middle = order[widest] + gaps[widest] / 2
    moved = np.where(angles > middle, angles - TURN, angles)
    return moved + TURN if np.mean(moved) < -np.pi else moved  # near to where most of them are


def folded(angles: Array, q: Array) -> Array:
    """Positions (..., n) with angles between -pi and pi."""
    return np.where(angles, q - TURN * np.round(q / TURN), q)
