"""The signature matrix as text, laid out as in seed 001 section 4.2."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Protocol

import numpy as np

from mechsim.structure.offsets import HasSignature, Integers, Structure

# Names across the page up to here.
WIDTH_OF_SCREEN = 80
# With more columns than this the matrix does not fit on a screen, and its nonzeros are listed row by row.
WIDEST = 40
# Longer than this even that list says nothing to a person; its first rows do.
LONGEST = 200
ABSENT = -1


class WithEnergies(HasSignature, Protocol):
    def energy_signature(self) -> tuple[Integers, Integers]: ...


def tableau(system: WithEnergies, structure: Structure) -> str:
    """Rows: Euler-Lagrange equations, constraints, and the equations that define T and V; columns likewise.

    A star marks the transversal, a dash stands for "does not occur". DOF is the total number, twice the mechanical.
    """
    labels = [*system.labels, "T", "V"]
    c = np.append(structure.equation_offsets, [0, 0])
    d = np.append(structure.variable_offsets, [0, 0])
    assignment = np.append(structure.assignment, [len(labels) - 2, len(labels) - 1])
    entries = _entries(system, len(labels))
    if len(labels) <= WIDEST:
        lines = _matrix(entries, assignment, c, d, labels)
    else:
        lines = _listing(entries, assignment, c, d, labels)
    return "\n".join([*lines, f"Index = {structure.index}, DOF = {structure.total_dof}"])


def _entries(system: WithEnergies, size: int) -> list[dict[int, int]]:
    """Per row, the order at each column that occurs."""
    entries: list[dict[int, int]] = [{} for _ in range(size)]
    for row, column, order in zip(*system.signature(), strict=True):
        entries[int(row)][int(column)] = int(order)
    for row, orders in zip((size - 2, size - 1), system.energy_signature(), strict=True):
        entries[row] = {column: int(order) for column, order in enumerate(orders) if order != ABSENT}
        entries[row][row] = 0
    return entries


def _matrix(
    entries: Sequence[dict[int, int]], assignment: Integers, c: Integers, d: Integers, labels: Sequence[str]
) -> list[str]:
    size = len(labels)
    width = max(len(label) for label in labels) + 1
    downward = size * width > WIDTH_OF_SCREEN
    if downward:
        width = len(str(size - 1)) + 2
    margin = len(str(size - 1)) + 3  # room for "d_j"
    body = []
    for i, row in enumerate(entries):
        cells = [_cell(row, j, assignment[i] == j).rjust(width) for j in range(size)]
        body.append(f"{i:>{margin}}" + "".join(cells) + f"{c[i]:>6}  {labels[i]}")
    rule = "-" * max(map(len, body))
    numbers = " " * margin + "".join(f"{j:>{width - 1}} " for j in range(size)) + f"{'c_i':>6}"
    offsets = "d_j".rjust(margin) + "".join(f"{offset:>{width - 1}} " for offset in d)
    # Long names are written downward, so that the matrix stays narrow.
    words = list(zip_longest(*labels, fillvalue="")) if downward else [labels]
    pad = " " if downward else ""
    names = [" " * margin + "".join((word + pad).rjust(width) for word in line) for line in words]
    return ["TABLEAU", rule, numbers.rstrip(), rule, *body, rule, offsets.rstrip(), *map(str.rstrip, names)]


def _cell(row: dict[int, int], column: int, assigned: bool) -> str:
    """The order with its star or a blank after it, so that digits stay in line."""
    return str(row.get(column, "-")) + ("*" if assigned else " ")


def _listing(
    entries: Sequence[dict[int, int]], assignment: Integers, c: Integers, d: Integers, labels: Sequence[str]
) -> list[str]:
    width = max(len(label) for label in labels)
    lines = [f"TABLEAU of {len(labels)} equations: offset c_i, then each variable that occurs, with its order"]
    for i, row in list(enumerate(entries))[: len(entries) if len(entries) <= LONGEST else LONGEST // 2]:
        cells = (f"{labels[j]}:{row[j]}{'*' if assignment[i] == j else ''}" for j in sorted(row)[:WIDEST])
        more = f" and {len(row) - WIDEST} more" if len(row) > WIDEST else ""
        lines.append(f"{i:>5}  {labels[i]:<{width}}  c_i = {c[i]}  d_j = {d[i]}  {' '.join(cells)}{more}")
    if len(lines) - 1 < len(entries):
        lines.append(f"  ... and {len(entries) - len(lines) + 1} more equations")
    return lines
