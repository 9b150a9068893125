"""Newton and Euler for every part: the forces and torques that results claim must give its accelerations.

Mass and inertia are taken as the file gives them, accelerations from the coordinates; so this knows nothing of how the
forces were found (result/inertia.py has the inertia of a part).
"""

from __future__ import annotations

import numpy as np

from mechsim.kernel.system import System
from mechsim.lagrangian.vector import SPACE
from mechsim.model.axis import moments
from mechsim.model.mechanism import Mechanism, Part
from mechsim.result.bearings import Actions, Bearing, PartTorque
from mechsim.result.contacts import Indices, Rows, position
from mechsim.result.inertia import MASSIVE, inertia_of
from mechsim.result.layout import Array

# A part whose forces are a smaller share of the largest in the mechanism is judged as if they were this share.
SMALL = 1e-3


class PartBalance:
    """All that acts on one part, against its inertia."""

    def __init__(self, mechanism: Mechanism, part: Part, actions: Actions, torque: PartTorque | None):
        self.mechanism, self.part = mechanism, part
        elements = [mechanism.elements[number] for number in actions.own[part.name]]
        self.inertia = inertia_of(part, {element.kind: element.parameters for element in elements}, mechanism)
        places = dict.fromkeys([*part.points, *(each.grip.place.point for each in actions.gripping.get(part.name, ()))])
        self.is_spatial = mechanism.dimension == SPACE
        self.bearings: list[Bearing] = [
            bearing for bearing in actions.bearings(list(places)) if bearing.part.name == part.name
        ]
        self.torque = torque
        self.own = self._own_forces(actions)

    def _own_forces(self, actions: Actions) -> list[tuple[str, Indices]]:
        """Rows of forces that act on the part itself, by point."""
        found = []
        for number in actions.own[self.part.name]:
            element = self.mechanism.elements[number]
            if element.kind in MASSIVE or element.multipliers:
                continue
            for point in self.part.points:
                slots = self.mechanism.points[point]
                places = [
                    (axis, local) for axis, s in enumerate(slots) for local, e in enumerate(element.slots) if e == s
                ]
                found.append((point, tuple((number, axis, local) for axis, local in places)))
        return found

    def error(self, rows: Rows, q: Array, v: Array, accelerations: Array) -> tuple[Array, Array]:
        """By how much force and moment (over the part's length) miss, (k,), and the largest force there is."""
        centre, inertia, moment = self.inertia.demand(q, v, accelerations)
        length = self._length(q)
        force, torque, largest = -inertia, -moment, np.maximum(_norm(inertia), _norm(moment) / length)
        for arm, push in self._pushes(rows, q):
            force, torque = force + push, torque + moments(arm - centre, push)
            largest = np.maximum(largest, _norm(push))
        for bearing in self.bearings if self.is_spatial else ():
            turned = bearing.moment(rows, q, self.mechanism)
            torque, largest = torque + turned, np.maximum(largest, _norm(turned) / length)
        if self.torque is not None:
            turned = self.torque.about_axis(rows, q)
            about = self.torque.axis.components(self.mechanism.dimension)
            torque, largest = torque + turned[..., None] * about, np.maximum(largest, np.abs(turned) / length)
        return np.maximum(_norm(force), _norm(torque) / length), largest

    def _pushes(self, rows: Rows, q: Array) -> list[tuple[Array, Array]]:
        """Where each force acts, and the force."""
        found = []
        for bearing in self.bearings:
            at_point = bearing.label == bearing.point
            here = position(bearing.point, self.mechanism, q) if at_point else bearing.place(q)
            found.append((here, bearing.force(rows, q, self.mechanism.dimension)))
        for point, indices in self.own:
            push = np.zeros((*q.shape[:-1], self.mechanism.dimension))
            for element, axis, local in indices:
                push[..., axis] -= rows[element][..., local]
            found.append((position(point, self.mechanism, q), push))
        return found

    def _length(self, q: Array) -> Array:
        ends = (*self.part.points, self.part.points[0])[:2]
        a, b = (position(point, self.mechanism, q) for point in ends)
        length = _norm(b - a)
        return np.where(length > 0, length, 1.0)


class Balance:
    """Watches rows as they come; `worst` is the largest imbalance over the largest force on that part."""

    def __init__(self, mechanism: Mechanism):
        actions = Actions(mechanism)
        parts = [part for part in mechanism.parts if actions.own[part.name]]
        torques = actions.torques({part.name for part in parts})
        self.parts = [PartBalance(mechanism, part, actions, torques.get(part.name)) for part in parts]
        self.elements = {number for part in parts for number in actions.own[part.name]}
        self.elements |= {contact.element for contact in actions.contacts}
        self.errors, self.sizes = np.zeros(len(self.parts)), np.zeros(len(self.parts))

    def observe(self, system: System, t: Array, q: Array, v: Array, accelerations: Array, multipliers: Array) -> None:
        rows = system.rows_of(self.elements, t, q, v, accelerations, multipliers)
        known = np.isfinite(accelerations).all(axis=1)  # elsewhere no forces are claimed
        if not known.any():
            return
        rows = {element: values[known] for element, values in rows.items()}
        for number, part in enumerate(self.parts):
            error, size = part.error(rows, q[known], v[known], accelerations[known])
            # NaN stays: then nothing is known.
            self.errors[number] = np.maximum(self.errors[number], error.max())
            self.sizes[number] = np.maximum(self.sizes[number], size.max())

    @property
    def worst(self) -> float:
        if not len(self.parts) or not self.sizes.any():
            return 0.0
        return float(np.max(self.errors / np.maximum(self.sizes, SMALL * self.sizes.max())))


def _norm(vector: Array) -> Array:
    return np.asarray(np.linalg.norm(vector, axis=-1))
