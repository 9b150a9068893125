"""How far apart points are, and the farthest of many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from mechsim.lagrangian.vector import PLANE
from mechsim.spec.living import hypot

FEW = 30  # points; all their distances are soon measured
AT_ONCE = 1000  # points whose distances to all others are measured together


def distance(p: Sequence[float], q: Sequence[float]) -> float:
    return hypot(*(b - a for a, b in zip(p, q, strict=True)))


def extent(points: Iterable[tuple[float, ...]]) -> float:
    """The largest distance between two of these points; 0 for less than two."""
    distinct = list(dict.fromkeys(points))
    if len(distinct) <= FEW:
        return max((distance(p, q) for p, q in combinations(distinct, 2)), default=0.0)
    if len(distinct[0]) == PLANE:  # the farthest two are among the corners
        hull = np.array(_hull([complex(*point) for point in distinct]))
        corners = np.column_stack([hull.real, hull.imag])
    else:
        corners = np.array(distinct, dtype=float)
    blocks = (corners[first : first + AT_ONCE] for first in range(0, len(corners), AT_ONCE))
    return float(max(np.linalg.norm(block[:, None] - corners, axis=-1).max() for block in blocks))


def _hull(points: list[complex]) -> list[complex]:
    """The corners of the convex hull in the plane (Andrew's monotone chain)."""
    ordered = sorted(points, key=lambda point: (point.real, point.imag))
    return [*_below(ordered), *_below(ordered[::-1])]


def _below(ordered: list[complex]) -> list[complex]:
    """The corners of the hull from the first point to the last, the others to the left of the way."""
    chain: list[complex] = []
    for point in ordered:
        while len(chain) > 1 and ((chain[-1] - chain[-2]).conjugate() * (point - chain[-2])).imag <= 0:
            chain.pop()
        chain.append(point)
    return chain
