"""Many starts beside a known one at once: what `Beside` finds for each, as far as Newton's method goes straight there.

The rules are those of warm.py, applied to all sets side by side (abreast.py). Whatever is not plain (a singular pose, a
branch that ends, constraints that do not close, more coordinates than pay) is left to `Beside`, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING

import numpy as np

from mechsim.derive.program import Input
from mechsim.initial.abreast import (
    Closures,
    Marks,
    closed,
    closed_beside,
    descended,
    largest,
    minimised,
    polished,
    position_closures,
    velocity_closures,
)
from mechsim.initial.assembly import ABSURD
from mechsim.initial.branch import CONTRACTION, GOLDEN, SHORTEST, STRIDE
from mechsim.initial.nearest import CONTRACTION as HALVING
from mechsim.initial.nearest import weights_of
from mechsim.initial.start import Array, Indices, Wishes
from mechsim.initial.warm import INDEPENDENT, SAME, Beside
from mechsim.kernel.columns import Columns, padded
from mechsim.kernel.numbers import Guards, Numbers
from mechsim.kernel.orthogonal import Rows

if TYPE_CHECKING:
    from mechsim.kernel.system import System

LARGEST = 60  # coordinates: of more the matrices are too sparse for this
AT_ONCE = 512  # sets, such that their numbers stay in the cache
NUMBERS = 200_000  # of a Jacobian of all sets at once, at most
FULL = 1e-5  # singular values of constraints by what may move: less is a dead point, or near one
LEGS = 40  # of the way to other numbers that are gone side by side

ValuesAt = Callable[[Array, Indices], Array]  # of all nodes, at a share of the way to each of some sets


@dataclass(frozen=True)
class Asked:
    """The nodes of what a start is found from, in the numbers of a file with living parameters."""

    system: System
    numbers: Numbers
    time: int
    guesses: Indices  # of all coordinates: where they are asked to be, or placed
    rates: Indices
    placed: Guards  # they are placed so while these hold
    positions: Wishes
    velocities: Wishes


@dataclass(frozen=True)
class ManyStarts:
    """Starts of many sets, in columns; nothing is said of those that are not `found`."""

    t: Array
    positions: Array  # (coordinates, sets)
    velocities: Array
    found: Marks
    singular: Marks  # on a singular pose, or so near that its equations are of no use


class ManyBeside:
    """The starts beside a known one for many sets of numbers."""

    def __init__(self, beside: Beside, asked: Asked):
        self.beside, self.asked = beside, asked
        system, variables = asked.system, asked.system.mechanism.variables
        self.free, self.held, self.rows = beside.free, beside.held, beside.rows
        self.cost = weights_of(asked.positions.guessed, system.n)[self.free][:, None]
        self.rate_cost = weights_of(asked.velocities.guessed, system.n)
        self.states = np.array([i for i, each in enumerate(variables) if each.kind == "state"], dtype=np.intp)
        self.free_rates = beside.moving[~np.isin(beside.moving, asked.velocities.fixed)]
        entries = max(1, system.n * max(system.m, system.n))
        self.size = len(padded(max(1, min(AT_ONCE, NUMBERS // entries))))

    @property
    def usable(self) -> bool:
        known, system = self.beside.known, self.asked.system
        plain = not (known.singular or known.redundancy.rows or known.redundancy.singular)
        few = system.n <= LARGEST and (len(self.rows) <= len(self.free) or not len(self.free))
        return plain and few and not _bends(system)

    def starts(self, values: Array, values_at: ValuesAt) -> ManyStarts:
        """For the values of all nodes, (nodes, sets), all of which hold."""
        count, n = values.shape[1], self.asked.system.n
        t, q, v = np.empty(count), np.empty((n, count)), np.empty((n, count))
        found = np.zeros(count, dtype=bool)
        for first in range(0, count, self.size):
            chosen = np.arange(first, min(first + self.size, count))
            wide = chosen[padded(len(chosen))]
            with np.errstate(all="ignore"):
                some = self._some(values[:, wide], lambda share, places, wide=wide: values_at(share, wide[places]))
            kept = slice(len(chosen))
            t[chosen], found[chosen] = some.t[kept], some.found[kept]
            q[:, chosen], v[:, chosen] = some.positions[:, kept], some.velocities[:, kept]
        return ManyStarts(t, q, v, found, np.zeros(count, dtype=bool))

    def _columns(self, values: Array) -> Columns:
        return Columns(self.asked.system, self.asked.numbers, values, values[self.asked.time])

    def _some(self, values: Array, values_at: ValuesAt) -> ManyStarts:
        columns, guess = self._columns(values), values[self.asked.guesses]
        good = self.asked.placed.hold(values)
        everything = position_closures(columns, self.free, self.rows).scaled_about(guess)
        q, followed = self._positions(everything, guess, values_at, good)
        q = self._settled(everything, guess, q)
        scaled = everything.rescaled(q)
        good &= followed & closed(scaled, q)
        q = self._wound(scaled, q)
        good &= closed(scaled, q) & self._independent(scaled, q)
        v, moves = self._velocities(columns, q)
        good &= moves & np.isfinite(v).all(axis=0)
        return ManyStarts(columns.t, q, v, good, np.zeros_like(good))

    def _positions(self, closures: Closures, guess: Array, values_at: ValuesAt, good: Marks) -> tuple[Array, Marks]:
        """As `Beside._positions`."""
        if not len(self.free) or not (len(self.rows) or self.beside.angles):
            return guess, good  # nothing to find, or nothing that binds
        known = self.beside.known.positions[:, None]
        begin = np.repeat(known, guess.shape[1], axis=1)
        begin[self.held] = guess[self.held]
        near = largest((begin - known) / closures.scales) <= STRIDE
        target = self._turned(guess, begin)
        q, straight = minimised(closures.rescaled(begin), target, self.cost, begin, CONTRACTION, STRIDE)
        straight &= near
        rest = np.flatnonzero(good & ~straight)
        if len(rest):
            wide = rest[padded(len(rest))]
            begin, there = self._carried(values_at, wide)
            begin[self.held] = guess[np.ix_(self.held, wide)]
            own = closures.chosen(wide)
            bent, down = descended(own.rescaled(begin), self._turned(guess[:, wide], begin), self.cost, begin)
            q[:, rest] = bent[:, : len(rest)]
            straight[rest] = (there & down)[: len(rest)]
        return q, straight

    def _carried(self, values_at: ValuesAt, sets: Indices) -> tuple[Array, Marks]:
        """As `carried` of branch.py, from the known start to each of these sets."""
        count = len(sets)
        x = np.repeat(self.beside.known.positions[:, None], count, axis=1)
        share, step = np.zeros(count), np.ones(count)
        places = np.arange(count)
        for _ in range(LEGS):
            if not len(places):
                break
            wide = places[padded(len(places))]
            ahead = np.minimum(share[wide] + step[wide], 1.0)
            pose, closes, known = self._taken_to(values_at(ahead, sets[wide]), x[:, wide])
            kept = slice(len(places))
            pose, closes, known, ahead = pose[:, kept], closes[kept], known[kept], ahead[kept]
            step[places] = np.where(closes, 2 * step[places], (ahead - share[places]) * GOLDEN)
            x[:, places[closes]] = pose[:, closes]
            share[places[closes]] = ahead[closes]
            # Where the file must be read again, or the branch seems to end, one looks closer.
            places = places[known & (share[places] < 1) & (closes | (step[places] >= SHORTEST))]
        return x, share == 1

    def _taken_to(self, values: Array, before: Array) -> tuple[Array, Marks, Marks]:
        known = self.asked.numbers.hold(values)
        columns, pose = self._columns(values), before.copy()
        pose[self.held] = values[self.asked.guesses[self.held]]
        closures = position_closures(columns, self.free, self.rows).scaled_about(pose)
        near = largest((pose - before) / columns.scales) <= STRIDE
        found, closes = closed_beside(closures, pose)
        return found, closes & near & known, known

    def _turned(self, guess: Array, x: Array) -> Array:
        """The guess, with turn angles that are free by as many whole turns as bring them nearest to x."""
        result, angles = guess.copy(), self.beside.angles
        result[angles] += 2 * pi * np.round((x[angles] - guess[angles]) / (2 * pi))
        return result

    def _settled(self, closures: Closures, guess: Array, q: Array) -> Array:
        """To the last digit; guesses that are closed are kept to the last bit."""
        near = largest(((q - guess) / closures.scales)[self.free]) < SAME
        near &= largest(closures.residual(guess)) == 0
        if np.all(near):
            return guess
        return np.where(near, guess, polished(closures.rescaled(q), q))

    def _wound(self, closures: Closures, q: Array) -> Array:
        """Turn angles that are free brought into (-pi, pi]."""
        angles = self.beside.angles
        outside = (q[angles] <= -pi) | (q[angles] > pi)
        if not np.any(outside):
            return q
        result = q.copy()
        result[angles] = np.where(outside, pi - (pi - q[angles]) % (2 * pi), q[angles])
        return np.where(outside.any(axis=0), polished(closures, result), q)

    def _independent(self, closures: Closures, q: Array) -> Marks:
        """Surely no singular pose is near."""
        if not len(self.rows):
            return np.ones(q.shape[1], dtype=bool)
        regular = Rows(closures.jacobian(q, self.beside.moving)).independence() >= INDEPENDENT
        if len(self.held) and len(self.free):
            regular &= Rows(closures.jacobian(q)).independence() >= FULL
        return np.asarray(regular)

    def _velocities(self, columns: Columns, q: Array) -> tuple[Array, Marks]:
        """As `close_velocities` of assembly.py, and the rates of states."""
        guess = columns.values[self.asked.rates]
        speed = largest(guess / columns.scales)
        closures = velocity_closures(columns, q, columns.scales * np.where(speed > 0, speed, 1.0), self.free_rates)
        v, good = guess, largest(closures.residual(guess)) == 0
        if not np.all(good) and 0 < len(closures.rows) <= len(self.free_rates):
            cost = self.rate_cost[self.free_rates][:, None]
            found, settled = minimised(closures, guess, cost, guess, HALVING, np.inf)
            scaled = closures.rescaled(found)
            found = polished(scaled, found)
            settled &= closed(scaled, found) & (Rows(scaled.jacobian(found)).independence() >= FULL)
            settled &= largest(found / closures.scales) <= ABSURD
            v, good = np.where(good, guess, found), good | settled
        return with_state_rates(columns, q, v, self.states), good


def with_state_rates(columns: Columns, q: Array, v: Array, states: Indices) -> Array:
    """As that of assembly.py, for many sets."""
    if not len(states):
        return v
    result = v.copy()
    result[states] = 0.0
    at_rest = columns.state_rows(q, result, states)
    probes = np.where(at_rest == 0, 1.0, at_rest)
    result[states] = probes
    result[states] = probes * at_rest / (at_rest - columns.state_rows(q, result, states))
    return result


def _bends(system: System) -> bool:
    """Whether a nonholonomic constraint is not linear in velocities."""
    return any(source.order == 1 for source in _sources_of_slopes(system))


def _sources_of_slopes(system: System) -> Iterator[Input]:
    for group in system.groups:
        program = group.program.restrict(lambda key: key[0] == "slope")
        for output in program.outputs:
            yield from program.depends_on(output)
