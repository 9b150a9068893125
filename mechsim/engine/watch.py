"""Constraints that follow from others at the start of a march must hold along it all the same.

Whether one constraint implies another is seen from their gradients at one time. Two drives of one freedom pass that
test, and may still ask for different motions later.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.engine.solution import Batch
from mechsim.kernel.system import System

# As a distance over the size of the mechanism, or a rate per second (and per speed): rounding stays far below.
BROKEN = 1e-9


class Watch:
    """`rows` are the constraints of which some rest at any time. `broken` is the first that failed to hold."""

    def __init__(self, system: System, rows: Sequence[int]):
        self.system = system
        self.rows = list(rows)
        self.broken = ""

    def holds(self, batch: Batch) -> int:
        """At how many points of the batch, from its first on, all constraints hold."""
        if not self.rows or not len(batch.t):
            return len(batch.t)
        system = self.system if batch.constants is None else self.system.holding(batch.constants)
        limit = BROKEN * self._lengths(batch)
        speed = np.maximum(1.0, np.abs(batch.v / self.system.scales[: self.system.n]).max(axis=1))[:, None]
        away = np.abs(system.constraints(batch.t, batch.q)[:, self.rows]) > limit
        leaving = np.abs(system.constraint_rate(batch.t, batch.q, batch.v)[:, self.rows]) > limit * speed
        points, rows = np.nonzero(away | leaving)
        if not len(points):
            return len(batch.t)
        self.broken = self.system.labels[self.system.n + self.rows[rows[0]]]
        return int(points[0])

    def _lengths(self, batch: Batch) -> np.ndarray:
        """Lengths of the gradients at the first point: a residual over its gradient is a distance."""
        held = self.system if batch.constants is None else self.system.holding(batch.constants[0])
        lengths = held.gradient_lengths(batch.t[0], batch.q[0], batch.v[0])[self.rows]
        return np.where(lengths > 0, lengths, 1.0)
