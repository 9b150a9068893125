"""Points of a motion. Each knows the system as it is there, so nobody can evaluate it with other constants."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mechsim.engine.segments import Segments
from mechsim.frozen import frozen
from mechsim.kernel.series import horner
from mechsim.kernel.system import System

Rows = int | slice | np.ndarray  # one of the points, or some


@frozen
class Steps:
    """Steps of a march: `polynomials[step, degree, unknown]` about their `starts`, the segments they belong to, and the
    tolerance they were taken to."""

    segments: Segments
    starts: np.ndarray
    polynomials: np.ndarray
    tolerance: float


@frozen
class Points:
    """Times, coordinates and velocities, a row for each point, and the `system` as it is at each; multipliers where
    they are known (of a step's end, those of the segment that ends there).

    `series` are accelerations and multipliers as polynomials have them, of points that were taken from some; NaN for
    others. `steps` are those that end at these points, where asked for.
    """

    system: System
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    lam: np.ndarray | None = None
    series: tuple[np.ndarray, np.ndarray] | None = None
    steps: Steps | None = None

    def __len__(self) -> int:
        return len(self.t)

    @property
    def state(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.t, self.q, self.v

    def __getitem__(self, rows: Rows) -> Points:
        """Some of the points: a slice, or their numbers."""
        lam = None if self.lam is None else self.lam[rows]
        series = None if self.series is None else (self.series[0][rows], self.series[1][rows])
        return Points(self.system_at(rows), self.t[rows], self.q[rows], self.v[rows], lam, series)

    def system_at(self, rows: Rows) -> System:
        """The system as it is at one of the points, or at some."""
        constants = self.system.constants
        return self.system if constants.ndim == 1 else self.system.holding(constants[rows])

    def alike(self) -> list[slice]:
        """Runs of points at which the system is the same."""
        constants = self.system.constants
        if constants.ndim == 1:
            return [slice(0, len(self))]
        changes = np.flatnonzero(np.any(constants[1:] != constants[:-1], axis=1)) + 1
        return [slice(first, last) for first, last in pairwise([0, *changes.tolist(), len(self)])]


def joined(columns: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """Pieces of several columns, each as one array."""
    return [np.concatenate(pieces) for pieces in zip(*columns, strict=True)]


def evaluated(coefficients: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Polynomials [point, degree, unknown] and their first and second derivatives at h, each (points, unknowns)."""
    values, rates, halves = horner(coefficients.transpose(1, 0, 2)[::-1], h[:, None], 3)
    return values, rates, 2 * halves


def lasting(times: np.ndarray, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Without the steps of no length that lead from one side of an event to the other."""
    long = np.flatnonzero(times[1:] != times[:-1])
    if len(long) == len(times) - 1:
        return times, coefficients
    return np.append(times[:1], times[1 + long]), coefficients[long]
