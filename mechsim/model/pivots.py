"""The force in a pivot as a formula of accelerations and multipliers, so that friction may use it.

What the elements of one part leave over in the Euler-Lagrange rows of a point is the force that everything else exerts
on the part there (see result/bearings.py, which evaluates the same rows). In complex numbers, as in seed 001
Theorem 3.2, with the centroid at a + xi (b - a):

    planar_body    a: m (1 - xi*) (c'' - g) - spin (b'' - a'')    b: m xi* (c'' - g) + spin (b'' - a'')
    turned_length  a: -lam                                        b: lam
    placement      a: alpha* lam    b: beta* lam    p: gamma* lam, its constraint being alpha a + beta b + gamma p

Joints that grip the part have rows there too, lam dC/dx - Q, which are not the pivot's, and teeth load the bearings.
"""

from __future__ import annotations

from mechsim.errors import Fault, SpecError
from mechsim.model.book import Book
from mechsim.model.formula import (
    Formula,
    acceleration,
    coordinate,
    derivative,
    formula,
    multiplier,
    number,
    parameter,
)
from mechsim.model.grip import Grip
from mechsim.model.mechanism import Element
from mechsim.model.quantities import Pair, Quantities
from mechsim.spec.actions import Friction

HINT = "write N, the load of the pivot"


def pivot_force(friction: Friction, quantities: Quantities) -> Pair:
    """The force on the part of a friction at its pivot with the other part, or with the ground.

    A part that cannot turn has no equations: then it is the force on the other one.
    """
    part = friction.part if friction.part in quantities.layout.angles or not friction.against else friction.against
    assert part is not None
    point = _pivot(friction, quantities)
    _refuse_own_loads(friction, part, point, quantities)
    return force_on(part, point, quantities)


def force_on(part: str, point: str, quantities: Quantities) -> Pair:
    """The force on a rigid part in its pivot at a point."""
    slots, book = quantities.layout.points[point], quantities.book
    total: Pair = (number(0), number(0))
    for number_of, element in enumerate(book.elements):
        if element.owner == part and element.kind in ROWS:
            places = [tuple(element.slots[first : first + 2]) for first in (0, 2, 4)]
            if slots in places:
                total = _plus(total, ROWS[element.kind](element, places.index(slots)))
        for grip in element.grips:
            if grip.part == part and point in grip.points:
                total = _plus(total, (_row(number_of, slots[0], book), _row(number_of, slots[1], book)))
            if grip.bearing == point and part in (grip.part, grip.carrier):
                push = _tooth_force(number_of, grip, quantities)
                total = _minus(total, push) if grip.part == part else _plus(total, push)
    return total


def _row(element: int, slot: int, book: Book) -> Formula:
    """What a joint adds to the row of a coordinate."""
    draft, labels = book.drafts.get(element), book.elements[element].multipliers
    if draft is None:
        rows, kinds = [_collinear(book.elements[element])], "x"
    else:
        rows = [row for _, row in (*draft.constraints, *draft.nonholonomic)]
        kinds = "x" * len(draft.constraints) + "v" * len(draft.nonholonomic)
    total = number(0)
    for label, row, kind in zip(labels, rows, kinds, strict=True):
        total = total + multiplier(label) * derivative(row, Formula(kind, (slot,)))
    for place, force in draft.forces if draft else ():
        total = total - force if place == slot else total
    return total


def _collinear(element: Element) -> Formula:
    a_x, a_y, b_x, b_y, c_x, c_y = (coordinate(slot) for slot in element.slots)
    return (b_x - a_x) * (c_y - a_y) - (b_y - a_y) * (c_x - a_x)


def _tooth_force(element: int, grip: Grip, quantities: Quantities) -> Pair:
    """On the wheel, where it touches the other: across the line of centres, with the torque that its row has."""
    assert grip.place.line
    x, y = quantities.direction(*grip.place.line)
    row = _row(element, quantities.layout.angles[grip.part], quantities.book)
    push = formula(-row / parameter(f"radius {grip.part}", grip.place.along))
    return -push * y, push * x


def _pivot(friction: Friction, quantities: Quantities) -> str:
    """The one point that the part shares with the other part, or with the ground."""
    assert friction.part is not None
    other = quantities.rigids[friction.against].points if friction.against else tuple(quantities.spec.fixed)
    shared = [point for point in quantities.rigids[friction.part].points if point in other]
    if len(shared) != 1:
        message = f"Friction.{friction.name} has no load N, and there is not just one pivot to give it"
        raise SpecError(Fault(message, friction.mark, HINT))
    return shared[0]


def _refuse_own_loads(friction: Friction, part: str, point: str, quantities: Quantities) -> None:
    """Forces of the part itself that have laws of their own, which the formula does not know."""
    spec = quantities.spec
    pushed = {(force.part, force.point) for force in spec.forces}
    pushed |= {(force.part, force.point) for force in spec.actions.forces}
    if (part, point) in pushed or spec.actions.central_gravity:
        what = "central gravity is" if spec.actions.central_gravity else "forces on its own pivot are"
        message = f"Friction.{friction.name} has no load N, and {what} not in the load it would find"
        raise SpecError(Fault(message, friction.mark, HINT))


def _planar_body(element: Element, place: int) -> Pair:
    value = element.parameters
    along, across, mass = value["xi_x"], value["xi_y"], value["mass"]
    a, b = (_accelerations(element.slots[first : first + 2]) for first in (0, 2))
    bend = _minus(b, a)
    field = (parameter("g_x", value["g_x"]), parameter("g_y", value["g_y"]))
    centroid = _minus(_plus(a, _times("xi", (along, across), bend)), field)
    share = ((1 - along) * mass, across * mass) if place == 0 else (along * mass, -across * mass)
    spin = -value["spin"] if place == 0 else value["spin"]
    return _plus(_times(f"mass {place}", share, centroid), _times("spin", (spin, 0.0), bend))


def _turned_length(element: Element, place: int) -> Pair:
    x, y = _multipliers(element)
    return (-x, -y) if place == 0 else (x, y)


def _placement(element: Element, place: int) -> Pair:
    side = "abc"[place]
    coefficient = (element.parameters[f"{side}_x"], -element.parameters[f"{side}_y"])
    return _times(f"{element.multipliers[0]} {side}", coefficient, _multipliers(element))


ROWS = {"planar_body": _planar_body, "turned_length": _turned_length, "placement": _placement}


def _accelerations(slots: tuple[int, ...]) -> Pair:
    x, y = (acceleration(slot) for slot in slots)
    return x, y


def _multipliers(element: Element) -> Pair:
    x, y = (multiplier(label) for label in element.multipliers)
    return x, y


def _plus(a: Pair, b: Pair) -> Pair:
    return a[0] + b[0], a[1] + b[1]


def _minus(a: Pair, b: Pair) -> Pair:
    return a[0] - b[0], a[1] - b[1]


def _times(name: str, factor: tuple[float, float], vector: Pair) -> Pair:
    """The product of complex numbers; a factor is two parameters, so that equal mechanisms share their laws."""
    along, across = _known(f"{name} x", factor[0]), _known(f"{name} y", factor[1])
    return along * vector[0] - across * vector[1], across * vector[0] + along * vector[1]


def _known(name: str, value: float) -> Formula:
    """A parameter; zero is left out, for the formula becomes shorter."""
    return parameter(name, value) if value else number(0)
