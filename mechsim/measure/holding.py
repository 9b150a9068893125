"""How constants change with parameters that tables, controllers and events set along a motion, from each such time on.

The march knows them while it runs (engine/tangents.py: HeldChanges); here they are found again from its solution.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import cast

import numpy as np

from mechsim.engine.solution import Solution
from mechsim.engine.stops import CLOSE
from mechsim.engine.tangents import Directions, HeldChanges, Point
from mechsim.frozen import frozen
from mechsim.kernel.march import March
from mechsim.kernel.system import System
from mechsim.measure.bernstein import Array
from mechsim.model.mechanism import Sampler, Watched

Setter = int | Sampler | Watched  # what sets constants: a switch by its number, and others
Stop = tuple[float, Setter, Array]  # when, and how that time moves


@frozen(eq=False)
class _Standing:
    """What HeldChanges asks of a march where it stands: changes of positions and velocities, and of the time."""

    state: Array  # (2, n, directions)
    late: Array

    def tangent_coefficients(self, whole: bool) -> Array:
        return self.state

    def event_change(self) -> Array:
        return self.late

    def set_constant_change(self, number: int, change: Array) -> None:
        pass


NOWHERE = cast(March, _Standing(np.zeros((2, 0, 0)), np.zeros(0)))  # what tables set needs no state


def held_changes(solution: Solution, directions: Directions) -> tuple[Array, Array]:
    """Times from which constants change otherwise, and how: (times, constants, directions)."""
    changes, now = HeldChanges(directions, solution.system), solution.system
    switches = sorted(solution.system.switches, key=lambda switch: switch.time)
    times, found = [-np.inf], [changes.constants.copy()]
    for time, setter, moved in sorted(stops_of(solution, directions.count), key=lambda stop: stop[0]):
        now = now if time == times[-1] else solution.system_at(time, "before")  # at one time one acts after the other
        if isinstance(setter, int):
            changes.switched(NOWHERE, setter, tuple(switches[setter].values))
            now = _holding(now, switches[setter].values)
        else:
            now = _set(changes, setter, now, _state(solution, time), _standing(solution, time, moved))
        times.append(time)
        found.append(changes.constants.copy())
    return np.array(times), np.stack(found)


def _set(changes: HeldChanges, setter: Sampler | Watched, now: System, point: Point, standing: _Standing) -> System:
    """The system once a sampler or an event has set its constants, whose changes are noted."""
    signals, march = now.signals(setter.element, *point).tolist(), cast(March, standing)
    if isinstance(setter, Sampler):
        changes.sampled(march, setter, now, point)
        return _holding(now, dict(zip(setter.constants, signals, strict=True)))
    changes.given(march, setter, now, point)
    return _holding(now, dict(zip(setter.constants, signals[1:], strict=True)))


def _holding(system: System, values: Mapping[int, float]) -> System:
    constants = system.constants.copy()
    constants[list(values)] = list(values.values())
    return system.holding(constants)


def _state(solution: Solution, time: float) -> Point:
    q, v, _ = (each[0] for each in solution.evaluate(np.array([time]), "before"))
    return time, q[: solution.system.n], v[: solution.system.n]


def _standing(solution: Solution, time: float, moved: Array) -> _Standing:
    """Changes where the march stood: those at that time, and by how much it moves."""
    assert solution.tangents is not None
    n, (_, v, a) = solution.system.n, (each[0] for each in solution.evaluate(np.array([time]), "before"))
    changes = [each[0, :n] for each in solution.tangents.evaluate(time, "before")]
    rates = v[:n], a[:n]
    return _Standing(np.stack([each + np.outer(rate, moved) for each, rate in zip(changes, rates, strict=True)]), moved)


def stops_of(solution: Solution, count: int) -> Iterator[Stop]:
    """In the order of the march at each time: switches, samplers, then events."""
    system, still = solution.system, np.zeros(count)
    begin, end = float(solution.t[0]), float(solution.t[-1])
    times = sorted(switch.time for switch in system.switches)
    yield from ((time, number, still) for number, time in enumerate(times) if time <= end)
    for sampler in system.samplers:
        first = max(0, math.ceil((begin - sampler.start) / sampler.period - CLOSE))
        last = math.floor((end - sampler.start) / sampler.period + CLOSE)
        for sample in range(first, last + 1):
            yield _begun(solution, sampler.start + sample * sampler.period, CLOSE * sampler.period), sampler, still
    if solution.events is None or solution.tangents is None:
        return
    setting = {event.name: event for event in system.events if event.constants and not event.switch}
    for event, moved in zip(solution.events if setting else (), solution.tangents.events, strict=False):
        if event.gap in setting:
            yield event.t, setting[event.gap], moved


def _begun(solution: Solution, time: float, close: float) -> float:
    """When the march took a sample that was due then: stops that are close to each other are one."""
    starts = solution.segments.starts
    place = int(np.searchsorted(starts, time))
    near = min(starts[max(place - 1, 0) : place + 1].tolist(), key=lambda start: abs(start - time))
    return near if abs(near - time) <= close else time
