"""The Joints section: what holds points and parts beyond pins, and what rolls."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.actions import Curve, Gear, Rolling, Rope, Skate, Slider, Slot, Term, Weld
from mechsim.spec.document import Number
from mechsim.spec.loads import force_name, rigid_parts, torque_name
from mechsim.spec.names import AXES, POINT, SPACE, point_of, points_of
from mechsim.spec.nodes import DictNode, Node
from mechsim.spec.parameters import check_parameter_name
from mechsim.spec.records import Entry, Field, Named, Record, ShortOrLong
from mechsim.spec.scope import POSITION, VELOCITY, Scope, StateExpression, reference_points
from mechsim.spec.shapes import Quantity, Reading, Schema, Text, Vector
from mechsim.spec.space_joints import build_space_joints, refused_in
from mechsim.spec.suggest import listed

PART = f"({POINT})+"
NAME = r"[^\W\d]\w*"
ON_LINE = f"{PART}-{POINT}{POINT}"
PAIR = f"{PART}-{PART}"


class CurveShape:
    """`F(x, y)`, or `{x: ..., y: ..., s: start}`."""

    def read(self, node: Node, reading: Reading, label: str) -> dict[str, Any]:
        if isinstance(node, DictNode):
            return PARAMETRIC.read(node, reading, label)
        return {"implicit": StateExpression().read(node, reading, label)}

    def schema(self) -> Schema:
        return {"anyOf": [StateExpression().schema(), PARAMETRIC.schema()]}


def _rope_name(name: str, mark: Mark) -> None:
    points = re.findall(POINT, name)
    if "".join(points) != name or len(points) < 2:
        raise SpecError(Fault(f"`{name}` is not a rope: write its points together, as ABC", mark))
    if any(a == b for a, b in pairwise(points)):
        raise SpecError(Fault(f"the rope {name} runs from a point to itself", mark))


class AcrossBlade:
    """An angle in the plane; in space a direction."""

    def read(self, node: Node, reading: Reading, label: str) -> Any:
        if reading.dimension != SPACE:
            return Quantity().read(node, reading, label)
        return Vector().read(node, reading, label)

    def schema(self) -> Schema:
        return {"anyOf": [Quantity().schema(), Vector().schema()]}


PARAMETRIC = Record(
    {
        "x": Field(StateExpression(), "x as an expression in s", required=True),
        "y": Field(StateExpression(), "y as an expression in s", required=True),
        "z": Field(StateExpression(), "z as an expression in s, in space"),
        "s": Field(Quantity(), "s to start from; 0 if omitted"),
    }
)
ANGLE = Field(Quantity(), "the angle between them, rad")
OFFSET = {"offset": Field(Quantity(), "distance to the left of the line, m; 0 if omitted")}
SLIDER = ShortOrLong({**OFFSET, "angle": Field(Quantity(), "angle from the line to the part, rad; 0 if omitted")})
SLOT = ShortOrLong(OFFSET)
PISTON = ShortOrLong({"mass": Field(Quantity(least=0), "mass of the piston, kg", required=True), **OFFSET})
GEAR = ShortOrLong(
    {
        "r": Field(Quantity(), "radius of the first part, m", required=True),
        "R": Field(Quantity(), "radius of the second, m; negative: a ring around the first", required=True),
        "carrier": Field(Text(rf"^{PART}$", "a part"), "the part that carries both centres; the world if omitted"),
    }
)
EXPRESSIONS = Named(StateExpression(), check_parameter_name, NAME)
JOINTS = Record(
    {
        "Sliders": Field(
            Named(SLIDER, torque_name, PAIR),
            "parts that slide on a line: {CD-AB: [offset, angle]}; in space {CDE-ABF: {angle: 0}}",
            False,
            True,
        ),
        "Slots": Field(Named(SLOT, torque_name, ON_LINE), "points that slide on a line: {C-AB: [offset]}", False, True),
        "Pistons": Field(
            Named(PISTON, torque_name, ON_LINE),
            "points with mass on a line: {B-OR: [m, offset]}",
            False,
            True,
        ),
        "Curves": Field(
            Named(CurveShape(), point_of, POINT),
            "points on curves: {P: F(x,y)}, or {P: {x: x(s), y: y(s), s: start}}",
            may_be_empty=True,
        ),
        "Ropes": Field(Named(Quantity(least=0), _rope_name, PART), "ropes over points: {ABC: length}", False, True),
        "Gears": Field(
            Named(GEAR, torque_name, f"{PART}-{PART}"), "gear pairs: {OA-BC: [r, R, carrier]}", may_be_empty=True
        ),
        "Racks": Field(
            Named(Quantity(), torque_name, f"{PART}-{PART}"), "pinions on racks: {OA-BC: r}", may_be_empty=True
        ),
        "Wheels": Field(
            Named(Quantity(), torque_name, PAIR),
            "wheels rolling on lines: {OA-PQ: r}; in space discs on planes: {ABC-KLM: r}, AB the axis",
            may_be_empty=True,
        ),
        "Balls": Field(
            Named(Quantity(), torque_name, PAIR), "in space balls rolling on planes: {ABC-KLM: r}", may_be_empty=True
        ),
        "Hinges": Field(
            Named(ShortOrLong({}), torque_name, PAIR), "in space one line of two parts: {AB-AC: []}", may_be_empty=True
        ),
        "Universals": Field(
            Named(ShortOrLong({"angle": ANGLE}), torque_name, PAIR),
            "in space two axes of a cross: {OA-OB: [angle]}; a right angle if omitted",
            may_be_empty=True,
        ),
        "Cylinders": Field(
            Named(ShortOrLong({}), torque_name, PAIR),
            "in space a line that slides and turns on another: {CD-AB: []}",
            may_be_empty=True,
        ),
        "Screws": Field(
            Named(Quantity(), torque_name, PAIR),
            "in space threads: {CDE-ABF: pitch}, m a turn, of CD on AB",
            may_be_empty=True,
        ),
        "Planes": Field(
            Named(SLOT, torque_name, PAIR), "in space points on a plane: {P-ABF: [offset]}, {CDE-ABF: []}", False, True
        ),
        "Couplings": Field(
            Named(ShortOrLong({}), torque_name, PAIR),
            "in space shafts OA and OB that turn alike: {OAC-OBD: []}",
            may_be_empty=True,
        ),
        "Welds": Field(
            Named(ShortOrLong({"angle": ANGLE}), torque_name, PAIR),
            "parts that do not turn on each other: {BC-AB: [angle]}, from AB to BC; 0 if omitted",
            may_be_empty=True,
        ),
        "Surfaces": Field(
            Named(StateExpression(), point_of, POINT), "in space points on surfaces: {P: F(x,y,z)}", may_be_empty=True
        ),
        "Skates": Field(
            Named(AcrossBlade(), force_name, rf"{PART}\.{POINT}"),
            "blades: {AB.A: angle in the part}; in space {ABC.A: [x, y, z]}, the direction across",
            may_be_empty=True,
        ),
        "Holonomic": Field(EXPRESSIONS, "expressions of positions and time that stay zero", may_be_empty=True),
        "Nonholonomic": Field(EXPRESSIONS, "expressions with velocities that stay zero", may_be_empty=True),
    }
)


def build_joints(values: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """Fields of Actions."""

    def built(section: str, build: Callable[[Entry, str, Scope], Any]) -> tuple[Any, ...]:
        entries = [entry for entry in values.get(section, {}).values() if entry.value is not None]
        items = [scope.reading.attempt(build, entry, f"{section}.{entry.name}", scope) for entry in entries]
        return tuple(item for item in items if item is not None)

    in_space = scope.reading.dimension == SPACE
    refused_in(scope.reading.dimension, values, scope)
    return {
        "spatial": build_space_joints(values, scope) if in_space else (),
        "sliders": () if in_space else built("Sliders", _slider),
        "rollings": () if in_space else (*built("Wheels", _wheel), *built("Racks", _rack)),
        "slots": (*built("Slots", _slot), *built("Pistons", _slot)),
        "curves": (*built("Curves", curve_of), *(built("Surfaces", surface_of) if in_space else ())),
        "ropes": built("Ropes", _rope),
        "gears": built("Gears", _gear),
        "welds": built("Welds", _weld),
        "skates": built("Skates", _skate),
        "holonomic": built("Holonomic", lambda entry, user, scope: _term(entry, user, scope, POSITION)),
        "nonholonomic": built("Nonholonomic", lambda entry, user, scope: _term(entry, user, scope, VELOCITY)),
    }


def _on_line(entry: Entry, user: str, scope: Scope) -> tuple[str, tuple[str, str]] | None:
    """What stands before the dash, and the two points of the line after it."""
    name, dash, line = (piece.strip() for piece in entry.name.partition("-"))
    if not dash:
        hint = f"write {name}-AB for the line through A and B"
        raise SpecError(Fault(f"{user} names no line", entry.mark, hint))
    ends = reference_points(line, entry.mark)
    known = [scope.parts.known_point(point, entry.mark, user, scope.reading) for point in ends]
    return (name, ends) if all(known) else None


def _slider(entry: Entry, user: str, scope: Scope) -> Slider | None:
    found = _on_line(entry, user, scope)
    if not found or not scope.parts.known_rigid(found[0], entry.mark, user, scope.reading):
        return None
    zero = Number(0.0, "0", entry.mark)
    return Slider(*found, entry.value.get("offset", zero), entry.value.get("angle", zero), entry.mark)


def _slot(entry: Entry, user: str, scope: Scope) -> Slot | None:
    found = _on_line(entry, user, scope)
    if not found:
        return None
    point = point_of(found[0], entry.mark)
    if point in found[1]:
        raise SpecError(Fault(f"{user}: {point} is on the line already, for it is one of its ends", entry.mark))
    if not scope.parts.known_point(point, entry.mark, user, scope.reading):
        return None
    offset = entry.value.get("offset", Number(0.0, "0", entry.mark))
    if scope.reading.dimension == SPACE and offset.value:
        hint = "a line in space has no left: put the line where the point is"
        raise SpecError(Fault(f"{user} has an offset", offset.mark, hint))
    return Slot(point, found[1], offset, entry.mark)


def curve_of(entry: Entry, user: str, scope: Scope) -> Curve | None:
    known = scope.parts.known_point(entry.name, entry.mark, user, scope.reading)
    if entry.name in scope.parts.fixed_names:
        raise SpecError(Fault(f"{user}: {entry.name} is fixed in the world", entry.mark, "remove it"))
    values, zero, axes = entry.value, Number(0.0, "0", entry.mark), AXES[: scope.reading.dimension]
    if "implicit" in values:
        if len(axes) == SPACE:
            hint = "write it under Surfaces; a curve is {x: ..., y: ..., z: ..., s: start}"
            raise SpecError(Fault(f"{user}: one equation is a surface in space", entry.mark, hint))
        fine = scope.allows(values["implicit"], POSITION, user, dict.fromkeys(axes, POSITION))
        return Curve(entry.name, values["implicit"], None, zero, entry.mark) if known and fine else None
    if not set(axes) <= values.keys():
        missing = [axis for axis in axes if axis not in values]
        if missing == ["z"]:
            raise SpecError(Fault(f"{user} has no z, but the dimension is 3", entry.mark, "add z: an expression in s"))
        return None
    if "z" in values and "z" not in axes:
        raise SpecError(
            Fault(f"{user} has a z, but the dimension is 2", entry.mark, "remove it, or write Dimension: 3")
        )
    allowed = [scope.allows(values[axis], POSITION, f"{user}.{axis}", {"s": POSITION}) for axis in axes]
    place = tuple(values[axis] for axis in axes)
    return Curve(entry.name, None, place, values.get("s", zero), entry.mark) if known and all(allowed) else None


def surface_of(entry: Entry, user: str, scope: Scope) -> Curve | None:
    known = scope.parts.known_point(entry.name, entry.mark, user, scope.reading)
    fine = scope.allows(entry.value, POSITION, user, dict.fromkeys(AXES, POSITION))
    return Curve(entry.name, entry.value, None, Number(0.0, "0", entry.mark), entry.mark) if known and fine else None


def _weld(entry: Entry, user: str, scope: Scope) -> Weld | None:
    first, dash, second = (name.strip() for name in entry.name.partition("-"))
    if not dash:
        raise SpecError(Fault(f"{user} names one part, but a weld joins two", entry.mark, "write AB-BC"))
    known = [scope.parts.known_frame(part, entry.mark, user, scope.reading) for part in dict.fromkeys((first, second))]
    if not all(known):
        return None
    shared = set(scope.parts.rigid_points.get(first, ())) & set(scope.parts.rigid_points.get(second, ()))
    if first == second or not shared:
        hint = "a weld joins two parts that have a point in common"
        raise SpecError(Fault(f"{user}: {first} and {second} do not meet", entry.mark, hint))
    angle = entry.value.get("angle", Number(0.0, "0", entry.mark))
    if scope.reading.dimension == SPACE and angle.value:
        hint = "in space the axes of both parts have one direction: choose the Geom of one so"
        raise SpecError(Fault(f"{user} has an angle", angle.mark, hint))
    return Weld(first, second, angle, entry.mark)


def _rope(entry: Entry, user: str, scope: Scope) -> Rope | None:
    points = tuple(re.findall(POINT, entry.name))
    known = [scope.parts.known_point(point, entry.mark, user, scope.reading) for point in dict.fromkeys(points)]
    return Rope(points, entry.value, entry.mark) if all(known) else None


def _pair(entry: Entry, user: str, scope: Scope) -> tuple[str, str] | None:
    parts = rigid_parts(entry, user, scope)
    if parts and parts[1] is None:
        raise SpecError(Fault(f"{user} names one part, but two roll on each other", entry.mark, "write OA-BC"))
    return (parts[0], parts[1] or "") if parts else None


def _gear(entry: Entry, user: str, scope: Scope) -> Gear | None:
    pair, carrier = _pair(entry, user, scope), entry.value.get("carrier")
    for radius in (entry.value["r"], entry.value["R"]):
        if radius.value == 0:
            raise SpecError(Fault(f"{user}: a gear needs a radius", radius.mark))
    if not pair or (carrier and not scope.parts.known_rigid(carrier, entry.mark, user, scope.reading)):
        return None
    _check_centres(pair, carrier, entry, user, scope)
    return Gear(*pair, entry.value["r"], entry.value["R"], carrier, entry.mark)


def _check_centres(pair: tuple[str, str], carrier: str | None, entry: Entry, user: str, scope: Scope) -> None:
    """Gears turn about their first points, which the carrier or the world must hold at their distance; in space about
    the lines of their first two."""
    held = set(scope.parts.rigid_points.get(carrier, ())) if carrier else scope.parts.fixed_names
    where = f"not on the carrier {carrier}" if carrier else "neither fixed nor on a carrier"
    if scope.reading.dimension == SPACE:
        count, role, axis, both = 2, "on the axis", "the line of its first two points", "axes"
    else:
        count, role, axis, both = 1, "the centre", "its first point", "centres"
    hint = f"a gear turns about {axis}; name the part that carries both {both} as carrier"
    for part in pair:
        for centre in points_of(part, entry.mark)[:count]:
            if centre not in held and not scope.parts.names_lost:
                raise SpecError(Fault(f"{user}: {centre}, {role} of {part}, is {where}", entry.mark, hint))
        if len(points_of(part, entry.mark)) <= count:
            beside = "name a further point of the wheel, beside its axis"
            raise SpecError(Fault(f"{user}: nothing tells how {part} turns about its axis", entry.mark, beside))


def _wheel(entry: Entry, user: str, scope: Scope) -> Rolling | None:
    found = _on_line(entry, user, scope)
    if not found or not scope.parts.known_rigid(found[0], entry.mark, user, scope.reading):
        return None
    return Rolling(found[0], found[1], None, _radius(entry, user), entry.mark)


def _rack(entry: Entry, user: str, scope: Scope) -> Rolling | None:
    pair = _pair(entry, user, scope)
    if not pair:
        return None
    first, second = scope.parts.rigid_points.get(pair[1], points_of(pair[1], entry.mark))[:2]
    return Rolling(pair[0], (first, second), pair[1], _radius(entry, user), entry.mark)


def _radius(entry: Entry, user: str) -> Number:
    radius: Number = entry.value
    if radius.value == 0:
        raise SpecError(Fault(f"{user}: a wheel needs a radius", radius.mark))
    return radius


def _skate(entry: Entry, user: str, scope: Scope) -> Skate | None:
    part, _, point = (name.strip() for name in entry.name.rpartition("."))
    if not part:
        raise SpecError(Fault(f"{user} names no part", entry.mark, f"write AB.{point} for a blade on the part AB"))
    if not scope.parts.known_frame(part, entry.mark, user, scope.reading):
        return None
    if point not in scope.parts.rigid_points.get(part, (point,)):
        hint = f"{part} has the points {listed(scope.parts.rigid_points[part])}"
        raise SpecError(Fault(f"{user}: the point {point} is not on {part}", entry.mark, hint))
    if scope.reading.dimension == SPACE:
        if not any(number.value for number in entry.value):
            raise SpecError(Fault(f"{user}: a direction of length zero", entry.mark, "write the direction across"))
        return Skate(part, point, Number(0.0, "0", entry.mark), entry.mark, entry.value)
    return Skate(part, point, entry.value, entry.mark)


def _term(entry: Entry, user: str, scope: Scope, most: int) -> Term | None:
    if not scope.allows(entry.value, most, user):
        return None
    if scope.furthest(entry.value) < POSITION:
        raise SpecError(Fault(f"{user} does not depend on the mechanism", entry.mark))
    return Term(entry.name, entry.value, entry.mark)
