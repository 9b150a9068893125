"""Structural analysis by the signature method (Pryce, BIT 41, 2001): offsets, index, degrees of freedom, blocks.

sigma_ij is the highest derivative of variable j in equation i. A highest-value transversal of it gives the offsets:
equation i is to be differentiated c_i times, variable j is solved for at derivative d_j (DESIGN section 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from mechsim.errors import AssemblyError, Fault
from mechsim.frozen import frozen
from mechsim.kernel.graph import Integers, strong_components, transversal
from mechsim.structure.redundancy import NO_REDUNDANCY, Redundancy

# How many names an error message lists before it says "and 12 more".
NAMES_SHOWN = 8


class HasSignature(Protocol):
    """What the analysis asks of a system: its signature, sparse, and names for rows and columns."""

    @property
    def n(self) -> int: ...

    @property
    def labels(self) -> Sequence[str]: ...

    def signature(self) -> tuple[Integers, Integers, Integers]: ...

    def least_offsets(self) -> Integers: ...

    def without(self, constraints: Sequence[int]) -> HasSignature: ...


@frozen(eq=False)
class Structure:
    equation_offsets: Integers  # c_i, the canonical (smallest) ones
    variable_offsets: Integers  # d_j
    assignment: Integers  # the variable each equation is matched with: a highest-value transversal
    index: int  # the structural index
    total_dof: int  # sum d - sum c: positions and velocities that may be chosen; what the tableau prints
    dof: int  # mechanical degrees of freedom, (1.4) of seed 001
    blocks: tuple[Integers, ...]  # equations to be solved together; each block needs only those before it
    # The offsets the engine marches with: the smallest that make position and velocity of every constrained
    # coordinate part of the state. The canonical ones would call a massless point algebraic and lose its velocity.
    # They are those of all equations, also of constraints that are left out of everything above as redundant.
    march_equation_offsets: Integers
    march_variable_offsets: Integers
    redundancy: Redundancy = NO_REDUNDANCY


def analyse(whole: HasSignature, redundancy: Redundancy = NO_REDUNDANCY) -> Structure:
    """Offsets and block structure of a system. Raises AssemblyError if it is structurally singular."""
    system = whole.without(redundancy.rows) if redundancy.rows else whole
    rows, columns, orders = (np.asarray(entries, np.int64) for entries in system.signature())
    size = len(system.labels)
    assignment = transversal(size, rows, columns, orders)
    if np.any(assignment < 0):
        raise AssemblyError(_singularity(rows, columns, assignment, system.labels))
    c, d = smallest_offsets(rows, columns, orders, assignment, np.zeros(size, np.int64))
    march_c, march_d = smallest_offsets(rows, columns, orders, assignment, np.asarray(system.least_offsets(), np.int64))
    leading = d[columns] - c[rows] == orders
    return Structure(
        equation_offsets=c,
        variable_offsets=d,
        assignment=assignment,
        index=int(c.max(initial=0)) + int(d.min(initial=1) == 0),
        total_dof=int(d.sum() - c.sum()),
        # Only second-order variables have a position to choose: an integrated work (d = 1) is no mechanical freedom.
        dof=int(np.maximum(d - 1, 0).sum() - np.maximum(c - 1, 0).sum()),
        blocks=_blocks(rows[leading], columns[leading], assignment),
        march_equation_offsets=_of_whole(march_c, whole, redundancy, np.asarray(whole.least_offsets(), np.int64)),
        march_variable_offsets=_of_whole(march_d, whole, redundancy, np.zeros(len(whole.labels), np.int64)),
        redundancy=redundancy,
    )


def _of_whole(offsets: Integers, whole: HasSignature, redundancy: Redundancy, otherwise: Integers) -> Integers:
    """Offsets of the whole system: a redundant constraint and its multiplier have those of any constraint."""
    if not redundancy.rows:
        return offsets
    left_out = np.zeros(len(whole.labels), bool)
    left_out[whole.n + np.asarray(redundancy.rows, np.int64)] = True
    complete = otherwise.copy()
    complete[~left_out] = offsets
    return complete


def smallest_offsets(
    rows: Integers, columns: Integers, orders: Integers, assignment: Integers, least: Integers
) -> tuple[Integers, Integers]:
    """The smallest c >= least, d with d_j - c_i >= sigma_ij, equal on the transversal, by Pryce's iteration."""
    size = len(assignment)
    on_transversal = assignment[rows] == columns
    matched_order = np.zeros(size, np.int64)
    matched_order[rows[on_transversal]] = orders[on_transversal]
    c = least
    while True:
        d = np.zeros(size, np.int64)
        np.maximum.at(d, columns, orders + c[rows])
        improved = d[assignment] - matched_order
        if np.array_equal(improved, c):
            return c, d
        c = improved


def _blocks(rows: Integers, columns: Integers, assignment: Integers) -> tuple[Integers, ...]:
    """Strong components of "equation i uses the variable that equation k is matched with", what is used first."""
    size = len(assignment)
    equation_of = np.empty(size, np.int64)
    equation_of[assignment] = np.arange(size)
    component = strong_components(size, rows, equation_of[columns])
    return tuple(np.split(np.argsort(component, kind="stable"), np.cumsum(np.bincount(component))[:-1]))


def _singularity(rows: Integers, columns: Integers, column_of: Integers, labels: Sequence[str]) -> Fault:
    """Which equations are too many and which variables nothing determines (Dulmage and Mendelsohn)."""
    row_of = np.full(len(labels), -1)
    row_of[column_of[column_of >= 0]] = np.flatnonzero(column_of >= 0)
    too_many = _alternating(rows, columns, np.flatnonzero(column_of < 0), row_of)
    too_few = _alternating(columns, rows, np.flatnonzero(row_of < 0), column_of)
    message = (
        f"the equations cannot determine the motion: too few for {_names(too_few, labels)}, "
        f"too many in {_names(too_many, labels)}"
    )
    hint = "look for a point that carries no mass, or for a joint or fixed point that holds something twice"
    return Fault(message, None, hint)


def _alternating(rows: Integers, columns: Integers, start: Integers, matched_back: Integers) -> Integers:
    """All rows reached from unmatched ones along: a nonzero of the row, then the row matched with that column."""
    columns_of: list[list[int]] = [[] for _ in matched_back]
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        columns_of[row].append(column)
    reached = set(start.tolist())
    queue = list(reached)
    for row in queue:
        for column in columns_of[row]:
            following = int(matched_back[column])
            if following >= 0 and following not in reached:
                reached.add(following)
                queue.append(following)
    return np.array(sorted(reached), np.int64)


def _names(indices: Integers, labels: Sequence[str]) -> str:
    shown = ", ".join(labels[k] for k in indices[:NAMES_SHOWN])
    return shown if len(indices) <= NAMES_SHOWN else f"{shown} and {len(indices) - NAMES_SHOWN} more"
