"""Polynomials on [0, 1] by their Bernstein coefficients, as columns: (degree + 1, count).

The coefficients are a control polygon: a polynomial lies between the least and the largest of them, crosses zero no
more often than they do (and as often but for an even number), and its integral is their mean. Every operation is one
over all columns, sums go degree by degree: so what is found for a polynomial is the same, bit by bit, whatever others
there are. G. Farin, Curves and Surfaces for CAGD, chapters 4 and 5.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

DEGREE = 16  # of what is interpolated: Chebyshev series of a Taylor step's functions have decayed by then
ITERATIONS = 120  # of a root, at most: Newton's method takes some 5, halving 53
ROUNDING = float(np.finfo(float).eps)


def of_taylor(coefficients: Array) -> Array:
    """From coefficients of powers of s, (degree + 1, count)."""
    degree = len(coefficients) - 1
    found = coefficients / np.array([comb(degree, k) for k in range(degree + 1)], float)[:, None]
    for first in range(1, degree + 1):
        found[first:] = found[first:] + found[first - 1 : -1]
    return found


def evaluate(polynomials: Array, s: Array) -> Array:
    """Values at s in [0, 1], one for each polynomial. L. L. Schumaker and W. Volk, CAGD 3 (1986) 149."""
    degree = len(polynomials) - 1
    late = s > 0.5
    near, far = np.where(late, s, 1.0 - s), np.where(late, 1.0 - s, s)
    ratio, power = far / near, np.ones_like(s)
    total = np.where(late, polynomials[0], polynomials[-1])
    for k in reversed(range(degree)):
        total = total * ratio + comb(degree, k) * np.where(late, polynomials[degree - k], polynomials[k])
        power = power * near
    return total * power


def differences(polynomials: Array) -> Array:
    """The coefficients of the derivative, but for the factor of the degree."""
    return polynomials[1:] - polynomials[:-1]


def halves(polynomials: Array) -> tuple[Array, Array]:
    """The polynomials on [0, 1/2] and on [1/2, 1], each on [0, 1] again (de Casteljau)."""
    return parted(polynomials, np.float64(0.5))


def parted(polynomials: Array, s: Array | np.float64) -> tuple[Array, Array]:
    """The polynomials on [0, s] and on [s, 1]."""
    left, right = np.empty_like(polynomials), np.empty_like(polynomials)
    left[0], right[-1] = polynomials[0], polynomials[-1]
    rest = polynomials
    for k in range(1, len(polynomials)):
        rest = (1.0 - s) * rest[:-1] + s * rest[1:]
        left[k], right[-1 - k] = rest[0], rest[-1]
    return left, right


def variations(polynomials: Array) -> tuple[NDArray[np.intp], Array]:
    """How often the sign of the coefficients changes, zeros left out, and where the polygon crosses zero last."""
    count = np.zeros(polynomials.shape[1], dtype=np.intp)
    place = np.zeros(polynomials.shape[1])
    last, since = polynomials[0].copy(), np.zeros(polynomials.shape[1])
    for k in range(1, len(polynomials)):
        here = polynomials[k]
        changed = ((here > 0) & (last < 0)) | ((here < 0) & (last > 0))
        if changed.any():
            count += changed
            share = last[changed] / (last[changed] - here[changed])
            place[changed] = since[changed] + (k - since[changed]) * share
        there = here != 0
        last, since = np.where(there, here, last), np.where(there, float(k), since)
    return count, place / max(1, len(polynomials) - 1)


def first_sign(polynomials: Array) -> Array:
    """The sign of the first coefficient that is not zero."""
    found = np.sign(polynomials[0])
    for row in polynomials[1:]:
        found = np.where(found == 0, np.sign(row), found)
    return found


def roots(polynomials: Array, guess: Array) -> Array:
    """Where polynomials whose coefficients change their sign once are zero: Newton's method between bounds, which are
    halved where it does not contract."""
    x, low, high = guess.copy(), np.zeros_like(guess), np.ones_like(guess)
    step, noise = np.ones_like(guess), ROUNDING * np.abs(polynomials).max(axis=0)
    before, slopes = first_sign(polynomials), (len(polynomials) - 1) * differences(polynomials)
    open_ = np.arange(len(x))
    for _ in range(ITERATIONS):
        own, here = polynomials[:, open_], x[open_]
        value = evaluate(own, here)
        side = np.sign(value) * before[open_]
        a, b = np.where(side > 0, here, low[open_]), np.where(side < 0, here, high[open_])
        with np.errstate(all="ignore"):
            there = here - value / evaluate(slopes[:, open_], here)
        tamed = (there > a) & (there < b) & (np.abs(there - here) <= 0.5 * step[open_])
        there = np.where(tamed, there, 0.5 * (a + b))
        there = np.where(np.abs(value) <= noise[open_], here, there)
        moved = np.abs(there - here)
        low[open_], high[open_], step[open_], x[open_] = a, b, moved, there
        open_ = open_[(moved > ROUNDING) & (b - a > ROUNDING)]
        if not len(open_):
            break
    return x


@cache
def nodes() -> Array:
    """The Chebyshev points of [0, 1], both ends among them."""
    return 0.5 - 0.5 * np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)


def chebyshev(values: Array) -> Array:
    """The Chebyshev coefficients of the polynomials with these values at the nodes."""
    return _folded(_transform(), values)


def of_chebyshev(coefficients: Array) -> Array:
    """Bernstein coefficients, of Chebyshev coefficients."""
    return _unfolded(_conversion(), coefficients)


def _folded(matrix: Array, values: Array) -> Array:
    """A product with a matrix whose rows are even or odd by turns: half of the work."""
    middle = DEGREE // 2
    reverse = values[::-1]
    even, odd = values[:middle] + reverse[:middle], values[:middle] - reverse[:middle]
    found = np.empty_like(values)
    for k in range(DEGREE + 1):
        part = odd if k % 2 else even
        total = matrix[k, 0] * part[0]
        for j in range(1, middle):
            total = total + matrix[k, j] * part[j]
        found[k] = total if k % 2 else total + matrix[k, middle] * values[middle]
    return found


def _unfolded(matrix: Array, coefficients: Array) -> Array:
    """The same for columns that are even or odd by turns."""
    found = np.empty_like(coefficients)
    for k in range(DEGREE // 2 + 1):
        even, odd = matrix[k, 0] * coefficients[0], matrix[k, 1] * coefficients[1]
        for n in range(2, DEGREE + 1, 2):
            even = even + matrix[k, n] * coefficients[n]
        for n in range(3, DEGREE + 1, 2):
            odd = odd + matrix[k, n] * coefficients[n]
        found[k], found[DEGREE - k] = even + odd, even - odd
    return found


@cache
def _transform() -> Array:
    """Of values at `nodes` to Chebyshev coefficients: a discrete cosine transform."""
    angles = np.outer(np.arange(DEGREE + 1), DEGREE - np.arange(DEGREE + 1)) % (2 * DEGREE)
    matrix = np.cos(np.pi * angles / DEGREE) * (2.0 / DEGREE)
    matrix[:, [0, -1]] *= 0.5
    matrix[[0, -1]] *= 0.5
    return matrix


@cache
def _conversion() -> Array:
    """Of Chebyshev to Bernstein coefficients, in whole numbers until the last division."""
    powers = [[1], [-1, 2]]  # of T_n(2 s - 1)
    while len(powers) <= DEGREE:
        last, before = [*powers[-1], 0], [*powers[-2], 0, 0]
        shifted = [0, *powers[-1]]
        powers.append([4 * a - 2 * b - c for a, b, c in zip(shifted, last, before, strict=True)])
    matrix = np.empty((DEGREE + 1, DEGREE + 1))
    for n, series in enumerate(powers):
        for k in range(DEGREE + 1):
            terms = (Fraction(comb(k, d) * value, comb(DEGREE, d)) for d, value in enumerate(series) if d <= k)
            matrix[k, n] = float(sum(terms, Fraction(0)))
    return matrix
