"""Contacts and stops as gaps: drafts of laws whose one constraint is kept only while it pushes (see mechanism.Gap)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mechsim.errors import Fault, SpecError
from mechsim.lagrangian.formula import (
    NUMBERS,
    Formula,
    constant,
    coordinate,
    derivative,
    evaluated,
    formula,
    number,
    parameter,
    sqrt,
)
from mechsim.lagrangian.vector import SPACE, cross, dot, left, square, vector
from mechsim.model.book import Book, Draft, moves
from mechsim.model.control import JUMP
from mechsim.model.friction import Rubbing, part_of, slide, spin_of, spin_of_line
from mechsim.model.grip import Grip, Place
from mechsim.model.joints import on_line
from mechsim.model.mechanism import Gap, Watched
from mechsim.model.origin import Origin
from mechsim.model.quantities import Arrow, Quantities
from mechsim.model.spatial_contacts import spatial_rows
from mechsim.spec.actions import Contact, Curve, Meeting, Stop
from mechsim.spec.motion import plain_name
from mechsim.spec.names import AXES


def gap_of(name: str, element: int, mode: int, account: int, given: Contact | Stop | Meeting) -> Gap:
    bounce = given.bounce
    slow = bounce.slow.value if bounce.slow else 0.0
    return Gap(name, element, mode, account, bounce.restitution.value, given.mark, bounce.law, slow)


def add_gaps(quantities: Quantities, book: Book, first_gap: int, rubbings: list[Rubbing]) -> tuple[Gap, ...]:
    """Each becomes an element with one constraint, a constant that tells whether it is closed, and an account. What
    rubs in them is added to a list."""
    gaps: list[Gap] = []
    accounts: dict[str, int] = {}
    actions = quantities.spec.actions
    found: list[tuple[Contact | Stop | Meeting, tuple[str, Formula]]] = []
    found += [(each, contact_row(each, quantities)) for each in actions.contacts if not each.compliance]
    found += [(each, pair) for each in actions.stops if not each.compliance for pair in stop_rows(each, quantities)]
    if quantities.spec.dimension == SPACE:
        for each in actions.meetings:
            try:
                found += [(each, pair) for pair in spatial_rows(each, quantities)]
            except SpecError as error:
                book.faults += error.faults
    for given, (name, row) in found:
        if not moves(row):
            hint = "its points are on one part, or fixed in the world: remove it"
            book.faults.append(Fault(f"contact {given.name}: nothing in it can move", given.mark, hint))
            continue
        _refuse_jumps(given, row, book)
        label = plain_name(name)
        draft = Draft(f"contact {name}", given.mark, constraints=[(f"contact_{label}", row)])
        draft.origin = Origin("contact", name)
        grips = grips_of(given, quantities) if isinstance(given, Contact) else []
        draft.grips = grips
        if given.name not in accounts or not isinstance(given, Meeting):  # nothing of a meeting moves by itself
            draft.account = f"work_contact_{plain_name(given.name) if isinstance(given, Meeting) else label}"
        number = book.add(draft)
        assert number is not None  # something in it moves
        account = book.elements[number].slots[-1] if draft.account else accounts[given.name]
        accounts[given.name] = account
        mode = -1 - book.constant(0.0)
        rubs = None if isinstance(given, Stop) else given.rubs
        gaps.append(gap_of(name, number, mode, account, given))
        if rubs and isinstance(given, Contact):
            try:
                speed = _slide(given, quantities)
            except SpecError as error:
                book.faults += error.faults
                continue
            ratio = rubs.static.value / rubs.mu.value
            rubbings.append(
                Rubbing(name, speed, given.mark, first_gap + len(gaps) - 1, rubs.mu.value, ratio, grips=tuple(grips))
            )
    return tuple(gaps)


def _refuse_jumps(given: Contact | Stop | Meeting, row: Formula, book: Book) -> None:
    """A barrier may change its speed at once, which is an impact, but not its place."""
    held = list(book.constants)
    used = {-1 - leaf.operands[0] for leaf in row.leaves() if leaf.operation == "x"}
    for switch in book.switches:
        if used.isdisjoint(switch.values):
            continue
        before = _somewhere(row, switch.time, held)
        for index, value in switch.values.items():
            held[index] = value
        after = _somewhere(row, switch.time, held)
        if abs(after - before) > JUMP * (1 + abs(before)):
            message = f"contact {given.name}: its gap jumps by {after - before:.6g} at t = {switch.time:g}"
            hint = "nothing can follow that: let the pieces meet, or write kind: linear"
            book.faults.append(Fault(message, given.mark, hint))
            return


def _somewhere(row: Formula, time: float, constants: list[float]) -> float:
    """The gap at a time, at a place that is nothing special."""

    def leaf(found: Formula) -> float:
        if found.operation == "x" and found.operands[0] >= 0:
            return 0.3 + 0.618 * float(found.operands[0]) % 1
        return constant(found, time, constants)

    try:
        return float(evaluated(row, leaf, NUMBERS))
    except (ArithmeticError, ValueError):  # no value there: the run will say so where it comes
        return math.nan


def add_events(quantities: Quantities, book: Book) -> tuple[Watched, ...]:
    """Elements that do nothing but compute what is watched, and what is then set."""
    events = []
    for event in quantities.spec.actions.events:
        signals = [quantities.of(event.when), *(quantities.of(expression) for _, expression in event.sets)]
        draft = Draft(f"event {event.name}", event.mark, signals=signals, readout=True)
        draft.origin = Origin("event", event.name)
        number = book.add(draft)
        assert number is not None  # a readout is kept
        constants = tuple(book.inputs[name].value for name, _ in event.sets)
        for (name, _), given in zip(event.sets, constants, strict=True):
            held = next((each for each in book.elements if each.multipliers and -1 - given in each.slots), None)
            if held is not None:
                message = f"Events.{event.name} sets {name}, on which {held.title} depends: what is held cannot jump"
                hint = "set what forces and torques depend on, or let it follow a table or a function of time"
                book.faults.append(Fault(message, event.mark, hint))
        events.append(
            Watched(
                event.name, number, event.direction, event.stops, constants, event.mark, event.releases, event.attaches
            )
        )
    for watched, sign in quantities.switches.items():
        draft = Draft("a switch", None, signals=[watched], readout=True, origin=Origin("event", "switch"))
        number = book.add(draft)
        assert number is not None
        events.append(Watched("switch", number, 0, False, (-1 - sign.operands[0],), switch=True))
    return tuple(events)


def contact_row(contact: Contact, quantities: Quantities) -> tuple[str, Formula]:
    if contact.gap is not None:
        row = quantities.of(contact.gap)
        if contact.rubs:  # its multiplier is then a force
            row = row / formula(sqrt(square(_sliding(contact, row, quantities)[1])))
        return contact.name, row
    if contact.curve is not None:
        return contact.name, _beside_curve(contact.curve, quantities)
    first, *others = contact.points
    if len(others) == 1:
        apart = quantities.distance(first, others[0])
        assert contact.number is not None
        radius = parameter("radius", contact.number.value)
        return contact.name, radius - apart if contact.inside else apart - radius
    height = cross(quantities.direction(*others), quantities.difference(others[0], first))
    if quantities.carrier(first, *others):
        height = parameter("height", 0.0)  # of one rigid part
    return contact.name, height if contact.number is None else height - parameter("offset", contact.number.value)


def _sliding(contact: Contact, row: Formula, quantities: Quantities) -> tuple[str, Arrow]:
    """The one point that a gap depends on, and how the gap widens with its place. Raises SpecError."""
    slots = {leaf.operands[0] for leaf in row.leaves() if leaf.operation == "x" and leaf.operands[0] >= 0}
    point = next((name for name, own in quantities.layout.points.items() if slots <= set(own)), None)
    if point is None:
        message = f"contact {contact.name} has friction, but its gap depends on more than one point"
        hint = "friction is known for a gap of one point, or of two things by name"
        raise SpecError(Fault(message, contact.mark, hint))
    return point, vector(derivative(row, coordinate(slot)) for slot in quantities.layout.points[point])


def _slide(contact: Contact, quantities: Quantities) -> Formula:
    """How fast what meets slides along: of a point over a line or a circle that may move and turn, or over a curve."""
    if contact.gap is not None or contact.curve is not None:
        return _slide_on_curve(contact, quantities)
    first, *others = contact.points
    at = quantities.point(first)
    spin = number(0)
    if len(others) == 1:
        apart = quantities.difference(others[0], first)
        normal = apart / formula(sqrt(square(apart)))
        along = -left(normal)
        other_spin = spin_of(part_of(others[0], quantities, f"Contacts.{contact.name}", contact.mark), quantities)
    else:
        along = quantities.direction(*others)
        other_spin = spin_of_line(others[0], others[1], quantities)
        if contact.number is not None and contact.number.value:
            spin = spin_of(part_of(first, quantities, f"Contacts.{contact.name}", contact.mark), quantities)
            at = at - parameter("offset", contact.number.value) * left(along)
    # Where the ground holds a part that is rubbed, it feels that too.
    felt = [slot for point in others for slot in quantities.layout.points[point]] if quantities.carrier(*others) else []
    return slide(quantities.point(first), spin, quantities.point(others[0]), other_spin, at, along, felt)


def grips_of(contact: Contact, quantities: Quantities) -> list[Grip]:
    """The part whose line is met feels it there; with friction also a part whose disc touches, and one that a circle is
    on."""
    if len(contact.points) < 2:
        return []
    first, *others = contact.points
    if len(others) == 1:
        part = part_of(others[0], quantities, f"Contacts.{contact.name}", contact.mark) if contact.rubs else ""
        return [_grip(part, Place(first), quantities, others[0])] if part else []
    offset = contact.number.value if contact.number is not None else 0.0
    line = (others[0], others[1])
    place = Place(first, line, across=-offset)
    grips = on_line(line, place, quantities)
    if contact.rubs and offset:
        part = part_of(first, quantities, f"Contacts.{contact.name}", contact.mark)
        grips += [_grip(part, place, quantities, first)] if part else []
    return grips


def _grip(part: str, place: Place, quantities: Quantities, *points: str) -> Grip:
    return Grip(part, tuple(dict.fromkeys((*points, *quantities.rigids[part].points[:2]))), place)


def _slide_on_curve(contact: Contact, quantities: Quantities) -> Formula:
    if contact.curve is not None:
        row = _curve(contact.curve, quantities)
    else:
        assert contact.gap is not None
        row = quantities.of(contact.gap)
    point, slope = _sliding(contact, row, quantities)
    along = -left(slope / formula(sqrt(square(slope))))
    return dot(along, quantities.velocity(point))


def _beside_curve(curve: Curve, quantities: Quantities) -> Formula:
    """The distance of a point from F = 0, as F over the length of its gradient, which is the distance where it counts,
    near the curve; far from it, where there may be no gradient, F itself takes part."""
    row, point = _curve(curve, quantities), quantities.point(curve.point)
    slopes = [derivative(row, leaf) for leaf in point if leaf.operands[0] >= 0]
    size = parameter("size", quantities.layout.chains.at([curve.point]).size)
    return row / sqrt(square(vector([*slopes, row / size])))


def _curve(curve: Curve, quantities: Quantities) -> Formula:
    assert curve.implicit is not None
    return quantities.of(curve.implicit, dict(zip(AXES, quantities.point(curve.point), strict=False)))


def stop_rows(stop: Stop, quantities: Quantities) -> Iterator[tuple[str, Formula]]:
    quantity = quantities.of(stop.quantity)
    if stop.least is not None:
        yield f"{stop.name} min", quantity - quantities.of(stop.least)
    if stop.most is not None:
        yield f"{stop.name} max", quantities.of(stop.most) - quantity
