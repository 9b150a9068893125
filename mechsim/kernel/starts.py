"""The kernel's search for starts (src/starts.hpp), fed with a system and its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mechsim.derive.program import Key
from mechsim.kernel import _kernel
from mechsim.kernel.groups import Group
from mechsim.kernel.numbers import Guards, Numbers
from mechsim.kernel.system import System
from mechsim.kernel.written_out import Integers, Reference, Written, written_out

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

COORDINATES = ("moving", "free", "held", "angles", "free_rates", "states")


class Equations:
    """What a search evaluates: constraints and their gradients, their bending, their rates, the rows of states."""

    def __init__(self, system: System, numbers: Numbers, states: Sequence[int]):
        self.system, self.numbers, self.states = system, numbers, set(states)
        self.n, self.m = system.n, system.m
        self.programs = [
            written_out(system, numbers, ("constraint", "gradient"), self._of_constraint),
            self._symmetric(written_out(system, numbers, ("hessian",), self._of_hessian)),
            written_out(system, numbers, ("rate", "gradient", "slope"), self._of_constraint),
            written_out(system, numbers, ("row",), self._of_state),
        ]
        constants = {int(node) for node in numbers.constants}
        self.needed = sorted(constants.union(*(program.nodes for program in self.programs)))
        self._places = {node: place for place, node in enumerate(self.needed)}

    def _of_constraint(self, group: Group, key: Key) -> Iterator[tuple[int, int]]:
        """A row of residuals, or an entry of the Jacobian after them."""
        first = group.kind.constraint_count if key[0] == "slope" else 0
        for lane, row in enumerate(group.multipliers[first + key[1]].tolist()):
            if len(key) == 2:
                yield lane, row
            else:
                column = int(group.variables[key[2], lane])
                yield lane, self.m + row * self.n + column if row >= 0 and column >= 0 else -1

    def _of_hessian(self, group: Group, key: Key) -> Iterator[tuple[int, int]]:
        for lane in range(group.lanes):
            row, column = int(group.variables[key[1], lane]), int(group.variables[key[2], lane])
            yield lane, row * self.n + column if row >= 0 and column >= 0 else -1

    def _symmetric(self, lower: Written) -> Written:
        """Programs have the lower triangle; two local variables may be one coordinate in reverse order."""
        mirrored = [(output % self.n * self.n + output // self.n, result) for output, result in lower.stores]
        both = zip(lower.stores, mirrored, strict=True)
        lower.stores = [each for own, other in both for each in ((own,) if own[0] == other[0] else (own, other))]
        return lower

    def _of_state(self, group: Group, key: Key) -> Iterator[tuple[int, int]]:
        for lane, row in enumerate(group.row(key[1], self.n).tolist()):
            yield lane, row if row in self.states else -1

    def tables(self) -> tuple[list[Integers], list[Integers]]:
        found = [program.tables(self._place) for program in self.programs]
        return [lines for lines, _ in found], [stores for _, stores in found]

    def _place(self, reference: Reference) -> int:
        kind, number = reference
        if kind in ("node", "constant"):
            return self._places[number if kind == "node" else int(self.numbers.constants[number])]
        count = len(self.needed)
        first = {"time": 0, "position": 1, "velocity": 1 + self.n, "multiplier": 1 + 2 * self.n}
        first |= {"zero": 1 + 2 * self.n + self.m, "line": 2 + 2 * self.n + self.m}
        return count + first[kind] + number


def make_starts(
    equations: Equations,
    *,
    here: Array,
    placed: Guards,
    time: int,
    guesses: Indices,
    rates: Indices,
    coordinates: Mapping[str, Sequence[int] | Indices],
    rows: Indices,
    known: Array,
    costs: tuple[Array, Array],
    rules: Sequence[float],
) -> _kernel.Starts:
    """A search from the positions `known` of the parameters `here`; see `struct Asked` in src/starts.hpp."""
    numbers = equations.numbers
    nodes = [_integers(each) for each in (equations.needed, numbers.scales, guesses, rates)]
    lines, stores = equations.tables()
    cost, rate_cost = (np.ascontiguousarray(each, dtype=float) for each in costs)
    return _kernel.Starts(
        numbers.program,
        equations.n,
        equations.m,
        np.ascontiguousarray(here, dtype=float),
        numbers.guards.table(),
        placed.table(),
        lines,
        stores,
        int(time),
        nodes,
        [_integers(coordinates[name]) for name in COORDINATES],
        _integers(rows),
        np.ascontiguousarray(known, dtype=float),
        cost,
        rate_cost,
        np.array(rules, dtype=float),
    )


def _integers(values: Sequence[int] | Indices) -> Integers:
    return np.ascontiguousarray(values, dtype=np.int32).reshape(-1)
