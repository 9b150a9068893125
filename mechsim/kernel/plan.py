"""The plan of a Taylor expansion: all programs over their lanes, which rows and entries of the matrix they make, and
when their operations run (schedule.py). It is what both kernels run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mechsim.derive.program import Input, Key, Program
from mechsim.kernel.schedule import ALWAYS, Schedule, available_of, schedule_of
from mechsim.kernel.system import Group, System
from mechsim.lagrangian.kind import Kind

MATRIX_ORDERS = {"mass": 2, "damping": 1, "stiffness": 0, "gradient": 0, "slope": 1, "reaction": 0}


@dataclass(frozen=True)
class Block:
    """One program over its lanes."""

    program: Program
    constants: np.ndarray  # (constants, lanes)
    unknowns: np.ndarray  # (inputs, lanes): global unknown, or Plan.size + k for constant k
    schedule: Schedule
    rows: np.ndarray  # (outputs, lanes): global row, or for Jacobian blocks the entry of the matrix; -1 if none
    row_leads: np.ndarray  # (outputs,)
    group: int  # of the system; its lanes here are `members`
    members: np.ndarray
    watched: bool = False  # a formula, whose series may not tell all there is (src/inspect.hpp)

    @property
    def lanes(self) -> int:
        return self.unknowns.shape[1]

    def tuned(self, tables: Sequence[np.ndarray]) -> Block:
        return replace(self, constants=tables[self.group][:, self.members])


@dataclass(frozen=True)
class GapTable:
    """Rows that are gaps, the constants that are 1 while these are closed, restitutions, sizes, and the unknowns that
    account for the energy that they take."""

    rows: np.ndarray
    modes: np.ndarray
    restitutions: np.ndarray
    sizes: np.ndarray
    accounts: np.ndarray

    @classmethod
    def of(cls, system: System) -> GapTable:
        return cls(
            (system.n + system.gap_rows).astype(np.int32),
            system.gap_modes.astype(np.int32),
            np.array([gap.restitution for gap in system.gaps], dtype=float),
            system.constraint_sizes[system.gap_rows] if system.gaps else np.zeros(0),
            np.array([gap.account for gap in system.gaps], dtype=np.int32),
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.rows, self.modes, self.restitutions, self.sizes, self.accounts


@dataclass(frozen=True)
class Plan:
    size: int
    equation_offsets: np.ndarray
    variable_offsets: np.ndarray
    scales: np.ndarray
    constants: np.ndarray  # of the mechanism, then a zero for what is not there
    blocks: tuple[Block, ...]
    jacobian_blocks: tuple[Block, ...]
    matrix_rows: np.ndarray
    matrix_columns: np.ndarray
    matrix_constant: np.ndarray  # the part of each entry that never changes
    matrix_sources: tuple[tuple[np.ndarray, int, int, np.ndarray], ...]  # (entries, group, constant, members) it sums
    spare: np.ndarray  # constraints that may rest, their multipliers zero ...
    redundant: int  # ... and how many of them do, because they follow from the others
    gaps: GapTable  # constraints that rest while they are open
    watchers: np.ndarray  # (events, 5): block, output, lane of what is watched, the direction that counts, a mode
    complete: bool  # made of a system with derivatives by positions and velocities, see `System.completed`


def make_plan(
    system: System,
    equation_offsets: np.ndarray,
    variable_offsets: np.ndarray,
    spare: Sequence[int] = (),
    redundant: int = 0,
) -> Plan:
    """The plan for a system with valid offsets (see structure/)."""
    plan = _make_plan(system, equation_offsets, variable_offsets, spare, redundant)
    rows, columns, orders = system.signature()
    leading = int(np.sum(variable_offsets[columns] - equation_offsets[rows] == orders)) + len(spare) + len(plan.gaps)
    if len(plan.matrix_rows) < leading and not system.complete:
        # Some row is led by a position or a velocity: derive those derivatives too.
        return _make_plan(system.completed(), equation_offsets, variable_offsets, spare, redundant)
    return plan


def _make_plan(
    system: System, equation_offsets: np.ndarray, variable_offsets: np.ndarray, spare: Sequence[int], redundant: int
) -> Plan:
    blocks, jacobian, pattern = [], [], _Pattern()
    for number, group in enumerate(system.groups):
        for lanes, d, c in _split(group, system.n, equation_offsets, variable_offsets):
            block = _row_block(system, number, lanes, d, c)
            if block is not None:
                blocks.append(block)
            block = _jacobian_block(system, number, lanes, d, c, pattern)
            if block is not None:
                jacobian.append(block)
    watchers = _watch_blocks(system, equation_offsets, variable_offsets, blocks)
    spare_rows = system.n + np.asarray(spare, dtype=np.int32)
    gaps = GapTable.of(system)
    for resting in (spare_rows, gaps.rows):
        pattern.entries(resting, resting)  # a row that rests holds its own multiplier
    rows, columns = pattern.arrays()
    plan = Plan(
        size=system.n + system.m,
        equation_offsets=np.asarray(equation_offsets, dtype=np.int32),
        variable_offsets=np.asarray(variable_offsets, dtype=np.int32),
        scales=np.asarray(system.scales, dtype=float),
        constants=np.append(system.constants, 0.0),
        blocks=tuple(blocks),
        jacobian_blocks=tuple(jacobian),
        matrix_rows=rows,
        matrix_columns=columns,
        matrix_constant=np.zeros(len(rows)),
        matrix_sources=tuple(pattern.sources),
        spare=spare_rows.astype(np.int32),
        redundant=redundant,
        gaps=gaps,
        watchers=watchers,
        complete=system.complete,
    )
    return replace(plan, matrix_constant=constant_part(plan, [group.constants for group in system.groups]))


def _watch_blocks(system: System, c: np.ndarray, d: np.ndarray, blocks: list[Block]) -> np.ndarray:
    """Adds blocks of what events watch, which have no rows of the system; where each is found."""
    found: dict[int, list[int]] = {}
    directions = {event.element: event.direction for event in system.events}
    modes = {event.element: event.constants[0] if event.switch else -1 for event in system.events}
    for number, group in enumerate(system.groups):
        program = group.program.restrict(lambda key: key[0] == "signal" and key[1] == 0)
        if not directions.keys() & set(group.elements):
            continue
        for lanes, local_d, _ in _split(group, system.n, c, d):
            leads = np.zeros(len(program.outputs), dtype=np.int32)
            available = available_of(program.inputs, local_d, len(group.kind.variables))
            schedule = schedule_of(program, available, leads, watched=True)
            rows = np.full((len(program.outputs), len(lanes)), -1, dtype=np.int32)
            for place, lane in enumerate(lanes):
                element = group.elements[lane]
                if element in directions:
                    found[element] = [len(blocks), 0, place, directions[element], modes[element]]
            block = _block(system, number, lanes, program, schedule, rows, leads)
            blocks.append(replace(block, watched=bool(program.operations)))
    order = [found[event.element] for event in system.events]
    return np.array(order, dtype=np.int32).reshape(len(order), 5)


def constant_part(plan: Plan, tables: Sequence[np.ndarray]) -> np.ndarray:
    """The parts of the matrix that never change, by the constants of each group."""
    total = np.zeros(len(plan.matrix_rows))
    for entries, group, constant, members in plan.matrix_sources:
        np.add.at(total, entries, tables[group][constant, members])
    return total


class _Pattern:
    """Numbers the nonzero entries of the system Jacobian, and remembers what adds up to their constant parts."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[int, int], int] = {}
        self.sources: list[tuple[np.ndarray, int, int, np.ndarray]] = []

    def entries(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return np.array(
            [
                -1 if i < 0 or j < 0 else self.numbers.setdefault((int(i), int(j)), len(self.numbers))
                for i, j in zip(rows, columns, strict=True)
            ],
            dtype=np.int32,
        )

    def add(self, entries: np.ndarray, group: int, constant: int, members: np.ndarray) -> None:
        inside = entries >= 0
        self.sources.append((entries[inside], group, constant, members[inside]))

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        pairs = np.array(list(self.numbers), dtype=np.int32).reshape(-1, 2)
        return pairs[:, 0].copy(), pairs[:, 1].copy()


def _split(group: Group, n: int, c: np.ndarray, d: np.ndarray) -> Iterable[tuple[np.ndarray, list[int], list[int]]]:
    """Lanes that share local offsets. A constant has no offset of its own and fits with any."""
    unknowns = np.concatenate([group.variables, np.where(group.multipliers < 0, -1, group.multipliers + n)])
    is_constant, places = unknowns < 0, np.maximum(unknowns, 0)  # there may be more constants than unknowns
    local_d = np.where(is_constant, ALWAYS, np.asarray(d)[places])
    local_c = np.where(is_constant, ALWAYS, np.asarray(c)[places])
    signatures = np.concatenate([local_d, local_c]).T
    found: list[tuple[np.ndarray, list[int]]] = []
    distinct, inverse = np.unique(signatures, axis=0, return_inverse=True)
    for number, signature in enumerate(distinct):
        lanes = np.flatnonzero(inverse.reshape(-1) == number)
        for i, (common, members) in enumerate(found):
            if np.all((common == signature) | (common == ALWAYS) | (signature == ALWAYS)):
                found[i] = (np.minimum(common, signature), [*members, *lanes])
                break
        else:
            found.append((signature, list(lanes)))
    for common, members in found:
        half = len(common) // 2
        yield np.array(sorted(members)), list(common[:half]), list(common[half:])


def _row_block(system: System, number: int, lanes: np.ndarray, d: list[int], c: list[int]) -> Block | None:
    group = system.groups[number]
    program = group.program.restrict(lambda key: key[0] == "row" and c[key[1]] != ALWAYS)
    if not any(output.terms or output.constant >= 0 for output in program.outputs):
        return None
    row_leads = np.array([c[o.key[1]] for o in program.outputs], dtype=np.int32)
    rows = np.array([group.row(o.key[1], system.n)[lanes] for o in program.outputs], dtype=np.int32)
    available = available_of(program.inputs, d, len(group.kind.variables))
    schedule = schedule_of(program, available, row_leads, group.kind.is_formula)
    block = _block(system, number, lanes, program, schedule, np.maximum(rows, -1), row_leads)
    return replace(block, watched=group.kind.is_formula and bool(program.operations))


def _jacobian_block(
    system: System, number: int, lanes: np.ndarray, d: list[int], c: list[int], pattern: _Pattern
) -> Block | None:
    """Entries d row_i / d x_j^(d_j - c_i): only these enter the system Jacobian."""
    group = system.groups[number]
    count = len(group.kind.variables)

    def wanted(key: Key) -> bool:
        if key[0] not in MATRIX_ORDERS:
            return False
        row, column = _place(key, group.kind)
        if c[row] == ALWAYS or d[column] == ALWAYS:
            return False
        return bool(d[column] - c[row] == MATRIX_ORDERS[key[0]])

    program = group.program.restrict(wanted)
    numbers = []
    for output in program.outputs:
        row, column = _place(output.key, group.kind)
        source = Input("variable", column) if column < count else Input("multiplier", column - count)
        entries = pattern.entries(group.row(row, system.n)[lanes], system.column(group, source)[lanes])
        numbers.append(entries)
        if output.constant >= 0:
            pattern.add(entries, number, output.constant, lanes)
    if not any(output.terms for output in program.outputs):
        return None
    leads = np.zeros(len(program.outputs), dtype=np.int32)
    schedule = schedule_of(program, np.full(len(program.inputs), ALWAYS, dtype=np.int32), leads)
    return _block(system, number, lanes, program, schedule, np.array(numbers, dtype=np.int32), leads)


def _place(key: Key, kind: Kind) -> tuple[int, int]:
    """Local row and local unknown of a matrix output."""
    name, i, j = key
    count = len(kind.variables)
    first_row = {"gradient": count, "slope": count + kind.constraint_count}.get(name, 0)
    return first_row + i, (count + j if name == "reaction" else j)


def _block(
    system: System,
    number: int,
    lanes: np.ndarray,
    program: Program,
    schedule: Schedule,
    rows: np.ndarray,
    row_leads: np.ndarray,
) -> Block:
    group = system.groups[number]
    size = system.n + system.m
    nothing = size + len(system.constants)
    unknowns = np.full((len(program.inputs), len(lanes)), nothing, dtype=np.int32)
    for i, source in enumerate(program.inputs):
        if source.kind == "time":
            continue
        column = system.column(group, source)[lanes]
        constant = size - 1 - column if source.kind == "variable" else nothing
        unknowns[i] = np.where(column >= 0, column, constant)
    return Block(program, group.constants[:, lanes], unknowns, schedule, rows, row_leads, number, lanes)
