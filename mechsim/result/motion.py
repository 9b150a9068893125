"""Motion: what `mechsim.simulate` hands back. Any point at any time, as a table, with its certificate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mechsim.engine.events import Events, no_events
from mechsim.engine.points import Points
from mechsim.engine.segments import Segments, Side, last_begun
from mechsim.engine.solution import Solution
from mechsim.lagrangian.vector import AXES
from mechsim.model.mechanism import Mechanism
from mechsim.result.accelerations import Accelerations, Column, columns_of
from mechsim.result.certificate import Certificate, Monitor
from mechsim.result.derived import Derived
from mechsim.result.layout import Array, full_layout
from mechsim.result.trajectory import Facts, Polynomials, Trajectory

if TYPE_CHECKING:
    import pandas


class State(Mapping[str, Array]):
    """Numbers of a mechanism by name: `state["A"]` is a vector, `state["A_x"]` and `state["theta_OF"]` numbers.

    `values` is (n,) or, for many times, (k, n). For velocities `constant` is 0, which is how fixed points move. `drawn`
    are points that are only drawn.
    """

    def __init__(
        self, mechanism: Mechanism, values: Array, constant: float = 1.0, drawn: Mapping[str, Array] | None = None
    ):
        self.mechanism = mechanism
        self.values_array = values
        self.constant = constant
        self.drawn = drawn or {}
        self.places = {variable.label: index for index, variable in enumerate(mechanism.variables)}

    def __getitem__(self, name: str) -> Array:
        if name in self.places:
            return self.values_array[..., self.places[name]]
        if name in self.mechanism.points:
            slots = self.mechanism.points[name]
            return np.stack([self._slot(slot) for slot in slots], axis=-1)
        if name in self.drawn:
            return self.drawn[name]
        raise KeyError(f"no point or coordinate {name!r}; there are {', '.join(self)}")

    def _slot(self, slot: int) -> Array:
        if slot >= 0:
            return self.values_array[..., slot]
        return np.full(self.values_array.shape[:-1], self.constant * self.mechanism.constants[-1 - slot])

    def __iter__(self) -> Iterator[str]:
        yield from self.mechanism.points
        yield from (variable.label for variable in self.mechanism.variables if variable.kind != "position")
        yield from self.drawn

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name}: {np.array2string(self[name], threshold=6)}" for name in self) + "}"


class Motion:
    """A solved motion. `facts` are the title, spec text, settings and version that its files carry.

    `reactions` are the points whose forces its tables have, `rows` those of its table, where they are known already.
    """

    def __init__(self, solution: Solution, facts: Facts, reactions: Sequence[str] = (), rows: Points | None = None):
        self.solution, self._rows = solution, rows
        self.system = solution.system
        self.facts = facts
        self.reactions = tuple(reactions)
        self._forces: dict[str | None, Derived] = {}

    @property
    def mechanism(self) -> Mechanism:
        return self.system.mechanism

    @property
    def events(self) -> Events:
        """What happened at contacts, in the order of time: `for event in motion.events: event.t, event.gap, ...`."""
        return self.solution.events or no_events(self.system)

    def __call__(self, t: float | Array, side: Side = "after") -> State:
        """Positions at time t (a number or an array), e.g. `motion(0.5)["A"]`.

        Here and below, what jumps at t (a force by a table in steps, say) has its value just `side` of the jump.
        """
        q, v, _ = self._sample(t, side)
        return State(self.mechanism, q, drawn=self._drawn(t, q, v)[0])

    def velocity(self, t: float | Array, side: Side = "after") -> State:
        """Velocities at time t, e.g. `motion.velocity(0.5)["A"]`."""
        q, v, _ = self._sample(t, side)
        return State(self.mechanism, v, constant=0.0, drawn=self._drawn(t, q, v)[1])

    def _drawn(self, t: float | Array, q: Array, v: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """Points that are only drawn, and their velocities."""
        labels = self.mechanism.drawn
        if not labels:
            return {}, {}
        found = self.system.places(t, q, v)
        names = [label[:-2] for label in labels[::2]]  # of each coordinate
        slots = {name: [2 * k for k, other in enumerate(names) if other == name] for name in names}
        places = {name: found[..., own] for name, own in slots.items()}
        return places, {name: found[..., [k + 1 for k in own]] for name, own in slots.items()}

    def acceleration(self, name: str, t: float | Array, side: Side = "after") -> Array:
        """Of a point (a vector), an angle or another coordinate at time t: `motion.acceleration("A", 0.5)`.

        It solves the equations at the state there, so it is as exact as the state. With keep="table" it is known at
        the times of the table's rows.
        """
        columns = columns_of(self.mechanism, name)
        self._check(t)
        found = self.solution.leading(self._points_at(np.atleast_1d(np.asarray(t, float)), side))[0]
        return self._vector(columns, found, t)

    def jerk(self, name: str, t: float | Array, side: Side = "after") -> Array:
        """The rate of an acceleration at time t, from the equations differentiated once more."""
        columns = columns_of(self.mechanism, name)
        self._check(t)
        found = self.solution.jerks(self._points_at(np.atleast_1d(np.asarray(t, float)), side), side)
        return self._vector(columns, found, t)

    def _vector(self, columns: Sequence[Column], found: Array, t: float | Array) -> Array:
        """At a time or at many: a vector of a point, a number of a coordinate."""
        table = Accelerations(tuple(columns)).table(found)
        table = table[:, 0] if columns[0].label.endswith("_ddot") else table
        return table[0] if np.ndim(t) == 0 else table

    def _points_at(self, times: Array, side: Side) -> Points:
        """The states at these times; where no polynomials are kept, rows of the table."""
        if self.solution.coefficients is not None:
            return self.solution.sampled(times, side)
        rows = self.solution.points if self._rows is None else self._rows
        place = last_begun(rows.t, times, "after", bool(rows.t[-1] < rows.t[0]))
        if not np.array_equal(rows.t[place], times):
            raise ValueError('only the table was kept, so this is known at its rows alone: keep="polynomials"')
        if side == "before":  # of two rows at one time the first
            place = np.where(rows.t[np.maximum(place - 1, 0)] == times, np.maximum(place - 1, 0), place)
        return replace(rows[place], system=self.solution.system_at(times, side))

    def derivative(self, by: str, t: float | Array, of: str = "positions", side: Side = "after") -> State:
        """How positions (or `of="velocities"`) at time t change with what a motion was differentiated by:
        `motion.derivative("mass", 0.5)["A"]`; on the constraints, as these are at t. An event makes it jump."""
        tangents = self.solution.tangents
        if tangents is None or by not in tangents.names:
            known = "nothing" if tangents is None else ", ".join(tangents.names)
            raise KeyError(f"{by!r} is not among what the motion was differentiated by: {known}")
        self._check(t)
        place = {"positions": 0, "velocities": 1}[of]
        found = self.solution.derivatives(t, side)[place][..., tangents.names.index(by)]
        return State(self.mechanism, found[0] if np.ndim(t) == 0 else found, constant=0.0)

    def multipliers(self, t: float | Array, side: Side = "after") -> dict[str, Array]:
        """Lagrange multipliers of the constraints at time t, by label, e.g. `motion.multipliers(0.5)["l_OA"]`."""
        values = self._sample(t, side)[2]
        labels = self.system.labels[self.system.n :]
        return {label: values[..., index] for index, label in enumerate(labels)}

    def signals(self, t: float | Array, side: Side = "after") -> dict[str, Array]:
        """Values at time t of the signals that `Output` of the file names: `motion.signals(0.5)["power"]`."""
        columns = self._columns(None, t, side)
        return {name: columns[label] for name, label in self._derived(None).signals.items()}

    def reaction(self, point: str, t: float | Array, *, frame: str = "world", side: Side = "after") -> dict[str, Array]:
        """The force on each part at a point, in newtons, by part: `motion.reaction("A", 0.5)["OA"]`.

        It is what everything else exerts on the part there. In the part's own `frame` ("part") the components are
        along the part, from its first to its second point, and across it.
        """
        axes = {"world": AXES[: self.mechanism.dimension], "part": "uv"}[frame]
        columns = self._columns(point, t, side)
        return {
            each.key: np.stack([columns[f"{each.name}_F{axis}"] for axis in axes], axis=-1)
            for each in self._derived(point).reactions.bearings
            if f"{each.name}_F{axes[0]}" in columns  # a particle has no frame of its own
        }

    def torque(self, part: str, t: float | Array, side: Side = "after") -> Array:
        """The torque that loads and drives exert on a part whose turn angle is a coordinate, in newton metres."""
        point = next((each.points[0] for each in self.mechanism.parts if each.name == part), None)
        if point is None or f"{part}_M" not in self._derived(point).names:
            raise KeyError(f"no part {part!r} with a turn angle")
        return self._columns(point, t, side)[f"{part}_M"]

    def is_unique(self, point: str) -> dict[str, bool]:
        """Per part at a point, whether its force there is determined; where not, the smallest forces are given."""
        derived = self._derived(point)
        return {
            each.key: all(f"{each.name}_F{axis}" not in derived.not_unique for axis in AXES)
            for each in derived.reactions.bearings
        }

    def _derived(self, point: str | None) -> Derived:
        """All columns beyond the state, with the forces at one point or at none."""
        if point not in self._forces:
            self._forces[point] = derived_columns(self.solution, [] if point is None else [point])
        return self._forces[point]

    def _columns(self, point: str | None, t: float | Array, side: Side) -> dict[str, Array]:
        self._check(t)
        points = self.solution.sampled(t, side)
        derived = self._derived(point)
        table = derived.table(points)
        return dict(zip(derived.names, table[0] if np.ndim(t) == 0 else table.T, strict=True))

    @property
    def t(self) -> Array:
        """The ends of the steps taken, the start first. Tables have rows between them where steps are long."""
        return np.asarray(self.solution.t)

    @property
    def status(self) -> str:
        return str(self.solution.status)

    @cached_property
    def trajectory(self) -> Trajectory:
        """The table of the motion, every column: the ends of its steps, and rows between where steps are long."""
        return self._tabulated(self.solution.rows if self._rows is None else self._rows)

    @property
    def segments(self) -> Segments:
        """Its smooth pieces: between them tables and sampled controllers change constants of the mechanism."""
        return self.solution.segments

    def both_sides(self) -> Trajectory:
        """The same table, with two rows where segments meet: the end of one, the start of the next."""
        return self._tabulated(self.solution.both_sides)

    @property
    def certificate(self) -> Certificate:
        certificate = self.trajectory.certificate
        assert certificate is not None  # tabulate always gives one
        return certificate

    def sampled(self, times: Array, side: Side = "after") -> Trajectory:
        """The table at times of your choice, from dense output."""
        self._check(times)
        return self._tabulated(self.solution.sampled(np.asarray(times, float), side))

    def _tabulated(self, points: Points) -> Trajectory:
        return tabulate(self.solution, self.facts, points, derived_columns(self.solution, self.reactions))

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas DataFrame."""
        return self.trajectory.to_pandas()

    def save(self, path: str | Path) -> Path:
        """Write the table to `.csv`, `.npz` or `.parquet`, by the file's ending."""
        return self.trajectory.save(path)

    def _sample(self, t: float | Array, side: Side) -> tuple[Array, Array, Array]:
        self._check(t)
        q, v, lam = self.solution.sample(t, side)
        return (q[0], v[0], lam[0]) if np.ndim(t) == 0 else (q, v, lam)

    def _check(self, t: float | Array) -> None:
        first, last = sorted((self.t[0], self.t[-1]))
        if not np.all((np.asarray(t) >= first) & (np.asarray(t) <= last)):
            raise ValueError(f"the motion is known from t = {first:g} to {last:g}, not at all of {t}")

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_forces": {}}

    def __repr__(self) -> str:
        return f"<Motion of {self.mechanism.title!r}, t = {self.t[0]:g} to {self.t[-1]:g}, {self.status}>"


