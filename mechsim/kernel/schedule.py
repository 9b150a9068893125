"""When each operation of a program runs: its lead, and whether it is hot, silent and corrected (DESIGN 4).

At stage k an operation with lead l computes its coefficient k + l. Unknown j is found at degree k + d_j, so an input
that is derivative o of unknown j is available up to degree k + d_j - o; a row with offset c is evaluated at degree
k + c. An operation is `hot` when its newest coefficient depends on what stage k is about to find; it is `silent` when,
besides, it is linear, so that this coefficient is zero before the solve for every k >= 1; it is `corrected` when later
stages read its history, so that it must learn what was found.
"""

from __future__ import annotations

import numpy as np

from mechsim.derive.program import LINEAR, Input, Operation, Program
from mechsim.frozen import frozen

ALWAYS = 1000  # lead of what is known at every degree: time and constants


@frozen(slots=False)
class Schedule:
    """Per register (inputs, then operations): lead, hot, silent, corrected; per input: how far ahead it is available.

    An input is `corrected` when what was found must be read into it for later stages.
    """

    available: np.ndarray
    lead: np.ndarray
    hot: np.ndarray
    silent: np.ndarray
    corrected: np.ndarray


def available_of(inputs: tuple[Input, ...], d: list[int], count: int) -> np.ndarray:
    def ahead(source: Input) -> int:
        if source.kind == "time":
            return ALWAYS
        offset = d[source.index] if source.kind == "variable" else d[count + source.index]
        return ALWAYS if offset == ALWAYS else offset - source.order

    return np.array([ahead(source) for source in inputs], dtype=np.int32)


def schedule_of(program: Program, available: np.ndarray, row_leads: np.ndarray, watched: bool = False) -> Schedule:
    """`watched`: the series of all registers are read after the step, so all are told what was found."""
    inputs, operations = len(program.inputs), program.operations
    lead = np.full(inputs + len(operations), -ALWAYS, dtype=np.int32)
    for output, row_lead in zip(program.outputs, row_leads, strict=True):
        for _, register in output.terms:
            lead[register] = max(lead[register], row_lead)
    changed = True
    while changed:  # slopes may come after the function that reads them, so one backward pass may not do
        changed = False
        for i in reversed(range(len(operations))):
            ahead = lead[inputs + i] + _ahead(operations[i])
            for operand in operations[i].operands():
                if lead[operand] < ahead:
                    lead[operand] = ahead
                    changed = True
    hot = np.zeros(len(lead), dtype=bool)
    hot[:inputs] = available <= lead[:inputs]
    silent = hot.copy()
    for i, operation in enumerate(operations):
        ahead = lead[inputs + i] + _ahead(operation)
        fresh = [r for r in _fresh_operands(operation) if lead[r] == ahead]
        hot[inputs + i] = any(hot[r] for r in fresh)
        # An operand that runs ahead of the operation has found this coefficient before: it is not zero any more.
        silent[inputs + i] = operation.name in LINEAR and all(
            silent[r] and lead[r] == ahead for r in operation.operands()
        )
    corrected = hot.copy() if watched else _corrected(program, row_leads, lead, hot)
    corrected[:inputs] |= ~hot[:inputs] & (available < ALWAYS)
    return Schedule(available, lead, hot, silent, corrected)


def _ahead(operation: Operation) -> int:
    """How many degrees further on an operation reads its operands."""
    return 1 if operation.name == "rate" else 0


def _fresh_operands(operation: Operation) -> tuple[int, ...]:
    """Operands whose newest coefficient enters the operation's newest one; of a slope only older ones do."""
    return (operation.a,) if operation.name == "function" else operation.operands()


def _corrected(program: Program, row_leads: np.ndarray, lead: np.ndarray, hot: np.ndarray) -> np.ndarray:
    """Hot registers whose final coefficient somebody reads later."""
    inputs = len(program.inputs)
    needed = np.zeros(len(lead), dtype=bool)
    for i, operation in enumerate(program.operations):
        own = inputs + i
        if operation.name not in LINEAR:
            for operand in operation.operands():
                needed[operand] = True  # its history enters a convolution
            if operation.name in ("divide", "ratio", "root", "function"):
                needed[own] = True  # reads its own history
        else:
            for operand in operation.operands():
                if lead[operand] > lead[own] + _ahead(operation):
                    needed[operand] = True
    for output, row_lead in zip(program.outputs, row_leads, strict=True):
        for _, register in output.terms:
            if lead[register] > row_lead:
                needed[register] = True
    changed = True
    while changed:
        changed = False
        for i, operation in enumerate(program.operations):
            if needed[inputs + i] and hot[inputs + i]:
                for operand in operation.operands():
                    if not needed[operand]:
                        needed[operand] = changed = True
    return needed & hot
