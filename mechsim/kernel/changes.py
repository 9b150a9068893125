"""First derivatives of a system's values at a point, along directions of its state and of its numbers.

The product rule of src/dual.cpp at Taylor degree 0, for what is asked now and then: starts and sampled signals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mechsim.derive.program import NEGATIVE_SLOPE, Key, Operation, Program
from mechsim.frozen import frozen
from mechsim.kernel.evaluate import registers_of
from mechsim.kernel.outputs import extended
from mechsim.kernel.system import Group, System

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@frozen(slots=False)
class NumberChanges:
    """How the numbers of a system change, directions last: constants of the program of each group (constants, lanes,
    directions), constants of the mechanism (constants, directions), scales of the coordinates (n, directions),
    restitutions of gaps (gaps, directions), and the shares of their loads that frictions have while they slide and
    stick (frictions, 2, directions)."""

    tables: tuple[np.ndarray, ...]
    constants: np.ndarray
    scales: np.ndarray
    gaps: np.ndarray
    frictions: np.ndarray

    @classmethod
    def none(cls, system: System, count: int) -> NumberChanges:
        """Where only the state changes."""
        tables = tuple(np.zeros((len(g.program.constants), g.lanes, count)) for g in system.groups)
        contacts = np.zeros((len(system.gaps), count)), np.zeros((len(system.frictions), 2, count))
        return cls(tables, np.zeros((len(system.constants), count)), np.zeros((system.n, count)), *contacts)

    @property
    def count(self) -> int:
        return int(self.constants.shape[-1])

    def joined(self, other: NumberChanges) -> NumberChanges:
        """The directions of both."""
        tables = tuple(np.concatenate(pair, axis=-1) for pair in zip(self.tables, other.tables, strict=True))
        names = "constants", "scales", "gaps", "frictions"
        rest = (np.concatenate([getattr(self, name), getattr(other, name)], axis=-1) for name in names)
        return NumberChanges(tables, *rest)

    def taken(self, places: Sequence[int]) -> NumberChanges:
        """Some of the directions, in this order."""
        names = "constants", "scales", "gaps", "frictions"
        tables = tuple(table[..., places] for table in self.tables)
        return NumberChanges(tables, *(getattr(self, name)[..., places] for name in names))


Found = list[tuple[Group, list[Key], list[np.ndarray]]]


def changes_of(
    system: System,
    names: tuple[str, ...],
    point: Sequence[ArrayLike],
    directions: Sequence[np.ndarray],
    numbers: NumberChanges,
    groups: tuple[Group, ...] | None = None,
    late: np.ndarray | None = None,
) -> Found:
    """As System._values: outputs whose key begins with one of `names`, (..., lanes, directions) each. `point` is
    (t, q, v), or (t, q, v, a, multipliers) for outputs that read these; `directions` are the changes of all but the
    time, (..., n, directions), `late` those of the time, if it changes. With leading axes these are many points, and
    constants of the mechanism may have them too."""
    t, q, v, *more = point
    count, constants = numbers.count, system.constants.shape[-1]
    late = np.zeros(count) if late is None else late
    tails = [system.constants[..., ::-1], *[np.zeros(constants)] * 2]
    still = np.zeros((constants, count))
    moving = [numbers.constants[..., ::-1, :], still, still]
    values = [extended(x, tail) for x, tail in zip((q, v, *more[:1]), tails, strict=False)]
    moved = [_extended_changes(x, tail) for x, tail in zip(directions[:3], moving, strict=False)]
    lam = extended(more[1], np.zeros(1)) if more else None
    pushed = _extended_changes(directions[3], np.zeros((1, count))) if more else np.zeros((1, count))
    found = []
    for number, group in enumerate(system.groups):
        if groups is not None and not any(group is each for each in groups):
            continue
        program = system._restricted(group, names)
        if not program.outputs:
            continue
        inputs, changes = [], []
        for source in program.inputs:
            inputs.append(system._input(group, source, t, values, lam))
            if source.kind == "time":
                changes.append(np.tile(late, (group.lanes, 1)))
            elif source.kind == "multiplier":
                changes.append(np.take(pushed, group.multipliers[source.index], axis=-2))
            else:
                changes.append(np.take(moved[source.order], group.variables[source.index], axis=-2))
        results = _output_changes(program, group.constants, inputs, numbers.tables[number], changes)
        found.append((group, [output.key for output in program.outputs], results))
    return found


def _extended_changes(changes: np.ndarray, tail: np.ndarray) -> np.ndarray:
    """Of coordinates and of the constants behind them."""
    shape = np.broadcast_shapes(changes.shape[:-2], tail.shape[:-2])
    both = (np.broadcast_to(each, (*shape, *each.shape[-2:])) for each in (changes, tail))
    return np.concatenate(list(both), axis=-2)


def gathered(found: Found, place: Callable[[Group, Key], np.ndarray], size: int, count: int) -> np.ndarray:
    """The sums over all elements, (size, directions)."""
    total = np.zeros((size + 1, count))
    for group, keys, values in found:
        for key, value in zip(keys, values, strict=True):
            index = place(group, key)
            np.add.at(total, np.where(index < 0, size, index), value)
    return total[:size]


def _output_changes(
    program: Program,
    constants: np.ndarray,
    inputs: Sequence[np.ndarray],
    constant_changes: np.ndarray,
    input_changes: Sequence[np.ndarray],
) -> list[np.ndarray]:
    registers = registers_of(program, constants, inputs)
    changes = list(input_changes)
    for number, operation in enumerate(program.operations):
        own = registers[len(inputs) + number]
        changes.append(_operation(operation, own, registers, changes, constants, constant_changes))
    results = []
    for output in program.outputs:
        total = np.zeros(constant_changes.shape[1:]) if output.constant < 0 else constant_changes[output.constant]
        for factor, register in output.terms:
            total = total + constants[factor][..., None] * changes[register]
            total = total + registers[register][..., None] * constant_changes[factor]
        results.append(total)
    return results


def _operation(
    operation: Operation,
    own: np.ndarray,
    registers: Sequence[np.ndarray],
    changes: Sequence[np.ndarray],
    constants: np.ndarray,
    constant_changes: np.ndarray,
) -> np.ndarray:
    name = operation.name
    a, da, w = registers[operation.a][..., None], changes[operation.a], own[..., None]
    if name == "function":  # its slope may come after it, but does not depend on it at this degree
        sign = -1.0 if operation.function in NEGATIVE_SLOPE else 1.0
        result: np.ndarray = sign * registers[operation.b][..., None] * da
        return result
    if name in ("add", "subtract", "multiply", "divide"):
        b, db = registers[operation.b][..., None], changes[operation.b]
        rules = {"add": lambda: da + db, "subtract": lambda: da - db, "multiply": lambda: a * db + b * da}
        return rules[name]() if name in rules else (da - w * db) / b
    if name == "square":
        return 2 * a * da
    if name == "root":
        return da / (2 * w)
    c, dc = constants[operation.constant][..., None], constant_changes[operation.constant]
    if name == "ratio":
        return (dc - w * da) / a
    return c * da + a * dc if name == "scale" else da + dc
