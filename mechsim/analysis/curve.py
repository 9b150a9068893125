"""The path of a point over all poses of a mechanism of one freedom: a coupler curve, its cusps and double points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.analysis.round import Round
from mechsim.frozen import frozen
from mechsim.measure import piecewise
from mechsim.measure.piecewise import Pieces
from mechsim.result.layout import Array

GRID = 1200  # places along the way between which cusps and crossings are looked for
NEWTON = 40
STANDS = 1e-6  # of its largest speed: a point that goes slower stands still, in a cusp
APART = 1e-5  # of the way: what is nearer is one place
PARALLEL = 1e-6  # a sine: curves that cross at less touch, or are one curve
MET = 1e-9  # of the size of the curve
NOWHERE = 1e-10  # of the mechanism's size: a path that is no longer is a place


@frozen
class Mark:
    """A place of a curve that is special: where it is, and the places along the way at which the point is there."""

    at: tuple[float, ...]
    places: tuple[float, ...]


@frozen(eq=False)
class Curve:
    """The path of a point, its coordinates as expressions; `doubles` are where it crosses itself, in the plane. A point
    that `stands` does not move with the mechanism: its path is one place."""

    name: str
    texts: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    cusps: tuple[Mark, ...]
    doubles: tuple[Mark, ...]
    stands: bool = False


def curve_of(way: Round, name: str, texts: Sequence[str]) -> Curve:
    """Raises SpecError."""
    path = Path(way, [way.pieces(text) for text in texts])
    low, high = path.extent
    if path.stands:
        return Curve(name, tuple(texts), tuple(low), tuple(high), (), (), stands=True)
    doubles = path.doubles() if len(texts) == 2 else ()
    return Curve(name, tuple(texts), tuple(low), tuple(high), path.cusps(), doubles)


class Path:
    """Coordinates of a point along the way, and their derivatives by its length."""

    def __init__(self, way: Round, coordinates: Sequence[Pieces]):
        self.way, first = way, list(coordinates)
        second = [piecewise.slopes(each) for each in first]
        third = [piecewise.slopes(each) for each in second]
        self._derivatives = first, second, third, [piecewise.slopes(each) for each in third]
        low, high = way.window
        self.places = np.linspace(low, high, GRID + 1)
        self.size = max(float(np.max(np.array(self.extent[1]) - self.extent[0])), 1e-300)

    def at(self, places: Array, order: int = 0) -> Array:
        """(places, coordinates)"""
        return np.stack([piecewise.values_at(each, places) for each in self._derivatives[order]], axis=-1)

    @property
    def extent(self) -> tuple[list[float], list[float]]:
        first = self._derivatives[0]
        high = [float(piecewise.largest(each)[0]) for each in first]
        return [-float(piecewise.largest(-each)[0]) for each in first], high

    @property
    def stands(self) -> bool:
        """Whether it goes nowhere, but for what rounding makes of coordinates and of the way."""
        system = self.way.solution.system
        scales = [each.scale for each in system.mechanism.variables if each.kind == "position"]
        scale = max(float(np.abs(np.array(self.extent)).max()), *(scales or system.scales[: system.n].tolist()))
        speed = float(np.linalg.norm(self.at(self.places, 1), axis=1).max())
        return max(self.size, speed * self.way.length) <= NOWHERE * scale

    def cusps(self) -> tuple[Mark, ...]:
        """Where the point stands still while the mechanism moves: its speed has a minimum of zero."""
        speeds = np.linalg.norm(self.at(self.places, 1), axis=1)
        around = np.concatenate([speeds[-2:-1], speeds, speeds[1:2]]) if self.way.closed else np.pad(speeds, 1)
        least = np.flatnonzero((speeds <= around[:-2]) & (speeds <= around[2:]))
        fastest, found = float(speeds.max()), []
        for place in self.places[least]:
            for _ in range(NEWTON):  # towards P' . P'' = 0
                one, two, three = (self.at(np.array([place]), order)[0] for order in (1, 2, 3))
                slope = float(two @ two + one @ three)
                step = float(one @ two) / slope if slope else 0.0
                place = float(np.clip(place - step, 0.0, self.way.solution.t[-1]))
            if fastest > 0 and np.linalg.norm(self.at(np.array([place]), 1)) <= STANDS * fastest:
                found.append(place)
        kept = self._different([[self._once(place)] for place in found])
        return tuple(Mark(tuple(self.at(np.array([place]))[0].tolist()), (place,)) for (place,) in kept)

    def doubles(self) -> tuple[Mark, ...]:
        """Where the curve crosses itself."""
        points = self.at(self.places)
        found = []
        for one, other in _crossings(points):
            pair = np.array([self.places[one], self.places[other]])
            for _ in range(NEWTON):
                (a, b), (da, db) = self.at(pair), self.at(pair, 1)
                matrix = np.stack([da, -db], axis=1)
                if abs(np.linalg.det(matrix)) <= PARALLEL * np.linalg.norm(da) * np.linalg.norm(db):
                    break
                step = np.linalg.solve(matrix, b - a)
                pair = np.clip(pair + step, 0.0, self.way.solution.t[-1])
            else:
                if np.linalg.norm(np.subtract(*self.at(pair))) <= MET * self.size and not self._near(*pair):
                    found.append(sorted(self._once(place) for place in pair))
        kept = self._different(found)
        return tuple(Mark(tuple(self.at(np.array(pair))[0].tolist()), tuple(pair)) for pair in kept)

    def _once(self, place: float) -> float:
        """Of one round."""
        near = float(np.mod(place, self.way.length)) if self.way.closed else place
        return 0.0 if self.way.closed and self.way.length - near <= APART * self.way.length else near

    def _near(self, one: float, other: float) -> bool:
        apart = abs(one - other)
        if self.way.closed:
            apart = min(np.mod(apart, self.way.length), self.way.length - np.mod(apart, self.way.length))
        return bool(apart <= APART * self.way.length)

    def _different(self, found: Sequence[Sequence[float]]) -> list[Sequence[float]]:
        kept: list[Sequence[float]] = []
        for each in sorted(found, key=list):
            if not any(all(self._near(a, b) for a, b in zip(each, other, strict=True)) for other in kept):
                kept.append(each)
        return kept


def _crossings(points: Array) -> list[tuple[int, int]]:
    """Pairs of stretches between neighbouring points, in the plane, that cross."""
    first, last = points[:-1], points[1:]
    way = last - first

    def side(a: Array, d: Array, p: Array) -> Array:
        """On which side of lines from a along d, a row for each, points are, a column for each."""
        return d[:, None, 0] * (p[None, :, 1] - a[:, None, 1]) - d[:, None, 1] * (p[None, :, 0] - a[:, None, 0])

    apart = side(first, way, first) * side(first, way, last) <= 0
    one, other = np.nonzero(np.triu(apart & apart.T, 2))
    return list(zip(one.tolist(), other.tolist(), strict=True))
