"""Which values two quantities of a pose can have together, as equations: constraints F(q) = 0, limits G(q) >= 0, and
the quantities u(q).

On the boundary of what is reached some direction w of u cannot be gone on: with multipliers a of the constraints and b
of the limits that are met there,

    F_q^T a + G_q^T b + u_q^T w = 0,    F = 0,    G = 0 for those that are met,

one equation less than there are unknowns q, a, b and the angle of w: curves, which are followed by their tangents. All
derivatives are the kernel's, second ones too.

Coordinates are in their scales, and rows in units that follow from these: all numbers are about one, whether lengths
are in metres or in millimetres, and whether a row is a length, its square or an angle.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from mechsim.errors import AssemblyError, Fault
from mechsim.frozen import frozen
from mechsim.kernel.geometry import Geometry
from mechsim.kernel.linear import generic, null_space
from mechsim.kernel.system import System
from mechsim.result.layout import Array

SETTLED = 1e-9  # in scales, of a pose that is walked to
MOST_STEPS = 30
LONGEST = 0.3  # of a step of Newton's method, in scales
DEPENDENT = 1e-9
STRIDE, STRAIGHT = 0.2, 12  # how poses are walked to: steps in scales, so many in one direction,
WALKERS, MOST_ROUNDS = 24, 200  # so many side by side
AROUND_KNOWN = 1.5  # of the extent of what is known: where others walk to
AROUND, STRIDES = 8, (0.003, 0.02, 0.08)  # and how beside poses: so many from each, in steps
WALKED = 200  # poses from which it is gone to a start, where that is not given
BELOW = 1e-9  # by which a limit may be passed, in its unit
MET = 1e-9  # in units of rows
DAMPED = 1e-13
FIRST_STRIDE, LONGEST_STRIDE = 0.25, 2.0  # of something that goes as far as it can, in units
ENDLESS = 200  # units, after which it goes on for ever
SPREAD, POSES_ABOUT = 0.3, 8  # about the start, in scales, where it is seen how much rows change


@frozen(eq=False, slots=False)
class Reach:
    """`system` has all as constraints: numbers of rows say which are F, G and u."""

    system: System
    t: float
    held: Array  # positions at which it starts
    fixed: tuple[int, ...]
    limits: tuple[int, ...]
    wanted: tuple[int, ...]

    @cached_property
    def columns(self) -> Array:
        """Coordinates that something depends on: accounts of work do not count."""
        _, columns, _ = self.system.constraint_jacobian(self.t, self.held)
        return np.unique(columns)

    @cached_property
    def scales(self) -> Array:
        return np.asarray(self.system.scales[: self.system.n][self.columns])

    @cached_property
    def units(self) -> Array:
        """By how much each row changes, as a rule, while coordinates change by their scales: at poses about the start,
        for at the start itself it may stand."""
        about = SPREAD * generic(POSES_ABOUT * len(self.scales)).reshape(POSES_ABOUT, -1)
        with np.errstate(all="ignore"):
            _, found = self.geometry.slopes(self.positions(np.concatenate([self.start[None], self.start + about])))
            lengths = np.linalg.norm(found[..., self.columns] * self.scales, axis=2)
        return np.array([_usual(each) for each in lengths.T])

    @property
    def axes(self) -> Array:
        """Units of what is wanted."""
        return self.units[list(self.wanted)]

    @property
    def start(self) -> Array:
        return self.held[self.columns] / self.scales

    def positions(self, x: Array) -> Array:
        """All coordinates of poses, (poses, columns)."""
        q = np.empty((len(x), self.system.n))
        q[:] = self.held
        q[:, self.columns] = x * self.scales
        return q

    def holding(self, rows: tuple[int, ...]) -> Reach:
        """The same from a start at which these of what is fixed hold, which is gone to from its own. Raises
        AssemblyError."""
        if not rows:
            return self
        free = replace(self, fixed=tuple(row for row in self.fixed if row not in rows), wanted=rows)
        zero = np.zeros(len(rows))
        found = free.reached(zero, self.start[None])
        if not len(found):
            found = free.reached(zero, free.walked(WALKED))
        if not len(found):
            names = ", ".join(str(self.system.labels[self.system.n + row]) for row in rows)
            message = f"no pose was found in which all holds that should ({names})"
            raise AssemblyError(Fault(message, hint="hold it at another value, within what can be gone to"))
        return replace(self, held=self.positions(found[:1])[0])

    @cached_property
    def geometry(self) -> Geometry:
        return Geometry(self.system, self.t)

    def values(self, x: Array) -> Array:
        """Of all rows, in their units, (poses, rows)."""
        return self.geometry.values(self.positions(x)) / self.units

    def slopes(self, x: Array) -> tuple[Array, Array]:
        """Values of all rows, and their derivatives (poses, rows, columns)."""
        values, found = self.geometry.slopes(self.positions(x))
        return values / self.units, found[..., self.columns] * self.scales / self.units[:, None]

    def bending(self, x: Array, weights: Array) -> Array:
        """The second derivatives of a weighted sum of all rows, (poses, columns, columns)."""
        found = self.geometry.bending(self.positions(x), weights / self.units)
        return found[:, self.columns[:, None], self.columns] * np.outer(self.scales, self.scales)

    @property
    def freedoms(self) -> int:
        """At the start."""
        _, slopes = self.slopes(self.start[None])
        return int(null_space(slopes[0, list(self.fixed)], relative=DEPENDENT).shape[1])

    def of(self, x: Array) -> Array:
        """What is wanted, in its units."""
        return self.values(x)[:, list(self.wanted)]

    def within(self, x: Array) -> np.ndarray:
        """Whether all limits are kept, for each pose."""
        return self._keep(self.values(x))

    def _keep(self, values: Array) -> np.ndarray:
        limits = list(self.limits)
        return np.asarray((values[:, limits] >= -BELOW).all(axis=1))

    def ways(self, x: Array) -> Array:
        """How far what is wanted moves while the pose moves by one, most and least of all ways, (poses, 2)."""
        _, slopes = self.slopes(x)
        own, wanted = slopes[:, list(self.fixed)], slopes[:, list(self.wanted)]
        free = wanted - wanted @ np.linalg.pinv(own, rcond=DEPENDENT) @ own
        return np.asarray(np.linalg.svd(free, compute_uv=False))

    def farthest(self, axis: int, sense: float, poses: Array, last: float = FIRST_STRIDE) -> float:
        """How far one of what is wanted goes, up (1) or down (-1), from poses on, up to the length of the `last` stride
        that leads nowhere; infinite where it goes on and on."""
        alone = replace(self, wanted=self.wanted[axis : axis + 1])
        reached = sense * alone.of(poses)[:, 0]
        near = poses[np.argsort(-reached)[:WALKERS]]
        begin = value = float(reached.max())
        stride = FIRST_STRIDE
        while stride >= last and value < begin + ENDLESS:
            found = alone.reached(np.array([sense * (value + stride)]), near)
            if len(found):
                value, near = value + stride, np.concatenate([found, near])[:WALKERS]
                stride = min(2 * stride, LONGEST_STRIDE) if value > begin + 1 else stride
            else:
                stride /= 4
        return sense * (value if value < begin + ENDLESS else np.inf)

    def walked(self, count: int) -> Array:
        """So many poses within the limits, or some more, scattered over what can be gone to from the start, alike every
        time: some walk side by side, each straight on until something ends its way or it was long enough."""
        found, n = self.start[None], len(self.columns)
        for number in range(MOST_ROUNDS):
            if len(found) > count:
                break
            numbers = generic(WALKERS * (number + 1) * (n + 1))[-WALKERS * (n + 1) :].reshape(WALKERS, -1)
            x, direction = _sent(found, numbers)
            for stride in STRIDE * (0.3 + 0.7 * np.abs(generic(STRAIGHT * (number + 1))[-STRAIGHT:])):
                x, direction = self._stepped(x, direction, stride)
                if not len(x):
                    break
                found = np.concatenate([found, x])
        return found

    def beside(self, x: Array) -> Array:
        """Poses near to these, within the limits."""
        around = np.repeat(x, AROUND, axis=0)
        directions = generic(around.size).reshape(around.shape)
        return np.concatenate([self._stepped(around, directions, stride)[0] for stride in STRIDES])

    def _stepped(self, x: Array, direction: Array, stride: float) -> tuple[Array, Array]:
        """One step of each pose as its direction says, and the directions to go on in; without those that cannot."""
        rows = list(self.fixed)
        _, slopes = self.slopes(x)
        own = slopes[:, rows]
        inverse = np.linalg.pinv(own, rcond=DEPENDENT)
        along = direction - (inverse @ (own @ direction[..., None]))[..., 0]
        longest = np.abs(along).max(axis=1)
        moves = longest > 1e-6
        x, inverse, along = x[moves], inverse[moves], along[moves] / longest[moves, None]
        x = x + stride * along
        good, left = np.zeros(len(x), dtype=bool), np.arange(len(x))
        for _ in range(MOST_STEPS):  # with the slopes of before: the pose nearest to what was stepped to
            values = self.values(x[left])
            step = -(inverse[left] @ values[:, rows, None])[..., 0]
            size = np.abs(step).max(axis=1, initial=0.0)
            x[left] += step
            settled = size < SETTLED
            good[left[settled]] = self._keep(values[settled])
            left = left[~settled & (size < stride)]
            if not len(left):
                break
        return x[good], along[good]

    def reached(self, target: Array, near: Array, enough: int = 1) -> Array:
        """Poses with these values (in units), (poses, columns), at least `enough` if there are so many: Newton's method
        from many, limits by squares that are added to them."""
        rows, limits = [*self.fixed, *self.wanted], list(self.limits)
        slack = np.sqrt(np.maximum(self.values(near)[:, limits], 1e-2))
        x, found = near, [near[:0]]
        for _ in range(MOST_STEPS):
            values, slopes = self.slopes(x)
            off = np.concatenate([values[:, rows], values[:, limits] - slack**2], axis=1)
            off[:, len(self.fixed) : len(rows)] -= target
            good = np.abs(off).max(axis=1, initial=0.0) <= MET
            found += [x[good]]
            if not len(x) or sum(map(len, found)) >= enough:
                break
            x, slack, slopes, off = x[~good], slack[~good], slopes[~good], off[~good]
            full = np.zeros((len(x), len(rows) + len(limits), x.shape[1] + len(limits)))
            full[:, : len(rows), : x.shape[1]] = slopes[:, rows]
            full[:, len(rows) :, : x.shape[1]] = slopes[:, limits]
            places = np.arange(len(limits))
            full[:, len(rows) + places, x.shape[1] + places] = -2 * slack
            step = shortest(full, -off)
            step *= np.minimum(1.0, LONGEST / np.maximum(np.abs(step).max(axis=1, initial=0.0), 1e-300))[:, None]
            x, slack = x + step[:, : x.shape[1]], slack + step[:, x.shape[1] :]
            fine = np.isfinite(x).all(axis=1) & np.isfinite(slack).all(axis=1)
            x, slack = x[fine], slack[fine]
        return np.concatenate(found)


def _sent(found: Array, numbers: Array) -> tuple[Array, Array]:
    """From which poses to walk on, and where to, by numbers between -1 and 1: half of them from any pose anywhere,
    others from the poses that are nearest to places in and about all that is known, so that they come to what is far
    from the start (LaValle 1998, rapidly exploring random trees)."""
    half = len(numbers) // 2
    begun = (0.5 * (1 + numbers[:, -1]) * len(found)).astype(int) % len(found)
    low, high = found.min(axis=0), found.max(axis=0)
    places = 0.5 * (low + high) + AROUND_KNOWN * np.maximum(0.5 * (high - low), STRIDE) * numbers[half:, :-1]
    apart = np.linalg.norm(found[None] - places[:, None], axis=2)
    begun[half:] = apart.argmin(axis=1)
    return found[begun], np.concatenate([numbers[:half, :-1], places - found[begun[half:]]])


def _usual(lengths: Array) -> float:
    """The middle one of lengths that there are."""
    known = lengths[np.isfinite(lengths) & (lengths > 0)]
    return float(np.median(known)) if len(known) else 1.0


def shortest(matrices: Array, right: Array) -> Array:
    """The shortest steps that matrices, (many, rows, columns) with fewer rows than columns, take to the right; damped
    by a trifle, for singular ones."""
    transposed = np.swapaxes(matrices, 1, 2)
    squares = matrices @ transposed
    rows = np.arange(squares.shape[1])
    squares[:, rows, rows] += DAMPED * squares[:, rows, rows].max(axis=1, initial=1e-300)[:, None]
    return np.asarray((transposed @ np.linalg.solve(squares, right[..., None]))[..., 0])
