"""Joints in space as drafts of laws: collinear and coplanar points (seed 001 section 6.1), turns, and what rolls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import cos, pi

from mechsim.errors import Fault, Mark, SpecError
from mechsim.lagrangian.formula import Formula, coordinate, formula, parameter, sqrt
from mechsim.lagrangian.vector import dot, labels, square, vector, vector_product
from mechsim.model.axles import Axles
from mechsim.model.book import Book, Draft, Labelled
from mechsim.model.frames import across
from mechsim.model.geometry import axis, collinear, unit
from mechsim.model.grip import Place
from mechsim.model.layout import marks_of_angles, screw_angle
from mechsim.model.lines import spanning_pair
from mechsim.model.mechanism import titled
from mechsim.model.origin import Origin
from mechsim.model.quantities import Arrow, Quantities
from mechsim.model.spatial import GROUND, Space, constant_arrow, turn_row, turned_components
from mechsim.spec.actions import Gear, Skate, SpatialJoint, Weld
from mechsim.spec.names import SPACE
from mechsim.spec.suggest import listed
from mechsim.spec.turning import angle_key, half_planes

PHASE = "phase"
Pair = tuple[str, str]


def drafts(quantities: Quantities) -> Iterator[Draft]:
    """Of all joints of a file in space; those that need variables of their own are added by `add_turning`."""
    space, actions = Space(quantities), quantities.spec.actions
    yield from _angles(space)
    for joint in actions.spatial:
        yield from JOINTS[joint.sort](joint, space)
    yield from (_weld(weld, space) for weld in actions.welds)
    yield from (_skate(skate, space) for skate in actions.skates)


def _draft(
    joint: SpatialJoint, rows: Labelled, space: Space, place: str, rolling: Sequence[tuple[str, Formula]] = ()
) -> Draft:
    draft = Draft(joint.name, joint.mark, constraints=rows, nonholonomic=list(rolling))
    draft.origin = Origin(joint.sort, joint.name)
    return space.held(draft, place)


def _title(joint: SpatialJoint) -> str:
    return titled(joint.name, Origin(joint.sort, joint.name))


def _labelled(joint: SpatialJoint, rows: Sequence[Formula]) -> Labelled:
    return [(f"{joint.sort}{n}_{joint.name}", row) for n, row in enumerate(rows, start=1)]


# --- lines


def on_line(points: Sequence[str], line: Pair, space: Space) -> list[Formula]:
    """Two rows for each point: it is not beside a line of the ground or of a body."""
    home, arms = space.body(*line), []
    for point in points:
        side = space.side(*points)
        arms.append(space.quantities.point(point, side) - space.quantities.point(line[0], home))
    return [dot(each, arm) for arm in arms for each in space.across(line)]


def add_lines(quantities: Quantities, book: Book) -> None:
    """Points on lines: of slots, pistons, and those that are named collinear."""
    space = Space(quantities)
    for slot in quantities.spec.actions.slots:
        line = "".join(slot.line)
        draft = Draft(f"{slot.point},{line}", slot.mark, origin=Origin("slot", f"{slot.point}-{line}"))
        _keep_on_line(slot.point, slot.line, f"slot_{slot.point},{line}", draft, space, book)
    for joint in quantities.spec.collinear:
        base = spanning_pair(joint, quantities.spec)
        for name in joint.points:
            if name not in base:
                owner = "".join(joint.points)
                draft = Draft(owner, joint.mark, origin=Origin("collinear", owner))
                _keep_on_line(name, base, f"col_{name},{owner}", draft, space, book)


def _keep_on_line(point: str, line: Pair, label: str, draft: Draft, space: Space, book: Book) -> None:
    """By what is across the line, if something tells; else by a coordinate along it, which has no mass."""
    quantities = space.quantities
    if space.has_directions(line):
        rows = [
            dot(each, quantities.point(point) - quantities.point(line[0], space.body(*line)))
            for each in space.across(line)
        ]
        draft.constraints = [(f"{label}_{n}", row) for n, row in enumerate(rows, start=1)]
    else:
        slot = book.variable(f"s_{label}", f"s_{label}", "coordinate", 1.0)
        book.guesses[slot] = 0.5
        side = space.side(*line)
        start = quantities.point(line[0], side)
        gap = quantities.point(point) - start - space.arm(*line, side) * coordinate(slot)
        draft.constraints = list(zip(labels(label, SPACE), gap, strict=True))
    book.add(space.held(draft, point))


def _hinge(joint: SpatialJoint, space: Space) -> Iterator[Draft]:
    """A, B and C on one line, where both parts have A."""
    first, second = joint.first[:2], joint.second[:2]
    line, other = (_pair(first), _pair(second)) if space.has_directions(first) else (_pair(second), _pair(first))
    _need_directions(line, joint, space)
    arm = space.arm(*other, space.side(*other))
    yield _draft(joint, _labelled(joint, [dot(each, arm) for each in space.across(line)]), space, joint.first[0])


def _universal(joint: SpatialJoint, space: Space) -> Iterator[Draft]:
    """OA and OB keep their angle."""
    arms = [space.arm(*_pair(line), space.side(*line)) for line in (joint.first, joint.second)]
    lengths = [_length(_pair(line), joint, space) for line in (joint.first, joint.second)]
    row = dot(*arms)
    if joint.number.value != pi / 2:
        row = row - parameter("cosine", cos(joint.number.value) * lengths[0] * lengths[1])
    yield _draft(joint, _labelled(joint, [row]), space, joint.first[0])


def _cylinder(joint: SpatialJoint, space: Space) -> Iterator[Draft]:
    yield _draft(joint, _labelled(joint, _cylinder_rows(joint, space)), space, joint.first[0])


def _cylinder_rows(joint: SpatialJoint, space: Space) -> list[Formula]:
    """All four points on one line: those of the one on the line of the other, which has something across."""
    first, second = _pair(joint.first), _pair(joint.second)
    if space.has_directions(second):
        return on_line(first, second, space)
    _need_directions(first, joint, space)
    return on_line(second, first, space)


def _prism(joint: SpatialJoint, space: Space) -> Iterator[Draft]:
    """A cylinder that does not turn: E stays at its angle from the half-plane of F."""
    sine, cosine = _turned(joint.second[:2] + joint.first[2:], joint.second, space)
    angle = parameter("angle", joint.number.value) if joint.number.value else None
    row = sine if angle is None else turn_row(angle, sine, cosine)
    yield _draft(joint, _labelled(joint, [*_cylinder_rows(joint, space), row]), space, joint.first[0])


def _screw(joint: SpatialJoint, space: Space) -> Iterator[Draft]:
    """A cylinder, and a thread: the way along it and the turn go together from where they start."""
    yield _draft(joint, _labelled(joint, _cylinder_rows(joint, space)), space, joint.first[0])
    quantities, line = space.quantities, _pair(joint.second)
    home, side = space.side(*line), space.side(*joint.first[:2])
    arm = quantities.point(joint.first[0], side) - quantities.point(line[0], home)
    way = dot(arm, space.arm(*line, home)) / parameter("length", _length(line, joint, space))
    turn = coordinate(quantities.layout.angles[angle_key(*screw_angle(joint))])
    row = way - parameter("pitch", joint.number.value / (2 * pi)) * turn - parameter(PHASE, 0.0)
    thread = _draft(joint, [(f"thread_{joint.name}", row)], space, joint.first[0])
    thread.phased = True
    yield thread


def _pair(points: Sequence[str]) -> Pair:
    return points[0], points[1]


def _length(line: Pair, joint: SpatialJoint, space: Space) -> float:
    length = space.quantities.fixed_distance(*line)
    if length is None:
        message = f"{_title(joint)}: no part has both {line[0]} and {line[1]}"
        raise SpecError(Fault(message, joint.mark, "a line of a joint is one of a part, or of fixed points"))
    return length


def _need_directions(line: Pair, joint: SpatialJoint, space: Space) -> None:
    if not space.has_directions(line):
        message = f"{_title(joint)}: {''.join(line)} is a line of no body, so nothing is across it"
        raise SpecError(
            Fault(message, joint.mark, "one of its lines must have two fixed points, or be on a part of three")
        )


# --- angles


def _refuse_points_on_axis(plane: Sequence[str], mark: Mark | None, space: Space) -> None:
    """A point on the axis tells no half-plane."""
    part = space.body(*plane)
    known = space.frame(part).local(*plane) if part else space.fixed(plane)
    if known and collinear(*known):
        message = f"{plane[2]} is on the line {plane[0]}{plane[1]}, so it tells no half-plane about it"
        raise SpecError(Fault(message, mark, "name a point beside the axis"))


def _turned(turning: Sequence[str], still: Sequence[str], space: Space) -> tuple[Formula, Formula]:
    """Sine and cosine of the angle between two half-planes, times a length."""
    for plane in (turning, still):
        _refuse_points_on_axis(plane, None, space)
    quantities, line = space.quantities, _pair(still)
    home = space.side(*still) or space.side(*line)
    away = space.side(*turning) or space.side(turning[2])
    base = away if away and turning[0] in quantities.rigids[away].points else home
    arm = quantities.point(turning[2], away) - quantities.point(turning[0], base)
    own = home if not home or still[2] in quantities.rigids[home].points else space.side(still[2])
    zero = quantities.point(still[2], own) - quantities.point(still[0], home)
    length = quantities.fixed_distance(*line)
    measured = sqrt(square(space.arm(*line, home))) if length is None else parameter("length", length)
    return turned_components(space.arm(*line, home), formula(measured), arm, zero)


def _angles(space: Space) -> Iterator[Draft]:
    """The rows that define turn angles. What acts by them on a part is felt where a joint holds it on the axis."""
    spec = space.quantities.spec
    marks, axles = marks_of_angles(spec), Axles(spec)
    for key, slot in space.quantities.layout.angles.items():
        turning, still = half_planes(key)
        row = turn_row(coordinate(slot), *_turned(turning, still, space))
        draft = Draft(
            key.replace("_", "-"), marks.get(key), constraints=[(f"turn_{key}", row)], origin=Origin("angle", key)
        )
        grips = space.held(draft, turning[0]).grips
        draft.grips = [replace(grip, place=Place(axles.place(turning, grip.part))) for grip in grips]
        yield draft


def add_gears(quantities: Quantities, book: Book) -> None:
    """r theta_1 + R theta_2 stays as it starts, both turns measured on what carries the axes."""
    space = Space(quantities)
    for gear in quantities.spec.actions.gears:
        turns = [_turn_on_carrier(wheel, gear, space, book) for wheel in (gear.part, gear.other)]
        radii = [parameter("r", gear.radius.value), parameter("R", gear.other_radius.value)]
        row = radii[0] * turns[0] + radii[1] * turns[1] - parameter(PHASE, 0.0)
        name = f"{gear.part},{gear.other}"
        book.add(Draft(name, gear.mark, constraints=[(f"gear_{name}", row)], phased=True, origin=Origin("gear", name)))


def _turn_on_carrier(wheel: str, gear: Gear, space: Space, book: Book) -> Formula:
    """A turn of a wheel about the line of its first two points, from a direction across it that the carrier has."""
    quantities, (start, end, beside) = space.quantities, space.quantities.rigids[wheel].points[:3]
    home = gear.carrier or GROUND
    slot = book.variable(f"turn_{wheel}", f"turn of {wheel}", "angle", 1.0)
    line, length = (start, end), quantities.fixed_distance(start, end)
    zero = _across_on(home, line, space)
    arm = quantities.point(beside, wheel) - quantities.point(start, wheel)
    sine, cosine = turned_components(space.arm(*line, home), parameter("length", length or 1.0), arm, zero)
    draft = Draft(wheel, gear.mark, constraints=[(f"turn_{wheel}", turn_row(coordinate(slot), sine, cosine))])
    draft.origin = Origin("angle", wheel)
    book.add(space.held(draft, start))
    return coordinate(slot)


def _across_on(home: str, line: Pair, space: Space) -> Arrow:
    if home:
        frame = space.frame(home)
        start, end = frame.local(*line)
        return frame.direction("zero", across([unit(end - start)])[0])
    return space.across(line)[0]


# --- planes, and what rolls on them


def _plane(joint: SpatialJoint, space: Space) -> Iterator[Draft]:
    """Each of the points at its height over the plane."""
    plane, quantities = joint.second, space.quantities
    home, side = space.body(*plane), space.side(*joint.first) if len(joint.first) > 1 else GROUND
    if joint.number.value and not (home or quantities.layout.is_fixed(*plane)):
        message = f"{_title(joint)} has an offset, but its three points are neither fixed nor on one body"
        raise SpecError(Fault(message, joint.mark, "leave the offset out, or name three points of one part"))
    normal = space.normal((plane[0], plane[1], plane[2]), joint.mark)
    base = quantities.point(plane[0], home)
    rows = [dot(normal, quantities.point(point, side) - base) for point in joint.first]
    if joint.number.value:
        rows = [row - parameter("offset", joint.number.value) for row in rows]
    yield _draft(joint, _labelled(joint, rows), space, joint.first[0])


def _rolling_plane(joint: SpatialJoint, space: Space) -> tuple[Arrow, list[Arrow], list[Arrow]]:
    """The normal of a plane at rest, two directions in it, and the axes of the body that rolls, the first along AB."""
    quantities = space.quantities
    if not quantities.layout.is_fixed(*joint.second):
        moving = [name for name in joint.second if not quantities.layout.is_fixed(name)]
        are = "is" if len(moving) == 1 else "are"
        message = f"{_title(joint)}: the plane {''.join(joint.second)} moves: {listed(moving)} {are} not fixed"
        raise SpecError(Fault(message, joint.mark, "it rolls only on planes of three fixed points"))
    frame = space.body_with(joint.first, _title(joint), joint.mark)
    normal = space.normal((joint.second[0], joint.second[1], joint.second[2]), joint.mark)
    a, b, c = (quantities.layout.fixed_position(name) for name in joint.second)
    flat = _flat_directions(a, b, c)
    start, end = frame.local(*joint.first[:2])
    own = [unit(end - start), *across([unit(end - start)])]
    axes = [frame.direction(f"axis{n}", each) for n, each in enumerate(own)]
    rates = [frame.turning(f"axis{n}", each) for n, each in enumerate(own)]
    return normal, flat, [*axes, *rates]


def _flat_directions(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> list[Arrow]:
    up = unit(vector_product(vector(b) - vector(a), vector(c) - vector(a)))
    return [constant_arrow(f"flat{n}", each) for n, each in enumerate(across([up]))]


def _disc(joint: SpatialJoint, space: Space) -> Iterator[Draft]:
    """The lowest point of the rim is on the plane, and its matter there is at rest. With u and w across the axis the
    rim is lowest along -((n.u) u + (n.w) w) / s, s the length of that vector."""
    normal, flat, axes = _rolling_plane(joint, space)
    radius, body = parameter("r", joint.number.value), space.body(*joint.first)
    heights = [dot(normal, each) for each in axes[1:SPACE]]
    steep = sqrt(heights[0] ** 2 + heights[1] ** 2)
    height = _height(joint, normal, space) - radius * steep
    down = axes[4] * heights[0] + axes[5] * heights[1]
    speed = space.quantities.velocity(joint.first[0], body) - down * (radius / steep)
    rolling = [(f"roll{n}_{joint.name}", dot(each, speed)) for n, each in enumerate(flat, start=1)]
    yield _draft(joint, _labelled(joint, [height]), space, joint.first[0], rolling)


def _ball(joint: SpatialJoint, space: Space) -> Iterator[Draft]:
    """The centre stays at its radius over the plane, and the matter below it is at rest."""
    normal, flat, axes = _rolling_plane(joint, space)
    radius, body = parameter("r", joint.number.value), space.body(*joint.first)
    down = axes[3] * dot(normal, axes[0]) + axes[4] * dot(normal, axes[1]) + axes[5] * dot(normal, axes[2])
    speed = space.quantities.velocity(joint.first[0], body) - down * radius
    rolling = [(f"roll{n}_{joint.name}", dot(each, speed)) for n, each in enumerate(flat, start=1)]
    height = _height(joint, normal, space) - radius
    yield _draft(joint, _labelled(joint, [height]), space, joint.first[0], rolling)


def _height(joint: SpatialJoint, normal: Arrow, space: Space) -> Formula:
    quantities, body = space.quantities, space.body(*joint.first)
    return dot(normal, quantities.point(joint.first[0], body) - quantities.point(joint.second[0]))


def _skate(skate: Skate, space: Space) -> Draft:
    """The point does not move across the blade."""
    name = f"{skate.point},{skate.part}"
    direction = unit(vector(each.value for each in skate.across))
    row = dot(
        space.frame(skate.part).direction("across", direction), space.quantities.velocity(skate.point, skate.part)
    )
    draft = Draft(name, skate.mark, nonholonomic=[(f"skate_{name}", row)], origin=Origin("skate", name))
    return space.held(draft, skate.point)


# --- directions


def _coupling(joint: SpatialJoint, space: Space) -> Iterator[Draft]:
    """Shafts OA and OB that turn alike: with p to the side of C and q across it, and as well on the other shaft, the
    parts are turned into each other about an axis across both shafts where p . q' = q . p'."""
    p, q = _shaft(joint, joint.first, 1.0, space)
    p_other, q_other = _shaft(joint, joint.second, -1.0, space)
    yield _draft(joint, _labelled(joint, [dot(p, q_other) - dot(q, p_other)]), space, joint.first[0])


def _shaft(joint: SpatialJoint, points: Sequence[str], sense: float, space: Space) -> tuple[Arrow, Arrow]:
    frame = space.body_with(points, _title(joint), joint.mark)
    start, end, beside = frame.local(*points)
    along = unit(end - start) * sense
    arm = beside - start
    side = unit(arm - along * dot(arm, along))
    return frame.direction("side", side), frame.direction("across", vector_product(along, side))


def _weld(weld: Weld, space: Space) -> Draft:
    """The axes of both parts stay along each other."""
    name = f"{weld.part},{weld.other}"
    shared = [
        point
        for point in space.quantities.rigids[weld.part].points
        if point in space.quantities.rigids[weld.other].points
    ]
    own, other = (
        [space.frame(part).direction(f"axis{n}", axis(n, SPACE)) for n in range(SPACE)]
        for part in (weld.part, weld.other)
    )
    rows = [dot(own[n], other[(n + 1) % SPACE]) for n in range(SPACE)]
    labelled = list(zip(labels(f"weld_{name}", SPACE), rows, strict=True))
    draft = Draft(name, weld.mark, constraints=labelled, origin=Origin("weld", name))
    return space.held(draft, shared[0])


JOINTS: Mapping[str, Callable[[SpatialJoint, Space], Iterator[Draft]]] = {
    "hinge": _hinge,
    "universal": _universal,
    "cylinder": _cylinder,
    "prism": _prism,
    "screw": _screw,
    "plane": _plane,
    "coupling": _coupling,
    "disc": _disc,
    "ball": _ball,
}
