"""How a closure is solved to the last digit: Newton's method, and dead points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechsim.initial.closure import Closure
from mechsim.initial.levenberg import DENSE_LIMIT, sparse_step
from mechsim.initial.start import Array
from mechsim.kernel.linear import dense

DEPENDENT = 1e-11  # singular values below this (rows have length 1) belong to dependent rows
POLISH_ITERATIONS = 60  # a double root gains only one bit per iteration
DEAD_POINT = 1e-6  # a double root is found to the square root of rounding, and so is its singular value


def minimum_norm_step(closure: Closure, x: Array, residual: Array) -> Array:
    """The smallest step that cancels the residual to first order.

    Dependent rows are harmless: least squares ignores them, the sparse form damps them a little.
    """
    if len(closure.free) <= DENSE_LIMIT:
        return _least_squares(closure.dense_jacobian(x), -residual)
    return sparse_step(closure.jacobian(x), len(closure.rows), len(closure.free), residual, 1e-13)[0]


def _least_squares(matrix: Array, right: Array, negligible: float = DEPENDENT) -> Array:
    """As `numpy.linalg.lstsq`, but with an absolute bound: a matrix of nothing but rounding must count as zero."""
    u, values, v = np.linalg.svd(matrix, full_matrices=False)
    kept = values > negligible
    return np.asarray(v[kept].T @ ((u[:, kept].T @ right) / values[kept]))


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
        step = _least_squares(curvature, -gradient, DEAD_POINT)  # redundant rows have neither gradient nor curvature
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
