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

from mechsim.analysis.subject import Case
from mechsim.design.course import TEND, Course, Measurable, Settings
from mechsim.design.nodes import Chart, Settled, settled
from mechsim.design.task import Variable
from mechsim.engine import InitialState, Solution, State, integrate, order_for
from mechsim.engine.joined import joined
from mechsim.engine.leading import planned
from mechsim.engine.machine import new_march
from mechsim.engine.tangents import END, Directions
from mechsim.errors import Fault, IntegrationError, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.changes import NumberChanges
from mechsim.kernel.system import System
from mechsim.measure.stretches import Seam, Stretch
from mechsim.model.mechanism import Port, Switch
from mechsim.nonlinear import Indices
from mechsim.result.layout import Array
from mechsim.simulation import failure

# Where a polynomial over an interval has its values, by its degree: shares of the interval. Those of cubics are
# Chebyshev's, between which they overshoot least.
POINTS = {0: (0.0,), 1: (0.0, 1.0), 3: (0.0, 0.25, 0.75, 1.0)}

SHORTEST = 1e-6  # of the first motion: the end that is chosen is no nearer to where it begins


@frozen
class Control:
    """An input over intervals: its numbers are those from `first` on, one for each interval, or with a `degree` one for
    each point of these, the last one that of the next interval too; a constant one has one number."""

    name: str
    port: Port
    first: int
    count: int
    degree: int

    def columns(self, piece: int) -> list[int]:
        """Which of all numbers act in an interval."""
        if self.count == 1:
            return [self.first]
        begin = self.first + max(self.degree, 1) * piece
        return list(range(begin, begin + self.degree + 1))

    @property
    def powers(self) -> Array:
        """From values at its points to coefficients of powers of the share of the interval."""
        return np.asarray(np.linalg.inv(np.vander(POINTS[self.degree], increasing=True)))

    def at(self, x: Array, piece: int, shares: Array) -> Array:
        """At shares of an interval."""
        coefficients = self.powers @ x[self.columns(piece)]
        return np.asarray(np.vander(shares, len(coefficients), increasing=True) @ coefficients)

    def polynomial(self, x: Array, piece: int, duration: float) -> Array:
        """Coefficients of powers of the time since an interval began."""
        return np.asarray(self.powers @ x[self.columns(piece)] / duration ** np.arange(self.degree + 1))

    def times(self, grid: Array) -> Array:
        """Of all its numbers."""
        if not self.degree:
            return grid[: self.count]
        inner = grid[:-1, None] + np.diff(grid)[:, None] * np.array(POINTS[self.degree])[:-1]
        return np.append(inner.ravel(), grid[-1])


@frozen(eq=False)
class Gaps:
    """By how much stretches miss each other, in scales, and how that changes: entries of a matrix."""

    values: Array
    rows: Indices
    columns: Indices
    entries: Array


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

    @cached_property
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
        return self.charts[piece].of(lengths, self._speed * lengths)

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
        parts = _Parts(self, case, own, grid, x, sloped, probed)
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


