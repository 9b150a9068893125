"""What happens at gaps along a march: impacts, contacts that begin and that end.

The kernel finds and meets them (kernel/src/events.cpp). Here they are written down, and tell where segments begin: what
is closed is a constant of the mechanism, so the segments of a motion carry it as they do all else that changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mechsim.engine.stops import Stops
from mechsim.kernel.march import March
from mechsim.kernel.system import System

MOST_AT_ONCE = 1000  # events of the user at one time
COLUMNS = ("t", "gap", "before", "after", "impulse", "lost", "was_closed", "is_closed")


@dataclass(frozen=True, slots=True)
class Event:
    """At the time `t` the gap's rate went from `before` to `after` by an `impulse`, and the energy `lost` was gone.

    `kind`: "impact"; "contact", if it stays closed from here on; "release", if it opens; or "event", one of the user's,
    whose name is then in `gap`.
    """

    t: float
    gap: str
    kind: str
    before: float
    after: float
    impulse: float
    lost: float


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """All events of a motion in the order of time, as columns; and as a list of them."""

    names: tuple[str, ...]  # of all gaps, then of the user's events
    table: np.ndarray  # (events, columns), see COLUMNS
    overlaps: np.ndarray  # the least that each gap was, over its size, where that is negative

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, number: int) -> Event:
        t, gap, before, after, impulse, lost, was_closed, is_closed = self.table[number].tolist()
        kind = (
            "event"
            if gap >= len(self.overlaps)
            else "impact"
            if was_closed == is_closed
            else "contact"
            if is_closed
            else "release"
        )
        return Event(t, self.names[int(gap)], kind, before, after, impulse, lost)

    def __iter__(self) -> Iterator[Event]:
        return (self[number] for number in range(len(self)))

    def column(self, name: str) -> np.ndarray:
        return self.table[:, COLUMNS.index(name)]

    def of(self, gap: str) -> Events:
        """Those of one gap."""
        return Events(self.names, self.table[self.column("gap") == self.names.index(gap)], self.overlaps)


def no_events(system: System) -> Events:
    names = *(gap.name for gap in system.gaps), *(event.name for event in system.events if not event.switch)
    return Events(names, np.zeros((0, len(COLUMNS))), np.zeros(len(system.gaps)))


class EventLog:
    """Takes what a march tells of its gaps, and begins a segment at each event."""

    def __init__(self, system: System, march: March, stops: Stops):
        self.system, self.march, self.stops = system, march, stops
        self.parts: list[np.ndarray] = []
        self._last, self._count = np.nan, 0
        self._sizes = system.constraint_sizes[system.gap_rows] if system.gaps else np.ones(0)

    def begin(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """Let switches be as they are at the start; those that are just at zero the kernel throws, if need be."""
        for event in self.system.events:
            if event.switch and self.stops.now.signals(event.element, t, q, v)[0] < 0:
                self.stops.changed(self.march, t, q, v, {event.constants[0]: -1.0})
        self.stops.gained[:] = 0.0

    def take(self) -> None:
        """What happened since the last time."""
        if not len(self.system.gaps):
            return
        table = np.asarray(self.march.take_events())
        if not len(table):
            return
        self.parts.append(table)
        times = table[:, 0]
        ends = np.append(np.flatnonzero(times[1:] != times[:-1]) + 1, len(times))
        first = 0
        for end in ends:
            for row in table[first:end]:
                self.stops.constants[self.system.gap_modes[int(row[1])]] = row[7]
            self.stops.log.begin(float(times[first]), self.stops.constants)
            first = int(end)

    def fired(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[bool, np.ndarray]:
        """Do what the event asks for at which the march has stopped: whether it ends there, and what accounts gain."""
        number = self.march.fired
        event = self.system.events[number]
        if not event.switch:
            row = np.zeros((1, len(COLUMNS)))
            row[0, :2] = t, len(self.system.gaps) + number
            self.parts.append(row)
        if t != self._last:
            self._last, self._count = t, 0
        self._count += 1
        gain = np.zeros_like(self.stops.gained)
        if event.switch:
            sign = self.stops.constants[event.constants[0]]
            gain = self.stops.changed(self.march, t, q, v, {event.constants[0]: -sign})
        elif event.constants:
            values = self.stops.now.signals(event.element, t, q, v)[1:]
            gain = self.stops.changed(self.march, t, q, v, dict(zip(event.constants, values.tolist(), strict=True)))
        return event.stops, gain

    @property
    def endless(self) -> bool:
        """Whether events follow each other at one time."""
        return self._count > MOST_AT_ONCE

    @property
    def events(self) -> Events:
        none = no_events(self.system)
        if not none.names:
            return none
        return Events(
            none.names, np.concatenate([none.table, *self.parts]), np.asarray(self.march.overlaps()) / self._sizes
        )
