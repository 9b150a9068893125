"""What a joint does to a part as a whole: a force where it touches, and a torque, by virtual power.

Rows of an element are generalised forces on coordinates. For those that a grip (model/grip.py) calls the part's, a
rigid motion of the part tells what they come to: their sum is the force, their moment about the place the torque.
"""

from __future__ import annotations

import numpy as np

from mechsim.frozen import frozen
from mechsim.model.axis import moments
from mechsim.model.grip import Grip, Place
from mechsim.model.mechanism import Element, Mechanism
from mechsim.result.layout import Array

Rows = dict[int, Array]  # per element, what it adds to the Euler-Lagrange rows of its local variables
Indices = tuple[tuple[int, int, int], ...]  # element, axis, local variable


@frozen
class Contact:
    """The grip of one element on one part. `points` are the locals of each point of the grip, `turn` that of the turn
    angle of the part, if the element acts on it. `label` names the place where it is no point."""

    mechanism: Mechanism
    element: int
    grip: Grip
    label: str
    points: tuple[tuple[str, tuple[int, ...]], ...]
    turn: int | None

    def wrench(self, rows: Rows, q: Array) -> tuple[Array, Array]:
        """Force on the part, (..., dimension), and moment besides at the place, (..., turns): one in the plane, about
        its normal, three in space."""
        own = rows[self.element]
        place = place_of(self.grip.place, self.mechanism, q)
        force, moment = np.zeros_like(place), moments(place, np.zeros_like(place))
        at_rest = np.zeros(place.shape[:-1])
        for point, locals_ in self.points:
            push = np.stack([-own[..., each] if each >= 0 else at_rest for each in locals_], axis=-1)
            force = force + push
            moment = moment + moments(position(point, self.mechanism, q) - place, push)
        if self.turn is not None:
            moment = moment - own[..., self.turn, None] * self.grip.axis.components(self.mechanism.dimension)
        if not self.grip.is_toothed:
            return force, moment
        assert self.grip.place.line
        across = self.grip.axis.across(direction(self.grip.place.line, self.mechanism, q))
        return moment / self.grip.place.along * across, np.zeros_like(moment)


def contacts(mechanism: Mechanism) -> list[Contact]:
    """All grips of all elements, those of one joint on one part in one."""
    angles = {each.owner: slot for slot, each in enumerate(mechanism.variables) if each.kind == "angle"}
    found = []
    for number, element in enumerate(mechanism.elements):
        for grip in element.grips:
            label = element.multipliers[0].replace(",", "_") if element.multipliers else element.owner
            locals_of = _locals_of(element, grip.part)
            points = tuple((name, _locals(name, mechanism, locals_of)) for name in grip.points)
            turn = locals_of.get(angles[grip.part]) if grip.part in angles else None
            touched = tuple(each for each in points if each[1])
            found.append(Contact(mechanism, number, grip, label, touched, turn))
    return found


def _locals_of(element: Element, part: str) -> dict[int, int]:
    """Where each slot stands among the variables of an element; one that stands there as that of two parts, as that of
    this one."""
    sides = element.sides or ("",) * len(element.slots)
    held = [(slot, local) for local, slot in enumerate(element.slots) if sides[local] in ("", part)]
    return dict(sorted(held, key=lambda each: sides[each[1]] == part))


def _locals(point: str, mechanism: Mechanism, locals_of: dict[int, int]) -> tuple[int, ...]:
    """Of all coordinates of a point, -1 for those that the joint does not move with; none if it moves with none of
    them, for then it does not act there."""
    slots = mechanism.points[point]
    return tuple(locals_of.get(slot, -1) for slot in slots) if any(slot in locals_of for slot in slots) else ()


def position(point: str, mechanism: Mechanism, q: Array) -> Array:
    """Where a point is, (..., dimension)."""
    fixed = mechanism.constants
    values = [
        q[..., slot] if slot >= 0 else np.full(q.shape[:-1], fixed[-1 - slot]) for slot in mechanism.points[point]
    ]
    return np.stack(values, axis=-1)


def place_of(place: Place, mechanism: Mechanism, q: Array) -> Array:
    """Where a place is, (..., dimension)."""
    here = position(place.point, mechanism, q)
    if place.line is None or place.is_point:
        return here
    along = direction(place.line, mechanism, q)
    return here + place.along * along + place.across * turned_left(along)


def direction(line: tuple[str, str], mechanism: Mechanism, q: Array) -> Array:
    """The unit vector along a line, (..., dimension)."""
    way = position(line[1], mechanism, q) - position(line[0], mechanism, q)
    return np.asarray(way / np.linalg.norm(way, axis=-1, keepdims=True))


def turned_left(vector: Array) -> Array:
    """By a right angle in the plane."""
    return np.stack([-vector[..., 1], vector[..., 0]], axis=-1)
