"""Which unknowns enter which equations, and how often differentiated: what the structure of a system is made of."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from mechsim.derive.program import Input
from mechsim.kernel.groups import Group
from mechsim.kernel.linear import Triplets
from mechsim.model.mechanism import Mechanism


class Incidence:
    """What can be said of the equations without their values."""

    mechanism: Mechanism
    groups: tuple[Group, ...]
    n: int
    m: int
    levels: np.ndarray

    def signature(self) -> Triplets:
        """(row, column, order) of each structurally nonzero entry: the highest derivative of an unknown in a row."""
        rows, columns, orders = [], [], []
        for group in self.groups:
            for output in group.program.outputs:
                if output.key[0] != "row":
                    continue
                row = group.row(output.key[1], self.n)
                for source in group.program.depends_on(output):
                    if source.kind != "time":
                        rows.append(row)
                        columns.append(self.column(group, source))
                        orders.append(np.full(group.lanes, source.order))
        return self._largest(np.concatenate(rows), np.concatenate(columns), np.concatenate(orders))

    def least_offsets(self) -> np.ndarray:
        """How often each equation is differentiated at least: constraints until they bind accelerations."""
        return np.concatenate([np.zeros(self.n, dtype=int), self.levels])

    def column(self, group: Group, source: Input) -> np.ndarray:
        if source.kind == "variable":
            return group.variables[source.index]
        constraint = group.multipliers[source.index]
        return np.where(constraint < 0, -1, constraint + self.n)

    def _largest(self, rows: np.ndarray, columns: np.ndarray, orders: np.ndarray) -> Triplets:
        """One entry per (row, column), with the largest order; entries outside the system are left out."""
        inside = (rows >= 0) & (columns >= 0)
        rows, columns, orders = rows[inside], columns[inside], orders[inside]
        order = np.lexsort((-orders, columns, rows))
        rows, columns, orders = rows[order], columns[order], orders[order]
        first = np.ones(len(rows), dtype=bool)
        first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
        return rows[first], columns[first], orders[first]

    def energy_signature(self) -> tuple[np.ndarray, np.ndarray]:
        """Highest derivative of each coordinate in T and in V, -1 where it does not occur."""
        result = []
        for name in ("kinetic", "potential"):
            orders = np.full(self.n, -1)
            for group in self.groups:
                for output in group.program.outputs:
                    if output.key[0] == name:
                        for source in group.program.depends_on(output):
                            column = self.column(group, source) if source.kind == "variable" else np.array([-1])
                            np.maximum.at(orders, column[column >= 0], source.order)
            result.append(orders)
        return result[0], result[1]

    @cached_property
    def entries(self) -> tuple[np.ndarray, np.ndarray]:
        """(constraint, slot) of all that enters the constraints; a slot below 0 is a constant, as in Element."""
        pairs = [
            (np.broadcast_to(row, slots.shape), slots)
            for group in self.groups
            for row in group.multipliers[: group.kind.multiplier_count]
            for slots in group.variables
        ]
        none = np.zeros(0, dtype=int)
        rows, slots = (np.concatenate(column) for column in zip((none, none), *pairs, strict=True))
        return rows[rows >= 0], slots[rows >= 0]

    @cached_property
    def accounts(self) -> np.ndarray:
        """Coordinates that integrate the power of what is not conservative: T + V less their sum is constant."""
        found = np.zeros(self.n, dtype=bool)
        for group in self.groups:
            if group.kind.account:
                slots = group.variables[-1]
                found[slots[slots >= 0]] = True
        return np.flatnonzero(found)

    @cached_property
    def constraint_sizes(self) -> np.ndarray:
        """The scale of lengths in each constraint, 1 where it has none."""
        rows, slots = self.entries
        lengths = [variable.scale if variable.kind == "position" else 0.0 for variable in self.mechanism.variables]
        sizes = np.zeros(self.m)
        # There may be more constants than coordinates, so their slots must not be looked up.
        np.maximum.at(sizes, rows, np.where(slots >= 0, np.array(lengths)[np.maximum(slots, 0)], 0.0))
        return np.where(sizes > 0, sizes, 1.0)
