"""Accelerations as columns: `A_ax`, `A_ay` (and `A_az` in space) of a point, `theta_OA_ddot` of a turn angle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.lagrangian.vector import AXES
from mechsim.model.mechanism import Mechanism
from mechsim.result.layout import Array
from mechsim.spec.motion import ALL
from mechsim.spec.suggest import did_you_mean

POINT_UNIT, ANGLE_UNIT = "m/s^2", "rad/s^2"
UNITS = {"position": POINT_UNIT, "angle": ANGLE_UNIT}  # of others nobody says


@frozen
class Column:
    """One acceleration. A slot below zero is that of a fixed point, as in `Element`."""

    label: str
    unit: str
    slot: int


@frozen
class Accelerations:
    """The columns that are asked of a mechanism."""

    columns: tuple[Column, ...]

    @classmethod
    def of(cls, mechanism: Mechanism, names: Sequence[str]) -> Accelerations:
        """Of points and of coordinates by their labels; "all" are the points and turn angles that move. Raises SpecError."""
        chosen = dict.fromkeys(each for name in names for each in (_all(mechanism) if name == ALL else [name]))
        return cls(tuple(column for name in chosen for column in columns_of(mechanism, name)))

    def table(self, accelerations: Array) -> Array:
        """The columns, of the accelerations of all coordinates at many states."""
        found = np.zeros((len(accelerations), len(self.columns)))
        for place, column in enumerate(self.columns):
            if column.slot >= 0:
                found[:, place] = accelerations[:, column.slot]
        return found


def columns_of(mechanism: Mechanism, name: str) -> list[Column]:
    """A point has a column for each axis, a coordinate one. What is integrated (work, states) has a rate, no more."""
    if name in mechanism.points:
        slots = mechanism.points[name]
        return [Column(f"{name}_a{axis}", POINT_UNIT, slot) for axis, slot in zip(AXES, slots, strict=False)]
    for slot, variable in enumerate(mechanism.variables):
        if variable.label == name and variable.kind != "state":
            return [Column(f"{name}_ddot", UNITS.get(variable.kind, ""), slot)]
    known = [*mechanism.points, *(each.label for each in mechanism.variables if each.kind != "state")]
    hint = did_you_mean(name, known) or f"there are {', '.join(known)}"
    raise SpecError(Fault(f"{name} has no acceleration: it is no point and no coordinate", hint=hint))


def all_columns(mechanism: Mechanism) -> list[Column]:
    """Of every point and every coordinate."""
    positions = {slot for slots in mechanism.points.values() for slot in slots}
    labels = [each.label for slot, each in enumerate(mechanism.variables) if slot not in positions]
    others = [each.label for each in mechanism.variables if each.kind != "state" and each.label in labels]
    return [column for name in (*mechanism.points, *others) for column in columns_of(mechanism, name)]


def _all(mechanism: Mechanism) -> Iterator[str]:
    yield from (name for name, slots in mechanism.points.items() if any(slot >= 0 for slot in slots))
    yield from (variable.label for variable in mechanism.variables if variable.kind == "angle")
