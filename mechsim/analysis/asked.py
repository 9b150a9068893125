"""What a person asks of a prepared problem: its linear motion at a time or at rest, and its rests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from mechsim.analysis.flow import Flow
from mechsim.analysis.linear import Linearised, linearised
from mechsim.analysis.rest import Rest, nearest_rest, rests
from mechsim.engine.points import Points
from mechsim.errors import Fault, IntegrationError, SpecError
from mechsim.frozen import frozen
from mechsim.result import multipliers
from mechsim.result.layout import Array
from mechsim.result.reactions import Reactions
from mechsim.simulation import Prepared, adjust, failure, follow, leading

State = tuple[float, Array, Array]


@frozen
class Wanted:
    """Where it is linearised: at a time of the motion, at the rest that is nearest to the start, or, without either, at
    the start; and by which coordinates, inputs and outputs (None: chosen)."""

    at: float | None = None
    rest: bool = False
    coordinates: Sequence[str] | None = None
    inputs: Sequence[str] | None = None
    outputs: Sequence[str] | None = None


def linearize(prepared: Prepared, wanted: Wanted) -> Linearised:
    """Raises SpecError, AssemblyError, IntegrationError."""
    if wanted.at is not None and wanted.rest:
        raise SpecError(Fault("a rest has no time: linearise at a time, or at rest"))
    flow, state = _at_time(prepared, wanted.at)
    return linear_at(flow, state, wanted)


def linear_at(flow: Flow, state: State, wanted: Wanted) -> Linearised:
    t, q, v = state
    if wanted.rest:
        found = nearest_rest(flow, t, q)
        q, v = found.q, 0.0 * found.v
    return linearised(flow, t, q, v, wanted.coordinates, wanted.inputs, wanted.outputs)


def _at_time(prepared: Prepared, at: float | None) -> tuple[Flow, State]:
    """The flow of the mechanism as it is at a time of its motion, and the state there."""
    start = prepared.start
    if at is None or at == start.t:
        return Flow(prepared.system, start.t, start.positions), (start.t, start.positions, start.velocities)
    if at < start.t:
        raise SpecError(Fault(f"t = {at:g} is before the motion begins, at {start.t:g}"))
    solution = follow(replace(prepared, spec=adjust(prepared.spec, tend=at)), keep="outline")
    if solution.status == "interrupted":
        raise KeyboardInterrupt
    if solution.status != "finished":
        raise IntegrationError(failure(solution))
    now = solution.segments.system_at(prepared.system, at)
    return Flow(now, at, solution.q[-1]), (at, solution.q[-1], solution.v[-1])


def reactions_at(prepared: Prepared, linear: Linearised, point: str) -> dict[str, list[float]]:
    """The force on each part at a point, in the state that was linearised."""
    points = Points(prepared.system, np.array([linear.t]), linear.positions[None], linear.velocities[None])
    accelerations, found = leading(prepared)(points)
    full = multipliers.smallest(len(prepared.structure.redundancy.rows), points, accelerations, found)
    told = Reactions(prepared.system, [point])
    forces = told.forces(linear.t, linear.positions, linear.velocities, accelerations[0], full[0])
    return {part: force.tolist() for part, force in forces.items()}


def equilibria(prepared: Prepared, told: Callable[[int, int], None] | None = None) -> tuple[Rest, ...]:
    """The rests that are found at the time of the start. Raises AssemblyError."""
    start = prepared.start
    return rests(Flow(prepared.system, start.t, start.positions), start.t, start.positions, told)
