"""Motions with tangents, as measures see them: by what they change, when, and how the times move at which they jump."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from mechsim.engine.solution import Solution
from mechsim.engine.tangents import END, Directions
from mechsim.frozen import frozen
from mechsim.kernel.changes import NumberChanges, changes_of
from mechsim.measure.bernstein import Array, Indices
from mechsim.measure.holding import held_changes
from mechsim.model.mechanism import Watched

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
        jumps = {each.time for each in events if each.jumps}
        switches = (each for each in self._of_switches() if each.time not in jumps)  # those are thrown by them
        for each in (*events, *switches):
            moved = np.zeros(count)
            moved[self.columns] = each.moved
            yield replace(each, moved=moved)

    def _of_switches(self) -> Iterator[Seam]:
        """Where formulas go from one way to the other (if): no event tells of it, but what they switch does."""
        system, segments = self.solution.system, self.solution.segments
        for event in system.events if self.solution.tangents is not None else ():
            if not event.switch:
                continue
            sides = segments.values[:, segments.numbers.tolist().index(event.constants[0])]
            for time in segments.starts[1:][sides[1:] != sides[:-1]].tolist():
                yield Seam(time, self._crossed(event, time), SWITCH)

    def _crossed(self, event: Watched, time: float) -> Array:
        """How the time moves at which what is watched is zero: by its changes, and by its rate, as one more change."""
        solution, tangents = self.solution, self.solution.tangents
        assert tangents is not None
        n, system = solution.system.n, solution.system_at(time, "before")
        q, v, a = (each[0, :n] for each in solution.evaluate(np.array([time]), "before"))
        changes = (each[0, :n] for each in tangents.evaluate(time, "before"))
        moved = [np.column_stack([own, rate]) for own, rate in zip(changes, (v, a), strict=True)]
        way = int(self._held[1][np.searchsorted(self._held[0], time) - 1])
        numbers = replace(self.directions.numbers, constants=self.way(way)).joined(NumberChanges.none(system, 1))
        late = np.append(np.zeros(self.directions.count), 1.0)
        group = next(each for each in system.groups if event.element in each.elements)
        ((_, _, values),) = changes_of(system, ("signal",), (time, q, v), moved, numbers, (group,), late)
        *watched, rate = values[0][group.elements.index(event.element)].tolist()
        with np.errstate(all="ignore"):
            return np.divide(np.negative(watched), rate)

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


@frozen(eq=False)
class Seam:
    """A time at which something happens, how it moves, (directions,), by what name, and whether quantities may jump
    there: not where it is only recorded."""

    time: float
    moved: Array
    name: str = ""
    jumps: bool = True
