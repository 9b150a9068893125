"""How large coordinates are, where nobody says it: what errors are judged by.

A start value does not tell: it may be zero, or tiny, in any units. So the motion is followed roughly first, and a
coordinate is as large as its largest value there. Coordinates that hardly move are compared with the others of their
chain by inertia, for an error below the roundings of these cannot be asked.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mechsim.engine import Points, integrate
from mechsim.initial import Start
from mechsim.kernel.graph import strong_components
from mechsim.kernel.system import System
from mechsim.spec.number import SMALLEST
from mechsim.structure import Structure

Array = NDArray[np.float64]

ROUGH = 1e-4
ROUGH_ORDER = (
    14  # measured: cheaper than lower ones even at this tolerance; a rough run costs less than half of a fine one
)
ROUNDING = float(np.finfo(float).eps)
INSIDE = (0.25, 0.6)  # of a step
SEEN = 1e-3  # of its size: what moves by less may be overlooked by a rough run
MOST_LOOKS = 33  # down to 1e-99, near SMALLEST
UNSEEN = 1e100  # for work where nobody asks for it, as in the rough run: it shortens no step


class Sizes:
    """Sizes of the coordinates of a system, whose own scales do not matter here."""

    def __init__(self, system: System, t: float, q: Array, given: Array):
        """`given`: what a user says, NaN elsewhere."""
        self.given = given
        self.moving = np.array([variable.kind != "state" for variable in system.mechanism.variables])
        with np.errstate(all="ignore"):
            inertia = np.abs(np.diag(system.mass_matrix(t, q)))
        self.weights = np.sqrt(np.where(np.isfinite(inertia), inertia, 0.0))
        self.chains = _chains(system, self.moving)

    def guessed(self, q: Array) -> Array:
        """For the start: in each chain all are as large as the largest, by inertia."""
        return self._completed(np.abs(q), 1.0, UNSEEN)

    def reached(self, follow: Callable[[Array], Reach], q: Array, tolerance: float) -> Array:
        """For the motion; `follow` makes a rough run with given sizes. What begins at rest at zero may move later, but
        by so little that it does not show: then it is looked at more closely."""
        if not np.isnan(self.given).any():
            return self.given
        sizes = self.guessed(q)
        for _ in range(MOST_LOOKS):
            reach = follow(sizes)
            unseen = [chain for chain in self.chains if np.max(reach.positions[chain] / sizes[chain]) < SEEN]
            if not unseen:
                break
            sizes[np.concatenate(unseen)] *= SEEN
        for chain in unseen:
            reach.positions[chain] = self.guessed(q)[chain]  # a rest tells no size, and motions may start elsewhere
        return self._completed(reach.positions, min(1.0, ROUNDING / tolerance), reach.energy)

    def _completed(self, reached: Array, share: float, energy: float) -> Array:
        """At least this share of the largest of the chain, by inertia."""
        sizes = np.where(reached < SMALLEST, 0.0, reached)
        for chain in self.chains:
            weights = self.weights[chain]
            largest = np.max(weights * sizes[chain]) or np.max(weights)
            floor = np.where(weights > 0, share * largest / np.where(weights > 0, weights, 1.0), 0.0)
            sizes[chain] = np.maximum(sizes[chain], floor)
        sizes = np.where(sizes > 0, sizes, 1.0)
        sizes[~self.moving] = energy or 1.0
        return np.where(np.isnan(self.given), sizes, self.given)


def _chains(system: System, moving: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Coordinates that enter each other's equations, together."""
    rows, columns, _ = system.signature()
    counted = np.concatenate([moving, np.ones(system.m, dtype=bool)])
    counted = counted[rows] & counted[columns]  # the work of all would join all
    ends = rows[counted], columns[counted]
    numbers = strong_components(system.n + system.m, np.concatenate(ends), np.concatenate(ends[::-1]))
    of_coordinates = np.where(moving, numbers[: system.n], -1)
    return [np.flatnonzero(of_coordinates == number) for number in np.unique(of_coordinates[moving])]


class Reach:
    """The largest value of each coordinate, and of the energies, along a rough run."""

    def __init__(self, system: System, structure: Structure, start: Start, tend: float):
        self.system = system
        self.positions = np.abs(start.positions)
        self.energy = 0.0
        with np.errstate(all="ignore"):
            rough = integrate(
                system,
                structure,
                start,
                tend=tend,
                tolerance=ROUGH,
                order=ROUGH_ORDER,
                keep="outline",
                observer=self._observe,
                detailed=True,
            )
        if rough.status == "interrupted":
            raise KeyboardInterrupt

    def _observe(self, points: Points) -> None:
        energies = [np.asarray(energy) for energy in points.system.energies(*points.state)]
        energies.append(points.q[:, self.system.accounts].sum(axis=1))
        self.energy = max(self.energy, *(_largest(energy) for energy in energies))
        for q in (points.q, *_inside(points, self.system.n)):
            self.positions = np.maximum(self.positions, [_largest(column) for column in q.T])


def _inside(points: Points, n: int) -> list[Array]:
    """Positions within the steps: these are long, and may end where they began."""
    steps = points.steps
    if steps is None:
        return []
    lengths = points.t[-len(steps.starts) :] - steps.starts
    powers = np.arange(steps.polynomials.shape[1])
    return [
        np.einsum("sk,skj->sj", (share * lengths[:, None]) ** powers, steps.polynomials[:, :, :n]) for share in INSIDE
    ]


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
