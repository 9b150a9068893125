"""The naming rule of seed 001, section 4.2: a point is a letter and digits, a part is its points written together; and
what names of the expression language mean that are made of these."""

from __future__ import annotations

import re

from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen

POINT = r"[A-Za-z][0-9]*"
PART = re.compile(rf"({POINT})+")
AXES = "xyz"
PLANE, SPACE = 2, 3  # dimensions


@frozen
class Coordinate:
    """`A.x`, or its rate `A.vx`. The axis is as it was written: there may be none of that name."""

    point: str
    axis: str
    is_rate: bool = False

    @property
    def points(self) -> tuple[str, ...]:
        return (self.point,)


@frozen
class Distance:
    """`dist(A,B)`, or its rate `rate(A,B)`."""

    points: tuple[str, str]
    is_rate: bool = False


@frozen
class TurnAngle:
    """`theta_OA`, or its rate `omega_OA`: of a part, about the normal of the plane."""

    part: str
    is_rate: bool = False


Reference = Coordinate | Distance | TurnAngle
ANGLES = {"theta_": False, "omega_": True}  # whether it is a rate
COORDINATE, DISTANCE = re.compile(r"(\w+)\.(\w+)"), re.compile(r"(\w+)\((\w+),(\w+)\)")
ANGLE = re.compile(rf"({'|'.join(ANGLES)})(\w+)")


def reference(name: str) -> Reference | None:
    """What a name of an expression refers to in the mechanism, as far as its form tells; None for a plain name, and for
    an expression of several."""
    if found := COORDINATE.fullmatch(name):
        point, attribute = found.groups()
        is_rate = attribute.startswith("v")
        return Coordinate(point, attribute[is_rate:], is_rate)
    if found := DISTANCE.fullmatch(name):
        word, first, second = found.groups()
        return Distance((first, second), word == "rate")
    if found := ANGLE.fullmatch(name):
        word, part = found.groups()
        return TurnAngle(part, ANGLES[word])
    return None


def points_of(name: str, mark: Mark) -> tuple[str, ...]:
    """The points of a part, in order. Raises SpecError when the name does not parse or repeats a point."""
    if not PART.fullmatch(name):
        raise SpecError(Fault(f"`{name}` is not a name of points", mark, _hint(name)))
    points = tuple(re.findall(POINT, name))
    if len(set(points)) < len(points):
        repeated = next(point for place, point in enumerate(points) if point in points[:place])
        raise SpecError(Fault(f"the name {name} holds the point {repeated} twice", mark))
    return points


def point_of(name: str, mark: Mark) -> str:
    """`name`, when it is one point."""
    points = points_of(name, mark)
    if len(points) != 1:
        hint = "a point is one letter followed by digits, if any"
        raise SpecError(Fault(f"`{name}` names {len(points)} points, not one", mark, hint))
    return points[0]


def _hint(name: str) -> str:
    if name.startswith("0"):
        return "did you mean the letter O?"
    if "{" in name:
        return "to repeat it, say for which numbers: Repeat: {i: 1..N}"
    return "a point is a letter followed by digits, if any (A, B2); a part is its points written together (AB2)"
