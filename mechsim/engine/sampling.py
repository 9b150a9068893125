"""Points of a table while a march goes on, of which nothing need be kept: at times of one's choice, or of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mechsim.engine.control import rows_of_steps
from mechsim.engine.leading import Leading
from mechsim.engine.points import Points, Steps, evaluated, joined
from mechsim.engine.segments import last_begun
from mechsim.kernel.system import System

if TYPE_CHECKING:
    from mechsim.engine.solution import Solution

States = Callable[[Points], tuple[np.ndarray, np.ndarray, np.ndarray]]
Columns = tuple[np.ndarray, ...]  # t, q, v, multipliers, and the series of accelerations and multipliers

CHUNK = 1024  # points at once: a step may be long and pass many


class Sampling:
    """Takes points with their steps, one after the other, and gives the points at `times` that they pass.

    `leading` makes what projects states on the constraints (see `Leading.states`); it is called when first needed.
    """

    has_steps = False  # whether the ends of all steps are among them

    def __init__(self, times: np.ndarray, leading: Callable[[], Leading]):
        self.times = times
        self.taken = 0
        self._make_leading = leading
        self._last: Steps | None = None
        self._end = np.inf  # how far the march has come: an event may end it

    @cached_property
    def _leading(self) -> Leading:
        return self._make_leading()

    def passed(self, points: Points) -> Iterator[Points]:
        """The points before the end of these. At the end itself a segment may begin: the next ones have it."""
        if len(points):
            self._end = float(points.t[-1])
        if points.steps is not None:
            self._last = points.steps
            yield from self._until(int(np.searchsorted(self.times, points.t[-1], side="left")))

    def rest(self) -> Iterator[Points]:
        """The points that are left when the march has come to its end: those at its very end."""
        yield from self._until(int(np.searchsorted(self.times, self._end, side="right")))

    def _until(self, end: int) -> Iterator[Points]:
        while self._last is not None and self.taken < end:
            times = self.times[self.taken : min(end, self.taken + CHUNK)]
            self.taken += len(times)
            yield self._points(self._last, times)

    def _points(self, steps: Steps, times: np.ndarray) -> Points:
        step = last_begun(steps.starts, times, "after", backwards=False)
        values, rates, bends = evaluated(steps.polynomials[step], times - steps.starts[step])
        system = steps.segments.system_at(self._leading.system, times)
        q, v, lam = self._leading.states(Points(system, times, values, rates))
        n = q.shape[1]
        return Points(system, times, q, v, lam, (bends[:, :n], values[:, n:]))


class StepRows:
    """Takes points with their steps and gives the rows of a table: these points, and some between where steps are long.

    `leading` as of Sampling. Rows that are to be `remembered` can be asked for when the march is over.
    """

    has_steps = True

    def __init__(self, leading: Callable[[], Leading], remember: bool = False):
        self._make_leading = leading
        self._remembered: list[Columns] | None = [] if remember else None

    @cached_property
    def _leading(self) -> Leading:
        return self._make_leading()

    def __call__(self, points: Points) -> None:
        for _ in self.passed(points):
            pass

    def passed(self, points: Points) -> Iterator[Points]:
        if len(points):
            points = divided(points, points.system_at(0), lambda inside: self._leading.states(inside))
        if self._remembered is not None and len(points):
            self._remembered.append(_columns(points))
        yield points

    def rest(self) -> Iterator[Points]:
        return iter(())

    def remembered(self, solution: Solution) -> Points:
        """All rows of the march that ended as this solution."""
        if not self._remembered:
            return solution.points
        columns = joined(self._remembered)
        return _points(solution.segments.system_of_rows(solution.system, columns[0]), columns)


def divided(points: Points, system: System, states: States) -> Points:
    """The points and, where their steps are long, some between that divide them evenly; `system` as it was at first,
    `states` projects on the constraints."""
    steps = points.steps
    if steps is None or not len(steps.starts):
        return points
    first = len(points) - len(steps.starts)
    lengths = points.t[first:] - steps.starts
    rows = rows_of_steps(steps.polynomials, lengths, system.scales[: system.n], steps.tolerance)
    if rows.max() == 1:
        return points
    step = np.repeat(np.arange(len(rows)), rows - 1)
    number = np.arange(1, len(step) + 1) - (np.cumsum(rows - 1) - (rows - 1))[step]  # 1, 2, ... within each step
    h = lengths[step] * number / rows[step]
    pieces = [slice(begin, begin + CHUNK) for begin in range(0, len(step), CHUNK)]
    values, rates, bends = joined([evaluated(steps.polynomials[step[each]], h[each]) for each in pieces])
    t = steps.starts[step] + h
    q, v, lam = states(Points(steps.segments.system_at(system, t), t, values, rates))
    # Rows in their order: what was before the first step, then of each step those inside it and its end.
    ends = np.zeros(first + int(rows.sum()), dtype=bool)
    ends[:first] = ends[first - 1 + np.cumsum(rows)] = True
    inside = t, q, v, lam, bends[:, : system.n], values[:, system.n :]
    columns = [_merged(ends, *pair) for pair in zip(_columns(points), inside, strict=True)]
    return _points(steps.segments.system_of_rows(system, columns[0]), columns)


def _columns(points: Points) -> Columns:
    """Of points whose multipliers are known."""
    assert points.lam is not None
    none = np.full_like(points.q, np.nan), np.full_like(points.lam, np.nan)
    return (*points.state, points.lam, *(points.series or none))


def _points(system: System, columns: Sequence[np.ndarray]) -> Points:
    t, q, v, lam, accelerations, multipliers = columns
    return Points(system, t, q, v, lam, (accelerations, multipliers))


def _merged(at_end: np.ndarray, ends: np.ndarray, inside: np.ndarray) -> np.ndarray:
    found = np.empty((len(at_end), *ends.shape[1:]))
    found[at_end], found[~at_end] = ends, inside
    return found
