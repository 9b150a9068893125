"""The constraints' Jacobian in comparable units, and consistent positions near a given one.

A start may be special: symmetric, at a dead centre, at rest in an extreme position. What holds a little way off,
wherever the mechanism can go, is what a person means by degrees of freedom.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mechsim.kernel import linear
from mechsim.model.mechanism import Mechanism

Array = NDArray[np.float64]

# A row whose part independent of the rows before it is smaller than this adds nothing. Consistent positions are right
# to 1e-13 or so, which leaves dependent rows at that level; a mechanism nearer to a dead centre cannot be integrated.
DEPENDENT = 1e-9
# How far to move, in scales of the coordinates, and how often to try, each time half as far.
EXCURSION = 0.02
TRIALS = 4
# Dead centres make Newton's method converge only linearly (a factor 2 per step), hence so many.
NEWTON_STEPS = 60
CONSISTENT = 1e-12


class Constrained(Protocol):
    """What this room asks of a system beside its signature."""

    @property
    def mechanism(self) -> Mechanism: ...
    @property
    def n(self) -> int: ...
    @property
    def m(self) -> int: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def scales(self) -> Array: ...
    def constraints(self, t: float, q: Array) -> Array: ...
    def rate_jacobian(self, t: float, q: Array, v: Array) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]: ...


def scaled_jacobian(system: Constrained, t: float, q: Array) -> tuple[Array, Array]:
    """C_q, and psi_v of nonholonomic constraints, dense, with columns in scales of the coordinates and rows of length
    1; and the rows' former lengths."""
    return linear.scaled_jacobian(system, velocity_jacobian(system, t, q))


def velocity_jacobian(system: Constrained, t: float, q: Array) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """What binds velocities at q, at velocities of no special kind (it matters only for psi not linear in them)."""
    generic = np.asarray(system.scales)[: system.n] * linear.generic(system.n)
    return system.rate_jacobian(t, q, generic)


def null_space(jacobian: Array, negligible: float = DEPENDENT) -> Array:
    """Orthonormal columns that span the motions the constraints allow."""
    return linear.null_space(jacobian, absolute=negligible)


def nearby(system: Constrained, t: float, q: Array) -> list[Array]:
    """Consistent positions a little way off, found by moving along allowed directions and projecting back."""
    allowed = null_space(scaled_jacobian(system, t, q)[0])
    found = []
    for trial, mixture in enumerate(linear.generic(TRIALS * allowed.shape[1]).reshape(TRIALS, -1)):
        if not len(mixture):
            break
        direction = allowed @ mixture
        step = EXCURSION / 2**trial * direction / np.abs(direction).max()
        near = project(system, t, q + np.asarray(system.scales)[: system.n] * step)
        if near is not None:
            found.append(near)
    return found


def project(system: Constrained, t: float, q: Array) -> Array | None:
    """The nearest position that satisfies the constraints, by Newton steps of least norm; None if it is not reached."""
    scales = np.asarray(system.scales)[: system.n]
    for _ in range(NEWTON_STEPS):
        jacobian, lengths = scaled_jacobian(system, t, q)
        gap = system.constraints(t, q) / lengths
        if np.abs(gap).max(initial=0.0) < CONSISTENT:
            return q
        q = q - scales * np.linalg.lstsq(jacobian, gap, rcond=DEPENDENT)[0]
    return None
