"""Motions as functions of all that may vary: parameters, the end, inputs over intervals, and the states between these.

With inputs over intervals this is direct multiple shooting (Bock and Plitt 1984): every interval is a motion of its
own, from a state that is an unknown, and that each ends where the next begins is a constraint. Without, there is one
interval, and nothing to be continued.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from mechsim.design.controls import Control
from mechsim.design.course import TEND, Course, Measurable, Settings
from mechsim.design.nodes import Chart
from mechsim.design.parts import Parts
from mechsim.design.task import Variable
from mechsim.engine import Solution
from mechsim.engine.joined import joined
from mechsim.engine.tangents import END
from mechsim.errors import Fault, SpecError
from mechsim.kernel.system import System
from mechsim.model.mechanism import Switch
from mechsim.nonlinear import Indices
from mechsim.result.layout import Array

SMALL = 1e-5  # of the scales of a mechanism: smaller motions are not told from roundings any better
SHORTEST = 1e-6  # of the first motion: the end that is chosen is no nearer to where it begins


class Shooting:
    """`names` of all numbers, their first values and bounds; `course` is the motion that they give."""

    def __init__(
        self,
        subject: Measurable,
        variables: Sequence[Variable],
        settings: Settings,
        given: Mapping[str, float],
    ):
        self.subject, self.settings, self.given = subject, settings, dict(given)
        numbers = subject.numbers(self.given)
        self.variables = tuple(variables)
        self.parameters = [each for each in variables if each.name in subject.parameters]
        self.ends = [each for each in variables if each.name == TEND and each.name not in subject.parameters]
        inputs = [each for each in variables if each not in self.parameters and each not in self.ends]
        self.own_tend = settings.tend if settings.tend is not None else subject.tend(self.given)
        self.first_case = subject.case(self.given, tend=self.own_tend)
        self.t0 = float(self.first_case.start.t)
        self.count = _intervals(inputs)
        self.system = self.first_case.system
        if self.count > 1:
            _refuse_states(self.system)
        self.plain = [*self.parameters, *self.ends]
        first = [float(numbers(each.name)) for each in self.parameters] + [self.own_tend] * len(self.ends)
        soonest = self.t0 + SHORTEST * (self.own_tend - self.t0)
        names = [each.name for each in self.plain]
        bounds = [(each.least, each.most) for each in self.parameters]
        bounds += [(max(each.least, soonest), each.most) for each in self.ends]
        self.controls = []
        for each in inputs:
            control = self._control(each, len(names))
            self.controls.append(control)
            names += [each.name] if control.count == 1 else [f"{each.name}[{k}]" for k in range(control.count)]
            bounds += [(each.least, each.most)] * control.count
            first += [float(self.system.constants[control.port.value])] * control.count
        self.known: dict[int, Array] = {}
        self.small = np.ones(2)  # how much smaller the motion is than the mechanism, and how much slower than its speed
        self.own = len(names)  # numbers that a person knows; the others are states
        self._names, self.first, self._bounds = names, np.array(first), np.array(bounds).reshape(len(names), 2)

    def _control(self, variable: Variable, first: int) -> Control:
        port = self.system.mechanism.inputs[variable.name]
        degree = len(port.slopes) if variable.intervals is not None else 0
        count = max(degree, 1) * (variable.intervals or 1) + int(degree > 0)
        return Control(variable.name, port, first, count, degree)

    # --- all numbers

    @cached_property
    def charts(self) -> list[Chart]:
        """By which states are described at the begin of each stretch, and the states of the first motion there."""
        return [Chart.at(self.system, *state) for state in self._states]

    @cached_property
    def _states(self) -> list[tuple[float, Array, Array]]:
        start = self.first_case.start
        found = [(float(start.t), start.positions, start.velocities)]
        if self.count > 1:
            points = self._followed(self.first).sampled(self.grid(self.first)[1:-1])
            found += zip(points.t.tolist(), points.q, points.v, strict=True)
        return found

    @property
    def width(self) -> int:
        """Numbers of one state between stretches."""
        return self.charts[0].width if self.count > 1 else 0

    @cached_property
    def names(self) -> tuple[str, ...]:
        if self.count == 1:
            return tuple(self._names)
        own = [f"{name} at {k}" for k in range(1, self.count) for name in self.charts[k].names(self.system)]
        return (*self._names, *own)

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        free = np.full((len(self.names) - self.own, 2), [-np.inf, np.inf])
        both = np.concatenate([self._bounds, free])
        return both[:, 0], both[:, 1]

    @cached_property
    def start(self) -> Array:
        """The first numbers, with the states of their motion. Raises IntegrationError."""
        if self.count == 1:
            return self.first.copy()
        states = [self.charts[k].of(*self._states[k][1:]) for k in range(1, self.count)]
        return np.concatenate([self.first, *states])

    @property
    def scales(self) -> Array:
        """By which numbers are divided for the search."""
        least, most = self._bounds.T
        known = np.isfinite(least) & np.isfinite(most)
        sizes = np.maximum(np.abs(self.first), np.where(known, most - least, 0.0))
        own = np.where(sizes > 0, sizes, 1.0)
        return own if self.count == 1 else np.concatenate([own, *(self.state_scales(k) for k in range(1, self.count))])

    def state_scales(self, piece: int) -> Array:
        """Of the state at the begin of a stretch."""
        lengths = self.system.scales[: self.n]
        return self.charts[piece].of(self.small[0] * lengths, self.small[1] * self._speed * lengths)

    def smaller(self, course: Course) -> Array:
        """How much smaller a motion is than these scales of states, and how much slower, between SMALL and 1."""
        lengths, solution = self.system.scales[: self.n], course.solution
        moved = np.ptp(solution.q, axis=0) / (self.small[0] * lengths)
        fast = np.abs(solution.v).max(axis=0) / (self.small[1] * self._speed * lengths)
        found = np.array([moved.max(initial=0.0), fast.max(initial=0.0)]) if self.count > 1 else np.ones(2)
        return np.clip(found, np.minimum(SMALL / self.small, 1.0), 1.0)

    @cached_property
    def _speed(self) -> float:
        """Of the fastest coordinate of the first motion, in scales per second."""
        lengths = self.system.scales[: self.n]
        fastest = max(np.abs(v / lengths).max(initial=0.0) for _, _, v in self._states)
        return max(float(fastest), 1.0 / (self.own_tend - self.t0))

    # --- the motion

    @property
    def n(self) -> int:
        return self.system.n

    def values(self, x: Array) -> dict[str, float]:
        """All parameters that are given, with those that vary."""
        return {**self.given, **{each.name: float(x[k]) for k, each in enumerate(self.parameters)}}

    def tend(self, x: Array) -> float:
        if self.ends:
            return float(x[len(self.parameters)])
        return self.settings.tend if self.settings.tend is not None else self.subject.tend(self.values(x))

    def grid(self, x: Array) -> Array:
        return np.linspace(self.t0, self.tend(x), self.count + 1)

    def course(self, x: Array, sloped: bool, probed: bool = False) -> Course:
        """The motion, with derivatives by all numbers if asked for, and by the state at the start too if that is
        `probed`: these come last. Raises MechsimError where there is no such motion."""
        values, grid = self.values(x), self.grid(x)
        case = self.subject.case(values, tend=float(grid[-1]))
        own = None
        if sloped and self.parameters:
            case, own = case.directed([each.name for each in self.parameters])
        parts = Parts(self, case, own, grid, x, sloped, probed)
        stretches = [parts.stretch(piece) for piece in range(self.count)]
        solution = joined([each.solution for each in stretches])
        numbers, changing = self.subject.numbers(values), self.subject.names.changing or bool(self.controls)
        if not sloped:
            return Course(solution, (), (), numbers, changing)
        names = (*self.names, *(f"state {k} at 0" for k in range(self.width))) if probed else self.names
        found = Course(solution, tuple(stretches), names, numbers, changing)
        return replace(found, seams=parts.seams(found.changes.number(END)))

    def gaps(self, course: Course, x: Array) -> Array:
        """By how much each stretch misses the next, in scales."""
        found = [np.zeros(0)]
        for piece, (q, v) in enumerate(self._ends(course), 1):
            wanted = self.state(x, piece)
            found.append((self.charts[piece].of(q, v) - wanted) / self.state_scales(piece))
        return np.concatenate(found)

    def _ends(self, course: Course) -> list[tuple[Array, Array]]:
        """The states at the ends of all stretches but the last."""
        solution = course.solution
        ends = np.flatnonzero(solution.t[1:] == solution.t[:-1])
        return [(solution.q[k], solution.v[k]) for k in ends] if self.count > 1 else []

    def apart(self, course: Course) -> float:
        """By how much positions jump between stretches, at most, in scales: also those that are no unknowns."""
        solution = course.solution
        ends = np.flatnonzero(solution.t[1:] == solution.t[:-1]) if self.count > 1 else np.zeros(0, dtype=int)
        jumps = np.abs(solution.q[ends + 1] - solution.q[ends]) / self.system.scales[: self.n]
        return float(jumps.max(initial=0.0))

    def state(self, x: Array, piece: int) -> Array:
        """The unknowns at the begin of a stretch."""
        first = self.own + (piece - 1) * self.width
        return x[first : first + self.width]

    @cached_property
    def gap_places(self) -> tuple[Indices, Indices]:
        """Where the derivatives of gaps stand, rows and columns: those of a stretch, then that of the next state."""
        rows, columns = [], []
        for piece in range(self.count - 1):
            own = piece * self.width + np.arange(self.width)
            acting = self.acting(piece)
            rows += [np.repeat(own, len(acting)), own]
            columns += [np.tile(acting, self.width), self.own + own]
        none = np.zeros(0, dtype=np.intp)
        return np.concatenate([none, *rows]), np.concatenate([none, *columns])

    def gap_slopes(self, course: Course) -> Array:
        """The derivatives of gaps, in the order of `gap_places`."""
        found = [np.zeros(0)]
        for piece in range(self.count - 1):
            sizes = self.state_scales(piece + 1)
            found += [(self.end_slopes(course, piece) / sizes[:, None]).ravel(), -1.0 / sizes]
        return np.concatenate(found)

    def end_slopes(self, course: Course, piece: int) -> Array:
        """How the state at the end of a stretch changes, (unknowns, numbers that act in it)."""
        stretch = course.stretches[piece]
        tangents = stretch.solution.tangents
        moved = (piece + 1) / self.count * stretch.directions.change_of(END)
        assert tangents is not None
        q = tangents.positions[-1] + np.outer(stretch.solution.v[-1], moved)
        v = tangents.velocities[-1] + np.outer(_accelerations(stretch.solution), moved)
        return self.charts[piece + 1].of(q, v)

    def joined(self, x: Array) -> Array:
        """The same inputs with the states of the one motion that they give. Raises IntegrationError."""
        if self.count == 1:
            return x
        points = self._followed(x).sampled(self.grid(x)[1:-1])
        states = [self.charts[k + 1].of(points.q[k], points.v[k]) for k in range(self.count - 1)]
        return np.concatenate([x[: self.own], *states])

    def near(self, piece: int) -> Array:
        """Positions known last at the begin of a stretch."""
        return self.known.get(piece, self._states[piece][1])

    def acting(self, piece: int) -> Indices:
        """Which numbers act in a stretch by themselves, not through what comes before."""
        found = [*range(len(self.plain)), *(column for control in self.controls for column in control.columns(piece))]
        if piece:
            first = self.own + (piece - 1) * self.width
            found += range(first, first + self.width)
        return np.array(found, dtype=np.intp)

    def _followed(self, own: Array) -> Solution:
        """The whole motion in one go, with the inputs as they are."""
        grid, values = self.grid(own), self.values(own)
        case = self.subject.case(values, tend=float(grid[-1]))
        switches = [Switch(float(grid[k]), self.held(own, grid, k)) for k in range(self.count)]
        system = case.system.switching((*case.system.switches, *switches))
        return replace(case, system=system).solution(
            float(grid[-1]), tolerance=self.tolerance, order=self.settings.order
        )

    def held(self, x: Array, grid: Array, piece: int) -> dict[int, float]:
        """The constants that hold inputs in an interval."""
        found: dict[int, float] = {}
        for control in self.controls:
            value, *slopes = control.polynomial(x, piece, float(grid[piece + 1] - grid[piece])).tolist()
            port = control.port
            found[port.value] = value
            if port.slopes:
                found |= zip(port.slopes, slopes or [0.0] * len(port.slopes), strict=True)
                found[port.since] = float(grid[piece])
        return found

    @property
    def tolerance(self) -> float:
        return self.subject.tolerance if self.settings.tolerance is None else self.settings.tolerance


def _refuse_states(system: System) -> None:
    """Raise where positions and velocities do not tell how the motion goes on from the begin of an interval."""
    mechanism = system.mechanism
    events = [each.name for each in mechanism.events if not each.switch]
    for words, found in (
        ("contacts", mechanism.gaps),
        ("controllers that are sampled", mechanism.samplers),
        ("events", events),
    ):
        if found:
            message = f"inputs over intervals are not known with {words}: what holds between them is a state too"
            hint = "write the input as a formula of time in the file, and vary its parameters"
            raise SpecError(Fault(message, hint=hint))


def _accelerations(solution: Solution) -> Array:
    """At its end, by the last polynomial."""
    return np.asarray(solution.evaluate(solution.t[-1:], "before")[2][0, : solution.system.n])


def _intervals(inputs: Sequence[Variable]) -> int:
    counts = {each.intervals for each in inputs if each.intervals is not None}
    if len(counts) > 1:
        told = ", ".join(f"{each.name} {each.intervals}" for each in inputs if each.intervals is not None)
        raise SpecError(Fault(f"inputs must have equally many intervals: {told}"))
    return counts.pop() if counts else 1
