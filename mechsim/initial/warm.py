"""A start for other numbers of a mechanism whose start is known: the point nearest to the guesses on the same branch.

Newton's method sets out from the known start. Where it does not go straight to the point nearest to the guesses, the
known start is carried to the new numbers in small steps, and from there along the constraints towards the guesses, as
far as these come nearer: see `branch`. Where its branch ends on the way, only a whole search can find a start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen
from mechsim.initial.assembly import close_velocities, complete, in_order, wound
from mechsim.initial.branch import CONTRACTION, STRIDE, carried, closed_beside, descended
from mechsim.initial.closure import Closure, position_closure
from mechsim.initial.freedom import NULL_SPACE_LIMIT
from mechsim.initial.nearest import minimise, weights_of
from mechsim.initial.newton import is_closed, polish, settle
from mechsim.initial.poses import nearer_turn
from mechsim.initial.start import Array, Indices, Start, Wishes, wishes
from mechsim.model.placement import placed
from mechsim.spec.document import Problem

if TYPE_CHECKING:
    from mechsim.kernel.system import System

INDEPENDENT = 1e-4  # singular values of constraints below this (rows have length 1) mean a singular pose is near
SAME = 1e-9  # of a scale: a pose so near to the guesses is theirs, to the last bit
TURNED = 1e-12  # of a scale: a fixed value that goes so far beyond where it comes from and goes to has turned back


@frozen
class Stage:
    """A mechanism on the way from the known numbers to others: its time, and where its fixed coordinates are. It may
    have other states than the others, integrals that no constraint reads."""

    system: System
    t: float
    fixed: Mapping[str, float]


Way = Callable[[float], Stage | None]  # from 0, where the start is known, to 1; None: not known there


@frozen
class Lost:
    """A branch that could not be followed, and why: what a person is told."""

    why: str


class Beside:
    """The starts beside a known one; what they have in common is found once."""

    def __init__(self, known: Start, asked: Problem):
        self.known, self.held = known, np.array(known.fixed[0], dtype=np.intp)
        system = known.system
        self.moving, self.rows = in_order(system.mechanism, system, asked)
        self.free = self.moving[~np.isin(self.moving, self.held)]
        # Redundant rows are dependent where the constraints hold, but not beside.
        self.independent = self.rows[~np.isin(self.rows, known.redundancy.rows)]
        self.angles = [i for i in self.free if system.mechanism.variables[i].kind == "angle"]

    def retold(self, system: System, asked: Problem) -> Beside | None:
        """The same in the words of a mechanism that may have other states; None where it has other coordinates."""
        old, known = self.known.system, self.known
        moving = [place for place, variable in enumerate(system.mechanism.variables) if variable.kind != "state"]
        names, multipliers = _named(system, moving), system.labels[system.n :]
        if set(names) != set(_named(old, self.moving)) or set(multipliers) != set(old.labels[old.n :]):
            return None
        positions, velocities = wishes(system.mechanism, asked)
        q = np.zeros(system.n)
        q[moving] = known.positions[_places(old, names)]
        redundant = _places(system, _named(old, old.n + np.array(known.redundancy.rows, dtype=np.intp))) - system.n
        redundancy = replace(known.redundancy, rows=tuple(redundant.tolist()))
        fixed = positions.fixed, velocities.fixed
        return Beside(replace(known, positions=q, system=system, redundancy=redundancy, fixed=fixed), asked)

    def start(self, system: System, problem: Problem, way: Way, thorough: bool = False) -> Start | Lost:
        """The start of `problem`, on the branch of the known one. `thorough`: rank and notes are found anew. Raises
        AssemblyError where velocities contradict each other."""
        if self.known.singular:
            return Lost("the file's own start is on a singular pose, where branches meet")
        if system.n > NULL_SPACE_LIMIT:
            return Lost(f"a branch is followed up to {NULL_SPACE_LIMIT} coordinates")
        mechanism = system.mechanism
        positions, velocities = wishes(mechanism, problem)
        guess = positions.written_into(placed(mechanism, problem).coordinates())
        everything = _closure(system, problem.t0.value, guess, self.free, self.rows)
        q = self._positions(everything.restricted(self.free, self.independent), guess, positions, way)
        if isinstance(q, Lost):
            return q
        q = self._settled(everything, guess, q)
        scaled = everything.rescaled(q)
        if not is_closed(scaled, q):
            return Lost("constraints that were redundant contradict each other")
        q = wound(mechanism, scaled, positions, q)
        if thorough or self.known.redundancy.rows or self._nearly_singular(scaled, q):
            return complete(mechanism, system, problem, q)
        v = close_velocities(mechanism, system, problem.t0.value, q, velocities)
        fixed = positions.fixed, velocities.fixed
        return Start(problem.t0.value, q, v, (), self.known.redundancy, system, fixed=fixed)

    def _positions(self, closure: Closure, guess: Array, positions: Wishes, way: Way) -> Array | Lost:
        """Closed positions on the branch of the known start, as near to the guess as it goes."""
        weights = weights_of(positions.guessed, len(guess))
        begin = self._holding(self.known.positions, guess[self.held])
        if not _far(closure, begin, begin - self.known.positions) and not self._turns_back(way, 0.0, 1.0):
            straight = minimise(
                closure.rescaled(begin), self._turned(guess, begin), weights, begin, CONTRACTION, STRIDE
            )
            if straight is not None:
                return straight
        begin, share = carried(lambda *step: self._taken(way, *step), self.known.positions)
        if share < 1:
            return Lost(f"the branch of the file's own start ends {share:.1%} of the way to these parameters")
        begin = self._holding(begin, guess[self.held])
        found = descended(closure.rescaled(begin), self._turned(guess, begin), weights, begin)
        if found is None:
            return Lost("the point nearest to the guesses was not found on the branch of the file's own start")
        return found

    def _taken(self, way: Way, share: float, ahead: float, x: Array) -> Array | None:
        """The pose ahead that is beside x; None where there is none. Where fixed values turn back on the way,
        it is reached by halves, each of which may have no pose."""
        found = self._taken_to(way(ahead), x)
        if found is None or not self._turns_back(way, share, ahead):
            return found
        middle = (share + ahead) / 2
        half = self._taken(way, share, middle, x)
        return None if half is None else self._taken(way, middle, ahead, half)

    def _turns_back(self, way: Way, share: float, ahead: float) -> bool:
        """Whether a fixed value is beyond both ends half the way between, as the sine of an angle may be: its ends are
        near each other, but between them may be a pose where branches meet."""
        if not len(self.held):
            return False
        stages = [way(place) for place in (share, (share + ahead) / 2, ahead)]
        middle = stages[1]
        if middle is None or None in stages:
            return False
        known = [stage for stage in stages if stage is not None]
        names = [name for name in middle.fixed if all(name in stage.fixed for stage in known)]  # some may be let go
        values = [[stage.fixed[name] for name in names] for stage in known]
        return bool(turned_back(values, middle.system.scales[_places(middle.system, names)]))

    def _taken_to(self, stage: Stage | None, x: Array) -> Array | None:
        """The pose of a stage that is beside x, one of a stage before it."""
        if stage is None:
            return None
        own, system = self.known.system, stage.system
        moving, free = (_places(system, _named(own, places)) for places in (self.moving, self.free))
        rows = _places(system, _named(own, own.n + self.independent)) - system.n
        before = np.zeros(system.n)
        before[moving] = x[self.moving]
        pose = before.copy()
        pose[_places(system, list(stage.fixed))] = list(stage.fixed.values())
        closure = _closure(system, stage.t, pose, free, rows)
        found = None if _far(closure, pose, pose - before) else closed_beside(closure, pose)
        if found is None:
            return None
        result = x.copy()
        result[self.moving] = found[moving]
        return result

    def _holding(self, x: Array, values: Array) -> Array:
        result = x.copy()
        result[self.held] = values
        return result

    def _turned(self, guess: Array, x: Array) -> Array:
        """The guess, with turn angles that are free by as many whole turns as bring them nearest to x."""
        result = guess.copy()
        for index in self.angles:
            result[index] = nearer_turn(float(guess[index]), float(x[index]))
        return result

    def _settled(self, closure: Closure, guess: Array, q: Array) -> Array:
        """To the last digit; guesses that are closed are kept to the last bit."""
        near = np.max(np.abs((q - guess) / closure.scales)[self.free], initial=0.0) < SAME
        if near and not np.any(closure.residual(guess)):
            return guess
        scaled = closure.restricted(self.free, self.independent).rescaled(q)
        return settle(scaled, polish(scaled, q))

    def _nearly_singular(self, closure: Closure, q: Array) -> bool:
        """Whether the constraints are nearly dependent, also where fixed values may move."""
        jacobian = closure.restricted(self.moving, self.independent).dense_jacobian(q)
        return bool(np.linalg.svd(jacobian, compute_uv=False).min(initial=1.0) < INDEPENDENT)


def turned_back(values: Sequence[Array | Sequence[float]], scales: Array) -> NDArray[np.bool_]:
    """Whether any of these values, (places, values, ...), rises here and falls there."""
    steps = np.diff(np.asarray(values), axis=0)
    least = TURNED * np.reshape(scales, (-1, *[1] * (steps.ndim - 2)))
    return np.asarray(((steps > least).any(axis=0) & (steps < -least).any(axis=0)).any(axis=0))


def _closure(system: System, t: float, x: Array, free: Indices, rows: Indices) -> Closure:
    return position_closure(system, t, x, system.scales[: system.n], free, rows)


def _far(closure: Closure, x: Array, step: Array) -> bool:
    """Whether a step from x is too long to be taken at once. What no constraint touches may go anywhere."""
    rows, columns, _ = closure.jacobian_of(x)
    touched = np.unique(columns[np.isin(rows, closure.rows)])
    return bool(np.max(np.abs(step / closure.scales)[touched], initial=0.0) > STRIDE)


def _named(system: System, places: Sequence[int] | Indices) -> list[str]:
    return [system.labels[place] for place in places]


def _places(system: System, labels: Sequence[str]) -> Indices:
    """Of these coordinates or multipliers."""
    return np.array([system.labels.index(label) for label in labels], dtype=np.intp)
