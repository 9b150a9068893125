"""Values of the equations for many sets of numbers at once, each at a point of its own.

All arrays have the sets as their last axis, and every operation is one over all of them. Nothing is summed along the
sets, nor by a library that would sum in another order for another number of them: so what is found for a set is the
same, bit by bit, whatever others there are (see `padded`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mechsim.derive.program import Input, Key
from mechsim.kernel.evaluate import evaluate
from mechsim.kernel.groups import Group
from mechsim.kernel.numbers import Numbers
from mechsim.kernel.system import System

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

ABREAST = 8  # the widest registers hold so many numbers: with whole ones, no number is a remainder computed otherwise

Placed = tuple[Group, Key, Array]  # an output of a program: (lanes, sets)


def padded(count: int) -> Indices:
    """The places of so many sets, the last one repeated until registers are full."""
    return np.minimum(np.arange(-(-count // ABREAST) * ABREAST), count - 1)


class Columns:
    """The equations of a system with other numbers, at times of their own: `values` are those of all nodes, (nodes,
    sets)."""

    def __init__(self, system: System, numbers: Numbers, values: Array, t: Array):
        self.system, self.numbers, self.values, self.t = system, numbers, values, t
        self.n, self.m, self.count = system.n, system.m, values.shape[1]
        self.scales = values[numbers.scales]
        self.constants = values[numbers.constants]
        self._tables: dict[int, Array] = {}

    def chosen(self, places: Indices) -> Columns:
        return Columns(self.system, self.numbers, self.values[:, places], self.t[places])

    def constraints(self, q: Array) -> Array:
        """C, (m, sets); 0 for nonholonomic constraints, which say nothing about positions."""
        return self._gathered(("constraint",), q)

    def rates(self, q: Array, v: Array) -> Array:
        """dC/dt, and psi of nonholonomic constraints, (m, sets)."""
        return self._gathered(("rate",), q, v)

    def jacobian(self, q: Array) -> Array:
        """C_q of the holonomic constraints, dense (m, n, sets)."""
        return self._jacobian(("gradient",), q, None)

    def rate_jacobian(self, q: Array, v: Array) -> Array:
        """C_q, and psi_v of nonholonomic constraints."""
        return self._jacobian(("gradient", "slope"), q, v)

    def hessian(self, q: Array, lam: Array) -> Array:
        """sum_i lam_i C_i,qq, dense (n, n, sets)."""
        total = np.zeros((self.n, self.n, self.count))
        for group, key, value in self._outputs(("hessian",), q, lam=lam):
            rows, columns = group.variables[key[1]], group.variables[key[2]]
            for lane, (row, column) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
                if row >= 0 and column >= 0:
                    total[row, column] += value[lane]
                    if key[1] != key[2]:  # programs have the lower triangle
                        total[column, row] += value[lane]
        return total

    def state_rows(self, q: Array, v: Array, states: Indices) -> Array:
        """The rows of states (integrals) without accelerations and multipliers, (states, sets)."""
        total = np.zeros((self.n + self.m + 1, self.count))
        still = np.zeros_like(q)
        for group, key, value in self._outputs(("row",), q, v, still, np.zeros((self.m, self.count))):
            for lane, row in enumerate(group.row(key[1], self.n).tolist()):
                if row >= 0:
                    total[row] += value[lane]
        return total[states]

    def energies(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Kinetic and potential energy, (sets,) each."""
        return self._total("kinetic", q, v), self._total("potential", q, v)

    def _total(self, name: str, q: Array, v: Array) -> Array:
        total = np.zeros(self.count)
        for group, _, value in self._outputs((name,), q, v):
            for lane in range(group.lanes):
                total = total + value[lane]
        return total

    def _gathered(self, names: tuple[str, ...], q: Array, v: Array | None = None) -> Array:
        total = np.zeros((self.m, self.count))
        for group, key, value in self._outputs(names, q, v):
            rows = group.multipliers[key[1]]
            inside = rows >= 0  # each lane has a row of its own, so none comes twice
            total[rows[inside]] += value[inside]
        return total

    def _jacobian(self, names: tuple[str, ...], q: Array, v: Array | None) -> Array:
        total = np.zeros((self.m, self.n, self.count))
        for group, key, value in self._outputs(names, q, v):
            first = group.kind.constraint_count if key[0] == "slope" else 0
            rows, columns = group.multipliers[first + key[1]], group.variables[key[2]]
            inside = (rows >= 0) & (columns >= 0)
            total[rows[inside], columns[inside]] += value[inside]
        return total

    def _outputs(
        self,
        names: tuple[str, ...],
        q: Array,
        v: Array | None = None,
        a: Array | None = None,
        lam: Array | None = None,
    ) -> Iterator[Placed]:
        """All outputs whose key begins with one of `names`."""
        # Constant k is slot -1 - k: a negative index counts from the end.
        still = np.zeros_like(self.constants)
        levels = [
            None if x is None else np.concatenate([x, tail])
            for x, tail in ((q, self.constants[::-1]), (v, still), (a, still))
        ]
        lam = None if lam is None else np.concatenate([lam, np.zeros((1, self.count))])
        for number, group in enumerate(self.system.groups):
            program = self.system._restricted(group, names)
            if program.outputs:
                inputs = [self._input(group, source, levels, lam) for source in program.inputs]
                found = evaluate(program, self._table(number), inputs)
                for output, value in zip(program.outputs, found, strict=True):
                    yield group, output.key, np.broadcast_to(value, (group.lanes, self.count))

    def _input(self, group: Group, source: Input, levels: list[Array | None], lam: Array | None) -> Array:
        if source.kind == "time":
            return np.ones((group.lanes, 1)) * self.t
        if source.kind == "multiplier":
            assert lam is not None
            return lam[group.multipliers[source.index]]  # -1, what is dropped, is the zero at the end
        values = levels[source.order]
        assert values is not None
        return values[group.variables[source.index]]

    def _table(self, number: int) -> Array:
        """The constants of a group, (constants, lanes, sets)."""
        if number not in self._tables:
            self._tables[number] = self.values[self.numbers.tables[number]]
        return self._tables[number]
