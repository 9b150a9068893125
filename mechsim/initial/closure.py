"""The equations a start must satisfy, as scaled equations in the coordinates that may move, and how to solve them.

Coordinates are divided by their scale and every equation by the length of its scaled gradient, so that a residual
is a distance relative to the mechanism's size: millimetres and metres meet the same tolerances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mechsim.initial.start import Array, Indices

if TYPE_CHECKING:
    from mechsim.kernel.system import System

Triplets = tuple[Indices, Indices, Array]

CLOSED = 1e-12  # largest residual, relative to size, of a start we accept; rounding leaves about 1e-15
DENSE_LIMIT = 100  # above this many coordinates the sparse solver is faster than LAPACK
DEPENDENT = 1e-11  # singular values below this (rows have length 1) belong to dependent rows
LEVENBERG_ITERATIONS = 200
STATIONARY = 1e-7  # a promised decrease below this share means a least-squares point has been reached
POLISH_ITERATIONS = 60  # a double root gains only one bit per iteration
DEAD_POINT = 1e-6  # a double root is found to the square root of rounding, and so is its singular value


@dataclass(frozen=True, slots=True)
class Closure:
    """Equations `residual(x) = 0` in x, of which only `free` entries may change and only `rows` count."""

    residual_of: Callable[[Array], Array]
    jacobian_of: Callable[[Array], Triplets]
    hessian_of: Callable[[Array, Array], Triplets] | None  # None: the equations are linear
    rate_of: Callable[[Array, Array], Array] | None  # along a velocity, for many points at once; None: linear
    scales: Array
    free: Indices
    rows: Indices
    row_scales: Array  # of all rows

    def residual(self, x: Array) -> Array:
        return self.residual_of(x)[self.rows] / self.row_scales[self.rows]

    def jacobian(self, x: Array) -> Triplets:
        """Scaled triplets with rows numbered as `rows` and columns as `free`."""
        rows, columns, values = self.jacobian_of(x)
        row_number = numbering(self.rows, len(self.row_scales))[rows]
        column_number = numbering(self.free, len(self.scales))[columns]
        kept = (row_number >= 0) & (column_number >= 0)
        scaled = values * self.scales[columns] / self.row_scales[rows]
        return row_number[kept], column_number[kept], scaled[kept]

    def dense_jacobian(self, x: Array) -> Array:
        return dense(self.jacobian(x), len(self.rows), len(self.free))

    def moved(self, x: Array, step: Array) -> Array:
        result = x.copy()
        result[self.free] += self.scales[self.free] * step
        return result

    def restricted(self, free: Indices, rows: Indices) -> Closure:
        return replace(self, free=free, rows=rows)

    def rescaled(self, x: Array) -> Closure:
        """The same equations with row scales taken at x; a gradient that vanishes there keeps its old scale."""
        norms = gradient_norms(self.jacobian_of(x), self.scales, len(self.row_scales))
        small = norms < 1e-6 * self.row_scales
        return replace(self, row_scales=np.where(small, self.row_scales, norms))

    def tolerance(self, x: Array) -> float:
        """Rounding grows with the distance from the origin, and the accepted residual with it."""
        return CLOSED * max(1.0, float(np.max(np.abs(x / self.scales), initial=0.0)))


def position_closure(system: System, t: float, guess: Array, scales: Array, free: Indices) -> Closure:
    jacobian = system.constraint_jacobian(t, guess)
    norms = gradient_norms(jacobian, scales, system.m)
    # Points that coincide in the guess give a length constraint without gradient: look beside the guess.
    beside = guess + 0.1 * scales * np.random.default_rng(1).standard_normal(len(guess))
    floor = gradient_norms(system.constraint_jacobian(t, beside), scales, system.m)
    norms = np.where(norms < 1e-3 * floor, floor, norms)
    return Closure(
        lambda q: system.constraints(t, q),
        lambda q: system.constraint_jacobian(t, q),
        lambda q, multipliers: system.constraint_hessian(t, q, multipliers),
        lambda q, v: system.constraint_rate(t, q, v),
        scales,
        free,
        np.arange(system.m),
        np.where(norms > 0, norms, 1.0),
    )


def velocity_closure(system: System, t: float, positions: Array, scales: Array, free: Indices) -> Closure:
    """`C_q v + C_t = 0`, linear in v."""
    jacobian = system.constraint_jacobian(t, positions)
    norms = gradient_norms(jacobian, scales, system.m)
    return Closure(
        lambda v: system.constraint_rate(t, positions, v),
        lambda v: jacobian,
        None,
        None,
        scales,
        free,
        np.arange(system.m),
        np.where(norms > 0, norms, 1.0),
    )


def gradient_norms(jacobian: Triplets, scales: Array, count: int) -> Array:
    rows, columns, values = jacobian
    return np.sqrt(np.bincount(rows, (values * scales[columns]) ** 2, minlength=count))


def numbering(chosen: Indices, count: int) -> Indices:
    """Where each of 0..count-1 stands in `chosen`; -1 where it does not."""
    result = np.full(count, -1, dtype=np.intp)
    result[chosen] = np.arange(len(chosen))
    return result


def dense(triplets: Triplets, rows: int, columns: int) -> Array:
    matrix = np.zeros((rows, columns))
    np.add.at(matrix, (triplets[0], triplets[1]), triplets[2])
    return matrix


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
        y = np.linalg.solve(jacobian @ jacobian.T + damping * np.eye(rows), residual)
        step = -jacobian.T @ y
    else:
        step, y = _sparse_step(closure.jacobian(x), rows, columns, residual, damping)
    return step, damping * _norm(y)


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
    digits. There the Jacobian itself vanishes along one direction: go where it does, if that is closed too."""
    if closure.hessian_of is None or not len(closure.rows) or not 0 < len(closure.free) <= DENSE_LIMIT:
        return x
    left, values, right = np.linalg.svd(closure.dense_jacobian(x), full_matrices=False)
    smallest = float(values[-1])
    if not 0.0 < smallest < DEAD_POINT:
        return x
    beside = closure.dense_jacobian(closure.moved(x, 1e-3 * right[-1]))
    change = (float(left[:, -1] @ beside @ right[-1]) - smallest) / 1e-3
    if abs(change) < 1e-3:
        return x  # singular throughout: dependent rows, no dead point
    settled = closure.moved(x, -smallest / change * right[-1])
    return settled if np.max(np.abs(closure.residual(settled))) <= 0.01 * closure.tolerance(x) else x


def is_closed(closure: Closure, x: Array) -> bool:
    residual = closure.residual(x)
    return bool(np.max(np.abs(residual), initial=0.0) <= closure.tolerance(x))


def _norm(vector: NDArray[np.floating]) -> float:
    return float(np.sqrt(vector @ vector))
