"""Points at times of one's choice, while a march goes on: nothing of it need be kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from mechsim.engine.solution import Batch, evaluated

CHUNK = 4096  # points at once: a step may be long and pass many


class Sampling:
    """Takes batches with their polynomials, one after the other, and gives the points at `times` that they pass.

    `leading` makes what projects states on the constraints (see `Leading.states`); it is called when first needed.
    """

    def __init__(self, times: np.ndarray, leading: Callable[[], Any]):
        self.times = times
        self.taken = 0
        self._make_leading = leading
        self._last: Batch | None = None

    @cached_property
    def _leading(self) -> Any:
        return self._make_leading()

    def passed(self, batch: Batch) -> Iterator[Batch]:
        """The points before the end of the batch. At the end itself constants may change: the next batch has it."""
        if batch.starts is not None and len(batch.starts):
            self._last = batch
            yield from self._until(int(np.searchsorted(self.times, batch.t[-1], side="left")))

    def rest(self) -> Iterator[Batch]:
        """The points that are left when the march has come to its end: those at its very end."""
        yield from self._until(len(self.times))

    def _until(self, end: int) -> Iterator[Batch]:
        while self._last is not None and self.taken < end:
            times = self.times[self.taken : min(end, self.taken + CHUNK)]
            self.taken += len(times)
            yield self._points(self._last, times)

    def _points(self, batch: Batch, times: np.ndarray) -> Batch:
        assert batch.starts is not None and batch.polynomials is not None
        step = np.clip(np.searchsorted(batch.starts, times, side="right") - 1, 0, len(batch.starts) - 1)
        values, rates, bends = evaluated(batch.polynomials[step], times - batch.starts[step])
        constants = None if batch.during is None else batch.during[step]
        q, v, lam = self._leading.states(times, values, rates, constants)
        n = q.shape[1]
        return Batch(times, q, v, lam, constants, series=(bends[:, :n], values[:, n:]))
