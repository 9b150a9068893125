"""Poincaré sections and bifurcation diagrams: how they are found."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from mechsim.analysis.cut import Wanted, combined, happening_of, refuse
from mechsim.analysis.flow import ANGLES_FIRST
from mechsim.analysis.formula import settled_value
from mechsim.analysis.lanes import Lanes
from mechsim.analysis.passing import AtPeriods, AtTimes, Observer, Passed, Passing, crossings, happenings
from mechsim.analysis.readings import Reading, quantity_of, readings
from mechsim.analysis.section import Section
from mechsim.analysis.starts import starts_of
from mechsim.analysis.subject import Case, Subject
from mechsim.analysis.turning import angles_of, folded, in_one_piece
from mechsim.engine import Points, State
from mechsim.engine.state import States
from mechsim.errors import Fault, SpecError
from mechsim.result.layout import Array

TOLERANCE = 1e-10
PARTS = 50  # of the time that a subject's motions last: a first stretch


def poincare(
    subject: Subject,
    wanted: Wanted,
    lasting: float,
    tolerance: float | None = None,
    observer: Observer | None = None,
) -> Section:
    """The section of all motions that are asked for; motions of the subject last about so long. Raises SpecError,
    AssemblyError and IntegrationError."""
    refuse(subject, wanted)
    task = Task(subject, wanted, lasting, tolerance or TOLERANCE, observer or (lambda found, of: None))
    return task.followed() if wanted.follow else task.apart()


class _Row:
    """Motions that follow each other over some values of a parameter."""

    def __init__(self, over: str, values: Array):
        self.over, self.values, self.what, self.status = over, values, "", "finished"
        self.tables: list[Array] = []
        self.motions: list[np.ndarray] = []
        self.failed: dict[int, str] = {}
        self.fewer: dict[int, int] = {}


class Task:
    """One section."""

    def __init__(self, subject: Subject, wanted: Wanted, lasting: float, tolerance: float, observer: Observer):
        self.subject, self.wanted, self.lasting = subject, wanted, lasting
        self.tolerance, self.observer = tolerance, observer
        self.own = subject.case({})
        self.angles = self._angles()
        self.readings = readings(subject, self._columns())
        self.quantity = None
        if wanted.cut.expression is not None:
            self.quantity = quantity_of(subject, wanted.cut.expression, "section")

    def _angles(self) -> Array:
        """Which coordinates are angles, by a piece of the motion."""
        start = self.own.start
        return angles_of(self.own.solution(start.t + self.lasting / PARTS, tolerance=self.tolerance, keep="steps"))

    def _columns(self) -> list[str]:
        system = self.own.system
        if self.wanted.columns is None:
            labels = [label for place, label in enumerate(system.labels[: system.n]) if place not in system.accounts]
            found = ["t", *(name for label in labels for name in (label, f"{label}_dot"))]
        else:
            found = list(self.wanted.columns)
        return list(dict.fromkeys([*found, *(axis for axis in self._axes() if axis is not None)]))

    def _axes(self) -> tuple[str | None, str | None]:
        x, y = self.wanted.axes
        if self.wanted.over is not None:
            return (None, y)
        return x, y

    def apart(self) -> Section:
        """Motions that know nothing of each other."""
        varied, count = combined({**self.wanted.vary, **{f"start_{k}": v for k, v in self.wanted.starts.items()}})
        columns = {name: varied[name] for name in self.wanted.vary}
        states = starts_of(self.subject, columns, self.wanted.starts, count)
        lanes = Lanes(self.subject, columns, states, self.tolerance)
        passing = self._passing(columns, states.t)
        self._settle(lanes, columns, states.t)
        passed = passing.collect(lanes, self.wanted.points, self.observer)
        return self._section(passing.what, passed, lanes, varied)

    def _settle(self, lanes: Lanes, columns: Mapping[str, Array], begun: Array) -> None:
        """Wait until the transient is over."""
        transients = self._values(self.wanted.transient, columns, len(begun), "transient")
        if not transients.min() >= 0:
            raise SpecError(Fault(f"a transient is a time that is left out, and must not be {transients.min():g}"))
        ends = begun + transients
        late = lanes.going[ends[lanes.going] > lanes.t[lanes.going]]
        lanes.advance(ends, late, dense=False)

    def _values(self, text: str | float, columns: Mapping[str, Array], count: int, name: str) -> Array:
        """Of an expression of parameters, for each motion."""
        if not columns or not isinstance(text, str):
            return np.full(count, settled_value(text, self.subject, {}, name))
        rows = ({name: float(values[k]) for name, values in columns.items()} for k in range(count))
        return np.array([settled_value(text, self.subject, row, name) for row in rows])

    def _passing(self, columns: Mapping[str, Array], begun: Array) -> Passing:
        cut = self.wanted.cut
        if cut.period is not None:
            periods = self._values(cut.period, columns, len(begun), "period")
            if not np.all(periods > 0):
                raise SpecError(Fault(f"the period {cut.period} is {periods.min():g}, but must be above zero"))
            return AtPeriods(f"at whole periods {cut.period}", periods, begun)
        stretch = self.lasting / PARTS
        if cut.event is not None:
            name = happening_of(self.subject.names, cut.event)
            assert name is not None  # else it was refused
            return AtTimes(f"at the event {cut.event}", stretch, happenings(name))
        assert self.quantity is not None and cut.expression is not None
        ways = {"up": "upwards", "down": "downwards", "both": "both ways"}[cut.direction]
        times = crossings(self.subject, self.quantity, cut.direction, self.own.facts)
        return AtTimes(f"where {cut.expression} crosses zero {ways}", stretch, times)

    def _section(self, what: str, passed: Passed, lanes: Lanes, varied: Mapping[str, Array]) -> Section:
        tables, motions = [], []
        for k, parts in passed.items():
            rows = self._table(parts, lanes.parameters(k))
            tables.append(rows)
            motions.append(np.full(len(rows), k))
        counts = {k: sum(map(len, parts)) for k, parts in passed.items()}
        fewer = {k: count for k, count in counts.items() if count < self.wanted.points and k not in lanes.failed}
        if lanes.interrupted:
            return self._told(what, tables, motions, varied, lanes.failed, {}, "interrupted")
        return self._told(what, tables, motions, varied, lanes.failed, fewer)

    def _table(self, parts: Sequence[Points], parameters: Mapping[str, float]) -> Array:
        """The columns at the points of one motion."""
        found = []
        numbers = self.subject.numbers(parameters)
        for points in parts:
            flat = Points(points.system, points.t, folded(self.angles, points.q), points.v)
            found.append(np.column_stack([reading.at(flat, numbers) for reading in self.readings]))
        return np.concatenate([np.zeros((0, len(self.readings))), *found])

    def _told(
        self,
        what: str,
        tables: Sequence[Array],
        motions: Sequence[np.ndarray],
        varied: Mapping[str, Array],
        failed: Mapping[int, str],
        fewer: Mapping[int, int],
        status: str = "finished",
    ) -> Section:
        if status != "finished" and not any(map(len, tables)):
            raise KeyboardInterrupt
        table = np.concatenate([np.zeros((0, len(self.readings))), *tables])
        motion = np.concatenate([np.zeros(0, dtype=int), *motions])
        labels, units = tuple(each.label for each in self.readings), tuple(each.unit for each in self.readings)
        axes = _drawn(self.readings, table, self.wanted, self.own, self.angles)
        over = self.wanted.over
        return Section(what, labels, units, table, motion, varied, axes, over, dict(failed), dict(fewer), status)

    def followed(self) -> Section:
        """A diagram in which each motion begins where the one before ended."""
        over, follow = self.wanted.over, self.wanted.follow
        assert over is not None and follow is not None
        values = np.sort(self.wanted.vary[over])
        ways = {"up": [values], "down": [values[::-1]], "both": [values, values[::-1]]}[follow]
        row = _Row(over, np.concatenate(ways))
        try:
            self._follow(row)
        except KeyboardInterrupt:
            row.status = "interrupted"
        varied = {over: row.values}
        if follow == "both":
            varied["way"] = np.repeat([1.0, -1.0], len(values))
        return self._told(row.what, row.tables, row.motions, varied, row.failed, row.fewer, row.status)

    def _follow(self, row: _Row) -> None:
        state = self._own_state({row.over: float(row.values[0])})
        for number, value in enumerate(row.values.tolist()):
            row.what, parts, state, why = self._next(row.over, value, state)
            table = self._table(parts, {row.over: value})
            if why:
                row.failed[number] = why
            elif len(table) < self.wanted.points:
                row.fewer[number] = len(table)
            row.tables.append(table)
            row.motions.append(np.full(len(table), number))
            self.observer(number + 1, len(row.values))

    def _own_state(self, parameters: Mapping[str, float]) -> State:
        start = self.subject.case(parameters).start
        return State(float(start.t), start.positions, start.velocities)

    def _next(self, over: str, value: float, state: State) -> tuple[str, list[Points], State, str]:
        """One motion of those that follow each other: its points, where it ends, and why it failed, if so. At a whole
        period forces are as at the start, so the time begins anew there; else it goes on."""
        columns = {over: np.array([value])}
        begun = State(state.t, folded(self.angles, state.positions), state.velocities)
        states = States.of([begun], len(state.positions))
        lanes = Lanes(self.subject, columns, states, self.tolerance)
        passing = self._passing(columns, states.t)
        self._settle(lanes, columns, states.t)
        found = passing.collect(lanes, self.wanted.points, lambda found, of: None)[0]
        if lanes.interrupted:
            raise KeyboardInterrupt
        if lanes.failed:
            return passing.what, found, state, lanes.failed[0]
        if isinstance(passing, AtPeriods) and found:
            return passing.what, found, State(state.t, found[-1].q[-1], found[-1].v[-1]), ""
        return passing.what, found, State(float(lanes.t[0]), lanes.q[0], lanes.v[0]), ""


def _drawn(columns: Sequence[Reading], table: Array, wanted: Wanted, own: Case, angles: Array) -> tuple[str, str]:
    """The columns to draw: those asked for; else what moves most, against its rate or what is varied."""
    x, y = wanted.axes
    labels = [each.label for each in columns]
    system = own.system
    moving = [label for label in system.labels[: system.n] if label in labels and f"{label}_dot" in labels]
    if moving:
        turning = {label for place, label in enumerate(system.labels[: system.n]) if angles[place]}
        pair = _moving_most(labels, table, moving, turning, own)
    else:
        rest = [label for label in labels if label != "t"] or labels
        pair = (rest[0], rest[-1])
    if wanted.over is not None:
        return wanted.over, y or pair[pair[0] == "t"]
    return x or pair[0], y or pair[1]


def _moving_most(
    labels: Sequence[str], table: Array, moving: Sequence[str], turning: Collection[str], own: Case
) -> tuple[str, str]:
    """The coordinate that moves most and its rate; where all stand still, as where a contact is struck, the rate that
    changes most over time."""
    system = own.system
    weights = {
        each.label: (ANGLES_FIRST if each.kind == "angle" else 1.0) / system.scales[place]
        for place, each in enumerate(system.mechanism.variables)
    }

    def spread(name: str, label: str) -> float:
        values = table[:, labels.index(label)]
        values = in_one_piece(values) if label in turning else values
        return round(float(np.ptp(values)) * weights[name], 6) if len(table) else 0.0

    def order(name: str, rate: str) -> tuple[float, float]:
        speeds = np.abs(table[:, labels.index(f"{name}_dot")])
        return spread(name, f"{name}{rate}"), round(weights[name] * float(speeds.max(initial=0.0)), 6)

    best, fastest = max(moving, key=lambda name: order(name, "")), max(moving, key=lambda name: order(name, "_dot"))
    if spread(best, best) == 0 < spread(fastest, f"{fastest}_dot") and "t" in labels:
        return "t", f"{fastest}_dot"
    return best, f"{best}_dot"
