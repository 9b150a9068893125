"""The compiled kernel fed with a plan. The tables written here are read by `make_block` in src/module.cpp."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from mechsim.derive.program import FUNCTIONS, OPERATIONS
from mechsim.kernel import _kernel
from mechsim.kernel.march import March
from mechsim.kernel.plan import Block, Plan

Table = np.ndarray
# Lanes; constants, inputs, unknowns, operations, outputs, terms, rows; the row of none; of the matrix; to be watched.
BlockTables = tuple[int, Table, Table, Table, Table, Table, Table, Table, int, bool, bool]


class Status(IntEnum):
    """How a march ended; the numbers are those of `enum class Status` in src/march.hpp."""

    REACHED = 0
    RUNNING = 1
    STEP_TOO_SMALL = 2
    SINGULAR = 3
    NOT_FINITE = 4
    NOT_PROJECTED = 5
    NOT_DIFFERENTIABLE = 6
    ENDLESS = 7
    UNDECIDED = 8
    EVENT = 9
    CROWDED = 10
    WEDGED = 11
    UNWATCHED = 12


def make_march(
    plan: Plan,
    *,
    order: int,
    careful_order: int = 0,
    tolerance: float,
    safety: float,
    fixed_step: float = 0.0,
    settled: float = 0.0,
    rejection: float,
) -> March:
    """A March of the compiled module, ready to be given a state; see `struct Control` in src/march.hpp."""
    march = _kernel.March(
        plan.size,
        plan.equation_offsets,
        plan.variable_offsets,
        plan.scales,
        plan.constants,
        plan.matrix_rows,
        plan.matrix_columns,
        plan.matrix_constant,
        plan.spare,
        plan.redundant,
        order,
        careful_order or order,
        tolerance,
        safety,
        fixed_step,
        settled,
        rejection,
    )
    for block in _blocks(plan):
        march.add_block(*block)
    if len(plan.gaps):
        march.add_gaps(*plan.gaps.arrays)
        march.make_bonds(plan.gaps.bonds)
    if len(plan.frictions):
        march.add_frictions(plan.frictions.places, plan.frictions.numbers)
    for pair in plan.pairs:
        march.add_pair(pair.frames, pair.tables, pair.ways, pair.values, pair.lent)
    if len(plan.watchers):
        march.add_watchers(plan.watchers)
    march.ready()
    return march


def fingerprint(plan: Plan) -> str:
    """The same for plans whose marches are the same."""
    own = [plan.equation_offsets, plan.variable_offsets, plan.scales, plan.constants, plan.matrix_rows]
    own += [plan.matrix_columns, plan.matrix_constant, plan.spare, np.array(plan.redundant)]
    own += [*plan.gaps.arrays, plan.gaps.bonds, plan.frictions.places, plan.frictions.numbers]
    own += [plan.watchers, *(table for pair in plan.pairs for table in pair.arrays)]
    digest = hashlib.sha256()
    for table in (*own, *(np.asarray(each) for block in _blocks(plan) for each in block)):
        digest.update(repr(table.shape).encode() + table.tobytes())
    return digest.hexdigest()


def _blocks(plan: Plan) -> list[BlockTables]:
    """What the kernel is told of each block."""
    rows = [_tables(block, plan.size, False) for block in plan.blocks]
    return rows + [_tables(block, len(plan.matrix_rows), True) for block in plan.jacobian_blocks]


def _tables(block: Block, no_row: int, matrix: bool) -> BlockTables:
    program, schedule = block.program, block.schedule
    count = len(program.inputs)
    inputs = [
        [source.order, schedule.available[i], source.kind == "time", schedule.hot[i], schedule.corrected[i]]
        for i, source in enumerate(program.inputs)
    ]
    operations = [
        [
            OPERATIONS.index(o.name),
            o.a,
            o.b,
            o.constant,
            o.extra,
            FUNCTIONS.index(o.function) if o.function else 0,
            schedule.lead[count + i],
            schedule.hot[count + i],
            schedule.silent[count + i],
            schedule.corrected[count + i],
        ]
        for i, o in enumerate(program.operations)
    ]
    outputs: list[list[int]] = []
    terms: list[list[int]] = []
    for output, lead in zip(program.outputs, block.row_leads, strict=True):
        first = len(terms)
        terms += [[c, r, schedule.silent[r] and schedule.lead[r] == lead] for c, r in output.terms]
        # A matrix block's constant parts are in the plan already.
        outputs.append([lead, -1 if matrix else output.constant, first, len(terms)])
    return (
        block.lanes,
        np.ascontiguousarray(block.constants),
        _table(inputs, 5),
        np.ascontiguousarray(block.unknowns, dtype=np.int32),
        _table(operations, 10),
        _table(outputs, 4),
        _table(terms, 3),
        np.ascontiguousarray(block.rows, dtype=np.int32),
        no_row,
        matrix,
        block.watched,
    )


def _table(rows: Sequence[Sequence[int]], width: int) -> np.ndarray:
    return np.array(rows, dtype=np.int32).reshape(len(rows), width)
