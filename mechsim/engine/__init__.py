"""The Taylor DAE engine: one loop over batches of kernel steps. It knows offsets and programs, never mechanics."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mechsim.engine.control import LARGEST_ORDER, SMALLEST_ORDER, order_for
from mechsim.engine.launch import Launch
from mechsim.engine.leading import planned
from mechsim.engine.machine import new_march
from mechsim.engine.solution import Batch, Held, Solution
from mechsim.engine.state import HandedOn, State, state_of
from mechsim.engine.stops import Stops
from mechsim.engine.watch import Watch
from mechsim.kernel.compiled import Status
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System

__all__ = ["LARGEST_ORDER", "SMALLEST_ORDER", "Batch", "Solution", "State", "integrate", "order_for", "state_of"]

BATCH_SECONDS = 0.05  # a batch ends after this, so that progress is shown and Ctrl-C is heard
BATCH_STEPS = 4096
OUTLINE = 200_000  # numbers: some 2 MB
LAST_KEPT = 8  # points at the end of an outline: they tell why a march stopped
HANDED_ON = ("finished", "interrupted")  # endings from which a march may go on

MESSAGES = {
    Status.STEP_TOO_SMALL: "the step size fell below what the time can resolve",
    Status.SINGULAR: "the equations became singular: accelerations or reactions are not determined there",
    Status.NOT_FINITE: "the motion left the range where its equations have values",
    Status.NOT_PROJECTED: "the constraints could not be met again after a step",
}


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
    detailed: bool = False,
    ready: tuple[Plan, Any] | None = None,
) -> Solution:
    """March from a consistent start (a State, or what has its attributes) to `tend`. Failure is a status of the
    Solution, not an exception. From the `ending` of another Solution the motion goes on as if it had not been stopped.

    `keep`: "polynomials" of all steps, all "steps", or an "outline": points all along the march, and its last ones,
    which take no more memory however long it is. `detailed`: the observer gets the polynomials with each batch.
    `ready`: the plan of the system and a march of it, with order and tolerance as here, where these are known.
    """
    began = time.perf_counter()
    plan = ready[0] if ready is not None else planned(system, structure)
    order = order or order_for(tolerance, plan)
    march = ready[1] if ready is not None else new_march(plan, order, tolerance, fixed_step)
    state = state_of(system, plan.variable_offsets, start)
    march.set_state(start.t, state)
    watch = Watch(system, structure.redundancy.spare)
    collector = _Collector(system.n, keep, observer, watch, detailed)
    stops = Stops(system, start, tend, remember=keep != "outline")
    handed_on = getattr(start, "handed_on", None)
    if handed_on is not None and handed_on.fits(plan, order, tolerance):
        march.restore(handed_on.march)
        stops.resume(handed_on.stops)
        collector.resume(start.t, handed_on, stops.held)
    earlier = march.statistics
    prepared = time.perf_counter()
    status, interrupted = Status.RUNNING, False
    try:
        stops.begin(march)
        if start.singular and np.any(start.velocities):
            status = collector.launch(Launch(march, plan, system, state, start.t, start.fixed, tolerance), stops)
        while status == Status.RUNNING and not watch.broken:
            goal = stops.next
            status = collector.take(march.advance(goal, BATCH_STEPS, BATCH_SECONDS, collector.dense), stops.held)
            if status == Status.REACHED and goal != tend and not watch.broken:
                stops.reached(march, *collector.last)
                collector.hold(stops.held)
                status = Status.RUNNING
            collector.show_in_time()
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
    counts = {key: value - earlier[key] for key, value in march.statistics.items() if isinstance(value, int)}
    times = {"seconds": seconds, "preparation_seconds": prepared - began}
    statistics = {**march.statistics, **counts, "order": order, **times}
    held = Held.of(stops.history)
    left = _handed_on(march, plan, order, tolerance, stops, collector) if name in HANDED_ON else None
    return collector.solution(name, message, statistics, system, structure, plan, order, tolerance, held, left)


def _handed_on(
    march: Any, plan: Plan, order: int, tolerance: float, stops: Stops, collector: _Collector
) -> HandedOn | None:
    """What a march hands on where it was stopped, unless an interrupt came before its last batch was taken."""
    if not collector.parts or march.time != collector.last[0]:
        return None
    _, q, v, lam = (column[-1] for column in collector.parts[-1])
    x, rates = np.concatenate([q, lam]), np.concatenate([v, np.zeros_like(lam)])
    return HandedOn(plan, order, tolerance, march.snapshot(), stops.state, x, rates)


class _Collector:
    """Gathers what the march returns, and shows each batch to the observer."""

    def __init__(self, n: int, keep: str, observer: Callable[[Batch], None] | None, watch: Watch, detailed: bool):
        self.n = n
        self.watch = watch
        self.keep, self.detailed = keep, detailed
        self.dense = keep == "polynomials" or detailed
        self.observer = observer
        self.parts: list[tuple[np.ndarray, ...]] = []
        self.rows = 0  # in all parts
        self.polynomials: list[np.ndarray] = []
        self.waiting: list[Batch] = []  # not yet shown: stops may come too close together to show each
        self.shown = 0.0

    def take(self, result: Any, constants: np.ndarray | None) -> Status:
        status, t, x, v, _, polynomials = result
        held = None if constants is None else np.tile(constants, (len(t), 1))
        batch = Batch(t, x[:, : self.n], v[:, : self.n], x[:, self.n :], held)
        if self.dense:
            during = None if constants is None else np.tile(constants, (len(polynomials), 1))
            starts = self._starts(t, len(polynomials))
            batch = replace(batch, polynomials=polynomials, starts=starts, during=during)
        good = self.watch.holds(batch)
        if good < len(t):
            batch = batch.first(good)
        if self.keep == "polynomials" and batch.polynomials is not None and len(batch.polynomials):
            self.polynomials.append(batch.polynomials)
        if good:
            self.parts.append((batch.t, batch.q, batch.v, batch.lam))
            self.rows += good
            self.waiting.append(batch if self.detailed else replace(batch, polynomials=None, starts=None, during=None))
            if self.keep == "outline":
                self._thin()
        return Status(status)

    def resume(self, t: float, handed_on: HandedOn, constants: np.ndarray | None) -> None:
        """The point where a march that was stopped goes on."""
        x, rates = handed_on.x[None], handed_on.rates[None]
        nothing = np.zeros((0, 0, x.shape[1]))
        self.take((Status.RUNNING, np.array([t]), x, rates, np.zeros(0), nothing), constants)

    def hold(self, constants: np.ndarray | None) -> None:
        """At the newest point constants change: what they are worth from there on, they are worth there."""
        if constants is not None and self.waiting and self.waiting[-1].constants is not None:
            self.waiting[-1].constants[-1] = constants

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

    def _starts(self, ends: np.ndarray, steps: int) -> np.ndarray:
        """Where each step began: at the point before its end, which the batch before may have."""
        before = ends[: len(ends) - steps] if len(ends) > steps else self.parts[-1][0][-1:] if self.parts else ends[:0]
        return np.concatenate([before, ends[-steps:-1]]) if steps else ends[:0]

    def _thin(self) -> None:
        """When there are too many points keep half of them: the last ones, and of the others as many evenly in time as
        evenly in number, for steps crowd before a pole."""
        width = sum(column[0].size for column in self.parts[0])
        while self.rows > max(4 * LAST_KEPT, OUTLINE // width):
            columns = [np.concatenate(column) for column in zip(*self.parts, strict=True)]
            t, others = columns[0], self.rows - LAST_KEPT
            in_time = np.abs(t - t[0]).searchsorted(np.linspace(0.0, abs(t[-1] - t[0]), others // 4))
            last = np.arange(others, self.rows)
            kept = np.unique(np.concatenate([np.arange(0, others, 4), np.minimum(in_time, others), last]))
            self.parts = [tuple(column[kept] for column in columns)]
            self.rows = len(kept)

    def show_in_time(self) -> None:
        if time.perf_counter() - self.shown >= BATCH_SECONDS:
            self.show()

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
        if self.polynomials:
            # The kernel writes degree-major; a reader wants the polynomial of one unknown together.
            coefficients = np.ascontiguousarray(np.concatenate(self.polynomials).transpose(0, 2, 1))
        return Solution(t, q, v, lam, coefficients, status, message, statistics, system, structure, *rest)
