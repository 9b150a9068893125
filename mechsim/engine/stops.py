"""Times the march must step on exactly: breaks of tables and piecewise functions, and sampling times of controllers.

Between two stops everything is smooth; at a stop constants of the mechanism change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mechsim.errors import Fault, IntegrationError
from mechsim.kernel.system import System

CLOSE = 1e-9  # of a period: two stops nearer than this are one, however their times were rounded


class Stops:
    """The stops between a start and `tend`, and the constants as they are now. The `history` of constants has all their
    changes, or the last one if it need not be remembered."""

    def __init__(self, system: System, start: Any, tend: float, remember: bool = True, changes: Any = None):
        self.system, self.start, self.tend, self.remember = system, start, tend, remember
        self.changes = changes  # of these constants where the motion is differentiated: HeldChanges, or None
        self.constants = system.constants.copy()
        self.switches = sorted(system.switches, key=lambda switch: switch.time)
        self.samplers = system.samplers
        if (self.switches or self.samplers) and tend < start.t:
            raise IntegrationError(Fault("tables and sampled controllers cannot be followed backwards in time"))
        self.taken = 0  # switches already made
        self.counts = [0] * len(self.samplers)  # samples already taken, of each
        self.history: list[tuple[float, np.ndarray]] = [(start.t, self.constants.copy())]
        self.next = tend

    @property
    def held(self) -> np.ndarray | None:
        """The constants as they are now, or None where nothing ever changes them."""
        return self.constants.copy() if self.switches or self.samplers else None

    @property
    def state(self) -> tuple[int, tuple[int, ...], np.ndarray]:
        """What a march that is stopped hands on: switches made, samples taken, and the constants."""
        return self.taken, tuple(self.counts), self.constants.copy()

    def resume(self, state: tuple[int, tuple[int, ...], np.ndarray]) -> None:
        """Go on from there."""
        self.taken, self.constants = state[0], state[2].copy()
        self.counts = list(state[1])
        self.history = [(self.start.t, self.constants.copy())]
        self.next = min(self._times_ahead())

    def begin(self, march: Any) -> None:
        """Set the constants for the start itself."""
        if self.switches or self.samplers:
            self.reached(march, self.start.t, self.start.positions, self.start.velocities)

    def reached(self, march: Any, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """Make every change that is due at t, and find the next stop."""
        changed: dict[int, float] = {}
        while self.taken < len(self.switches) and self.switches[self.taken].time <= t:
            changed.update(self.switches[self.taken].values)
            if self.changes:
                self.changes.switched(march, self.taken, tuple(self.switches[self.taken].values))
            self.taken += 1
        self.set(march, changed)
        for number, sampler in enumerate(self.samplers):
            if self._due(number) <= t + CLOSE * sampler.period:
                held = self.system.holding(self.constants)
                values = held.signals(sampler.element, t, q, v)
                if self.changes:
                    self.changes.sampled(march, sampler, held, (t, q, v))
                self.set(march, dict(zip(sampler.constants, values, strict=True)))
                self.counts[number] += 1
        if not self.remember:
            del self.history[1:]
        self.history.append((t, self.constants.copy()))
        self.next = min(self._times_ahead())

    def set(self, march: Any, values: dict[int, float]) -> None:
        """Let constants have other values from here on."""
        for number, value in values.items():
            self.constants[number] = value
            march.set_constant(number, float(value))

    def _times_ahead(self) -> list[float]:
        times = [self.tend]
        if self.taken < len(self.switches):
            times.append(self.switches[self.taken].time)
        times += [self._due(number) for number in range(len(self.samplers))]
        return [time for time in times if time <= self.tend]

    def _due(self, number: int) -> float:
        """When a sampler is due next. Samples are counted, for times far from zero are too coarse to be divided."""
        sampler = self.samplers[number]
        return sampler.start + self.counts[number] * sampler.period
