"""Graphs of sparse matrices, by the compiled kernel: a transversal, and what must be solved together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechsim.kernel import _kernel

Integers = NDArray[np.int64]


def transversal(size: int, rows: Integers, columns: Integers, values: Integers) -> Integers:
    """The column of each row in a transversal of highest total value; -1 for rows left over where none is complete."""
    return np.array(_kernel.transversal(size, *_plain(rows, columns, values)), np.int64)


def strong_components(size: int, rows: Integers, columns: Integers) -> Integers:
    """The number of each node's strong component in "row leads to column"; one comes after all that it leads to."""
    return np.array(_kernel.strong_components(size, *_plain(rows, columns)), np.int64)


def _plain(*arrays: Integers) -> list[NDArray[np.int32]]:
    return [np.ascontiguousarray(array, dtype=np.int32) for array in arrays]
