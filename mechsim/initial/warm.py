"""A start for other numbers of a mechanism whose start is known: the point nearest to the guesses on the same branch.

Newton's method sets out from the known start. Two starts are on one branch where the mechanism can be carried from one
to the other without passing a pose whose constraints, with the motions it had at the known start held, are dependent:
the determinant of these keeps its sign. What changes it, or does not contract, is for the whole search.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mechsim.initial.assembly import all_positions, close_velocities, wound
from mechsim.initial.closure import Closure
from mechsim.initial.freedom import NULL_SPACE_LIMIT, null_space
from mechsim.initial.nearest import minimise, weights_of
from mechsim.initial.newton import is_closed, polish, settle
from mechsim.initial.start import Array, Start, wishes
from mechsim.model.placement import placed
from mechsim.spec.document import Problem

if TYPE_CHECKING:
    from mechsim.kernel.system import System

INDEPENDENT = 1e-4  # singular values of constraints below this (rows have length 1) mean a singular pose is near


def start_beside(system: System, problem: Problem, known: Start) -> Start | None:
    """The start of `problem`, on the branch of the `known` one; None where only a whole search can tell.

    Raises AssemblyError where its velocities contradict each other.
    """
    if known.redundancy.rows or known.singular or system.n > NULL_SPACE_LIMIT:
        return None
    mechanism = system.mechanism
    positions, velocities = wishes(mechanism, problem)
    guess = positions.written_into(placed(mechanism, problem).coordinates())
    everything = all_positions(mechanism, system, problem, guess)
    closure = everything.holding(positions.fixed)
    fixed = list(positions.fixed)
    begin = known.positions.copy()
    begin[fixed] = guess[fixed]
    q = _nearest(closure, guess, positions.guessed, begin)
    if q is None or not _same_branch(everything, known.system, problem, known.positions, q):
        return None
    q = wound(mechanism, closure.rescaled(q), positions, q)
    v = close_velocities(mechanism, system, problem.t0.value, q, velocities)
    return Start(problem.t0.value, q, v, (), known.redundancy, system, fixed=(positions.fixed, velocities.fixed))


def _nearest(closure: Closure, guess: Array, guessed: tuple[int, ...], begin: Array) -> Array | None:
    if len(closure.rows) > len(closure.free):
        return None
    closed = not np.any(closure.residual(guess))
    q = guess if closed else minimise(closure, guess, weights_of(guessed, len(guess)), begin)
    if q is None:
        return None
    scaled = closure.rescaled(q)
    q = settle(scaled, polish(scaled, q))
    return q if is_closed(scaled, q) else None


def _same_branch(closure: Closure, known_system: System, problem: Problem, known: Array, q: Array) -> bool:
    before = _gradients(closure, known_system, problem, known)
    motions = null_space(before)
    signs = []
    for jacobian in (before, closure.rescaled(q).dense_jacobian(q)):
        if np.linalg.svd(jacobian, compute_uv=False).min(initial=1.0) < INDEPENDENT:
            return False
        signs.append(np.linalg.slogdet(np.vstack([jacobian, motions.T]))[0])
    return bool(signs[0] == signs[1])


def _gradients(closure: Closure, system: System, problem: Problem, q: Array) -> Array:
    """The scaled gradients of another system's constraints, rows and columns as in the closure."""
    t = problem.t0.value
    other = replace(closure, jacobian_of=lambda x: system.constraint_jacobian(t, x))
    return other.rescaled(q).dense_jacobian(q)
