"""Closed positions from many starts: for a guess that leads nowhere by itself, or that lies on a watershed.

People write zeros, or put all points on one line. There the equations have no slope across the line, and rounding would
decide which way a mechanism closes. So starts are scattered about the guess, the nearest first; of what closes, the
pose nearest to the guess wins, and of equals the lower one. Nothing here depends on names, on the order of the file or
on the clock.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechsim.initial.closure import Closure
from mechsim.initial.many import NEARLY_CLOSED, ends_of
from mechsim.initial.nearest import FREE_WEIGHT, nearest
from mechsim.initial.newton import approach, is_closed, polish, settle
from mechsim.initial.poses import SAME, angles_followed, difference, height, nearer_turn, reflections, turn_angles
from mechsim.initial.start import Array
from mechsim.model.mechanism import Mechanism
from mechsim.model.order import canonical_order
from mechsim.spec.document import Problem

# How far to scatter, in scales, and how many starts; later ones only where all before lead nowhere.
GENERATIONS = ((0.01, 8), (0.1, 8), (0.3, 16), (1.0, 64), (2.0, 64))
ITERATIONS = 60
LARGE = 400  # coordinates; beyond, starts are tried one after the other, and only the nearest few
FEW = 2
MOST_REFLECTIONS = 64
PROBE = 1e-3  # a guess that leads elsewhere when it is moved by so little lies on a watershed
ELSEWHERE = 0.05
WORTH_REFINING = 6  # closed poses of which the nearest to the guess is looked for
EQUAL = 1e-5  # distances from the guess that differ by less are equal, for IPOPT finds them to 1e-9


End = tuple[Array, float]  # a point, and the size of its residual


@dataclass(frozen=True, slots=True)
class Closing:
    """What the search looks for: closed positions near `guess`, of which `guessed` entries were asked for."""

    mechanism: Mechanism
    problem: Problem
    closure: Closure
    guess: Array
    guessed: tuple[int, ...]

    def found(self) -> tuple[Array | None, bool]:
        """The closed pose nearest to the guess, if one is found; and whether another one is just as near."""
        direct = solve(self.closure, self.guess, self.guessed)
        if direct is not None and not self.on_watershed():
            return direct, False
        poses, misses = [] if direct is None else [direct], []
        for spread, count in GENERATIONS:
            ends = self._ends_of(self.scattered(spread, count if len(self.guess) <= LARGE else FEW))
            poses += self._closed(ends)
            if poses:
                return self._chosen(poses)
            misses += ends
        return self._chosen(self._closed(self._ends_of(self._reflected(misses))))

    def on_watershed(self) -> bool:
        """Whether starts just beside the guess lead somewhere else."""
        if len(self.guess) > LARGE or is_closed(self.closure, self.guess):
            return False
        here, *beside = (approach(self.closure, start) for start in (self.guess, *self.scattered(PROBE, 2)))
        return any(difference(self.mechanism, self.closure, here, end) > ELSEWHERE for end in beside)

    def scattered(self, spread: float, count: int) -> list[Array]:
        """Starts about the guess in opposite pairs, so that neither side is preferred."""
        generator = np.random.default_rng(11)
        places = self._places()
        starts = []
        for _ in range(count // 2):
            noise = np.zeros(len(self.guess))
            noise[places] = generator.standard_normal(len(places))
            for sign in (1, -1):
                start = self.guess.copy()
                start[self.closure.free] += (sign * spread * self.closure.scales * noise)[self.closure.free]
                starts.append(angles_followed(self.mechanism, self.closure, start))
        return starts

    def _places(self) -> list[int]:
        """All coordinates, in an order that no name decides."""
        order = canonical_order(self.mechanism, self.problem) if self.mechanism.parts else []
        slots = [slot for name in order for slot in self.mechanism.points[name] if slot >= 0]
        return [*slots, *(index for index in range(len(self.guess)) if index not in set(slots))]

    def _reflected(self, misses: list[End]) -> list[Array]:
        """The last resort: the nearest misses with points on the other side of their neighbours."""
        nearest_misses = sorted(misses, key=lambda end: end[1])[: FEW if len(self.guess) <= LARGE else 0]
        images = [image for q, _ in nearest_misses for image in reflections(self.mechanism, self.closure, q)]
        return [angles_followed(self.mechanism, self.closure, image) for image in images[:MOST_REFLECTIONS]]

    def _ends_of(self, starts: list[Array]) -> list[End]:
        if len(self.guess) <= LARGE:
            return ends_of(self.closure, starts, ITERATIONS)
        ends = [approach(self.closure, start) for start in starts]
        return [(end, float(np.linalg.norm(self.closure.residual(end)))) for end in ends]

    def _closed(self, ends: list[End]) -> list[Array]:
        """Those that close, each pose once, nearest to the guess first."""
        polished = [self._polished(q) for q, size in ends if size <= NEARLY_CLOSED]
        return self._different([pose for pose in polished if pose is not None])

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
        refined = [self._refined(q) for q in self._different(poses)[:WORTH_REFINING]]
        best = min(map(self.distance, refined))
        equal = self._different([q for q in refined if self.distance(q) <= best * (1 + EQUAL) + EQUAL**2])
        ranked = sorted(equal, key=lambda q: tuple(round(x, 6) for x in height(self.mechanism, q)))
        return ranked[0], len(equal) > 1

    def _refined(self, q: Array) -> Array:
        """The nearest closed pose to the guess that is reached from q."""
        end = self._polished(approach(self.closure, nearest(self.closure, self.guess, self.guessed, q)))
        return end if end is not None and self.distance(end) <= self.distance(q) else q

    def distance(self, q: Array) -> float:
        """From the guess, weighted as `nearest` does."""
        weights = np.full(len(q), FREE_WEIGHT)
        weights[list(self.guessed)] = 1.0
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
