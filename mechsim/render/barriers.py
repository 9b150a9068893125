"""What gaps keep apart, as fittings: walls and floors hatched on their far side, discs, ropes, stops at a joint."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechsim.frozen import frozen
from mechsim.lagrangian.formula import symbol
from mechsim.model.outlines import Outline
from mechsim.render import symbols
from mechsim.render.curves import CurveShape, Track
from mechsim.render.fitting import FLOOR, Fitting, Paint
from mechsim.render.frames import Frames
from mechsim.render.gaps import Meeting, barriers
from mechsim.render.symbols import moved
from mechsim.render.workshop import Line, Workshop
from mechsim.result.layout import Array
from mechsim.spec.names import AXES

WALL = Paint(None, 0.7, 1.8)
OBSTACLE = Paint(0.16, 0.6, 1.6)
REACH = Paint(None, 0.42, 1.4)
ROPE = Paint(None, 0.85, 2.2)
STOP = Paint(0.5, 1.0, 1.3)
BESIDE = 0.22  # of the motion's extent, that a wall goes on beyond where it is met
HATCH = (0.02, 0.03)  # of the motion's extent: the shortest and longest strokes of hatching
LEAST_CURVE = 3.0  # strokes long: what is shorter is a corner of a curve that comes into the picture
DASHES = 40  # of a whole circle
SAGS = 48  # halvings of the range in which the sag of a slack rope is looked for
CORNERS = 33  # of a slack rope
STRAIGHT = 1e-9  # of the size: how much a level may curve and still be a straight wall


def barrier_fittings(shop: Workshop) -> Iterator[Fitting]:
    """Of all gaps in the plane. Where several points meet one wall, it is drawn once."""
    walls: list[Wall] = []
    for meeting in barriers(shop.scene):
        name = f"contact {meeting.gap.name}"
        if meeting.sort == "line":
            yield _line(shop, name, meeting)
        elif meeting.sort == "pair":
            yield from _pair(shop, name, meeting)
        elif meeting.sort == "turn":
            yield _stop(shop, name, meeting)
        elif meeting.sort == "level":
            wall = wall_of(shop, name, meeting)
            walls += [wall] if wall else []
            yield from () if wall else _curve(shop, name, meeting)
    yield from (wall.fitting(shop) for wall in joined(walls))
    for pair in shop.scene.mechanism.pairs:
        for outline in (pair.first, pair.second):
            yield from _outline(shop, f"contact {pair.name}", outline)


def _outline(shop: Workshop, name: str, outline: Outline) -> Iterator[Fitting]:
    """What stands in the world, hatched on its far side; and the discs that points stand for. Parts draw themselves."""
    if outline.point:
        discs = [symbols.arc(radius) for radius in outline.corners[:, 2] if radius > 0]
        yield from (Fitting(name, "contact", (disc,), OBSTACLE, outline.point, height=shop.height(outline.point) + 0.55)
                    for disc in discs)  # fmt: skip
    if outline.part or outline.point:
        return
    strokes: list[Array] = []
    for x, y, u, v, length, *_ in outline.edges:
        start, along = np.array([x, y]), np.array([u, v])
        low, high = (0.0, float(length)) if np.isfinite(length) else _along(shop, start, along)
        turn = float(np.arctan2(v, u))
        own = symbols.hatching(low, high, _hatch(shop))
        strokes += [symbols.turned(stroke, turn) + start for stroke in own]
    if strokes:
        yield Fitting(name, "contact", tuple(strokes), WALL)
    discs = [symbols.arc(radius) + np.array([x, y]) for x, y, radius in outline.corners[:, :3] if radius > 0]
    yield from (Fitting(name, "contact", (disc,), OBSTACLE) for disc in discs)


def _along(shop: Workshop, start: Array, along: Array) -> tuple[float, float]:
    """How far points come along a line that does not end."""
    reach = (np.vstack(list(shop.frames.points.values())) - start) @ along
    return float(reach.min()) - 3 * shop.skin, float(reach.max()) + 3 * shop.skin


# --- walls


@frozen(eq=False)
class Wall:
    """A straight wall: a frame on it with x along it and the free side on its left, and how far it is met along x."""

    name: str
    origin: Array  # (k, 2)
    angle: Array  # (k,)
    low: float
    high: float

    @property
    def stands(self) -> bool:
        return bool(np.ptp(self.angle) == 0 and not np.ptp(self.origin, axis=0).any())

    def fitting(self, shop: Workshop) -> Fitting:
        strokes = tuple(symbols.hatching(self.low, self.high, _hatch(shop)))
        return Fitting(self.name, "contact", strokes, WALL, way=(self.origin, self.angle))


def wall_of(shop: Workshop, name: str, meeting: Meeting) -> Wall | None:
    """Where the gap of one point is zero, if that is a straight line at all times. It stands across from the middle of
    the point's way, and goes with the gap."""
    point = meeting.points[0]
    if not is_straight(meeting, shop.frames):
        return None
    normal, foot = _level(meeting, shop.drawn)
    way = shop.frames.points[point]
    # As the wall stands at first, how far the point comes along it; a tilting wall is as long.
    along = np.array([normal[0, 1], -normal[0, 0]])
    reach = way @ along
    beside = BESIDE * _extent(shop) + 3 * shop.skin
    middle = float(reach.min() + reach.max()) / 2
    half = float(np.ptp(reach)) / 2 + beside
    tangent = np.column_stack([normal[:, 1], -normal[:, 0]])
    origin = foot + (middle - (foot * tangent).sum(axis=1))[:, None] * tangent
    if not meeting.uses_time:  # but for rounding, which would make it move
        origin, tangent = (np.broadcast_to(each[:1], each.shape) for each in (origin, tangent))
    return Wall(name, origin, np.unwrap(np.arctan2(tangent[:, 1], tangent[:, 0])), -half, half)


