"""The keys of AppliedForces that may use time and state, and their records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.actions import (
    CentralGravity,
    Damper,
    Drag,
    Friction,
    PartTorque,
    SpringLaw,
    StateForce,
    StateTorque,
    Term,
    TorsionSpring,
)
from mechsim.spec.document import Number
from mechsim.spec.names import AXES, POINT, SPACE, point_of, points_of
from mechsim.spec.nodes import DictNode, ListNode, Node, TextNode, describe
from mechsim.spec.parameters import check_parameter_name
from mechsim.spec.parts import Parts
from mechsim.spec.records import Entry, Field, ListOf, Named, Record, ShortOrLong
from mechsim.spec.scope import POSITION, TIME, VELOCITY, Scope, StateExpression, reference_points
from mechsim.spec.shapes import Quantity, Reading, Schema, Shape, Vector, read_items, shown
from mechsim.spec.suggest import listed
from mechsim.spec.turning import known_angle, pair_advice

PART = f"({POINT})+"
NAME = r"[^\W\d]\w*"
BETWEEN = f"{PART}(-{PART})?"
TORQUE = rf"({PART}\.)?{BETWEEN}"


class Gravity:
    """The acceleration of gravity; an empty key switches on the terrestrial one, with the last axis upward. Or one
    towards a point."""

    def read(self, node: Node, reading: Reading, label: str) -> Any:
        if isinstance(node, DictNode):
            values = CENTRAL.read(node, reading, label)
            return {**values, "mark": node.mark} if len(values) == 2 else None
        if isinstance(node, TextNode) and not node.empty:
            # [9.81] would be padded to a gravity along x
            up = AXES[reading.dimension - 1]
            hint = f"write [{'0, ' * (reading.dimension - 1)}-{node.text.lstrip('+-')}], where +{up} is upward"
            raise SpecError(Fault(f"{label} must be a list of coordinates, not {describe(node)}", node.mark, hint))
        if not isinstance(node, TextNode):
            return Vector().read(node, reading, label)
        zeros = (Number(0.0, "0", node.mark),) * (reading.dimension - 1)
        return (*zeros, Number(-9.80665, "-9.80665", node.mark))

    def schema(self) -> Schema:
        return {"anyOf": [Vector().schema(), CENTRAL.schema(), {"type": "null"}]}


class Point:
    """The name of a point."""

    def read(self, node: Node, reading: Reading, label: str) -> str:
        if not isinstance(node, TextNode):
            raise SpecError(Fault(f"{label} must be the name of a point", node.mark))
        return point_of(node.text, node.mark)

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^{POINT}$"}


class TorqueShape:
    """One number or expression; in space also a list of three, a vector."""

    def __init__(self, shape: Shape):
        self.shape = shape

    def read(self, node: Node, reading: Reading, label: str) -> Any:
        if not isinstance(node, ListNode):
            return self.shape.read(node, reading, label)
        if reading.dimension != SPACE:
            raise SpecError(Fault(f"{label} must be one number: a torque of the plane", node.mark))
        items = read_items(node.items, reading, label, self.shape.read)
        if len(items) != SPACE:
            message = f"{label} has {len(items)} components, but a torque in space has three"
            raise SpecError(Fault(message, node.mark, "write all of [x, y, z], zeros too"))
        return list(items)

    def schema(self) -> Schema:
        vector = {"type": "array", "items": self.shape.schema(), "minItems": SPACE, "maxItems": SPACE}
        return {"anyOf": [self.shape.schema(), vector]}


def torque_name(name: str, mark: Mark) -> None:
    for part in name.split("-", 1):
        points_of(part.strip(), mark)


def any_torque_name(name: str, mark: Mark) -> None:
    """`OA`, `AB-OA`, or in space `OAB.OAB` for a vector in the frame of a part."""
    frame, dot, part = name.rpartition(".")
    if dot:
        points_of(frame.strip(), mark)
    torque_name(part, mark)


def force_name(name: str, mark: Mark) -> None:
    part, dot, point = name.rpartition(".")
    point_of(point.strip(), mark)
    if dot:
        points_of(part.strip(), mark)


CENTRAL = Record(
    {
        "mu": Field(Quantity(), "strength of a central field, m^3/s^2: the acceleration is mu/r^2", required=True),
        "centre": Field(Point(), "the point it pulls towards", required=True),
    }
)
SPRING_LAW = {
    "law": Field(StateExpression(), "further force or torque against s, an expression in s"),
    "energy": Field(StateExpression(), "further potential energy, an expression in s"),
}
TORSION = ShortOrLong(
    {
        "k": Field(Quantity(), "stiffness, N m/rad", required=True),
        "rest": Field(Quantity(), "angle at rest, rad; 0 if omitted"),
        "c": Field(Quantity(least=0), "damping, N m s/rad; 0 if omitted"),
    },
    SPRING_LAW,
)
DRAG = ShortOrLong(
    {
        "c": Field(Quantity(least=0), "linear drag, N s/m", required=True),
        "k": Field(Quantity(least=0), "quadratic drag, N s^2/m^2; 0 if omitted"),
        "v0": Field(
            Quantity(least=0),
            "speed below which quadratic drag becomes linear, m/s; 1e-5 of a typical one if omitted",
        ),
    }
)
FRICTION = ShortOrLong(
    {
        "mu": Field(StateExpression(), "coefficient of friction", required=True),
        "N": Field(StateExpression(), "load, N; the reaction of the slot, piston or pivot if omitted"),
        "v0": Field(
            Quantity(least=0),
            "speed at which friction is about 3/4 of its full value, m/s or rad/s; without it friction is exact",
        ),
        "r": Field(Quantity(least=0), "radius of the pivot, m; 1 if omitted"),
    },
    {
        "mu_s": Field(Quantity(least=0), "coefficient of what sticks, where mu is a number; mu if omitted"),
        "belt": Field(StateExpression(), "how fast the line runs along itself, m/s, an expression of time"),
    },
)
FIELDS = {
    "Torques": Field(
        Named(TorqueShape(StateExpression()), any_torque_name, TORQUE),
        "torques, N m, expressions of time and state: {OA: tau} or between two parts {AB-OA: tau}; in space about an "
        "axis {OCD-OCE: tau}, or a vector {ABC: [x, y, z]}, in a part's frame {ABC.ABC: [x, y, z]}",
        may_be_empty=True,
    ),
    "Forces": Field(
        Named(ListOf(StateExpression(), least=1), force_name, rf"({PART}\.)?{POINT}"),
        "forces, N, expressions of time and state: {A: [f_x, f_y]} or in a part's frame {OA.A: [f_x, f_y]}",
        may_be_empty=True,
    ),
    "Potentials": Field(
        Named(StateExpression(), check_parameter_name, NAME),
        "potential energies, J, expressions of positions and time",
        may_be_empty=True,
    ),
    "Dissipations": Field(
        Named(StateExpression(), check_parameter_name, NAME),
        "Rayleigh's dissipation functions, W, half the power they take",
        may_be_empty=True,
    ),
    "TorsionSprings": Field(
        Named(TORSION, torque_name, BETWEEN), "springs between parts: {AB-OA: [k, rest, c]}", may_be_empty=True
    ),
    "Dampers": Field(
        Named(Quantity(least=0), points_of, PART), "dampers between two points: {AB: c}, N s/m", may_be_empty=True
    ),
    "JointDampers": Field(
        Named(Quantity(least=0), torque_name, BETWEEN),
        "viscous pivots between parts: {AB-OA: c}, N m s/rad",
        may_be_empty=True,
    ),
    "Drag": Field(Named(DRAG, point_of, POINT), "drag at points: {A: [c, k, v0]}", may_be_empty=True),
    "Friction": Field(
        Named(FRICTION, torque_name, BETWEEN),
        "friction of a point on a line {C-AB: [mu, N, v0]}, or of a part on another {AB-OA: [mu, N, v0, r]}",
        may_be_empty=True,
    ),
}


def build_loads(values: Mapping[str, Any], springs: Mapping[str, Entry], scope: Scope) -> dict[str, Any]:
    """Fields of Actions. `values` are AppliedForces, `springs` those of PartData, which may have laws and dampers."""
    return {
        "torques": _built(_torque, "Torques", values, scope),
        "part_torques": _built(_part_torque, "Torques", values, scope),
        "forces": _built(_force, "Forces", values, scope),
        "potentials": _terms("Potentials", POSITION, values, scope),
        "dissipations": _terms("Dissipations", VELOCITY, values, scope),
        "torsion_springs": (
            *_built(_torsion_spring, "TorsionSprings", values, scope),
            *_built(_joint_damper, "JointDampers", values, scope),
        ),
        "dampers": _built(_damper, "Dampers", values, scope),
        "drags": _built(_drag, "Drag", values, scope),
        "frictions": _built(_friction, "Friction", values, scope),
        "spring_laws": _built(_spring_law, "Springs", {"Springs": springs}, scope),
        "central_gravity": _central(values.get("Gravity"), scope),
    }


def _built(build: Any, section: str, values: Mapping[str, Any], scope: Scope) -> tuple[Any, ...]:
    entries = [entry for entry in values.get(section, {}).values() if entry.value is not None]
    built = [scope.reading.attempt(build, entry, f"{section}.{entry.name}", scope) for entry in entries]
    return tuple(item for item in built if item is not None)


def _terms(section: str, most: int, values: Mapping[str, Any], scope: Scope) -> tuple[Term, ...]:
    entries = [entry for entry in values.get(section, {}).values() if entry.value is not None]
    allowed = [scope.allows(entry.value, most, f"{section}.{entry.name}") for entry in entries]
    return tuple(Term(e.name, e.value, e.mark) for e, fine in zip(entries, allowed, strict=True) if fine)


def two_parts(entry: Entry, user: str, scope: Scope) -> tuple[str, str | None] | None:
    """The parts of `OA` or `AB-OA`, both rigid, or in space two half-planes; None when a fault is recorded."""
    part, _, against = (name.strip() for name in entry.name.partition("-"))
    if scope.reading.dimension == SPACE:
        return (part, against) if known_angle(entry.name, entry.mark, user, scope.parts, scope.reading) else None
    return rigid_parts(entry, user, scope)


def rigid_parts(entry: Entry, user: str, scope: Scope) -> tuple[str, str | None] | None:
    """The rigid parts of `OA` or `AB-OA`; None when a fault is recorded."""
    part, _, against = (name.strip() for name in entry.name.partition("-"))
    known = [scope.parts.known_rigid(name, entry.mark, user, scope.reading) for name in (part, against) if name]
    if part == against:
        scope.reading.fault(f"{user} acts between {part} and itself", entry.mark)
        return None
    return (part, against or None) if all(known) else None


def movable(point: str, mark: Mark, user: str, scope: Scope) -> bool:
    """Whether a part has this point and it can move."""
    if not scope.parts.known_point(point, mark, user, scope.reading):
        return False
    if point in scope.parts.fixed_names:
        scope.reading.fault(f"{user} acts on {point}, which is fixed and cannot move", mark, "remove it")
    return point not in scope.parts.fixed_names


def one_number(entry: Entry, user: str, parts: Parts) -> SpecError:
    """Of a torque on a part in space that is no vector."""
    part = entry.name.rpartition(".")[2].strip()
    about = pair_advice(parts.rigid_points.get(part, ()), parts)
    hint = f"a torque on a part in space is a vector: write [x, y, z]; one number is about an axis: {about}"
    return SpecError(Fault(f"{user} is one number", entry.mark, hint))


def part_torque(entry: Entry, user: str, parts: Parts, reading: Reading) -> PartTorque | None:
    """A torque vector, in the world or in the frame of a part."""
    before, dash, after = (name.strip() for name in entry.name.partition("-"))
    if dash:
        named = set(points_of(before, entry.mark))
        part = next((name for name, points in parts.rigid_points.items() if named <= set(points)), before)
        message = f"{user} is a vector, but between {before} and {after} a torque is one number, about their axis"
        hint = f"write one number or expression; a vector is a torque on a part: {{{part}: [x, y, z]}}"
        reading.fault(message, entry.mark, hint)
        return None
    frame, _, part = (name.strip() for name in entry.name.rpartition("."))
    known = [parts.known_frame(name, entry.mark, user, reading) for name in dict.fromkeys((part, frame)) if name]
    return PartTorque(part, frame or None, tuple(entry.value), entry.mark) if all(known) else None


def _part_torque(entry: Entry, user: str, scope: Scope) -> PartTorque | None:
    if not isinstance(entry.value, list):
        return None
    fine = [scope.allows(component, VELOCITY, user, switches=True) for component in entry.value]
    return part_torque(entry, user, scope.parts, scope.reading) if all(fine) else None


def _torque(entry: Entry, user: str, scope: Scope) -> StateTorque | None:
    if isinstance(entry.value, list):
        return None
    if scope.reading.dimension == SPACE and "-" not in entry.name:
        raise one_number(entry, user, scope.parts)
    parts = two_parts(entry, user, scope)
    fine = scope.allows(entry.value, VELOCITY, user, switches=True)
    return StateTorque(*parts, entry.value, entry.mark) if parts and fine else None


def _force(entry: Entry, user: str, scope: Scope) -> StateForce | None:
    part, _, point = (name.strip() for name in entry.name.rpartition("."))
    if part and not scope.parts.known_frame(part, entry.mark, user, scope.reading):
        return None
    if not movable(point, entry.mark, user, scope):
        return None
    if part and point not in scope.parts.rigid_points.get(part, (point,)):
        hint = f"{part} has the points {listed(scope.parts.rigid_points[part])}"
        raise SpecError(Fault(f"{user}: the point {point} is not on {part}", entry.mark, hint))
    if len(entry.value) > scope.reading.dimension:
        message = f"{user} has {len(entry.value)} coordinates, but the dimension is {scope.reading.dimension}"
        raise SpecError(Fault(message, entry.mark))
    fine = [scope.allows(component, VELOCITY, user, switches=True) for component in entry.value]
    return StateForce(point, part or None, tuple(entry.value), entry.mark) if all(fine) else None


def _laws(entry: Entry, user: str, scope: Scope) -> bool:
    law, energy = entry.value.get("law"), entry.value.get("energy")
    fine = scope.allows(law, VELOCITY, f"{user}.law", {"s": POSITION, "v": VELOCITY})
    return scope.allows(energy, POSITION, f"{user}.energy", {"s": POSITION}) and fine


def _torsion_spring(entry: Entry, user: str, scope: Scope) -> TorsionSpring | None:
    parts = two_parts(entry, user, scope)
    if not _laws(entry, user, scope) or not parts:
        return None
    zero, values = Number(0.0, "0", entry.mark), entry.value
    numbers = (values["k"], values.get("rest", zero), values.get("c", zero))
    return TorsionSpring(*parts, *numbers, values.get("law"), values.get("energy"), entry.mark)


def _joint_damper(entry: Entry, user: str, scope: Scope) -> TorsionSpring | None:
    parts, zero = two_parts(entry, user, scope), Number(0.0, "0", entry.mark)
    return TorsionSpring(*parts, zero, zero, entry.value, None, None, entry.mark) if parts else None


def _spring_law(entry: Entry, user: str, scope: Scope) -> SpringLaw | None:
    if not entry.value.keys() & {"c", "law", "energy"} or not _laws(entry, user, scope):
        return None
    damping = entry.value.get("c", Number(0.0, "0", entry.mark))
    ends = reference_points(entry.name, entry.mark)
    values = entry.value
    return SpringLaw(ends, values["l"], damping, values.get("law"), values.get("energy"), entry.mark)


def _damper(entry: Entry, user: str, scope: Scope) -> Damper | None:
    points = reference_points(entry.name, entry.mark)
    known = [scope.parts.known_point(point, entry.mark, user, scope.reading) for point in points]
    return Damper(points, entry.value, entry.mark) if all(known) else None


def _drag(entry: Entry, user: str, scope: Scope) -> Drag | None:
    if not movable(entry.name, entry.mark, user, scope):
        return None
    zero, values = Number(0.0, "0", entry.mark), entry.value
    return Drag(entry.name, values["c"], values.get("k", zero), values.get("v0", zero), entry.mark)


def _friction(entry: Entry, user: str, scope: Scope) -> Friction | None:
    values, one = entry.value, Number(1.0, "1", entry.mark)
    fine = [scope.allows(values.get(key), VELOCITY, f"{user}.{key}") for key in ("mu", "N")]
    fine.append(scope.allows(values.get("belt"), TIME, f"{user}.belt"))
    slow = values.get("v0")
    if slow is not None and slow.value <= 0:
        hint = "leave it out, and what sticks does so exactly"
        raise SpecError(Fault(f"{user} has v0: {shown(slow)}, but a speed is above zero", entry.mark, hint))
    known_now = scope.reading.environment
    if set(values["mu"].names) <= known_now.keys() and values["mu"].evaluate(known_now) < 0:
        message = f"{user}.mu is {values['mu'].text.strip()}, but must not be negative"
        raise SpecError(Fault(message, values["mu"].mark, "friction acts against the motion by itself"))
    first, dash, second = (name.strip() for name in entry.name.partition("-"))
    common: tuple[Any, ...] = (values["mu"], values.get("N"), values.get("r", one), slow, entry.mark)
    common = (*common, _static(values, user, entry.mark, scope), values.get("belt"))
    if "belt" in values and (slow is not None or len(points_of(first, entry.mark)) > 1):
        raise SpecError(Fault(f"{user} has a belt, which is for a point on a line, without v0", entry.mark))
    if len(points_of(first, entry.mark)) > 1:
        parts = two_parts(entry, user, scope)
        return Friction(entry.name, None, None, *parts, *common) if parts and all(fine) else None
    if not dash:
        raise SpecError(Fault(f"{user} names no line", entry.mark, f"write {first}-AB for friction along the line AB"))
    line = reference_points(second, entry.mark)
    known = [scope.parts.known_point(point, entry.mark, user, scope.reading) for point in (first, *line)]
    return Friction(entry.name, first, line, None, None, *common) if all(known) and all(fine) else None


def _static(values: Mapping[str, Any], user: str, mark: Mark, scope: Scope) -> float:
    """mu_s over mu. Raises SpecError."""
    if "mu_s" not in values:
        return 1.0
    known = scope.reading.environment
    if values.get("v0") is not None or not set(values["mu"].names) <= known.keys():
        hint = "it is for friction without v0, beside a mu that is a number"
        raise SpecError(Fault(f"{user} has mu_s, which does not belong here", mark, hint))
    kinetic, static = values["mu"].evaluate(known), values["mu_s"].value
    if not static >= kinetic > 0:
        message = f"{user}.mu_s is {shown(values['mu_s'])}, which is less than mu, or mu is zero"
        raise SpecError(Fault(message, mark, "what sticks holds at least as much as what slides"))
    return static / kinetic


def _central(value: Any, scope: Scope) -> CentralGravity | None:
    if not isinstance(value, Mapping):
        return None
    scope.parts.known_point(value["centre"], value["mark"], "Gravity.centre", scope.reading)
    return CentralGravity(value["mu"], value["centre"], value["mark"])
