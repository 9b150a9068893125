"""The consistent start: positions, then velocities, each nearest to what the user asked for."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

import numpy as np

from mechsim.errors import AssemblyError, Fault, Note
from mechsim.initial.closure import Closure, position_closure, scales_of, velocity_closure
from mechsim.initial.conflict import Conflict
from mechsim.initial.freedom import NULL_SPACE_LIMIT, check_drives, check_fixed
from mechsim.initial.inertia import check_determined
from mechsim.initial.newton import is_closed, polish
from mechsim.initial.notes import (
    at_rest_near_a_singular_pose,
    cannot_move,
    chosen_without_guess,
    equally_near,
    far_positions,
    far_velocities,
    on_the_other_side,
    passing,
    repeated_drives,
    turned_about,
)
from mechsim.initial.search import PositionProblem, solve
from mechsim.initial.singular import velocity_of_a_motion
from mechsim.initial.start import Array, Indices, Start, Wishes, wishes
from mechsim.initial.turned import check_turned
from mechsim.model.mechanism import Mechanism
from mechsim.model.order import canonical_coordinates
from mechsim.model.placement import placed
from mechsim.spec.document import Problem
from mechsim.structure import is_singular, meeting_springs, redundancy, redundancy_along

if TYPE_CHECKING:
    from mechsim.kernel.system import System

ENDS_MEET = 1e-14  # of a spring's length: nearer than rounding can tell apart
ABSURD = 1e10  # velocities so many times what was asked divide by a rounding error at a dead point


def assemble(mechanism: Mechanism, system: System, problem: Problem, *, branch: int | None = None) -> Start:
    """The consistent start of the problem; AssemblyError if there is none, or none was found.

    `branch` (counted from 1, else the file's `Branch`) picks one of `configurations`.
    """
    branch = branch if branch is not None else problem.branch
    if branch is not None:
        from mechsim.initial.branches import configurations

        return _picked(configurations(mechanism, system, problem), branch)
    position_wishes, velocity_wishes = wishes(mechanism, problem)
    q, notes = close_positions(mechanism, system, problem, position_wishes, velocity_wishes)
    return complete(mechanism, system, problem, q, notes)


def _picked(found: list[Start], branch: int) -> Start:
    if 1 <= branch <= len(found):
        return found[branch - 1]
    ways = "1 configuration was" if len(found) == 1 else f"{len(found)} configurations were"
    hint = "`mechsim assemble --all` lists them; branches are counted from 1"
    raise AssemblyError(Fault(f"branch {branch} was asked for, but {ways} found", hint=hint))


def moving_coordinates(mechanism: Mechanism) -> Indices:
    """All coordinates that constraints may move: states (integrals, such as work) start where they are."""
    return np.array([i for i, v in enumerate(mechanism.variables) if v.kind != "state"], dtype=np.intp)


def all_positions(mechanism: Mechanism, system: System, problem: Problem, guess: Array) -> Closure:
    """The closure in all coordinates."""
    return position_closure(
        system, problem.t0.value, guess, scales_of(mechanism), *in_order(mechanism, system, problem)
    )


def in_order(mechanism: Mechanism, system: System, problem: Problem) -> tuple[Indices, Indices]:
    """All coordinates that may move and all holonomic constraints, in an order that no name decides, so that rounding
    is alike in every telling."""
    moving = moving_coordinates(mechanism)
    if len(moving) > NULL_SPACE_LIMIT or not mechanism.parts:
        return moving, np.flatnonzero(system.levels == 2)  # nonholonomic ones say nothing about positions
    coordinates, rows = canonical_coordinates(mechanism, problem)
    free = np.array(coordinates, dtype=np.intp)
    counted = np.array(rows, dtype=np.intp)
    return free[np.isin(free, moving)], counted[system.levels[counted] == 2]


def close_positions(
    mechanism: Mechanism, system: System, problem: Problem, positions: Wishes, velocities: Wishes
) -> tuple[Array, tuple[Note, ...]]:
    """Positions that satisfy all constraints to rounding, with fixed values held exactly; and what to say of them."""
    placing = placed(mechanism, problem)
    guess = positions.written_into(placing.coordinates())
    everything = all_positions(mechanism, system, problem, guess)
    check_fixed(everything, guess, (positions, velocities))
    closure = everything.holding(positions.fixed)
    if not np.isfinite(closure.residual(guess)).all():
        raise FloatingPointError  # lengths and positions so far apart that their squares are no numbers
    q, several = PositionProblem(mechanism, problem, closure, guess, positions.guessed).found()
    if q is None:
        check_drives(mechanism, everything, guess)
        raise Conflict(mechanism, closure, positions, guess).explain()
    notes = (*chosen_without_guess(mechanism, closure, q, placing.choices), *equally_near(several))
    return wound(mechanism, closure, positions, q), notes


def wound(mechanism: Mechanism, closure: Closure, positions: Wishes, q: Array) -> Array:
    """Turn angles brought into (-pi, pi], unless the user fixed them elsewhere."""
    result, fixed = q.copy(), set(positions.fixed)
    for index, variable in enumerate(mechanism.variables):
        if variable.kind == "angle" and index not in fixed and not -pi < q[index] <= pi:
            result[index] = pi - (pi - q[index]) % (2 * pi)
    if np.array_equal(result, q):
        return q
    result = polish(closure, result)
    return result if is_closed(closure, result) else q


def complete(mechanism: Mechanism, system: System, problem: Problem, q: Array, notes: tuple[Note, ...] = ()) -> Start:
    """From closed positions to a start: redundant rows dropped, motion determined, velocities consistent."""
    t = problem.t0.value
    position_wishes, velocity_wishes = wishes(mechanism, problem)
    check_held(mechanism, system, problem, position_wishes, q)
    check_springs(mechanism, q)
    check_turned(mechanism, q)
    redundant = redundancy(system, t, q)
    independent = system.without(redundant.rows)
    scales, moving = scales_of(mechanism), moving_coordinates(mechanism)
    check_determined(mechanism, independent, t, velocity_closure(independent, t, q, scales, moving), q)
    singular = is_singular(independent, t, q)
    try:
        if redundant.singular:
            v = velocities_at_a_singular_pose(mechanism, system, t, q, velocity_wishes)
            redundant = redundancy_along(system, t, q, v)
        else:
            v = close_velocities(mechanism, system, t, q, velocity_wishes)
    except AssemblyError:
        if not singular or redundant.singular:
            raise
        v = velocities_at_a_singular_pose(mechanism, system, t, q, velocity_wishes)
    skipped = frozenset(range(len(q))) - frozenset(moving.tolist())
    rows = (*position_wishes.rows(q, skipped), *velocity_wishes.rows(v, skipped))
    rates = velocity_closure(system, t, q, scales, moving)
    notes = (
        *mechanism.notes,
        *notes,
        *passing(system, redundant),
        *at_rest_near_a_singular_pose(independent, t, q, v),
        *far_positions(mechanism, position_wishes, q, scales),
        *on_the_other_side(mechanism, position_wishes, q),
        *far_velocities(mechanism, velocity_wishes, rates, v),
        *turned_about(mechanism, q),
        *repeated_drives(mechanism, redundant.rows, rates, v),
        *cannot_move(mechanism, rates, v),
    )
    fixed = position_wishes.fixed, velocity_wishes.fixed
    return Start(t, q, v, rows, redundant, system, notes, singular, fixed)


def check_held(mechanism: Mechanism, system: System, problem: Problem, positions: Wishes, q: Array) -> None:
    """Raise unless every constraint holds at q, also those that will be left out because others imply them. Velocities
    are found with all constraints, so there the same is seen to."""
    everything = all_positions(mechanism, system, problem, q).rescaled(q)
    if not is_closed(everything, q):
        raise Conflict(mechanism, everything.holding(positions.fixed), positions, q).explain()


def check_springs(mechanism: Mechanism, q: Array) -> None:
    """Raise for springs whose ends meet: their force has a size but no direction."""
    marks = {element.owner: element.mark for element in mechanism.elements if element.kind == "spring"}
    faults = [
        Fault(
            f"the ends of spring {name} meet at the start, so its force has no direction",
            marks[name],
            "move one of them under positions, or fix one of its coordinates",
        )
        for name in meeting_springs(mechanism, q, ENDS_MEET)
    ]
    if faults:
        raise AssemblyError(*faults)


def close_velocities(mechanism: Mechanism, system: System, t: float, q: Array, velocities: Wishes) -> Array:
    """Velocities with C_q v + C_t = 0; what nobody asked for prefers rest."""
    guess, scales = velocities.written_into(np.zeros(len(q))), scales_of(mechanism)
    moving = moving_coordinates(mechanism)
    free = moving[~np.isin(moving, velocities.fixed)]
    # What drives ask for counts as much as what the file does, which may hold a rest that is only rounded.
    driven = velocity_closure(system, t, q, scales, free).residual(np.zeros(len(q)))
    speed = float(max(np.max(np.abs(each), initial=0.0) for each in (guess / scales, driven))) or 1.0
    closure = velocity_closure(system, t, q, scales * speed, free)
    v = solve(closure, guess, velocities.guessed)
    if v is None or np.max(np.abs(v / closure.scales), initial=0.0) > ABSURD:
        check_drives(mechanism, closure.restricted(moving, closure.rows), guess)
        raise Conflict(mechanism, closure, velocities, guess).explain()
    return with_state_rates(mechanism, system, t, q, v)


def velocities_at_a_singular_pose(
    mechanism: Mechanism, system: System, t: float, q: Array, velocities: Wishes
) -> Array:
    asked = velocities.written_into(np.zeros(len(q)))
    return with_state_rates(mechanism, system, t, q, velocity_of_a_motion(system, t, q, asked, velocities))


def with_state_rates(mechanism: Mechanism, system: System, t: float, q: Array, v: Array) -> Array:
    """The rate of a state (work done) follows from its own equation, linear in the rate and in no other state's."""
    states = np.array([i for i, variable in enumerate(mechanism.variables) if variable.kind == "state"], dtype=np.intp)
    if len(states):
        v[states] = 0.0
        at_rest = _state_residuals(system, t, q, v, states)
        probes = np.where(at_rest == 0, 1.0, at_rest)  # of the size of the answers, in whatever units
        v[states] = probes
        v[states] = probes * at_rest / (at_rest - _state_residuals(system, t, q, v, states))
    return v


def _state_residuals(system: System, t: float, q: Array, v: Array, states: Indices) -> Array:
    return np.asarray(system.residuals(t, q, v, np.zeros(system.n), np.zeros(system.m))[states])
