"""Contacts and Stops: gaps that stay open. Contacts are keyed by what meets (`P-AB`: P stays left of the line AB;
`P-Q`: two points keep apart, or together) or by a name of their own with an expression, Stops by the
quantity they limit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.actions import Contact, Meeting, Rubs, Stop
from mechsim.spec.expression import parse_expression
from mechsim.spec.meetings import is_meeting, meeting, sides_of, spatial_meeting
from mechsim.spec.names import PLANE
from mechsim.spec.nodes import Node
from mechsim.spec.number import Number
from mechsim.spec.records import Entry, Field, Named, Record, ShortOrLong
from mechsim.spec.scope import POSITION, TIME, Scope, StateExpression
from mechsim.spec.shapes import FLAG, Quantity, Reading, Schema, Word, shown

ANY = r"[^:]+"
NAME = r"[A-Za-z]\w*"
LAWS = NEWTON, POISSON, ENERGETIC, TOGETHER = (
    "newton",
    "poisson",
    "energetic",
    "together",
)  # as the kernel numbers them


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
        "offset": Field(
            Quantity(),
            "how far the point stays to the left of the line, or outlines stay apart, as the radius of a disc, m",
        ),
        "radius": Field(Quantity(least=0), "how far two points stay apart, m"),
        "mu": Field(Quantity(least=0), "coefficient of Coulomb's friction while it slides"),
        "mu_s": Field(Quantity(least=0), "... and the most that it sticks with; mu if left out"),
        "law": Field(
            Word({law: law for law in LAWS}),
            f"what e is of in an impact with friction, or that impacts at one time are one: {', '.join(LAWS)}",
        ),
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
    rubs = _rubs(entry, scope)
    law = LAWS.index(values.get("law", ENERGETIC if rubs else NEWTON))
    if "gap" in values:
        _refuse_others(values, ("offset", "radius", "inside"), user, "its gap says all", entry.mark)
        if not re.fullmatch(NAME, entry.name):
            raise SpecError(Fault(f"{user}: give a contact with a gap of its own a plain name", entry.mark))
        if not scope.allows(values["gap"], POSITION, f"{user}.gap"):
            return None
        return Contact(entry.name, values["e"], entry.mark, gap=values["gap"], rubs=rubs, law=law)
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
        return spatial_meeting(entry, own, points, scope, law)
    if scope.reading.dimension == PLANE and is_meeting(own, points, values, scope):
        return meeting(entry, own, points, scope, rubs, law)
    _refuse_others(values, ("between",), user, "it is for a point and a line in the plane", entry.mark)
    (first,) = own
    if len(points) == 1:
        _refuse_others(values, ("offset",), user, "two points have a radius", entry.mark)
        if "radius" not in values or values["radius"].value <= 0:
            raise SpecError(Fault(f"{user} needs a radius above zero", entry.mark, "how far the two points stay apart"))
        inside = bool(values.get("inside", False))
        given: dict[str, Any] = {"number": values["radius"], "inside": inside, "rubs": rubs, "law": law}
        return Contact(entry.name, values["e"], entry.mark, (first, *points), **given)
    if len(points) != 2 or scope.reading.dimension != PLANE:
        hint = "a line is given by two points in the plane; in space write a gap: {gap: P.z, e: 0.5}"
        raise SpecError(Fault(f"{user}: {''.join(points)} is no line", entry.mark, hint))
    _refuse_others(values, ("radius", "inside"), user, "a line has an offset", entry.mark)
    return Contact(
        entry.name, values["e"], entry.mark, (first, *points), number=values.get("offset"), rubs=rubs, law=law
    )


def _rubs(entry: Entry, scope: Scope) -> Rubs | None:
    """Raises SpecError."""
    values, user = entry.value, f"Contacts.{entry.name}"
    if "mu" not in values or values["mu"].value == 0:
        if "mu_s" in values:
            raise SpecError(Fault(f"{user} has mu_s, but no friction mu", entry.mark, "write mu: 0.3"))
        return None
    if scope.reading.dimension != PLANE:
        raise SpecError(Fault(f"{user} has friction, which contacts in space do not have", values["mu"].mark))
    static = values.get("mu_s", values["mu"])
    if static.value < values["mu"].value:
        message = f"{user}.mu_s is {shown(static)}, less than mu"
        raise SpecError(Fault(message, static.mark, "what sticks holds at least as much as what slides"))
    if values.get("law") == TOGETHER:
        raise SpecError(
            Fault(f"{user} is struck together with others, which is known without friction only", entry.mark)
        )
    return Rubs(values["mu"], static)


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
