"""States between two stretches of a motion, as unknowns: as many coordinates and rates as there are freedoms, turn
angles first, from which the constraints give all others, with exact derivatives.

From a known state the others are followed along the straight way of the unknowns, so that they stay on their branch.
"""

from __future__ import annotations

import math

import numpy as np

from mechsim.analysis.flow import Flow
from mechsim.errors import AssemblyError, Fault
from mechsim.frozen import frozen
from mechsim.kernel.changes import NumberChanges, changes_of, gathered
from mechsim.kernel.linear import dense
from mechsim.kernel.system import System
from mechsim.nonlinear import Indices
from mechsim.result.layout import Array

ITERATIONS = 12
CLOSED = 1e-13  # of scales: what a step moves, where the constraints are met
FAR = 0.2  # of scales: as far unknowns are followed at once
MOST = 200  # such steps


@frozen(slots=False, eq=False)
class Chart:
    """Which coordinates and rates describe a state; those of accounts too, which add up over all stretches. The
    constraints `rows` give the other coordinates, and all constraints the other rates."""

    positions: Indices
    velocities: Indices
    rows: Indices
    other_positions: Indices
    other_velocities: Indices

    @classmethod
    def at(cls, system: System, t: float, q: Array, v: Array) -> Chart:
        """A chart that is good near a state. Raises SpecError, AssemblyError."""
        found = Flow(system, t, q).at(t, q, v).chart()
        positions = np.array([*found.positions, *system.accounts], dtype=np.intp)
        velocities = np.array(found.velocities, dtype=np.intp)
        states = [k for k, variable in enumerate(system.mechanism.variables) if variable.kind == "state"]
        all_, rows = np.arange(system.n), np.flatnonzero(system.levels == 2)
        return cls(
            positions, velocities, rows, np.setdiff1d(all_, positions), np.setdiff1d(all_, [*velocities, *states])
        )

    @property
    def width(self) -> int:
        return len(self.positions) + len(self.velocities)

    def names(self, system: System) -> list[str]:
        labels = system.labels
        return [*(labels[k] for k in self.positions), *(f"{labels[k]}_dot" for k in self.velocities)]

    def of(self, q: Array, v: Array) -> Array:
        """The unknowns of a state, or of changes of it, (unknowns, ...)."""
        return np.concatenate([q[self.positions], v[self.velocities]])


@frozen(eq=False)
class Settled:
    """A state that meets the constraints, and its changes with the unknowns, then with parameters."""

    positions: Array
    velocities: Array
    by_positions: Array
    by_velocities: Array


def settled(
    system: System, t: float, chart: Chart, unknowns: Array, near: Array, numbers: NumberChanges | None
) -> Settled:
    """The state of unknowns, on the branch of the positions `near`; its changes with these, and with parameters as
    `numbers` change with them, if these are given. Raises AssemblyError where there is no such state."""
    count = len(chart.positions)
    q = _followed(system, t, chart, unknowns[:count], near)
    v = _velocities(system, t, chart, q, unknowns[count:])
    if numbers is None:
        return Settled(q, v, np.zeros((0, 0)), np.zeros((0, 0)))
    both = NumberChanges.none(system, chart.width).joined(numbers)
    moved = np.zeros((system.n, both.count))
    turned = np.zeros_like(moved)
    moved[chart.positions, np.arange(count)] = 1.0
    turned[chart.velocities, count + np.arange(len(chart.velocities))] = 1.0
    if len(chart.other_positions):
        gradients = dense(system.constraint_jacobian(t, q), system.m, system.n)[chart.rows][:, chart.other_positions]
        found = changes_of(system, ("constraint",), (t, q, v), (moved, np.zeros_like(moved)), both)
        missed = gathered(found, lambda g, k: g.multipliers[k[1]], system.m, both.count)
        moved[chart.other_positions] = -_solved(gradients, missed[chart.rows], t)
    if len(chart.other_velocities):
        slopes = dense(system.rate_jacobian(t, q, v), system.m, system.n)[:, chart.other_velocities]
        found = changes_of(system, ("rate",), (t, q, v), (moved, turned), both)
        missed = gathered(found, lambda g, k: g.multipliers[k[1]], system.m, both.count)
        turned[chart.other_velocities] = -_solved(slopes, missed, t)
    return Settled(q, v, moved, turned)


def _followed(system: System, t: float, chart: Chart, wanted: Array, near: Array) -> Array:
    """The positions with these unknowns, reached step by step from those that are near."""
    scales, begun = system.scales[: system.n], near[chart.positions]
    if not np.isfinite(wanted).all():
        raise AssemblyError(Fault(f"a state at t = {t:g} is no number"))
    far = np.abs((wanted - begun) / scales[chart.positions])
    ways = math.ceil(far[: len(far) - len(system.accounts)].max(initial=0.0) / FAR) or 1
    ways = min(ways, MOST) if len(chart.other_positions) else 1  # scales are guesses: they refuse nothing
    q, others = near.copy(), chart.other_positions
    for way in range(1, ways + 1):
        q[chart.positions] = begun + way / ways * (wanted - begun)
        for _ in range(ITERATIONS):
            gradients = dense(system.constraint_jacobian(t, q), system.m, system.n)[chart.rows][:, others]
            step = -_solved(gradients, np.asarray(system.constraints(t, q))[chart.rows], t)
            q[others] += step
            if np.abs(step / scales[others]).max(initial=0.0) <= CLOSED:
                break
        else:
            raise AssemblyError(Fault(f"no state at t = {t:g} with these unknowns meets the constraints"))
    return q


def _velocities(system: System, t: float, chart: Chart, q: Array, wanted: Array) -> Array:
    v = np.zeros(system.n)
    v[chart.velocities] = wanted
    if len(chart.other_velocities):
        slopes = dense(system.rate_jacobian(t, q, v), system.m, system.n)[:, chart.other_velocities]
        v[chart.other_velocities] = -_solved(slopes, np.asarray(system.constraint_rate(t, q, v)), t)
    return v


def _solved(matrix: Array, right: Array, t: float) -> Array:
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        raise AssemblyError(
            Fault(f"coordinates do not describe the state at t = {t:g}: the pose is singular")
        ) from None
