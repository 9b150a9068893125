"""The consistent point nearest to the guesses: Newton's method with exact derivatives, or IPOPT where that fails.

Both solve the same equations, those of a stationary distance on the constraints, and both must end at a minimum. There
are no bounds, so whole Newton steps are what IPOPT takes too while they contract and the curvature is right; where
either fails its line search is needed, and it sets out from the same start.
"""

from __future__ import annotations

import numpy as np

from mechsim.initial import ipopt
from mechsim.initial.closure import Closure
from mechsim.initial.levenberg import DENSE_LIMIT
from mechsim.initial.newton import DEPENDENT, dense_hessian
from mechsim.initial.start import Array

FREE_WEIGHT = 1e-4  # a value nobody asked for moves a hundred times as easily as a guessed one
ITERATIONS = 60
CONTRACTION = 0.7  # of a step to the one before: at a dead point, a double root, they halve
SETTLED = 1e-9  # a step of this share of the size is the last: the next would be its square, or is left to the polish


def nearest(closure: Closure, target: Array, guessed: tuple[int, ...], start: Array) -> Array:
    """The point closest to `target` that satisfies the closure; where there is none to be found, IPOPT's last point.

    The search sets out from `start`: best a closed point near the target, else first steps may carry it far away. The
    caller polishes and judges the result. IPOPT refuses more equations than unknowns (redundant constraints with
    every freedom fixed); there is nothing to minimise then, and `start` is handed back.
    """
    if len(closure.rows) > len(closure.free):
        return start
    if not np.any(closure.residual(target)):
        return target
    weights = weights_of(guessed, len(target))
    for method in (minimise, ipopt.minimise):
        found = method(closure, target, weights, start)
        if found is not None:
            return found
    return start


def weights_of(guessed: tuple[int, ...], count: int) -> Array:
    """What moving each coordinate costs."""
    weights = np.full(count, FREE_WEIGHT)
    weights[list(guessed)] = 1.0
    return weights


def minimise(
    closure: Closure,
    target: Array,
    weights: Array,
    start: Array,
    contraction: float = CONTRACTION,
    longest: float = np.inf,
) -> Array | None:
    """The minimum that whole Newton steps from `start`, none above `longest`, contract to; None where they do not."""
    if not 0 < len(closure.free) <= DENSE_LIMIT:
        return None
    cost = weights[closure.free]
    y, x = ((start - target) / closure.scales)[closure.free], start
    multipliers, last = None, np.inf
    for _ in range(ITERATIONS):
        found = _step(Tangent(closure, x, cost, y, multipliers))
        if found is None:
            return None
        step, multipliers = found
        size = float(np.max(np.abs(step)))
        if not size <= min(contraction * last, longest):
            return None
        y = y + step
        x, last = closure.moved(target, y), size
        if size <= SETTLED:
            return x
    return None


class Tangent:
    """What there is to know at x of its weighted distance from a target, along the constraints and across them. The
    free coordinates are `y` scales off the target."""

    def __init__(self, closure: Closure, x: Array, cost: Array, y: Array, multipliers: Array | None = None):
        left, lengths, right = np.linalg.svd(closure.dense_jacobian(x))
        rank = int(np.sum(lengths > DEPENDENT))
        self.cost, self.y = cost, y
        self.across, self.along = right[:rank], right[rank:]
        self._unloaded = left[:, :rank] / lengths[:rank]
        self.closing = -self.across.T @ (self._unloaded.T @ closure.residual(x))  # the step that closes the constraints
        self.bending = np.diag(cost)
        if closure.hessian_of is not None:
            held = self.balance(cost * y) if multipliers is None else multipliers
            self.bending = self.bending + dense_hessian(closure, x, held)
        self.curvature = self.along @ self.bending @ self.along.T
        self.slope = self.along @ (cost * y)

    def balance(self, gradient: Array) -> Array:
        """The multipliers of constraints that hold against this."""
        return -self._unloaded @ (self.across @ gradient)


def _step(tangent: Tangent) -> tuple[Array, Array] | None:
    """Newton's step for `cost y + J^T multipliers = 0, residual = 0`, and new multipliers; None away from a minimum.

    The step in the range of J^T closes the constraints, the one in the null space of J goes downhill along them.
    """
    try:
        np.linalg.cholesky(tangent.curvature)
    except np.linalg.LinAlgError:
        return None
    rest = tangent.slope + tangent.along @ (tangent.bending @ tangent.closing)
    step = tangent.closing - tangent.along.T @ np.linalg.solve(tangent.curvature, rest)
    return step, tangent.balance(tangent.cost * tangent.y + tangent.bending @ step)
