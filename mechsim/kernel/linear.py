"""Linear algebra of constraints: their Jacobian in comparable units, and the motions it allows."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Triplets = tuple[np.ndarray, np.ndarray, np.ndarray]


class Sized(Protocol):
    """What is asked of a system here."""

    @property
    def n(self) -> int: ...
    @property
    def m(self) -> int: ...
    @property
    def scales(self) -> Array: ...


def dense(triplets: Triplets, rows: int, columns: int) -> Array:
    """A matrix from its entries; those of one place add up."""
    matrix = np.zeros((rows, columns))
    np.add.at(matrix, (triplets[0], triplets[1]), triplets[2])
    return matrix


def scaled_jacobian(system: Sized, jacobian: Triplets) -> tuple[Array, Array]:
    """The gradients of constraints by scaled coordinates, each of length 1, and the lengths they had (1 for none)."""
    return unit_rows(dense(jacobian, system.m, system.n) * system.scales[: system.n])


def unit_rows(matrix: Array) -> tuple[Array, Array]:
    """Rows, each of length 1, and the lengths they had (1 for none): units of constraints make no difference then."""
    lengths = np.linalg.norm(matrix, axis=1)
    lengths[lengths == 0] = 1.0
    return matrix / lengths[:, None], lengths


def allowed_motions(gradients: Array, dependent: float) -> Array:
    """Orthonormal columns along which nothing of these gradients changes, whatever their units; singular values below
    `dependent` belong to gradients that follow from others."""
    return null_space(unit_rows(gradients)[0], relative=dependent)


def null_space(matrix: Array, absolute: float = 0.0, relative: float = 0.0) -> Array:
    """Orthonormal columns that the matrix takes to nothing: to less than `absolute`, or than `relative` of the most."""
    if not len(matrix):
        return np.eye(matrix.shape[1])
    _, sizes, right = np.linalg.svd(matrix)
    rank = int((sizes > max(absolute, relative * sizes.max(initial=0.0))).sum())
    return np.asarray(right[rank:].T)


def generic(count: int) -> Array:
    """Numbers between -1 and 1 without any relation, alike every time (Steele, Lea and Flood 2014, `splitmix64`).

    NumPy's generators would do, but take 20 ms to import.
    """
    bits = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return (bits ^ (bits >> np.uint64(31))) / 2.0**63 - 1.0
