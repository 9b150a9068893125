"""Accelerations as columns: `A_ax`, `A_ay` (and `A_az` in space) of a point, `theta_OA_ddot` of a turn angle; and
jerks, the rates of these: `A_jx`, `theta_OA_dddot`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.lagrangian.vector import AXES
from mechsim.model.mechanism import Mechanism, Variable
from mechsim.result.layout import Array
from mechsim.spec.motion import ALL
from mechsim.spec.suggest import did_you_mean, listed

POINT_UNIT, ANGLE_UNIT = "m/s^2", "rad/s^2"
POINT_JERK_UNIT, ANGLE_JERK_UNIT = "m/s^3", "rad/s^3"
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
        """Of points and turn angles; "all" are those that move. Raises SpecError."""
        if ALL in names:
            return cls(tuple(column for column in all_columns(mechanism) if column.slot >= 0 and column.unit))
        return cls(tuple(column for name in dict.fromkeys(names) for column in columns_of(mechanism, name)))

    def jerks(self) -> Accelerations:
        """The rates of these."""
        return Accelerations(tuple(map(jerk_of, self.columns)))

    def table(self, accelerations: Array) -> Array:
        """The columns, of the accelerations (or jerks) of all coordinates at many states."""
        found = np.zeros((len(accelerations), len(self.columns)))
        for place, column in enumerate(self.columns):
            if column.slot >= 0:
                found[:, place] = accelerations[:, column.slot]
        return found


def columns_of(mechanism: Mechanism, name: str) -> list[Column]:
    """A point has a column for each axis, a coordinate one. What is integrated (work, states) has a rate, no more."""
    # Coordinates first: one of a Lagrangian may be called x, and looks like a point too.
    for slot, variable in enumerate(mechanism.variables):
        if variable.label == name and variable.kind != "state":
            return [_of_coordinate(slot, variable)]
    if name in mechanism.points:
        return _of_point(mechanism, name)
    known = [*mechanism.points, *(each.label for each in mechanism.variables if each.kind != "state")]
    hint = did_you_mean(name, known) or f"there are {listed(known)}"
    raise SpecError(Fault(f"{name} has no acceleration: it is no point and no coordinate", hint=hint))


def all_columns(mechanism: Mechanism) -> list[Column]:
    """Of every point, and of every coordinate that is not one of a point."""
    labels = {variable.label for variable in mechanism.variables}
    found = [column for name in mechanism.points if name not in labels for column in _of_point(mechanism, name)]
    taken = {column.slot for column in found}
    variables = ((slot, each) for slot, each in enumerate(mechanism.variables) if each.kind != "state")
    return found + [_of_coordinate(slot, each) for slot, each in variables if slot not in taken]


def jerk_of(column: Column) -> Column:
    """The rate of an acceleration: `A_jx`, `theta_OA_dddot`."""
    stem, _, last = column.label.rpartition("_")
    label = f"{stem}_dddot" if last == "ddot" else f"{stem}_j{last[1:]}"
    return Column(label, column.unit.replace("^2", "^3"), column.slot)


def _of_point(mechanism: Mechanism, name: str) -> list[Column]:
    slots = mechanism.points[name]
    return [Column(f"{name}_a{axis}", POINT_UNIT, slot) for axis, slot in zip(AXES, slots, strict=False)]


def _of_coordinate(slot: int, variable: Variable) -> Column:
    unit = UNITS.get(variable.kind, "") if variable.units is None else ""
    return Column(f"{variable.label}_ddot", unit, slot)
