"""What a prescribed motion takes: the force or torque of each drive, and its power.

A drive keeps C = s - f(t) = 0 (or its rate) by the generalised force -lam dC/dx, which is -lam along the driven
quantity s; its power is that force times the motion.
"""

from __future__ import annotations

import numpy as np

from mechsim.frozen import frozen
from mechsim.kernel.system import System
from mechsim.model.mechanism import Mechanism
from mechsim.result.layout import Array


@frozen
class Drive:
    """One element that prescribes a motion. `rows` are its constraints' numbers among all."""

    element: int
    labels: tuple[str, ...]
    rows: tuple[int, ...]
    unit: str

    @property
    def columns(self) -> list[tuple[str, str]]:
        """`drive_OA` (the force or torque) and `drive_OA_power`; names and units."""
        power = "W" if self.unit else ""
        return [(label, self.unit) for label in self.labels] + [(f"{self.labels[0]}_power", power)]

    def table(self, system: System, t: Array, q: Array, v: Array, accelerations: Array, multipliers: Array) -> Array:
        """Force and power at many states, (k, columns). `system` has all constraints."""
        rows = system.rows_of({self.element}, t, q, v, accelerations, multipliers)[self.element]
        slots = system.mechanism.elements[self.element].slots
        moving = [local for local, slot in enumerate(slots) if slot >= 0 and not _is_state(system.mechanism, slot)]
        power = -(rows[:, moving] * v[:, [slots[local] for local in moving]]).sum(axis=1)
        return np.column_stack([-multipliers[:, list(self.rows)], power])


def drives(mechanism: Mechanism) -> list[Drive]:
    """The drives of a mechanism, in the order of its elements."""
    found = []
    first = 0
    for number, element in enumerate(mechanism.elements):
        if element.is_drive:
            rows = tuple(range(first, first + len(element.multipliers)))
            found.append(Drive(number, element.multipliers, rows, unit_of(mechanism, element.slots)))
        first += len(element.multipliers)
    return found


def unit_of(mechanism: Mechanism, slots: tuple[int, ...]) -> str:
    """Newton metre for a drive of turn angles alone; none where coordinates have none, as those of a Lagrangian."""
    moving = [mechanism.variables[slot] for slot in slots if slot >= 0]
    if any(variable.units is not None and not any(variable.units) for variable in moving):
        return ""
    kinds = {variable.kind for variable in moving} - {"state"}
    return "N m" if kinds == {"angle"} else "N"


def _is_state(mechanism: Mechanism, slot: int) -> bool:
    return mechanism.variables[slot].kind == "state"
