"""Curves on which something that is reached may end: see reach.py. They are followed with some limits met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from mechsim.analysis.reach import Reach, shortest
from mechsim.frozen import frozen
from mechsim.kernel.linear import null_space
from mechsim.result.layout import Array

TURN = 0.045  # radians: by which a curve may bend in a step
SHORTEST, FIRST, WIDEST = 1e-7, 1e-3, 0.1  # of steps, in scales
CORRECTIONS = 8
SETTLED, OFF = 1e-11, 1e-8  # in scales, and of equations in units
MOST_POINTS = 6000
NEWTON = 14
HALVINGS = 60
MOVES = 1e-6  # in its units, by which u moves at least while the pose moves by its scales
FAR = 0.5  # of a step of Newton's method
SINGULAR = 1e-11
FIRM = 1e3  # a longer step tells that the equations are singular there
ENDED = 1e-12  # a height that is zero
TURNED = 1e-6  # in its units, by which u may change with whole turns if it is the same
PASSED = -1e-10  # in its unit: a limit that is passed by less is met, as on curves along it


@frozen(eq=False)
class Arc:
    """A curve of u: points in its units, directions at these (per unit of `s`), poses, and which limits are met on it.
    A curve that is `closed` ends where it begins."""

    s: Array
    u: Array
    du: Array
    x: Array
    met: tuple[int, ...]
    closed: bool


@frozen(eq=False)
class At:
    """Unknowns, what is to be zero there and its derivatives, how u changes with the pose, and values of all rows."""

    z: Array
    off: Array
    matrix: Array
    wanted: Array
    values: Array


Passed = tuple[At, Array, bool]  # a state, its tangent, and whether u turns back there


class Edge:
    """The equations of a boundary with some limits met, for unknowns z: the pose, multipliers, an angle."""

    def __init__(self, reach: Reach, met: Sequence[int]):
        self.reach, self.met = reach, tuple(met)
        self.rows = [*reach.fixed, *(reach.limits[each] for each in met)]
        self.n = len(reach.columns)
        kinds = reach.system.mechanism.variables
        self._angles = [place for place, column in enumerate(reach.columns) if kinds[int(column)].kind == "angle"]

    def first(self, x: Array) -> Array:
        """Unknowns at poses: the direction is that in which u can be moved least."""
        _, slopes = self.reach.slopes(x)
        return np.array([self._beginning(*each) for each in zip(x, slopes, strict=True)])

    def _beginning(self, x: Array, slopes: Array) -> Array:
        basis = null_space(slopes[self.rows], relative=1e-9)
        wanted = slopes[list(self.reach.wanted)]
        left = np.linalg.svd(wanted @ basis)[0] if basis.shape[1] else np.eye(2)
        w = left[:, -1]
        multipliers = np.linalg.lstsq(slopes[self.rows].T, -wanted.T @ w, rcond=None)[0]
        return np.concatenate([x, multipliers, [np.arctan2(w[1], w[0])]])

    def at(self, z: Array) -> At:
        """The equations at some unknowns."""
        return self._all_at(z[None])[0]

    def _all_at(self, z: Array) -> list[At]:
        n, own, goals = self.n, self.rows, list(self.reach.wanted)
        x, multipliers, angle = z[:, :n], z[:, n:-1], z[:, -1]
        w = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        values, slopes = self.reach.slopes(x)
        weights = np.zeros((len(z), self.reach.system.m))
        weights[:, own], weights[:, goals] = multipliers, w
        matrix = np.zeros((len(z), n + len(own), n + len(own) + 1))
        matrix[:, :n, :n] = self.reach.bending(x, weights)
        matrix[:, n:, :n] = slopes[:, own]
        matrix[:, :n, n:-1] = np.swapaxes(slopes[:, own], 1, 2)
        matrix[:, :n, -1] = slopes[:, goals[1]] * w[:, :1] - slopes[:, goals[0]] * w[:, 1:]
        off = np.concatenate([(weights[:, None] @ slopes)[:, 0], values[:, own]], axis=1)
        return [At(*each) for each in zip(z, off, matrix, slopes[:, goals], values, strict=True)]

    def solved(self, z: Array, ahead: Array) -> At | None:
        """Unknowns near these that satisfy the equations, in the plane across a direction."""
        for _ in range(CORRECTIONS):
            now = self.at(z)
            step = _across(now, ahead)
            moved = np.abs(step[: self.n]).max(initial=0.0)
            if not np.isfinite(moved):
                return None
            if self._is_settled(now, float(moved)):
                return now
            z = z + step * min(1.0, FAR / max(moved, 1e-300))
        return None

    def all_solved(self, z: Array) -> list[At]:
        """Of many unknowns those that lead to others that satisfy the equations, each to the nearest."""
        found: list[At] = []
        for _ in range(NEWTON):
            if not len(z):
                break
            every = self._all_at(z)
            step = shortest(np.array([now.matrix for now in every]), -np.array([now.off for now in every]))
            moved = np.abs(step[:, : self.n]).max(axis=1, initial=0.0)
            settled = np.array([self._is_settled(now, each) for now, each in zip(every, moved, strict=True)])
            found += [now for now, is_there in zip(every, settled, strict=True) if is_there]
            z = z + step * np.minimum(1.0, FAR / np.maximum(moved, 1e-300))[:, None]
            z = z[~settled & np.isfinite(z).all(axis=1)]
        return found

    def _is_settled(self, now: At, moved: float) -> bool:
        return bool(moved < SETTLED and np.abs(now.off).max() < OFF)

    def tangent(self, now: At) -> Array:
        """Along the curve, as long as the pose moves by one; of a corner that stays, as the angle turns. Where the pose
        may move in other ways too, that in which u moves most."""
        _, sizes, right = np.linalg.svd(now.matrix)
        ways = right[(sizes > SINGULAR * sizes[0]).sum() :]
        found = ways[-1]
        if len(ways) > 1:
            found = np.linalg.svd(now.wanted @ ways[:, : self.n].T)[2][0] @ ways
        return np.asarray(found / max(float(np.linalg.norm(found[: self.n])), 1e-3))

    def others(self, now: At) -> Array:
        """Limits that are not met on it, in their units."""
        rows = [row for place, row in enumerate(self.reach.limits) if place not in self.met]
        return now.values[rows]

    def passes(self, now: At) -> bool:
        """Whether a limit is passed."""
        return bool((self.others(now) < PASSED).any())

    def followed(self, begin: At) -> list[Arc]:
        """The whole curve through a point, both ways until it closes or a limit ends it; in parts, where u turns back
        while the pose goes on."""
        forward, closed = self._one_way(begin, 1.0)
        backward = [] if closed else self._one_way(begin, -1.0)[0][1:]
        states = [*((now, -tangent, turns) for now, tangent, turns in reversed(backward)), *forward]
        du = np.array([now.wanted @ tangent[: self.n] for now, tangent, _ in states])
        ends = [0, *(k for k, (_, _, turns) in enumerate(states) if turns), len(states) - 1]
        whole = closed and len(ends) == 2
        found = [self._arc(states[a : b + 1], du[a : b + 1], whole) for a, b in pairwise(ends)]
        return [arc for arc in found if len(arc.s) > 2]

    def _arc(self, states: Sequence[Passed], du: Array, closed: bool) -> Arc:
        x = np.array([now.z[: self.n] for now, *_ in states])
        s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
        u = np.array([now.values[list(self.reach.wanted)] for now, *_ in states])
        return Arc(s, u, du, x, self.met, closed)

    def _one_way(self, begin: At, sense: float) -> tuple[list[Passed], bool]:
        """All states on the way, in the sense that was begun in; and whether it came back."""
        now, tangent = begin, sense * self.tangent(begin)
        found, step = [(now, tangent, False)], FIRST
        ahead = tangent
        while len(found) < MOST_POINTS and step >= SHORTEST:
            moved = self.solved(now.z + step * tangent, tangent)
            away = 0.0 if moved is None else float(np.linalg.norm((moved.z - now.z)[: self.n]))
            if moved is None or not 0.2 * step <= away <= 3 * step:
                step /= 2
                continue
            following = self._onward(moved, tangent)
            turned = self._turned(now, tangent, moved, following)
            if turned > TURN:
                step /= 2
                continue
            if self.passes(moved):
                ended = self._place_of(self._room, now, tangent, step)
                return [*found, *([(*ended, False)] if ended is not None else [])], False
            way = now.wanted @ tangent[: self.n]
            on = moved.wanted @ following[: self.n]
            if max(np.linalg.norm(way), np.linalg.norm(on)) < MOVES:
                return found, False  # the pose goes on, but what is wanted stands: no boundary
            if way @ on < 0:
                between = self._place_of(self._forward(way, tangent), now, tangent, step)
                found += [(*between, True)] if between is not None else []
            if len(found) > 3 and self._passed(begin.z, ahead, now.z, moved.z, step):
                last = At(begin.z + self.whole(moved.z - begin.z), begin.off, begin.matrix, begin.wanted, begin.values)
                return [*found, (last, ahead, False)], True
            now, tangent = moved, following
            found.append((now, tangent, False))
            step = min(WIDEST, step * (1.6 if turned < TURN / 2 else 1.0))
        return found, False

    def _onward(self, now: At, before: Array) -> Array:
        """The tangent that goes on as before."""
        found = bordered(now.matrix, before, np.append(np.zeros(len(now.off)), 1.0))
        if not np.linalg.norm(found) < FIRM * np.linalg.norm(before):
            found = self.tangent(now)
            found *= np.sign(found @ before) or 1.0
        return np.asarray(found / max(float(np.linalg.norm(found[: self.n])), 1e-3))

    def _room(self, now: At) -> float:
        """Left before a limit is passed."""
        return float(self.others(now).min() - PASSED)

    def _forward(self, way: Array, tangent: Array) -> Callable[[At], float]:
        """How fast u still goes as at first."""
        square = max(float(way @ way), 1e-300)
        return lambda now: float(way @ (now.wanted @ self._onward(now, tangent)[: self.n])) / square

    def _turned(self, one: At, tangent: Array, other: At, following: Array) -> float:
        """By which angle the curve of u bends, or the direction w."""
        a, b = one.wanted @ tangent[: self.n], other.wanted @ following[: self.n]
        bent = abs(a[0] * b[1] - a[1] * b[0]) / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-12)
        bent *= min(1.0, 3 * float(min(np.linalg.norm(a), np.linalg.norm(b))))  # in a cusp it turns at once
        return max(float(bent), 0.3 * abs(float(other.z[-1] - one.z[-1])))

    def whole(self, change: Array) -> Array:
        """Whole turns of angles, which are no change of the pose."""
        turns = np.zeros_like(change)
        turn = 2 * np.pi / self.reach.scales[self._angles]
        turns[..., self._angles] = turn * np.round(change[..., self._angles] / turn)
        return turns

    def _passed(self, begin: Array, ahead: Array, before: Array, now: Array, step: float) -> bool:
        """Whether the first pose was passed between two."""
        off = [(each - begin - self.whole(each - begin))[: self.n] for each in (before, now)]
        along = ahead[: self.n]
        near = np.linalg.norm(off[1] - (off[1] @ along) * along) < step and np.linalg.norm(off[1]) < 2 * step
        if not (near and off[0] @ along < 0 <= off[1] @ along):
            return False
        pair = np.stack([begin, begin + self.whole(now - begin)])[:, : self.n]
        return bool(np.abs(np.ptp(self.reach.of(pair), axis=0)).max() < TURNED)  # turns of what is wanted do count

    def _place_of(
        self, height: Callable[[At], float], begin: At, tangent: Array, step: float
    ) -> tuple[At, Array] | None:
        """Where in a step a height comes to zero, by regula falsi (Illinois), or by halves where that is slow; none
        where it is at the beginning."""
        low, high, found, side, slow = 0.0, step, None, 0, False
        end = self.solved(begin.z + step * tangent, tangent)
        left, right = height(begin), -1.0 if end is None else height(end)
        for _ in range(HALVINGS):
            share = left / (left - right) if left > 0 > right and not slow else 0.5
            wide, place = high - low, low + share * (high - low)
            moved = self.solved(begin.z + place * tangent, tangent)
            now = -1.0 if moved is None else height(moved)
            if moved is not None and abs(now) <= ENDED:
                return moved, self._onward(moved, tangent)
            if now > 0:
                low, left, found, right = place, now, moved, right / (2 if side > 0 else 1)
            else:
                high, right, left = place, now, left / (2 if side < 0 else 1)
            side, slow = 1 if now > 0 else -1, high - low > wide / 2
        return None if found is None else (found, self._onward(found, tangent))


def _across(now: At, ahead: Array) -> Array:
    """The step of Newton's method that does not go ahead; where the equations are singular, the shortest."""
    step = bordered(now.matrix, ahead, np.append(-now.off, 0.0))
    if np.abs(step).max() < FIRM:
        return step
    return np.asarray(np.linalg.lstsq(now.matrix, -now.off, rcond=SINGULAR)[0], float)


def bordered(matrix: Array, row: Array, right: Array) -> Array:
    """What a matrix with one row more takes to the right; infinite where nothing is."""
    try:
        return np.asarray(np.linalg.solve(np.concatenate([matrix, row[None]]), right))
    except np.linalg.LinAlgError:
        return np.full(len(row), np.inf)
