"""What happened along a motion, as pictures mark it: when, where, and which way the impulse went."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mechsim.engine.events import FRICTION, Event
from mechsim.frozen import frozen
from mechsim.render.frames import Frames, sample
from mechsim.render.gaps import Meeting, meetings
from mechsim.render.rows import Drawable, table_of
from mechsim.render.scene import Scene
from mechsim.render.touches import stands, touch
from mechsim.result.layout import Array

MOST = 20_000  # events that are marked; of more, evenly some
MOST_TIMES = 1.5  # as long as an arrow of usual strength is that of the strongest impulse


@frozen(eq=False)
class Marks:
    """Events in the order of time, as columns."""

    events: tuple[Event, ...]
    t: Array  # (k,)
    places: Array  # (k, dimension); NaN: nowhere in particular
    pushes: Array  # (k, dimension), N s: on the point that is pushed
    returned: NDArray[np.bool_]  # (k,), whether another point that moves was pushed back
    usual: float  # an impulse of usual strength, N s; 0: there is none

    def __len__(self) -> int:
        return len(self.t)

    def between(self, first: float, last: float) -> range:
        """Numbers of those after `first` and not after `last`."""
        low, high = np.searchsorted(self.t, (first, last), side="right")
        return range(int(low), int(high))

    def named(self) -> NDArray[np.bool_]:
        """Which are events of the user."""
        return np.array([event.kind == "event" for event in self.events], bool)


def marks_of(trajectory: Drawable, scene: Scene) -> Marks | None:
    """Of the events that results tell; None without any."""
    events = table_of(trajectory).events
    known = {gap.name for gap in scene.mechanism.gaps} | {event.name for event in scene.mechanism.events}
    known |= {FRICTION + friction.name for friction in scene.mechanism.frictions}
    if events is None or not known.issuperset(events.names):
        return None
    rubs = np.array([name.startswith(FRICTION) for name in events.names], bool)
    told = np.flatnonzero(~rubs[events.column("gap").astype(int)])  # what sticks and slips is seen
    if not len(told):
        return None
    numbers = told[np.unique(np.linspace(0, len(told) - 1, min(len(told), MOST)).astype(int))]
    chosen = tuple(events[number] for number in numbers.tolist())
    t = np.array([event.t for event in chosen])
    there = sample(trajectory, t, scene)
    places, pushes = np.full((len(t), scene.dimension), np.nan), np.zeros((len(t), scene.dimension))
    returned, impulses = np.zeros(len(t), bool), events.column("impulse")[numbers]
    gaps = events.column("gap")[numbers].astype(int)
    pairs = {pair.name: pair for pair in scene.mechanism.pairs}
    for name, pair in pairs.items():
        own = np.flatnonzero([events.names[gap] == name for gap in gaps])
        if len(own):
            places[own], ways = touch(pair, at(there, own), scene.mechanism.constants, _ranks(t[own]))
            returned[own] = not stands(pair.first) and not stands(pair.second)
            pushes[own] = impulses[own, None] * (-ways if stands(pair.first) else ways)
    for meeting in meetings(scene):
        if meeting.gap.name in pairs:
            continue
        own = np.flatnonzero([each == meeting.gap.name for each in (events.names[gap] for gap in gaps)])
        if not len(own):
            continue
        places[own], pushes[own] = _meeting(meeting, at(there, own), impulses[own])
        returned[own] = meeting.sort == "pair" and all(map(meeting.moves, meeting.points))
    usual = float(np.linalg.norm(pushes, axis=1).max()) / MOST_TIMES
    return Marks(chosen, t, places, pushes, returned, usual)


def with_marks(frames: Frames, trajectory: Drawable, scene: Scene) -> Frames:
    """The same frames with what happened along their motion."""
    return replace(frames, marks=marks_of(trajectory, scene))


def _meeting(meeting: Meeting, there: Frames, impulses: Array) -> tuple[Array, Array]:
    """Where a gap met at some moments, and the impulse on the point that was pushed."""
    places = meeting.places(there)
    if not meeting.pushed or meeting.sort == "turn" or meeting.gap.bond:  # rows of a bond have one impulse together
        return places, np.zeros_like(places)
    return places, impulses[:, None] * meeting.slopes(there, meeting.pushed)


def _ranks(t: Array) -> NDArray[np.int64]:
    """Of each time how many before it are the same."""
    return np.arange(len(t)) - np.searchsorted(t, t)


def at(frames: Frames, moments: NDArray[np.int64]) -> Frames:
    """Some moments of frames, without parts and energies."""
    return Frames(
        frames.t[moments],
        {name: places[moments] for name, places in frames.points.items()},
        {},
        {},
        {},
        frames.coordinates[moments],
        frames.rates[moments],
    )
