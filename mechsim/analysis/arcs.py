"""Stretches of a motion with their exact derivatives: what periodic motions are made of.

A state is positions and velocities, one after the other, (2n,); accounts of work are no part of it, for nothing depends
on them. Changes of a state that the constraints allow are columns of such vectors, and are measured in scales:
velocities in these over a time, so that both are alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.analysis.subject import Case
from mechsim.engine import Solution
from mechsim.engine.tangents import Directions
from mechsim.frozen import frozen
from mechsim.kernel.changes import changes_of, gathered
from mechsim.kernel.system import System
from mechsim.result.layout import Array

SAME = 1e-9  # of a change: columns that differ by less are one


@frozen(slots=False)
class Norm:
    """How large changes of a state are: `weights` (2n,) of its entries, zero for what is no part of it."""

    weights: Array

    @classmethod
    def of(cls, system: System, time: float, scales: Array | None = None) -> Norm:
        """Velocities count in scales over `time`; `scales` are those of the system, if not others are given."""
        n = system.n
        own_scales = system.scales[:n] if scales is None else scales
        own = np.ones(n)
        own[system.accounts] = 0.0
        rated = own * [variable.kind != "state" for variable in system.mechanism.variables]
        return cls(np.concatenate([own, time * rated]) / np.tile(own_scales, 2))

    def length(self, change: Array) -> float:
        return float(np.linalg.norm(self.weights * change))

    def coordinates(self, basis: Array, changes: Array) -> Array:
        """Of changes, (2n,) or (2n, k), along the columns of a basis, as near as these come."""
        weighted = self.weights[:, None] * basis
        wanted = (self.weights * changes.T).T
        return np.asarray(np.linalg.lstsq(weighted, wanted, rcond=SAME)[0])


@frozen(slots=False, eq=False)
class Arc:
    """A motion from one state to another: how fast both change, and how they move along the `ways` in which the
    beginning may, (2n, ways), and with parameters, (2n, parameters)."""

    case: Case
    solution: Solution
    rates: tuple[Array, Array]
    ways: tuple[Array, Array]
    by_parameters: tuple[Array, Array]
    energies: Array  # how the energy at the beginning changes along the ways, then with the parameters

    @property
    def begin(self) -> Array:
        return np.concatenate([self.solution.q[0], self.solution.v[0]])

    @property
    def end(self) -> Array:
        return np.concatenate([self.solution.q[-1], self.solution.v[-1]])

    @property
    def energy(self) -> float:
        solution = self.solution
        return float(self.case.system.hamiltonian(solution.t[0], solution.q[0], solution.v[0]))


def arc_of(case: Case, duration: float, tolerance: float, by: Sequence[str] = ()) -> Arc:
    """The motion from the start of a case for some time, with its derivatives by the start and by some parameters.
    Raises IntegrationError where there is none."""
    case, named = case.directed(by) if by else (case, None)
    system, start = case.system, case.start
    own = Directions.basis(system, start.t, start.positions, start.velocities, system.accounts.tolist())
    directions = own if named is None else own.joined(named)
    solution = case.solution(start.t + duration, tolerance=tolerance, tangents=directions, keep="steps")
    tangents, count = solution.tangents, own.count
    assert tangents is not None  # directions were given
    begin, end = (np.concatenate([tangents.positions[row], tangents.velocities[row]]) for row in (0, -1))
    return Arc(
        case,
        solution,
        _rates(solution),
        (begin[:, :count], end[:, :count]),
        (begin[:, count:], end[:, count:]),
        _energy_changes(solution, directions, begin),
    )


def _rates(solution: Solution) -> tuple[Array, Array]:
    """How fast the state changes at both ends; integrals have a rate, and no acceleration."""
    points = solution.points[np.array([0, -1])]
    accelerations = solution.leading(points)[0].copy()
    states = [place for place, each in enumerate(solution.system.mechanism.variables) if each.kind == "state"]
    accelerations[:, states] = 0.0
    begin, end = (np.concatenate(pair) for pair in zip(points.v, accelerations, strict=True))
    return begin, end


def _energy_changes(solution: Solution, directions: Directions, changes: Array) -> Array:
    system, n = solution.system, solution.system.n
    point = float(solution.t[0]), solution.q[0], solution.v[0]
    found = changes_of(system, ("hamiltonian",), point, (changes[:n], changes[n:]), directions.numbers)
    return gathered(found, lambda group, _: np.zeros(group.lanes, dtype=int), 1, directions.count)[0]
