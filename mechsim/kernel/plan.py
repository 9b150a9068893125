"""The plan of a Taylor expansion: all programs over their lanes, which rows and entries of the matrix they make, and
when their operations run (schedule.py). It is what both kernels run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from mechsim.derive.program import Input, Key, Program
from mechsim.frozen import frozen
from mechsim.kernel.components import WIDTH, is_shorter, rolled, spread
from mechsim.kernel.rates import with_rates
from mechsim.kernel.schedule import ALWAYS, Schedule, available_of, schedule_of
from mechsim.kernel.system import Group, System
from mechsim.lagrangian.kind import Kind
from mechsim.model.mechanism import Pair
from mechsim.model.outlines import NOWHERE

MATRIX_ORDERS = {"mass": 2, "damping": 1, "stiffness": 0, "gradient": 0, "slope": 1, "reaction": 0}


@frozen(slots=False)
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
    written_out: Block | None = None  # the same without rates and without components as lanes

    @property
    def lanes(self) -> int:
        return self.unknowns.shape[1]

    def tuned(self, tables: Sequence[np.ndarray]) -> Block:
        written_out = self.written_out and self.written_out.tuned(tables)
        return replace(self, constants=tables[self.group][:, self.members], written_out=written_out)


@frozen(slots=False)
class GapTable:
    """Rows that are gaps, the constants that are 1 while these are closed, laws of impacts, and the
    unknowns that account for the energy that they take (or their own rows: of bonds that never take hold)."""

    rows: np.ndarray
    modes: np.ndarray
    laws: np.ndarray
    accounts: np.ndarray
    numbers: np.ndarray  # of each: its restitution, the speed from which on it has that, and its size
    bonds: np.ndarray  # numbers of those that hold both ways

    @classmethod
    def of(cls, system: System) -> GapTable:
        sizes = system.constraint_sizes[system.gap_rows] if system.gaps else np.zeros(0)
        rows = list(zip((system.n + system.gap_rows).tolist(), system.gaps, strict=True))
        return cls(
            (system.n + system.gap_rows).astype(np.int32),
            system.gap_modes.astype(np.int32),
            np.array([gap.law for gap in system.gaps], dtype=np.int32),
            np.array([row if gap.account < 0 else gap.account for row, gap in rows], dtype=np.int32),
            np.array(
                [(gap.restitution, gap.slow, size) for size, (_, gap) in zip(sizes, rows, strict=True)], dtype=float
            ).reshape(-1, 3),
            np.array([number for number, gap in enumerate(system.gaps) if gap.bond], dtype=np.int32),
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.rows, self.modes, self.laws, self.accounts, self.numbers


@frozen(slots=False)
class FrictionTable:
    """What `add_frictions` in src/module.cpp is told: places (row, mode, sense, gap, account, where the limit is) and
    numbers (of the load, kinetic and static; a length)."""

    places: np.ndarray
    numbers: np.ndarray

    @classmethod
    def of(cls, system: System, limits: Mapping[int, Sequence[int]]) -> FrictionTable:
        """`limits`: block, output and lane, by element."""
        places = []
        for row, each in zip(system.friction_rows, system.frictions, strict=True):
            limit = limits[each.element] if each.gap < 0 else (-1, -1, -1)
            places.append([system.n + row, each.mode, each.sense, each.gap, each.account, *limit])
        return cls(np.array(places, dtype=np.int32).reshape(-1, 8), np.zeros((0, 3))).tuned(system)

    def tuned(self, system: System) -> FrictionTable:
        """With the numbers of a system that has others."""
        rows = zip(system.friction_rows, system.frictions, strict=True)
        numbers = [[each.kinetic, each.limit, system.constraint_sizes[row]] for row, each in rows]
        return replace(self, numbers=np.array(numbers, dtype=float).reshape(-1, 3))

    def __len__(self) -> int:
        return len(self.places)


@frozen(slots=False)
class PairTable:
    """What `add_pair` in src/module.cpp is told of two outlines (model/outlines.py)."""

    frames: list[np.ndarray]  # columns of the origin of each, and of a point on its x axis
    tables: list[np.ndarray]  # of each: length of that, reach and whether it is solid; corners; edges
    ways: np.ndarray
    values: np.ndarray
    lent: np.ndarray  # gap, sort, constants

    @classmethod
    def of(cls, pair: Pair, system: System) -> PairTable:
        frames, tables = [], []
        size = system.n + system.m
        for outline in (pair.first, pair.second):
            slots = np.array(outline.slots)
            inside = outline.slots != NOWHERE
            frames.append((np.where(slots >= 0, slots, size - 1 - slots) if inside else slots).astype(np.int32))
            tables += [np.array([outline.length, outline.reach, outline.solid]), outline.corners, outline.edges]
        width = pair.values.shape[1]
        lent = [[each.gap, each.sort, *each.constants, *[-1] * (width - len(each.constants))] for each in pair.lent]
        return cls(frames, tables, pair.ways, pair.values, np.array(lent, dtype=np.int32))

    @property
    def arrays(self) -> list[np.ndarray]:
        return [*self.frames, *self.tables, self.ways, self.values, self.lent]


@frozen(slots=False)
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
    frictions: FrictionTable  # ... and while they slide
    pairs: tuple[PairTable, ...]  # outlines, to which some of these are lent
    watchers: np.ndarray  # (events, 5): block, output, lane of what is watched, the direction that counts, a mode
    complete: bool  # made of a system with derivatives by positions and velocities, see `System.completed`

    @property
    def written_out(self) -> Plan:
        """The same without rates and without components as lanes: for many motions, which are lanes themselves."""
        return replace(self, blocks=tuple(block.written_out or block for block in self.blocks))


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
    leading += len(plan.frictions)
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
                nothing = system.n + system.m + len(system.constants)
                blocks.append(_by_components(_by_rates(block), group.kind, nothing))
            block = _jacobian_block(system, number, lanes, d, c, pattern)
            if block is not None:
                jacobian.append(block)
    watchers, limits = _watch_blocks(system, equation_offsets, variable_offsets, blocks)
    frictions = FrictionTable.of(system, limits)
    spare_rows = system.n + np.asarray(spare, dtype=np.int32)
    gaps = GapTable.of(system)
    for resting in (spare_rows, gaps.rows, frictions.places[:, 0]):
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
        frictions=frictions,
        pairs=tuple(PairTable.of(pair, system) for pair in system.mechanism.pairs),
        watchers=watchers,
        complete=system.complete,
    )
    return replace(plan, matrix_constant=constant_part(plan, [group.constants for group in system.groups]))


def _watch_blocks(
    system: System, c: np.ndarray, d: np.ndarray, blocks: list[Block]
) -> tuple[np.ndarray, dict[int, list[int]]]:
    """Adds blocks of what events watch and frictions are limited by, which have no rows of the system; where each event
    is found, and each limit."""
    found: dict[int, list[int]] = {}
    directions = {event.element: event.direction for event in system.events}
    directions |= {friction.element: 0 for friction in system.frictions if friction.gap < 0}
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
                    found[element] = [len(blocks), 0, place, directions[element], modes.get(element, -1)]
            block = _block(system, number, lanes, program, schedule, rows, leads)
            blocks.append(replace(block, watched=bool(program.operations)))
    order = [found[event.element] for event in system.events]
    limits = {friction.element: found[friction.element][:3] for friction in system.frictions if friction.gap < 0}
    return np.array(order, dtype=np.int32).reshape(len(order), 5), limits


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
    program = program.where_zero(i for i, source in enumerate(program.inputs) if _is_still(source, d))
    if not any(output.terms or output.constant >= 0 for output in program.outputs):
        return None
    row_leads = np.array([c[o.key[1]] for o in program.outputs], dtype=np.int32)
    rows = np.array([group.row(o.key[1], system.n)[lanes] for o in program.outputs], dtype=np.int32)
    available = available_of(program.inputs, d, len(group.kind.variables))
    schedule = schedule_of(program, available, row_leads, group.kind.is_formula)
    block = _block(system, number, lanes, program, schedule, np.maximum(rows, -1), row_leads)
    return replace(block, watched=group.kind.is_formula and bool(program.operations))


def _by_rates(block: Block) -> Block:
    """The block with rates of products, see rates.py."""
    if block.watched:
        return block
    still = {
        source for source, ahead in zip(block.program.inputs, block.schedule.available, strict=True) if ahead == ALWAYS
    }
    program = with_rates(block.program, still.__contains__)
    if program is block.program:
        return block
    kept = [block.program.inputs.index(source) for source in program.inputs]
    available = block.schedule.available[kept]
    schedule = schedule_of(program, available, block.row_leads)
    if np.any(schedule.lead[: len(kept)] > available):
        return block  # it would read what is not found yet
    return replace(block, program=program, unknowns=block.unknowns[kept], schedule=schedule, written_out=block)


def _by_components(block: Block, kind: Kind, nothing: int) -> Block:
    """The block with components as lanes, where that is less work; `nothing` is the number of what is not there."""
    if block.watched or 2 * kind.dimension <= WIDTH:  # half of the lanes would be empty
        return block
    found = rolled(block.program, kind.dimension, kind.component_count)
    if found is None or not is_shorter(block.program, found.program, block.lanes):
        return block
    ahead = [{int(block.schedule.available[i]) for i in places} for places in found.inputs]
    leads = [{int(block.row_leads[i]) for i in places if i >= 0} for places in found.outputs]
    if any(len(each) > 1 for each in ahead + leads):
        return block  # a component is fixed, or held
    available = np.array([each.pop() for each in ahead], dtype=np.int32)
    row_leads = np.array([each.pop() for each in leads], dtype=np.int32)
    members = np.repeat(np.arange(block.lanes), WIDTH)
    return Block(
        program=found.program,
        constants=block.constants[:, members],
        unknowns=spread(block.unknowns, found.inputs, nothing),
        schedule=schedule_of(found.program, available, row_leads),
        rows=spread(block.rows, found.outputs, -1),
        row_leads=row_leads,
        group=block.group,
        members=block.members[members],
        written_out=block.written_out or block,
    )


def _is_still(source: Input, d: list[int]) -> bool:
    """Whether it is the velocity or the acceleration of what is constant."""
    return source.kind == "variable" and source.order > 0 and d[source.index] == ALWAYS


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
