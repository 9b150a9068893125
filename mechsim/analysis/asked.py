"""What a person asks of a prepared problem: its linear motion at a time or at rest, and its rests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from mechsim.analysis.flow import Flow
from mechsim.analysis.leaning import leaning_rest
from mechsim.analysis.linear import Linearised, linearised
from mechsim.analysis.rest import Rest, judged, nearest_rest, rests
from mechsim.analysis.steady import Steady, steady_at, steady_motions
from mechsim.engine.events import as_switched
from mechsim.engine.points import Points
from mechsim.errors import AssemblyError, Fault, IntegrationError, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.system import System
from mechsim.result import multipliers
from mechsim.result.bearings import bearings
from mechsim.result.layout import Array
from mechsim.result.reactions import Reactions
from mechsim.simulation import Prepared, adjust, failure, follow, leading

State = tuple[float, Array, Array]


@frozen
class Wanted:
    """Where it is linearised: at a time of the motion, at the rest that is nearest to the start, or, without either, at
    the start; and by which coordinates, inputs and outputs (None: chosen). `steady`: as seen by who is carried along
    by a steady motion; with `rest`, the one that is nearest. `functions` are coordinates that are signals, with the
    names of these."""

    at: float | None = None
    rest: bool = False
    coordinates: Sequence[str] | None = None
    inputs: Sequence[str] | None = None
    outputs: Sequence[str] | None = None
    steady: bool = False
    functions: Mapping[str, str] = field(default_factory=dict)


def linearize(prepared: Prepared, wanted: Wanted) -> Linearised:
    """Raises SpecError, AssemblyError, IntegrationError."""
    if wanted.at is not None and wanted.rest:
        raise SpecError(Fault("a rest has no time: linearise at a time, or at rest"))
    flow, state = _at_time(prepared, wanted.at)
    return linear_at(flow, state, wanted)


def linear_at(flow: Flow, state: State, wanted: Wanted) -> Linearised:
    t, q, v = state
    if wanted.steady:
        if wanted.coordinates or wanted.inputs or wanted.outputs:
            message = "the linear motion beside a steady one is told in directions that are chosen for it"
            raise SpecError(Fault(message, hint="leave out coordinates, inputs and outputs"))
        return (steady_motions(flow, t, q, v)[0] if wanted.rest else steady_at(flow, t, q, v)).linear
    if wanted.rest:
        found = nearest_rest(flow, t, q)
        q, v = found.q, 0.0 * found.v
    linear = linearised(flow, t, q, v, wanted.coordinates, wanted.inputs, wanted.outputs, wanted.functions)
    return judged(flow, linear)


def _at_time(prepared: Prepared, at: float | None) -> tuple[Flow, State]:
    """The flow of the mechanism as it is at a time of its motion, and the state there."""
    start = prepared.start
    if at is None or at == start.t:
        return Flow(prepared.system, start.t, start.positions), (start.t, start.positions, start.velocities)
    if not at >= start.t:
        where = "before the motion begins, at" if at < start.t else "no time of the motion, which begins at"
        raise SpecError(Fault(f"t = {at:g} is {where} {start.t:g}"))
    solution = follow(replace(prepared, spec=adjust(prepared.spec, tend=at)), keep="outline")
    if solution.status == "interrupted":
        raise KeyboardInterrupt
    if solution.status != "finished":
        raise IntegrationError(failure(solution))
    now = solution.segments.system_at(prepared.system, at)
    return Flow(now, at, solution.q[-1]), (at, solution.q[-1], solution.v[-1])


def points_of_joints(prepared: Prepared, asked: Sequence[str]) -> tuple[str, ...]:
    """Points whose forces are asked for; "all" means those of every joint. Raises SpecError."""
    return tuple(dict.fromkeys(each.point for each in bearings(prepared.mechanism, asked))) if asked else ()


def shared_forces(prepared: Prepared, linear: Linearised, points: Sequence[str], held: Array | None) -> list[str]:
    """Forces among those at some points that are not unique, for constraints that are redundant share them."""
    redundant = len(prepared.structure.redundancy.rows)
    if not redundant or not points:
        return []
    system = _system_at(prepared, linear, held)
    state = linear.t, linear.positions, linear.velocities
    freedom = multipliers.freedom(system, redundant, *state)
    told = Reactions(system, points)
    found = told.undetermined(*state, freedom, whole=True)
    return [label for label in told.labels if label in found and label[-1] not in "uv"]


def reactions_at(
    prepared: Prepared, linear: Linearised, point: str, held: Array | None = None
) -> dict[str, list[float]]:
    """The force on each part at a point, in the state that was linearised; `held` are constants of the mechanism there,
    which say what it leans on."""
    system = _system_at(prepared, linear, held)
    points = Points(system, np.array([linear.t]), linear.positions[None], linear.velocities[None])
    accelerations, found = leading(prepared)(points)
    full = multipliers.smallest(len(prepared.structure.redundancy.rows), points, accelerations, found)
    told = Reactions(system, [point])
    forces = told.forces(linear.t, linear.positions, linear.velocities, accelerations[0], full[0])
    return {part: force.tolist() for part, force in forces.items()}


def _system_at(prepared: Prepared, linear: Linearised, held: Array | None) -> System:
    """With contacts that are closed there, and switches as they are."""
    system = prepared.system if held is None else prepared.system.holding(held)
    return as_switched(system, linear.t, linear.positions, linear.velocities)


def equilibria(prepared: Prepared, told: Callable[[int, int], None] | None = None) -> tuple[Rest, ...]:
    """The rests that are found at the time of the start: the one that it sinks to, if it then leans on contacts; and
    others, with contacts open. Raises AssemblyError."""
    start = prepared.start
    leaning = leaning_rest(prepared)
    sunk = (leaning,) if leaning is not None else ()
    if prepared.system.frictions and sunk:
        return sunk  # with friction there is no end to them
    try:
        return (*sunk, *rests(Flow(prepared.system, start.t, start.positions), start.t, start.positions, told))
    except (AssemblyError, SpecError):
        if not sunk:
            raise
        return sunk


def steady(prepared: Prepared, told: Callable[[int, int], None] | None = None) -> tuple[Steady, ...]:
    """The steady motions that are found from the start. Raises AssemblyError."""
    start = prepared.start
    flow = Flow(prepared.system, start.t, start.positions)
    return steady_motions(flow, start.t, start.positions, start.velocities, told)
