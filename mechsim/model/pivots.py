"""The force in a pivot as a formula of accelerations and multipliers, so that friction may use it.

What the elements of one part leave over in the Euler-Lagrange rows of a point is the force that everything else exerts
on the part there (see result/reactions.py, which evaluates the same rows). In complex numbers, as in seed 001
Theorem 3.2, with the centroid at a + xi (b - a):

    planar_body    a: m (1 - xi*) (c'' - g) - spin (b'' - a'')    b: m xi* (c'' - g) + spin (b'' - a'')
    turned_length  a: -lam                                        b: lam
    placement      a: alpha* lam    b: beta* lam    p: gamma* lam, its constraint being alpha a + beta b + gamma p
"""

from __future__ import annotations

from mechsim.errors import Fault, SpecError
from mechsim.model.book import Book
from mechsim.model.formula import Formula, acceleration, multiplier, number, parameter
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
    return force_on(part, quantities.layout.points[point], quantities.book)


def force_on(part: str, point: tuple[int, ...], book: Book) -> Pair:
    """The force on a rigid part at the point with these slots."""
    total: Pair = (number(0), number(0))
    for element in book.elements:
        if element.owner == part and element.kind in ROWS:
            places = [tuple(element.slots[first : first + 2]) for first in (0, 2, 4)]
            if point in places:
                total = _plus(total, ROWS[element.kind](element, places.index(point)))
    return total


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
    xi, weight = complex(value["xi_x"], value["xi_y"]), complex(value["g_x"], value["g_y"])
    a, b = (_accelerations(element.slots[first : first + 2]) for first in (0, 2))
    bend = _minus(b, a)
    field = (parameter("g_x", weight.real), parameter("g_y", weight.imag))
    centroid = _minus(_plus(a, _times("xi", xi, bend)), field)
    share = (1 - xi if place == 0 else xi).conjugate() * value["mass"]
    spin = -value["spin"] if place == 0 else value["spin"]
    return _plus(_times(f"mass {place}", share, centroid), _times("spin", complex(spin), bend))


def _turned_length(element: Element, place: int) -> Pair:
    x, y = _multipliers(element)
    return (-x, -y) if place == 0 else (x, y)


def _placement(element: Element, place: int) -> Pair:
    side = "abc"[place]
    coefficient = complex(element.parameters[f"{side}_x"], -element.parameters[f"{side}_y"])
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


def _times(name: str, factor: complex, vector: Pair) -> Pair:
    """The product of complex numbers; a factor is two parameters, so that equal mechanisms share their laws."""
    along, across = _known(f"{name} x", factor.real), _known(f"{name} y", factor.imag)
    return along * vector[0] - across * vector[1], across * vector[0] + along * vector[1]


def _known(name: str, value: float) -> Formula:
    """A parameter; zero is left out, for the formula becomes shorter."""
    return parameter(name, value) if value else number(0)
