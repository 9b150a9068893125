"""Outputs of the programs of a system at a point, and where in vectors and matrices they belong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mechsim.derive.program import Input, Key, Program
from mechsim.kernel.evaluate import evaluate
from mechsim.kernel.groups import Group
from mechsim.kernel.incidence import Triplets

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Extended = Sequence[np.ndarray | None]  # positions, velocities, accelerations, with constants at their ends
Found = tuple[Group, list[Key], list[np.ndarray]]


class Outputs:
    """Evaluates programs; a point may have leading axes, then it is many."""

    groups: tuple[Group, ...]
    constants: np.ndarray

    def _values(
        self,
        names: tuple[str, ...],
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        lam: ArrayLike | None = None,
        groups: tuple[Group, ...] | None = None,
    ) -> list[Found]:
        """For each group the outputs whose key begins with one of `names`, with their keys."""
        # Constant k is slot -1 - k: a negative index counts from the end of the extended vector.
        tails = [self.constants[..., ::-1], *[np.zeros(self.constants.shape[-1])] * 2]
        derivatives = [None if x is None else extended(x, tail) for x, tail in zip((q, v, a), tails, strict=True)]
        lam = None if lam is None else extended(lam, np.zeros(1))
        found = []
        for group in self.groups if groups is None else groups:
            program = self._restricted(group, names)
            if not program.outputs:
                continue
            inputs = [self._input(group, source, t, derivatives, lam) for source in program.inputs]
            keys = [output.key for output in program.outputs]
            found.append((group, keys, evaluate(program, group.constants, inputs)))
        return found

    @cached_property
    def _programs(self) -> dict[tuple[str, frozenset[int], tuple[str, ...]], Program]:
        return {}

    def _restricted(self, group: Group, names: tuple[str, ...]) -> Program:
        key = (group.kind.name, group.zero_parameters, names)
        if key not in self._programs:
            self._programs[key] = group.program.restrict(lambda k: k[0] in names)
        return self._programs[key]

    def _input(
        self, group: Group, source: Input, t: ArrayLike, derivatives: Extended, lam: np.ndarray | None
    ) -> np.ndarray:
        if source.kind == "time":
            return np.asarray(t, dtype=float)[..., None] * np.ones(group.lanes)
        if source.kind == "multiplier":
            assert lam is not None
            return np.take(lam, group.multipliers[source.index], axis=-1)  # -1, what is dropped, is the zero at the end
        values = derivatives[source.order]
        assert values is not None
        return np.take(values, group.variables[source.index], axis=-1)


def gather(
    found: Iterable[Found], place: Callable[[Group, Key], np.ndarray], size: int, shape: tuple[int, ...]
) -> np.ndarray:
    """The sum of outputs in a vector, for each of many points; what has a place below 0 is left out."""
    total = np.zeros((*shape, size + 1))
    for group, keys, values in found:
        for key, value in zip(keys, values, strict=True):
            index = place(group, key)
            np.add.at(total, (..., np.where(index < 0, size, index)), value)  # type: ignore[arg-type]
    return total[..., :size]


def triplets(found: Iterable[Found], place: Callable[[Group, Key], tuple[np.ndarray, np.ndarray]]) -> Triplets:
    """Outputs as entries of a matrix: (row, column, value); an entry may come in several parts."""
    rows, columns, values = [], [], []
    for group, keys, results in found:
        for key, value in zip(keys, results, strict=True):
            row, column = place(group, key)
            inside = (row >= 0) & (column >= 0)
            rows.append(row[inside])
            columns.append(column[inside])
            values.append(value[inside])
    if not rows:
        return np.zeros(0, dtype=int), np.zeros(0, dtype=int), np.zeros(0)
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)


def extended(values: ArrayLike, tail: np.ndarray) -> np.ndarray:
    """A vector with the constants behind it."""
    values = np.asarray(values, dtype=float)
    if values.ndim > 1 or tail.ndim > 1:
        shape = np.broadcast_shapes(values.shape[:-1], tail.shape[:-1])
        values = np.broadcast_to(values, (*shape, values.shape[-1]))
        tail = np.broadcast_to(tail, (*shape, tail.shape[-1]))
    return np.concatenate([values, tail], axis=-1)
