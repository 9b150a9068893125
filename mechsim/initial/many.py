"""Levenberg's method from many starts at once: one call of the kernel per iteration serves them all."""

from __future__ import annotations

import numpy as np

from mechsim.initial.closure import Closure
from mechsim.initial.newton import STATIONARY, gradient_size
from mechsim.initial.start import Array

NEARLY_CLOSED = 1e-7  # Newton's method takes over from here
BATCH = 2_000_000  # numbers per Jacobian batch: some 16 MB


def approach_all(closure: Closure, starts: list[Array], iterations: int, one_is_enough: bool = False) -> list[Array]:
    """Where Levenberg's method leads from each start, without those that do not close."""
    return [end for end, size in ends_of(closure, starts, iterations, one_is_enough) if size <= NEARLY_CLOSED]


def ends_of(
    closure: Closure, starts: list[Array], iterations: int, one_is_enough: bool = False
) -> list[tuple[Array, float]]:
    """Where Levenberg's method leads from each start, and the size of the residual there."""
    count = max(1, BATCH // max(1, len(closure.scales) * len(closure.free)))
    ends: list[tuple[Array, float]] = []
    for begin in range(0, len(starts), count):
        if not (one_is_enough and any(size <= NEARLY_CLOSED for _, size in ends)):
            ends += _approach_batch(closure, np.array(starts[begin : begin + count]), iterations, one_is_enough)
    return ends


def _approach_batch(closure: Closure, q: Array, iterations: int, one_is_enough: bool) -> list[tuple[Array, float]]:
    """As `newton.approach`, with a damping for each start."""
    residual = _residuals(closure, q)
    sizes = np.linalg.norm(residual, axis=1)
    damping, growth = np.full(len(q), 1e-3), np.full(len(q), 2.0)
    stuck = np.zeros(len(q), dtype=bool)  # at a point of least squares
    for _ in range(iterations):
        closed = sizes <= NEARLY_CLOSED
        active = np.flatnonzero(~closed & ~stuck & (damping < 1e10))
        if not len(active) or (one_is_enough and np.any(closed)):
            break
        steps, promised = _steps(closure, q[active], residual[active], damping[active])
        hopeful = sizes[active] - promised >= STATIONARY * sizes[active]
        stuck[active[~hopeful]] = True
        active, steps, promised = active[hopeful], steps[hopeful], promised[hopeful]
        trial = q[active]
        trial[:, closure.free] += closure.scales[closure.free] * steps
        trial_residual = _residuals(closure, trial)
        trial_sizes = np.linalg.norm(trial_residual, axis=1)
        ratio = (sizes[active] ** 2 - trial_sizes**2) / np.maximum(sizes[active] ** 2 - promised**2, 1e-300)
        better = trial_sizes < sizes[active]
        shrink = np.maximum(1 / 3, 1 - (2 * np.clip(ratio, 0.0, 1.0) - 1) ** 3)
        damping[active] = np.maximum(damping[active] * np.where(better, shrink, growth[active]), 1e-12)
        growth[active] = np.where(better, 2.0, 2 * growth[active])
        accepted = active[better]
        q[accepted], residual[accepted], sizes[accepted] = trial[better], trial_residual[better], trial_sizes[better]
    return list(zip(q, sizes.tolist(), strict=True))


def _residuals(closure: Closure, q: Array) -> Array:
    return np.asarray(closure.residual_of(q)[:, closure.rows] / closure.row_scales[closure.rows])


def _steps(closure: Closure, q: Array, residual: Array, damping: Array) -> tuple[Array, Array]:
    """Each start's step in scaled free coordinates, and the size of the residual it promises."""
    jacobian = _jacobians(closure, q)
    transposed = np.swapaxes(jacobian, 1, 2)
    matrix = jacobian @ transposed
    damping = damping * gradient_size(matrix)
    matrix += damping[:, None, None] * np.eye(residual.shape[1])
    y = np.linalg.solve(matrix, residual[:, :, None])
    return -(transposed @ y)[:, :, 0], damping * np.linalg.norm(y[:, :, 0], axis=1)


def _jacobians(closure: Closure, q: Array) -> Array:
    """Dense scaled Jacobians (starts, rows, free)."""
    assert closure.jacobians_of is not None
    chosen = closure.jacobians_of(q)[:, closure.rows[:, None], closure.free]
    return np.asarray(chosen * closure.scales[closure.free] / closure.row_scales[closure.rows][:, None])
