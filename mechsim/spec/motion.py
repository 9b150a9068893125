"""Drives, Controllers and Output. Drives and controllers are keyed by the quantity they move: `theta_OA`, `A.x`,
`theta_AB-theta_OA`, `dist(A,B)`, or a point `A` for both its coordinates."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.actions import Controller, Drive, Output
from mechsim.spec.expression import Expression, parse_expression
from mechsim.spec.loads import Point
from mechsim.spec.names import AXES, POINT, SPACE, Coordinate, Distance, points_of, reference
from mechsim.spec.nodes import ListNode, Node, TextNode, describe
from mechsim.spec.records import Entry, Field, ListOf, Named, Record
from mechsim.spec.scope import CONSTANT, POSITION, TIME, VELOCITY, Scope, StateExpression
from mechsim.spec.shapes import Quantity, Reading, Schema, Text
from mechsim.spec.suggest import did_you_mean, listed

QUANTITY = r"[^:]+"
PART = f"({POINT})+"
ALL = "all"
COUNTS = ("no", "one", "two", "three")


class OneOrTwo:
    """An expression, or a list of two for the coordinates of a point. Reads to a tuple of expressions."""

    def read(self, node: Node, reading: Reading, label: str) -> tuple[Expression, ...]:
        if isinstance(node, ListNode):
            return tuple(ListOf(StateExpression(), least=1).read(node, reading, label))
        return (StateExpression().read(node, reading, label),)

    def schema(self) -> Schema:
        expression = StateExpression().schema()
        return {"anyOf": [expression, {"type": "array", "items": expression, "maxItems": 2}]}


def _quantity_name(name: str, mark: Mark) -> None:
    parse_expression(name, mark, state=True)


GAIN = StateExpression()
CONTROLLER = Record(
    {
        "target": Field(OneOrTwo(), "where the quantity should be, an expression; [x, y] for a point", required=True),
        "kp": Field(GAIN, "proportional gain", required=True),
        "kd": Field(GAIN, "gain of the rate"),
        "ki": Field(GAIN, "gain of the integral"),
        "limit": Field(Quantity(least=0), "largest output: limit*tanh(u/limit)"),
        "feedforward": Field(StateExpression(), "added to the output, as gravity compensation"),
        "period": Field(Quantity(least=0), "sampling period, s: the output is held in between"),
        "measure": Field(StateExpression(), "what is compared with the target; the quantity itself if omitted"),
        "rate": Field(StateExpression(), "its rate"),
        "target_rate": Field(StateExpression(), "the rate of the target; 0 if omitted"),
    }
)


class PointsOrAll:
    """A list of points, or the word `all`, which reads to ["all"]: no point can have that name."""

    def read(self, node: Node, reading: Reading, label: str) -> Any:
        items = node.items if isinstance(node, ListNode) else [node]
        if len(items) == 1 and isinstance(items[0], TextNode) and items[0].text == ALL:
            return [ALL]
        return ListOf(Point()).read(node, reading, label)

    def schema(self) -> Schema:
        return {"anyOf": [ListOf(Point()).schema(), {"const": ALL}]}


class MovingOrAll:
    """A list of points and turn angles, or the word `all`, which reads to ["all"]."""

    def read(self, node: Node, reading: Reading, label: str) -> list[str]:
        named = node if isinstance(node, ListNode) else ListNode(node.mark, [node])
        return [name.strip() for name in ListOf(Text()).read(named, reading, label)]

    def schema(self) -> Schema:
        return {"anyOf": [ListOf(Text()).schema(), {"const": ALL}]}


class OneOrMoreWays:
    """`quaternion`, `zxz`, or a list of such."""

    def read(self, node: Node, reading: Reading, label: str) -> list[str]:
        return [self._way(item, label) for item in (node.items if isinstance(node, ListNode) else [node])]

    def _way(self, node: Node, label: str) -> str:
        word = node.text.strip() if isinstance(node, TextNode) else ""
        turns = len(word) == 3 and set(word) <= set(AXES) and word[0] != word[1] != word[2]
        if word != "quaternion" and not turns:
            hint = "write quaternion, or the axes of Euler angles: zxz, xyz, ..."
            raise SpecError(Fault(f"{label} is {describe(node)}", node.mark, hint))
        return word

    def schema(self) -> Schema:
        way = {"type": "string", "pattern": "^(quaternion|[xyz]{3})$"}
        return {"anyOf": [way, {"type": "array", "items": way}]}


MOVING = ("accelerations", "jerks")  # what may be asked of points and turn angles
OUTPUT = Record(
    {
        "reactions": Field(PointsOrAll(), "points whose joint reactions are written, or all", may_be_empty=True),
        "signals": Field(ListOf(Text()), "signals whose values are written", may_be_empty=True),
        "orientations": Field(
            Named(OneOrMoreWays(), points_of, PART),
            "how parts stand in space: {ABC: quaternion}, or Euler angles {ABC: zxz}, or a list of both",
            may_be_empty=True,
        ),
        "spins": Field(
            ListOf(Text()),
            "angular velocities of parts in space: [ABC], about its own axes [ABC.ABC]",
            may_be_empty=True,
        ),
        "accelerations": Field(
            MovingOrAll(),
            "points and turn angles whose accelerations are written: [A, theta_OA], or all",
            may_be_empty=True,
        ),
        "jerks": Field(
            MovingOrAll(),
            "points and turn angles whose jerk, the rate of acceleration, is written: [A, theta_OA], or all",
            may_be_empty=True,
        ),
    }
)
SECTIONS = {
    "Drives": Field(
        Named(OneOrTwo(), _quantity_name, QUANTITY),
        "prescribed motion: {theta_OA: 2*pi*t}, of positions or of speeds",
        may_be_empty=True,
    ),
    "Controllers": Field(
        Named(CONTROLLER, _quantity_name, QUANTITY),
        "controllers: {theta_OA: {target: ..., kp: ..., kd: ..., ki: ...}}",
        may_be_empty=True,
    ),
    "Output": Field(OUTPUT, "further columns: reactions, signals, accelerations, jerks", may_be_empty=True),
}


def build_motion(values: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """Fields of Actions."""
    drives = [scope.reading.attempt(_drives, entry, scope) for entry in values.get("Drives", {}).values()]
    controllers = [
        scope.reading.attempt(_controllers, entry, scope) for entry in values.get("Controllers", {}).values()
    ]
    return {
        "drives": tuple(drive for found in drives for drive in found or ()),
        "controllers": tuple(controller for found in controllers for controller in found or ()),
    }


def build_output(values: Mapping[str, Any], place: Mark, scope: Scope) -> Output:
    """`place` is where the section stands."""
    for point in values.get("reactions", ()):
        if point != ALL:
            scope.parts.known_point(point, place, "Output.reactions", scope.reading)
    for name in values.get("signals", ()):
        if name not in scope.functions and name not in scope.broken:
            hint = did_you_mean(name, scope.functions) or "define it in Signals"
            scope.reading.fault(f"Output.signals names {name}, which is no signal", place, hint)
    moving = {key: tuple(values.get(key, ())) for key in MOVING}
    points, rigids = scope.parts.on_parts | scope.parts.fixed_names, scope.parts.rigid_points
    if not scope.parts.names_lost:
        turning = None if scope.reading.dimension == SPACE else rigids
        for key, names in moving.items():
            scope.reading.record(moving_faults(names, points, turning, f"Output.{key}", place))
    return Output(
        tuple(values.get("reactions", ())),
        tuple(values.get("signals", ())),
        _attitudes(values, place, scope),
        **moving,
    )


def moving_faults(
    names: Iterable[str], points: Collection[str], rigids: Collection[str] | None, user: str, place: Mark | None
) -> list[Fault]:
    """Names that are neither a point nor a turn angle: of a rigid part or, where there are none for it, in space."""
    angles = [f"theta_{part}" for part in rigids or ()]
    example = "theta_OCD_OCE" if rigids is None else "theta_OA"
    faults = []
    for name in names:
        if name not in (ALL, *points, *angles) and not (rigids is None and _is_between(name, points)):
            hint = did_you_mean(name, [*points, *angles]) or f"write points, {listed(sorted(points))}, or {example}"
            faults.append(Fault(f"{user} names {name}, which is no point and no turn angle", place, hint))
    return faults


def _is_between(name: str, points: Collection[str]) -> bool:
    """Whether it is an angle in space, between half-planes of one axis."""
    sides = re.fullmatch(rf"theta_((?:{POINT}){{2}})({POINT})_\1({POINT})", name)
    return (
        sides is not None and sides[2] != sides[3] and {*re.findall(POINT, sides[1]), *sides.groups()[1:]} <= {*points}
    )


def _attitudes(values: Mapping[str, Any], place: Mark, scope: Scope) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    entries = [entry for entry in values.get("orientations", {}).values() if entry.value is not None]
    for entry in entries:
        if _is_body(entry.name, entry.mark, f"Output.orientations.{entry.name}", scope):
            found += [(entry.name, way) for way in entry.value]
    for name in values.get("spins", ()):
        frame, _, part = (each.strip() for each in name.rpartition("."))
        if frame not in ("", part):
            scope.reading.fault(
                f"Output.spins names {name}", place, f"write {part}, or {part}.{part} about its own axes"
            )
        elif _is_body(part, place, "Output.spins", scope):
            found.append((part, "own spin" if frame else "spin"))
    return tuple(found)


def _is_body(part: str, mark: Mark, user: str, scope: Scope) -> bool:
    if scope.reading.dimension != SPACE:
        scope.reading.fault(f"{user} is about space, but the dimension is 2", mark, "turn angles are columns: theta_OA")
        return False
    if not scope.parts.known_rigid(part, mark, user, scope.reading):
        return False
    if part in scope.parts.rods:
        hint = "its points are on one line, so it has no frame: their columns tell how it stands"
        scope.reading.fault(f"{user}: {part} is a rod", mark, hint)
        return False
    return True


def plain_name(text: str) -> str:
    """A quantity as part of a label: `dist(A,B)` becomes dist_A_B."""
    return re.sub(r"\W+", "_", text).strip("_")


def _spread(entry: Entry, values: tuple[Expression, ...], user: str, scope: Scope) -> list[tuple[str, Expression]]:
    """Quantities with their expressions: a point stands for its coordinates."""
    if re.fullmatch(POINT, entry.name) and entry.name not in scope.functions:
        axes = AXES[: scope.reading.dimension]
        if len(values) != len(axes):
            hint = f"write [{', '.join(axes)}], or name one coordinate: {entry.name}.x"
            raise SpecError(Fault(f"{user}: a point needs {COUNTS[len(axes)]} expressions", entry.mark, hint))
        return [(f"{entry.name}.{axis}", value) for axis, value in zip(axes, values, strict=True)]
    if len(values) != 1:
        raise SpecError(Fault(f"{user} has {len(values)} expressions for one quantity", entry.mark))
    return [(entry.name, values[0])]


def _drives(entry: Entry, scope: Scope) -> list[Drive]:
    if entry.value is None:
        return []
    user = f"Drives.{entry.name}"
    drives = []
    for name, motion in _spread(entry, entry.value, user, scope):
        quantity = parse_expression(name, entry.mark, state=True)
        fine = scope.allows(quantity, VELOCITY, user)
        if not scope.allows(motion, TIME, user) or not fine:
            continue
        _refuse_fixed(quantity, user, entry.mark, scope)
        level = scope.furthest(quantity)
        if level <= TIME:
            hint = "a drive moves a point, an angle or a distance: A.x, theta_OA, dist(A,B)"
            raise SpecError(Fault(f"{user} has nothing to move", entry.mark, hint))
        drives.append(Drive(plain_name(name), quantity, motion, level, entry.mark))
    return drives


def _refuse_fixed(quantity: Expression, user: str, mark: Mark, scope: Scope) -> None:
    for name in quantity.names:
        points = _points_in(name)
        if points and points <= scope.parts.fixed_names:
            verb = "is" if len(points) == 1 else "are"
            message = f"{user} drives {' and '.join(sorted(points))}, which {verb} fixed in the world"
            raise SpecError(Fault(message, mark, "remove it from PartData.Fixed, or from here"))


def _points_in(name: str) -> set[str]:
    """The points of `A.x` or `dist(A,B)`."""
    referred = reference(name)
    return set(referred.points) if isinstance(referred, Coordinate | Distance) else set()


def _controllers(entry: Entry, scope: Scope) -> list[Controller]:
    values = entry.value
    if values is None or not {"target", "kp"} <= values.keys():
        return []
    user = f"Controllers.{entry.name}"
    names = ("kp", "kd", "ki", "feedforward", "measure", "rate")
    fine = [scope.allows(values.get(name), VELOCITY, f"{user}.{name}") for name in names]
    if "measure" in values and "kd" in values and "rate" not in values:
        raise SpecError(Fault(f"{user} needs `rate`, the rate of what it measures, for kd", entry.mark))
    for key in ("limit", "period"):
        if key in values and values[key].value <= 0:
            raise SpecError(Fault(f"{user}.{key} must be above zero", values[key].mark))
    controllers = []
    for name, target in _spread(entry, values["target"], user, scope):
        quantity = parse_expression(name, entry.mark, state=True)
        known = scope.allows(quantity, POSITION, user) and scope.allows(target, VELOCITY, f"{user}.target")
        if known and scope.allows(values.get("target_rate"), VELOCITY, f"{user}.target_rate") and all(fine):
            _refuse_fixed(quantity, user, entry.mark, scope)
            controllers.append(_controller(plain_name(name), quantity, target, values, entry.mark, user, scope))
    return controllers


def _controller(
    name: str, quantity: Expression, target: Expression, values: Mapping[str, Any], mark: Mark, user: str, scope: Scope
) -> Controller:
    return Controller(
        name=name,
        actuated=tuple(_terms(quantity.tree, 1.0, quantity, user, scope)),
        measured=values.get("measure", quantity),
        rate=values.get("rate"),
        target=target,
        target_rate=values.get("target_rate"),
        proportional=values["kp"],
        integral=values.get("ki"),
        derivative=values.get("kd"),
        feedforward=values.get("feedforward"),
        limit=values.get("limit"),
        period=values.get("period"),
        mark=mark,
    )


def _terms(node: ast.expr, sign: float, whole: Expression, user: str, scope: Scope) -> list[tuple[float, str]]:
    """A sum of quantities as signed names: a force can act on each."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        other = -sign if isinstance(node.op, ast.Sub) else sign
        return _terms(node.left, sign, whole, user, scope) + _terms(node.right, other, whole, user, scope)
    if isinstance(node, ast.UnaryOp):
        other = -sign if isinstance(node.op, ast.USub) else sign
        return _terms(node.operand, other, whole, user, scope)
    text = ast.unparse(node).replace(" ", "")
    names = [name for name in whole.names if name == text]
    if not names or scope.reach(names[0], whole, {}) == CONSTANT or names[0] in scope.functions:
        hint = "control an angle, a difference of angles, a coordinate or a distance; use `measure` for anything else"
        raise SpecError(Fault(f"{user}: a controller cannot act on `{text}`", whole.mark, hint))
    return [(sign, names[0])]
