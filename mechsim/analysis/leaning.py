"""Rests that lean on contacts: where a mechanism comes to rest if it sinks from its start as in honey.

What has inertia is damped in proportion to it, and the march does the rest: which contacts close, open, stick and slide
is found by it as in every motion. Where the mechanism has nearly come to rest, the contacts that are closed then are
joints, and Newton's method finds the rest itself. Loads of contacts are those of the equations there; none may pull.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mechsim.analysis.balanced import balanced
from mechsim.analysis.flow import Flow, Leaning, Local
from mechsim.analysis.rest import Rest, require_stillness, rest_of
from mechsim.analysis.stopped import stopped
from mechsim.derive.told import SINKING, sinking
from mechsim.engine import State, integrate
from mechsim.engine.leading import Leading
from mechsim.engine.points import Points
from mechsim.errors import AssemblyError, SpecError
from mechsim.kernel.system import System
from mechsim.result.layout import Array
from mechsim.simulation import Prepared

TOLERANCE = 1e-9  # of what sinks: only where it ends matters
STRETCH, STRETCHES = 3.0, 60  # of the time in which things fall: how long it sinks before one looks, and how often
# Of scales: how far a rest may be from where it sank to, and one that it would leave; how slow what rubs has to be.
NEAR, VERY_NEAR, SLOW = 0.02, 1e-6, 1e-9
A_MOMENT = 1e-2  # of the time in which things fall, for which what sticks is looked at
PULLS = 1e-9  # of the largest load: below, a contact may be open as well
ENTERED = 1e-9  # of the size of a gap


def leaning_rest(prepared: Prepared, told: Callable[[], None] = lambda: None) -> Rest | None:
    """The rest that a mechanism with contacts sinks to from its start, if it leans on some there; None where it leans
    on none, or does not come to rest."""
    system = prepared.system
    if not any(not gap.bond for gap in system.gaps):
        return None
    start = prepared.start
    require_stillness(system.bilateral, start.t, start.positions)
    rate = _rate(prepared)
    still = stopped(system, start.t)
    damped = _damped(still, 2 * rate)
    state: State = State(start.t, start.positions, 0 * start.velocities)
    for _ in range(STRETCHES):
        solution = integrate(
            damped, prepared.structure, state, tend=state.t + STRETCH / rate, tolerance=TOLERANCE, keep="outline"
        )
        told()
        if solution.status == "interrupted":
            raise KeyboardInterrupt
        if solution.status != "finished":
            return None
        state = solution.ending
        constants = solution.segments.system_at(damped, state.t).constants
        sunk = State(start.t, state.positions, state.velocities)
        found = _settled(replace(prepared, system=still), system.holding(constants), sunk, rate)
        if found is not None:
            return found if found.leaning else None
    return None


def _rate(prepared: Prepared) -> float:
    """At which things fall, 1/s."""
    system, start = prepared.system, prepared.start
    leading = Leading(system, prepared.structure, TOLERANCE)
    points = Points(system, np.array([start.t]), start.positions[None], 0 * start.velocities[None])
    moving = np.delete(np.arange(system.n), system.accounts)
    accelerations = np.abs(leading(points)[0][0][moving] / system.scales[moving])
    largest = float(accelerations.max(initial=0.0))
    return float(np.sqrt(largest)) if np.isfinite(largest) and largest > 0 else 1.0


def _damped(system: System, rate: float) -> System:
    """With kinds that sink, and contacts of which nothing bounces."""
    kinds = dict(system.kinds)
    heavy = {name: sinking(kind) for name, kind in system.kinds.items() if kind.kinetic}
    kinds |= {kind.name: kind for kind in heavy.values()}
    elements = tuple(
        replace(each, kind=heavy[each.kind].name, parameters={**each.parameters, SINKING: rate})
        if each.kind in heavy
        else each
        for each in system.mechanism.elements
    )
    gaps = tuple(replace(gap, restitution=0.0) for gap in system.mechanism.gaps)
    mechanism = replace(system.mechanism, elements=elements, gaps=gaps)
    return System(mechanism, kinds, system.dropped, known=system._programs_known)


def _settled(prepared: Prepared, system: System, state: State, rate: float) -> Rest | None:
    """The rest that is near a state, with the contacts that are closed there; None where there is none, or where it
    would pull at a contact or enter one."""
    leaning, rubbing = leaning_of(system), leaning_of(system).stuck
    stuck = tuple(k for k, each in enumerate(system.frictions) if system.constants[each.mode])
    if stuck != rubbing and _apart(system, state.velocities, 0 * state.velocities) > SLOW * rate:
        return None
    try:
        flow = Flow(system, state.t, state.positions, leaning)
        local = balanced(flow, state.t, state.positions)
    except (AssemblyError, SpecError):
        return None
    apart = _apart(system, local.q, state.positions)
    if not local.is_rest or apart > NEAR or _enters(system, local.q, state.t):
        return None
    loads = _loads(prepared, system, local)
    if loads is None or (rubbing and not _stays(prepared, system, local, rate)):
        return None
    sticks = tuple(dict.fromkeys(system.frictions[k].name for k in rubbing))
    found = replace(rest_of(flow, local), loads=loads, sticks=sticks, held=np.array(system.constants))
    return None if found.stability == "unstable" and apart > VERY_NEAR else found


def leaning_of(system: System) -> Leaning:
    """What it leans on by its constants; what rubs there as much as it can without moving does not move either."""
    closed = tuple(k for k, gap in enumerate(system.gaps) if not gap.bond and system.constants[gap.mode])
    frictions = enumerate(system.frictions)
    return Leaning(closed, tuple(k for k, each in frictions if each.gap in closed or system.constants[each.mode]))


def _apart(system: System, one: Array, other: Array) -> float:
    apart = np.abs(one - other) / system.scales[: system.n]
    return float(np.delete(apart, system.accounts).max(initial=0.0))


def _enters(system: System, q: Array, t: float) -> bool:
    """Whether a gap that is open would be entered."""
    heights = np.asarray(system.gap_values(t, q)) / system.constraint_sizes[system.gap_rows]
    lent = {each.gap for pair in system.mechanism.pairs for each in pair.lent}
    open_ones = [
        k for k, gap in enumerate(system.gaps) if not gap.bond and k not in lent and not system.constants[gap.mode]
    ]
    return bool((heights[open_ones] < -ENTERED).any())


def _loads(prepared: Prepared, system: System, local: Local) -> dict[str, float] | None:
    """What contacts push with; None where one pulls."""
    leading = Leading(prepared.system, prepared.structure, TOLERANCE)
    points = Points(system, np.array([local.t]), local.q[None], np.zeros((1, system.n)))
    forces = -leading(points)[1][0]
    largest = float(np.abs(forces).max(initial=0.0))
    loads: dict[str, float] = {}
    for gap, row in zip(system.gaps, system.gap_rows, strict=True):
        if gap.bond or not system.constants[gap.mode]:
            continue
        if not forces[row] >= -PULLS * largest:
            return None
        loads[gap.name] = loads.get(gap.name, 0.0) + max(0.0, float(forces[row]))
    return loads


def _stays(prepared: Prepared, system: System, local: Local, rate: float) -> bool:
    """Whether the mechanism itself, without any honey, does not move from there: what holds is then within its
    limits."""
    state = State(local.t, local.q, np.zeros(system.n))
    solution = integrate(
        prepared.system, prepared.structure, state, tend=local.t + A_MOMENT / rate, tolerance=TOLERANCE, keep="outline"
    )
    still = _apart(system, solution.v[-1], 0 * solution.v[-1]) <= SLOW * rate
    return bool(solution.status == "finished" and still)
