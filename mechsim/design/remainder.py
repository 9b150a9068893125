"""What formulas do not tell of how a goal and relations bend, gathered from how first derivatives change on the way of
a search.

Second derivatives by formulas (Gauss and Newton) leave out how the motion itself bends, and energies, works and forces.
What is left out is brought up to date by the symmetric rule of rank one, beside what formulas tell (Dennis, Gay and
Welsch 1981): little is left of most problems, and so few steps tell it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechsim.result.layout import Array

PARALLEL = 1e-2  # of the sum of sizes: what is left over across a step tells nothing
SHORT = 1e-6  # of scales: steps below this would tell roundings
MOST = 400  # numbers: of more, a full matrix would cost more than it tells


@dataclass(slots=True, eq=False)
class Remainder:
    """Of numbers in scales: a matrix, and where it was last brought up to date, with all first derivatives there, (goal
    and relations, numbers)."""

    matrix: Array
    last: tuple[Array, Array] | None = None

    def learn(self, x: Array, slopes: Array, weights: Array, told: Array) -> Array:
        """Second derivatives that formulas do not tell, of the sum of goal and relations by weights; `told` are those
        that they do."""
        before, self.last = self.last, (x.copy(), slopes.copy())
        if before is None:
            return self.matrix
        step = x - before[0]
        if np.linalg.norm(step) < SHORT:
            self.last = before
            return self.matrix
        left = weights @ (slopes - before[1]) - (told + self.matrix) @ step
        along = float(left @ step)
        if abs(along) > PARALLEL * float(np.abs(left) @ np.abs(step)):
            self.matrix = self.matrix + np.outer(left, left) / along
        return self.matrix
