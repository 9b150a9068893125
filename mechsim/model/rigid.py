"""A rigid body in n dimensions, followed through its reference points (seed 001 section 3).

A body has n reference points (RPs) a_0..a_{n-1} in general position and any number of useful points (UPs). Points
are rows of an array here; the seed writes them as columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Place = Sequence[float]
Pair = tuple[float, float]

# RPs whose triangle has a diagonal entry this small relative to the body are taken as not in general position.
GENERAL_POSITION = 1e-12


class NotInGeneralPosition(ValueError):
    """The reference points lie on a common lower-dimensional plane (in 2D: they coincide), so they fix no frame."""


def cross_product(columns: ArrayLike) -> Array:
    """The vector c with c.e = det[W, e] for every e, W the n x (n-1) matrix `columns` (2.1)."""
    matrix = np.asarray(columns, float)
    n = matrix.shape[0]
    if n == 2:
        return np.array([-matrix[1, 0], matrix[0, 0]])
    if n == 3:
        return np.cross(matrix[:, 0], matrix[:, 1])
    return np.array([np.linalg.det(np.column_stack([matrix, unit])) for unit in np.eye(n)])


def reduce(points: ArrayLike, n: int) -> tuple[Array, Array, Array]:
    """QR reduction (3.6)-(3.8) of a body whose first n `points` are RPs, the others UPs, in any frame of its own.

    Returns (rotation, triangle, useful): Q-bar with det +1; R-bar, upper triangular of size n-1 with r_ii > 0; and
    X-bar, n x p, the UPs' displacements from a_0 in the frame the RPs define.
    """
    table = np.asarray(points, float)
    displacements = (table[1:] - table[0]).T
    directions, upper = np.linalg.qr(displacements[:, : n - 1], mode="complete")
    diagonal = np.diagonal(upper)
    if np.abs(diagonal).min() <= GENERAL_POSITION * np.abs(displacements).max():
        raise NotInGeneralPosition("the reference points are not in general position")
    signs = np.append(np.sign(diagonal), 1.0)
    directions = directions * signs
    # LAPACK chooses the last direction's sign freely; a rotation needs the one with determinant +1.
    directions[:, -1] = cross_product(directions[:, :-1])
    triangle = np.triu(signs[:-1, None] * upper[: n - 1])
    return directions, triangle, directions.T @ displacements[:, n - 1 :]


def place(triangle: ArrayLike, useful: ArrayLike, reference_points_now: ArrayLike) -> Array:
    """Where the UPs stand, one per row, when the RPs stand at `reference_points_now` (3.11 B)."""
    now = np.asarray(reference_points_now, float)
    displacements = (now[1:] - now[0]).T
    frame = np.linalg.solve(np.asarray(triangle, float).T, displacements.T).T
    rotation = np.column_stack([frame, cross_product(frame)])
    positions: Array = now[0] + (rotation @ np.asarray(useful, float)).T
    return positions


def placement_ratio(a: Place, b: Place, c: Place) -> tuple[float, float]:
    """xi with c = a + xi (b - a), vectors read as complex numbers: what `reduce` and `place` become in 2D (3.18)."""
    (u, v), (x, y) = _difference(b, a), _difference(c, a)
    if abs(u) < abs(v):  # Smith's division; the reference points are along the x axis, so this is rare
        share = u / v
        whole = u * share + v
        return (x * share + y) / whole, (y * share - x) / whole
    share = v / u
    whole = u + v * share
    return (x + y * share) / whole, (y - x * share) / whole


def placement_coefficients(a: Place, b: Place, c: Place) -> tuple[Pair, Pair, Pair]:
    """The sides (a, b, c) of the triangle, as complex numbers with a a_t + b b_t + c c_t = 0 in every position of the
    body (3.22)."""
    return _difference(c, b), _difference(a, c), _difference(b, a)


def _difference(p: Place, q: Place) -> Pair:
    return p[0] - q[0], p[1] - q[1]
