"""States of no special kind near a motion: what holds at all of them holds at every state.

Rates of momenta are analytic functions of the state. One that vanishes at many states which nothing relates to each
other vanishes everywhere, but for accidents that have no measure.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechsim.engine.events import as_switched
from mechsim.engine.leading import Leading
from mechsim.engine.points import Points
from mechsim.engine.solution import Solution
from mechsim.errors import AssemblyError, Fault
from mechsim.frozen import frozen
from mechsim.kernel.linear import generic
from mechsim.kernel.system import System
from mechsim.result.layout import Array
from mechsim.result.multipliers import smallest
from mechsim.structure import Structure, analyse, redundancy

STRIDE, STRIDES = 0.05, 4  # in scales: how far and how often a state is moved, and put back on the constraints
TOLERANCE = 1e-13
ON_CONSTRAINTS = 1e-9  # of sizes
MOST_PIECES = 40  # of functions of time, each with a state of its own
GOLDEN = (5**0.5 - 1) / 2  # times of a motion without any period


@frozen(eq=False)
class States:
    """States that the constraints allow, with accelerations and multipliers there."""

    points: Points
    accelerations: Array
    multipliers: Array

    def __len__(self) -> int:
        return len(self.points)


def near_motion(solution: Solution, count: int) -> States:
    """So many states, fewer where some are not found. Contacts are open, and what may stick does not. Raises
    AssemblyError where none is found."""
    system, structure = _lasting(solution)
    leading = Leading(system, structure, TOLERANCE, wild=True)
    points = _begun(solution, system, count)
    shape = STRIDES + 1, len(points), system.n
    directions = iter(generic(int(np.prod(shape))).reshape(shape))
    for _ in range(STRIDES):
        points = _moved(leading, points, next(directions))
    speeds = speed_of(solution) * system.scales[: system.n] * next(directions)
    q, v, _ = leading.states(replace(points, v=speeds))
    points = _on_all_sides(leading, _switched(system, replace(points, q=q, v=v)))
    accelerations, multipliers = leading(points)
    multipliers = smallest(len(structure.redundancy.rows), points, accelerations, multipliers)
    known = np.flatnonzero(_is_met(points) & np.isfinite(accelerations).all(axis=1))
    if not len(known):
        message = "no states were found beside the motion, at which conservation could be tested"
        raise AssemblyError(Fault(message, hint="is every pose singular?"))
    return States(points[known], accelerations[known], multipliers[known])


def _begun(solution: Solution, system: System, count: int) -> Points:
    """States of the motion, with constants as they are then; some in each piece of functions of time."""
    share = GOLDEN * np.arange(1, count + 1) % 1.0
    breaks = [each.time for each in system.switches if solution.t[0] < each.time < solution.t[-1]]
    ends = np.array([solution.t[0], *breaks, solution.t[-1]])
    chosen = np.unique(np.linspace(0, len(ends) - 2, min(len(ends) - 1, MOST_PIECES)).round().astype(int))
    within = ends[chosen] + GOLDEN * (ends[chosen + 1] - ends[chosen])
    times = np.sort(np.append(solution.t[0] + (solution.t[-1] - solution.t[0]) * share, within))
    held = solution.system_at(times).constants
    begun = solution.sampled(times)
    constants = np.broadcast_to(held, (len(times), held.shape[-1]))
    return Points(system.holding(constants), times, begun.q, begun.v)


def _moved(leading: Leading, points: Points, directions: Array) -> Points:
    """A stride along what the constraints allow, and back on them."""
    system = leading.system
    scales = system.scales[: system.n]
    speeds = [
        leading.states(replace(points, v=given * np.ones_like(points.v)))[1] for given in (0.0, scales * directions)
    ]
    ways = speeds[1] - speeds[0]  # what a drive moves is in both
    ways[:, system.accounts] = 0.0
    lengths = np.abs(ways / scales).max(axis=1, keepdims=True)
    q = points.q + STRIDE * ways / np.where(lengths > 0, lengths, 1.0)
    moved = replace(points, q=leading.states(replace(points, q=q))[0])
    return replace(points, q=np.where(_is_met(moved)[:, None], moved.q, points.q))


def _lasting(solution: Solution) -> tuple[System, Structure]:
    """The system without gaps and what sticks, and its structure."""
    system = solution.system.bilateral
    if system is solution.system:
        return system, solution.structure
    return system, analyse(system, redundancy(system, float(solution.t[0]), solution.q[0]))


def speed_of(solution: Solution) -> float:
    """In scales per second: as fast as the motion is, or as it would become within a scale."""
    n = solution.system.n
    scales = solution.system.scales[:n]
    moving = np.delete(np.arange(n), solution.system.accounts)
    fastest = np.abs(solution.v[:, moving] / scales[moving]).max(initial=0.0)
    accelerations, _ = solution.leading(solution.points[:1])
    bend = np.sqrt(np.abs(accelerations[:, moving] / scales[moving]).max(initial=0.0))
    return float(max(fastest, bend if np.isfinite(bend) else 0.0) or 1.0)


def _switched(system: System, points: Points) -> Points:
    """With functions that switch as they are at each state."""
    if not any(event.switch for event in system.events):
        return points
    held = [as_switched(points.system_at(k), points.t[k], points.q[k], points.v[k]) for k in range(len(points))]
    return replace(points, system=system.holding(np.stack([each.constants for each in held])))


def _on_all_sides(leading: Leading, points: Points) -> Points:
    """The same, and where functions switch each state again with these thrown in some way: what happens on a side that
    the motion does not meet belongs to the model too."""
    system = points.system
    places = [event.constants[0] for event in system.events if event.switch]
    if not places:
        return points
    thrown = np.broadcast_to(system.constants, (len(points), np.shape(system.constants)[-1])).copy()
    thrown[:, places] = np.sign(generic(len(points) * len(places))).reshape(len(points), -1)
    q, v, _ = leading.states(replace(points, system=system.holding(thrown)))
    constants = np.concatenate([np.broadcast_to(system.constants, thrown.shape), thrown])
    t, q, v = (np.concatenate(each) for each in ((points.t, points.t), (points.q, q), (points.v, v)))
    return Points(system.holding(constants), t, q, v)


def _is_met(points: Points) -> np.ndarray:
    """Which states meet the constraints."""
    system = points.system
    missed = np.abs(np.asarray(system.constraints(points.t, points.q))) / system.constraint_sizes**2
    return np.asarray(missed.max(axis=1, initial=0.0) <= ON_CONSTRAINTS)
