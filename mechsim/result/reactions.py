"""Forces in the joints, in newtons.

Coordinates are the points themselves, so an Euler-Lagrange row of a point is a force there. What the elements of ONE
part leave over in the rows of its point, d/dt dL/dx' - dL/dx - Q + C_x^T lam with the true accelerations and
multipliers, is the force that everything else exerts on the part at this point: other parts, the ground, slots and
lines, and forces that act on the point itself. Weight, and forces that act on the part itself (`OA.A`), are the part's
own and not in it. The row of a turn angle, left over by the constraint that defines it, is likewise the torque on the
part. A fixed point has no row in the equations, but its elements have one all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechsim.errors import Fault, SpecError
from mechsim.model.mechanism import Element, Mechanism, Part
from mechsim.result.layout import Array

AXES = "xyz"
ALL = "all"
NEGLIGIBLE = 1e-9  # of a force: below this, a force does not take part in what is undetermined

Rows = dict[int, Array]  # per element, what it adds to the rows of its local variables


@dataclass(frozen=True, slots=True)
class Bearing:
    """A part at one of its points. `places` are (element, axis, local variable) of the part's rows there."""

    point: str
    part: Part
    places: tuple[tuple[int, int, int], ...]

    @property
    def name(self) -> str:
        return f"{self.point}_{self.part.name}"

    def force(self, rows: Rows, shape: tuple[int, ...], dimension: int) -> Array:
        """The force on the part at the point, in the world frame, (*shape, dimension)."""
        total = np.zeros((*shape, dimension))
        for element, axis, local in self.places:
            total[..., axis] += rows[element][..., local]
        return total


def joints(mechanism: Mechanism) -> list[str]:
    """Points where something acts on a part: other parts, the ground, a line, a force, a drive."""
    silent = {number for part in mechanism.parts for number in _own(mechanism, part)} | {*mechanism.readouts.values()}
    foreign = {slot for number, each in enumerate(mechanism.elements) if number not in silent for slot in each.slots}
    found = []
    for point, slots in mechanism.points.items():
        holders = [part for part in mechanism.parts if point in part.points and _own(mechanism, part)]
        if holders and (len(holders) > 1 or any(slot < 0 for slot in slots) or foreign & set(slots)):
            found.append(point)
    return found


def bearings(mechanism: Mechanism, points: Sequence[str]) -> list[Bearing]:
    """The parts at each of these points ("all": at every joint). Raises SpecError for points no part has."""
    chosen = joints(mechanism) if ALL in points else list(dict.fromkeys(points))
    unknown = [point for point in chosen if point not in mechanism.points]
    if unknown:
        known = ", ".join(mechanism.points)
        raise SpecError(*(Fault(f"reactions: there is no point {point}", hint=f"points: {known}") for point in unknown))
    found = [_bearing(mechanism, point, part) for point in chosen for part in mechanism.parts if point in part.points]
    held = [bearing for bearing in found if bearing.places]
    free = [point for point in chosen if not any(bearing.point == point for bearing in held)]
    if free:
        raise SpecError(*(Fault(f"reactions: no part that moves has the point {point}") for point in free))
    return held


def _own(mechanism: Mechanism, part: Part) -> list[int]:
    return [number for number, each in enumerate(mechanism.elements) if _belongs(mechanism, each, part)]


def _belongs(mechanism: Mechanism, element: Element, part: Part) -> bool:
    """Whether an element is of the part itself, not of a joint or of a point that bears its name."""
    law = mechanism.laws.get(element.kind)
    if law is None:
        return element.owner == part.name and element.kind != "force"
    if element.owner not in (part.name, *(f"{part.name}_{point}" for point in part.points)):
        return False
    on_point = part.kind == "particle" and (law.forces or law.dissipation)
    return not (law.constraints or law.nonholonomic or on_point)


def _bearing(mechanism: Mechanism, point: str, part: Part) -> Bearing:
    places = []
    for element in _own(mechanism, part):
        for axis, slot in enumerate(mechanism.points[point]):
            slots = mechanism.elements[element].slots
            places += [(element, axis, local) for local, each in enumerate(slots) if each == slot]
    return Bearing(point, part, tuple(places))


def turns(mechanism: Mechanism, parts: Collection[str]) -> dict[str, tuple[int, int]]:
    """Per part whose turn angle something acts on: the constraint element that defines it, and its local variable."""
    acting = [each for number, each in enumerate(mechanism.elements) if number not in mechanism.readouts.values()]
    uses = Counter(slot for element in acting for slot in set(element.slots))
    return {
        element.owner: (number, len(element.slots) - 1)
        for number, element in enumerate(mechanism.elements)
        if element.kind == "turned_length" and element.owner in parts and uses[element.slots[-1]] > 1
    }


