"""A closed pose taken elsewhere on its branch: as numbers of its mechanism change, and along its constraints.

A branch is what the mechanism can be moved to without being taken apart, fixed values held. Every step is a small one
that Newton's method closes at once, each correction a quarter of the one before: there is then one closed pose beside
the last one, and it is followed (P. Deuflhard, Newton Methods for Nonlinear Problems, 5.1). Where even the smallest
step is not so, constraints become dependent: the branch ends there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mechsim.initial.closure import Closure
from mechsim.initial.nearest import Tangent
from mechsim.initial.newton import minimum_norm_step
from mechsim.initial.start import Array

STRIDE = 0.25  # of a coordinate's scale: the longest step
CONTRACTION = 0.25  # of a correction to the one before
CLOSE = 1e-10  # a correction so small is the last, and need not be smaller than the one before
SHORTEST = 1e-5  # share of the way: where shorter steps do not close either, the branch ends
GOLDEN = 0.6180339887498949  # steps are shortened so, for halves may hit a zero between a number and its negative
STRIDES = 2000  # more are not taken on any way
FIRM = 1e-6  # of the largest cost: a curvature below is none
PUSH = 1e-3  # of a scale: how far off a point is put that is furthest from the target, not nearest


def carried(taken_to: Callable[[float, float, Array], Array | None], x: Array) -> tuple[Array, float]:
    """The pose x as the mechanism changes from share 0 of the way to 1; and the share at which its branch ends, or 1.

    `taken_to` gives the pose at a share of the way (the second) that is beside a pose of one before (the first); None
    where there is none.
    """
    share, step = 0.0, 1.0
    for _ in range(STRIDES):
        ahead = min(share + step, 1.0)
        closed = taken_to(share, ahead, x)
        if closed is not None:
            x, share, step = closed, ahead, 2 * step
            if share == 1.0:
                break
        elif step < SHORTEST:
            break
        else:
            step = (ahead - share) * GOLDEN
    return x, share


def closed_beside(closure: Closure, x: Array, longest: float = STRIDE) -> Array | None:
    """The closed pose beside x; None where Newton's method does not go straight to one."""
    last = np.inf
    while True:
        residual = closure.residual(x)
        if not np.isfinite(residual).all():
            return None
        step = minimum_norm_step(closure, x, residual)
        size = float(np.max(np.abs(step), initial=0.0))
        if not size <= longest or (size > CLOSE and size > CONTRACTION * last):
            return None
        x, last = closure.moved(x, step), size
        if size <= CLOSE:
            return x


def descended(closure: Closure, target: Array, weights: Array, x: Array) -> Array | None:
    """From the closed pose x along the constraints, downhill to a point nearest to the target; None: not in time."""
    cost, longest = weights[closure.free], STRIDE
    x = _off_summit(closure, target, cost, x)
    for _ in range(STRIDES):
        step, exact = _downhill(Tangent(closure, x, cost, _off(closure, target, x)))
        size = float(np.max(np.abs(step), initial=0.0))
        if exact and size <= CLOSE:
            return closure.moved(x, step)
        shortened = step * min(1.0, longest / size)
        trial = closed_beside(closure, closure.moved(x, shortened), min(longest, size) / 2)
        if trial is not None and ((exact and size < PUSH) or _distance(closure, target, cost, trial, x) < 0):
            x, longest = trial, min(2 * longest, STRIDE)
        elif longest < CLOSE:
            return None
        else:
            longest = min(longest, size) / 2
    return None


def _off(closure: Closure, target: Array, x: Array) -> Array:
    return np.asarray(((x - target) / closure.scales)[closure.free])


def _distance(closure: Closure, target: Array, cost: Array, x: Array, other: Array) -> float:
    """How much further from the target x is than the other; a difference, for both may be far."""
    apart, middle = _off(closure, other, x), _off(closure, target, (x + other) / 2)
    return float(2 * cost @ (apart * middle))


def _downhill(tangent: Tangent) -> tuple[Array, bool]:
    """Newton's step along the constraints, and whether it is that: where they curve away from the target, it is made
    to lead downhill."""
    values, vectors = np.linalg.eigh(tangent.curvature)
    least = FIRM * np.max(np.abs(tangent.cost), initial=0.0)
    exact = bool(np.all(values > least))
    step = -vectors @ ((vectors.T @ tangent.slope) / np.maximum(np.abs(values), least))
    return tangent.along.T @ step, exact


def _off_summit(closure: Closure, target: Array, cost: Array, x: Array) -> Array:
    """A pose that is level but not nearest (a target across a circle's centre), moved a little to where it goes down;
    of two sides it is the one on which the first coordinate that moves becomes larger."""
    tangent = Tangent(closure, x, cost, _off(closure, target, x))
    values, vectors = np.linalg.eigh(tangent.curvature)
    if not len(values) or values[0] >= 0 or np.max(np.abs(tangent.slope)) > FIRM * np.max(np.abs(cost * tangent.y)):
        return x
    way = tangent.along.T @ vectors[:, 0]
    leading = way[np.argmax(np.abs(way) > PUSH * np.max(np.abs(way)))]
    beside = closed_beside(closure, closure.moved(x, PUSH * np.sign(leading) * way))
    return x if beside is None else beside
