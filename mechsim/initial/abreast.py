"""Starts of many sets of numbers side by side: the steps of nearest.py, newton.py and branch.py over all of them.

Each set has its own steps, and decides by them alone whether they contract: what is settled waits. `good` marks sets for
which all went as one wishes; of the others nothing is said here, they are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mechsim.initial.branch import CLOSE, CONTRACTION, FIRM, PUSH, STRIDE
from mechsim.initial.closure import CLOSED
from mechsim.initial.nearest import ITERATIONS, SETTLED
from mechsim.initial.newton import POLISH_ITERATIONS
from mechsim.initial.start import Array, Indices
from mechsim.kernel.columns import Columns, padded
from mechsim.kernel.linear import generic
from mechsim.kernel.orthogonal import Firm, Rows, product, total

Marks = NDArray[np.bool_]

CORRECTIONS = 30  # of Newton's method, each a quarter of the one before: more are not needed
STRIDES = 64  # that are taken side by side; who needs more goes on alone


@dataclass(frozen=True, slots=True)
class Closures:
    """As Closure, for many sets: equations in x, (coordinates, sets), of which only `free` entries may change."""

    columns: Columns
    residual_of: Callable[[Columns, Array], Array]
    jacobian_of: Callable[[Columns, Array], Array]
    hessian_of: Callable[[Columns, Array, Array], Array] | None  # None: the equations are linear
    scales: Array
    free: Indices
    rows: Indices
    row_scales: Array  # of all rows

    def residual(self, x: Array) -> Array:
        return np.asarray((self.residual_of(self.columns, x) / self.row_scales)[self.rows])

    def jacobian(self, x: Array, columns: Indices | None = None) -> Array:
        """By the free coordinates, or by these, in scales."""
        columns = self.free if columns is None else columns
        found = self.jacobian_of(self.columns, x)[self.rows[:, None], columns]
        return np.asarray(found * self.scales[columns] / self.row_scales[self.rows][:, None])

    def bending(self, x: Array, multipliers: Array) -> Array:
        """The second derivative of the combination of the scaled equations by the scaled free coordinates."""
        assert self.hessian_of is not None
        weights = np.zeros_like(self.row_scales)
        weights[self.rows] = multipliers / self.row_scales[self.rows]
        found = self.hessian_of(self.columns, x, weights)[self.free[:, None], self.free]
        own = self.scales[self.free]
        return np.asarray(found * own[:, None] * own)

    def moved(self, x: Array, step: Array) -> Array:
        result = x.copy()
        result[self.free] += self.scales[self.free] * step
        return result

    def rescaled(self, x: Array) -> Closures:
        lengths = self.lengths(x)
        small = lengths < 1e-6 * self.row_scales
        return replace(self, row_scales=np.where(small, self.row_scales, lengths))

    def scaled_about(self, x: Array) -> Closures:
        """With row scales taken at x, or beside it where an equation has no gradient there."""
        lengths, beside = self.lengths(x), x.copy()
        beside[self.free] += 0.1 * self.scales[self.free] * generic(len(self.free))[:, None]
        floor = self.lengths(beside)
        lengths = np.where(lengths < 1e-3 * floor, floor, lengths)
        return replace(self, row_scales=np.where(lengths > 0, lengths, 1.0))

    def lengths(self, x: Array) -> Array:
        scaled = self.jacobian_of(self.columns, x) * self.scales
        return np.asarray(np.sqrt(total(np.swapaxes(scaled * scaled, 0, 1))))

    def chosen(self, places: Indices) -> Closures:
        """Those of some sets."""
        return replace(
            self,
            columns=self.columns.chosen(places),
            scales=self.scales[:, places],
            row_scales=self.row_scales[:, places],
        )


def largest(x: Array) -> Array:
    """The largest size of each set's entries, 0 where there are none."""
    return np.asarray(np.max(np.abs(x), axis=0, initial=0.0))


def position_closures(columns: Columns, free: Indices, rows: Indices) -> Closures:
    """These holonomic constraints; they are still to be scaled."""
    return Closures(
        columns,
        lambda own, q: own.constraints(q),
        lambda own, q: own.jacobian(q),
        lambda own, q, multipliers: own.hessian(q, multipliers),
        columns.scales,
        free,
        rows,
        np.ones((columns.m, columns.count)),
    )


