"""When motions pass a section: at whole periods, where an expression crosses zero, or at an event of the file.

Times are found on the polynomials of the steps, and states there are put back on the constraints: both are as exact as
the motion itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from mechsim.analysis.lanes import Lanes
from mechsim.analysis.subject import Subject
from mechsim.engine import Points, Solution
from mechsim.errors import Fault, IntegrationError
from mechsim.frozen import frozen
from mechsim.measure import piecewise
from mechsim.measure.gathered import Gathered
from mechsim.measure.piecewise import Pieces
from mechsim.measure.quantities import Quantity
from mechsim.measure.steps import Steps, blocks_of
from mechsim.result import Motion
from mechsim.result.layout import Array
from mechsim.result.trajectory import Facts

PERIODS = 64  # that a motion alone is followed for at once
PATIENCE = 20  # first stretches of time without a passing, after which a motion is given up
STEPS = 200_000  # of all motions together, whose polynomials are in memory at once
ROUNDED = 1e-9  # of a period: a time this near to a whole one is it
SLACK = 1.1  # of the time in which passings are expected

Observer = Callable[[int, int], None]  # points that are found, of so many
Passed = dict[int, list[Points]]  # of each motion


class Passing(ABC):
    """How motions pass a section."""

    what: str

    @abstractmethod
    def collect(self, lanes: Lanes, points: int, observer: Observer) -> Passed:
        """So many points of each motion, from where it is on; fewer of those that pass no more, or fail."""


@frozen(slots=False, eq=False)
class AtPeriods(Passing):
    """At whole periods since their starts."""

    what: str
    periods: Array  # of each motion
    begun: Array  # when each motion started

    def collect(self, lanes: Lanes, points: int, observer: Observer) -> Passed:
        first = np.ceil((lanes.t - self.begun) / self.periods - ROUNDED).astype(int)
        begin = np.maximum(self._at(first), lanes.t)
        lanes.advance(begin, lanes.going[begin[lanes.going] > lanes.t[lanes.going]], dense=False)
        return self._in_lanes(lanes, first, points, observer) if lanes.together else self._alone(lanes, first, points)

    def _in_lanes(self, lanes: Lanes, first: np.ndarray, points: int, observer: Observer) -> Passed:
        """Period by period: steps end at each."""
        seen = [_Seen.of(lanes)]
        with lanes.until_interrupted():
            for number in range(1, points):
                lanes.advance(self._at(first + number), lanes.going, dense=False)
                seen.append(_Seen.of(lanes))
                observer(number * len(lanes), points * len(lanes))
        found: Passed = {}
        for k in range(len(lanes)):
            own = [each for each in seen if each.going[k]]
            t, q, v = (np.array([getattr(each, name)[k] for each in own]) for name in ("t", "q", "v"))
            found[k] = [Points(lanes.system(k), t, q, v)] if own else []
        return found

    def _alone(self, lanes: Lanes, first: np.ndarray, points: int) -> Passed:
        """Many periods at once, by the polynomials of the motion."""
        found: Passed = {k: [] for k in range(len(lanes))}
        for k in lanes.going.tolist():
            row = slice(k, k + 1)
            found[k].append(Points(lanes.system(k), lanes.t[row].copy(), lanes.q[row].copy(), lanes.v[row].copy()))
        with lanes.until_interrupted():
            for done in range(1, points, PERIODS):
                numbers = np.arange(done, min(done + PERIODS, points))
                for k, solution in lanes.advance(self._at(first + numbers[-1]), lanes.going, dense=True).items():
                    times = np.array([self._at(first + number)[k] for number in numbers])
                    found[k].append(solution.sampled(np.minimum(times, solution.t[-1])))
        return found

    def _at(self, number: np.ndarray) -> Array:
        return self.begun + number * self.periods


@frozen(slots=False, eq=False)
class _Seen:
    """Where all motions are at one time."""

    going: np.ndarray
    t: Array
    q: Array
    v: Array

    @classmethod
    def of(cls, lanes: Lanes) -> _Seen:
        going = np.zeros(len(lanes), dtype=bool)
        going[lanes.going] = True
        return cls(going, lanes.t.copy(), lanes.q.copy(), lanes.v.copy())


@frozen(slots=False, eq=False)
class AtTimes(Passing):
    """Where something happens that their solutions tell: `times` of some solutions, by the numbers of motions."""

    what: str
    stretch: float  # of time that is followed at once, to begin with
    times: Callable[[Lanes, Mapping[int, Solution]], dict[int, Array]]

    def collect(self, lanes: Lanes, points: int, observer: Observer) -> Passed:
        found: Passed = {k: [] for k in range(len(lanes))}
        with lanes.until_interrupted():
            self._collect(lanes, points, observer, found)
        return found

    def _collect(self, lanes: Lanes, points: int, observer: Observer, found: Passed) -> None:
        counts, idle = np.zeros(len(lanes), dtype=int), np.zeros(len(lanes))
        stretch, patience = self.stretch, (1 - ROUNDED) * PATIENCE * self.stretch
        while True:
            wanting = np.array([k for k in lanes.going if counts[k] < points and idle[k] < patience], dtype=np.intp)
            if not len(wanting):
                return
            solutions = lanes.advance(lanes.t + stretch, wanting, dense=True)
            passed = self.times(lanes, solutions)
            for k, times in passed.items():
                times = times[: points - counts[k]]
                idle[k] = 0.0 if len(times) else idle[k] + stretch
                counts[k] += len(times)
                if len(times):
                    found[k].append(solutions[k].sampled(times))
            stretch = self._longer(stretch, solutions, passed, points - counts)
            observer(int(counts.sum()), points * len(lanes))

    def _longer(
        self, stretch: float, solutions: Mapping[int, Solution], passed: Mapping[int, Array], left: np.ndarray
    ) -> float:
        """The next stretch: as long as the slowest motion needs, if memory holds it."""
        steps = sum(len(solution.t) for solution in solutions.values())
        needed = [left[k] / len(times) if len(times) else 1.0 for k, times in passed.items()]
        wanted = SLACK * max(needed, default=1.0)
        return stretch * float(np.clip(min(wanted, STEPS / max(steps, 1)), 0.1, 8.0))


def crossings(
    subject: Subject, quantity: Quantity, direction: str, facts: Facts
) -> Callable[[Lanes, Mapping[int, Solution]], dict[int, Array]]:
    """Times at which an expression crosses zero: "up", "down" or "both" ways. Over it, it may also jump."""

    def times(lanes: Lanes, solutions: Mapping[int, Solution]) -> dict[int, Array]:
        numbers = list(solutions)
        found: dict[int, list[Array]] = {k: [np.zeros(0)] for k in numbers}
        for cases, pieces in _pieces(subject, lanes, quantity, numbers, [solutions[k] for k in numbers], facts):
            ways = [pieces] if direction == "up" else [-pieces] if direction == "down" else [pieces, -pieces]
            for each in ways:
                case, when = piecewise.upward_crossings(each)
                crossed = ~piecewise.jumps_at(each, case, when)  # else it is never zero
                case, when = case[crossed], when[crossed]
                for place, number in enumerate(cases.tolist()):
                    found[numbers[number]].append(when[case == place])
        return {k: np.sort(np.concatenate(parts)) for k, parts in found.items()}

    return times


def _pieces(
    subject: Subject,
    lanes: Lanes,
    quantity: Quantity,
    numbers: Sequence[int],
    solutions: Sequence[Solution],
    facts: Facts,
) -> Iterator[tuple[np.ndarray, Pieces]]:
    """The expression as polynomials, some motions at a time, by their places."""
    many = Gathered([Motion(solution, facts) for solution in solutions], {})

    def parameter(name: str) -> Array:
        return np.array([float(subject.numbers(lanes.parameters(k))(name)) for k in numbers])

    for block in blocks_of(np.arange(len(solutions)), many.polynomials):
        pieces, fine = quantity.pieces(Steps(many, block, parameter, subject.names.changing))
        if not fine.all() or not np.isfinite(pieces.polynomials).all():
            message = "the expression of the section has no value somewhere in a motion, or changes too fast"
            raise IntegrationError(Fault(f"{message} to be followed"))
        yield block.cases, pieces


def happenings(name: str) -> Callable[[Lanes, Mapping[int, Solution]], dict[int, Array]]:
    """Times of an event or contact of the file."""

    def times(lanes: Lanes, solutions: Mapping[int, Solution]) -> dict[int, Array]:
        found = {}
        for k, solution in solutions.items():
            assert solution.events is not None  # the file has some
            found[k] = np.unique(solution.events.of(name).column("t"))
        return found

    return times
