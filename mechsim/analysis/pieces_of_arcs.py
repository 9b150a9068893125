"""Curves in the plane, cut where they meet: cubics through their points, with their directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from mechsim.analysis.arcs_of_reach import Arc
from mechsim.frozen import frozen
from mechsim.result.layout import Array

NEWTON = 20
MET = 1e-9  # of the size
TOUCHES = 1e-5  # of the size: an end this near to another curve is on it
SHORT = 1e-6  # of the size: pieces shorter than this are none
PARALLEL = 1e-3  # a sine
PROBES = 9  # places of a curve
DRAWN = 4  # points of each cubic
FINE = 32  # of a cubic: where it is looked for the place nearest to a point


@frozen(eq=False, slots=False)
class Piece:
    """Of a curve, from one place to another, in numbers of its points and shares of what is between them; `sense` -1 is
    the other way round."""

    arc: Arc
    first: float
    last: float
    sense: float = 1.0

    def turned(self) -> Piece:
        return replace(self, sense=-self.sense)

    @cached_property
    def _knots(self) -> Array:
        whole = np.arange(np.ceil(self.first + 1e-9), np.floor(self.last - 1e-9) + 1)
        return np.concatenate([[self.first], whole, [self.last]])

    def _places(self, each: int) -> Array:
        """So many of each cubic."""
        fine = (self._knots[:-1, None] + np.diff(self._knots)[:, None] * np.arange(each) / each).ravel()
        return np.append(fine, self.last)[:: int(self.sense)]

    def points(self, each: int = DRAWN) -> Array:
        """On the way, from its beginning to its end, so many of each cubic."""
        return at(self.arc, self._places(each))

    def pose(self, share: float) -> Array:
        """At a share of its places, 0 its beginning and 1 its end, or near to that."""
        place = self.first + (share if self.sense > 0 else 1 - share) * (self.last - self.first)
        return np.asarray(self.arc.x[round(place)])

    @property
    def length(self) -> float:
        return float(np.linalg.norm(np.diff(self.points(), axis=0), axis=1).sum())

    def beside(self, aside: float) -> Array:
        """A point so far to the left of its middle, by length."""
        points = self.points()
        gone = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        place = float(np.interp(gone[-1] / 2, gone, self._places(DRAWN)))
        here, way = at(self.arc, np.array([place]))[0], self.sense * at(self.arc, np.array([place]), 1)[0]
        return np.asarray(here + aside * np.array([-way[1], way[0]]) / np.linalg.norm(way))

    @property
    def area(self) -> float:
        """Its share of that at the left of a closed boundary: the integral of (x dy - y dx)/2, by Gauss's points, which
        make it exact for cubics."""
        knots = self._knots
        shares, weights = np.polynomial.legendre.leggauss(4)
        places = (knots[:-1, None] + np.diff(knots)[:, None] * (0.5 + 0.5 * shares)).ravel()
        u, du = at(self.arc, places), at(self.arc, places, 1)
        integrand = 0.5 * (u[:, 0] * du[:, 1] - u[:, 1] * du[:, 0])
        return float(self.sense * (integrand * (0.5 * np.diff(knots)[:, None] * weights).ravel()).sum())


def at(arc: Arc, places: Array, order: int = 0) -> Array:
    """Points of a curve, or its directions per unit of place (Hermite's cubics)."""
    number = np.clip(np.floor(places).astype(int), 0, len(arc.s) - 2)
    r = (places - number)[:, None]
    h = (arc.s[number + 1] - arc.s[number])[:, None]
    a, b, da, db = arc.u[number], arc.u[number + 1], h * arc.du[number], h * arc.du[number + 1]
    if order:
        return 6 * (r**2 - r) * a + (3 * r**2 - 4 * r + 1) * da + 6 * (r - r**2) * b + (3 * r**2 - 2 * r) * db
    return (2 * r**3 - 3 * r**2 + 1) * a + (r**3 - 2 * r**2 + r) * da + (3 * r**2 - 2 * r**3) * b + (r**3 - r**2) * db


def cut(arcs: Sequence[Arc], size: float) -> list[Piece]:
    """All curves, cut where they cross each other or themselves, and where one ends on another."""
    cuts: list[list[float]] = [[] for _ in arcs]
    for one in range(len(arcs)):
        for other in range(one, len(arcs)):
            for a, b in _crossings(arcs[one], arcs[other], size, one == other):
                cuts[one].append(a)
                cuts[other].append(b)
    for one, arc in enumerate(arcs):
        cuts[one] += [place for place in nearest(arc, arc.u[0], size) if 1 < place < len(arc.s) - 2]  # gone round twice
        for end in () if arc.closed else (arc.u[0], arc.u[-1]):
            for other, line in enumerate(arcs):
                cuts[other] += [] if other == one else nearest(line, end, size)
    return [piece for arc, own in zip(arcs, cuts, strict=True) for piece in _pieces(arc, own, size)]


def _pieces(arc: Arc, cuts: Sequence[float], size: float) -> list[Piece]:
    """Cuts that are as good as one are one: at an end, if it is one of these."""
    last = float(len(arc.s) - 1)
    places = [0.0]
    for place in sorted(cuts):
        if _is_long(arc, places[-1], place, size) and _is_long(arc, place, last, size):
            places.append(place)
    return [Piece(arc, a, b) for a, b in pairwise([*places, last]) if _is_long(arc, a, b, size)]


def _is_long(arc: Arc, first: float, last: float, size: float) -> bool:
    return last - first > 1e-9 and Piece(arc, first, last).length > SHORT * size


def _crossings(one: Arc, other: Arc, size: float, same: bool) -> list[tuple[float, float]]:
    a, b = one.u, other.u
    apart = _sides(a, b) & _sides(b, a).T
    if same:
        apart = np.triu(apart, 2)
    pairs: Array = np.asarray(np.argwhere(apart) + 0.5, float)
    for _ in range(NEWTON if len(pairs) else 0):
        off = at(other, pairs[:, 1]) - at(one, pairs[:, 0])
        step = _towards(at(one, pairs[:, 0], 1), at(other, pairs[:, 1], 1), off)
        pairs = np.clip(pairs + np.clip(step, -1, 1), 0, [len(a) - 1, len(b) - 1])
    met = np.linalg.norm(at(one, pairs[:, 0]) - at(other, pairs[:, 1]), axis=1) <= MET * size
    # One along the other does not count; where they touch in their ends, these cut.
    met &= _sines(at(one, pairs[:, 0], 1), at(other, pairs[:, 1], 1)) >= PARALLEL
    met &= ~(same & (np.abs(pairs[:, 0] - pairs[:, 1]) < 1))
    return [(p, q) for p, q in pairs[met].tolist()]


def _towards(one: Array, other: Array, off: Array) -> Array:
    """Steps along both of two directions that make good what they are off by; none where these are parallel."""
    area = one[:, 1] * other[:, 0] - one[:, 0] * other[:, 1]
    area = np.where(area == 0, np.inf, area)
    a = (other[:, 0] * off[:, 1] - other[:, 1] * off[:, 0]) / area
    b = (one[:, 0] * off[:, 1] - one[:, 1] * off[:, 0]) / area
    return np.stack([a, b], axis=1)


def _sines(one: Array, other: Array) -> Array:
    lengths = np.maximum(np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1), 1e-300)
    return np.asarray(np.abs(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]) / lengths)


