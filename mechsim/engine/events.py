"""What happens at gaps along a march: impacts, contacts that begin and that end; bonds that events of the user let go.

The kernel finds and meets them (kernel/src/events.cpp). Here they are written down, and tell where segments begin: what
is closed is a constant of the mechanism, so the segments of a motion carry it as they do all else that changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import IO, overload

import numpy as np

from mechsim.engine.bonds import Bonds
from mechsim.engine.stops import Stops
from mechsim.frozen import frozen
from mechsim.kernel.march import March
from mechsim.kernel.system import System

MOST_IN_MEMORY = 65536  # events
MOST_AT_ONCE = 1000  # events of the user at one time
FRICTION = "friction "  # before the name of a contact or joint
STICKS, SLIDES = 1.0, 2.0  # what its rows say of it instead of closed; 0: it does not touch
LIMITED = 3.0  # what a row of an impact says instead of open
# Impacts that come ever faster and ever harder, as between walls that close, have no end that could be waited for;
# those of a ball that comes to rest grow weaker. So many are compared, in so many windows.
CROWD, WINDOWS = 4000, 8
CROWDED = 1e-4  # of the time since the start, in which they come
COLUMNS = ("t", "gap", "before", "after", "impulse", "lost", "was_closed", "is_closed")


@frozen
class Event:
    """At the time `t` the gap's rate went from `before` to `after` by an `impulse`, and the energy `lost` was gone.

    `kind`: "impact"; "limited", one whose law would have given energy and ended before it did; "contact", if it stays
    closed from here on; "release", if it opens; "attach" and "release" of a bond, of several rows by the lengths of
    their rates and impulses; of a friction, whose name in `gap` begins with that word, "stick", "slip" or "impact"; or
    "event", one of the user's, whose name is then in `gap`.
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
    shared: frozenset[str] = frozenset()  # ... of what bore loads that others could have borne: they are not unique

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
        if self.names[int(gap)].startswith(FRICTION):
            return {STICKS: "stick", SLIDES: "slip"}.get(is_closed, "impact")
        if gap >= len(self.overlaps):
            return "event"
        if is_closed == LIMITED:
            return "limited"
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
    names += tuple(FRICTION + friction.name for friction in system.frictions)
    bonds = frozenset(gap.name for gap in system.gaps if gap.bond)
    return Events(names, np.zeros((0, len(COLUMNS))), np.zeros(len(system.gaps)), bonds)


def as_switched(system: System, t: float, q: np.ndarray, v: np.ndarray) -> System:
    """The system with its switches as they are at a state; a switch may depend on those before it."""
    if not any(event.switch for event in system.events):
        return system
    constants = system.constants.copy()
    for event in system.events:
        if event.switch:
            below = system.holding(constants).signals(event.element, t, q, v)[0] < 0
            constants[event.constants[0]] = -1.0 if below else 1.0
    return system.holding(constants)


