"""How stretches of a motion bend, gathered from how their first derivatives change on the way of a search.

The second derivatives of what a stretch comes to depend on few numbers only, so each stretch has a small matrix of its
own (high-rank updates by blocks, Bock and Plitt 1984), brought up to date by the symmetric rule of rank one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mechsim.nonlinear import Indices
from mechsim.result.layout import Array

PARALLEL = 1e-2  # of the sum of sizes: what is left over across a step tells nothing
SHORT = 1e-6  # of scales: steps below this would tell roundings


@dataclass(slots=True, eq=False)
class Curvature:
    """Of all stretches, by number: where each was last, its derivatives there, and a matrix for each of its
    constraints, so that these may count more or less later."""

    known: dict[int, tuple[Array, Array, Array]] = field(default_factory=dict)

    def learn(self, piece: int, at: Array, slopes: Array, multipliers: Array) -> Array:
        """The sum of multipliers times second derivatives; `slopes` are the first ones, (constraints, numbers)."""
        if piece not in self.known:
            matrices = np.zeros((*slopes.shape, len(at)))
        else:
            before, old, matrices = self.known[piece]
            step = at - before
            if np.linalg.norm(step) < SHORT:
                return np.asarray(np.tensordot(multipliers, matrices, 1))
            left = slopes - old - matrices @ step
            along = left @ step
            told = np.abs(along) > PARALLEL * np.abs(left) @ np.abs(step)
            shares = np.divide(1.0, along, out=np.zeros_like(along), where=told)
            matrices = matrices + shares[:, None, None] * left[:, :, None] * left[:, None, :]
        self.known[piece] = at, slopes, matrices
        return np.asarray(np.tensordot(multipliers, matrices, 1))


def spread(matrix: Array, places: Indices, into: Array) -> None:
    """Add a small matrix to a large one."""
    into[np.ix_(places, places)] += matrix
