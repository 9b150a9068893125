"""A march with tangents that is followed in stretches, through breaks of tables, contacts and events."""

from __future__ import annotations

import numpy as np

from mechsim.engine import InitialState, state_of, why_ended
from mechsim.engine.control import SHARE_OF_AVERAGES
from mechsim.engine.events import EventLog
from mechsim.engine.machine import new_march
from mechsim.engine.stops import Stops
from mechsim.engine.tangents import Directions, HeldChanges
from mechsim.errors import Fault, IntegrationError
from mechsim.kernel.compiled import Status
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System

SECONDS = 0.1  # until Ctrl-C is heard


class Course:
    """A motion at its start, with tangents in these directions as the constraints allow them. Nothing is recorded."""

    def __init__(
        self,
        system: System,
        plan: Plan,
        start: InitialState,
        directions: Directions,
        order: int,
        tolerance: float,
        tend: float,
    ):
        self.system = system
        self.march = new_march(plan, order, tolerance, share=SHARE_OF_AVERAGES)
        self.stops = Stops(system, start, tend, remember=False, changes=HeldChanges(directions, system))
        self.events = EventLog(system, self.march, self.stops)
        self.march.set_state(start.t, state_of(system, plan.variable_offsets, start))
        directions.begin(self.march, plan, False)
        if system.events:
            self.events.begin(start.t, start.positions, start.velocities)
        self.stops.begin(self.march)
        self._last = start.positions, start.velocities
        self._check(self.march.advance(tend, 0, SECONDS, False)[0])

    @property
    def state(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Where it is: time, positions, velocities."""
        return self.march.time, *self._last

    def advance(self, end: float, steps: int) -> bool:
        """A stretch of some steps on the way to a time, no farther than the next break or event of the user, after what
        happens there: whether it was as long as was asked. Raises IntegrationError."""
        goal, n = min(end, self.stops.next), self.system.n
        status, _, x, v, *_ = self.march.advance(goal, steps, SECONDS, False)
        if len(x):
            self._last = x[-1, :n], v[-1, :n]
        self.events.take()
        if status == Status.EVENT:
            self._fired()
            status = self.march.advance(goal, 0, SECONDS, False)[0]  # tangents come behind the event
            self._check(status)
            return False
        self._check(status)
        if self.march.time == self.stops.next < self.stops.tend:
            self.stops.reached(self.march, self.march.time, *self._last)
        if self.events.endless:
            self._check(Status.ENDLESS)
        self.events.forget()
        return bool(status == Status.RUNNING)

    def orthonormalise(self, weights: np.ndarray) -> np.ndarray:
        """Make tangents orthonormal by these weights of the state; the logarithms of their lengths, (directions,)."""
        logarithms = self.march.orthonormalise_tangents(weights)
        if self.stops.changes is not None and self.system.events:  # what these have left goes along
            self.stops.changes.constants[:] = self.march.constant_changes()[: len(self.stops.constants)]
        return logarithms

    def _fired(self) -> None:
        ends, _ = self.events.fired(self.march.time, *self._last)
        if self.events.bonds.broken:
            raise IntegrationError(Fault(f"the integration stopped: {self.events.bonds.broken}"))
        if ends:
            message = f"the motion ends at t = {self.march.time:.9g}, where one of its events stops it"
            raise IntegrationError(Fault(message, hint="leave out `do: stop`, or ask for an earlier end"))
        if self.events.endless:
            self._check(Status.ENDLESS)

    def _check(self, status: int) -> None:
        if status in (Status.REACHED, Status.RUNNING, Status.EVENT):
            return
        reason = why_ended(status, self.march)
        raise IntegrationError(Fault(f"the integration stopped: {reason}, at t = {self.march.time:.9g}"))