def velocity_closures(columns: Columns, q: Array, scales: Array, free: Indices) -> Closures:
    """`C_q v + C_t = 0` and nonholonomic constraints, linear in v. Only for all sets together: q is not chosen."""
    closures = Closures(
        columns,
        lambda own, v: own.rates(q, v),
        lambda own, v: own.rate_jacobian(q, v),
        None,
        scales,
        free,
        np.arange(columns.m),
        np.ones((columns.m, columns.count)),
    )
    lengths = closures.lengths(scales * generic(len(scales))[:, None])
    return replace(closures, row_scales=np.where(lengths > 0, lengths, 1.0))


class Tangents:
    """As Tangent of nearest.py, for many sets: what there is to know at x of the weighted distance from a target."""

    def __init__(self, closures: Closures, x: Array, cost: Array, y: Array, multipliers: Array | None = None):
        self.rows = Rows(closures.jacobian(x))
        self.cost, self.y = cost, y
        self.freedom = len(closures.free) - len(closures.rows)
        self.closing = -self.rows.smallest(closures.residual(x))
        if self.freedom:
            self.along = self.rows.along()
            self._bent = None
            if closures.hessian_of is not None and len(closures.rows):
                held = self.balance(cost * y) if multipliers is None else multipliers
                self._bent = closures.bending(x, held)
            spread = np.stack([self.bent(self.along[:, k]) for k in range(self.freedom)], axis=1)
            self.curvature = self._downwards(spread)
            self.slope = self._downwards((cost * y)[:, None])[:, 0]

    def _downwards(self, vectors: Array) -> Array:
        """Their components along the constraints, (freedom, several, sets)."""
        return product(np.swapaxes(self.along, 0, 1), vectors)

    def bent(self, step: Array) -> Array:
        """How the gradient of the distance changes with a step."""
        plain = self.cost * step
        return plain if self._bent is None else plain + product(self._bent, step)

    def balance(self, gradient: Array) -> Array:
        return -self.rows.balance(gradient)

    def newton_step(self) -> tuple[Array, Array | None, Marks]:
        """The step to the stationary point, new multipliers, and where it is a minimum."""
        if not self.freedom:
            return self.closing, None, np.isfinite(largest(self.closing))
        firm = Firm(self.curvature)
        rest = self.slope + self._downwards(self.bent(self.closing)[:, None])[:, 0]
        step = self.closing - product(self.along, firm.solved(rest))
        return step, self.balance(self.cost * self.y + self.bent(step)), firm.firm

    def downhill(self) -> tuple[Array, Marks]:
        """As `_downhill` of branch.py."""
        least = FIRM * np.max(self.cost)
        firm = Firm(self.curvature - least * np.eye(self.freedom)[:, :, None])
        step = -Firm(self.curvature).solved(self.slope)
        curved = np.flatnonzero(~firm.firm & np.isfinite(largest(largest(self.curvature))))
        if len(curved):
            step[:, curved] = -_mended(self.curvature[:, :, curved], self.slope[:, curved], least)
        return product(self.along, step), firm.firm


def _mended(curvature: Array, slope: Array, least: float) -> Array:
    """The slope over the curvature, each eigenvalue of which counts by its size, and as `least` at least."""
    if len(slope) == 1:
        return np.asarray(slope / np.maximum(np.abs(curvature[0]), least))
    values, vectors = np.linalg.eigh(np.moveaxis(curvature, -1, 0))  # LAPACK takes one matrix after the other
    turns = np.moveaxis(vectors, 0, -1)
    downwards = product(np.swapaxes(turns, 0, 1), slope) / np.maximum(np.abs(values.T), least)
    return product(turns, downwards)


def minimised(
    closures: Closures, target: Array, cost: Array, start: Array, contraction: float, longest: float
) -> tuple[Array, Marks]:
    """The minima that whole Newton steps contract to, as `minimise` of nearest.py."""
    free, count = closures.free, start.shape[1]
    y, x, multipliers = ((start - target) / closures.scales)[free], start, None
    last, good, done = np.full(count, np.inf), np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
    for _ in range(ITERATIONS):
        step, multipliers, firm = Tangents(closures, x, cost, y, multipliers).newton_step()
        size = largest(step)
        good &= done | (firm & (size <= np.minimum(contraction * last, longest)))
        moving = good & ~done
        y = np.where(moving, y + step, y)
        x, last = np.where(moving, closures.moved(target, y), x), np.where(moving, size, last)
        done |= moving & (size <= SETTLED)
        if not np.any(good & ~done):
            break
    return x, good & done


