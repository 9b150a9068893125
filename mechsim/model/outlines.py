"""Outlines in the plane that meet others: a point, a disc, a line, a segment, a polygon, or all the shapes of a part.

An outline is corners and edges in its own frame, each rounded by a radius, in tables that the kernel reads
(src/pairs.hpp):

- corners: x, y, radius, the directions to the corners before and after it (null where there is none), whether it is
  convex, and the component that it belongs to
- edges: x, y, the direction along it, its length, radius, component; what is free is on its left
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.model.layout import Layout
from mechsim.spec.actions import Side
from mechsim.spec.document import MechSpec, Rigid, Solid
from mechsim.spec.number import values_of
from mechsim.spec.polygon import Polygon

Place = tuple[float, float]
CORNER_OF_FIRST, CORNER_OF_SECOND, CORNERS = range(3)  # sorts of ways to touch: a corner on an edge, or on a corner
MOST_WAYS = 20_000  # in which two outlines may touch
# Of a way: corner x, y; edge or corner x, y; for an edge its direction x, y and how far apart, for a corner how far
# apart; and the radius of the first corner, which only friction asks for.
VALUES = 8
APART, ROUNDED = 6, 7
INTO_RECESS = 1e-9  # of its length, an edge goes on where what is solid is not convex
NOWHERE = (-1, -1, -1, -1)


@frozen(eq=False)
class Outline:
    """`part` carries it with its own frame, or `point` without turning; with neither it stands in the world.

    `slots`: of the origin and of a point on the x axis, `length` away."""

    corners: np.ndarray
    edges: np.ndarray
    reach: float
    solid: bool  # whether what is behind an edge is inside
    part: str = ""
    point: str = ""
    slots: tuple[int, ...] = NOWHERE
    length: float = 0.0

    def place(self, q: np.ndarray, constants: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """Where it stands: its origin, and its x axis as a complex number in two components."""
        if self.slots == NOWHERE:
            return np.zeros(2), np.array([1.0, 0.0])
        known = np.array([q[slot] if slot >= 0 else constants[-1 - slot] for slot in self.slots])
        axis = (known[2:] - known[:2]) / self.length if self.length else np.array([1.0, 0.0])
        return known[:2], axis


class _Tables:
    """Corners and edges, one component after the other."""

    def __init__(self, radius: float):
        self.radius, self.component = radius, 0
        self.corners: list[list[float]] = []
        self.edges: list[list[float]] = []

    def disc(self, centre: Place, radius: float) -> None:
        self.corners.append([*centre, radius + self.radius, 0, 0, 0, 0, 1, self.component])
        self.component += 1

    def line(self, start: Place, end: Place) -> None:
        along, _ = _way(start, end)
        self.edges.append([*start, *along, math.inf, self.radius, self.component])
        self.component += 1

    def segment(self, start: Place, end: Place) -> None:
        along, length = _way(start, end)
        self.edges.append([*start, *along, length, self.radius, self.component])
        self.component += 1

    def loop(self, corners: Sequence[Place], hollow: bool) -> None:
        """A polygon, or a hole of its form in something that is solid all around."""
        if (Polygon(tuple(corners)).moments()[0] > 0) != hollow:
            corners = corners[::-1]
        count = len(corners)
        ways = [_way(corners[i], corners[(i + 1) % count]) for i in range(count)]
        turns = [ways[i - 1][0][0] * ways[i][0][1] - ways[i - 1][0][1] * ways[i][0][0] for i in range(count)]
        for i, (x, y) in enumerate(corners):
            (before, _), (along, length) = ways[i - 1], ways[i]
            self.corners.append([x, y, self.radius, -before[0], -before[1], *along, turns[i] < 0, self.component])
            # In a recess edges go on a little: who touches both of them leaves neither.
            back, on = (INTO_RECESS * length if turns[place] >= 0 else 0.0 for place in (i, (i + 1) % count))
            start = (x - back * along[0], y - back * along[1])
            self.edges.append([*start, *along, back + length + on, self.radius, self.component])
        self.component += 1

    def outline(self, solid: bool, **frame: object) -> Outline:
        corners = np.array(self.corners, dtype=float).reshape(-1, 9)
        edges = np.array(self.edges, dtype=float).reshape(-1, 7)
        starts = edges[:, :2] + np.where(np.isfinite(edges[:, 4:5]), edges[:, 4:5], 0.0) * edges[:, 2:4]
        far = [*np.hypot(*corners[:, :2].T) + corners[:, 2], *np.hypot(*edges[:, :2].T) + edges[:, 5]]
        far += [*np.hypot(*starts.T) + edges[:, 5]]
        reach = max(far) if np.isfinite(edges[:, 4]).all() else math.inf
        return Outline(corners, edges, float(reach), solid, **frame)  # type: ignore[arg-type]


def _way(start: Place, end: Place) -> tuple[Place, float]:
    x, y = end[0] - start[0], end[1] - start[1]
    length = math.hypot(x, y)
    return (x / length, y / length), length


def outline_of(side: Side, radius: float, spec: MechSpec, layout: Layout, user: str, mark: Mark) -> Outline:
    """Of what a file names, rounded by a radius. Raises SpecError."""
    tables = _Tables(radius)
    if side.sort == "point":
        (point,) = side.points
        if layout.is_fixed(point):
            x, y = map(float, layout.fixed_position(point))
            tables.disc((x, y), 0.0)
            return tables.outline(True)
        tables.disc((0.0, 0.0), 0.0)
        return tables.outline(True, point=point, slots=(*layout.points[point], *layout.points[point]))
    rigids = {part.name: part for part in spec.rigids}
    if side.sort == "part":
        part = rigids[side.part]
        _add_solids(part, tables, side.hollow, user, mark)
        return tables.outline(True, **_frame(part, layout))
    places, frame = _places(side.points, rigids, layout, user, mark)
    if side.sort in ("line", "segment") and math.dist(*places) == 0:
        message = f"the points {' and '.join(side.points)} of {user} are at one place, and say no direction"
        raise SpecError(Fault(message, mark, "give it two points that are apart"))
    if side.sort == "line":
        tables.line(*places)
    elif side.sort == "segment":
        tables.segment(*places)
    else:
        _refuse_crossing(places, side.points, user, mark)
        tables.loop(places, side.hollow)
    return tables.outline(side.sort != "segment", **frame)


def two_sided(segment: Outline) -> Outline:
    """With its back and its ends, which only what has a radius can meet."""
    ((x, y, u, v, length, radius, component),) = segment.edges.tolist()
    end = (x + length * u, y + length * v)
    edges = [[x, y, u, v, length, radius, component], [*end, -u, -v, length, radius, component]]
    corners = [[x, y, radius, u, v, u, v, 1, component], [*end, radius, -u, -v, -u, -v, 1, component]]
    return replace(segment, corners=np.array(corners), edges=np.array(edges), solid=True)


def _frame(part: Rigid, layout: Layout) -> dict[str, object]:
    first, second = part.points[:2]
    length = math.dist(*((float(x), float(y)) for x, y in map(values_of, part.geometry[:2])))
    return {"part": part.name, "slots": (*layout.points[first], *layout.points[second]), "length": length}


def _places(
    points: tuple[str, ...], rigids: dict[str, Rigid], layout: Layout, user: str, mark: Mark
) -> tuple[list[Place], dict[str, object]]:
    """Where points are that keep their distances: in the world, or on one part; and its frame."""
    if layout.is_fixed(*points):
        return [(float(x), float(y)) for x, y in map(layout.fixed_position, points)], {}
    part = next((each for each in rigids.values() if set(points) <= set(each.points)), None)
    if part is None:
        hint = "they are all fixed, or all on one rigid part"
        raise SpecError(Fault(f"{user}: the points {', '.join(points)} do not keep their distances", mark, hint))
    local = [values_of(part.geometry[part.points.index(point)]) for point in points]
    return [(float(x), float(y)) for x, y in local], _frame(part, layout)


def _refuse_crossing(places: list[Place], points: tuple[str, ...], user: str, mark: Mark) -> None:
    polygon = Polygon(tuple(places))
    if polygon.crossing() or abs(polygon.moments()[0]) <= 1e-12 * polygon.size**2:
        hint = "name its corners one after the other, as one walks around it"
        raise SpecError(Fault(f"{user}: {''.join(points)} is no polygon, it crosses itself", mark, hint))


def _add_solids(part: Rigid, tables: _Tables, hollow: bool, user: str, mark: Mark) -> None:
    """All shapes of a part; without any the polygon of its points."""
    solids = [solid for solid in part.solids if solid.shape != "rod"]
    if not solids:
        corners = [(float(x), float(y)) for x, y in map(values_of, part.geometry)]
        _refuse_crossing(corners, part.points, user, mark)
        tables.loop(corners, hollow)
        return
    for solid in solids:
        if solid.cut or solid.holes:
            hint = f"name points of {part.name} for corners, or leave the hole out"
            raise SpecError(Fault(f"{user}: {part.name} has a hole, which contacts do not see", mark, hint))
        if solid.shape == "cylinder":
            if hollow:
                hint = "write P-Q with a radius and inside: yes"
                raise SpecError(Fault(f"{user}: nothing is known of the inside of a disc of {part.name}", mark, hint))
            x, y = map(float, values_of(solid.at))
            tables.disc((x, y), float(solid.sizes[0].value))
        else:
            tables.loop(_corners(solid), hollow)


def _corners(solid: Solid) -> list[Place]:
    """Of a plate or a polygon, in the frame of the part."""
    if solid.shape == "box":
        x, y = (float(number.value) / 2 for number in solid.sizes[:2])
        local = [(-x, -y), (x, -y), (x, y), (-x, y)]
    else:
        local = [(float(x), float(y)) for x, y in map(values_of, solid.outline)]
    (ax, ay, *_), (bx, by, *_) = solid.axes[:2]
    at = [float(number.value) for number in solid.at]
    return [(at[0] + float(ax) * u + float(bx) * v, at[1] + float(ay) * u + float(by) * v) for u, v in local]


def ways(first: Outline, second: Outline) -> tuple[np.ndarray, np.ndarray]:
    """All ways in which they may touch: sort, corner, edge or other corner; and what the rows of each are made of."""
    numbers, values = [], []
    for sort, corner, other, row in _ways(first, second):
        numbers.append([sort, corner, other])
        values.append(row)
    return np.array(numbers, dtype=np.int32).reshape(-1, 3), np.array(values, dtype=float).reshape(-1, VALUES)


def _ways(first: Outline, second: Outline) -> Iterator[tuple[int, int, int, list[float]]]:
    for sort, own, other in ((CORNER_OF_FIRST, first, second), (CORNER_OF_SECOND, second, first)):
        for i in np.flatnonzero(own.corners[:, 7]):
            x, y, radius = own.corners[i, :3]
            for k, edge in enumerate(other.edges):
                yield sort, int(i), k, [x, y, *edge[:4], radius + edge[5], radius]
    for i in np.flatnonzero(first.corners[:, 7]):
        x, y, radius = first.corners[i, :3]
        for j in np.flatnonzero(second.corners[:, 7]):
            u, v, further = second.corners[j, :3]
            if radius + further > 0:
                yield CORNERS, int(i), int(j), [x, y, u, v, radius + further, 0.0, 0.0, radius]


def overlap(first: Outline, second: Outline, q: np.ndarray, constants: Sequence[float]) -> float:
    """How deep the one is in the other, 0 if it is not: by corners, and by edges that cross."""
    (origin, axis), (other_origin, other_axis) = (each.place(q, constants) for each in (first, second))
    depth = 0.0
    for own, other, from_, to in (
        (first, second, (origin, axis), (other_origin, other_axis)),
        (second, first, (other_origin, other_axis), (origin, axis)),
    ):
        if not other.solid:
            continue
        for x, y, radius, *_ in own.corners:
            world = from_[0] + _turned(from_[1], np.array([x, y]))
            depth = max(depth, -(_clearance(_turned(to[1] * [1, -1], world - to[0]), other) - radius))
    if (
        depth == 0
        and first.solid
        and second.solid
        and _crosses(first, second, (origin, axis), (other_origin, other_axis))
    ):
        return min(first.reach, second.reach)
    return depth


def _turned(axis: np.ndarray, place: np.ndarray) -> np.ndarray:
    return np.array([axis[0] * place[0] - axis[1] * place[1], axis[0] * place[1] + axis[1] * place[0]])


def _clearance(place: np.ndarray, outline: Outline) -> float:
    """Of a point in the frame of an outline; see Pair::clearance_of in src/pairs.cpp, which this follows."""
    found: dict[int, tuple[float, bool, float]] = {}

    def take(component: int, distance: float, outside: bool, radius: float) -> None:
        best = found.get(component)
        if best is None or distance < best[0] - 1e-9 * distance or (distance <= best[0] * (1 + 1e-9) and not best[1]):
            found[component] = (distance, outside, radius)

    for x, y, u, v, length, radius, component in outline.edges:
        along, across = u * (place[0] - x) + v * (place[1] - y), u * (place[1] - y) - v * (place[0] - x)
        if math.isinf(length) or 0 <= along <= length:
            take(int(component), abs(across), across >= 0, radius)
    for x, y, radius, *_, convex, component in outline.corners:
        take(int(component), math.hypot(place[0] - x, place[1] - y), bool(convex), radius)
    return min(((d if outside else -d) - radius for d, outside, radius in found.values()), default=math.inf)


def _crosses(first: Outline, second: Outline, *frames: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether an edge of the one crosses one of the other well within both."""
    ends = []
    for outline, (origin, axis) in zip((first, second), frames, strict=True):
        edges = outline.edges[np.isfinite(outline.edges[:, 4])]
        starts = [(origin + _turned(axis, each[:2]), _turned(axis, each[2:4]) * each[4]) for each in edges]
        ends.append(starts)
    for start, way in ends[0]:
        for other, along in ends[1]:
            area = way[0] * along[1] - way[1] * along[0]
            apart = other - start
            if abs(area) <= 1e-9 * math.hypot(*way) * math.hypot(*along):
                continue
            s = (apart[0] * along[1] - apart[1] * along[0]) / area
            t = (apart[0] * way[1] - apart[1] * way[0]) / area
            if 1e-9 < s < 1 - 1e-9 and 1e-9 < t < 1 - 1e-9:
                return True
    return False
