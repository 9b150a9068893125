"""Periodic motions, found by shooting from a guess: the start of a motion, or where it is after some time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial

import numpy as np

from mechsim.analysis.flow import reads_time
from mechsim.analysis.formula import settled_value
from mechsim.analysis.orbit import Orbit
from mechsim.analysis.recurrence import first_return
from mechsim.analysis.ring import ENERGY, PERIOD, TURN, Linear, Ring, Unknowns, linear
from mechsim.analysis.set_by_events import Left, begun_with, left_in, refuse_continuous, refuse_other_bonds, words
from mechsim.analysis.shooting import Closed, close, floor
from mechsim.analysis.subject import Case, Subject
from mechsim.analysis.turning import angles_of, folded, whole_turns
from mechsim.engine import State
from mechsim.errors import Fault, IntegrationError, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.system import System
from mechsim.spec.suggest import did_you_mean

TOLERANCE = 1e-12
GROWTH = 1e3  # of small changes from one state to the next, about: then all digits of Newton's method are sound
MUCH = 1e5  # growth over the period that one state can bear
MOST_NODES = 64
RETRIES = (4, 16)  # states, where Newton's method fails with fewer
SHORTEST = 1e-6  # of sizes: what moves less in a period rests
AGAIN = 1e-6  # of its extent: a motion that is back so near is back
PARTS = (2, 3, 5, 7)  # a period may be so many times too long
OFTEN = 1e3  # floors of the residual that a later period may miss by, for periods are rounded too


@frozen
class Wanted:
    """The period, as a number or as an expression of the parameters: of the forcing, or where nothing depends on time a
    guess; `multiple` of it is looked for. The guess is the motion's state at the time `since`, or its start; a return
    is looked for until `tend`. What is `held` keeps the value it is given, or, for None, the one it has in the guess:
    coordinates and rates of the start, `energy`, `period`."""

    period: str | float | None = None
    multiple: int = 1
    since: float | None = None
    tend: float | None = None
    held: Mapping[str, float | None] = field(default_factory=dict)
    begun: State | None = None  # the guess, where it is no state of the motion


def wanted_of(
    period: str | float | None,
    multiple: int,
    since: float | None,
    tend: float | None,
    hold: Sequence[str] | Mapping[str, float | None],
) -> Wanted:
    """As a person says it: what is held by names, or with values."""
    names = [hold] if isinstance(hold, str) else hold
    held = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names)
    return Wanted(period, multiple, since, tend, held)


def periodic(
    subject: Subject, wanted: Wanted, tolerance: float = TOLERANCE, at: Mapping[str, float] | None = None
) -> Orbit:
    """The periodic motion that Newton's method comes to from the guess, with some parameters `at` other values. Raises
    SpecError, AssemblyError and IntegrationError: where there is none, or none is found."""
    at = at or {}
    case = subject.case(at, tend=wanted.tend)
    _refuse(case.system)
    autonomous = is_autonomous(case.system)
    _check_held(case.system, wanted, autonomous)
    forced = _held_period(wanted) if autonomous else None
    if forced is None and not (autonomous and wanted.period is None):
        forced = _forced(subject, wanted, at)
    state, there = _guessed(case, wanted, None if autonomous else forced, tolerance)
    hint = "begin the period at another time (t0, from), at which it is"
    refuse_other_bonds(there, case.system, "at the start of the file where the period begins", hint)
    own, left = left_in(case.system), left_in(there)
    case = begun_with(case, left)
    period = forced or _returned(case, state, wanted, tolerance)
    state = replace(state, t=float(case.start.t))  # forces are the same whole periods before
    held = _held(case, state, wanted)
    unknowns = Unknowns(phase=autonomous, period=autonomous and PERIOD not in wanted.held, held=held)
    try:
        found = _closed(subject, _Guess(state, period, at, left), unknowns, tolerance)
    except IntegrationError:
        if not (unknowns.phase and held.keys() - {ENERGY}):
            raise
        unknowns = replace(unknowns, phase=False)  # what is held may tell where on a cycle it begins
        found = _closed(subject, _Guess(state, period, at, left), unknowns, tolerance)
    part = _part(found.linear)
    if part > 1 and unknowns.period:
        shorter = _Guess(found.linear.ring.state(0), found.linear.ring.period / part, at, left)
        found = _closed(subject, shorter, unknowns, tolerance)
    orbit = described(subject, found, autonomous, wanted.multiple, tolerance)
    remarks = [f"it begins with what events have left: {words(case.system, left)}"] if left != own else []
    remarks += [_comes_back(orbit, part)] if part > 1 and not unknowns.period else []
    return replace(orbit, remarks=tuple(remarks))


def _comes_back(orbit: Orbit, part: int) -> str:
    """What should be known of a motion that is back before the period that it was to have."""
    if orbit.autonomous:
        return f"it comes back after {orbit.period / part:.9g} s already, {part} times in the period that is held"
    if orbit.multiple % part == 0 and orbit.multiple > 1:
        return f"it comes back after {orbit.multiple // part} of these {orbit.multiple} periods already"
    return f"it comes back {part} times in the period of the forcing: is it so long?"


def is_autonomous(system: System) -> bool:
    """Whether nothing depends on time."""
    return not (reads_time(system) or system.switches)


def _refuse(system: System) -> None:
    if system.samplers:
        message = "periodic motions are not known where a controller is sampled: what it holds is a state too"
        raise IntegrationError(Fault(message, hint="let it act at all times"))
    refuse_continuous(system)


def _check_held(system: System, wanted: Wanted, autonomous: bool) -> None:
    if not autonomous and wanted.held.get(PERIOD) is not None:
        raise SpecError(Fault("the period is that of the forcing, and cannot be held", hint="give it as the period"))
    if not all(value is None or math.isfinite(value) for value in wanted.held.values()):
        raise SpecError(Fault("what is held must be a finite number"))
    if not (wanted.held.get(PERIOD) or 1.0) > 0:
        raise SpecError(Fault(f"the period is to be {wanted.held[PERIOD]:g}, but must be above zero"))
    labels = system.labels[: system.n]
    known = [*labels, *(f"{label}_dot" for label in labels), ENERGY, PERIOD]
    for name in wanted.held:
        if name not in known:
            raise SpecError(
                Fault(f"{name} cannot be held: there is no such coordinate", hint=did_you_mean(name, known))
            )


def _guessed(case: Case, wanted: Wanted, period: float | None, tolerance: float) -> tuple[State, System]:
    """The guess: the start, or where the motion is at a time, or at the next whole period of a forcing: the phase of
    that is then the one of the start, and does not change where the period does. With the system as events leave it
    there."""
    start, since = case.start, wanted.since
    if wanted.begun is not None:
        return wanted.begun, case.system
    if since is not None and since < start.t:
        raise SpecError(Fault(f"t = {since:g} is before the motion begins, at {start.t:g}"))
    if since is None or since == start.t:
        return State(float(start.t), start.positions, start.velocities), case.system
    end = since if period is None else start.t + period * math.ceil((since - start.t) / period - 1e-9)
    solution = case.solution(end, tolerance=tolerance, keep="steps")
    ending = solution.ending
    return State(ending.t, ending.positions, ending.velocities), solution.system_at(end)


def _held_period(wanted: Wanted) -> float | None:
    """The period that is held, all its multiples included, if it has a value."""
    value = wanted.held.get(PERIOD)
    return None if value is None else wanted.multiple * float(value)


def _forced(subject: Subject, wanted: Wanted, at: Mapping[str, float]) -> float:
    """The period that is given, all its multiples included."""
    if wanted.multiple < 1:
        raise SpecError(Fault(f"multiple = {wanted.multiple} is not a whole number from 1 on"))
    if wanted.period is None:
        message = "equations depend on time, and nobody says with which period"
        raise SpecError(Fault(message, hint="say it as an expression of parameters, for example 2*pi/w"))
    period = settled_value(wanted.period, subject, at, "period")
    if not (period > 0 and math.isfinite(period)):
        raise SpecError(Fault(f"the period {wanted.period} is {period:g}, but must be above zero"))
    return wanted.multiple * period


def _returned(case: Case, state: State, wanted: Wanted, tolerance: float) -> float:
    """The time of the first return, where nothing depends on time."""
    if wanted.tend is None:
        raise SpecError(Fault("how long is a return to be looked for?", hint="give tend, or a guess for the period"))
    moved = case.starting(state).solution(state.t + wanted.tend - case.start.t, tolerance=tolerance)
    return wanted.multiple * first_return(moved)


def _held(case: Case, state: State, wanted: Wanted) -> dict[str, float]:
    """Values of what is held, but for the period."""
    system, n = case.system, case.system.n
    values = dict(zip(system.labels[:n], state.positions.tolist(), strict=True))
    values |= {f"{label}_dot": rate for label, rate in zip(system.labels[:n], state.velocities.tolist(), strict=True)}
    if ENERGY in wanted.held:
        values[ENERGY] = float(system.hamiltonian(state.t, state.positions, state.velocities))
    names = (name for name in wanted.held if name != PERIOD)
    given = {name: wanted.held[name] for name in names}
    return {name: values[name] if value is None else float(value) for name, value in given.items()}


@frozen
class _Guess:
    state: State
    period: float
    parameters: Mapping[str, float]
    left: Left


def _ring(subject: Subject, guess: _Guess, nodes: int, tolerance: float) -> Ring:
    """States along the motion from a guess."""
    state, period = guess.state, guess.period
    case = begun_with(subject.case(guess.parameters, state, state.t + period, nearest=True), guess.left)
    solution = case.solution(state.t + period, tolerance=tolerance)
    times = state.t + period * np.arange(nodes) / nodes
    points, later = solution.sampled(times), times[1:].tolist()
    angles = angles_of(solution)
    turns = whole_turns(angles, solution.q[0], solution.q[-1])
    q = points.q - points.q[0] + folded(angles, points.q[0])
    left = (guess.left, *(left_in(solution.system_at(time)) for time in later))
    return Ring(state.t, period, q, points.v, turns, dict(guess.parameters), left)


def _closed(subject: Subject, guess: _Guess, unknowns: Unknowns, tolerance: float) -> Closed:
    """The ring closed, with as many states as its growth asks for, or with more where Newton's method fails."""
    opened = partial(linear, subject, unknowns=unknowns, tolerance=tolerance)
    single = _ring(subject, guess, 1, tolerance)
    count = nodes_for(opened(single))
    for nodes in (count, *(more for more in RETRIES if more > count)):
        ring = single if nodes == 1 else _ring(subject, guess, nodes, tolerance)
        try:
            return close(opened, ring, tolerance)
        except IntegrationError as error:
            failed = error
    raise failed


