"""Coulomb's friction, exactly: in contacts, limited by what these push with, and in joints.

What slides is rubbed by a force against the sense in which it does, a constant of the mechanism; what sticks is held by
a constraint (mechanism.Friction, kernel/src/friction.cpp).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.lagrangian.formula import Formula, coordinate, derivative, multiplier, number, parameter
from mechsim.lagrangian.vector import Vector, cross, dot, left
from mechsim.model.book import Book, Draft
from mechsim.model.grip import Grip
from mechsim.model.mechanism import Friction
from mechsim.model.origin import Origin
from mechsim.model.quantities import Arrow, Quantities
from mechsim.spec.motion import plain_name


@frozen
class Rubbing:
    """What slides with `speed`: in the gap of this number, by `kinetic` of what that pushes with; or, where there is no
    gap, by the `limit` of a joint. It sticks with `static` times as much."""

    name: str
    speed: Formula
    mark: Mark
    gap: int = -1
    kinetic: float = 1.0
    static: float = 1.0
    limit: Formula | None = None
    origin: Origin | None = None
    grips: tuple[Grip, ...] = ()
    on_parts: bool = False


def add_frictions(rubbings: Iterable[Rubbing], loads: list[str], book: Book) -> tuple[Friction, ...]:
    """Each becomes an element with a constraint of velocities and a force; those of one name have one account. `loads`:
    multipliers of gaps."""
    accounts: dict[str, int] = {}
    found = []
    for each in rubbings:
        friction = _added(each, loads, book, accounts.get(each.name))
        accounts[each.name] = friction.account
        found.append(friction)
    return tuple(found)


def _added(rubbing: Rubbing, loads: list[str], book: Book, account: int | None) -> Friction:
    label = plain_name(rubbing.name)
    mode, sense = book.constant(0.0), book.constant(0.0)
    most = rubbing.limit or -parameter("mu", rubbing.kinetic) * multiplier(loads[rubbing.gap])
    element = book.add(
        Draft(
            f"friction {rubbing.name}",
            rubbing.mark,
            push=-coordinate(sense) * most,
            nonholonomic=[(f"friction_{label}", rubbing.speed)],
            signals=[most] if rubbing.gap < 0 else [],
            account=f"work_friction_{label}",
            shares=account,
            grips=list(rubbing.grips),
            on_parts=rubbing.on_parts,
            origin=rubbing.origin or Origin("friction", rubbing.name),
        )
    )
    assert element is not None  # something in it slides
    kinetic = rubbing.kinetic if rubbing.gap >= 0 else 1.0
    numbers = kinetic, kinetic * rubbing.static
    own = book.elements[element].slots[-1]
    return Friction(rubbing.name, element, -1 - mode, -1 - sense, rubbing.gap, *numbers, own, rubbing.mark)


def part_of(point: str, quantities: Quantities, user: str, mark: Mark) -> str:
    """The one rigid part that a point is on; "" for a particle or a fixed point. Raises SpecError."""
    if quantities.layout.is_fixed(point):
        return ""
    holders = [part.name for part in quantities.holders.get(point, ())]
    if len(holders) > 1:
        message = (
            f"{user}: the disc about {point} rubs, but {point} is on {' and '.join(holders)}: which of them turns?"
        )
        raise SpecError(Fault(message, mark, "give the part a shape, a disc, and name the part in the contact"))
    return holders[0] if holders else ""


def spin_of(part: str, quantities: Quantities) -> Formula:
    """How fast a part turns, by two of its points; 0 for none."""
    if not part:
        return number(0)
    start, end = quantities.rigids[part].points[:2]
    return spin_of_line(start, end, quantities)


def spin_of_line(start: str, end: str, quantities: Quantities) -> Formula:
    speeds = [_velocity(point, quantities, carried=bool(quantities.carrier(start, end))) for point in (start, end)]
    turning: Formula = cross(quantities.difference(start, end), speeds[1] - speeds[0])
    return turning / quantities.distance(start, end) ** 2 if turning.leaves() else number(0)


def _velocity(point: str, quantities: Quantities, carried: bool) -> Arrow:
    """Of a point of a part that moves as if no ground held it: so the part feels what rubs it there too."""
    return quantities.virtual_velocity(point) if carried else quantities.velocity(point)


def rate(place: Arrow, felt: Collection[int] = ()) -> Arrow:
    """How fast a place moves that is fixed in something; `felt`: slots of fixed points that a part feels."""

    def of(component: Formula) -> Formula:
        total = number(0)
        for slot in dict.fromkeys(leaf.operands[0] for leaf in component.leaves() if leaf.operation == "x"):
            if slot >= 0 or slot in felt:
                total = total + derivative(component, coordinate(slot)) * Formula("v", (slot,))
        return total

    return Vector(tuple(of(component) for component in place))


def slide(
    own: Arrow,
    spin: Formula,
    other: Arrow,
    other_spin: Formula,
    at: Arrow,
    along: Arrow,
    felt: Collection[int] = (),
) -> Formula:
    """How fast what is at `at` of one body slides along a direction over the other. `own` and `other` are places that
    are fixed in them."""
    one = rate(own, felt) + spin * left(at - own)
    two = rate(other, felt) + other_spin * left(at - other)
    return dot(along, one - two)
