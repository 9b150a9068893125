"""Programs of a system at a point, written out for one set of numbers: one operation after the other, over all lanes.

The kernel evaluates them for one set after the other (src/formulas.hpp), so that what is found for a set cannot depend
on the others. Numbers are read from one array: nodes of the numbers (kernel/numbers.py) that are needed, the time,
positions, velocities, multipliers, a zero, then the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mechsim.derive.program import Input, Key, Operation
from mechsim.kernel.groups import Group
from mechsim.kernel.numbers import STEPS, Numbers
from mechsim.kernel.system import System

Integers = NDArray[np.int32]
# "node", "constant" (of the mechanism), "time", "position", "velocity", "multiplier", "zero" or "line"; and which.
Reference = tuple[str, int]
Placed = Callable[[Group, Key], Iterator[tuple[int, int]]]  # (lane, output) of an output, below 0 where there is none

# Operations of programs that read two registers or one, and with a constant, by the kernel's steps.
REGISTERS = {"add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide"}
ZERO: Reference = ("zero", 0)


@dataclass
class Written:
    """One program; its operands are still names."""

    lines: list[tuple[str, Reference, Reference]] = field(default_factory=list)
    stores: list[tuple[int, Reference]] = field(default_factory=list)

    def line(self, step: str, a: Reference, b: Reference | None = None) -> Reference:
        self.lines.append((step, a, a if b is None else b))
        return "line", len(self.lines) - 1

    @property
    def nodes(self) -> set[int]:
        found = [each for _, a, b in self.lines for each in (a, b)] + [each for _, each in self.stores]
        return {number for kind, number in found if kind == "node"}

    def tables(self, place: Callable[[Reference], int]) -> tuple[Integers, Integers]:
        """As src/starts_module.cpp reads them: (step, a, b) and (output, result)."""
        lines = [(STEPS.index(step), place(a), place(b)) for step, a, b in self.lines]
        stores = [(output, place(result)) for output, result in self.stores]
        return _table(lines, 3), _table(stores, 2)


def written_out(system: System, numbers: Numbers, names: tuple[str, ...], placed: Placed) -> Written:
    """The outputs whose key begins with one of `names`, each added to where it is placed."""
    written = Written()
    for group, table in zip(system.groups, numbers.tables, strict=True):
        program = system._restricted(group, names)
        wanted = {output.key: dict(placed(group, output.key)) for output in program.outputs}
        wanted = {key: {lane: at for lane, at in lanes.items() if at >= 0} for key, lanes in wanted.items()}
        for lane in range(group.lanes):
            own = program.restrict({key for key, lanes in wanted.items() if lane in lanes}.__contains__)
            node = [("node", int(number)) for number in table[:, lane]]
            registers = [_input(group, source, lane) for source in own.inputs]
            for operation in own.operations:
                registers.append(_operation(written, operation, registers, node))
            for output in own.outputs:
                result: Reference | None = node[output.constant] if output.constant >= 0 else None
                for factor, register in output.terms:
                    term = registers[register]
                    if numbers.nodes[node[factor][1]] != ("value", 1.0):
                        term = written.line("multiply", node[factor], term)
                    result = term if result is None else written.line("add", result, term)
                written.stores.append((wanted[output.key][lane], ZERO if result is None else result))
    return written


def _input(group: Group, source: Input, lane: int) -> Reference:
    if source.kind == "time":
        return "time", 0
    if source.kind == "multiplier":
        constraint = int(group.multipliers[source.index, lane])
        return ("multiplier", constraint) if constraint >= 0 else ZERO
    slot = int(group.variables[source.index, lane])
    if source.order > 1 or (slot < 0 and source.order):
        return ZERO
    if slot < 0:
        return "constant", -1 - slot
    return ("position", "velocity")[source.order], slot


def _operation(written: Written, operation: Operation, registers: list[Reference], node: list[Reference]) -> Reference:
    a, name = registers[operation.a], operation.name
    if name in REGISTERS:
        return written.line(REGISTERS[name], a, registers[operation.b])
    if name == "square":
        return written.line("multiply", a, a)
    if name == "root":
        return written.line("root", a)
    if name == "ratio":
        return written.line("divide", node[operation.constant], a)
    if name == "scale":
        return written.line("multiply", node[operation.constant], a)
    if name == "shift":
        return written.line("add", a, node[operation.constant])
    if operation.function == "power":
        return written.line("power", a, node[operation.constant])
    if operation.function == "atan2":
        return written.line("atan2", a, registers[operation.extra])
    return ZERO if operation.function == "zero" else written.line(operation.function, a)


def _table(rows: Sequence[tuple[int, ...]], width: int) -> Integers:
    return np.array(rows, dtype=np.int32).reshape(len(rows), width)
