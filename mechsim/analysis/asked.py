"""What a person asks of a prepared problem: its linear motion at a time or at rest, and its rests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from numbers import Real

from mechsim.analysis.flow import Flow
from mechsim.analysis.leaning import leaning_of, leaning_rest
from mechsim.analysis.linear import Linearised, linearised
from mechsim.analysis.rest import Rest, judged, nearest_rest, rests
from mechsim.analysis.steady import Steady, steady_at, steady_motions
from mechsim.errors import AssemblyError, Fault, IntegrationError, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.system import System
from mechsim.result.layout import Array
from mechsim.simulation import Prepared, adjust, failure, follow

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
    leaning = leaning_rest(prepared) if wanted.rest and not wanted.steady else None
    if leaning is not None and leaning.held is not None:
        return _leaning(prepared.system.holding(leaning.held), leaning, wanted)
    flow, state = _at_time(prepared, wanted.at)
    return linear_at(flow, state, wanted)


def _leaning(system: System, rest: Rest, wanted: Wanted) -> Linearised:
    """Where it leans on contacts, as long as these stay closed."""
    if not len(rest.own.A):
        message = f"nothing can move near the rest that it sinks to: it leans on {', '.join(rest.loads)}"
        raise SpecError(Fault(message, hint="without freedoms there is no linear motion"))
    t, q, v = rest.own.t, rest.own.positions, rest.own.velocities
    flow = Flow(system, t, q, leaning_of(system))
    linear = linearised(flow, t, q, v, wanted.coordinates, wanted.inputs, wanted.outputs, wanted.functions)
    return replace(linear, verdict=rest.stability, leaning=tuple(rest.loads))


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
    if not (at is None or isinstance(at, Real)):
        raise SpecError(Fault(f"a time of the motion is a number, not {at!r}"))
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


def equilibria(prepared: Prepared, told: Callable[[int, int], None] | None = None) -> tuple[Rest, ...]:
    """The rests that are found at the time of the start: the one that it sinks to, if it then leans on contacts; and
    others, with contacts open. Raises AssemblyError."""
    start = prepared.start
    leaning = leaning_rest(prepared)
    sunk = (leaning,) if leaning is not None else ()
    if prepared.system.frictions and sunk:
        return sunk  # with friction there is no end to them
    if prepared.system.frictions:
        hint = "does it slide, or fall? With a v0 friction does not stick, and other rests are looked for too"
        raise AssemblyError(Fault("no rest was found: it did not come to one when it sank from its start", hint=hint))
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