class Rows:
    """Rows of a table that only grows: many of them wait in a file without a name, so that memory has few."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []
        self._waiting = 0
        self._file: IO[bytes] | None = None
        self._written = 0

    def append(self, rows: np.ndarray) -> None:
        self._parts.append(rows)
        self._waiting += len(rows)
        if self._waiting >= MOST_IN_MEMORY:
            self._write()

    def _write(self) -> None:
        import tempfile  # seldom needed

        rows = self._joined()
        try:
            self._file = self._file or tempfile.TemporaryFile(prefix="mechsim-events-")  # noqa: SIM115
            self._file.seek(self._written * rows.itemsize * len(COLUMNS))
            self._file.write(rows.tobytes())
            self._file.flush()
        except OSError:  # a full disk: then memory has to do
            return
        self._written += len(rows)
        self._parts, self._waiting = [], 0

    def _joined(self) -> np.ndarray:
        return np.concatenate([np.zeros((0, len(COLUMNS))), *self._parts])

    @property
    def table(self) -> np.ndarray:
        """All of them; those in the file are read where they are asked for."""
        if self._file is None or not self._written:
            return self._joined()
        self._write()
        written = np.memmap(self._file, dtype=float, mode="r", shape=(self._written, len(COLUMNS)))
        return np.concatenate([written, *self._parts]) if self._parts else written


class EventLog:
    """Takes what a march tells of its gaps, and begins a segment at each event."""

    def __init__(self, system: System, march: March, stops: Stops):
        self.system, self.march, self.stops = system, march, stops
        self.rows = Rows()
        self.changes: list[np.ndarray] = []  # of the times of these rows, where the motion is differentiated
        self._last, self._count = np.nan, 0
        self._impacts = np.zeros((0, 2))  # the latest: when, and how fast
        self.bonds = Bonds(system, march, stops)
        self._lent = {lent.gap: (pair, lent) for pair in system.mechanism.pairs for lent in pair.lent}
        self._sizes = system.constraint_sizes[system.gap_rows] if system.gaps else np.ones(0)

    def begin(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """Let switches be as they are at the start; those that are just at zero the kernel throws, if need be."""
        for event in self.system.events:
            if not event.switch:
                continue
            side = float(np.sign(self.stops.now.signals(event.element, t, q, v)[0]))
            if side and side != self.stops.constants[event.constants[0]]:
                self.stops.changed(self.march, t, q, v, {event.constants[0]: side})
        self.stops.gained[:] = 0.0

    def take(self) -> None:
        """What happened since the last time."""
        if not self.system.gaps and not self.system.frictions:
            return
        found = np.asarray(self.march.take_events())
        if not len(found):
            return
        table, ways, limited = found[:, :-2], found[:, -2], found[:, -1]  # the way of a friction is its sense
        told, kept = self._told(table, ways, limited)
        self.rows.append(told)
        if self.stops.changes:
            self.changes.append(self.march.take_event_changes()[kept])
        self._impacts = np.concatenate([self._impacts, table[table[:, 4] != 0][:, [0, 2]]])[-CROWD:]
        self._begin_segments(table, ways)

    def _begin_segments(self, table: np.ndarray, ways: np.ndarray) -> None:
        """One for each time; most impacts leave all constants as they are."""
        times, log = table[:, 0], self.stops.log
        is_first = np.append(True, times[1:] != times[:-1])
        segment = np.cumsum(is_first) - 1
        values = np.tile(self.stops.constants[log.numbers], (segment[-1] + 1, 1))
        changed = (table[:, 6] != table[:, 7]) | (table[:, 1] >= len(self.system.gaps)) | (ways >= 0)
        for row in np.flatnonzero(changed):
            for number, value in self._modes(table[row, 1], table[row, 7], ways[row]):
                self.stops.constants[number] = value
                values[segment[row] :, np.searchsorted(log.numbers, number)] = value
        log.extend(times[is_first], values)

    def _modes(self, number: float, closed: float, way: float) -> Iterator[tuple[int, float]]:
        """The constants that a row of the kernel's table is about."""
        if number >= len(self.system.gaps):
            friction = self.system.frictions[int(number) - len(self.system.gaps)]
            yield from ((friction.mode, closed), (friction.sense, way))
            return
        yield int(self.system.gap_modes[int(number)]), closed
        if way >= 0 and closed:
            pair, lent = self._lent[int(number)]
            yield from zip(lent.constants, pair.values[int(way)].tolist(), strict=False)

    def _told(self, table: np.ndarray, ways: np.ndarray, limited: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Frictions numbered behind the user's events, without those that end because their contact does; and which
        rows these are."""
        table, rubs = table.copy(), table[:, 1] >= len(self.system.gaps)
        table[rubs & (ways != 0), 7] = SLIDES
        table[(limited != 0) & (table[:, 7] == 0), 7] = LIMITED
        table[rubs, 1] += sum(not event.switch for event in self.system.events)
        kept = ~rubs | (table[:, 7] != 0) | (table[:, 4] != 0)
        return table[kept], kept

    def fired(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[bool, np.ndarray]:
        """Do what the event asks for at which the march has stopped: whether it ends there, and what accounts gain."""
        number = self.march.fired
        event = self.system.events[number]
        if not event.switch:
            row = np.zeros((1, len(COLUMNS)))
            row[0, :2] = t, len(self.system.gaps) + number
            self._append(row)
        if t != self._last:
            self._last, self._count = t, 0
        self._count += 1
        gain = np.zeros_like(self.stops.gained)
        if event.switch:
            sign = self.stops.constants[event.constants[0]]
            gain = self.stops.changed(self.march, t, q, v, {event.constants[0]: -sign})
        elif event.constants:
            values = self.stops.now.signals(event.element, t, q, v)[1:].tolist()
            given = dict(zip(event.constants, values, strict=True))
            gain = self.stops.changed(self.march, t, q, v, given, event)
        for told in self.bonds.act(event.releases, event.attaches, t, q, v):
            self._append(np.array([told]))
        return event.stops, gain

    def _append(self, row: np.ndarray) -> None:
        """Of the user's event at which the march stands."""
        self.rows.append(row)
        if self.stops.changes:
            self.changes.append(self.march.event_change()[None])

    @property
    def time_changes(self) -> np.ndarray:
        """Of the times of all events, (events, directions)."""
        count = self.stops.changes.directions.count if self.stops.changes else 0
        return np.concatenate([np.zeros((0, count)), *self.changes])

    def forget(self) -> None:
        """What has happened until now is of no interest."""
        self.rows, self.changes = Rows(), []

    def clear(self) -> Events:
        """What has happened until now, which is then forgotten."""
        found = self.events
        self.rows = Rows()
        return found

    @property
    def endless(self) -> bool:
        """Whether events follow each other at one time, or impacts come ever faster and ever harder."""
        if self._count > MOST_AT_ONCE:
            return True
        times, rates = self._impacts.T
        if len(times) < CROWD or times[-1] - times[0] > CROWDED * (times[-1] - self.stops.start.t):
            return False
        durations = np.diff(times[:: CROWD // WINDOWS])
        speeds = np.abs(rates).reshape(WINDOWS, -1).mean(axis=1)
        return bool((np.diff(durations) < 0).all() and (np.diff(speeds) > 0).all())

    @property
    def events(self) -> Events:
        none = no_events(self.system)
        if not none.names:
            return none
        overlaps = np.asarray(self.march.overlaps()) / self._sizes
        names = [gap.name for gap in self.system.gaps] + [FRICTION + each.name for each in self.system.frictions]
        shared = frozenset(name for name, bore in zip(names, self.march.shared(), strict=True) if bore)
        return replace(none, table=self.rows.table, overlaps=overlaps, shared=shared)
