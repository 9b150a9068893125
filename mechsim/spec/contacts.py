"""Contacts and Stops: gaps that stay open. Contacts are keyed by what meets (`P-AB`: P stays left of the line AB;
`P-Q`: two points keep apart, or together) or by a name of their own with an expression, Stops by the
quantity they limit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.actions import Bounce, Compliance, Contact, Meeting, Rubs, Stop
from mechsim.spec.expression import parse_expression
from mechsim.spec.joints import CurveShape, curve_of, surface_of
from mechsim.spec.meetings import is_meeting, meeting, sides_of, spatial_meeting
from mechsim.spec.names import PLANE
from mechsim.spec.nodes import DictNode, Node
from mechsim.spec.number import Number
from mechsim.spec.records import Entry, Field, Named, Record, ShortOrLong
from mechsim.spec.scope import POSITION, TIME, Scope, StateExpression
from mechsim.spec.shapes import FLAG, Quantity, Reading, Schema, Word, shown
from mechsim.spec.suggest import nearest

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
    Restitution(),
    "restitution e, from 0 to 1: the part of the speed that is left after an impact; or a stiffness",
    required=True,
)
SLOW = Field(Quantity(least=0), "what closes more slowly than this, m/s, does not bounce: e is 0 then")
DEFAULTS = {"exponent": 1.5, "damping": 0.0}
GIVES_WAY = {
    "stiffness": Field(
        Quantity(least=0), "instead of e: the contact gives way, and pushes back by stiffness*depth**n", required=True
    ),
    "exponent": Field(Quantity(least=1), "n of this, 1 or more; 1.5, as Hertz has it for balls, if omitted"),
    "damping": Field(Quantity(least=0), "times 3/2 of the rate of the depth, the share that it pushes more, s/m"),
}


WHAT_MEETS = {
    "gap": Field(StateExpression(), "an expression of positions and time that stays at zero or above"),
    "curve": Field(
        CurveShape(),
        "an expression in x and y that stays at zero or above; or {x: ..., y: ..., s: start}, the left of it free",
    ),
    "offset": Field(
        Quantity(),
        "how far the point stays to the left of the line, or outlines stay apart, as the radius of a disc, m",
    ),
    "radius": Field(Quantity(least=0), "how far two points stay apart, m"),
    "slow": SLOW,
    "mu": Field(Quantity(least=0), "coefficient of Coulomb's friction while it slides"),
    "mu_s": Field(Quantity(least=0), "... and the most that it sticks with; mu if left out"),
    "law": Field(
        Word({law: law for law in LAWS}),
        f"what e is of in an impact with friction, or that impacts at one time are one: {', '.join(LAWS)}",
    ),
    "between": Field(FLAG, "the line ends at its points; with an offset it has two sides and round ends"),
    "inside": Field(FLAG, "the points stay nearer than the radius instead"),
}
LIMITS = {
    "min": Field(StateExpression(), "the least it may be, an expression of time"),
    "max": Field(StateExpression(), "the most"),
}


class OrGivesWay(NamedTuple):
    """A contact or a stop: with a restitution or, where it has a stiffness, without."""

    hard: ShortOrLong | Record
    soft: Record

    def read(self, node: Node, reading: Reading, label: str) -> dict[str, Any]:
        keys = [key.text for key, _ in node.entries] if isinstance(node, DictNode) else []
        meant = {
            key if key in self.soft.fields else nearest(key, (*self.soft.fields, "e")) for key in keys if key != "e"
        }
        gives_way = "stiffness" in keys or ("e" not in keys and bool(meant & set(GIVES_WAY)))
        return self.soft.read(node, reading, label) if gives_way else self.hard.read(node, reading, label)

    def schema(self) -> Schema:
        return {"anyOf": [self.hard.schema(), self.soft.schema()]}


CONTACT = OrGivesWay(ShortOrLong({"e": E}, WHAT_MEETS), Record({**GIVES_WAY, **WHAT_MEETS}))
STOP = OrGivesWay(Record({**LIMITS, "e": E, "slow": SLOW}), Record({**GIVES_WAY, **LIMITS}))
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
    user = f"Contacts.{entry.name}"
    if (values := _with_compliance(entry)) is None:
        return None
    entry = entry._replace(value=values)
    compliance, rubs = values["compliance"], _rubs(entry, scope)
    bounce = Bounce(values["e"], values.get("slow"), LAWS.index(values.get("law", ENERGETIC if rubs else NEWTON)))
    common: dict[str, Any] = {"compliance": compliance, "rubs": rubs}
    if "gap" in values:
        _refuse_others(values, ("offset", "radius", "inside", "curve"), user, "its gap says all", entry.mark)
        if not re.fullmatch(NAME, entry.name):
            raise SpecError(Fault(f"{user}: give a contact with a gap of its own a plain name", entry.mark))
        if not scope.allows(values["gap"], POSITION, f"{user}.gap"):
            return None
        return Contact(entry.name, bounce, entry.mark, gap=values["gap"], **common)
    if "curve" in values:
        return _on_curve(entry, user, bounce, common, scope)
    own, points = sides_of(entry.name, entry)
    known = [scope.parts.known_point(name, entry.mark, user, scope.reading) for name in (*own, *points)]
    if not all(known):
        return None
    if set(own) & set(points) and len(own) + len(points) < 4:
        raise SpecError(Fault(f"{user} names a point twice", entry.mark))
    in_space = scope.reading.dimension != PLANE
    if compliance is not None and (in_space or is_meeting(own, points, values, scope)) and len(own) + len(points) > 2:
        hint = "points, lines, curves and gaps of their own give way: write e for outlines and planes"
        raise SpecError(Fault(f"{user} has a stiffness, which is not known of what meets here", entry.mark, hint))
    if in_space and (len(own) > 1 or len(points) > 2):
        _refuse_others(
            values, ("between", "inside", "radius"), user, "in space there are planes and spheres", entry.mark
        )
        return spatial_meeting(entry, own, points, scope, bounce)
    if scope.reading.dimension == PLANE and is_meeting(own, points, values, scope):
        return meeting(entry, own, points, scope, rubs, bounce)
    _refuse_others(values, ("between",), user, "it is for a point and a line in the plane", entry.mark)
    (first,) = own
    if len(points) == 1:
        _refuse_others(values, ("offset",), user, "two points have a radius", entry.mark)
        if "radius" not in values or values["radius"].value <= 0:
            raise SpecError(Fault(f"{user} needs a radius above zero", entry.mark, "how far the two points stay apart"))
        apart, inside = values["radius"], bool(values.get("inside", False))
        return Contact(entry.name, bounce, entry.mark, (first, *points), number=apart, inside=inside, **common)
    if len(points) != 2 or scope.reading.dimension != PLANE:
        hint = "a line is given by two points in the plane; in space write a gap: {gap: P.z, e: 0.5}"
        raise SpecError(Fault(f"{user}: {''.join(points)} is no line", entry.mark, hint))
    _refuse_others(values, ("radius", "inside"), user, "a line has an offset", entry.mark)
    return Contact(entry.name, bounce, entry.mark, (first, *points), number=values.get("offset"), **common)


def _rubs(entry: Entry, scope: Scope) -> Rubs | None:
    """Raises SpecError."""
    values, user = entry.value, f"Contacts.{entry.name}"
    for name in ("mu", "mu_s", "law", "slow"):
        if name in values and values["compliance"] is not None:
            message = f"{user} has {name}, but gives way: friction and laws of impact are for contacts with e"
            raise SpecError(Fault(message, entry.mark, f"leave out {name}, or write e instead of the stiffness"))
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


def _on_curve(entry: Entry, user: str, bounce: Bounce, common: Mapping[str, Any], scope: Scope) -> Contact | None:
    values, point = entry.value, entry.name.partition("-")[0].strip()
    _refuse_others(values, ("radius", "inside", "between", "offset"), user, "its curve says all", entry.mark)
    given = values["curve"]
    if values["compliance"] is not None:
        hint = "write the depth as a length: {gap: sqrt(P.x**2 + P.y**2) - 1, stiffness: 1000}"
        raise SpecError(
            Fault(f"{user} gives way, but an equation of a curve does not tell its depth", entry.mark, hint)
        )
    if "implicit" not in given:
        # Of a curve by a parameter a place is known near the point, but not that no other is nearer.
        hint = "write what is zero on it and above zero where there is room: curve: y - x**2"
        raise SpecError(Fault(f"{user}: a contact beside a curve is known by an equation of it only", entry.mark, hint))
    if scope.reading.dimension != PLANE:
        curve = surface_of(entry._replace(name=point, value=given["implicit"]), user, scope)
    else:
        curve = curve_of(entry._replace(name=point, value=given), user, scope)
    return None if curve is None else Contact(entry.name, bounce, entry.mark, (point,), curve=curve, **common)


def _stop(entry: Entry, scope: Scope) -> Stop | None:
    user = f"Stops.{entry.name}"
    if (values := _with_compliance(entry)) is None:
        return None
    if "min" not in values and "max" not in values:
        raise SpecError(Fault(f"{user} has neither min nor max", entry.mark))
    quantity = parse_expression(entry.name, entry.mark, state=True)
    fine = [scope.allows(values.get(limit), TIME, f"{user}.{limit}") for limit in ("min", "max")]
    if not scope.allows(quantity, POSITION, user) or not all(fine):
        return None
    bounce = Bounce(values["e"], values.get("slow"))
    return Stop(entry.name, quantity, values.get("min"), values.get("max"), bounce, entry.mark, values["compliance"])


def _with_compliance(entry: Entry) -> dict[str, Any] | None:
    """The values of an entry with its restitution, or 0 and how it gives way; None if it is faulty."""
    values = entry.value
    if values is None or not {"e", "stiffness"} & set(values):
        return None
    if "e" in values:
        return {**values, "compliance": None}
    stiffness: Number = values["stiffness"]
    if stiffness.value == 0:
        raise SpecError(
            Fault(f"the stiffness of contact {entry.name} is zero", stiffness.mark, "leave the contact out")
        )
    given = [values.get(name) or Number(value, str(value), entry.mark) for name, value in DEFAULTS.items()]
    return {**values, "e": Number(0.0, "0", entry.mark), "compliance": Compliance(stiffness, *given)}


def _refuse_others(values: Mapping[str, Any], names: tuple[str, ...], user: str, why: str, mark: Mark) -> None:
    for name in names:
        if name in values:
            raise SpecError(Fault(f"{user} has {name}, which does not belong here: {why}", mark))
