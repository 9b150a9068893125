"""Contacts and Stops: gaps that stay open. Contacts are keyed by what meets (`P-AB`: P stays left of the line AB;
`P-Q`: two points keep apart, or together) or by a name of their own with an expression, Stops by the
quantity they limit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.actions import Contact, Meeting, Stop
from mechsim.spec.expression import parse_expression
from mechsim.spec.joints import CurveShape, curve_of, surface_of
from mechsim.spec.meetings import is_meeting, meeting, sides_of, spatial_meeting
from mechsim.spec.names import PLANE
from mechsim.spec.nodes import Node
from mechsim.spec.number import Number
from mechsim.spec.records import Entry, Field, Named, Record, ShortOrLong
from mechsim.spec.scope import POSITION, TIME, Scope, StateExpression
from mechsim.spec.shapes import FLAG, Quantity, Reading, Schema, shown

ANY = r"[^:]+"
NAME = r"[A-Za-z]\w*"


class Restitution:
    """A number from 0 to 1."""

    def read(self, node: Node, reading: Reading, label: str) -> Number:
        number: Number = Quantity().read(node, reading, label)
        if not 0 <= number.value <= 1:
            hint = "0: what meets stays together; 1: it parts as fast as it met"
            raise SpecError(Fault(f"{label} is {shown(number)}, but must be from 0 to 1", node.mark, hint))
        return number

    def schema(self) -> Schema:
        return {"$ref": "#/$defs/expression"}


def _any_name(name: str, mark: Mark) -> None:
    if not name.strip():
        raise SpecError(Fault("a contact has no name", mark))


def _quantity_name(name: str, mark: Mark) -> None:
    parse_expression(name, mark, state=True)


E = Field(
    Restitution(), "restitution e, from 0 to 1: the part of the speed that is left after an impact", required=True
)
CONTACT = ShortOrLong(
    {"e": E},
    {
        "gap": Field(StateExpression(), "an expression of positions and time that stays at zero or above"),
        "curve": Field(
            CurveShape(),
            "an expression in x and y that stays at zero or above; or {x: ..., y: ..., s: start}, left of which is free",
        ),
        "offset": Field(
            Quantity(),
            "how far the point stays to the left of the line, or outlines stay apart, as the radius of a disc, m",
        ),
        "radius": Field(Quantity(least=0), "how far two points stay apart, m"),
        "between": Field(FLAG, "the line ends at its points; with an offset it has two sides and round ends"),
        "inside": Field(FLAG, "the points stay nearer than the radius instead"),
    },
)
STOP = Record(
    {
        "min": Field(StateExpression(), "the least it may be, an expression of time"),
        "max": Field(StateExpression(), "the most"),
        "e": E,
    }
)
SECTIONS = {
    "Contacts": Field(
        Named(CONTACT, _any_name, ANY),
        "gaps: {P-AB: [e]} P stays left of AB, {P-Q: {radius: r, e: 1}}, {ABC-DEF: [e]}, {floor: {gap: P.y, e: 0.8}}",
        may_be_empty=True,
    ),
    "Stops": Field(
        Named(STOP, _quantity_name, ANY),
        "limits of a quantity: {theta_OA: {min: -pi/2, max: pi/2, e: 0.5}}, {dist(A,B): {max: l, e: 0}}",
        may_be_empty=True,
    ),
}


def build_contacts(values: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """Fields of Actions."""
    contacts = [scope.reading.attempt(_contact, entry, scope) for entry in values.get("Contacts", {}).values()]
    stops = [scope.reading.attempt(_stop, entry, scope) for entry in values.get("Stops", {}).values()]
    return {
        "contacts": tuple(each for each in contacts if isinstance(each, Contact)),
        "meetings": tuple(each for each in contacts if isinstance(each, Meeting)),
        "stops": tuple(each for each in stops if each is not None),
    }


def _contact(entry: Entry, scope: Scope) -> Contact | Meeting | None:
    values, user = entry.value, f"Contacts.{entry.name}"
    if values is None or "e" not in values:
        return None
    if "gap" in values:
        _refuse_others(values, ("offset", "radius", "inside", "curve"), user, "its gap says all", entry.mark)
        if not re.fullmatch(NAME, entry.name):
            raise SpecError(Fault(f"{user}: give a contact with a gap of its own a plain name", entry.mark))
        if not scope.allows(values["gap"], POSITION, f"{user}.gap"):
            return None
        return Contact(entry.name, values["e"], entry.mark, gap=values["gap"])
    if "curve" in values:
        return _on_curve(entry, user, scope)
    own, points = sides_of(entry.name, entry)
    known = [scope.parts.known_point(name, entry.mark, user, scope.reading) for name in (*own, *points)]
    if not all(known):
        return None
    if set(own) & set(points) and len(own) + len(points) < 4:
        raise SpecError(Fault(f"{user} names a point twice", entry.mark))
    if scope.reading.dimension != PLANE and (len(own) > 1 or len(points) > 2):
        _refuse_others(
            values, ("between", "inside", "radius"), user, "in space there are planes and spheres", entry.mark
        )
        return spatial_meeting(entry, own, points, scope)
    if scope.reading.dimension == PLANE and is_meeting(own, points, values, scope):
        return meeting(entry, own, points, scope)
    _refuse_others(values, ("between",), user, "it is for a point and a line in the plane", entry.mark)
    (first,) = own
    if len(points) == 1:
        _refuse_others(values, ("offset",), user, "two points have a radius", entry.mark)
        if "radius" not in values or values["radius"].value <= 0:
            raise SpecError(Fault(f"{user} needs a radius above zero", entry.mark, "how far the two points stay apart"))
        inside = bool(values.get("inside", False))
        return Contact(entry.name, values["e"], entry.mark, (first, *points), number=values["radius"], inside=inside)
    if len(points) != 2 or scope.reading.dimension != PLANE:
        hint = "a line is given by two points in the plane; in space write a gap: {gap: P.z, e: 0.5}"
        raise SpecError(Fault(f"{user}: {''.join(points)} is no line", entry.mark, hint))
    _refuse_others(values, ("radius", "inside"), user, "a line has an offset", entry.mark)
    return Contact(entry.name, values["e"], entry.mark, (first, *points), number=values.get("offset"))


def _on_curve(entry: Entry, user: str, scope: Scope) -> Contact | None:
    values, point = entry.value, entry.name.partition("-")[0].strip()
    _refuse_others(values, ("radius", "inside", "between"), user, "its curve says all", entry.mark)
    given = values["curve"]
    in_space = scope.reading.dimension != PLANE
    if in_space and "implicit" in given:
        curve = surface_of(entry._replace(name=point, value=given["implicit"]), user, scope)
    else:
        curve = curve_of(entry._replace(name=point, value=given), user, scope)
    if curve is None:
        return None
    if curve.implicit is not None and "offset" in values:
        hint = "give the curve by its length or another parameter: curve: {x: s, y: s**2, s: 0}"
        raise SpecError(Fault(f"{user} has an offset, which an equation does not tell", values["offset"].mark, hint))
    if curve.parametric is not None and in_space:
        hint = "an expression in x, y and z is a surface"
        raise SpecError(Fault(f"{user}: a curve has no sides in space", entry.mark, hint))
    return Contact(entry.name, values["e"], entry.mark, (point,), number=values.get("offset"), curve=curve)


def _stop(entry: Entry, scope: Scope) -> Stop | None:
    values, user = entry.value, f"Stops.{entry.name}"
    if values is None or "e" not in values:
        return None
    if "min" not in values and "max" not in values:
        raise SpecError(Fault(f"{user} has neither min nor max", entry.mark))
    quantity = parse_expression(entry.name, entry.mark, state=True)
    fine = [scope.allows(values.get(limit), TIME, f"{user}.{limit}") for limit in ("min", "max")]
    if not scope.allows(quantity, POSITION, user) or not all(fine):
        return None
    return Stop(entry.name, quantity, values.get("min"), values.get("max"), values["e"], entry.mark)


def _refuse_others(values: Mapping[str, Any], names: tuple[str, ...], user: str, why: str, mark: Mark) -> None:
    for name in names:
        if name in values:
            raise SpecError(Fault(f"{user} has {name}, which does not belong here: {why}", mark))