def _level(meeting: Meeting, frames: Frames) -> tuple[Array, Array]:
    """The unit vector into the free side and the nearest place of the wall, (k, 2) each."""
    point = meeting.points[0]
    slopes, width = meeting.slopes(frames, point), meeting.width(frames)
    steep = np.maximum(np.linalg.norm(slopes, axis=1, keepdims=True), 1e-300)
    return slopes / steep, frames.points[point] - width[:, None] * slopes / steep**2


def is_straight(meeting: Meeting, frames: Frames) -> bool:
    """Whether the gap is linear in the coordinates of its point, and only these and the time move it."""
    size, own = meeting.scene.size, set(meeting.scene.mechanism.points[meeting.points[0]])
    slots = [slot for slot in meeting.element.slots if slot in own]
    steps = [{slot: np.full(len(frames), size)} for slot in slots]
    steps += [{slot: np.full(len(frames), size) for slot in slots}]
    here = meeting.width(frames)
    there = [meeting.width(frames, step) - here for step in steps]
    back = [here - meeting.width(frames, {slot: -far for slot, far in step.items()}) for step in steps]
    with np.errstate(invalid="ignore"):
        bends = [np.abs(a - b).max() for a, b in zip(there, back, strict=True)]
        bends.append(np.abs(sum(there[:-1]) - there[-1]).max())
        return bool(max(bends) <= STRAIGHT * max(np.abs(each).max() for each in there))


def joined(walls: list[Wall]) -> Iterator[Wall]:
    """Those that stand on one line are one wall."""
    left = list(walls)
    while left:
        first, *left = left
        near = [wall for wall in left if _on_one_line(first, wall)]
        left = [wall for wall in left if wall not in near]
        if not near:
            yield first
            continue
        along = np.array([np.cos(first.angle[0]), np.sin(first.angle[0])])
        shifts = [float((wall.origin[0] - first.origin[0]) @ along) for wall in near]
        low = min(first.low, *(wall.low + shift for wall, shift in zip(near, shifts, strict=True)))
        high = max(first.high, *(wall.high + shift for wall, shift in zip(near, shifts, strict=True)))
        yield Wall(first.name, first.origin, first.angle, low, high)


