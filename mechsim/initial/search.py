"""Closed positions from many starts: for a guess that leads nowhere by itself, or that lies on a watershed.

People write zeros, or put all points on one line. There the equations have no slope across the line, and rounding would
decide which way a mechanism closes. So starts are scattered about the guess, the nearest first; of what closes, the
pose nearest to the guess wins, and of equals the lower one. Nothing here depends on names, on the order of the file or
on the clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mechsim.frozen import frozen
from mechsim.initial.closure import Closure
from mechsim.initial.freedom import NULL_SPACE_LIMIT
from mechsim.initial.levenberg import NEARLY_CLOSED, End, approach, ends_of
from mechsim.initial.nearest import nearest, weights_of
from mechsim.initial.newton import is_closed, polish, settle
from mechsim.initial.poses import (
    SAME,
    angles_followed,
    difference,
    heights,
    nearer_turn,
    on_one_line,
    reflections,
    turn_angles,
)
from mechsim.initial.start import Array
from mechsim.initial.turned import turned, turned_back
from mechsim.kernel.linear import generic
from mechsim.model.mechanism import Mechanism
from mechsim.model.placement import guess_positions
from mechsim.spec.document import Problem

# How far to scatter, in scales, and how many starts; later ones only where all before lead nowhere. A person waits for
# the report that nothing closes, so many coordinates are given fewer starts.
GENERATIONS = ((0.01, 6), (0.1, 6), (0.3, 12), (1.0, 48), (2.0, 32))
FEWER = ((0.01, 4), (0.3, 4), (1.0, 4))
ITERATIONS = 60
MIDDLING, LARGE = 40, 100  # coordinates; beyond the latter, starts are tried one after the other
FEW = 2
MOST_REFLECTIONS = 64
ROUNDS = 3  # of reflections, of those as near to the guess as any
PROBE = 1e-3  # a guess that leads elsewhere when it is moved by so little lies on a watershed
ELSEWHERE = 0.05
WORTH_REFINING = 8  # closed poses of which the nearest to the guess is looked for
INDEPENDENT = 1e-4  # singular values of constraints below this (rows have length 1) mean a dead centre is near
EQUAL = 1e-5  # distances from the guess that differ by less are equal, for IPOPT finds them to 1e-9


@frozen
class PositionProblem:
    """What the search looks for: closed positions near `guess`, of which `guessed` entries were asked for."""

    mechanism: Mechanism
    problem: Problem
    closure: Closure
    guess: Array
    guessed: tuple[int, ...]

    def found(self) -> tuple[Array | None, bool]:
        """The closed pose nearest to the guess, if one is found; and whether another one is just as near."""
        nearest_closed = solve(self.closure, self.guess, self.guessed)
        direct = None if nearest_closed is None else self._as_meant(nearest_closed)
        if direct is not None and not self.on_watershed():
            return direct, False
        misses: list[End] = []
        for starts in self._generations():
            ends = self._ends_of(starts)
            if poses := self._closed(ends):
                return self._chosen(poses if direct is None else [direct, *poses])
            misses += ends
        if direct is not None:
            return direct, False
        pose, several = self._chosen(self._closed(self._ends_of(self._reflected(misses))))
        return (nearest_closed, False) if pose is None else (pose, several)

    def _as_meant(self, q: Array) -> Array | None:
        """A closed pose, if it is on the side that is meant, or if turn angles that are not can be turned back."""
        if not turned(self.mechanism, q):
            return q
        image = self._polished(approach(self.closure, turned_back(self.mechanism, q)))
        return None if image is None or turned(self.mechanism, image) else self._refined(image)

    @property
    def _large(self) -> bool:
        return len(self.guess) > LARGE

    def on_watershed(self) -> bool:
        """Whether starts just beside the guess lead somewhere else."""
        if is_closed(self.closure, self.guess):
            return False
        if self._large:
            return on_one_line(self.mechanism, self.guess)
        probes = self._opposite(self.guess, PROBE * generic(len(self.closure.free)))
        here, *beside = (approach(self.closure, start) for start in (self.guess, *probes))
        return any(difference(self.mechanism, self.closure, here, end) > ELSEWHERE for end in beside)

    def _generations(self) -> Iterator[list[Array]]:
        """Starts about the guess, and about where parts would stand without any."""
        unguessed = self._unguessed()
        bases = [self.guess] if np.array_equal(unguessed, self.guess) else [self.guess, unguessed]
        if self._large:
            yield self.scattered(self.guess, 0.3, 2) if len(bases) == 1 else [unguessed]
            return
        for spread, count in GENERATIONS if len(self.guess) <= MIDDLING else FEWER:
            yield [start for base in bases for start in self.scattered(base, spread, count)]

    def _unguessed(self) -> Array:
        if not self.mechanism.parts:
            return self.guess
        problem = self.problem
        positions = {
            name: tuple(value if value and value.fixed else None for value in values)
            for name, values in problem.positions.items()
        }
        angles = {part: value for part, value in problem.angles.items() if value.fixed}
        start = guess_positions(self.mechanism, replace(problem, positions=positions, angles=angles))
        result = self.guess.copy()
        result[self.closure.free] = start[self.closure.free]
        return result

    def scattered(self, base: Array, spread: float, count: int) -> list[Array]:
        """Starts about a pose in opposite pairs, so that neither side is preferred."""
        generator = np.random.default_rng(11)
        noises = (spread * generator.standard_normal(len(self.closure.free)) for _ in range(count // 2))
        return [start for noise in noises for start in self._opposite(base, noise)]

    def _opposite(self, base: Array, noise: Array) -> list[Array]:
        moved = self.closure.moved(base, noise), self.closure.moved(base, -noise)
        return [angles_followed(self.mechanism, self.closure, start) for start in moved]

    def _reflected(self, misses: list[End]) -> list[Array]:
        """The last resort: the nearest misses with points on the other side of their neighbours."""
        nearest_misses = [] if self._large else sorted(misses, key=lambda end: end[1])[:FEW]
        images = [image for q, _ in nearest_misses for image in reflections(self.mechanism, self.closure, q)]
        return [angles_followed(self.mechanism, self.closure, image) for image in images[:MOST_REFLECTIONS]]

    def _ends_of(self, starts: list[Array]) -> list[End]:
        if not self._large:
            return ends_of(self.closure, starts, ITERATIONS)
        ends = [solve(self.closure, start, self.guessed) for start in starts]
        return [(end, 0.0) for end in ends if end is not None]

    def _closed(self, ends: list[End]) -> list[Array]:
        """Those that close as it is meant, each pose once, nearest to the guess first."""
        polished = [self._polished(q) for q, size in ends if size <= NEARLY_CLOSED]
        return self._different([pose for pose in polished if pose is not None and not turned(self.mechanism, pose)])

    def _polished(self, q: Array) -> Array | None:
        scaled = self.closure.rescaled(q)
        q = settle(scaled, polish(scaled, self._unwound(q)))
        return q if is_closed(scaled, q) else None

    def _unwound(self, q: Array) -> Array:
        """Turn angles by as many whole turns as bring them nearest to their guess."""
        result = q.copy()
        for index in turn_angles(self.mechanism):
            if index in self.closure.free:
                result[index] = nearer_turn(float(q[index]), float(self.guess[index]))
        return result

    def _different(self, poses: list[Array]) -> list[Array]:
        kept: list[Array] = []
        for q in sorted(poses, key=self.distance):
            if all(difference(self.mechanism, self.closure, q, other) > SAME for other in kept):
                kept.append(q)
        return kept

    def _chosen(self, poses: list[Array]) -> tuple[Array | None, bool]:
        """The nearest to the guess; of several as near, the lowest, then the one most to the right."""
        if not poses:
            return None, False
        equal = self._nearest_of([], poses)
        for _ in range(0 if self._large else ROUNDS):  # mirror images may be as near, or nearer
            images = [image for q in equal for image in reflections(self.mechanism, self.closure, q)]
            starts = [angles_followed(self.mechanism, self.closure, image) for image in images[:MOST_REFLECTIONS]]
            before, equal = equal, self._nearest_of(equal, self._closed(self._ends_of(starts)))
            if len(equal) == len(before) and self.distance(equal[0]) >= self.distance(before[0]) * (1 - EQUAL):
                break
        lowest = min(equal, key=lambda q: heights(self.mechanism, self.closure, q))
        return lowest, len(equal) > 1

    def _nearest_of(self, known: list[Array], poses: list[Array]) -> list[Array]:
        """Those nearest to the guess, after the nearest reached from each new pose has been looked for."""
        refined = [*known, *(self._refined(q) for q in self._different(poses)[:WORTH_REFINING])]
        ranks = [self._rank(q) for q in refined]
        regular = [q for q, rank in zip(refined, ranks, strict=True) if rank == max(ranks)]
        best = min(map(self.distance, regular))
        return self._different([q for q in regular if self.distance(q) <= best * (1 + EQUAL) + EQUAL**2])

    def _rank(self, q: Array) -> int:
        """How many constraints are independent there: a motion may not be able to start where they are fewer."""
        if len(self.guess) > NULL_SPACE_LIMIT:
            return 0
        scaled = self.closure.rescaled(q)
        return int(np.sum(np.linalg.svd(scaled.dense_jacobian(q), compute_uv=False) > INDEPENDENT))

    def _refined(self, q: Array) -> Array:
        """The nearest closed pose to the guess that is reached from q."""
        end = self._polished(approach(self.closure, nearest(self.closure, self.guess, self.guessed, q)))
        if end is None or self.distance(end) > self.distance(q) or self._rank(end) < self._rank(q):
            return q
        if turned(self.mechanism, end):
            return q
        return end

    def distance(self, q: Array) -> float:
        """From the guess, weighted as `nearest` does."""
        weights = weights_of(self.guessed, len(q))
        apart = ((q - self.guess) / self.closure.scales)[self.closure.free]
        return float(np.sqrt(weights[self.closure.free] @ apart**2))


def solve(closure: Closure, guess: Array, guessed: tuple[int, ...]) -> Array | None:
    """The closed point nearest to the guess: IPOPT, then Newton; Levenberg's method where IPOPT gives up."""
    near = approach(closure, guess)
    for start in (nearest(closure, guess, guessed, near), near):
        x = approach(closure, start)
        scaled = closure.rescaled(x)
        x = settle(scaled, polish(scaled, x))
        if is_closed(scaled, x):
            return x
    return None
