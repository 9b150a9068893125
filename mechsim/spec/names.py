"""The naming rule of seed 001, section 4.2: a point is a letter and digits, a part is its points written together."""

from __future__ import annotations

import re

from mechsim.errors import Fault, Mark, SpecError

POINT = r"[A-Za-z][0-9]*"
PART = re.compile(rf"({POINT})+")


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
    return "a point is a letter followed by digits, if any (A, B2); a part is its points written together (AB2)"