class Reactions:
    """Columns of forces at chosen points. `system` has all constraints, redundant ones too.

    Per point and part: `A_OA_Fx, A_OA_Fy` in the world frame, `A_OA_Fu, A_OA_Fv` along and across the part (from its
    first to its second point); then the torque `OA_M` on each part whose turn
    angle something acts on.
    """

    def __init__(self, system: Any, points: Sequence[str]):
        self.system = system
        self.mechanism: Mechanism = system.mechanism
        self.bearings = bearings(self.mechanism, points)
        self.turns = turns(self.mechanism, {bearing.part.name for bearing in self.bearings})
        self.elements = {element for bearing in self.bearings for element, _, _ in bearing.places}
        self.elements |= {element for element, _ in self.turns.values()}
        columns = [column for bearing in self.bearings for column in self._columns(bearing)]
        self.labels = (*columns, *(f"{part}_M" for part in self.turns))
        self.units = ("N",) * len(columns) + ("N m",) * len(self.turns)

    def table(self, system: Any, t: Array, q: Array, v: Array, accelerations: Array, multipliers: Array) -> Array:
        """The columns at many states, (k, columns); `system` as here, perhaps with other constants."""
        rows = system.rows_of(self.elements, t, q, v, accelerations, multipliers)
        columns = []
        for bearing in self.bearings:
            force = bearing.force(rows, (len(t),), self.mechanism.dimension)
            columns += [force, self.in_part_frame(bearing, force, q)] if self._has_frame(bearing) else [force]
        columns += [rows[element][:, local, None] for element, local in self.turns.values()]
        return np.concatenate(columns, axis=1) if columns else np.zeros((len(t), 0))

    def forces(self, t: float, q: Array, v: Array, accelerations: Array, multipliers: Array) -> dict[str, Array]:
        """The force on each part, in the world frame, at one state and at the one point chosen."""
        rows = self.system.rows_of(self.elements, t, q, v, accelerations, multipliers)
        return {each.part.name: each.force(rows, (), self.mechanism.dimension) for each in self.bearings}

    def undetermined(self, t: float, q: Array, v: Array, freedom: Array) -> tuple[str, ...]:
        """Columns that change with multipliers which constraints leave open: `freedom` spans those, (count, m)."""
        n, m = self.system.n, self.system.m
        at_rest = self.system.rows_of(self.elements, t, q, v, np.zeros(n), np.zeros(m))
        changed = set()
        for multipliers in freedom:
            rows = self.system.rows_of(self.elements, t, q, v, np.zeros(n), multipliers)
            change = {element: rows[element] - at_rest[element] for element in rows}
            for bearing in self.bearings:
                if np.abs(bearing.force(change, (), self.mechanism.dimension)).max() > NEGLIGIBLE:
                    changed.update(self._columns(bearing))
            for part, (element, local) in self.turns.items():
                if abs(change[element][local]) > NEGLIGIBLE:
                    changed.add(f"{part}_M")
        return tuple(label for label in self.labels if label in changed)

    def in_part_frame(self, bearing: Bearing, force: Array, q: Array) -> Array:
        """A force (..., 2) in the frame of the part: along it, and across it to the left."""
        first, second = (self._position(point, q) for point in bearing.part.points[:2])
        along = (second - first) / np.linalg.norm(second - first, axis=-1, keepdims=True)
        across = np.stack([-along[..., 1], along[..., 0]], axis=-1)
        return np.stack([(force * axis).sum(axis=-1) for axis in (along, across)], axis=-1)

    def _position(self, point: str, q: Array) -> Array:
        slots = self.mechanism.points[point]
        fixed = self.mechanism.constants
        values = [q[..., slot] if slot >= 0 else np.full(q.shape[:-1], fixed[-1 - slot]) for slot in slots]
        return np.stack(values, axis=-1)

    def _has_frame(self, bearing: Bearing) -> bool:
        return len(bearing.part.points) > 1 and self.mechanism.dimension == 2

    def _columns(self, bearing: Bearing) -> list[str]:
        axes = [*AXES[: self.mechanism.dimension], *("uv" if self._has_frame(bearing) else "")]
        return [f"{bearing.name}_F{axis}" for axis in axes]
