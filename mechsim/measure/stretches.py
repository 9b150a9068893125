"""Motions with tangents, as measures see them: by what they change, when, and how the times move at which they jump."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from mechsim.engine.segments import Side
from mechsim.engine.solution import Solution
from mechsim.engine.tangents import END, Directions
from mechsim.frozen import frozen
from mechsim.kernel.changes import Found, NumberChanges, changes_of, gathered
from mechsim.kernel.groups import Group
from mechsim.measure.bernstein import Array, Indices
from mechsim.measure.holding import held_changes, stops_of
from mechsim.model.mechanism import Sampler, Watched

TOGETHER = 1e-9  # of the motion's duration: what comes nearer to each other comes at one time
BREAK, SAMPLE = "a break of a table", "a sample"
SWITCH = "a switch"  # what happens where a formula goes from one way to the other: it has no name of its own


def ended_by(solution: Solution) -> str | None:
    """The event that ended a motion, if one did: nothing comes after one that stops."""
    events, stopping = solution.events, {each.name for each in solution.system.events if each.stops}
    if events is None or not stopping:
        return None
    numbers = [number for number, name in enumerate(events.names) if name in stopping]
    happened = events.column("gap")[np.isin(events.column("gap"), numbers)]
    return events.names[int(happened[-1])] if len(happened) else None


@frozen(slots=False, eq=False)
class Stretch:
    """A solution with tangents: a motion, or one of several that follow each other. Its directions are the `columns` of
    all that is asked for."""

    solution: Solution
    directions: Directions
    columns: Indices

    @cached_property
    def coefficients(self) -> Array:
        """Of its steps that have a length, (steps, degrees, unknowns, directions)."""
        tangents, t = self.solution.tangents, self.solution.t
        assert tangents is not None and tangents.coefficients is not None
        found = tangents.coefficients
        long = np.flatnonzero(t[1:] != t[:-1])
        return found if len(long) == len(found) else found[long]

    @property
    def labels(self) -> tuple[str, ...]:
        return self.solution.system.labels

    @cached_property
    def _end(self) -> Array:
        """How the time moves at which it ends: that of an event if one ended it, else the time that was given."""
        tangents = self.solution.tangents
        if tangents is not None and ended_by(self.solution) is not None:
            return tangents.end
        return self.directions.change_of(END)

    def change_of(self, name: str) -> Array:
        """Of a parameter, or of the END, (directions,)."""
        return self._end if name == END else self.directions.change_of(name)

    def seams(self, count: int) -> Iterator[Seam]:
        """The times of its events and switches, of `count` directions in all."""
        events = list(self._of_events())
        jumps = {each.time for each in (*events, *self.stops) if each.jumps}
        for each in (*events, *self._of_switches(jumps)):
            yield self.spread(each, count)

    def spread(self, seam: Seam, count: int) -> Seam:
        """A seam of its own directions as one of `count`."""
        moved = np.zeros(count)
        moved[self.columns] = seam.moved
        return replace(seam, moved=moved)

    @cached_property
    def stops(self) -> list[Seam]:
        """Breaks of tables, and sampling times, which no parameter moves."""
        still = np.zeros(self.directions.count)
        setters = ((time, setter) for time, setter, _ in stops_of(self.solution, 0) if not isinstance(setter, Watched))
        return [Seam(time, still, SAMPLE if isinstance(setter, Sampler) else BREAK) for time, setter in setters]

    def _of_switches(self, jumps: Container[float]) -> Iterator[Seam]:
        """Where formulas go from one way to the other (if): no event tells of it, but what they switch does. What jumps
        may throw them too, and then they come with that."""
        system, segments = self.solution.system, self.solution.segments
        for event in system.events if self.solution.tangents is not None else ():
            if not event.switch:
                continue
            sides = segments.values[:, segments.numbers.tolist().index(event.constants[0])]
            for time in segments.starts[1:][sides[1:] != sides[:-1]].tolist():
                late, moved = self.crossing(event, time, "before")
                if time not in jumps or abs(late) <= self.near:
                    yield Seam(time, moved, SWITCH)

    @property
    def near(self) -> float:
        """What is no further apart comes at one time."""
        return TOGETHER * float(self.solution.t[-1] - self.solution.t[0])

    def crossing(self, event: Watched, time: float, side: Side) -> tuple[float, Array]:
        """How much later than at this time what is watched is zero, as it goes on there, and how that moves."""
        group = next(each for each in self.solution.system.groups if event.element in each.elements)
        ((_, _, values),) = self._changes_at(time, side, "signal", (group,))
        q, v = (each[0, : self.solution.system.n] for each in self.solution.evaluate(np.array([time]), side)[:2])
        value = self.solution.system_at(time, side).signals(event.element, time, q, v)[0]
        return _crossed(float(value), values[0][group.elements.index(event.element)])

    def closing(self, time: float) -> Iterator[tuple[str, float, Array]]:
        """The same of the gaps that are open and close just before a time."""
        gaps, system = self.solution.system.gaps, self.solution.system_at(time, "before")
        if not gaps:
            return
        n, found = system.n, self._changes_at(time, "before", "constraint", None)
        changes = gathered(found, lambda group, key: group.multipliers[key[1]], system.m, self.directions.count + 1)
        q = self.solution.evaluate(np.array([time]), "before")[0][0, :n]
        lent = {each.gap for pair in system.mechanism.pairs for each in pair.lent}
        for number, (gap, row, value) in enumerate(zip(gaps, system.gap_rows, system.gap_values(time, q), strict=True)):
            if not gap.bond and number not in lent and not system.constants[gap.mode] and changes[row, -1] < 0:
                yield gap.name, *_crossed(float(value), changes[row])

    def _changes_at(self, time: float, side: Side, name: str, groups: tuple[Group, ...] | None) -> Found:
        """Changes of outputs at a time; the rate along the motion is one more."""
        solution, tangents = self.solution, self.solution.tangents
        assert tangents is not None
        n, system = solution.system.n, solution.system_at(time, side)
        q, v, a = (each[0, :n] for each in solution.evaluate(np.array([time]), side))
        changes = (each[0, :n] for each in tangents.evaluate(time, side))
        moved = [np.column_stack([own, rate]) for own, rate in zip(changes, (v, a), strict=True)]
        times, ways, _ = self._held
        way = int(ways[np.searchsorted(times, time, side="left" if side == "before" else "right") - 1])
        numbers = replace(self.directions.numbers, constants=self.way(way)).joined(NumberChanges.none(system, 1))
        late = np.append(np.zeros(self.directions.count), 1.0)
        return changes_of(system, (name,), (time, q, v), moved, numbers, groups, late)

    def _of_events(self) -> Iterator[Seam]:
        events, tangents = self.solution.events, self.solution.tangents
        if events is None or tangents is None:
            return
        names = [events.names[number] for number in events.column("gap").astype(int).tolist()]
        idle = {
            each.name for each in self.solution.system.events if not (each.constants or each.releases or each.attaches)
        }
        for name, time, change in zip(names, events.column("t").tolist(), tangents.events, strict=False):
            yield Seam(time, change, name, name not in idle)

    @cached_property
    def _held(self) -> tuple[Array, Indices, Array]:
        """Times from which constants change in another way, the number of that way, and all ways, (ways, constants,
        directions)."""
        times, found = held_changes(self.solution, self.directions)
        numbers: dict[bytes, int] = {}
        ways = np.array([numbers.setdefault(each.tobytes(), len(numbers)) for each in found])
        return times, ways, np.stack([found[ways.tolist().index(way)] for way in range(len(numbers))])

    def ways(self, since: Array) -> Indices:
        """By which of the ways constants change in steps that begin at these times."""
        times, ways, _ = self._held
        return ways[np.searchsorted(times, since, side="right") - 1]

    def way(self, number: int) -> Array:
        """The changes of all constants of the mechanism, (constants, directions)."""
        return np.asarray(self._held[2][number])

    def constants(self, since: Array) -> Array:
        """The same in steps that begin at these times, (..., constants, directions); without times where they are
        always the same."""
        found = self._held[2]
        return found[0] if len(found) == 1 else found[self.ways(since)]


def _crossed(value: float, changes: Array) -> tuple[float, Array]:
    """How much later a value is zero, and how that moves; the last of its changes is its rate."""
    *changed, rate = changes.tolist()
    with np.errstate(all="ignore"):
        found = np.divide(np.negative([value, *changed]), rate)
    return float(found[0]), found[1:]


@frozen(eq=False)
class Seam:
    """A time at which something happens, how it moves, (directions,), by what name, and whether quantities may jump
    there: not where it is only recorded."""

    time: float
    moved: Array
    name: str = ""
    jumps: bool = True
