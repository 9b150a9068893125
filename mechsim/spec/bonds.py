"""Bonds: what events let go and take hold of. Either they stand in a section of their own, or they are joints that an
event names: a pin by a point and the part that leaves it (`B-AB`), an entry of Joints or a rod by its key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.actions import Bond
from mechsim.spec.expression import Expression
from mechsim.spec.functions import NAME
from mechsim.spec.names import PART, PLANE, points_of
from mechsim.spec.nodes import DictNode, ListNode, Node, TextNode, describe
from mechsim.spec.parameters import check_parameter_name
from mechsim.spec.records import Entry, Field, Named, Record
from mechsim.spec.scope import POSITION, Scope, StateExpression
from mechsim.spec.shapes import FLAG, Reading, Schema
from mechsim.spec.suggest import did_you_mean, listed

# Joints that are equations of positions; others bind velocities, or have a coordinate of their own without mass.
LET_GO = frozenset(
    {"Sliders", "Slots", "Pistons", "Gears", "Racks", "Welds", "Ropes", "Holonomic"}
    | {"Hinges", "Universals", "Cylinders", "Screws", "Planes", "Couplings"}
)
PAIR = re.compile(rf"\s*({PART.pattern})\s*-\s*({PART.pattern})\s*")


class Hold:
    """What a bond holds: `P-Q`, `P-AB`, `AB-CD`, an expression, or a list of expressions. Reads to an Entry of that
    name, or to a list of Expressions."""

    def read(self, node: Node, reading: Reading, label: str) -> Entry | list[Expression]:
        if isinstance(node, ListNode):
            return [StateExpression().read(item, reading, label) for item in node.items]
        if isinstance(node, TextNode) and PAIR.fullmatch(node.text):
            return Entry(re.sub(r"\s+", "", node.text), node.mark, None)
        return [StateExpression().read(node, reading, label)]

    def schema(self) -> Schema:
        one = {"$ref": "#/$defs/expression"}
        return {"anyOf": [one, {"type": "array", "items": one}]}


BOND = Record(
    {
        "hold": Field(
            Hold(), "what becomes one, P-Q, P-AB or AB-CD, or expressions that stay as they are", required=True
        ),
        "attached": Field(FLAG, "whether it holds at the start; no if omitted"),
    }
)


class BondShape:
    """`hold` alone, or a dictionary."""

    def read(self, node: Node, reading: Reading, label: str) -> Mapping[str, Any]:
        if isinstance(node, DictNode):
            return BOND.read(node, reading, label)
        return {"hold": Hold().read(node, reading, label)}

    def schema(self) -> Schema:
        return {"anyOf": [Hold().schema(), BOND.schema()]}


SECTIONS = {
    "Bonds": Field(
        Named(BondShape(), check_parameter_name, NAME),
        "what events attach and release: {dock: P-Q}, {grip: P-AB}, {clutch: theta_OA - theta_QB}",
        may_be_empty=True,
    )
}


class Names:
    """A name of a bond, or a list of them. Reads to pairs of a name and its place."""

    def read(self, node: Node, reading: Reading, label: str) -> tuple[tuple[str, Mark], ...]:
        items = node.items if isinstance(node, ListNode) else [node]
        for item in items:
            if not isinstance(item, TextNode) or item.empty:
                raise SpecError(Fault(f"{label} is {describe(item)}, but must name a joint or a bond", item.mark))
        return tuple((re.sub(r"\s+", "", item.text), item.mark) for item in items if isinstance(item, TextNode))


def build_bonds(values: Mapping[str, Any], named: Iterable[tuple[str, Mark]], scope: Scope) -> tuple[Bond, ...]:
    """All bonds: those of the section, and joints that are `named` by events."""
    entries: Mapping[str, Entry] = values.get("Bonds", {})
    found = [scope.reading.attempt(_bond, entry, scope) for entry in entries.values()]
    for name, mark in dict(reversed(list(named))).items():
        if name not in entries:
            found.append(scope.reading.attempt(_joint, name, mark, values, scope))
    bonds = tuple(bond for bond in found if bond is not None)
    for bond in bonds:
        if bond.name in values.get("Contacts", {}):
            hint = "give one of them another name: the table of events tells them by it"
            scope.reading.fault(f"there are a contact and a bond {bond.name}", bond.mark, hint)
    return bonds


def _bond(entry: Entry, scope: Scope) -> Bond | None:
    given, user = entry.value, f"Bonds.{entry.name}"
    if given is None or "hold" not in given:
        return None
    hold, attached = given["hold"], bool(given.get("attached", False))
    if isinstance(hold, Entry):
        return _pair(entry, hold, attached, scope)
    fine = [scope.allows(each, POSITION, user) for each in hold]
    for each in hold:
        if all(fine) and scope.furthest(each) < POSITION:
            raise SpecError(Fault(f"{user}: {each.text} does not depend on the mechanism", entry.mark))
    return Bond(entry.name, entry.mark, attached, quantities=tuple(hold)) if all(fine) else None


def _pair(entry: Entry, hold: Entry, attached: bool, scope: Scope) -> Bond | None:
    """Two points, a point and a part, or two parts."""
    user, parts, reading = f"Bonds.{entry.name}", scope.parts, scope.reading
    sides = {name: points_of(name, hold.mark) for name in hold.name.split("-")}
    points = tuple(name for name, side in sides.items() if len(side) == 1)
    bodies = tuple(name for name, side in sides.items() if len(side) > 1)
    known = [parts.known_point(point, hold.mark, user, reading) for point in points]
    known += [parts.known_frame(body, hold.mark, user, reading) for body in bodies]
    if not all(known):
        return None
    if len(sides) < 2 or any(point in parts.rigid_points.get(body, ()) for point in points for body in bodies):
        raise SpecError(Fault(f"{user}: what {hold.name} holds is together always", hold.mark))
    if bodies and reading.dimension != PLANE:
        hint = "hold two points, or expressions: [dist(P,A), dist(P,B), dist(P,C)]"
        raise SpecError(Fault(f"{user}: {bodies[0]} is a part, which bonds hold in the plane only", hold.mark, hint))
    return Bond(entry.name, entry.mark, attached, points=points, parts=bodies)


def _joint(name: str, mark: Mark, values: Mapping[str, Any], scope: Scope) -> Bond | None:
    """A joint that an event names. Raises SpecError where that cannot be let go."""
    parts, sections = scope.parts, values.get("Joints", {})
    point, dash, part = name.partition("-")
    if dash and point in parts.rigid_points.get(part, ()):
        return Bond(name, mark, True, points=(point,), parts=(part,), pin=True)
    keys = {re.sub(r"\s+", "", key): section for section, entries in sections.items() for key in entries or ()}
    rods = {each.name for each in parts.rigids if len(each.points) == 2 and not each.mass.value}
    if keys.get(name) in LET_GO or name in rods:
        if keys.get(name) in LET_GO and name in rods:
            raise SpecError(Fault(f"{name} is a rope and a rod", mark, f"call one of them {name[::-1]}"))
        return Bond(name, mark, True, joint="rod" if name in rods else keys[name])
    if parts.names_lost:
        return None
    raise SpecError(_refusal(name, mark, keys, scope))


def _refusal(name: str, mark: Mark, keys: Mapping[str, str], scope: Scope) -> Fault:
    parts = scope.parts
    holders = [part for part, points in parts.rigid_points.items() if name in points]
    if name in keys:
        hint = "an event can let go of pins, rods, ropes, and joints that are equations of positions"
        return Fault(f"{keys[name]}.{name} cannot be released", mark, hint)
    if name in parts.rigid_points:
        pins = listed(f"{point}-{name}" for point in parts.rigid_points[name])
        return Fault(f"{name} is a part with mass, which no event releases", mark, f"release one of its pins: {pins}")
    if holders:
        hint = f"say which part leaves it: {listed(f'{name}-{part}' for part in holders)}"
        return Fault(f"{name} is a point, where parts are joined", mark, hint)
    known = [*keys, *(f"{point}-{part}" for part, points in parts.rigid_points.items() for point in points)]
    hint = did_you_mean(name, known) or "name a pin (B-AB: the part AB leaves B), an entry of Joints or Bonds, or a rod"
    return Fault(f"there is no joint and no bond {name}", mark, hint)
