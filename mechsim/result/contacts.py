"""What a joint does to a part as a whole: a force where it touches, and a torque, by virtual power.

Rows of an element are generalised forces on coordinates. For those that a grip (model/grip.py) calls the part's, a
rigid motion of the part tells what they come to: their sum is the force, their moment about the place the torque.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechsim.model.grip import Grip, Place
from mechsim.model.mechanism import Mechanism
from mechsim.result.layout import Array

Rows = dict[int, Array]  # per element, what it adds to the Euler-Lagrange rows of its local variables
Indices = tuple[tuple[int, int, int], ...]  # element, axis, local variable


@dataclass(frozen=True, slots=True)
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
        """Force on the part, (..., dimension), and torque besides, (...), about the grip's axis at the place."""
        own = rows[self.element]
        place = place_of(self.grip.place, self.mechanism, q)
        force, torque = np.zeros_like(place), np.zeros(place.shape[:-1])
        for point, locals_ in self.points:
            push = -own[..., list(locals_)]
            force = force + push
            torque = torque + self.grip.axis.moment(position(point, self.mechanism, q) - place, push)
        if self.turn is not None:
            torque = torque - own[..., self.turn]
        if not self.grip.is_toothed:
            return force, torque
        assert self.grip.place.line
        across = self.grip.axis.across(direction(self.grip.place.line, self.mechanism, q))
        return torque[..., None] / self.grip.place.along * across, np.zeros_like(torque)


def contacts(mechanism: Mechanism) -> list[Contact]:
    """All grips of all elements, those of one joint on one part in one."""
    angles = {each.owner: slot for slot, each in enumerate(mechanism.variables) if each.kind == "angle"}
    found = []
    for number, element in enumerate(mechanism.elements):
        for grip in element.grips:
            label = element.multipliers[0].replace(",", "_") if element.multipliers else element.owner
            locals_of = {slot: local for local, slot in enumerate(element.slots)}
            points = tuple((name, _locals(name, mechanism, locals_of)) for name in grip.points)
            turn = locals_of.get(angles[grip.part]) if grip.part in angles else None
            touched = tuple(each for each in points if each[1])
            found.append(Contact(mechanism, number, grip, label, touched, turn))
    return found


def _locals(point: str, mechanism: Mechanism, locals_of: dict[int, int]) -> tuple[int, ...]:
    """Of all coordinates of a point, or none: a joint that moves with none of them does not act there."""
    slots = mechanism.points[point]
    return tuple(locals_of[slot] for slot in slots) if all(slot in locals_of for slot in slots) else ()


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
