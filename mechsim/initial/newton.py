"""How a closure is solved: Levenberg's method from afar, Newton's to the last digit, and dead points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechsim.initial.closure import Closure, Triplets
from mechsim.initial.start import Array
from mechsim.kernel.linear import dense

DENSE_LIMIT = 100  # above this many coordinates the sparse solver is faster than LAPACK
DEPENDENT = 1e-11  # singular values below this (rows have length 1) belong to dependent rows
LEVENBERG_ITERATIONS = 200
STATIONARY = 1e-7  # a promised decrease below this share means a least-squares point has been reached
POLISH_ITERATIONS = 60  # a double root gains only one bit per iteration
DEAD_POINT = 1e-6  # a double root is found to the square root of rounding, and so is its singular value


def minimum_norm_step(closure: Closure, x: Array, residual: Array) -> Array:
    """The smallest step that cancels the residual to first order.

    Dependent rows are harmless: least squares ignores them, the sparse form damps them a little.
    """
    if len(closure.free) <= DENSE_LIMIT:
        return _least_squares(closure.dense_jacobian(x), -residual)
    return _sparse_step(closure.jacobian(x), len(closure.rows), len(closure.free), residual, 1e-13)[0]


def levenberg_step(closure: Closure, x: Array, residual: Array, damping: float) -> tuple[Array, float]:
    """The step -J^T y with (J J^T + damping) y = residual, and the size of the residual it promises, damping |y|."""
    rows, columns = len(closure.rows), len(closure.free)
    if columns <= DENSE_LIMIT:
        jacobian = closure.dense_jacobian(x)
        matrix = jacobian @ jacobian.T
        damping *= float(gradient_size(matrix))
        y = np.linalg.solve(matrix + damping * np.eye(rows), residual)
        step = -jacobian.T @ y
    else:
        step, y = _sparse_step(closure.jacobian(x), rows, columns, residual, damping)
    return step, damping * _norm(y)


def gradient_size(matrix: Array) -> Array:
    """The largest entry of J J^T, but at least 1: far from where rows were scaled, damping must grow with them."""
    return np.maximum(1.0, np.max(np.diagonal(matrix, axis1=-2, axis2=-1), axis=-1, initial=0.0))


def _least_squares(matrix: Array, right: Array) -> Array:
    """As `numpy.linalg.lstsq`, but with an absolute bound: a matrix of nothing but rounding must count as zero."""
    u, values, v = np.linalg.svd(matrix, full_matrices=False)
    kept = values > DEPENDENT
    return np.asarray(v[kept].T @ ((u[:, kept].T @ right) / values[kept]))


def _sparse_step(jacobian: Triplets, rows: int, columns: int, residual: Array, damping: float) -> tuple[Array, Array]:
    """(step, y) of `[[1, J^T], [J, -damping]] (step, y) = (0, -residual)`: no squared condition number."""
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


def approach(closure: Closure, x: Array, iterations: int = LEVENBERG_ITERATIONS, goal: float = 1e-9) -> Array:
    """Levenberg's method towards residual zero from far away; the best point found, closed or not.

    Damping follows the ratio of gained to promised decrease (H. B. Nielsen, Damping parameter in Marquardt's method).
    """
    residual = closure.residual(x)
    size, damping, growth = _norm(residual), 1e-3, 2.0
    for _ in range(iterations):
        if size <= goal or not len(closure.free) or damping > 1e10:
            break
        step, promised = levenberg_step(closure, x, residual, damping)
        if size - promised < STATIONARY * size:
            break
        trial = closure.moved(x, step)
        trial_residual = closure.residual(trial)
        trial_size = _norm(trial_residual)
        ratio = (size**2 - trial_size**2) / (size**2 - promised**2)
        if ratio > 0:
            x, residual, size = trial, trial_residual, trial_size
            damping, growth = max(damping * max(1 / 3, 1 - (2 * ratio - 1) ** 3), 1e-12), 2.0
        else:
            damping, growth = damping * growth, 2 * growth
    return x


def polish(closure: Closure, x: Array) -> Array:
    """Newton's method with minimum-norm corrections until rounding stops it; call `is_closed` on the result."""
    residual = closure.residual(x)
    size = _norm(residual)
    for _ in range(POLISH_ITERATIONS):
        if size == 0.0 or not len(closure.free):
            break
        trial = closure.moved(x, minimum_norm_step(closure, x, residual))
        trial_residual = closure.residual(trial)
        if not _norm(trial_residual) < size:
            break
        x, residual, size = trial, trial_residual, _norm(trial_residual)
    return x


def settle(closure: Closure, x: Array) -> Array:
    """At a dead point (a rod held exactly at its horizontal end) the root is double and rounding hides its last eight
    digits. There a combination u.C of the constraints has no gradient: go where that is so, if that is closed too."""
    if closure.hessian_of is None or not len(closure.rows) or not 0 < len(closure.free) <= DENSE_LIMIT:
        return x
    left, values, right = np.linalg.svd(closure.dense_jacobian(x))
    strong = int(np.sum(values >= DEAD_POINT))
    movable = right[strong:].T
    settled = x
    for combination in left[:, strong : len(values)].T:
        gradient = movable.T @ closure.dense_jacobian(settled).T @ combination
        curvature = movable.T @ dense_hessian(closure, settled, combination) @ movable
        step = np.linalg.lstsq(curvature, -gradient, rcond=1e-6)[0]
        settled = closure.moved(settled, movable @ step)
    closed = np.all(np.abs(closure.residual(settled)) <= 0.01 * closure.tolerance(x))
    return settled if closed else x


def dense_hessian(closure: Closure, x: Array, combination: Array) -> Array:
    """The second derivative of `combination` of the scaled equations by the scaled free coordinates."""
    assert closure.hessian_of is not None
    weights = np.zeros(len(closure.row_scales))
    weights[closure.rows] = combination / closure.row_scales[closure.rows]
    rows, columns, entries = closure.hessian_of(x, weights)
    lower = dense((rows, columns, entries * closure.scales[rows] * closure.scales[columns]), len(x), len(x))
    return (lower + np.tril(lower, -1).T)[np.ix_(closure.free, closure.free)]


def is_closed(closure: Closure, x: Array) -> bool:
    return bool(np.all(np.abs(closure.residual(x)) <= closure.tolerance(x)))


def _norm(vector: NDArray[np.floating]) -> float:
    return float(np.sqrt(vector @ vector))
