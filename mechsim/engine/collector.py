"""Gathers what a march returns, and shows it to the observer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from mechsim.engine.launch import Launch
from mechsim.engine.outline import Outline
from mechsim.engine.points import Points, Steps, joined
from mechsim.engine.segments import Log
from mechsim.engine.solution import Solution
from mechsim.engine.state import HandedOn
from mechsim.engine.watch import Watch
from mechsim.kernel.compiled import Status
from mechsim.kernel.march import Advance
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System
from mechsim.structure import Structure

Columns = tuple[np.ndarray, ...]


class Collector:
    """`log` has the segments until now: at a stop the next one begins before its first points come."""

    def __init__(
        self,
        system: System,
        log: Log,
        keep: str,
        observer: Callable[[Points], None] | None,
        watch: Watch,
        detailed: bool,
        tolerance: float,
    ):
        self.system, self.log, self.watch = system, log, watch
        self.keep, self.detailed, self.tolerance = keep, detailed, tolerance
        self.dense = keep == "polynomials" or detailed
        self.observer = observer
        self.parts: list[Columns] = []  # t, q, v, lam
        self.outline = Outline(beside=len(log.numbers)) if keep == "outline" else None  # instead of parts
        self.newest: Columns | None = None  # the last point
        self.polynomials: list[np.ndarray] = []
        # Not yet shown: stops may come too close together to show each.
        self.waiting: list[Columns] = []
        self.waiting_rows = 0
        self.waiting_steps: list[Columns] = []
        self.shown = 0.0

    def take(self, result: Advance) -> Status:
        status, t, x, v, starts, polynomials = result
        n = self.system.n
        good = self._good(t, x[:, :n], v[:, :n])
        steps = max(0, good - (len(t) - len(starts))) if self.dense else 0
        if self.keep == "polynomials" and steps:
            self.polynomials.append(polynomials[:steps])
        if good:
            part = t[:good], x[:good, :n], v[:good, :n], x[:good, n:]
            self.newest = tuple(column[-1] for column in part)
            if self.observer:
                self.waiting.append(part)
                self.waiting_rows += good
                self.waiting_steps += [(starts[:steps], polynomials[:steps])] if steps and self.detailed else []
            if self.outline is None:
                self.parts.append(part)
            elif self.outline.take(part):
                self.log.keep(np.concatenate([self.outline.times, *(each[0] for each in self.waiting)]))
        return Status(status)

    def _good(self, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> int:
        """At how many points, from the first on, all constraints hold; steps belong to the segment before their end."""
        if not self.watch.rows:
            return len(t)
        return self.watch.holds(Points(self.log.segments.system_at(self.system, t, "before"), t, q, v))

    def jump(self, gain: np.ndarray) -> None:
        """At the newest point, which is then that of the segment that begins, accounts gain so much (see Stops)."""
        newest = [parts[-1] for parts in (self.parts, self.waiting) if parts]
        if gain.any():
            for q in {id(part): part[1] for part in newest}.values():
                q[-1] += gain[:, 0]

    def resume(self, t: float, handed_on: HandedOn) -> None:
        """The point where a march that was stopped goes on."""
        x, rates = handed_on.x[None], handed_on.rates[None]
        self.take((Status.RUNNING, np.array([t]), x, rates, np.zeros(0), np.zeros((0, 0, x.shape[1]))))

    def launch(self, launch: Launch, stop: float) -> Status:
        """The first step of a start on a singular pose."""
        found = launch.towards(stop)
        if found is None:
            return Status.SINGULAR
        later, polynomials = found
        after = np.asarray(launch.march.expand())
        values, rates = (np.stack([polynomials[k], after[k]]) for k in (0, 1))
        times = np.array([launch.t, later])
        return self.take((Status.RUNNING, times, values, rates, times[:1], polynomials[None]))

    def show_in_time(self, seconds: float, rows: int) -> None:
        """Show after so many seconds, but never more rows at once: memory must not depend on how fast steps are."""
        if time.perf_counter() - self.shown >= seconds or self.waiting_rows >= rows:
            self.show()

    def show(self) -> None:
        """Show the observer what it has not seen. At a jump a point is that of the segment that begins."""
        if self.waiting and self.observer:
            segments = self.log.segments
            t, q, v, lam = joined(self.waiting)
            steps = None
            if self.waiting_steps:
                starts, polynomials = joined(self.waiting_steps)
                steps = Steps(segments, starts, polynomials, self.tolerance)
            self.waiting, self.waiting_steps, self.waiting_rows = [], [], 0
            self.observer(Points(segments.system_of_rows(self.system, t), t, q, v, lam, steps=steps))
        self.shown = time.perf_counter()

    @property
    def last(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Time, coordinates and velocities of the newest point."""
        assert self.newest is not None
        t, q, v, _ = self.newest
        return float(t), q, v

    def solution(
        self,
        status: str,
        message: str,
        statistics: Mapping[str, float],
        equations: tuple[System, Structure, Plan],
        order: int,
        tolerance: float,
        handed_on: HandedOn | None,
    ) -> Solution:
        system = equations[0]
        sizes = [(0,), (0, system.n), (0, system.n), (0, system.m)]
        if self.outline is not None and self.outline.rows:
            t, q, v, lam = self.outline.columns
        else:
            t, q, v, lam = joined(self.parts or [[np.zeros(size) for size in sizes]])
        coefficients = None
        if self.polynomials:
            # The kernel writes degree-major; a reader wants the polynomial of one unknown together.
            coefficients = np.ascontiguousarray(np.concatenate(self.polynomials).transpose(0, 2, 1))
        if self.keep == "outline":
            self.log.keep(t)
        segments = replace(self.log.segments, end=float(t[-1])) if len(t) else self.log.segments
        ending = status, message, statistics
        return Solution(t, q, v, lam, coefficients, segments, *ending, *equations, order, tolerance, handed_on)
