"""Expressions of time and state: what they may name, and how far each reaches.

`t`; parameters; `A.x A.y` and `A.vx A.vy` of a point (and `A.z A.vz` in space); `theta_OA` and `omega_OA` of a rigid
part; `dist(A,B)` and its `rate(A,B)`; and the names of Signals, Tables and Piecewise. A reach says what the value
changes with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.expression import CONSTANTS, Expression, parse_expression
from mechsim.spec.names import ANGLES, AXES, POINT, Coordinate, Distance, TurnAngle, points_of, reference
from mechsim.spec.nodes import Node, TextNode, describe
from mechsim.spec.parts import Parts
from mechsim.spec.records import Entry
from mechsim.spec.shapes import Reading, Schema
from mechsim.spec.suggest import did_you_mean, listed
from mechsim.spec.turning import known_angle

CONSTANT, TIME, POSITION, VELOCITY = range(4)
WORDS = {CONSTANT: "a constant", TIME: "a function of time", POSITION: "positions and time", VELOCITY: "velocities"}


class StateExpression:
    """An expression that may use time and state. Reads to an Expression; its names are checked by `Scope.reach`."""

    def read(self, node: Node, reading: Reading, label: str) -> Expression:
        if not isinstance(node, TextNode) or node.empty:
            raise SpecError(Fault(f"{label} must be a number or expression, not {describe(node)}", node.mark))
        expression = parse_expression(node.text, node.at(0), state=True, bindings=node.bindings)
        reading.used.update(expression.names)
        return expression

    def schema(self) -> Schema:
        return {"$ref": "#/$defs/expression"}


@dataclass(slots=True)
class Scope:
    """The names an expression may use. `functions` are named functions (signals, tables) with their reach."""

    parts: Parts
    reading: Reading
    functions: dict[str, int] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)  # functions whose own fault is recorded already
    switching: set[str] = field(default_factory=set)  # signals that switch

    def allows(
        self,
        expression: Expression | None,
        most: int,
        user: str,
        local: Mapping[str, int] = {},
        switches: bool = False,
    ) -> bool:
        """Whether all names are known and reach no further than `most`, and whether it is smooth unless it may have
        `switches`; records a fault for each that does not."""
        if expression is None:
            return True
        before = len(self.reading.faults)
        reaches = {name: self.reach(name, expression, local) for name in expression.names}
        for name, reach in reaches.items():
            if reach > most:
                message = f"{user} may use {WORDS[most]}, but {name} changes with {WORDS[reach]}"
                self.reading.fault(message, expression.place(name))
        corner = expression.unsmooth(lambda name: reaches.get(name, CONSTANT) > CONSTANT)
        switching = [name for name in expression.names if name in self.switching]
        if (corner or switching) and not switches:
            hint = "write abs(x) as sqrt(x**2 + eps**2), sign(x) as tanh(x/eps), with a small eps"
            message = f"{user} must be smooth, but abs, sign, min, max and if have a corner or jump"
            self.reading.fault(message, corner or expression.place(switching[0]), hint)
        if (corner or switching) and switches and user.startswith("Signals."):
            self.switching.add(user.removeprefix("Signals."))
        return len(self.reading.faults) == before and not self._unsure(expression)

    def furthest(self, expression: Expression) -> int:
        """How far a checked expression reaches."""
        return max((self.reach(name, expression, {}) for name in expression.names), default=CONSTANT)

    def reach(self, name: str, expression: Expression, local: Mapping[str, int]) -> int:
        """How far one name reaches; an unknown one is a fault and counts as constant."""
        if name in local:
            return local[name]
        if name in self.functions:
            return self.functions[name]
        if name == "t" and name in self.reading.environment:
            hint = "give the parameter another name"
            self.reading.fault("t is the time here, but a parameter is called t too", expression.place(name), hint)
        if name in self.reading.environment or name in self.broken or name in self.reading.broken:
            self.reading.used.add(name)
            return CONSTANT
        if name == "t":
            return TIME
        if accelerated := re.fullmatch(rf"({POINT})_a[xyz]|(theta_\w+)_ddot", name):
            self._refuse_acceleration(name, accelerated[1] or accelerated[2], expression.place(name))
            return CONSTANT
        match reference(name):
            case Coordinate() as coordinate:
                return self._of_point(name, coordinate, expression.place(name))
            case Distance() as distance:
                return self._of_points(name, distance, expression.place(name))
            case TurnAngle(part, is_rate) if part in self.parts.rigid_points or _is_angle(part):
                self.reading.attempt(known_angle, part, expression.place(name), name, self.parts, self.reading)
                return VELOCITY if is_rate else POSITION
        if name not in CONSTANTS:
            self._unknown(name, expression, local)
        return CONSTANT

    @property
    def attributes(self) -> list[str]:
        """What a point has."""
        axes = AXES[: self.reading.dimension]
        return [*axes, *(f"v{axis}" for axis in axes)]

    def _of_point(self, name: str, coordinate: Coordinate, place: Mark) -> int:
        attribute, known = name.partition(".")[2], self.attributes
        if attribute in [f"a{axis}" for axis in AXES[: self.reading.dimension]]:
            self._refuse_acceleration(name, coordinate.point, place)
        elif attribute not in known:
            hint = did_you_mean(attribute, known) or f"a point has {listed(known)}"
            self.reading.fault(f"{name}: a point has no {attribute}", place, hint)
        self.parts.known_point(coordinate.point, place, name, self.reading)
        return CONSTANT if attribute not in known else VELOCITY if coordinate.is_rate else POSITION

    def _refuse_acceleration(self, name: str, moving: str, place: Mark) -> None:
        """The equations are solved for accelerations: what they may use must be known before."""
        hint = f"accelerations are columns: Output: {{accelerations: [{moving}]}}"
        self.reading.fault(f"{name}: an expression may not use accelerations", place, hint)

    def _of_points(self, name: str, distance: Distance, place: Mark) -> int:
        known = [self.parts.known_point(point, place, name, self.reading) for point in distance.points]
        if all(known) and distance.points[0] == distance.points[1]:
            self.reading.fault(f"{name} is the distance of a point to itself", place)
        return VELOCITY if distance.is_rate else POSITION

    def _unknown(self, name: str, expression: Expression, local: Iterable[str]) -> None:
        if "PhysicalParams" in self.reading.lost_names:
            return
        angles = [prefix + part for prefix in ANGLES for part in self.parts.rigid_points]
        hint = did_you_mean(name, [*self.reading.environment, *self.functions, *angles, *local])
        if not hint and name in self.parts.on_parts | self.parts.fixed_names:
            hint = f"a point has {listed([f'{name}.{attribute}' for attribute in self.attributes])}"
        hint = hint or "define it in PhysicalParams or Signals"
        self.reading.fault(f"{name} is not defined", expression.place(name), hint)

    def _unsure(self, expression: Expression) -> bool:
        return any(name in self.reading.broken or name in self.broken for name in expression.names)


def _places(name: str) -> str:
    """The part of a name in an expression that spells points; of an angle in space those of its half-planes."""
    if "." in name or "(" in name:
        return name
    angle = re.fullmatch(rf"(?:theta|omega)_((?:{POINT})+_(?:{POINT})+)", name)
    return angle[1] if angle else ""


def points_mentioned(values: Any) -> set[str]:
    """Points that sections beside PartData use: a fixed point may be needed only there."""
    if isinstance(values, Expression):
        return {point for name in values.names for point in re.findall(POINT, _places(name))}
    if isinstance(values, Entry):
        return set(re.findall(POINT, values.name)) | points_mentioned(values.value)
    if isinstance(values, Mapping):
        centre = {values["centre"]} if "centre" in values else set()
        return centre.union(*(points_mentioned(value) for value in values.values()))
    if isinstance(values, list | tuple):
        return set().union(*(points_mentioned(value) for value in values))
    return set()


def _is_angle(name: str) -> bool:
    return re.fullmatch(rf"({POINT})+(_({POINT})+)?", name) is not None


def reference_points(text: str, mark: Mark) -> tuple[str, str]:
    """Two points written together, as in the line `AB`."""
    points = points_of(text.strip(), mark)
    if len(points) != 2:
        raise SpecError(Fault(f"`{text.strip()}` names {len(points)} points, but a line is given by two", mark))
    return points[0], points[1]
