"""Contacts and stops as gaps: drafts of laws whose one constraint is kept only while it pushes (see mechanism.Gap)."""

from __future__ import annotations

from collections.abc import Iterator

from mechsim.errors import Fault, SpecError
from mechsim.lagrangian.formula import Formula, parameter
from mechsim.lagrangian.vector import SPACE, cross
from mechsim.model.book import Book, Draft, moves
from mechsim.model.mechanism import Gap, Watched
from mechsim.model.origin import Origin
from mechsim.model.quantities import Quantities
from mechsim.model.spatial_contacts import spatial_rows
from mechsim.spec.actions import Contact, Meeting, Stop
from mechsim.spec.motion import plain_name


def add_gaps(quantities: Quantities, book: Book) -> tuple[Gap, ...]:
    """Each becomes an element with one constraint, a constant that tells whether it is closed, and an account."""
    gaps: list[Gap] = []
    accounts: dict[str, int] = {}
    actions = quantities.spec.actions
    found: list[tuple[Contact | Stop | Meeting, tuple[str, Formula]]] = []
    found += [(each, _contact(each, quantities)) for each in actions.contacts]
    found += [(each, pair) for each in actions.stops for pair in _stop(each, quantities)]
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
        label = plain_name(name)
        draft = Draft(f"contact {name}", given.mark, constraints=[(f"contact_{label}", row)])
        draft.origin = Origin("contact", name)
        if given.name not in accounts or not isinstance(given, Meeting):  # nothing of a meeting moves by itself
            draft.account = f"work_contact_{plain_name(given.name) if isinstance(given, Meeting) else label}"
        number = book.add(draft)
        assert number is not None  # something in it moves
        account = book.elements[number].slots[-1] if draft.account else accounts[given.name]
        accounts[given.name] = account
        mode = -1 - book.constant(0.0)
        gaps.append(Gap(name, number, mode, account, given.restitution.value, given.mark))
    return tuple(gaps)


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
        for (name, _), constant in zip(event.sets, constants, strict=True):
            held = next((each for each in book.elements if each.multipliers and -1 - constant in each.slots), None)
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


def _contact(contact: Contact, quantities: Quantities) -> tuple[str, Formula]:
    if contact.gap is not None:
        return contact.name, quantities.of(contact.gap)
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


def _stop(stop: Stop, quantities: Quantities) -> Iterator[tuple[str, Formula]]:
    quantity = quantities.of(stop.quantity)
    if stop.least is not None:
        yield f"{stop.name} min", quantity - quantities.of(stop.least)
    if stop.most is not None:
        yield f"{stop.name} max", quantities.of(stop.most) - quantity
