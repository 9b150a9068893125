"""About when a motion first comes back to where it began: a guess for the period where nothing gives one."""

from __future__ import annotations

import numpy as np

from mechsim.analysis.arcs import Norm
from mechsim.analysis.turning import angles_of, folded
from mechsim.engine import Solution
from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.result.layout import Array

SAMPLES = 8  # of each step
NEAR = 0.3  # of the farthest that the motion goes: a nearest approach beyond it is no return
BETTER = 3.0  # a later return counts if it comes so many times nearer,
ENOUGH = 1e-6  # unless the first one comes as near as this
MOST = 64  # returns that are looked at
REFINED = 4  # steps of Newton's method


def first_return(solution: Solution) -> float:
    """The time that a motion takes to come back. Raises SpecError where it does not."""
    apart = _Apart(solution, angles_of(solution), _weights(solution))
    times = _times(solution)
    distance = apart.distance(times)
    farthest = float(distance.max(initial=0.0))
    found = [apart.nearest(float(times[place])) for place in _approaches(distance, farthest)]
    if not found:
        message = f"the motion does not come back to where it began until t = {solution.t[-1]:g}"
        hint = "follow it for longer, begin at a later time, or say about how long its period is"
        raise SpecError(Fault(message, hint=hint))
    nearest = max(min(distance for _, distance in found) * BETTER, ENOUGH * farthest)
    return next(time for time, distance in found if distance <= nearest) - float(solution.t[0])


@frozen(slots=False, eq=False)
class _Apart:
    """How far a motion is from its start, whole turns of angles left out."""

    solution: Solution
    angles: Array
    weights: Array

    def distance(self, times: Array) -> Array:
        return np.asarray(np.linalg.norm(self.weights * self._states(times)[0], axis=1))

    def nearest(self, time: float) -> tuple[float, float]:
        """When near a time it is nearest, and how far it is then."""
        squares, (first, last) = self.weights**2, self.solution.t[[0, -1]]
        for _ in range(REFINED):
            apart, forward = (each[0] for each in self._states(np.array([time])))
            step = -float((squares * apart) @ forward / max((squares * forward) @ forward, 1e-300))
            time = float(min(max(time + step, first), last))
        return time, float(self.distance(np.array([time]))[0])

    def _states(self, times: Array) -> tuple[Array, Array]:
        """By how much states differ from the first, and how fast they change, (times, 2n)."""
        n, solution = self.solution.system.n, self.solution
        values, rates, bends = (each[:, :n] for each in solution.evaluate(times))
        apart = np.concatenate([folded(self.angles, values - solution.q[0]), rates - solution.v[0]], axis=1)
        return apart, np.concatenate([rates, bends], axis=1)


def _times(solution: Solution) -> Array:
    shares = np.arange(SAMPLES) / SAMPLES
    return np.append((solution.t[:-1, None] + np.diff(solution.t)[:, None] * shares).ravel(), solution.t[-1])


def _weights(solution: Solution) -> Array:
    """Velocities count by the time in which positions become velocities, as the motion goes."""
    weights, n = Norm.of(solution.system, 1.0).weights, solution.system.n
    swing = np.linalg.norm(weights[:n] * (solution.q - solution.q.mean(axis=0)))
    speed = np.linalg.norm(weights[n:] * solution.v)
    return Norm.of(solution.system, float(swing / speed) if min(swing, speed) > 0 else 1.0).weights


def _approaches(distance: Array, farthest: float) -> list[int]:
    """Where it is nearer than before and after, once it has gone away."""
    away = np.flatnonzero(distance > 0.5 * farthest)
    if not len(away):
        return []
    inner = np.arange(away[0], len(distance) - 1)
    lowest = (distance[inner] <= distance[inner - 1]) & (distance[inner] <= distance[inner + 1])
    found: list[int] = inner[lowest & (distance[inner] <= NEAR * farthest)][:MOST].tolist()
    return found
