"""Multipliers of all constraints where some are redundant: then they are not unique, and the smallest are taken."""

from __future__ import annotations

import numpy as np

from mechsim.engine.points import Points
from mechsim.kernel.linear import scaled_jacobian
from mechsim.kernel.system import System
from mechsim.model.mechanism import Mechanism
from mechsim.result.bearings import ALL, bearings
from mechsim.result.layout import Array
from mechsim.result.reactions import NEGLIGIBLE

ROUNDINGS = 1e-13  # of the largest force: smaller changes of forces are none
State = tuple[Array, Array, Array, Array]  # t, q, v and accelerations


def smallest(redundant: int, points: Points, accelerations: Array, multipliers: Array) -> Array:
    """The multipliers (k, m) that do what these do, where `redundant` constraints leave a choice: those with the least
    sum of squares of the forces in all joints."""
    if not redundant:
        return multipliers
    joints = Joints(points.system.mechanism)
    least = np.empty_like(multipliers)
    for row, found in enumerate(multipliers):
        system, (t, q, v) = points.system_at(row), (each[row] for each in points.state)
        inner = _smallest(system, redundant, (t, q, v), found)
        least[row] = joints.relieved(system, (t, q, v, accelerations[row]), inner, freedom(system, redundant, t, q, v))
    return least


class Joints:
    """All forces in all joints, as one vector."""

    def __init__(self, mechanism: Mechanism):
        self.bearings = bearings(mechanism, [ALL])
        self.elements = {number for bearing in self.bearings for number in bearing.elements}
        self.dimension = mechanism.dimension

    def forces(self, system: System, state: State, multipliers: Array) -> Array:
        rows = system.rows_of(self.elements, *state, multipliers)
        return np.concatenate([bearing.force(rows, state[1], self.dimension) for bearing in self.bearings])

    def relieved(self, system: System, state: State, multipliers: Array, changes: Array) -> Array:
        """These multipliers with as much of the `changes` as makes the forces least."""
        if not self.bearings:
            return multipliers
        here = self.forces(system, state, multipliers)
        moved = np.array([self.forces(system, state, multipliers + change) - here for change in changes])
        if not (np.isfinite(here).all() and np.isfinite(moved).all()):
            return multipliers
        # Changes are forces of size 1. Those that move no joint by more than roundings are left as they are: joints of
        # a part with the ground, say, that share nothing but one force and one moment.
        least = max(NEGLIGIBLE, ROUNDINGS * float(np.abs(here).max()))
        largest = float(np.linalg.norm(moved, 2))
        if largest <= least:
            return multipliers
        cut = max(NEGLIGIBLE, least / largest)
        return np.asarray(multipliers + np.linalg.lstsq(moved.T, -here, rcond=cut)[0] @ changes)


def _smallest(system: System, redundant: int, state: tuple[float, Array, Array], multipliers: Array) -> Array:
    """Of least norm, constraints scaled to unit gradients: unique also where no joint shows them."""
    jacobian, sizes = scaled_jacobian(system, system.rate_jacobian(*state))
    reach = np.linalg.svd(jacobian, full_matrices=False)[0][:, : system.m - redundant]
    # Only what lies in the range of the Jacobian does anything; the rest would only make them larger.
    return np.asarray(reach @ (reach.T @ (multipliers * sizes)) / sizes)


def freedom(system: System, redundant: int, t: float, q: Array, v: Array) -> Array:
    """Changes of the multipliers that change no motion, (redundant, m); as forces of size 1."""
    if not redundant:
        return np.zeros((0, system.m))
    jacobian, sizes = scaled_jacobian(system, system.rate_jacobian(t, q, v))
    return np.asarray(np.linalg.svd(jacobian)[0][:, system.m - redundant :].T / sizes)
