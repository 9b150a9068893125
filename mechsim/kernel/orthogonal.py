"""Linear algebra over many matrices at once, their numbers along the last axis (see columns.py).

Householder's method, without pivots: a matrix is treated alike whatever its neighbours are (Golub and Van Loan, Matrix
Computations, 5.2). Sums go along the first axes, one term after the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def total(terms: Array) -> Array:
    """The sum along the first axis."""
    return np.asarray(np.add.reduce(terms, axis=0))


class Rows:
    """The rows of matrices (rows, columns, sets), no more than columns: J = R^T Q^T with Q orthogonal."""

    def __init__(self, matrices: Array):
        self.count, self.width = matrices.shape[:2]
        work = np.ascontiguousarray(np.swapaxes(matrices, 0, 1))
        self._mirrors: list[tuple[Array, Array]] = []
        for k in range(self.count):
            column = work[k:, k]
            length = np.sqrt(total(column * column))
            mirror = column.copy()
            mirror[0] += np.copysign(length, column[0])
            square = length * (length + np.abs(column[0]))
            factor = np.where(square > 0, 1.0 / np.where(square > 0, square, 1.0), 0.0)
            work[k, k] = -np.copysign(length, column[0])
            rest = work[k:, k + 1 :]
            rest -= mirror[:, None] * (factor * total(mirror[:, None] * rest))
            self._mirrors.append((mirror, factor))
        self.triangle = work[: self.count]

    def turned(self, x: Array) -> Array:
        """Q^T x, for vectors (columns, sets) or several of them (columns, several, sets)."""
        return self._mirrored(x, range(self.count))

    def turned_back(self, x: Array) -> Array:
        """Q x."""
        return self._mirrored(x, range(self.count - 1, -1, -1))

    def _mirrored(self, x: Array, order: range) -> Array:
        result = x.copy()
        for k in order:
            mirror, factor = self._mirrors[k]
            if x.ndim == 3:
                mirror = mirror[:, None]
            part = result[k:]
            part -= mirror * (factor * total(mirror * part))
        return result

    def smallest(self, right: Array) -> Array:
        """The smallest x with J x = right."""
        solved = np.zeros((self.width, right.shape[-1]))
        for k in range(self.count):
            solved[k] = (right[k] - total(self.triangle[:k, k] * solved[:k])) / self.triangle[k, k]
        return self.turned_back(solved)

    def balance(self, x: Array) -> Array:
        """The combination of rows nearest to x."""
        result = self.turned(x)[: self.count]
        for k in range(self.count - 1, -1, -1):
            rest = total(self.triangle[k, k + 1 :] * result[k + 1 :])
            result[k] = (result[k] - rest) / self.triangle[k, k]
        return result

    def along(self) -> Array:
        """Orthonormal vectors that the rows take to nothing, (columns, columns - rows, sets)."""
        count, width, sets = self.count, self.width, self.triangle.shape[-1]
        units = np.zeros((width, width - count, sets))
        units[range(count, width), range(width - count)] = 1.0
        return self.turned_back(units)

    def independence(self) -> Array:
        """No singular value is smaller, and the least is no more than sqrt(rows) times as large."""
        inverse = np.zeros((self.count, *self.triangle.shape[::2]))
        for k in range(self.count):
            inverse[k, k] = 1.0
            for i in range(k, -1, -1):
                known = total(self.triangle[i, i + 1 : k + 1] * inverse[i + 1 : k + 1, k])
                inverse[i, k] = (inverse[i, k] - known) / self.triangle[i, i]
        squares = total(total(inverse * inverse)) if self.count else np.zeros(self.triangle.shape[-1])
        return np.asarray(1.0 / np.sqrt(np.maximum(squares, 1e-300)))


class Firm:
    """Symmetric matrices (size, size, sets) that may be positive definite: `firm` where they are."""

    def __init__(self, matrices: Array):
        size = len(matrices)
        self.firm = np.ones(matrices.shape[-1], dtype=bool)
        self._lower = np.zeros_like(matrices)
        for k in range(size):
            column = matrices[k:, k] - total(self._lower[k, :k, None] * np.swapaxes(self._lower[k:, :k], 0, 1))
            self.firm &= column[0] > 0
            root = np.sqrt(np.where(self.firm, column[0], 1.0))
            self._lower[k:, k] = column / root

    def solved(self, right: Array) -> Array:
        """x with M x = right, (size, sets)."""
        x, lower = right.copy(), self._lower
        for k in range(len(x)):
            x[k] = (x[k] - total(lower[k, :k] * x[:k])) / lower[k, k]
        for k in range(len(x) - 1, -1, -1):
            x[k] = (x[k] - total(lower[k + 1 :, k] * x[k + 1 :])) / lower[k, k]
        return x


def product(matrices: Array, vectors: Array) -> Array:
    """M x for (rows, columns, sets) and vectors (columns, sets), or several of them (columns, several, sets)."""
    columns = np.swapaxes(matrices, 0, 1)
    if vectors.ndim == 2:
        return total(columns * vectors[:, None])
    return np.stack([total(columns * vectors[:, k, None]) for k in range(vectors.shape[1])], axis=1)
