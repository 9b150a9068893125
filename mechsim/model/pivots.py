"""The force in a pivot as a formula of accelerations and multipliers, so that friction may use it.

What the elements of one part leave over in the Euler-Lagrange rows of a point is the force that everything else exerts
on the part there (see result/bearings.py, which evaluates the same rows); model/rows.py writes them down. Joints that
grip the part have rows there too, lam dC/dx - Q, which are not the pivot's, and teeth load the bearings.
"""

from __future__ import annotations

from mechsim.errors import Fault, SpecError
from mechsim.lagrangian.formula import formula, number, parameter
from mechsim.lagrangian.vector import left, vector
from mechsim.model.grip import Grip
from mechsim.model.quantities import Arrow, Quantities
from mechsim.model.rows import row_of
from mechsim.spec.actions import Friction

OWN = ("planar_body", "turned_length", "placement")  # what a part itself is made of
HINT = "write N, the load of the pivot"


def pivot_force(friction: Friction, quantities: Quantities) -> Arrow:
    """The force on the part of a friction at its pivot with the other part, or with the ground.

    A part that cannot turn has no equations: then it is the force on the other one.
    """
    part = friction.part if friction.part in quantities.layout.angles or not friction.against else friction.against
    assert part is not None
    point = _pivot(friction, quantities)
    _refuse_own_loads(friction, part, point, quantities)
    return force_on(part, point, quantities)


def force_on(part: str, point: str, quantities: Quantities) -> Arrow:
    """The force on a rigid part in its pivot at a point."""
    slots, book = quantities.layout.points[point], quantities.book
    total = vector(number(0) for _ in slots)
    for number_of, element in enumerate(book.elements):
        if element.owner == part and element.kind in OWN:
            total = total + vector(row_of(number_of, slot, book) for slot in slots)
        for grip in element.grips:
            if grip.part == part and point in grip.points:
                total = total + vector(row_of(number_of, slot, book) for slot in slots)
            if grip.bearing == point and part in (grip.part, grip.carrier):
                push = _tooth_force(number_of, grip, quantities)
                total = total - push if grip.part == part else total + push
    return total


def _tooth_force(element: int, grip: Grip, quantities: Quantities) -> Arrow:
    """On the wheel, where it touches the other: across the line of centres, with the torque that its row has."""
    assert grip.place.line
    row = row_of(element, quantities.layout.angles[grip.part], quantities.book)
    push = formula(-row / parameter(f"radius {grip.part}", grip.place.along))
    return push * left(quantities.direction(*grip.place.line))


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