def polished(closures: Closures, x: Array) -> Array:
    """Newton's method with smallest corrections until rounding stops it, as `polish` of newton.py."""
    residual = closures.residual(x)
    size = _lengths(residual)
    moving = size > 0
    for _ in range(POLISH_ITERATIONS if len(closures.free) else 0):
        if not np.any(moving):
            break
        trial = closures.moved(x, -Rows(closures.jacobian(x)).smallest(residual))
        trial_residual = closures.residual(trial)
        trial_size = _lengths(trial_residual)
        moving &= trial_size < size
        x = np.where(moving, trial, x)
        residual, size = np.where(moving, trial_residual, residual), np.where(moving, trial_size, size)
        moving &= size > 0
    return x


def closed(closures: Closures, x: Array) -> Marks:
    """Where the equations hold to rounding, were all numbers of the mechanism's own size."""
    return np.asarray(largest(closures.residual(x)) <= CLOSED)


def closed_beside(closures: Closures, x: Array, longest: Array | float = STRIDE) -> tuple[Array, Marks]:
    """The closed poses beside x, as `closed_beside` of branch.py."""
    count = x.shape[1]
    last, good, done = np.full(count, np.inf), np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
    for _ in range(CORRECTIONS):
        step = -Rows(closures.jacobian(x)).smallest(closures.residual(x))
        size = largest(step)
        contracts = (size <= longest) & ((size <= CLOSE) | (size <= CONTRACTION * last))
        good &= done | contracts
        moving = good & ~done
        x = np.where(moving, closures.moved(x, step), x)
        last = np.where(moving, size, last)
        done |= moving & (size <= CLOSE)
        if not np.any(good & ~done):
            break
    return x, good & done


def descended(closures: Closures, target: Array, cost: Array, x: Array) -> tuple[Array, Marks]:
    """From closed poses along the constraints, downhill to points nearest to the target, as `descended` of branch.py.
    Poses that are level but not nearest are left to that."""
    if len(closures.free) == len(closures.rows):
        return x, np.ones(x.shape[1], dtype=bool)
    found, good = x.copy(), np.zeros(x.shape[1], dtype=bool)
    places = np.flatnonzero(~_on_summit(closures, target, cost, x))
    longest = np.full(x.shape[1], STRIDE)
    for _ in range(STRIDES):
        if not len(places):
            break
        wide = places[padded(len(places))]
        own, aim, here = closures.chosen(wide), target[:, wide], found[:, wide]
        step, exact = Tangents(own, here, cost, _off(own, aim, here)).downhill()
        size = largest(step)
        arrived = exact & (size <= CLOSE)
        limit = longest[wide]
        with_limit = step * np.minimum(1.0, limit / np.where(size > 0, size, 1.0))
        trial, closes = closed_beside(own, own.moved(here, with_limit), np.minimum(limit, size) / 2)
        nearer = (exact & (size < PUSH)) | (_further(own, aim, cost, trial, here) < 0)
        taken = closes & nearer & ~arrived
        kept = slice(len(places))
        found[:, places[taken[kept]]] = trial[:, kept][:, taken[kept]]
        good[places[arrived[kept]]] = True
        longest[places] = np.where(taken, np.minimum(2 * limit, STRIDE), np.minimum(limit, size) / 2)[kept]
        stuck = ~taken & ~((limit >= CLOSE) & np.isfinite(size))
        places = places[~(arrived | stuck)[kept]]
    return found, good


def _on_summit(closures: Closures, target: Array, cost: Array, x: Array) -> Marks:
    """Level, but not nearest."""
    tangents = Tangents(closures, x, cost, _off(closures, target, x))
    level = largest(tangents.slope) <= FIRM * largest(cost * tangents.y)
    return np.asarray(level & ~Firm(tangents.curvature).firm)


def _off(closures: Closures, target: Array, x: Array) -> Array:
    return np.asarray(((x - target) / closures.scales)[closures.free])


def _further(closures: Closures, target: Array, cost: Array, x: Array, other: Array) -> Array:
    """How much further from the target x is than the other."""
    apart, middle = _off(closures, other, x), _off(closures, target, (x + other) / 2)
    return 2 * total(cost * (apart * middle))


def _lengths(vectors: Array) -> Array:
    return np.asarray(np.sqrt(total(vectors * vectors)))
