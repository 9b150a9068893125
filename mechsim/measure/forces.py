"""How forces in joints and of drives change: by what elements add to the equations, whose changes are known.

A force at a pivot is a sum of such rows; along and across a part it turns with it. Forces where parts grip each other
elsewhere (slots, teeth, contacts) depend on more, and are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.changes import NumberChanges, changes_of
from mechsim.kernel.system import System
from mechsim.lagrangian.vector import AXES
from mechsim.measure.bernstein import Array
from mechsim.model.axis import moments
from mechsim.result.bearings import Bearing, PartTorque
from mechsim.result.contacts import direction, position, turned_left
from mechsim.result.drives import Drive, drives
from mechsim.result.reactions import Reactions


@frozen(slots=False, eq=False)
class Loaded:
    """Points of a motion, with all that the equations read, and the changes of these, directions last."""

    system: System
    state: tuple[Array, Array, Array, Array, Array]  # t, q, v, a, multipliers
    changes: tuple[Array, Array, Array, Array]  # of all but the time
    numbers: NumberChanges

    def rows(self, elements: set[int]) -> tuple[Mapping[int, Array], Mapping[int, Array]]:
        """What elements add to the rows of their variables, (points, variables), and the changes of that."""
        found: dict[int, Array] = {}
        for group, keys, values in changes_of(self.system, ("row",), self.state, self.changes, self.numbers):
            shape = len(self.state[0]), group.lanes, len(group.kind.variables), self.numbers.count
            table = np.zeros(shape)
            for key, value in zip(keys, values, strict=True):
                if key[1] < shape[2]:
                    table[:, :, key[1]] = value
            found.update({each: table[:, lane] for lane, each in enumerate(group.elements) if each in elements})
        return self.system.rows_of(elements, *self.state), found

    def moved(self, point: str) -> Array:
        """How a point moves, (points, axes, directions)."""
        slots = self.system.mechanism.points[point]
        constants = np.broadcast_to(self.numbers.constants, (len(self.state[0]), *self.numbers.constants.shape[-2:]))
        parts = [self.changes[0][:, slot] if slot >= 0 else constants[:, -1 - slot] for slot in slots]
        return np.stack(parts, axis=1)


def force_change(label: str, points: Sequence[str], loaded: Loaded) -> Array:
    """The change of a column of forces, (points, directions). Raises SpecError where it is not known."""
    mechanism = loaded.system.mechanism
    for drive in drives(mechanism):
        names = [name for name, _ in drive.columns]
        if label in names:
            return _of_drive(drive, names.index(label), loaded)
    reactions = Reactions(loaded.system, points)
    for part, torque in reactions.torques.items():
        if label == f"{part}_M":
            return _of_torque(label, torque, loaded)
    for bearing in reactions.bearings:
        if label.startswith(f"{bearing.name}_"):
            return _of_bearing(label.removeprefix(f"{bearing.name}_"), bearing, reactions, loaded)
    raise _unknown(label)


def _unknown(label: str) -> SpecError:
    message = f"the derivative of {label} is not known: of forces those in pivots and of drives have one"
    return SpecError(Fault(message, hint="accelerations (A_ax), energies, signals and work have one too"))


def _of_drive(drive: Drive, place: int, loaded: Loaded) -> Array:
    if place < len(drive.rows):
        return -loaded.changes[3][:, drive.rows[place]]
    rows, changes = (each[drive.element] for each in loaded.rows({drive.element}))
    mechanism = loaded.system.mechanism
    slots = mechanism.elements[drive.element].slots
    total = np.zeros((len(rows), loaded.numbers.count))
    for local, slot in enumerate(slots):
        if slot >= 0 and mechanism.variables[slot].kind != "state":
            total -= changes[:, local] * loaded.state[2][:, slot, None]
            total -= rows[:, local, None] * loaded.changes[1][:, slot]
    return total


def _of_torque(label: str, torque: PartTorque, loaded: Loaded) -> Array:
    if torque.touching or torque.carried:
        raise _unknown(label)
    _, changes = loaded.rows({element for element, _ in torque.rows})
    return np.asarray(sum(changes[element][:, local] for element, local in torque.rows))


def _of_bearing(word: str, bearing: Bearing, reactions: Reactions, loaded: Loaded) -> Array:
    """`Fx` in the world, `Fu` along the part, `M` about the point."""
    parts = (bearing, *bearing.further)
    if any(each.touching or each.teeth or each.beside for each in parts):
        raise _unknown(f"{bearing.name}_{word}")
    rows, changes = loaded.rows(bearing.elements)
    dimension = loaded.system.mechanism.dimension
    change = _summed(bearing, changes, dimension)
    if word[1:] in AXES and word[0] == "F":
        return change[:, AXES.index(word[1:])]
    force = bearing.force(dict(rows), loaded.state[1], dimension)
    if word in ("Fu", "Fv"):
        return _in_part_frame("uv".index(word[1]), bearing, force, change, loaded)
    return _moment(word, bearing, rows, changes, loaded)


def _summed(bearing: Bearing, changes: Mapping[int, Array], dimension: int) -> Array:
    """The change of the force in the world frame, (points, axes, directions)."""
    first = next(iter(changes.values()))
    total = np.zeros((len(first), dimension, first.shape[-1]))
    for element, axis, local in bearing.rows:
        total[:, axis] += changes[element][:, local]
    for other in bearing.further:
        total += _summed(other, changes, dimension)
    return total


def _in_part_frame(which: int, bearing: Bearing, force: Array, change: Array, loaded: Loaded) -> Array:
    mechanism, q = loaded.system.mechanism, loaded.state[1]
    line = bearing.part.points[0], bearing.part.points[1]
    along = direction(line, mechanism, q)
    ends = [position(name, mechanism, q) for name in line]
    length = np.linalg.norm(ends[1] - ends[0], axis=-1)[:, None, None]
    way = loaded.moved(line[1]) - loaded.moved(line[0])
    turned = (way - along[:, :, None] * (along[:, :, None] * way).sum(axis=1, keepdims=True)) / length
    if which:
        along = turned_left(along)
        turned = np.stack([-turned[:, 1], turned[:, 0]], axis=1)
    return (change * along[:, :, None] + force[:, :, None] * turned).sum(axis=1)


def _moment(
    word: str, bearing: Bearing, rows: Mapping[int, Array], changes: Mapping[int, Array], loaded: Loaded
) -> Array:
    """Of a hinge of two points in space: forces at the others, about this one."""
    mechanism, q = loaded.system.mechanism, loaded.state[1]
    here, moved = position(bearing.point, mechanism, q), loaded.moved(bearing.point)
    place = AXES.index(word[1:]) if word[1:] else 0
    total = np.zeros((len(q), loaded.numbers.count))
    for other in bearing.further:
        arm, force = position(other.point, mechanism, q) - here, other.force(dict(rows), q, mechanism.dimension)
        swung, pushed = loaded.moved(other.point) - moved, _summed(other, changes, mechanism.dimension)
        for k in range(total.shape[1]):
            total[:, k] += (moments(swung[..., k], force) + moments(arm, pushed[..., k]))[:, place]
    return total
