"""What happens at gaps along a march: impacts, contacts that begin and that end; bonds that events of the user let go.

The kernel finds and meets them (kernel/src/events.cpp). Here they are written down, and tell where segments begin: what
is closed is a constant of the mechanism, so the segments of a motion carry it as they do all else that changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import overload

import numpy as np

from mechsim.engine.bonds import Bonds
from mechsim.engine.stops import Stops
from mechsim.frozen import frozen
from mechsim.kernel.march import March
from mechsim.kernel.system import System

MOST_AT_ONCE = 1000  # events of the user at one time
COLUMNS = ("t", "gap", "before", "after", "impulse", "lost", "was_closed", "is_closed")


@frozen
class Event:
    """At the time `t` the gap's rate went from `before` to `after` by an `impulse`, and the energy `lost` was gone.

    `kind`: "impact"; "contact", if it stays closed from here on; "release", if it opens; "attach" and "release" of a
    bond, of several rows by the lengths of their rates and impulses; or "event", one of the user's, whose name is then
    in `gap`.
    """

    t: float
    gap: str
    kind: str
    before: float
    after: float
    impulse: float
    lost: float


@frozen(eq=False)
class Events:
    """All events of a motion in the order of time, as columns; and as a list of them."""

    names: tuple[str, ...]  # of all gaps, then of the user's events
    table: np.ndarray  # (events, columns), see COLUMNS
    overlaps: np.ndarray  # the least that each gap was, over its size, where that is negative
    bonds: frozenset[str] = frozenset()  # which of the names are those of bonds

    def __len__(self) -> int:
        return len(self.table)

    @overload
    def __getitem__(self, number: int) -> Event: ...

    @overload
    def __getitem__(self, number: slice) -> Events: ...

    def __getitem__(self, number: int | slice) -> Event | Events:
        if isinstance(number, slice):
            return replace(self, table=self.table[number])
        t, gap, before, after, impulse, lost, *modes = self.table[number].tolist()
        return Event(t, self.names[int(gap)], self._kind(gap, *modes), before, after, impulse, lost)

    def _kind(self, gap: float, was_closed: float, is_closed: float) -> str:
        if gap >= len(self.overlaps):
            return "event"
        if was_closed == is_closed:
            return "impact"
        if not is_closed:
            return "release"
        return "attach" if self.names[int(gap)] in self.bonds else "contact"

    def __iter__(self) -> Iterator[Event]:
        return (self[number] for number in range(len(self)))

    def column(self, name: str) -> np.ndarray:
        """One of COLUMNS, for all events; `gap` is the number of its name."""
        if name not in COLUMNS:
            raise ValueError(f"events have no column {name}: there are {', '.join(COLUMNS)}")
        return self.table[:, COLUMNS.index(name)]

    def of(self, gap: str) -> Events:
        """Those of one contact; two outlines have several gaps of one name."""
        numbers = [number for number, name in enumerate(self.names) if name == gap]
        if not numbers:
            raise ValueError(f"there is no contact or event {gap}: there are {', '.join(dict.fromkeys(self.names))}")
        return replace(self, table=self.table[np.isin(self.column("gap"), numbers)])


def no_events(system: System) -> Events:
    names = *(gap.name for gap in system.gaps), *(event.name for event in system.events if not event.switch)
    bonds = frozenset(gap.name for gap in system.gaps if gap.bond)
    return Events(names, np.zeros((0, len(COLUMNS))), np.zeros(len(system.gaps)), bonds)


class EventLog:
    """Takes what a march tells of its gaps, and begins a segment at each event."""

    def __init__(self, system: System, march: March, stops: Stops):
        self.system, self.march, self.stops = system, march, stops
        self.parts: list[np.ndarray] = []
        self._last, self._count = np.nan, 0
        self.bonds = Bonds(system, march, stops)
        self._lent = {lent.gap: (pair, lent) for pair in system.mechanism.pairs for lent in pair.lent}
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
        found = np.asarray(self.march.take_events())
        if not len(found):
            return
        table, ways = found[:, :-1], found[:, -1].astype(int)
        self.parts.append(table)
        times = table[:, 0]
        ends = np.append(np.flatnonzero(times[1:] != times[:-1]) + 1, len(times))
        first = 0
        for end in ends:
            for row, way in zip(table[first:end], ways[first:end], strict=True):
                self.stops.constants[self.system.gap_modes[int(row[1])]] = row[7]
                if way >= 0 and row[7]:
                    pair, lent = self._lent[int(row[1])]
                    self.stops.constants[list(lent.constants)] = pair.values[way][: len(lent.constants)]
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
        self.parts += [np.array([row]) for row in self.bonds.act(event.releases, event.attaches, t, q, v)]
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
        table, overlaps = np.concatenate([none.table, *self.parts]), np.asarray(self.march.overlaps()) / self._sizes
        return replace(none, table=table, overlaps=overlaps)
