"""Polygons: area, centroid and moments by Green's theorem; where one crosses itself; what lies inside."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from mechsim.frozen import frozen
from mechsim.spec.living import hypot
from mechsim.spec.weight import total

Corner = tuple[float, float]
Edge = tuple[Corner, Corner]
ROUNDING = 1e-9  # of the size: holes may touch, and people type ten digits or so


@frozen
class Polygon:
    """Corners in order, either way round; the last is joined to the first."""

    corners: tuple[Corner, ...]

    @property
    def edges(self) -> list[Edge]:
        return list(zip(self.corners, (*self.corners[1:], self.corners[0]), strict=True))

    @property
    def size(self) -> float:
        """How far corners are from the first one, at most."""
        first = self.corners[0]
        return max(hypot(x - first[0], y - first[1]) for x, y in self.corners)

    def moments(self) -> tuple[float, Corner, tuple[float, float, float]]:
        """The area, positive if the corners go counter-clockwise; the centroid; the integrals of x x, y y and x y
        about it. Sums are made about the first corner, so that a polygon far away keeps its digits."""
        x0, y0 = self.corners[0]
        near = [(x - x0, y - y0) for x, y in self.corners]
        triangles = [(a, b, a[0] * b[1] - b[0] * a[1]) for a, b in itertools.pairwise(near)]
        area = total(double for _, _, double in triangles) / 2
        if area == 0:
            return area, (x0, y0), (0.0, 0.0, 0.0)
        x = total((a[0] + b[0]) * double for a, b, double in triangles) / (6 * area)
        y = total((a[1] + b[1]) * double for a, b, double in triangles) / (6 * area)
        xx = total((a[0] * a[0] + a[0] * b[0] + b[0] * b[0]) * double for a, b, double in triangles) / 12
        yy = total((a[1] * a[1] + a[1] * b[1] + b[1] * b[1]) * double for a, b, double in triangles) / 12
        mixed = (2 * a[0] * a[1] + a[0] * b[1] + b[0] * a[1] + 2 * b[0] * b[1] for a, b, _ in triangles)
        xy = total(each * double for each, (_, _, double) in zip(mixed, triangles, strict=True)) / 24
        return area, (x0 + x, y0 + y), (xx - area * x * x, yy - area * y * y, xy - area * x * y)

    def crossing(self) -> tuple[Edge, Edge] | None:
        """Two edges that meet elsewhere than where one ends and the next begins."""
        edges = self.edges
        for i, j in _near(edges):
            following = j - i == 1 or (i == 0 and j == len(edges) - 1)
            if _doubled_back(edges[i], edges[j]) if following else _meet(edges[i], edges[j]):
                return edges[i], edges[j]
        return None

    def depth(self, place: Corner) -> float:
        """The distance to the nearest edge, negative outside."""
        away = min(_distance(place, edge) for edge in self.edges)
        return away if self.holds(place) else -away

    def holds(self, place: Corner) -> bool:
        x, y = place
        inside = False
        for (ax, ay), (bx, by) in self.edges:
            if (ay > y) != (by > y) and (x < ax + (y - ay) / (by - ay) * (bx - ax)):
                inside = not inside
        return inside

    def crosses(self, other: Polygon) -> bool:
        """Whether edges truly cross; that corners or edges touch is no crossing."""
        return any(_cross(edge, each) for edge in self.edges for each in other.edges)


def _near(edges: Sequence[Edge]) -> Iterator[tuple[int, int]]:
    """Pairs of edges, i < j, which overlap in x and y: by a sweep, for thousands of corners are not too many."""
    left = [a[0] if a[0] < b[0] else b[0] for a, b in edges]
    right = [b[0] if a[0] < b[0] else a[0] for a, b in edges]
    low = [a[1] if a[1] < b[1] else b[1] for a, b in edges]
    high = [b[1] if a[1] < b[1] else a[1] for a, b in edges]
    active: list[int] = []
    for i in sorted(range(len(edges)), key=left.__getitem__):
        active = [j for j in active if right[j] >= left[i]]
        for j in active:
            if low[j] <= high[i] and low[i] <= high[j]:
                yield min(i, j), max(i, j)
        active.append(i)


def _side(edge: Edge, place: Corner) -> float:
    (ax, ay), (bx, by) = edge
    return (bx - ax) * (place[1] - ay) - (by - ay) * (place[0] - ax)


def _meet(one: Edge, other: Edge) -> bool:
    """Of edges whose boxes overlap."""
    return _apart_by(one, other) <= 0 and _apart_by(other, one) <= 0


def _apart_by(edge: Edge, other: Edge) -> float:
    """Positive if the other lies on one side of the line of this edge."""
    return _side(edge, other[0]) * _side(edge, other[1])


def _cross(one: Edge, other: Edge) -> bool:
    tiny = ROUNDING * ROUNDING * (_length(one) * _length(other)) ** 2
    return _apart_by(one, other) < -tiny and _apart_by(other, one) < -tiny


def _doubled_back(one: Edge, other: Edge) -> bool:
    """Whether the next edge goes back along this one (or, for the last and the first, the other way round)."""
    shared = one[1] if one[1] is other[0] else one[0]
    a = one[0] if shared is one[1] else one[1]
    b = other[1] if shared is one[1] else other[0]
    forward = (a[0] - shared[0]) * (b[0] - shared[0]) + (a[1] - shared[1]) * (b[1] - shared[1])
    return forward > 0 and _side((shared, a), b) == 0


def _length(edge: Edge) -> float:
    (ax, ay), (bx, by) = edge
    return hypot(bx - ax, by - ay)


def _distance(place: Corner, edge: Edge) -> float:
    (ax, ay), (bx, by) = edge
    (dx, dy), (px, py) = (bx - ax, by - ay), (place[0] - ax, place[1] - ay)
    share = (dx * px + dy * py) / (dx * dx + dy * dy)
    share = 0.0 if share < 0 else 1.0 if share > 1 else share
    return hypot(px - share * dx, py - share * dy)
