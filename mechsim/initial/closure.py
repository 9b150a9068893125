"""The equations a start must satisfy, as scaled equations in the coordinates that may move.

Coordinates are divided by their scale and every equation by the length of its scaled gradient, so that a residual
is a distance relative to the mechanism's size: millimetres and metres meet the same tolerances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mechsim.frozen import frozen
from mechsim.initial.start import Array, Indices
from mechsim.kernel.linear import dense, generic
from mechsim.model.mechanism import Mechanism

if TYPE_CHECKING:
    from mechsim.kernel.system import System

Triplets = tuple[Indices, Indices, Array]

CLOSED = 1e-12  # largest residual, relative to size, of a start we accept; rounding leaves about 1e-15


@frozen
class Closure:
    """Equations `residual(x) = 0` in x, of which only `free` entries may change and only `rows` count."""

    residual_of: Callable[[Array], Array]
    jacobian_of: Callable[[Array], Triplets]
    hessian_of: Callable[[Array, Array], Triplets] | None  # None: the equations are linear
    jacobians_of: Callable[[Array], Array] | None  # dense, for many points at once; None: the equations are linear
    scales: Array
    free: Indices
    rows: Indices
    row_scales: Array  # of all rows
    magnitudes_of: Callable[[Array], Array]  # the largest number that enters each row, in scales

    def residual(self, x: Array) -> Array:
        return self.residual_of(x)[self.rows] / self.row_scales[self.rows]

    def jacobian(self, x: Array) -> Triplets:
        """Scaled triplets with rows numbered as `rows` and columns as `free`."""
        rows, columns, values = self.jacobian_of(x)
        row_number = numbering(self.rows, len(self.row_scales))[rows]
        column_number = numbering(self.free, len(self.scales))[columns]
        kept = (row_number >= 0) & (column_number >= 0)
        scaled = values * self.scales[columns] / self.row_scales[rows]
        return row_number[kept], column_number[kept], scaled[kept]

    def dense_jacobian(self, x: Array) -> Array:
        return dense(self.jacobian(x), len(self.rows), len(self.free))

    def moved(self, x: Array, step: Array) -> Array:
        result = x.copy()
        result[self.free] += self.scales[self.free] * step
        return result

    def restricted(self, free: Indices, rows: Indices) -> Closure:
        return replace(self, free=free, rows=rows)

    def holding(self, coordinates: Sequence[int]) -> Closure:
        """The same equations with these coordinates held."""
        return replace(self, free=self.free[~np.isin(self.free, list(coordinates))])

    def rescaled(self, x: Array) -> Closure:
        """The same equations with row scales taken at x; a gradient that vanishes there keeps its old scale."""
        norms = gradient_norms(self.jacobian_of(x), self.scales, len(self.row_scales))
        small = norms < 1e-6 * self.row_scales
        return replace(self, row_scales=np.where(small, self.row_scales, norms))

    def tolerance(self, x: Array) -> Array:
        """The accepted residual of each row: rounding grows with the distance from the origin."""
        return CLOSED * np.maximum(1.0, self.magnitudes_of(x)[self.rows])


def position_closure(
    system: System, t: float, guess: Array, scales: Array, free: Indices, rows: Indices | None = None
) -> Closure:
    """All holonomic constraints, or those of `rows`. Sums are made in the order of `free` and `rows`."""
    jacobian = system.constraint_jacobian(t, guess)
    norms = gradient_norms(jacobian, scales, system.m)
    # Points that coincide in the guess give a length constraint without gradient: look beside the guess.
    beside = guess.copy()
    beside[free] += 0.1 * scales[free] * generic(len(free))
    floor = gradient_norms(system.constraint_jacobian(t, beside), scales, system.m)
    norms = np.where(norms < 1e-3 * floor, floor, norms)
    return Closure(
        lambda q: system.constraints(t, q),
        lambda q: system.constraint_jacobian(t, q),
        lambda q, multipliers: system.constraint_hessian(t, q, multipliers),
        lambda q: system.constraint_jacobians(t, q),
        scales,
        free,
        np.flatnonzero(system.levels == 2) if rows is None else rows,  # nonholonomic ones say nothing about positions
        np.where(norms > 0, norms, 1.0),
        magnitudes(system, scales, system.constants),
    )


def velocity_closure(system: System, t: float, positions: Array, scales: Array, free: Indices) -> Closure:
    """`C_q v + C_t = 0` and nonholonomic constraints: linear in v, or nearly so for the few that are not."""
    velocities = scales * generic(len(scales))
    norms = gradient_norms(system.rate_jacobian(t, positions, velocities), scales, system.m)
    of_positions = magnitudes(system, scales_of(system.mechanism), system.constants)(positions)
    of_velocities = magnitudes(system, scales, np.zeros(len(system.constants)))
    return Closure(
        lambda v: system.constraint_rate(t, positions, v),
        lambda v: system.rate_jacobian(t, positions, v),
        None,
        None,
        scales,
        free,
        np.arange(system.m),
        np.where(norms > 0, norms, 1.0),
        # Gradients are rounded as positions are.
        lambda v: np.maximum(1.0, of_positions) * of_velocities(v),
    )


def magnitudes(system: System, scales: Array, constants: Array) -> Callable[[Array], Array]:
    """A function that gives the largest number entering each constraint, relative to its scale; fixed points count as
    coordinates of the constraint's own size."""
    rows, slots = system.entries
    units = np.where(slots >= 0, scales[np.maximum(slots, 0)], system.constraint_sizes[rows])

    def largest(x: Array) -> Array:
        result = np.zeros(system.m)
        np.maximum.at(result, rows, np.abs(np.concatenate([x, constants[::-1]])[slots]) / units)
        return result

    return largest


def scales_of(mechanism: Mechanism) -> Array:
    return np.array([variable.scale for variable in mechanism.variables], dtype=float)


def gradient_norms(jacobian: Triplets, scales: Array, count: int) -> Array:
    rows, columns, values = jacobian
    return np.sqrt(np.bincount(rows, (values * scales[columns]) ** 2, minlength=count))


def numbering(chosen: Indices, count: int) -> Indices:
    """Where each of 0..count-1 stands in `chosen`; -1 where it does not."""
    result = np.full(count, -1, dtype=np.intp)
    result[chosen] = np.arange(len(chosen))
    return result