def _on_one_line(first: Wall, other: Wall) -> bool:
    if not (first.stands and other.stands):
        return False
    along = np.array([np.cos(first.angle[0]), np.sin(first.angle[0])])
    apart = other.origin[0] - first.origin[0]
    size = max(first.high - first.low, other.high - other.low)
    aside = abs(float(along[0] * apart[1] - along[1] * apart[0]))
    return bool(aside <= 1e-9 * size and abs(np.sin(first.angle[0] - other.angle[0])) < 1e-9
                and np.cos(first.angle[0] - other.angle[0]) > 0)  # fmt: skip


def _line(shop: Workshop, name: str, meeting: Meeting) -> Fitting:
    """Between two points, and as far beyond them as it is met."""
    point, *line = meeting.points
    ends: Line = (line[0], line[1])
    low, high = shop.extent(ends, [point, *ends], 2 * shop.skin)
    if not shop.is_ground(ends):  # of a part: its own edge is the wall
        low, high = shop.extent(ends, ends, 0.0)
    height = FLOOR if shop.is_ground(ends) else shop.on_top(ends, 0.25)
    return Fitting(
        name, "contact", tuple(symbols.hatching(low, high, _hatch(shop))), WALL, ends[0], ends, height=height
    )


def _curve(shop: Workshop, name: str, meeting: Meeting) -> Iterator[Fitting]:
    """Where the gap of one point is zero, if that is no straight line; hatched where it stands still."""
    shape = CurveShape(None, _track(shop, meeting), shop)
    if shape.moves:
        yield Fitting(name, "contact", shape.reach, WALL, moving=shape)
    elif lines := tuple(line for line in shape.lines(0) if _length(line) > LEAST_CURVE * _hatch(shop)):
        strokes = [stroke for line in lines for stroke in hatched(line, _forbidden(shape, line), _hatch(shop))]
        yield Fitting(name, "contact", (*lines, *strokes), WALL)


def _track(shop: Workshop, meeting: Meeting) -> Track:
    """The gap, as a formula of the coordinates of its point."""
    mechanism = shop.scene.mechanism
    names = {slot: f"x{local}" for local, slot in enumerate(meeting.element.slots)}
    slots = mechanism.points[meeting.points[0]]
    free = {names[slot]: axis for slot, axis in zip(slots, AXES, strict=False) if slot in names}
    rows = meeting.rows
    used = {symbol(leaf) for row in rows for leaf in row.leaves() if not leaf.is_number}
    given = {name: slot for slot, name in names.items() if name in used - set(free)}
    return Track(rows, free, given, dict(meeting.element.parameters), ())


def _forbidden(shape: CurveShape, line: Array) -> Array:
    """Unit vectors away from the free side along a line of a curve that stands still, (k, 2)."""
    held = shape.scene.segments.constants(shape.scene.mechanism.constants, np.array(0))
    step, t = 1e-6 * float((shape.high - shape.low).max()), float(shape.frames.t[0])

    def width(places: Array) -> Array:
        own = {"x": places[:, 0], "y": places[:, 1]}
        return shape.track.values(own, t, lambda slot: float(held[-1 - slot]) if slot < 0 else 0.0)[0]

    sides = [np.array([step, 0.0]), np.array([0.0, step])]
    slopes = np.column_stack([width(line + side) - width(line - side) for side in sides])
    return np.asarray(-slopes / np.maximum(np.linalg.norm(slopes, axis=1, keepdims=True), 1e-300))


def hatched(line: Array, across: Array, size: float) -> list[Array]:
    """Slanting strokes beside a line, on the side that unit vectors `across` (k, 2) point to."""
    steps = np.append(0.0, np.cumsum(np.hypot(*np.diff(line, axis=0).T)))
    count = int(np.clip(steps[-1] / (1.1 * size), 4, symbols.MOST_STROKES))
    at = np.interp(np.linspace(0, steps[-1], count + 1)[1:], steps, np.arange(len(line)))
    feet, ways = (np.column_stack([np.interp(at, np.arange(len(line)), axis) for axis in each.T])
                  for each in (line, across))  # fmt: skip
    along = np.column_stack([-ways[:, 1], ways[:, 0]])
    return [np.array([foot, tip]) for foot, tip in zip(feet, feet + size * (0.7 * ways - 0.6 * along), strict=True)]


# --- discs and ropes


