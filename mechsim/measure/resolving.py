"""Any function of the motion as piece by piece polynomials, as chebfun has it: on every step it is interpolated at
Chebyshev points, and where its coefficients have not decayed by the last ones the step is halved.

L. N. Trefethen, Approximation Theory and Approximation Practice; R. Pachon, R. B. Platte and L. N. Trefethen,
Piecewise-smooth chebfuns, IMA J. Numer. Anal. 30 (2010) 898.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mechsim.frozen import frozen
from mechsim.measure import bernstein
from mechsim.measure.bernstein import DEGREE, ROUNDING, Array, Indices, Mask
from mechsim.measure.piecewise import DEEPEST, Pieces, by_case

RESOLVED = 8 * ROUNDING  # of the largest value: what the last coefficients may be
FLAT = 0.4  # noise: the last coefficients are at least this share of those before, and of those of the whole piece
SLOW = 0.05  # a corner: the last coefficients are this share of those before, and all that are left out count
SMALL = 1e-4  # of the largest value: what is larger is no noise
LOST, KNOWN = 1e-6, 1e-9  # of the largest value: where roundings reach so far there is none, if elsewhere they do not
MOST = 200_000  # pieces of one case at a time; beyond, nothing that a mechanism does is that fast
MOST_AT_ONCE = 250_000  # pieces of all cases, which take 200 MB
LAST, MIDDLE = slice(12, 17), slice(5, 10)  # of the coefficients


@frozen(eq=False)
class Sampled:
    """Values at the nodes of pieces, (nodes, pieces); for each piece how far roundings reach, and whether a function in
    it has more room than its nodes can tell."""

    values: Array
    wobble: Array
    wide: Mask


Sample = Callable[[Indices, Array], Sampled]  # of steps by number, at shares of them (nodes, pieces)


@frozen(eq=False)
class _Parts:
    """Pieces on the way: the step that each is of, where it begins in it, and the tail of what it is half of."""

    step: Indices
    since: Array
    width: float
    tail: Array

    def __len__(self) -> int:
        return len(self.step)

    def chosen(self, places: Mask) -> _Parts:
        return _Parts(self.step[places], self.since[places], self.width, self.tail[places])


def resolve(sample: Sample, case: Indices, begins: Array, ends: Array, count: int) -> tuple[Pieces, Mask]:
    """The pieces of a function on steps of cases, and which cases have it resolved: other pieces are not to be used.

    Where a value is no number, nor is the polynomial.
    """
    found = _resolved(sample, case, begins, ends, count)
    if found is not None:
        return found
    # Too much at once: what comes of a case does not depend on others, so half of the cases are as good.
    middle = int(np.searchsorted(case, case[len(case) // 2])) or int(np.searchsorted(case, case[0], side="right"))
    first, second = slice(0, middle), slice(middle, len(case))
    one, fine = resolve(sample, case[first], begins[first], ends[first], count)
    other, rest = resolve(
        lambda step, shares: sample(step + middle, shares), case[second], begins[second], ends[second], count
    )
    parts = [(each.case, each.begins, each.ends) for each in (one, other)]
    joined = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
    polynomials = np.concatenate([one.polynomials, other.polynomials], axis=1)
    return Pieces(count, joined[0], joined[1], joined[2], polynomials, one.noise + other.noise), fine & rest


def _resolved(sample: Sample, case: Indices, begins: Array, ends: Array, count: int) -> tuple[Pieces, Mask] | None:
    """The same; None where too many pieces would be needed at once, of several cases."""
    parts = _Parts(np.arange(len(case)), np.zeros(len(case)), 1.0, np.full(len(case), np.inf))
    scale, noise, fine = np.zeros(count), np.zeros(count), np.ones(count, dtype=bool)
    finished: list[tuple[_Parts, Array, Array]] = []
    for depth in range(DEEPEST + 1):
        found = sample(parts.step, parts.since + parts.width * bernstein.nodes()[:, None])
        own = case[parts.step]
        sizes = np.abs(found.values).max(axis=0)
        known = np.isfinite(sizes)
        if depth == 0:
            scale = by_case(np.maximum, np.where(known, sizes, 0.0), own, scale)
        coefficients = bernstein.chebyshev(found.values)
        limit = RESOLVED * np.maximum(scale[own], np.where(known, sizes, 0.0)) + 4 * found.wobble
        tail, middle = (_mean(np.abs(coefficients[part])) for part in (LAST, MIDDLE))
        slow = (tail >= SLOW * middle) & (middle > limit)
        small = np.abs(coefficients[-3:]).max(axis=0) <= np.where(slow, limit / DEGREE, limit)
        smooth = (small & ~found.wide) | ~known
        noisy = _noisy(parts, tail, (tail >= FLAT * middle) & ~smooth & (tail < SMALL * scale[own]))
        done = smooth | noisy | (depth == DEEPEST)
        noise = by_case(np.maximum, np.where(noisy, 5 * tail, 0.0) + np.where(known, found.wobble, 0.0), own, noise)
        polynomials = bernstein.of_chebyshev(_chopped(coefficients, limit)[:, done])
        finished.append((parts.chosen(done), polynomials, found.wobble[done]))
        if done.all():
            break
        parts = _halved(parts.chosen(~done), tail[~done])
        fine &= np.bincount(case[parts.step], minlength=count) <= MOST
        parts = parts.chosen(fine[case[parts.step]])
        if len(parts) > MOST_AT_ONCE and case[0] != case[-1]:
            return None
    return _assembled(finished, case, begins, ends, count, noise), fine


def _lost(polynomials: Array, wobble: Array, case: Indices, count: int) -> Mask:
    """Which pieces have values that are roundings only, in cases that are known elsewhere."""
    sizes, order = np.abs(polynomials).max(axis=0), np.argsort(case, kind="stable")
    sizes = np.where(np.isfinite(sizes), sizes, 0.0)
    largest = by_case(np.maximum, sizes[order], case[order], np.zeros(count))[case]
    least = by_case(np.minimum, wobble[order], case[order], np.full(count, np.inf))[case]
    return np.asarray((wobble > LOST * largest) & (least < KNOWN * largest))


def _mean(rows: Array) -> Array:
    total = rows[0]
    for row in rows[1:]:
        total = total + row
    return total / len(rows)


def _noisy(parts: _Parts, tail: Array, candidates: Mask) -> Mask:
    """Halves of one piece that are both as rough as it was: a corner would be in one of them, and grow smaller."""
    alike = candidates & (tail >= FLAT * parts.tail)
    if parts.width == 1.0:
        return np.zeros(len(alike), dtype=bool)
    both = alike[::2] & alike[1::2]
    return np.repeat(both, 2)


def _chopped(coefficients: Array, limit: Array) -> Array:
    """Without the last coefficients that are roundings: in a polygon of high degree they would be seen enlarged."""
    found, still = coefficients, np.ones(coefficients.shape[1], dtype=bool)
    for k in reversed(range(2, len(coefficients))):
        still = still & (np.abs(coefficients[k]) <= 0.25 * limit)
        if not still.any():
            break
        found[k] = np.where(still, 0.0, found[k])
    return found


def _halved(parts: _Parts, tail: Array) -> _Parts:
    twice = np.repeat(np.arange(len(parts)), 2)
    since = parts.since[twice]
    since[1::2] += 0.5 * parts.width
    return _Parts(parts.step[twice], since, 0.5 * parts.width, tail[twice])


def _assembled(
    finished: list[tuple[_Parts, Array, Array]], case: Indices, begins: Array, ends: Array, count: int, noise: Array
) -> Pieces:
    """All pieces in their order; those that are next to a pole, or where all digits cancel, have no numbers."""
    step = np.concatenate([parts.step for parts, _, _ in finished])
    since = np.concatenate([parts.since for parts, _, _ in finished])
    until = np.concatenate([parts.since + parts.width for parts, _, _ in finished])
    polynomials = np.concatenate([found for _, found, _ in finished], axis=1)
    polynomials[:, _lost(polynomials, np.concatenate([wobble for *_, wobble in finished]), case[step], count)] = np.nan
    order = np.lexsort((since, step))
    step, since, until = step[order], since[order], until[order]
    first, last = begins[step], ends[step]
    since_time = first + since * (last - first)
    until_time = np.where(until == 1.0, last, first + until * (last - first))
    found = Pieces(count, case[step], since_time, until_time, polynomials[:, order], noise)
    lasts = until_time > since_time  # next to a kink halves become shorter than times are told apart
    return found if lasts.all() else found.chosen(lasts)