def _part(found: Linear) -> int:
    """How many times over the period is too long: the motion is back before."""
    total = 1
    while part := next((part for part in PARTS if _is_back(found, total * part, AGAIN * found.extent)), 0):
        total *= part
    return total


def _is_back(found: Linear, part: int, near: float) -> bool:
    """Whether it is back after a part of the period; what does not move at all is not asked."""
    ring = found.ring
    if np.any(ring.turns % part):
        return False
    own = found.arcs[ring.nodes // part]  # it is there within this one
    end = ring.t + ring.period / part
    solution = own.solution
    if solution.t[0] < end:
        solution = own.case.solution(end, tolerance=solution.tolerance, keep="steps")
        there = solution.q[-1], solution.v[-1]
    else:
        there = solution.q[0], solution.v[0]
    off = np.concatenate([there[0] - TURN * ring.turns / part, there[1]]) - found.arcs[0].begin
    return found.norm.length(off) < near


def nodes_for(single: Linear) -> int:
    """How many states keep growth small from each to the next."""
    growth = float(np.linalg.norm(single.monodromy, 2))
    if not growth > MUCH:
        return 1
    return min(MOST_NODES, math.ceil(math.log(growth) / math.log(GROWTH)))


def described(subject: Subject, found: Closed, autonomous: bool, multiple: int, tolerance: float) -> Orbit:
    """What a closed ring is. Raises IntegrationError where it is no periodic motion."""
    ring, system = found.linear.ring, found.linear.arcs[0].case.system
    _refuse_rest(found.linear, autonomous)
    timed = not autonomous or bool(np.any(ring.turns))
    checked = _later(subject, found.linear, tolerance) if timed else None
    conserved = autonomous and system.is_conservative
    sizes = np.linalg.svd(found.linear.matrix, compute_uv=False)
    rank = int(np.sum(sizes > found.linear.family * sizes.max(initial=0.0)))
    family = found.linear.matrix.shape[1] - rank
    return Orbit(found.linear, autonomous, multiple, conserved, family, checked, found.steps)


def _refuse_rest(found: Linear, autonomous: bool) -> None:
    moved = found.ring.period * max(found.norm.length(each.rates[0]) for each in found.arcs)
    if autonomous and moved <= SHORTEST:
        message = "Newton's method came to a rest, which is periodic with any period"
        raise IntegrationError(Fault(message, hint="begin farther from it; rests are found by themselves"))


def _later(subject: Subject, found: Linear, tolerance: float) -> float:
    """By how much states are missed a period later, in scales: forces must be the same then, and whole turns must not
    matter. Raises SpecError where they do."""
    ring, worst = found.ring, 0.0
    for node in range(ring.nodes):
        case = ring.case(subject, node, later=1)
        solution = case.solution(float(case.start.t) + ring.lap, tolerance=tolerance, keep="steps")
        there = ring.state((node + 1) % ring.nodes, later=1 + (node + 1) // ring.nodes)
        off = [(solution.q[-1], there.positions), (solution.v[-1], there.velocities)]
        worst = max(worst, found.norm.length(np.concatenate([one - other for one, other in off])))
    if worst > OFTEN * floor(found, tolerance):
        turned = " and after whole turns" if np.any(ring.turns) else ""
        missed = f"then states are missed by {worst:.2g}"
        message = f"forces are not the same a period of {ring.period:.9g} later{turned}: {missed}"
        raise SpecError(Fault(message, hint="give the period of all that depends on time"))
    return worst