def radius_of(meeting: Meeting, frames: Frames) -> Array:
    """How far two points stay apart or together, (k,)."""
    apart = np.linalg.norm(np.subtract(*(frames.points[point] for point in meeting.points)), axis=1)
    width = meeting.width(frames)
    return np.asarray(apart + width if meeting.inside else apart - width)


def _pair(shop: Workshop, name: str, meeting: Meeting) -> Iterator[Fitting]:
    """About a point that stands a disc to stay out of; two that move are discs themselves. A dashed circle to stay in,
    and the rope that holds."""
    radius = float(np.median(radius_of(meeting, shop.frames)))
    standing = [point for point in reversed(meeting.points) if not meeting.moves(point)]
    if meeting.inside:
        if standing:
            yield Fitting(name, "contact", dashed(radius), REACH, standing[0])
        height = max(shop.height(point) for point in meeting.points) + 0.35
        slack = SlackRope(meeting, shop.drawn, shop.scene.up)
        yield Fitting(name, "contact", _rope_reach(meeting, shop.frames), ROPE, height=height, moving=slack)
    elif standing:
        yield Fitting(name, "contact", (symbols.arc(radius),), OBSTACLE, standing[0])
    else:
        balls = [point for point in meeting.points if not shop.particle(point)]
        yield from (Fitting(name, "contact", (symbols.arc(radius / 2),), REACH, point) for point in balls)


def dashed(radius: float) -> tuple[Array, ...]:
    """A circle of dashes."""
    turn = 2 * np.pi / DASHES
    return tuple(symbols.arc(radius, number * turn, (number + 0.55) * turn) for number in range(DASHES))


@frozen
class SlackRope:
    """A rope between two points, straight where it is taut, else hanging down as far as its length lets it."""

    meeting: Meeting
    frames: Frames
    up: Array

    @property
    def lengths(self) -> Array:
        return radius_of(self.meeting, self.frames)

    def lines(self, frame: int) -> tuple[Array, ...]:
        start, end = (self.frames.points[point][frame] for point in self.meeting.points)
        return (hanging(start, end, float(self.lengths[frame]), self.up),)


def hanging(start: Array, end: Array, length: float, up: Array) -> Array:
    """A line of this length between two places, that sags like a parabola; straight if it is no longer than the way."""
    share = np.linspace(0, 1, CORNERS)[:, None]
    straight = start + share * (end - start)
    if length <= np.linalg.norm(end - start) * (1 + 1e-6):
        return straight
    low, high = 0.0, length
    for _ in range(SAGS):
        middle = (low + high) / 2
        sagging = straight - middle * 4 * share * (1 - share) * up
        long = np.linalg.norm(np.diff(sagging, axis=0), axis=1).sum()
        low, high = (middle, high) if long < length else (low, middle)
    return np.asarray(straight - low * 4 * share * (1 - share) * up)


def _rope_reach(meeting: Meeting, frames: Frames) -> tuple[Array, ...]:
    """Corners of a box that holds both ends at all times."""
    cloud = np.vstack([frames.points[point] for point in meeting.points])
    return (np.array([cloud.min(axis=0), cloud.max(axis=0)]),)


# --- stops of angles


def _stop(shop: Workshop, name: str, meeting: Meeting) -> Fitting:
    """A block beside the place that the part has when its gap is closed, on the side where it may not go."""
    size, joint = shop.skin, meeting.points[0]
    block = moved(symbols.rounded_block(0.75 * size, 0.7 * size), meeting.arm, 1.75 * meeting.side(shop.drawn) * size)
    way = shop.drawn.points[joint], meeting.closed_at(shop.drawn)
    return Fitting(name, "contact", (block,), STOP, height=shop.height(joint) + 0.3, way=way)


def _length(line: Array) -> float:
    return float(np.hypot(*np.diff(line, axis=0).T).sum())


def _hatch(shop: Workshop) -> float:
    """How long strokes of hatching are: as those under joints, but to be seen in the whole picture."""
    return float(np.clip(shop.skin, HATCH[0] * _extent(shop), HATCH[1] * _extent(shop)))


def _extent(shop: Workshop) -> float:
    cloud = np.vstack(list(shop.frames.points.values()))
    return float(np.ptp(cloud, axis=0).max()) or shop.scene.size
