"""Functions of time of many motions, piece by piece polynomials: their integrals, extremes and upward crossings.

Nothing is missed between samples: pieces are looked at by the polygons of their Bernstein coefficients, and halved
until these say how many extremes or zeros a piece has.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechsim.frozen import frozen
from mechsim.measure import bernstein
from mechsim.measure.bernstein import ROUNDING, Array, Indices, Mask

NOISE = 4 * ROUNDING  # of a polygon's size: below this nothing is told apart
ZERO = 64 * ROUNDING  # of the largest value: what does not leave this band about zero does not cross it
JUMP = 1e-6  # of the sizes beside it: less is what two steps are off from each other
TIE = 1e-9  # of the range of a function: peaks this near to the highest are as high
DEEPEST = 50  # halvings of a piece


@frozen(eq=False)
class Pieces:
    """Of `count` cases, in the order of cases and, of each, of time. `polynomials` are as in bernstein.py, each on its
    piece; `noise` (cases,) is how far values are known to be off."""

    count: int
    case: Indices
    begins: Array
    ends: Array
    polynomials: Array
    noise: Array

    def chosen(self, places: Indices | Mask) -> Pieces:
        columns = self.case[places], self.begins[places], self.ends[places], self.polynomials[:, places]
        return Pieces(self.count, *columns, self.noise)

    def __neg__(self) -> Pieces:
        return replace(self, polynomials=-self.polynomials)

    def lowered(self, by: Array) -> Pieces:
        """Less a number for each case, of which roundings stay."""
        noise = self.noise + 0.25 * ZERO * np.abs(by)
        return replace(self, polynomials=self.polynomials - by[self.case], noise=noise)

    def until(self, times: Array) -> Pieces:
        """What is before a time for each case."""
        kept = self.chosen(self.begins < times[self.case])
        end = np.minimum(kept.ends, times[kept.case])
        share = (end - kept.begins) / (kept.ends - kept.begins)
        cut = np.flatnonzero(share < 1.0)
        polynomials = kept.polynomials.copy()
        polynomials[:, cut] = bernstein.parted(polynomials[:, cut], share[cut])[0]
        return replace(kept, ends=end, polynomials=polynomials)

    @property
    def durations(self) -> Array:
        return self.ends - self.begins

    @property
    def sizes(self) -> Array:
        """The largest absolute value of each polygon, (pieces,)."""
        return np.maximum(self.polynomials.max(axis=0), -self.polynomials.min(axis=0))


def values_at(pieces: Pieces, times: Array) -> Array:
    """Of one case, within all time of it."""
    number = np.clip(np.searchsorted(pieces.begins, times, side="right") - 1, 0, len(pieces.begins) - 1)
    share = np.clip((times - pieces.begins[number]) / pieces.durations[number], 0.0, 1.0)
    return bernstein.evaluate(pieces.polynomials[:, number], share)


def slopes(pieces: Pieces) -> Pieces:
    """The derivatives of pieces."""
    degree = len(pieces.polynomials) - 1
    return replace(pieces, polynomials=degree * bernstein.differences(pieces.polynomials) / pieces.durations)


def by_case(function: np.ufunc, values: Array, case: Indices, into: Array) -> Array:
    """`into` (cases,), joined with all values of each case; these stand together."""
    if not len(case):
        return into
    first = np.flatnonzero(np.append(True, case[1:] != case[:-1]))
    found = into.copy()
    found[case[first]] = function(into[case[first]], function.reduceat(values, first))
    return found


def integral(pieces: Pieces) -> Array:
    """Over all time of each case."""
    total = pieces.polynomials[0]
    for row in pieces.polynomials[1:]:
        total = total + row
    each = total / len(pieces.polynomials) * pieces.durations
    return by_case(np.add, each, pieces.case, np.zeros(pieces.count))


def square_integral(pieces: Pieces) -> Array:
    """The integral of the square, by as many Gauss points as make it exact."""
    points, weights = np.polynomial.legendre.leggauss(len(pieces.polynomials))
    total = np.zeros(len(pieces.case))
    for point, weight in zip(points.tolist(), weights.tolist(), strict=True):
        value = bernstein.evaluate(pieces.polynomials, np.full(len(pieces.case), 0.5 + 0.5 * point))
        total = total + 0.5 * weight * value * value
    return by_case(np.add, total * pieces.durations, pieces.case, np.zeros(pieces.count))


def largest(pieces: Pieces, known: Array | None = None) -> Array:
    """The largest value of each case; `known` are values that it has, where these are not all of its pieces."""
    found = np.full(pieces.count, -np.inf) if known is None else known
    found = _with_ends(pieces, found)
    for _ in range(DEEPEST):
        tops = pieces.polynomials.max(axis=0)
        pieces = pieces.chosen(tops > found[pieces.case] + NOISE * pieces.sizes)
        if not len(pieces.case):
            break
        turns, where = bernstein.variations(bernstein.differences(pieces.polynomials))
        one = turns == 1
        _, value = _peaks(pieces.chosen(one), where[one])
        found = by_case(np.maximum, value, pieces.case[one], found)
        pieces = halved(pieces.chosen(turns > 1))
        found = _with_ends(pieces, found)
    return found


def _with_ends(pieces: Pieces, found: Array) -> Array:
    ends = np.maximum(pieces.polynomials[0], pieces.polynomials[-1])
    return by_case(np.maximum, ends, pieces.case, found)


def _peaks(pieces: Pieces, guess: Array) -> tuple[Array, Array]:
    """Place and value of the one extreme of each piece; a guess for the place is known."""
    place = bernstein.roots(bernstein.differences(pieces.polynomials), guess)
    return place, bernstein.evaluate(pieces.polynomials, place)


def halved(pieces: Pieces) -> Pieces:
    """Each piece as two, one after the other."""
    middle = pieces.begins + 0.5 * pieces.durations
    twice = np.repeat(np.arange(len(pieces.case)), 2)
    begins, ends, polynomials = pieces.begins[twice], pieces.ends[twice], pieces.polynomials[:, twice]
    begins[1::2], ends[::2] = middle, middle
    polynomials[:, ::2], polynomials[:, 1::2] = bernstein.halves(pieces.polynomials)
    return Pieces(pieces.count, pieces.case[twice], begins, ends, polynomials, pieces.noise)


def _as_large(pieces: Pieces) -> Array:
    """How high a peak of each case is at least that counts as one of the highest (`TIE`)."""
    spread = pieces.polynomials.max(axis=0) - pieces.polynomials.min(axis=0)
    spread = by_case(np.maximum, spread, pieces.case, np.zeros(pieces.count))
    sizes = by_case(np.maximum, pieces.sizes, pieces.case, np.zeros(pieces.count))
    return largest(pieces) - TIE * spread - ZERO * sizes - pieces.noise


def times_as_large(pieces: Pieces) -> Array:
    """Of one case: when it is largest, all times at which it is equally high."""
    turns, heights, kinds = turning_points(pieces, TIE)
    times = np.concatenate([pieces.begins[:1], turns[kinds > 0], pieces.ends[-1:]])
    values = np.concatenate([pieces.polynomials[0, :1], heights[kinds > 0], pieces.polynomials[-1, -1:]])
    return times[values >= _as_large(pieces)[0]]


def time_of_largest(pieces: Pieces) -> Array:
    """When each case is largest; where several peaks are equally high (`TIE`), the first of them."""
    least = _as_large(pieces)
    first = _first_peak_between(pieces, least, np.full(pieces.count, np.inf))
    for _ in range(DEEPEST):
        tops = pieces.polynomials.max(axis=0)
        pieces = pieces.chosen((tops >= least[pieces.case]) & (pieces.begins < first[pieces.case]))
        if not len(pieces.case):
            break
        slopes = bernstein.differences(pieces.polynomials)
        turns, where = bernstein.variations(slopes)
        one = (turns == 1) & (bernstein.first_sign(slopes) > 0)
        single = pieces.chosen(one)
        place, value = _peaks(single, where[one])
        high = value >= least[single.case]
        times = (single.begins + place * single.durations)[high]
        first = by_case(np.minimum, times, single.case[high], first)
        pieces = halved(pieces.chosen(turns > 1))
        first = _first_peak_between(pieces, least, first)
    return first


def _first_peak_between(pieces: Pieces, least: Array, first: Array) -> Array:
    """The earliest time, `first` so far, at which a piece begins or ends that falls from there on and rises until
    then, no lower than `least`. What is not beside it does not speak against it."""
    if not len(pieces.case):
        return first
    polynomials, case = pieces.polynomials, pieces.case
    level = NOISE * pieces.sizes
    rises, falls = polynomials[-1] >= polynomials[-2] - level, polynomials[1] <= polynomials[0] + level
    beside = (case[1:] == case[:-1]) & (pieces.begins[1:] == pieces.ends[:-1])
    band = ZERO * np.maximum(pieces.sizes[1:], pieces.sizes[:-1]) + pieces.noise[case[1:]]
    joined = beside & (np.abs(polynomials[0, 1:] - polynomials[-1, :-1]) <= band)
    begins = falls & np.append(True, ~joined | rises[:-1]) & (polynomials[0] >= least[case])
    ends = rises & np.append(~joined | falls[1:], True) & (polynomials[-1] >= least[case])
    first = by_case(np.minimum, pieces.begins[begins], case[begins], first)
    return by_case(np.minimum, pieces.ends[ends], case[ends], first)


def upward_crossings(pieces: Pieces) -> tuple[Indices, Array]:
    """Cases and times at which a function that was below zero comes above it, in their order. What stays within
    roundings of zero is on neither side."""
    sizes = by_case(np.maximum, pieces.sizes, pieces.case, np.zeros(pieces.count))
    band = ZERO * sizes + 4 * pieces.noise
    pieces, turns, where = _signed(pieces, band)
    before, after = _sides(pieces, turns, band)
    signs = np.stack([before, after], axis=1).ravel()
    case = np.repeat(pieces.case, 2)
    crossing = _risen(signs, case)
    at_begin, inside = crossing[::2], np.flatnonzero(crossing[1::2])
    times = pieces.begins.copy()
    place = bernstein.roots(pieces.polynomials[:, inside], where[inside])
    times[inside] = pieces.begins[inside] + place * pieces.durations[inside]
    there = at_begin.copy()
    there[inside] = True
    return pieces.case[there], times[there]


def jumps_at(pieces: Pieces, case: Indices, times: Array) -> Mask:
    """Whether a function jumps at some of the times at which its pieces begin, by more than motions are off there."""
    keys = pieces.case + 0j
    keys.imag = pieces.begins  # ordered by cases, and then by time
    place = np.minimum(np.searchsorted(keys, case + 1j * times), max(len(keys) - 1, 0))
    begins = (keys[place] == case + 1j * times) & (place > 0) & (pieces.case[place - 1] == case)
    off = np.abs(pieces.polynomials[0, place] - pieces.polynomials[-1, place - 1])
    return np.asarray(begins & (off > JUMP * np.maximum(pieces.sizes[place], pieces.sizes[place - 1])))


def _signed(pieces: Pieces, band: Array) -> tuple[Pieces, Indices, Array]:
    """Pieces with at most one zero each, in order; their number of zeros, and a guess for its place."""
    finished: list[tuple[Pieces, Indices, Array]] = []
    for depth in range(DEEPEST + 1):
        turns, where = bernstein.variations(pieces.polynomials)
        done = (turns <= 1) | (pieces.sizes <= band[pieces.case]) | (depth == DEEPEST)
        finished.append((pieces.chosen(done), turns[done], where[done]))
        pieces = halved(pieces.chosen(~done))
        if not len(pieces.case):
            break
    if len(finished) == 1:
        return finished[0]
    parts = [part for part, _, _ in finished]
    case, begins, ends = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("case", "begins", "ends")
    )
    polynomials = np.concatenate([part.polynomials for part in parts], axis=1)
    order = np.lexsort((ends, begins, case))
    ordered = Pieces(pieces.count, case, begins, ends, polynomials, pieces.noise).chosen(order)
    return ordered, *(np.concatenate([each[k] for each in finished])[order] for k in (1, 2))  # type: ignore[return-value]


def _sides(pieces: Pieces, turns: Indices, band: Array) -> tuple[Array, Array]:
    """On which side of zero each piece begins and ends: -1 or 1, or 0 where it stays within the band."""
    limit = band[pieces.case]
    sign = bernstein.first_sign(pieces.polynomials)
    above, below = pieces.polynomials.max(axis=0) > limit, -pieces.polynomials.min(axis=0) > limit
    last = np.where(turns == 1, -sign, sign)
    ends = np.sign(pieces.polynomials[-1])
    last = np.where((turns > 1) & (ends != 0), ends, last)  # so often halved that its ends say all
    first, last = (np.where(((side > 0) & above) | ((side < 0) & below), side, 0.0) for side in (sign, last))
    return first, last


def _risen(signs: Array, case: Indices) -> Mask:
    """Where a sign is 1 and the last one of the same case that is not 0 was -1."""
    known = np.flatnonzero(signs != 0)
    risen = np.zeros(len(signs), dtype=bool)
    up = (signs[known[1:]] > 0) & (signs[known[:-1]] < 0) & (case[known[1:]] == case[known[:-1]])
    risen[known[1:][up]] = True
    return risen


def turning_points(pieces: Pieces, smooth: float) -> tuple[Array, Array, Array]:
    """Of one case: times at which it stops rising or falling, the values there, and whether they are maxima (1) or
    minima (-1). A jump rises or falls too. What is off by a share `smooth` of its size where pieces meet goes on."""
    slopes, band = _slopes(pieces, smooth)
    steep, turns, where = _signed(slopes, band)
    before, after = _sides(steep, turns, band)
    seam = np.searchsorted(pieces.begins, steep.begins)
    at_seam = pieces.begins[np.minimum(seam, len(pieces.begins) - 1)] == steep.begins
    into = np.where(at_seam, _jumps(pieces, smooth)[np.minimum(seam, len(pieces.begins) - 1)], 0.0)
    signs = np.stack([into, before, after], axis=1).ravel()
    known = np.flatnonzero(signs)
    turned = known[1:][signs[known[1:]] != signs[known[:-1]]]
    piece, inside = turned // 3, turned % 3 == 2
    share = np.zeros(len(turned))
    share[inside] = bernstein.roots(steep.polynomials[:, piece[inside]], where[piece[inside]])
    times = steep.begins[piece] + share * steep.durations[piece]
    return times, _highest(pieces, times, -signs[turned]), -signs[turned]


def _slopes(pieces: Pieces, smooth: float) -> tuple[Pieces, Array]:
    """The derivatives of pieces, each as a case of its own, and below what each says nothing: roundings of its values
    count the more the shorter it is, and pieces that meet smoothly are off by what the motion's error is."""
    count, degree = len(pieces.case), len(pieces.polynomials) - 1
    polynomials = degree * bernstein.differences(pieces.polynomials) / pieces.durations
    own = np.arange(count)
    slopes = Pieces(count, own, pieces.begins, pieces.ends, polynomials, np.zeros(count))
    largest_slope = slopes.sizes.max(initial=0.0)
    off = np.abs(polynomials[0, 1:] - polynomials[-1, :-1])
    off = np.where(off <= smooth * largest_slope, off, 0.0)
    rounding = degree**2 * (NOISE * pieces.sizes + pieces.noise[pieces.case]) / pieces.durations
    off = np.maximum(np.append(off, 0.0), np.append(0.0, off))
    return slopes, ZERO * largest_slope + rounding + 4 * off


def _jumps(pieces: Pieces, smooth: float) -> Array:
    """Whether the function jumps up (1) or down (-1) where each piece begins."""
    jump = pieces.polynomials[0, 1:] - pieces.polynomials[-1, :-1]
    jump = np.where(np.abs(jump) > smooth * pieces.sizes.max(initial=0.0), jump, 0.0)
    return np.append(0.0, np.sign(jump))


def sides_of(pieces: Pieces, times: Array) -> Array:
    """Values of one case at times, (2, times); where pieces meet just before and behind."""
    found = np.empty((2, len(times)))
    for row, side in enumerate(("left", "right")):
        number = np.clip(np.searchsorted(pieces.begins, times, side=side) - 1, 0, len(pieces.begins) - 1)  # type: ignore[call-overload]
        share = np.clip((times - pieces.begins[number]) / pieces.durations[number], 0.0, 1.0)
        found[row] = bernstein.evaluate(pieces.polynomials[:, number], share)
    return found


def _highest(pieces: Pieces, times: Array, sign: Array) -> Array:
    """Values at times; where pieces meet the higher of two or, for a sign of -1, the lower."""
    return np.asarray(sign * (sign * sides_of(pieces, times)).max(axis=0))
