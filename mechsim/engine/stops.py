"""Times the march must step on exactly: breaks of tables and piecewise functions, and sampling times of controllers.

Between two stops everything is smooth; at a stop constants of the mechanism change, and a segment begins. A potential
that jumps there takes or gives energy at once, which its account gains. Nothing reads an account, so the march goes on
without these gains: they are added to what it returns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mechsim.engine.segments import Log, changing
from mechsim.errors import Fault, IntegrationError
from mechsim.frozen import frozen
from mechsim.kernel.march import Advance, March
from mechsim.kernel.system import System
from mechsim.model.mechanism import Sampler, Watched

if TYPE_CHECKING:
    from mechsim.engine.state import InitialState
    from mechsim.engine.tangents import HeldChanges

CLOSE = 1e-9  # of a period: two stops nearer than this are one, however their times were rounded


@frozen
class Passed:
    """Where stops were when a march was stopped: switches made, samples taken, all constants, those of samplers, and
    what accounts had gained."""

    switches: int
    samples: tuple[int, ...]
    constants: np.ndarray
    sampled: tuple[tuple[float, ...], ...]
    gained: np.ndarray


class Stops:
    """The stops between a start and `tend`, the constants as they are now, and the `log` of segments until now, which
    need not be remembered."""

    def __init__(
        self,
        system: System,
        start: InitialState,
        tend: float,
        remember: bool = True,
        changes: HeldChanges | None = None,
    ):
        self.system, self.start, self.tend = system, start, tend
        self.changes = changes  # of these constants where the motion is differentiated
        self.constants = system.constants.copy()
        self.switches = sorted(system.switches, key=lambda switch: switch.time)
        self.samplers = system.samplers
        if (self.switches or self.samplers) and tend < start.t:
            raise IntegrationError(Fault("tables and sampled controllers cannot be followed backwards in time"))
        self.taken = 0  # switches already made
        self.counts = [self._passed(sampler, math.floor) for sampler in self.samplers]  # samples taken, of each
        self.log = Log(
            changing(
                self.switches, self.samplers, system.gaps, system.events, system.mechanism.pairs, system.frictions
            ),
            self.constants,
            start.t,
            tend,
            remember,
        )
        self.next = tend
        self.resumed = False
        # What accounts have gained at stops, (n, 1 + directions): values, and their changes where these are wanted.
        self.gained = np.zeros((system.n, 1 + (changes.directions.count if changes else 0)))
        self._jumps = any(group.kind.account and group.kind.potential for group in system.groups)

    @property
    def now(self) -> System:
        """The system as it is now."""
        return self.system.holding(self.constants)

    @property
    def passed(self) -> Passed:
        """What a march that is stopped hands on."""
        sampled = [tuple(self.constants[list(sampler.constants)].tolist()) for sampler in self.samplers]
        return Passed(self.taken, tuple(self.counts), self.constants.copy(), tuple(sampled), self.gained.copy())

    def resume(self, passed: Passed) -> None:
        """Go on from there, with a march that does too."""
        self.taken, self.counts, self.constants = passed.switches, list(passed.samples), passed.constants.copy()
        self.gained[:] = passed.gained
        self.log.begin(self.start.t, self.constants)
        self.resumed = True
        self.next = min(self._pending(), self.tend)

    def hold(self, march: March, passed: Passed) -> None:
        """What samplers held is part of the state, for any march that begins there. Tables are functions of time."""
        if [len(sampler.constants) for sampler in self.samplers] == [len(values) for values in passed.sampled]:
            self.counts = [self._passed(sampler, math.ceil) for sampler in self.samplers]
            for sampler, values in zip(self.samplers, passed.sampled, strict=True):
                self.set(march, dict(zip(sampler.constants, values, strict=True)))

    def hold_inputs(self, march: March, passed: Passed, begun_with: np.ndarray) -> None:
        """So are inputs that events have set: they are others than the constants that the march had `begun_with`."""
        given = {number for event in self.system.events if not event.switch for number in event.constants}
        if not given or len(passed.constants) != len(self.constants):
            return
        held = {number: float(passed.constants[number]) for number in sorted(given)}
        self.set(march, {number: value for number, value in held.items() if value != begun_with[number]})
        self.log.begin(self.start.t, self.constants)

    def begin(self, march: March) -> np.ndarray:
        """Set the constants for the start itself; what accounts gain by it, if the motion comes from before."""
        still_to_come = self.resumed and self._pending() > self.start.t  # however close
        if (self.switches or self.samplers) and not still_to_come:
            gain = self.reached(march, self.start.t, self.start.positions, self.start.velocities)
            if self.resumed:
                return gain
            self.gained[:] = 0.0
        return np.zeros_like(self.gained)

    def reached(self, march: March, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Make every change that is due at t, and find the next stop; what accounts gain by it."""
        before = self._potentials(march, t, q, v)
        self._change(march, t, q, v)
        gain = self._potentials(march, t, q, v) - before
        self.gained += gain
        return gain

    def changed(
        self,
        march: March,
        t: float,
        q: np.ndarray,
        v: np.ndarray,
        values: dict[int, float],
        event: Watched | None = None,
    ) -> np.ndarray:
        """An event gives constants other values, by the state if it is named; what accounts gain by it."""
        before = self._potentials(march, t, q, v)
        if self.changes and event:
            self.changes.given(march, event, self.now, (t, q, v))
        self.set(march, values)
        self.log.begin(t, self.constants)
        gain = self._potentials(march, t, q, v) - before
        self.gained += gain
        return gain

    def accounted(self, result: Advance) -> Advance:
        """What a march returns, with what accounts have gained before."""
        if self._jumps:
            gained = self.gained[:, 0]
            _, _, x, _, _, polynomials = result
            x[:, : len(gained)] += gained
            if len(polynomials):
                polynomials[:, 0, : len(gained)] += gained
        return result

    def _potentials(self, march: March, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Those that have accounts, as they are now, like `gained`."""
        found = np.zeros_like(self.gained)
        if self._jumps:
            found[:, 0] = self.now.accounted_potentials(t, q)
            if self.changes:
                found[:, 1:] = self.changes.potentials(march, self.now, (t, q, v))
        return found

    def _change(self, march: March, t: float, q: np.ndarray, v: np.ndarray) -> None:
        changed: dict[int, float] = {}
        while self.taken < len(self.switches) and self.switches[self.taken].time <= t:
            changed.update(self.switches[self.taken].values)
            if self.changes:
                self.changes.switched(march, self.taken, tuple(self.switches[self.taken].values))
            self.taken += 1
        self.set(march, changed)
        for number, sampler in enumerate(self.samplers):
            if self._due(number) <= t + CLOSE * sampler.period:
                values = self.now.signals(sampler.element, t, q, v)
                if self.changes:
                    self.changes.sampled(march, sampler, self.now, (t, q, v))
                self.set(march, dict(zip(sampler.constants, values, strict=True)))
                self.counts[number] += 1
        self.log.begin(t, self.constants)
        self.next = min(self._pending(), self.tend)

    def set(self, march: March, values: dict[int, float]) -> None:
        """Let constants have other values from here on."""
        for number, value in values.items():
            self.constants[number] = value
            march.set_constant(number, float(value))

    def _pending(self) -> float:
        """When the next change is due."""
        switches = [switch.time for switch in self.switches[self.taken : self.taken + 1]]
        return min([*switches, *(self._due(number) for number in range(len(self.samplers)))], default=math.inf)

    def _due(self, number: int) -> float:
        """When a sampler is due next. Samples are counted, for times far from zero are too coarse to be divided."""
        sampler = self.samplers[number]
        return sampler.start + self.counts[number] * sampler.period

    def _passed(self, sampler: Sampler, rounded: Callable[[float], int]) -> int:
        """How many samples come before the start, for a start that is later than the sampler's."""
        periods = (self.start.t - sampler.start) / sampler.period
        near = round(periods)
        return max(0, near if abs(periods - near) <= CLOSE else rounded(periods))
