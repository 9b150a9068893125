"""The Taylor DAE engine: one loop over batches of kernel steps. It knows offsets and programs, never mechanics."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechsim.engine.control import LARGEST_ORDER, REJECTION, SAFETY, SMALLEST_ORDER, order_for
from mechsim.engine.launch import Launch
from mechsim.engine.leading import planned
from mechsim.engine.solution import Batch, Held, Solution
from mechsim.engine.stops import Stops
from mechsim.engine.watch import Watch
from mechsim.kernel.compiled import Status, make_march
from mechsim.kernel.system import System

__all__ = ["LARGEST_ORDER", "SMALLEST_ORDER", "Batch", "Solution", "State", "integrate", "order_for", "state_of"]

BATCH_SECONDS = 0.05  # a batch ends after this, so that progress is shown and Ctrl-C is heard
BATCH_STEPS = 4096

MESSAGES = {
    Status.STEP_TOO_SMALL: "the step size fell below what the time can resolve",
    Status.SINGULAR: "the equations became singular: accelerations or reactions are not determined there",
    Status.NOT_FINITE: "the motion left the range where its equations have values",
    Status.NOT_PROJECTED: "the constraints could not be met again after a step",
}


@dataclass(frozen=True, slots=True)
class State:
    """Where a march begins: a consistent state. `singular`: on a singular pose, or very near one (see launch.py); then
    `fixed` are the coordinates whose positions and velocities are to be met exactly."""

    t: float
    positions: np.ndarray
    velocities: np.ndarray
    singular: bool = False
    fixed: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())


def integrate(
    system: System,
    structure: Any,
    start: Any,
    *,
    tend: float,
    tolerance: float,
    order: int | None = None,
    keep: str = "polynomials",
    observer: Callable[[Batch], None] | None = None,
    fixed_step: float = 0.0,
) -> Solution:
    """March from a consistent start (a State, or what has its attributes) to `tend`. Failure is a status of the
    Solution, not an exception."""
    order = order or order_for(tolerance)
    began = time.perf_counter()
    plan = planned(system, structure)
    march = make_march(
        plan,
        order=order,
        tolerance=tolerance,
        safety=SAFETY,
        fixed_step=fixed_step,
        rejection=REJECTION * tolerance,
    )
    state = state_of(system, plan.variable_offsets, start)
    march.set_state(start.t, state)
    watch = Watch(system, structure.redundancy.spare)
    collector = _Collector(system.n, keep == "polynomials", observer, watch)
    stops = Stops(system, start, tend)
    prepared = time.perf_counter()
    status, interrupted = Status.RUNNING, False
    try:
        stops.begin(march)
        if start.singular and np.any(start.velocities):
            status = collector.launch(Launch(march, plan, system, state, start.t, start.fixed, tolerance), stops)
        while status == Status.RUNNING and not watch.broken:
            goal = stops.next
            status = collector.take(march.advance(goal, BATCH_STEPS, BATCH_SECONDS, collector.keep), stops.held)
            if status == Status.REACHED and goal != tend and not watch.broken:
                stops.reached(march, *collector.last)
                status = Status.RUNNING
        collector.show()
    except KeyboardInterrupt:
        interrupted = True
        collector.show()
    seconds = time.perf_counter() - prepared
    name = "interrupted" if interrupted else "finished" if status == Status.REACHED else status.name.lower()
    reached = collector.parts[-1][0][-1] if collector.parts else start.t
    message = f"{MESSAGES[status]}, at t = {reached:.9g}" if status in MESSAGES else ""
    if watch.broken:
        name = "contradiction"
        message = f"{watch.broken} cannot be met with the other constraints after t = {reached:.9g}"
    statistics = {**march.statistics, "order": order, "seconds": seconds, "preparation_seconds": prepared - began}
    held = Held.of(stops.history)
    return collector.solution(name, message, statistics, system, structure, plan, order, tolerance, held)


def state_of(system: System, offsets: np.ndarray, start: Any) -> np.ndarray:
    """Derivatives below the offset of every unknown, as the kernel wants them."""
    state = np.zeros((int(offsets.max()), system.n + system.m))
    for derivative, values in enumerate((start.positions, start.velocities)[: len(state)]):
        state[derivative, : system.n] = values
    return state


class _Collector:
    """Gathers what the march returns, and shows each batch to the observer."""

    def __init__(self, n: int, keep: bool, observer: Callable[[Batch], None] | None, watch: Watch):
        self.n = n
        self.watch = watch
        self.keep = keep
        self.observer = observer
        self.parts: list[tuple[np.ndarray, ...]] = []
        self.polynomials: list[np.ndarray] = []
        self.waiting: list[Batch] = []  # not yet shown: stops may come too close together to show each
        self.shown = 0.0

    def take(self, result: Any, constants: np.ndarray | None) -> Status:
        status, t, x, v, _, polynomials = result
        held = None if constants is None else np.tile(constants, (len(t), 1))
        batch = Batch(t, x[:, : self.n], v[:, : self.n], x[:, self.n :], held)
        good = self.watch.holds(batch)
        if good < len(t):
            polynomials = polynomials[: max(0, len(polynomials) - (len(t) - good))]
            batch = batch.first(good)
        if good:
            self.parts.append((batch.t, batch.q, batch.v, batch.lam))
            self.waiting.append(batch)
        if self.keep and len(polynomials):
            self.polynomials.append(polynomials)
        if time.perf_counter() - self.shown >= BATCH_SECONDS:
            self.show()
        return Status(status)

    def launch(self, launch: Launch, stops: Stops) -> Status:
        """The first step of a start on a singular pose."""
        found = launch.towards(stops.next)
        if found is None:
            return Status.SINGULAR
        later, polynomials = found
        after = np.asarray(launch.march.expand())
        values, rates = (np.stack([polynomials[k], after[k]]) for k in (0, 1))
        times = np.array([launch.t, later])
        return self.take((Status.RUNNING, times, values, rates, times[:1], polynomials[None]), stops.held)

    def show(self) -> None:
        """Show the observer what it has not seen."""
        batches, self.waiting = self.waiting, []
        if batches and self.observer:
            self.observer(Batch.joined(batches))
        self.shown = time.perf_counter()

    @property
    def last(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Time, coordinates and velocities of the newest point."""
        t, q, v, _ = self.parts[-1]
        return float(t[-1]), q[-1], v[-1]

    def solution(
        self, status: str, message: str, statistics: dict[str, Any], system: System, structure: Any, *rest: Any
    ) -> Solution:
        sizes = [(0,), (0, self.n), (0, self.n), (0, system.m)]
        empty = tuple(np.zeros(size) for size in sizes)
        t, q, v, lam = (np.concatenate(column) for column in zip(*(self.parts or [empty]), strict=True))
        coefficients = None
        if self.keep and self.polynomials:
            # The kernel writes degree-major; a reader wants the polynomial of one unknown together.
            coefficients = np.ascontiguousarray(np.concatenate(self.polynomials).transpose(0, 2, 1))
        return Solution(t, q, v, lam, coefficients, status, message, statistics, system, structure, *rest)
