"""Which element acts on which part, and where: the force at each bearing of a part, and the torque on it.

Coordinates are the points themselves, so an Euler-Lagrange row of a point is a force there. What the elements of ONE
part leave over in the rows of its point, d/dt dL/dx' - dL/dx - Q + C_x^T lam with the true accelerations and
multipliers, is the force that everything else exerts on the part at this point: other parts, the ground, and forces
that act on the point itself. Weight, and forces that act on the part itself (`OA.A`), are the part's own and not in it.
The row of a turn angle, left over by the constraint that defines it, is likewise the torque on the part. A fixed point
has no row in the equations, but its elements have one all the same.

Joints that grip a part (a slot in it, teeth on it) have rows at its points too, though they act elsewhere: these rows
count with the part's own, and the joint's force is added where it touches (see contacts.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.lagrangian.vector import PLANE, SPACE
from mechsim.model.axis import Axis, moments
from mechsim.model.chains import DisjointSets
from mechsim.model.grip import Grip
from mechsim.model.mechanism import Element, Mechanism, Part
from mechsim.result.contacts import Contact, Indices, Rows, contacts, direction, place_of, position
from mechsim.result.layout import Array

ALL = "all"
# Joints that may hold a part by a moment, which is known by itself: those of space, and welds.
MOMENTS = frozenset(
    {"weld", "hinge", "universal", "cylinder", "prism", "screw", "plane", "coupling", "angle", "disc", "ball"}
)


@frozen
class Bearing:
    """A part at a point, or at another place near it that `label` names.

    `rows` are those of the part there, and of what grips it; `touching` are the contacts there, and `teeth` those whose
    counterforce is borne there: -1 on the wheel itself, 1 on what carries it. `further` are points of the same joint:
    in space two parts that share two points are hinged there, and what is known is one force and one moment. `beside`
    is the other fixed point of a part of the plane that stands still, and their line: nothing tells how the two share
    what pushes along it, so each bears half.
    """

    point: str
    part: Part
    label: str
    rows: Indices
    touching: tuple[Contact, ...] = ()
    teeth: tuple[tuple[float, Contact], ...] = ()
    further: tuple[Bearing, ...] = ()
    beside: tuple[Bearing, Array] | None = None

    @property
    def name(self) -> str:
        return f"{self.label}_{self.part.name}"

    @property
    def key(self) -> str:
        """What a person calls it who asks for the forces at the point: the part, or the place too."""
        return self.part.name if self.label == self.point else self.name

    @property
    def elements(self) -> set[int]:
        joints = (*self.touching, *(contact for _, contact in self.teeth))
        found = {element for element, _, _ in self.rows} | {contact.element for contact in joints}
        beside = self.beside[:1] if self.beside else ()
        return found.union(*(bearing.elements for bearing in (*self.further, *beside)))

    @property
    def has_moment(self) -> bool:
        """Whether a moment is known here by itself."""
        joints = (contact.mechanism.elements[contact.element].origin.sort for contact in self.touching)
        return bool(self.further) or any(sort in MOMENTS for sort in joints)

    def place(self, q: Array) -> Array:
        """Where the force acts, if it is not at the point, (..., dimension)."""
        contact = self.touching[0]
        return place_of(contact.grip.place, contact.mechanism, q)

    def force(self, rows: Rows, q: Array, dimension: int) -> Array:
        """The force on the part there, in the world frame, (..., dimension)."""
        total = np.zeros((*q.shape[:-1], dimension))
        for element, axis, local in self.rows:
            total[..., axis] += rows[element][..., local]
        for contact in self.touching:
            total += contact.wrench(rows, q)[0]
        for sign, contact in self.teeth:
            total += sign * contact.wrench(rows, q)[0]
        for other in self.further:
            total += other.force(rows, q, dimension)
        if self.beside:
            other, along = self.beside
            apart = other.force(rows, q, dimension) - total
            total += along * (along * apart).sum(axis=-1, keepdims=True) / 2
        return total

    def moment(self, rows: Rows, q: Array, mechanism: Mechanism) -> Array:
        """The moment on the part about this point, besides that force, (..., turns)."""
        here = position(self.point, mechanism, q)
        total = moments(here, np.zeros_like(here))
        for contact in self.touching:
            total = total + contact.wrench(rows, q)[1]
        for other in self.further:
            arm = position(other.point, mechanism, q) - here
            total = total + moments(arm, other.force(rows, q, mechanism.dimension)) + other.moment(rows, q, mechanism)
        return total


@frozen
class PartTorque:
    """The torque on a part about its axis, apart from its forces at points. `carried` are the teeth whose counterforces
    it takes."""

    axis: Axis
    rows: tuple[tuple[int, int], ...]  # element, local variable
    touching: tuple[Contact, ...]
    carried: tuple[Contact, ...]

    @property
    def elements(self) -> set[int]:
        return {element for element, _ in self.rows} | {each.element for each in (*self.touching, *self.carried)}

    def about_axis(self, rows: Rows, q: Array) -> Array:
        total = np.zeros(q.shape[:-1])
        for element, local in self.rows:
            total = total + rows[element][..., local]
        for contact in self.touching:
            total = total + contact.wrench(rows, q)[1][..., 0]
        for contact in self.carried:  # its rows have their moment, which now the forces have
            here = position(contact.grip.bearing, contact.mechanism, q)
            force = contact.wrench(rows, q)[0]
            total = total - self.axis.moment(here, force)
            if contact.grip.held:
                total = total + self.axis.moment(position(contact.grip.held, contact.mechanism, q), force)
        return total


class Actions:
    """Which element acts on which part, and where."""

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self.contacts = contacts(mechanism)
        self.touching = _by(self.contacts, lambda grip: grip.place.point)
        self.gripping = _by(self.contacts, lambda grip: grip.part)
        self.borne = _by(self.contacts, lambda grip: grip.bearing)
        self.carried = _by(self.contacts, lambda grip: grip.carrier)
        self.held = _by(self.contacts, lambda grip: grip.held)
        self.parts = {part.name: part for part in mechanism.parts}
        self._joints: dict[str, DisjointSets] = {}  # by part: its points that are of one joint
        self.holders: dict[str, list[Part]] = {name: [] for name in mechanism.points}  # the parts at each point
        for part in mechanism.parts:
            for point in part.points:
                self.holders[point].append(part)
        self.own: dict[str, list[int]] = {part.name: [] for part in mechanism.parts}
        for number, element in enumerate(mechanism.elements):
            if element.origin.part in self.own:
                self.own[element.origin.part].append(number)

    def joints(self) -> list[str]:
        """Points where something acts on a part: other parts, the ground, a line, a force, a drive."""
        silent = {number for numbers in self.own.values() for number in numbers} | {*self.mechanism.readouts.values()}
        foreign = {
            slot
            for number, each in enumerate(self.mechanism.elements)
            if number not in silent
            for slot in set(each.slots) - self._gripped(each)
        }
        found = []
        for point, slots in self.mechanism.points.items():
            holders = [part for part in self.holders[point] if self.own[part.name]]
            loaded = len(holders) > 1 or any(slot < 0 for slot in slots) or foreign & set(slots)
            if (holders and loaded) or point in self.touching:
                found.append(point)
        return found

    def _gripped(self, element: Element) -> set[int]:
        return {slot for grip in element.grips for name in grip.points for slot in self.mechanism.points[name]}

    def bearings(self, points: Sequence[str]) -> list[Bearing]:
        """The parts at each of these points, and at places near them; each joint once."""
        firsts = {self.joint(point, part)[0]: None for point in points for part in self.holders[point]}
        found = [bearing for point in dict.fromkeys([*points, *firsts]) for bearing in self._bearings(point)]
        return [bearing for bearing in found if bearing.rows or bearing.touching]

    def _bearings(self, point: str) -> list[Bearing]:
        near = self.touching.get(point, [])
        here = [contact for contact in near if contact.grip.place.is_point]
        touched = dict.fromkeys(contact.grip.part for contact in here)
        found = []
        for name in dict.fromkeys([*(part.name for part in self.holders[point]), *touched]):
            joint = self.joint(point, self.parts[name])
            if joint[0] == point:
                bearing, *others = (self._at(each, name) for each in joint)
                found.append(replace(bearing, further=tuple(others), beside=self._beside(point, self.parts[name])))
        apart = [contact for contact in near if not contact.grip.place.is_point]
        return found + [Bearing(point, self.parts[each.grip.part], each.label, (), (each,)) for each in apart]

    def _at(self, point: str, name: str) -> Bearing:
        """Of one part at one of its points."""
        part, near = self.parts[name], self.touching.get(point, [])
        touching = tuple(each for each in near if each.grip.place.is_point and each.grip.part == name)
        return Bearing(point, part, point, self._rows(point, part), touching, self._teeth(point, name))

    def _beside(self, point: str, part: Part) -> tuple[Bearing, Array] | None:
        pair = part.points[:PLANE]
        fixed = all(self.mechanism.points[name][0] < 0 for name in pair)
        if self.mechanism.dimension != PLANE or len(pair) < PLANE or point not in pair or not fixed:
            return None
        along = direction((pair[0], pair[1]), self.mechanism, np.zeros(0))
        return self._at(pair[1 - pair.index(point)], part.name), along

    def joint(self, point: str, part: Part) -> list[str]:
        """The points of a part that are held together with this one by another part, or by the ground; in the plane
        each is by itself."""
        if self.mechanism.dimension != SPACE or part.kind != "rigid" or point not in part.points:
            return [point]
        if part.name not in self._joints:
            sets = DisjointSets(part.points)
            neighbours = {other.name: other for name in part.points for other in self.holders[name]}
            for other in neighbours.values():
                if other.name != part.name and other.kind == "rigid":
                    sets.join(name for name in part.points if name in other.points)
            sets.join(name for name in part.points if self.mechanism.points[name][0] < 0)
            self._joints[part.name] = sets
        sets = self._joints[part.name]
        return sorted(name for name in part.points if sets.root(name) == sets.root(point))

    def _rows(self, point: str, part: Part) -> Indices:
        """Of the part's own elements, and of those that grip it."""
        rows = []
        for number in self.own[part.name]:
            slots = self.mechanism.elements[number].slots
            for axis, slot in enumerate(self.mechanism.points[point]):
                rows += [(number, axis, local) for local, each in enumerate(slots) if each == slot]
        for contact in self.gripping.get(part.name, ()):
            rows += [
                (contact.element, axis, local)
                for name, locals_ in contact.points
                if name == point
                for axis, local in enumerate(locals_)
                if local >= 0
            ]
        return tuple(rows)

    def _teeth(self, point: str, part: str) -> tuple[tuple[float, Contact], ...]:
        borne = self.borne.get(point, ())
        wheel = [(-1.0, contact) for contact in borne if contact.grip.part == part]
        taken = [(1.0, contact) for contact in borne if contact.grip.carrier == part]
        taken += [(-1.0, contact) for contact in self.held.get(point, ()) if contact.grip.carrier == part]
        return (*wheel, *taken)

    def torques(self, parts: Collection[str]) -> dict[str, PartTorque]:
        """Per part that something turns, its torque; in space joints have moments instead."""
        if self.mechanism.dimension == SPACE:
            return {}
        readouts = {*self.mechanism.readouts.values()}
        acting = [each for number, each in enumerate(self.mechanism.elements) if number not in readouts]
        uses = Counter(slot for element in acting for slot in set(element.slots))
        defining = {
            element.owner: number
            for number, element in enumerate(self.mechanism.elements)
            if element.kind == "turned_length" and uses[element.slots[-1]] > 1
        }
        directed = {contact.grip.part for contact in self.contacts if contact.grip.directs}
        turned = [name for name in self.parts if name in parts and (name in defining or name in directed)]
        return {name: self._torque(name, defining.get(name)) for name in turned}

    def _torque(self, part: str, defining: int | None) -> PartTorque:
        gripping = self.gripping.get(part, [])
        rows = [(contact.element, contact.turn) for contact in gripping if contact.turn is not None]
        axes = [contact.grip.axis for contact in gripping]
        if defining is not None:
            slots = self.mechanism.elements[defining].slots
            rows.append((defining, len(slots) - 1))
            axes = [axis for axis in (self.mechanism.variables[slots[-1]].axis, *axes) if axis is not None]
        return PartTorque(axes[0], tuple(rows), tuple(gripping), tuple(self.carried.get(part, ())))


