"""Periodic motions followed over a parameter, around folds too, with what happens on the way.

Pseudo-arclength continuation: from a motion a step along the tangent of the branch, then Newton's method across it
(Keller 1977). Functions of the tangent and of the Floquet multipliers change sign where a branch folds, where others
leave it, where the period doubles, and where a pair leaves the unit circle; these places are located on the branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from mechsim.analysis.floquet import ON_CIRCLE, Multipliers
from mechsim.analysis.followed import Followed
from mechsim.analysis.orbit import floquet_of
from mechsim.analysis.ring import PERIOD, Change, Linear, Ring
from mechsim.analysis.shooting import close
from mechsim.errors import AssemblyError, Fault, IntegrationError, SpecError
from mechsim.frozen import frozen

FIRST, LONGEST, SHORTEST = 0.01, 0.1, 1e-6  # steps, in scales and in the range of the parameter
LONGER, SHORTER = 1.5, 0.5
EASY, HARD = 3, 6  # steps of Newton's method
BENDS = 0.96  # cosine of the angle between tangents: more of it makes steps shorter
MOST_POINTS = 2000
LOCATED = 1e-10  # of a step, and of what changes in it: how exactly places are found
ROUNDS = 40  # in which they are
ROUND = 10  # points, at least, of a branch that closes
ENDLESS, STANDS = 5, 1e-7  # steps in which the value changes by so little of the range while the period grows
SLACK = 1e-9  # of the range
UNKNOWN = 0.1  # error of multipliers: with more none tells where something happens
DIPS = 12  # looks at what comes near to zero between motions
DEEP = 0.3  # of its value at the motion: what comes no nearer by a parabola, and is not much larger beside, is left
NARROW = 1e-4  # of a step: where it is looked
PAIRED = 1e-4  # sizes of a pair on the circle, where it is located

AT_ONCE = "; if something is struck just as the period begins, begin it at another time (t0)"
FOLD, BRANCHES, DOUBLES, TORUS = "fold", "branch point", "period doubling", "Neimark-Sacker"


@frozen(slots=False, eq=False)
class Point:
    """A periodic motion of a branch, the tangent of the branch there, and its multipliers."""

    linear: Linear
    tangent: Change
    floquet: Multipliers
    value: float  # of what is followed
    slope: float  # of that along the tangent

    def test(self, kind: str) -> float:
        """What changes sign where this happens."""
        values = self.floquet.values
        if kind == FOLD:
            return self.slope
        if kind == TORUS:
            pairs = [values[i] * values[j] - 1 for i in range(len(values)) for j in range(i)]
            return float(np.real(np.prod(pairs))) if pairs else 1.0
        return float(np.real(np.prod(values + 1 if kind == DOUBLES else values - 1)))

    @property
    def has_pair(self) -> bool:
        """Whether a pair of multipliers is on the unit circle: two real ones may have a product of one, too."""
        values = self.floquet.values
        return bool(np.any((np.abs(values.imag) > ON_CIRCLE) & (np.abs(np.abs(values) - 1) < PAIRED)))


@frozen(slots=False, eq=False)
class Special:
    """Where something happens on a branch. Its tangent is that between points beside it: at a branch point there are
    two, and that of the point itself may be any mixture of them."""

    kind: str
    point: Point
    tangent: Change


@frozen
class Ended:
    """Why a branch was not followed to an end of the range."""

    why: str


@frozen(slots=False, eq=False)
class Stretch:
    """A step between two motions of a branch, and how long it is."""

    begin: Point
    step: float
    end: Point


Found = Point | Special | Ended


class Tracer:
    """Follows branches from one of the `bounds` of what is followed towards the other, and back."""

    def __init__(self, followed: Followed, bounds: tuple[float, float], tolerance: float):
        self.followed, self.bounds, self.tolerance = followed, bounds, tolerance
        self.kinds = (FOLD, BRANCHES, DOUBLES) if followed.conserved else (FOLD, BRANCHES, DOUBLES, TORUS)

    def begin(self, ring: Ring) -> Point:
        """The motion near a ring where what is followed has its first value; its tangent goes on to the other."""
        point = self._point(close(self.followed.opened, ring, self.tolerance).linear, None)
        if (point.slope > 0) == (self.bounds[1] > self.bounds[0]):
            return point
        return replace(point, tangent=point.tangent.times(-1.0), slope=-point.slope)

    def beside(self, ring: Ring, unit: Change, length: float) -> Point:
        """The first motion of a branch that leaves another at a ring, so far along a change."""
        there = self.followed.opened(ring)
        closed = close(self.followed.opened, there.moved(unit.times(length)), self.tolerance, (unit,))
        return self._point(closed.linear, unit)

    def _point(self, found: Linear, before: Change | None) -> Point:
        _, sizes, right = np.linalg.svd(found.matrix)
        known = np.append(sizes, np.zeros(found.matrix.shape[1] - len(sizes)))
        if before is None and np.sum(known <= found.family * known.max()) > 1:
            message = "periodic motions cannot be followed: there are others beside them in several ways"
            raise SpecError(Fault(message, hint="hold something, such as the energy or a coordinate of the start"))
        tangent = found.change(right[-1])
        sign = -1.0 if before is not None and found.product(tangent, before) < 0 else 1.0
        tangent = tangent.times(sign / found.length(tangent))
        floquet = floquet_of(found, self.followed.autonomous, self.followed.conserved)
        return Point(found, tangent, floquet, self.followed.value(found), self.followed.slope(found, tangent))

    def follow(self, first: Point) -> Iterator[Found]:
        """What comes after the first motion of a branch, in its order: motions, and what happens between them."""
        point, step, before = first, FIRST, None
        latest: list[Point] = []
        waiting: list[Found] = []  # the latest motion, and what is before it: more may turn out to be
        for count in range(1, MOST_POINTS):
            stepped = self._next(point, step)
            if isinstance(stepped, Ended):
                yield from (*waiting, stepped)
                return
            there, step, newton = stepped
            early, late = self._twice(before, Stretch(point, step, there))
            yield from (*waiting[:-1], *early, *waiting[-1:])
            waiting = [*self._between(point, there, step), *late]
            if not self._is_within(there.value):
                yield from (*waiting, self._last(point, step, there))
                return
            if there.linear.blur > UNKNOWN:
                words = (
                    f"beyond {self.followed.name} = {point.value:.10g} multipliers are not known: small changes grow"
                )
                yield from (*waiting[:1], Ended(f"{words} by {there.linear.growth:.1g} on the way, as next to a rest"))
                return
            waiting.append(there)
            latest = [*latest[1 - ENDLESS :], there]
            if self._is_endless(latest):
                words = f"the period grows without end towards {self.followed.name} = {there.value:.10g}"
                yield from (*waiting, Ended(f"{words}, as where motions come to a rest and leave it"))
                return
            if count >= ROUND and self._is_closed(first, there, step):
                yield from (*waiting, Ended("it came back to its beginning"))
                return
            before = Stretch(point, step, there)
            point, step = there, min(LONGEST, step * LONGER) if newton <= EASY else step
        yield from (*waiting, Ended(f"it was not followed further than {MOST_POINTS} motions"))

    def _next(self, point: Point, step: float) -> tuple[Point, float, int] | Ended:
        """The next motion, with the length of the step to it and the steps of Newton's method."""
        while True:
            try:
                there, newton = self._stepped(point, step)
            except (AssemblyError, IntegrationError) as error:
                if step < SHORTEST:
                    told = f"it could not be followed beyond {point.value:.6g}: {error.faults[0].message}"
                    return Ended(told + AT_ONCE * bool(point.linear.arcs[0].case.system.gaps))
            else:
                bends = there.linear.product(point.tangent, there.tangent) < BENDS
                if step < SHORTEST or not (bends or newton > HARD):
                    return there, step, newton
            step *= SHORTER

    def _stepped(self, point: Point, step: float) -> tuple[Point, int]:
        change = point.tangent.times(step)
        if point.linear.ring.period + change.period <= 0:
            raise IntegrationError(Fault("the period would become zero"))
        closed = close(self.followed.opened, point.linear.moved(change), self.tolerance, (point.tangent,))
        return self._point(closed.linear, point.tangent), closed.steps

    def _is_within(self, value: float) -> bool:
        low, high = sorted(self.bounds)
        slack = SLACK * (high - low)
        return low - slack <= value <= high + slack

    def _between(self, point: Point, there: Point, step: float) -> list[Special]:
        """What happens within a step. A multiplier is one at a fold too, which is no branch point."""
        happens = [kind for kind in self.kinds if point.test(kind) * there.test(kind) < 0]
        if TORUS in happens and min(abs(point.test(TORUS)), abs(there.test(TORUS))) <= ON_CIRCLE:
            happens.remove(TORUS)  # without damping pairs stay on the circle, and roundings change their sizes
        if FOLD in happens and BRANCHES in happens:
            happens.remove(BRANCHES)
        located = [(*self._root(point, step, there, _test_of(kind)), kind) for kind in happens]
        located.sort(key=lambda each: each[0])
        found = [Special(kind, each, _between_tangents(point, there, share)) for share, each, kind in located]
        told = [each for each in found if self._is_within(each.point.value)]
        return [each for each in told if each.kind != TORUS or each.point.has_pair]

    def _twice(self, before: Stretch | None, after: Stretch) -> tuple[list[Special], list[Special]]:
        """What happens twice near a motion, in the step to it or in the next one, as at both sides of a narrow tongue:
        what changes sign there has the same sign at all three motions, and is least at the middle one."""
        if before is None:
            return [], []
        for kind in (FOLD, DOUBLES, BRANCHES):
            found = self._dip(before, after, _test_of(kind))
            if found:
                told = [replace(each, kind=kind) for each in found if self._is_within(each.point.value)]
                low, high = sorted((before.begin.value, before.end.value))
                is_early = low <= found[0].point.value <= high
                return (told, []) if is_early else ([], told)
        return [], []

    def _dip(self, before: Stretch, after: Stretch, test: Callable[[Point], float]) -> list[Special]:
        """Both places where a function is zero near the motion between two steps, by parabolas through three motions
        about its least value; none if it does not come to zero."""
        values = [test(each) for each in (before.begin, after.begin, after.end)]
        sign, (left, least, right) = np.sign(values[1]), np.abs(values)
        if not (sign and np.all(np.sign(values) == sign) and least <= min(left, right)):
            return []
        places = [(-before.step, left), (0.0, least), (after.step, right)]
        for _ in range(DIPS):
            place, lowest = _vertex(places)
            if lowest > DEEP * places[1][1] and places[1][1] > DEEP * min(places[0][1], places[2][1]):
                return []
            stretch, length = (before, before.step + place) if place < 0 else (after, place)
            try:
                there = self._within(stretch.begin, stretch.step, stretch.end, length / stretch.step)
                value = float(sign * test(there))
                if value < 0:
                    return self._both_sides(stretch, there, length, test)
            except (AssemblyError, IntegrationError):
                return []
            if abs(place - places[1][0]) <= NARROW * (places[2][0] - places[0][0]):
                return []
            found = sorted([*places, (place, value)])
            middle = min((1, 2), key=lambda k: found[k][1])
            places = found[middle - 1 : middle + 2]
        return []

    def _both_sides(
        self, stretch: Stretch, there: Point, length: float, test: Callable[[Point], float]
    ) -> list[Special]:
        """Where a function is zero before and after a motion in a step."""
        parts = Stretch(stretch.begin, length, there), Stretch(there, stretch.step - length, stretch.end)
        found = []
        for part in parts:
            share, point = self._root(part.begin, part.step, part.end, test)
            found.append(Special("", point, _between_tangents(part.begin, part.end, share)))
        return found

    def _last(self, point: Point, step: float, there: Point) -> Point:
        """The motion at the end of the range."""
        low, high = sorted(self.bounds)
        end = high if there.value > high else low
        return self._root(point, step, there, lambda each: each.value - end)[1]

    def _root(self, point: Point, step: float, there: Point, test: Callable[[Point], float]) -> tuple[float, Point]:
        """Where a function of a motion is zero between two points of a branch, as a share of the way: by secants
        through the latest two values, which stay between those of opposite sign. Newton's method begins near the
        branch, for beside a branch point it finds no long way to it."""
        low, high, at_low, at_high = 0.0, 1.0, test(point), test(there)
        before, latest, found = (low, at_low), (high, at_high), there
        size = abs(at_high - at_low)
        for _ in range(ROUNDS):
            slope = (latest[1] - before[1]) / (latest[0] - before[0])
            share = latest[0] - latest[1] / slope if slope else low
            if not low < share < high:
                share = 0.5 * (low + high)
            try:
                found = self._within(point, step, there, share)
            except (AssemblyError, IntegrationError):
                break
            value = test(found)
            if (value < 0) == (at_low < 0):
                low = share
            else:
                high = share
            before, latest = latest, (share, value)
            if abs(value) <= LOCATED * size or high - low < LOCATED or before[0] == share:
                break
        return latest[0], found

    def _within(self, point: Point, step: float, there: Point, share: float) -> Point:
        """A motion between two points, from the cubic that the branch nearly is."""
        chord = point.linear.towards(there.linear)
        begin, end = share * (1 - share) ** 2 * step, -(share**2) * (1 - share) * step
        change = chord.times(share**2 * (3 - 2 * share)).plus(point.tangent.times(begin)).plus(there.tangent.times(end))
        closed = close(self.followed.opened, point.linear.moved(change), self.tolerance, (chord,))
        return self._point(closed.linear, chord)

    def _is_endless(self, latest: Sequence[Point]) -> bool:
        """Whether nothing but the period changed in the latest steps, and that ever more."""
        if self.followed.name == PERIOD or len(latest) < ENDLESS:
            return False
        values = [point.value for point in latest]
        periods = [point.linear.ring.period for point in latest]
        grows = all(later > sooner for sooner, later in pairwise(periods))
        return grows and max(values) - min(values) <= STANDS * self.followed.span

    def _is_closed(self, first: Point, there: Point, step: float) -> bool:
        change, here = first.linear.towards(there.linear), there.linear
        return here.length(change) < 0.5 * step and here.product(there.tangent, first.tangent) > 0


def _between_tangents(point: Point, there: Point, share: float) -> Change:
    found = point.tangent.times(1 - share).plus(there.tangent.times(share))
    return found.times(1 / point.linear.length(found))


def _vertex(places: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Place and value of the least of the parabola through three places, which is within them."""
    (a, at_a), (b, at_b), (c, at_c) = places
    left, right = (at_b - at_a) / (b - a), (at_c - at_b) / (c - b)
    bend = (right - left) / (c - a)
    if not bend > 0:
        return 0.5 * (a + b), at_b
    place = min(max(0.5 * (a + b) - 0.5 * left / bend, a + NARROW * (b - a)), c - NARROW * (c - b))
    return place, at_a + left * (place - a) + bend * (place - a) * (place - b)


def _test_of(kind: str) -> Callable[[Point], float]:
    return lambda point: point.test(kind)
