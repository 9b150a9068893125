"""Points at times of one's choice, while a march goes on: nothing of it need be kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from mechsim.engine.leading import Leading
from mechsim.engine.points import Points, Steps, evaluated
from mechsim.engine.segments import last_begun

CHUNK = 4096  # points at once: a step may be long and pass many


class Sampling:
    """Takes points with their steps, one after the other, and gives the points at `times` that they pass.

    `leading` makes what projects states on the constraints (see `Leading.states`); it is called when first needed.
    """

    def __init__(self, times: np.ndarray, leading: Callable[[], Leading]):
        self.times = times
        self.taken = 0
        self._make_leading = leading
        self._last: Steps | None = None

    @cached_property
    def _leading(self) -> Leading:
        return self._make_leading()

    def passed(self, points: Points) -> Iterator[Points]:
        """The points before the end of these. At the end itself a segment may begin: the next ones have it."""
        if points.steps is not None:
            self._last = points.steps
            yield from self._until(int(np.searchsorted(self.times, points.t[-1], side="left")))

    def rest(self) -> Iterator[Points]:
        """The points that are left when the march has come to its end: those at its very end."""
        yield from self._until(len(self.times))

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
