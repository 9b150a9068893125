"""Levenberg's method from many starts at once: one call of the kernel per iteration serves them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mechsim.initial.closure import Closure
from mechsim.initial.start import Array

if TYPE_CHECKING:
    from mechsim.kernel.system import System

ITERATIONS = 40
NEARLY_CLOSED = 1e-6  # Newton's method takes over from here
BATCH = 2_000_000  # numbers per Jacobian batch: some 16 MB


def approach_all(system: System, t: float, closure: Closure, starts: list[Array]) -> list[Array]:
    """Where Levenberg's method leads from each start, without those that do not close."""
    count = max(1, BATCH // max(1, system.n * system.n))
    ends: list[Array] = []
    for begin in range(0, len(starts), count):
        ends += _approach_batch(system, t, closure, np.array(starts[begin : begin + count]))
    return ends


def _approach_batch(system: System, t: float, closure: Closure, q: Array) -> list[Array]:
    residual = _residuals(system, t, closure, q)
    sizes = np.linalg.norm(residual, axis=1)
    damping = np.full(len(q), 1e-3)
    for _ in range(ITERATIONS):
        active = np.flatnonzero((sizes > NEARLY_CLOSED) & (damping < 1e8))
        if not len(active):
            break
        trial = q[active]
        trial[:, closure.free] += _steps(system, t, closure, trial, residual[active], damping[active])
        trial_residual = _residuals(system, t, closure, trial)
        trial_sizes = np.linalg.norm(trial_residual, axis=1)
        better = trial_sizes < sizes[active]
        accepted = active[better]
        q[accepted], residual[accepted], sizes[accepted] = trial[better], trial_residual[better], trial_sizes[better]
        damping[active] *= np.where(better, 0.1, 8.0)
        damping = np.maximum(damping, 1e-12)
    return list(q[sizes <= NEARLY_CLOSED])


def _residuals(system: System, t: float, closure: Closure, q: Array) -> Array:
    return np.asarray(system.constraints(t, q)) / closure.row_scales


def _steps(system: System, t: float, closure: Closure, q: Array, residual: Array, damping: Array) -> Array:
    jacobian = _jacobians(system, t, closure, q)
    transposed = np.swapaxes(jacobian, 1, 2)
    matrix = jacobian @ transposed + damping[:, None, None] * np.eye(residual.shape[1])
    steps = transposed @ np.linalg.solve(matrix, residual[:, :, None])
    return np.asarray(-closure.scales[closure.free] * steps[:, :, 0])


def _jacobians(system: System, t: float, closure: Closure, q: Array) -> Array:
    """Dense scaled Jacobians (starts, constraints, free): constraint rates along each coordinate, all in one call."""
    directions = (np.eye(system.n) * closure.scales)[closure.free]
    directions = np.vstack([np.zeros(system.n), directions])  # at rest: what time alone does to the constraints
    shape = (len(q), *directions.shape)
    rates = system.constraint_rate(t, np.broadcast_to(q[:, None, :], shape), np.broadcast_to(directions, shape))
    return np.asarray(np.swapaxes(rates[:, 1:] - rates[:, :1], 1, 2) / closure.row_scales[:, None])
