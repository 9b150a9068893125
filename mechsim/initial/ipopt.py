"""IPOPT, for a nearest point that Newton's method does not find: it has a line search and restores closure."""

from __future__ import annotations

import numpy as np

from mechsim.initial.closure import Closure, numbering
from mechsim.initial.start import Array, Indices
from mechsim.nonlinear import UNBOUNDED, signals_kept_back, solve

ITERATIONS = 60  # a mechanism that closes takes about ten; one that does not would wander in restoration
TOLERANCE = 1e-9  # Newton's method polishes afterwards, so IPOPT need not squeeze out the last digits


class Distance:
    """The callbacks of `min 1/2 sum w_j (y_j - target_j)^2` subject to the closure, in the scaled free coordinates."""

    def __init__(self, closure: Closure, target: Array, weights: Array, interrupted: list[int]):
        self.closure = closure
        self.interrupted = interrupted
        self.start = target
        self.weights = weights[closure.free]
        self.rows, self.columns, _ = closure.jacobian(target)
        self.hessian_rows, self.hessian_columns, self.hessian_kept = self._hessian_pattern()

    def _hessian_pattern(self) -> tuple[Indices, Indices, Indices]:
        closure, diagonal = self.closure, np.arange(len(self.closure.free))
        if closure.hessian_of is None:
            return diagonal, diagonal, np.zeros(0, dtype=np.intp)
        number = numbering(closure.free, len(closure.scales))
        rows, columns, _ = closure.hessian_of(self.start, np.ones(len(closure.row_scales)))
        kept = np.flatnonzero((number[rows] >= 0) & (number[columns] >= 0))
        first, second = number[rows[kept]], number[columns[kept]]
        # Duplicates are summed by IPOPT, so the objective's diagonal simply comes first; it wants the lower triangle.
        return (
            np.concatenate([diagonal, np.maximum(first, second)]),
            np.concatenate([diagonal, np.minimum(first, second)]),
            kept,
        )

    def intermediate(self, *_: float) -> bool:
        """Called after each iteration; False ends the search."""
        return not self.interrupted

    def objective(self, y: Array) -> float:
        return 0.5 * float(self.weights @ (y * y))

    def gradient(self, y: Array) -> Array:
        return self.weights * y

    def constraints(self, y: Array) -> Array:
        return self.closure.residual(self.closure.moved(self.start, y))

    def jacobianstructure(self) -> tuple[Indices, Indices]:
        return self.rows, self.columns

    def jacobian(self, y: Array) -> Array:
        return self.closure.jacobian(self.closure.moved(self.start, y))[2]

    def hessianstructure(self) -> tuple[Indices, Indices]:
        return self.hessian_rows, self.hessian_columns

    def hessian(self, y: Array, multipliers: Array, factor: float) -> Array:
        closure, objective = self.closure, factor * self.weights
        if closure.hessian_of is None:
            return objective
        full = np.zeros(len(closure.row_scales))
        full[closure.rows] = multipliers / closure.row_scales[closure.rows]
        rows, columns, values = closure.hessian_of(closure.moved(self.start, y), full)
        scaled = values * closure.scales[rows] * closure.scales[columns]
        return np.concatenate([objective, scaled[self.hessian_kept]])


def minimise(closure: Closure, target: Array, weights: Array, start: Array) -> Array | None:
    """IPOPT's last point from `start`, None if that is no point."""
    count, equations = len(closure.free), len(closure.rows)
    zeros, infinite = np.zeros(equations), np.full(count, UNBOUNDED)
    options: dict[str, str | float | int] = {"max_iter": ITERATIONS, "tol": TOLERANCE}
    if closure.hessian_of is None:
        options |= {"jac_c_constant": "yes", "hessian_constant": "yes"}
    with signals_kept_back() as interrupted:
        distance = Distance(closure, target, weights, interrupted)
        first = ((start - target) / closure.scales)[closure.free]
        found = solve(distance, first, (-infinite, infinite), (zeros, zeros), options).x
    return closure.moved(target, found) if np.all(np.isfinite(found)) else None
