"""What meets in a contact of two things: points, lines, segments, polygons, parts with the shapes that they have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mechsim.errors import Fault, SpecError
from mechsim.spec.actions import Bounce, Meeting, Rubs, Side
from mechsim.spec.document import Rigid
from mechsim.spec.names import points_of
from mechsim.spec.records import Entry
from mechsim.spec.scope import Scope

FLAT = ("cylinder", "box", "prism")  # shapes that have an inside, as they are called in space


def is_meeting(first: tuple[str, ...], second: tuple[str, ...], values: Mapping[str, Any], scope: Scope) -> bool:
    """Whether outlines meet: anything but two points, or a point and a line."""
    part = _rigid(second, scope)
    has_outline = part is not None and has_shape(part)
    return len(first) > 1 or len(second) > 2 or bool(values.get("between")) or (len(second) == 2 and has_outline)


def meeting(
    entry: Entry, first: tuple[str, ...], second: tuple[str, ...], scope: Scope, rubs: Rubs | None, bounce: Bounce
) -> Meeting:
    """Raises SpecError."""
    values, user = entry.value, f"Contacts.{entry.name}"
    between, hollow = bool(values.get("between", False)), bool(values.get("inside", False))
    if between and len(second) != 2:
        raise SpecError(Fault(f"{user} has `between`, which is for a line: two points", entry.mark))
    if "radius" in values:
        hint = "write offset: the radius of the disc, or how far both stay apart"
        raise SpecError(Fault(f"{user} has radius, which is for two points", entry.mark, hint))
    if values.get("offset") is not None and values["offset"].value < 0:
        raise SpecError(Fault(f"{user}.offset is negative, which is for a line only", values["offset"].mark))
    one, other = _side(first, False, False, user, entry, scope), _side(second, between, hollow, user, entry, scope)
    if hollow and other.sort not in ("polygon", "part"):
        raise SpecError(Fault(f"{user} has `inside`, but {''.join(second)} has none", entry.mark))
    return Meeting(entry.name, one, other, bounce, values.get("offset"), entry.mark, rubs)


def _side(points: tuple[str, ...], between: bool, hollow: bool, user: str, entry: Entry, scope: Scope) -> Side:
    name = "".join(points)
    if len(points) == 1:
        return Side("point", points)
    part = _rigid(points, scope)
    if between:
        return Side("segment", points)
    if part is not None and (has_shape(part) or len(points) > 2):
        return Side("part", points, part.name, hollow)
    if len(points) > 2:
        return Side("polygon", points, hollow=hollow)
    if entry.name.partition("-")[2].strip() == name:
        return Side("line", points)
    hint = (
        f"give {name} a shape: disc, plate or polygon" if part else "name a point, a rigid part or three or more points"
    )
    raise SpecError(Fault(f"{user}: {name} has no outline", entry.mark, hint))


def spatial_meeting(
    entry: Entry, first: tuple[str, ...], second: tuple[str, ...], scope: Scope, bounce: Bounce
) -> Meeting:
    """Of a point or a part with a plane (three points), or of two parts that are spheres. Raises SpecError."""
    user, sides = f"Contacts.{entry.name}", []
    for points in (first, second):
        part = _rigid(points, scope)
        if len(points) == 1:
            sides.append(Side("point", points))
        elif part is not None and any(solid.shape != "rod" for solid in part.solids):
            sides.append(Side("part", points, part.name))
        elif points is second and len(points) == 3:
            sides.append(Side("plane", points))
        else:
            hint = "in space there are P-ABC, a point and a plane, and parts that are boxes, prisms or spheres"
            raise SpecError(Fault(f"{user}: {''.join(points)} has no outline", entry.mark, hint))
    return Meeting(entry.name, sides[0], sides[1], bounce, entry.value.get("offset"), entry.mark)


def _rigid(points: tuple[str, ...] | str, scope: Scope) -> Rigid | None:
    name = "".join(points)
    return next((part for part in scope.parts.rigids if part.name == name), None)


def has_shape(part: Rigid) -> bool:
    return any(solid.shape in FLAT for solid in part.solids)


def sides_of(name: str, entry: Entry) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The points on both sides of the dash. Raises SpecError."""
    first, dash, second = (piece.strip() for piece in name.partition("-"))
    if not dash:
        hint = "write P-AB for a point and a line, P-Q for two points, ABC-DEF for two parts, or give it a gap"
        raise SpecError(Fault(f"Contacts.{name} does not say what meets", entry.mark, hint))
    return points_of(first, entry.mark), points_of(second, entry.mark)
