"""Accelerations and multipliers along a march: what the kernel finds first at a consistent state."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechsim.kernel.compiled import make_march
from mechsim.kernel.plan import Plan, make_plan
from mechsim.kernel.system import System


def planned(system: System, structure: Any) -> Plan:
    """The plan for a system by its structure."""
    offsets = structure.march_equation_offsets, structure.march_variable_offsets
    return make_plan(system, *offsets, structure.redundancy.spare, len(structure.redundancy.rows))


class Leading:
    """Solves for accelerations and multipliers at many states, by the sparse factorization of the march."""

    def __init__(self, system: System, structure: Any, tolerance: float):
        self.system = system
        self.plan = planned(system, structure)
        self.march = make_march(self.plan, order=1, tolerance=tolerance, safety=1.0, rejection=1.0)
        self.constants = np.array(system.constants)

    def __call__(
        self, t: np.ndarray, q: np.ndarray, v: np.ndarray, constants: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(k, n) accelerations and (k, m) multipliers at consistent states; `constants` as in Batch."""
        n = self.system.n
        found = self._found(t, q, v, constants)
        return 2.0 * found[:, 2, :n], found[:, 0, n:]

    def states(
        self, t: np.ndarray, values: np.ndarray, rates: np.ndarray, constants: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, velocities and multipliers of the consistent states nearest to these (unknowns and rates)."""
        n = self.system.n
        found = self._found(t, values, rates, constants)
        return found[:, 0, :n], found[:, 1, :n], found[:, 0, n:]

    def _found(self, t: np.ndarray, q: np.ndarray, v: np.ndarray, constants: np.ndarray | None) -> np.ndarray:
        """What the kernel finds at states given by some or all of their unknowns."""
        orders = int(self.plan.variable_offsets.max())
        states = np.zeros((len(t), orders, self.plan.size))
        for order, values in enumerate((q, v)[:orders]):
            states[:, order, : values.shape[1]] = values
        found = np.zeros((len(t), max(orders, 2) + 1, self.plan.size))
        for part in self._alike(constants, len(t)):
            if constants is not None:
                self._hold(constants[part.start])
            _, found[part, : orders + 1] = self.march.project(np.ascontiguousarray(t[part]), states[part])
        return found

    def _alike(self, constants: np.ndarray | None, count: int) -> list[slice]:
        """Runs of rows that share their constants."""
        changes: list[int] = []
        if constants is not None:
            changes = [int(row) + 1 for row in np.flatnonzero(np.any(constants[1:] != constants[:-1], axis=1))]
        return [slice(a, b) for a, b in zip([0, *changes], [*changes, count], strict=True) if b > a]

    def _hold(self, constants: np.ndarray) -> None:
        for number in np.flatnonzero(constants != self.constants):
            self.march.set_constant(int(number), float(constants[number]))
            self.constants[number] = constants[number]