def _by(found: Sequence[Contact], key: Callable[[Grip], str]) -> dict[str, list[Contact]]:
    groups: dict[str, list[Contact]] = {}
    for contact in found:
        groups.setdefault(key(contact.grip), []).append(contact)
    return groups


def pushed_elsewhere(mechanism: Mechanism) -> dict[str, str]:
    """Parts that outlines push, and by what: the rows of these say it as forces at points of the parts, so that what is
    left there is not what joints bear."""
    found: dict[str, str] = {}
    rubbing = {friction.element for friction in mechanism.frictions if friction.gap >= 0}
    for number, element in enumerate(mechanism.elements):
        if element.origin.sort != "contact" and number not in rubbing:
            continue
        gripped = {grip.part for grip in element.grips}
        for part in mechanism.parts:
            own = [point for point in part.points if set(mechanism.points[point]) & set(element.slots)]
            if part.kind == "rigid" and len(own) > 1 and part.name not in gripped:
                found.setdefault(part.name, element.owner)
    return found


def bearings(mechanism: Mechanism, points: Sequence[str]) -> list[Bearing]:
    """The parts at each of these points ("all": at every joint). Raises SpecError for points no part has."""
    actions = Actions(mechanism)
    chosen = actions.joints() if ALL in points else list(dict.fromkeys(points))
    unknown = [point for point in chosen if point not in mechanism.points]
    if unknown:
        known = ", ".join(mechanism.points)
        raise SpecError(*(Fault(f"reactions: there is no point {point}", hint=f"points: {known}") for point in unknown))
    unplaced = pushed_elsewhere(mechanism)
    held = [bearing for bearing in actions.bearings(chosen) if bearing.part.name not in unplaced]
    if ALL in points:
        return held
    for bearing in actions.bearings(chosen):
        if (contact := unplaced.get(bearing.part.name)) is not None:
            message = f"reactions: {contact} pushes {bearing.part.name} elsewhere than at its points"
            raise SpecError(Fault(f"{message}: what it bears at {bearing.point} is not known", hint="leave it out"))
    borne = {each.point for bearing in held for each in (bearing, *bearing.further)}
    free = [point for point in chosen if point not in borne]
    if free:
        raise SpecError(*(Fault(f"reactions: no part that moves has the point {point}") for point in free))
    return held