class _Parts:
    """The stretches of one motion."""

    def __init__(
        self,
        shooting: Shooting,
        case: Case,
        own: Directions | None,
        grid: Array,
        x: Array,
        sloped: bool,
        probed: bool,
    ):
        self.shooting, self.case, self.own, self.grid, self.x = shooting, case, own, grid, x
        self.sloped, self.probed = sloped, probed
        self.plan = planned(case.system, case.structure)
        order = shooting.settings.order or order_for(shooting.tolerance, self.plan)
        self.order, self.march = order, new_march(self.plan, order, shooting.tolerance)

    def stretch(self, piece: int) -> Stretch:
        shooting, system = self.shooting, self.case.system
        held = shooting.held(self.x, self.grid, piece)
        begun = float(self.grid[piece])
        switches = (*system.switches, Switch(begun, held)) if held else system.switches
        system = system.switching(switches) if held else system
        start, directions = self._begun(piece, system, held)
        solution = integrate(
            system,
            self.case.structure,
            start,
            tend=float(self.grid[piece + 1]),
            tolerance=shooting.tolerance,
            order=self.order,
            ready=(self.plan, self.march),
            tangents=directions if self.sloped else None,
        )
        if solution.status == "interrupted":
            raise KeyboardInterrupt
        if solution.status != "finished":
            raise IntegrationError(failure(solution))
        acting = shooting.acting(piece)
        if self.probed and not piece:
            acting = np.append(acting, len(shooting.names) + np.arange(shooting.width))
        return Stretch(solution, directions, acting)

    def _begun(self, piece: int, system: System, held: Mapping[int, float]) -> tuple[InitialState, Directions]:
        """Where a stretch begins, and the directions in which it is differentiated."""
        shooting, own = self.shooting, self.own or _none(system)
        if not piece:
            start, node = self.case.start, None
            if self.probed:
                chart, q = shooting.charts[0], start.positions
                unknowns = chart.of(q, start.velocities)
                node = settled(_holding(system, held), start.t, chart, unknowns, q, own.numbers)
            return start, self._directed(0, system, start, own, node) if self.sloped else own
        chart, near = shooting.charts[piece], shooting.near(piece)
        t, unknowns = float(self.grid[piece]), shooting.state(self.x, piece)
        node = settled(_holding(system, held), t, chart, unknowns, near, own.numbers if self.sloped else None)
        shooting.known[piece] = node.positions
        begun = State(t, node.positions, node.velocities)
        if not self.sloped:
            return begun, own
        own = replace(
            own, positions=node.by_positions[:, chart.width :], velocities=node.by_velocities[:, chart.width :]
        )
        return begun, self._directed(piece, system, begun, own, node)

    def _directed(
        self, piece: int, system: System, start: InitialState, own: Directions, node: Settled | None
    ) -> Directions:
        """In the order of `Shooting.acting`."""
        place = sum(switch.time <= self.grid[piece] for switch in self.case.system.switches)
        found = replace(own, switches=_with(own.switches, place, {}) if self.shooting.controls else own.switches)
        for _ in self.shooting.ends:
            still = np.zeros((system.n, 1))
            numbers = NumberChanges.none(system, 1)
            found = found.joined(Directions((TEND,), still, still.copy(), numbers, given={END: np.ones(1)}))
        for control in self.shooting.controls:
            found = found.joined(self._of_control(control, piece, system, place))
        if node is not None:
            found = found.joined(self._of_node(system, node))
        return self._moving(found, piece, system, start, place)

    def _of_control(self, control: Control, piece: int, system: System, place: int) -> Directions:
        port, count = control.port, len(control.columns(piece))
        duration = float(self.grid[piece + 1] - self.grid[piece])
        value, *slopes = control.powers / duration ** np.arange(count)[:, None]
        changes = {port.value: value}
        if port.slopes:
            changes |= zip(port.slopes, slopes or [np.zeros(count)] * len(port.slopes), strict=True)
            changes[port.since] = np.zeros(count)
        still = np.zeros((system.n, count))
        names = tuple(f"{control.name} {k}" for k in range(count))
        return Directions(names, still, still.copy(), NumberChanges.none(system, count), _with((), place, changes))

    def _of_node(self, system: System, node: Settled) -> Directions:
        names = tuple(f"state {k}" for k in range(self.shooting.width))
        q, v = (each[:, : len(names)] for each in (node.by_positions, node.by_velocities))
        return Directions.of_state(system, names, q, v)

    def _moving(self, found: Directions, piece: int, system: System, start: InitialState, place: int) -> Directions:
        """Where the motion ends later, this stretch begins later too: at one time it is that much behind."""
        later = found.change_of(END) / self.shooting.count
        if not self.shooting.controls or not later.any():
            return found
        begins, duration = piece * later, float(self.grid[piece + 1] - self.grid[piece])
        changes, held = dict(found.switches[place]), self.shooting.held(self.x, self.grid, piece)
        for port in (control.port for control in self.shooting.controls):
            for power, slope in enumerate(port.slopes, 1):
                changes[slope] = changes[slope] - power * held[slope] / duration * later
            if port.slopes:
                changes[port.since] = changes[port.since] + begins
        switches = (*found.switches[:place], changes, *found.switches[place + 1 :])
        if not piece:
            return replace(found, switches=switches)
        here = _holding(system, held)
        accelerations, _ = here.accelerations(start.t, start.positions, start.velocities)
        positions = found.positions - np.outer(start.velocities, begins)
        velocities = found.velocities - np.outer(accelerations, begins)
        return replace(found, positions=positions, velocities=velocities, switches=switches)

    def seams(self, changes: Array) -> tuple[Seam, ...]:
        """Where stretches meet, and how these times move; `changes` are those of the end."""
        count = self.shooting.count
        if not changes.any():
            return ()
        return tuple(Seam(float(self.grid[k]), k / count * changes) for k in range(1, count))


Changed = tuple[Mapping[int, np.ndarray], ...]  # what switches set, one after the other


def _with(switches: Changed, place: int, changes: Mapping[int, np.ndarray]) -> Changed:
    """One more among switches, at a place."""
    padded = [*switches, *({} for _ in range(place - len(switches)))]
    return (*padded[:place], changes, *padded[place:])


def _none(system: System) -> Directions:
    nothing = np.zeros((system.n, 0))
    return Directions((), nothing, nothing.copy(), NumberChanges.none(system, 0))


def _holding(system: System, held: Mapping[int, float]) -> System:
    constants = system.constants.copy()
    constants[list(held)] = list(held.values())
    return system.holding(constants)


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
