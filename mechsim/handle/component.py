"""A mechanism as a component of a larger system (seed 001 section 7): stepped from outside, with inputs."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from functools import cached_property
from hashlib import blake2b
from math import isfinite

import numpy as np

from mechsim.engine import BATCH_SECONDS, BATCH_STEPS, MESSAGES, State, order_for, state_of
from mechsim.engine.events import EventLog, Events, no_events
from mechsim.engine.launch import Launch
from mechsim.engine.machine import new_march
from mechsim.engine.points import Points
from mechsim.engine.stops import Passed, Stops
from mechsim.engine.watch import Watch
from mechsim.errors import Fault, IntegrationError, MechsimError
from mechsim.frozen import frozen
from mechsim.handle.run import Run, misfits
from mechsim.kernel.compiled import Status
from mechsim.kernel.system import System
from mechsim.model.mechanism import Mechanism, Port
from mechsim.result.layout import Array
from mechsim.result.motion import State as Named
from mechsim.spec.suggest import did_you_mean

JUMP = 1e-9  # of size or speed: a constraint that an input moves by more would need an infinite force


@frozen
class Snapshot:
    """A component at one time, to return to; it can be pickled."""

    time: float
    march: bytes
    stops: Passed
    launched: bool
    inputs: dict[str, float]  # as they are,
    wanted: dict[str, float]  # and as they were set since the last advance
    values: np.ndarray
    rates: np.ndarray
    mechanism: bytes  # which, with its numbers


class Inputs(MutableMapping[str, float]):
    """The inputs of a component by name. What is set counts from the next `advance` on."""

    def __init__(self, values: dict[str, float]):
        self._values = values

    def __getitem__(self, name: str) -> float:
        return self._values[self._known(name)]

    def __setitem__(self, name: str, value: float) -> None:
        number = float(value)
        if not isfinite(number):
            raise MechsimError(Fault(f"the input {name} must be a number, but is {number}"))
        self._values[self._known(name)] = number

    def __delitem__(self, name: str) -> None:
        raise TypeError("inputs are set, not removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Inputs({self._values})"

    def _known(self, name: str) -> str:
        if name not in self._values:
            hint = did_you_mean(name, self._values) or f"the file has the Inputs {', '.join(self._values) or '(none)'}"
            raise MechsimError(Fault(f"there is no input {name}", hint=hint))
        return name


class Component:
    """A mechanism that moves when it is told to: `advance(to=...)`, with `inputs` set between two calls.

    An input is held from the call on, or with `hold: linear` it goes from its value at the call to the new one at the
    time advanced to. Without new inputs many calls are one motion, bit by bit. `events` are those of the last call;
    one with `do: stop` ends the call where it comes, and `stopped` has its name: the next call goes on from there.
    """

    events: Events
    stopped: str

    def __init__(self, run: Run, until: float | None):
        prepared = run.prepared
        solver = prepared.spec.solver
        self.system: System = prepared.system
        self.mechanism: Mechanism = self.system.mechanism
        self.until = until
        self._tolerance = solver.tolerance
        self._plan = run.plan
        order = solver.order or order_for(solver.tolerance, self._plan)
        self._march = new_march(self._plan, order, solver.tolerance)
        self._start = prepared.start
        self._stops = Stops(self.system, self._start, float("inf"), remember=False)
        self._happened = EventLog(self.system, self._march, self._stops)
        self._watch = Watch(self.system, prepared.structure.redundancy.spare)
        self._bound = _binding(self.mechanism)
        self._begin()
        ports = self.mechanism.inputs.items()
        self._given = {name: float(self._stops.constants[port.value]) for name, port in ports}
        self._set = dict(self._given)
        self.inputs = Inputs(self._set)
        self._forget_events()

    @cached_property
    def _fingerprint(self) -> bytes:
        return _fingerprint(self.system)

    def _begin(self) -> None:
        start, march = self._start, self._march
        self._unknowns = state_of(self.system, self._plan.variable_offsets, start)
        march.set_state(start.t, self._unknowns)
        if (handed_on := getattr(start, "handed_on", None)) is not None:
            self._stops.hold_inputs(march, handed_on.stops, handed_on.plan.constants)
        self._happened.begin(start.t, start.positions, start.velocities)
        self._stops.begin(march)
        self._launched = not (start.singular and np.any(start.velocities))
        self.time = float(start.t)
        self._values, self._rates = start.positions.copy(), start.velocities.copy()

    @property
    def state(self) -> State:
        """Time, positions and velocities; `handle.simulate(start=...)` takes it too."""
        return State(self.time, self._values[: self.system.n].copy(), self._rates[: self.system.n].copy())

    @property
    def positions(self) -> Named:
        """By name: `sim.positions["A"]`."""
        return Named(self.mechanism, self._values[: self.system.n])

    @property
    def velocities(self) -> Named:
        return Named(self.mechanism, self._rates[: self.system.n], constant=0.0)

    def output(self, name: str) -> float | Array:
        """A signal of `Output`, a point, a coordinate (`A_x`, `theta_OA`) or its rate (`A_x_dot`)."""
        n = self.system.n
        if name in self.mechanism.readouts:
            element = self.mechanism.readouts[name]
            return float(self._stops.now.signals(element, self.time, self._values[:n], self._rates[:n])[0])
        if name.endswith("_dot") and name.removesuffix("_dot") in self.velocities:
            return self.velocities[name.removesuffix("_dot")]
        try:
            return self.positions[name]
        except KeyError:
            known = [*self.mechanism.readouts, *self.positions.places]
            raise MechsimError(Fault(f"there is no output {name}", hint=did_you_mean(name, known))) from None

    def advance(self, *, to: float) -> None:
        """Move on to this time. Raises IntegrationError where the motion cannot be followed; then it stays where it was
        followed to."""
        goal = float(to)
        if not self.time <= goal < float("inf"):
            raise MechsimError(Fault(f"a component at t = {self.time:g} cannot advance to {goal:g}"))
        if self.until is not None and goal > self.until:
            hint = "begin(tend=...) builds them for a longer time"
            raise MechsimError(Fault(f"tables are known to t = {self.until:g} only, not to {goal:g}", hint=hint))
        self._forget_events()
        if goal == self.time:
            return
        self._apply_inputs(goal)
        if not self._launched:
            self._launch(goal)
        try:
            self._move(goal)
        finally:
            self.events = self._happened.clear()

    def _move(self, goal: float) -> None:
        arrived = False
        while not arrived and not self.stopped:
            due = min(goal, self._stops.next)
            status = self._take(due)
            if status == Status.EVENT:
                self._fire()
            elif self._happened.endless:
                raise _stopped(Status.ENDLESS, self.time)
            elif status == Status.REACHED:
                arrived = due == goal
                if due == self._stops.next:
                    self._gain(self._stops.reached(self._march, *self._point))

    @property
    def _point(self) -> tuple[float, Array, Array]:
        n = self.system.n
        return self.time, self._values[:n], self._rates[:n]

    def _gain(self, gain: np.ndarray) -> None:
        """Accounts gain what potentials that jump do."""
        self._values[: self.system.n] += gain[:, 0]

    def _fire(self) -> None:
        """Do what the event asks for at which the march has stopped."""
        event = self.system.events[self._march.fired]
        ends, gain = self._happened.fired(*self._point)
        self._gain(gain)
        for name, port in self.mechanism.inputs.items():
            if port.value in event.constants:
                self._given[name] = self._set[name] = float(self._stops.constants[port.value])
        if ends:
            self.stopped = event.name
        elif self._happened.endless:
            raise _stopped(Status.ENDLESS, self.time)

    def _forget_events(self) -> None:
        self.events = no_events(self.system)
        self.stopped = ""

    def _take(self, goal: float) -> Status:
        advanced = self._march.advance(goal, BATCH_STEPS, BATCH_SECONDS, False)
        self._happened.take()
        status, t, x, v, _, _ = self._stops.accounted(advanced)
        if len(t):
            n = self.system.n
            watched = len(self._watch.rows) > 0
            good = self._watch.holds(Points(self._stops.now, t, x[:, :n], v[:, :n])) if watched else len(t)
            if good:
                self.time, self._values, self._rates = float(t[good - 1]), x[good - 1], v[good - 1]
            if self._watch.broken:
                message = f"{self._watch.broken} cannot be met with the other constraints after t = {self.time:.9g}"
                raise IntegrationError(Fault(message))
        if status not in (Status.REACHED, Status.RUNNING, Status.EVENT):
            raise _stopped(Status(status), self.time)
        return Status(status)

    def _launch(self, goal: float) -> None:
        """The first step from a singular pose."""
        start = self._start
        launch = Launch(self._march, self._plan, self.system, self._unknowns, start.t, start.fixed, self._tolerance)
        found = launch.towards(goal)
        if found is None:
            raise _stopped(Status.SINGULAR, start.t)
        self._launched = True
        self.time = found[0]

    def _apply_inputs(self, goal: float) -> None:
        changed: dict[int, float] = {}
        for name, port in self.mechanism.inputs.items():
            changed |= self._changes(name, port, goal)
        if changed:
            self._refuse_jump(changed)
            self._stops.set(self._march, changed)
            self._given.update(self._set)

    def _changes(self, name: str, port: Port, goal: float) -> dict[int, float]:
        """Constants that change where an input does."""
        before, after = self._given[name], self._set[name]
        if not port.slopes:
            return {port.value: after} if after != before else {}
        if after == before and self._stops.constants[port.slopes[0]] == 0:
            return {}
        return {port.value: before, port.slopes[0]: (after - before) / (goal - self.time), port.since: self.time}

    def _refuse_jump(self, changed: dict[int, float]) -> None:
        """What a constraint prescribes cannot jump."""
        if self._bound.isdisjoint(changed):
            return
        n, t = self.system.n, self.time
        after = self._stops.constants.copy()
        after[list(changed)] = list(changed.values())
        system = self.system.holding(after)
        self._refuse_overlap(system, changed)
        for what, off in misfits(system, t, self._values[:n], self._rates[:n]).items():
            if what == "velocities":  # a barrier that begins to move strikes what lies on it
                off[self.system.gap_rows] = 0.0
            if off.max() > JUMP:
                label = self.system.labels[n + int(np.argmax(off))]
                message = f"an input would make {what} jump at t = {t:g}: {label} would be off by {off.max():.3g}"
                raise IntegrationError(Fault(message, hint="no force can do that: let inputs act on forces"))

    def _refuse_overlap(self, system: System, changed: dict[int, float]) -> None:
        """A barrier does not jump over what is in front of it."""
        t, q, _ = self._point
        heights = system.gap_values(t, q) / self.system.constraint_sizes[self.system.gap_rows]
        for gap, height in zip(self.system.gaps, heights.tolist(), strict=True):
            moved = {-1 - slot for slot in self.mechanism.elements[gap.element].slots if slot < 0} & set(changed)
            if moved and height < -JUMP:
                message = f"an input would put the mechanism inside contact {gap.name} at t = {t:g}"
                raise IntegrationError(Fault(message, gap.mark, "let a barrier come by hold: linear, or with time"))

    def snapshot(self) -> Snapshot:
        """The component as it is now."""
        own = self._march.snapshot(), self._stops.passed, self._launched, dict(self._given), dict(self._set)
        return Snapshot(self.time, *own, self._values.copy(), self._rates.copy(), self._fingerprint)

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot of this component, or of another one of the same mechanism and parameters."""
        if not isinstance(snapshot, Snapshot) or snapshot.mechanism != self._fingerprint:
            message = "this is no snapshot of a component of the same mechanism with the same parameters"
            hint = "to go on from its state with other ones: handle.begin(parameters=..., start=component.state)"
            raise MechsimError(Fault(message, hint=hint))
        self._march.restore(snapshot.march)
        self._stops.resume(snapshot.stops)
        self._launched, self.time = snapshot.launched, snapshot.time
        self._given.update(snapshot.inputs)
        self._set.update(snapshot.wanted)
        self._values, self._rates = snapshot.values.copy(), snapshot.rates.copy()
        self._happened.clear()
        self._forget_events()


def _fingerprint(system: System) -> bytes:
    """Equal for systems that have the same coordinates, equations and numbers."""
    found = blake2b(repr(system.labels).encode(), digest_size=16)
    bounces = [(gap.restitution, gap.slow) for gap in system.gaps]
    for array in (system.constants, system.scales, bounces, *(group.constants for group in system.groups)):
        found.update(np.ascontiguousarray(array, dtype=float).tobytes())
    return found.digest()


def _stopped(status: Status, time: float) -> IntegrationError:
    return IntegrationError(Fault(f"the integration stopped: {MESSAGES[status]}, at t = {time:.9g}"))


def _binding(mechanism: Mechanism) -> set[int]:
    """Constants that enter a constraint."""
    slots = (slot for element in mechanism.elements if element.multipliers for slot in element.slots)
    return {-1 - slot for slot in slots if slot < 0}
