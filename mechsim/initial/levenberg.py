"""Levenberg's method towards closed positions from far away: from one start, or from many side by side.

Damping follows the ratio of gained to promised decrease (H. B. Nielsen, Damping parameter in Marquardt's method). Every
start has a damping of its own; one call of the kernel per iteration serves them all.
"""

from __future__ import annotations

import numpy as np

from mechsim.initial.closure import Closure, Triplets
from mechsim.initial.start import Array

DENSE_LIMIT = 100  # above this many coordinates the sparse solver is faster than LAPACK
ITERATIONS = 200  # of one start
CLOSELY = 1e-9  # how far one start is followed
NEARLY_CLOSED = 1e-7  # and how far many are: Newton's method takes over from here
STATIONARY = 1e-7  # a promised decrease below this share means a least-squares point has been reached
FIRST_DAMPING, LEAST_DAMPING, HOPELESS = 1e-3, 1e-12, 1e10
BATCH = 2_000_000  # numbers per Jacobian batch: some 16 MB

End = tuple[Array, float]  # a point, and the size of its residual


def approach(closure: Closure, x: Array) -> Array:
    """The best point found from one start, closed or not."""
    return _descend(closure, x[None], ITERATIONS, CLOSELY)[0][0]


def approach_all(closure: Closure, starts: list[Array], iterations: int, one_is_enough: bool = False) -> list[Array]:
    """Where each start leads, without those that do not close."""
    return [end for end, size in ends_of(closure, starts, iterations, one_is_enough) if size <= NEARLY_CLOSED]


