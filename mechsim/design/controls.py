"""Inputs over intervals of time: constant in each, linear or cubic."""

from __future__ import annotations

import numpy as np

from mechsim.frozen import frozen
from mechsim.model.mechanism import Port
from mechsim.result.layout import Array

# Where a polynomial over an interval has its values, by its degree: shares of the interval. Those of cubics are
# Chebyshev's, between which they overshoot least.
POINTS = {0: (0.0,), 1: (0.0, 1.0), 3: (0.0, 0.25, 0.75, 1.0)}


@frozen
class Control:
    """An input over intervals: its numbers are those from `first` on, one for each interval, or with a `degree` one for
    each point of these, the last one that of the next interval too; a constant one has one number."""

    name: str
    port: Port
    first: int
    count: int
    degree: int

    def columns(self, piece: int) -> list[int]:
        """Which of all numbers act in an interval."""
        if self.count == 1:
            return [self.first]
        begin = self.first + max(self.degree, 1) * piece
        return list(range(begin, begin + self.degree + 1))

    @property
    def powers(self) -> Array:
        """From values at its points to coefficients of powers of the share of the interval."""
        return np.asarray(np.linalg.inv(np.vander(POINTS[self.degree], increasing=True)))

    def at(self, x: Array, piece: int, shares: Array) -> Array:
        """At shares of an interval."""
        coefficients = self.powers @ x[self.columns(piece)]
        return np.asarray(np.vander(shares, len(coefficients), increasing=True) @ coefficients)

    def polynomial(self, x: Array, piece: int, duration: float) -> Array:
        """Coefficients of powers of the time since an interval began."""
        return np.asarray(self.powers @ x[self.columns(piece)] / duration ** np.arange(self.degree + 1))

    def times(self, grid: Array) -> Array:
        """Of all its numbers."""
        if not self.degree:
            return grid[: self.count]
        inner = grid[:-1, None] + np.diff(grid)[:, None] * np.array(POINTS[self.degree])[:-1]
        return np.append(inner.ravel(), grid[-1])