def _sides(a: Array, b: Array) -> np.ndarray:
    """Of stretches of one polygon, a row for each, whether stretches of another have their ends on different sides."""
    way = np.diff(a, axis=0)

    def side(points: Array) -> Array:
        off = points[None] - a[:-1, None]
        return np.asarray(way[:, None, 0] * off[..., 1] - way[:, None, 1] * off[..., 0])

    return np.asarray(side(b[:-1]) * side(b[1:]) <= 0)


def nearest(arc: Arc, point: Array, size: float) -> list[float]:
    """Places of a curve at a point, where it comes there."""
    steps = np.linalg.norm(np.diff(arc.u, axis=0), axis=1)
    near = np.flatnonzero(np.linalg.norm(arc.u[:-1] - point, axis=1) <= 2 * steps + TOUCHES * size)
    if not len(near):
        return []
    places = near[:, None] + np.arange(FINE + 1) / FINE
    apart = np.linalg.norm(at(arc, places.ravel()) - point, axis=1).reshape(places.shape)
    place = places[np.arange(len(near)), apart.argmin(axis=1)]
    for _ in range(NEWTON):
        off, way = at(arc, place) - point, at(arc, place, 1)
        step = (off * way).sum(axis=1) / np.maximum((way**2).sum(axis=1), 1e-300)
        place = np.clip(place - step, 0, len(arc.s) - 1)
        if np.abs(step).max() < 1e-12:
            break
    found: list[float] = place[np.linalg.norm(at(arc, place) - point, axis=1) <= TOUCHES * size].tolist()
    return found


def is_along(arc: Arc, other: Arc, size: float) -> bool:
    """Whether a curve is on another with all its length."""
    places = np.linspace(0, len(arc.s) - 1, PROBES + 2)[1:-1]
    return all(nearest(other, point, size) for point in at(arc, places))
