"""The Taylor DAE engine: one loop over batches of kernel steps. It knows offsets and programs, never mechanics."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mechsim.engine.collector import Collector
from mechsim.engine.control import LARGEST_ORDER, SMALLEST_ORDER, order_for
from mechsim.engine.events import Event, EventLog, Events
from mechsim.engine.launch import Launch
from mechsim.engine.leading import planned
from mechsim.engine.machine import new_march
from mechsim.engine.points import Points
from mechsim.engine.segments import Segment, Segments
from mechsim.engine.solution import Solution
from mechsim.engine.state import HandedOn, InitialState, State, state_of
from mechsim.engine.stops import Stops
from mechsim.engine.tangents import Directions, HeldChanges, MarchTangents
from mechsim.engine.watch import Watch
from mechsim.errors import Fault, IntegrationError
from mechsim.kernel.compiled import Status
from mechsim.kernel.march import March
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System
from mechsim.structure import Structure

__all__ = [
    "LARGEST_ORDER",
    "SMALLEST_ORDER",
    "Event",
    "Events",
    "InitialState",
    "Points",
    "Ready",
    "Segment",
    "Segments",
    "Solution",
    "State",
    "integrate",
    "order_for",
    "state_of",
]

Ready = tuple[Plan, March]

BATCH_SECONDS = 0.05  # a batch ends after this, so that progress is shown and Ctrl-C is heard
BATCH_STEPS = 2048  # what is kept of them until they are shown should not be felt
BATCH_NUMBERS = 4_000_000  # of polynomials: large mechanisms take few steps at once
HANDED_ON = ("finished", "interrupted")  # endings from which a march may go on

MESSAGES = {
    Status.STEP_TOO_SMALL: "the step size fell below what the time can resolve",
    Status.SINGULAR: "the equations became singular: accelerations or reactions are not determined there",
    Status.NOT_FINITE: "the motion left the range where its equations have values",
    Status.NOT_PROJECTED: "the constraints could not be met again after a step",
    Status.NOT_DIFFERENTIABLE: "the motion cannot be differentiated through a singular pose, or where its derivatives "
    "are no numbers",
    Status.ENDLESS: "events follow each other without end (contacts, or a switch that both sides push back to)",
    Status.CROWDED: "two outlines touch in more places at one time than are known",
    Status.WEDGED: "friction wedges: no load fits what slides and sticks there (Painlevé's paradox)",
    Status.UNWATCHED: "has no value",
    Status.UNDECIDED: "the equations do not tell how contacts push",
}


NO_DERIVATIVE = "the motion has no derivative there"  # though it goes on


def why_ended(status: int, march: March) -> str:
    """What a march that cannot go on says of it."""
    if status == Status.NOT_DIFFERENTIABLE and march.tangent_failure:
        return f"{NO_DERIVATIVE}: {march.tangent_failure}"
    return MESSAGES.get(Status(status), Status(status).name.lower())


def integrate(
    system: System,
    structure: Structure,
    start: InitialState,
    *,
    tend: float,
    tolerance: float,
    order: int | None = None,
    keep: str = "polynomials",
    observer: Callable[[Points], None] | None = None,
    fixed_step: float = 0.0,
    detailed: bool = False,
    ready: Ready | None = None,
    tangents: Directions | None = None,
) -> Solution:
    """March from a consistent start (a State, or what has its attributes) to `tend`. Failure is a status of the
    Solution, not an exception. From the `ending` of another Solution the motion goes on as if it had not been stopped.

    `keep`: "polynomials" of all steps, all "steps", or an "outline": points all along the march, and its last ones,
    which take no more memory however long it is. `detailed`: the observer gets the polynomials with each batch.
    `ready`: the plan of the system and a march of it, with order and tolerance as here, where these are known.
    `tangents`: directions in which the motion is differentiated; the Solution's `tangents` are these derivatives.
    """
    began = time.perf_counter()
    refuse_backwards(system, tend < start.t)
    plan = ready[0] if ready is not None else planned(system, structure)
    order = order or order_for(tolerance, plan)
    march = ready[1] if ready is not None else new_march(plan, order, tolerance, fixed_step)
    state = state_of(system, plan.variable_offsets, start)
    march.set_state(start.t, state)
    differentiated = MarchTangents(march, plan, start, tangents, keep)
    watch = Watch(system, structure.redundancy.spare)
    stops = Stops(system, start, tend, changes=HeldChanges(tangents, system) if tangents else None)
    happened = EventLog(system, march, stops)
    collector = Collector(system, stops.log, keep, observer, watch, detailed, tolerance)
    handed_on = getattr(start, "handed_on", None)
    if handed_on is not None and handed_on.fits(plan, order, tolerance, differentiated.count):
        march.restore(handed_on.march)
        stops.resume(handed_on.stops)
        collector.resume(start.t, handed_on)
        differentiated.resume(stops)
    elif handed_on is not None:
        stops.hold(march, handed_on.stops)
        stops.hold_inputs(march, handed_on.stops, handed_on.plan.constants)
    earlier = march.statistics
    prepared = time.perf_counter()
    status, interrupted, ended = Status.RUNNING, False, False
    steps = max(1, min(BATCH_STEPS, BATCH_NUMBERS // (plan.size * (order + 2)))) if collector.dense else BATCH_STEPS
    try:
        if system.events and not stops.resumed:
            happened.begin(start.t, start.positions, start.velocities)
        gain = stops.begin(march)
        collector.jump(gain)
        differentiated.jump(gain)
        if start.singular and np.any(start.velocities):
            status = collector.launch(Launch(march, plan, system, state, start.t, start.fixed, tolerance), stops.next)
        while status == Status.RUNNING and not watch.broken:
            goal = stops.next
            room = max(1, steps - collector.waiting_rows)
            result = march.advance(goal, room, BATCH_SECONDS, collector.dense)
            happened.take()
            status = collector.take(stops.accounted(result))
            differentiated.take(stops.gained)
            if status == Status.EVENT:
                ends, gain = happened.fired(*collector.last)
                collector.jump(gain)
                differentiated.jump(gain)
                if happened.bonds.jumped:  # the state after it is a point of its own
                    collector.take(stops.accounted(march.advance(goal, 0, BATCH_SECONDS, collector.dense)))
                    happened.take()
                    differentiated.take(stops.gained)
                status = Status.REACHED if ends else Status.ENDLESS if happened.endless else Status.RUNNING
                if ends or happened.bonds.broken:
                    ended = ends
                    break
            elif status in (Status.RUNNING, Status.REACHED) and happened.endless:
                status = Status.ENDLESS
            if status == Status.REACHED and goal != tend and not watch.broken:
                gain = stops.reached(march, *collector.last)
                collector.jump(gain)
                differentiated.jump(gain)
                status = Status.RUNNING
            collector.show_in_time(BATCH_SECONDS, steps)
        collector.show()
    except KeyboardInterrupt:
        interrupted = True
        collector.show()
    seconds = time.perf_counter() - prepared
    name = "interrupted" if interrupted else "finished" if status == Status.REACHED else status.name.lower()
    reached = collector.last[0] if collector.newest else start.t
    message = f"{why_ended(status, march)}, at t = {reached:.9g}" if status in MESSAGES else ""
    if watch.broken:
        name = "contradiction"
        message = f"{watch.broken} cannot be met with the other constraints after t = {reached:.9g}"
    if status == Status.UNWATCHED:
        event = system.events[march.fired]
        message = f"{'a switch' if event.switch else f'what event {event.name} watches'} {message}"
    if happened.bonds.broken:
        name, message = "misfit", happened.bonds.broken  # of a bond that cannot take hold
    counts = {key: value - earlier[key] for key, value in march.statistics.items() if isinstance(value, int)}
    times = {"seconds": seconds, "preparation_seconds": prepared - began}
    statistics = {**march.statistics, **counts, "order": order, **times}
    kept = name in HANDED_ON
    left = _handed_on(march, plan, order, tolerance, stops, collector, differentiated.count) if kept else None
    solution = collector.solution(name, message, statistics, (system, structure, plan), order, tolerance, left)
    solution = replace(solution, events=happened.events)
    return differentiated.told(solution, happened.time_changes, ended)


def refuse_backwards(system: System, backwards: bool) -> None:
    """What is not known of motions with contacts. Raises IntegrationError."""
    marks = [each.mark for each in system.gaps] + [each.mark for each in system.frictions]
    marks += [each.mark for each in system.events]
    if backwards and marks:
        raise IntegrationError(Fault("contacts and events cannot be followed backwards in time", marks[0]))


def _handed_on(
    march: March, plan: Plan, order: int, tolerance: float, stops: Stops, collector: Collector, directions: int
) -> HandedOn | None:
    """What a march hands on where it was stopped, unless an interrupt came before its last batch was taken."""
    if collector.newest is None or march.time != collector.last[0]:
        return None
    _, q, v, lam = collector.newest
    x, rates = np.concatenate([q, lam]), np.concatenate([v, np.zeros_like(lam)])
    return HandedOn(plan, order, tolerance, march.snapshot(), stops.passed, x, rates, directions)