def tabulate(
    solution: Solution,
    facts: Facts,
    points: Points,
    derived: Derived | None = None,
) -> Trajectory:
    """The table of a solution at these points, with its certificate and polynomials."""
    monitor = Monitor(solution.system)
    layout = full_layout(solution.system.mechanism)
    table = layout.table(monitor.observe(points))
    labels, units = layout.labels, layout.units
    if derived and derived.labels:
        table = np.concatenate([table, derived.table(points)], axis=1)
        labels, units = labels + derived.labels, units + derived.units
    return Trajectory(
        labels=labels,
        units=units,
        table=table,
        certificate=monitor.certificate(facts["settings"]["tol"], solution.statistics, derived, solution.events),
        polynomials=polynomials(solution),
        status="finished" if solution.status == "finished" else "partial",
        not_unique=derived.not_unique if derived else (),
        segments=solution.segments,
        events=solution.events if solution.events is not None and solution.events.names else None,
        **facts,
    )


def derived_columns(solution: Solution, reactions: Sequence[str] = ()) -> Derived:
    """The columns beyond the state for a solution, with the forces at these points."""
    state = solution.t[0], solution.q[0], solution.v[0]
    return Derived(
        solution.system,
        solution.structure.redundancy,
        lambda: solution.leading,
        state,
        reactions,
        solution.jerks,
    )


def polynomials(solution: Solution) -> Polynomials | None:
    """The Taylor series of a solution that kept them."""
    if solution.coefficients is None:
        return None
    t, coefficients = np.asarray(solution.t), np.asarray(solution.coefficients)
    starts, ends = t[:-1], t[1:]
    if solution.system.gaps or solution.system.frictions:  # from one side of an event to the other there is no way
        long = starts != ends
        starts, ends, coefficients = starts[long], ends[long], coefficients[long]
    return Polynomials(starts, ends, coefficients, tuple(solution.system.labels))
