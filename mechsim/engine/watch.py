"""Constraints that follow from others at the start of a march must hold along it all the same.

Whether one constraint implies another is seen from their gradients at one time. Two drives of one freedom pass that
test, and may still ask for different motions later.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.engine.points import Points
from mechsim.kernel.system import System

# As a distance over the size of the mechanism, or a rate per second (and per speed): rounding stays far below.
BROKEN = 1e-9


class Watch:
    """`rows` are the constraints of which some rest at any time. `broken` is the first that failed to hold."""

    def __init__(self, system: System, rows: Sequence[int]):
        self.system = system
        self.rows = list(rows)
        self.broken = ""

    def holds(self, points: Points) -> int:
        """At how many of these points, from the first on, all constraints hold."""
        if not self.rows or not len(points):
            return len(points)
        system, limit = points.system, BROKEN * self._lengths(points)
        speed = np.maximum(1.0, np.abs(points.v / self.system.scales[: self.system.n]).max(axis=1))[:, None]
        away = np.abs(system.constraints(points.t, points.q)[:, self.rows]) > limit
        leaving = np.abs(system.constraint_rate(*points.state)[:, self.rows]) > limit * speed
        broken, rows = np.nonzero(away | leaving)
        if not len(broken):
            return len(points)
        self.broken = self.system.labels[self.system.n + self._blamed(self.rows[rows[0]])]
        return int(broken[0])

    def _blamed(self, row: int) -> int:
        """Of rows that depend on each other any may fail; a drive asks for a motion, so it is to blame."""
        drives = self.system.prescribed & set(self.rows)
        return max(drives) if drives else row

    def _lengths(self, points: Points) -> np.ndarray:
        """Lengths of the gradients at the first point: a residual over its gradient is a distance."""
        t, q, v = (column[0] for column in points.state)
        lengths = points.system_at(0).gradient_lengths(t, q, v)[self.rows]
        return np.where(lengths > 0, lengths, 1.0)