def ends_of(closure: Closure, starts: list[Array], iterations: int, one_is_enough: bool = False) -> list[End]:
    """Where each start leads, and the size of the residual there."""
    count = max(1, BATCH // max(1, len(closure.scales) * len(closure.free)))
    ends: list[End] = []
    for begin in range(0, len(starts), count):
        if not (one_is_enough and any(size <= NEARLY_CLOSED for _, size in ends)):
            batch = np.array(starts[begin : begin + count])
            ends += _descend(closure, batch, iterations, NEARLY_CLOSED, one_is_enough)
    return ends


def _descend(closure: Closure, q: Array, iterations: int, goal: float, one_is_enough: bool = False) -> list[End]:
    """From each row of q until its residual is as small as the goal, or nothing makes it smaller."""
    q = q.copy()
    residual = _residuals(closure, q)
    sizes = _norms(residual)
    damping, growth = np.full(len(q), FIRST_DAMPING), np.full(len(q), 2.0)
    stuck = np.full(len(q), not len(closure.free))  # at a point of least squares
    for _ in range(iterations):
        closed = sizes <= goal
        active = np.flatnonzero(~closed & ~stuck & (damping <= HOPELESS))
        if not len(active) or (one_is_enough and np.any(closed)):
            break
        steps, promised = _damped_steps(closure, q[active], residual[active], damping[active])
        hopeful = sizes[active] - promised >= STATIONARY * sizes[active]
        stuck[active[~hopeful]] = True
        if not np.any(hopeful):
            continue
        active, steps, promised = active[hopeful], steps[hopeful], promised[hopeful]
        trial = q[active]
        trial[:, closure.free] += closure.scales[closure.free] * steps
        trial_residual = _residuals(closure, trial)
        trial_sizes = _norms(trial_residual)
        ratio = (sizes[active] ** 2 - trial_sizes**2) / (sizes[active] ** 2 - promised**2)
        damping[active], growth[active] = _adapted(damping[active], growth[active], ratio)
        better = ratio > 0
        accepted = active[better]
        q[accepted], residual[accepted], sizes[accepted] = trial[better], trial_residual[better], trial_sizes[better]
    return list(zip(q, sizes.tolist(), strict=True))


def _adapted(damping: Array, growth: Array, ratio: Array) -> tuple[Array, Array]:
    """Damping and its growth after a step that gained this share of what it promised; none: it was not taken."""
    better = ratio > 0
    shrink = np.maximum(1 / 3, 1 - (2 * np.clip(ratio, 0.0, 1.0) - 1) ** 3)
    damping = np.maximum(damping * np.where(better, shrink, growth), LEAST_DAMPING)
    return damping, np.where(better, 2.0, 2 * growth)


def _damped_steps(closure: Closure, q: Array, residual: Array, damping: Array) -> tuple[Array, Array]:
    """Each start's step -J^T y with (J J^T + damping) y = residual, in scaled free coordinates, and the size of the
    residual that it promises, damping |y|."""
    if len(closure.free) > DENSE_LIMIT:
        pairs = [
            sparse_step(closure.jacobian(x), len(closure.rows), len(closure.free), right, each)
            for x, right, each in zip(q, residual, damping.tolist(), strict=True)
        ]
        return np.array([step for step, _ in pairs]), damping * _norms(np.array([y for _, y in pairs]))
    jacobian = _jacobians(closure, q)
    transposed = np.swapaxes(jacobian, 1, 2)
    matrix = jacobian @ transposed
    damping = damping * _largest_gradient(matrix)
    matrix += damping[:, None, None] * np.eye(residual.shape[1])
    y = np.asarray(np.linalg.solve(matrix, residual[:, :, None])[:, :, 0], dtype=float)
    return (-transposed @ y[:, :, None])[:, :, 0], damping * _norms(y)


def sparse_step(jacobian: Triplets, rows: int, columns: int, residual: Array, damping: float) -> tuple[Array, Array]:
    """(step, y) of `[[1, J^T], [J, -damping]] (step, y) = (0, -residual)`: no squared condition number. NaN where an
    entry of J is no number, for then SuperLU would raise, or leave it out."""
    if not np.isfinite(jacobian[2]).all():
        return np.full(columns, np.nan), np.full(rows, np.nan)
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import splu

    j_rows, j_columns, values = jacobian
    diagonal = np.arange(rows + columns)
    entries = np.concatenate([np.ones(columns), np.full(rows, -damping), values, values])
    at = (
        np.concatenate([diagonal, j_columns, columns + j_rows]),
        np.concatenate([diagonal, columns + j_rows, j_columns]),
    )
    matrix = coo_array((entries, at), shape=(rows + columns, rows + columns)).tocsc()
    solution = splu(matrix).solve(np.concatenate([np.zeros(columns), -residual]))
    return solution[:columns], solution[columns:]


def _largest_gradient(matrix: Array) -> Array:
    """The largest entry of J J^T, but at least 1: far from where rows were scaled, damping must grow with them."""
    return np.maximum(1.0, np.max(np.diagonal(matrix, axis1=-2, axis2=-1), axis=-1, initial=0.0))


def _residuals(closure: Closure, q: Array) -> Array:
    if _one_by_one(closure, q):
        return np.array([closure.residual(x) for x in q])
    return np.asarray(closure.residual_of(q)[:, closure.rows] / closure.row_scales[closure.rows])


def _jacobians(closure: Closure, q: Array) -> Array:
    """Dense scaled Jacobians (starts, rows, free)."""
    if _one_by_one(closure, q) or closure.jacobians_of is None:
        return np.array([closure.dense_jacobian(x) for x in q])
    chosen = closure.jacobians_of(q)[:, closure.rows[:, None], closure.free]
    return np.asarray(chosen * closure.scales[closure.free] / closure.row_scales[closure.rows][:, None])


def _one_by_one(closure: Closure, q: Array) -> bool:
    """One start, or linear equations, which are closed in one step from anywhere."""
    return len(q) == 1 or closure.jacobians_of is None


def _norms(vectors: Array) -> Array:
    return np.asarray(np.sqrt(vectors[:, None, :] @ vectors[:, :, None])[:, 0, 0])
