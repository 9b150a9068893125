"""A closed chain of states with a motion from each towards the next, and the linear equations that close it.

One state is enough for most periodic motions (single shooting); of motions that part fast more are needed, so that none
grows much (multiple shooting). Unknown beside the states are the period, where nothing depends on time, and a
parameter, where motions are followed over it. Derivatives are those of the kernel's tangents: no differences are taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from mechsim.analysis.arcs import Arc, Norm, arc_of
from mechsim.analysis.set_by_events import Left, begun_with, refuse_other
from mechsim.analysis.subject import Case, Subject
from mechsim.engine import State
from mechsim.errors import Fault, IntegrationError
from mechsim.frozen import frozen
from mechsim.result.layout import Array

TURN = 2 * np.pi
ENERGY, PERIOD = "energy", "period"  # among what is held
# Singular values below this share belong to ways along which there are other periodic motions: conserved energy leaves
# a family of them. Derivatives have ten digits or more, and beside a fold the least value is far larger.
FAMILY = 1e-7
FAMILY_WITHOUT_ENERGY = (
    1e-9  # where none is kept: next to a rest that is left and come back to, there are less in truth
)


@frozen(slots=False, eq=False)
class Ring:
    """States at equal parts of a period, (nodes, n) each; coordinates go on by `turns`, (n,), in each period.
    `parameters` are those that are not as the subject has them."""

    t: float
    period: float
    positions: Array
    velocities: Array
    turns: Array
    parameters: Mapping[str, float]
    left: tuple[Left, ...]  # by events, at each state

    @property
    def nodes(self) -> int:
        return len(self.positions)

    @property
    def lap(self) -> float:
        """The time from a state to the next."""
        return self.period / self.nodes

    def state(self, node: int, later: int = 0) -> State:
        """One of the states, also some periods later."""
        t = self.t + node * self.lap + later * self.period
        return State(t, self.positions[node] + later * TURN * self.turns, self.velocities[node])

    def case(self, subject: Subject, node: int, later: int = 0) -> Case:
        """The motion from one of these to the next. Raises AssemblyError where there is none."""
        state = self.state(node, later)
        case = subject.case(self.parameters, state, state.t + self.lap, nearest=True)
        return begun_with(case, self.left[node])


@frozen
class Unknowns:
    """What is unknown beside the states: the period, or else how it follows a parameter; and that parameter, where
    motions are followed over it, in its `unit`. Where nothing depends on time, the `phase` is free, and a condition of
    it is added. What is `held` is to have a value at the first state: coordinates and rates by name, the energy."""

    phase: bool
    period: bool
    parameter: str | None = None
    unit: float = 1.0
    period_slope: float = 0.0
    held: Mapping[str, float] = field(default_factory=dict)

    @property
    def followed(self) -> bool:
        return self.parameter is not None

    @property
    def beside(self) -> int:
        return int(self.period) + int(self.followed)


@frozen(slots=False, eq=False)
class Change:
    """A way to change a ring: its states, (nodes, 2n), its period and its parameter."""

    states: Array
    period: float
    parameter: float

    def times(self, factor: float) -> Change:
        return Change(factor * self.states, factor * self.period, factor * self.parameter)

    def plus(self, other: Change) -> Change:
        return Change(self.states + other.states, self.period + other.period, self.parameter + other.parameter)


@frozen(slots=False, eq=False)
class Linear:
    """A ring with its motions, and what closes it: matrix @ x = -missed for x along all ways of all states, then of the
    period in radians of it, then of the parameter in its unit. Rows behind those of the states are conditions."""

    ring: Ring
    arcs: tuple[Arc, ...]
    norm: Norm
    unknowns: Unknowns
    matrix: Array
    missed: Array
    beside: float  # by how much the motions miss the next states across all ways in which these may be moved, in scales

    @property
    def residual(self) -> float:
        """By how much the motions miss the next states, and what is held its value, in scales."""
        return float(np.abs(self.missed).max(initial=self.beside))

    @property
    def ways(self) -> int:
        return self.arcs[0].ways[0].shape[1]

    @property
    def transfers(self) -> list[Array]:
        """From the ways of each state to those of the next."""
        return [
            self.norm.coordinates(there.ways[0], each.ways[1])
            for each, there in zip(self.arcs, (*self.arcs[1:], self.arcs[0]), strict=True)
        ]

    @property
    def monodromy(self) -> Array:
        """How changes of the first state come back after a period, in its ways."""
        total = np.eye(self.ways)
        for each in self.transfers:
            total = each @ total
        return total

    @property
    def extent(self) -> float:
        """How far the motion goes from where it begins, in scales."""
        begin = self.arcs[0].begin
        states = [np.concatenate([each.solution.q, each.solution.v], axis=1) - begin for each in self.arcs]
        return float(np.linalg.norm(self.norm.weights * np.concatenate(states), axis=1).max())

    @property
    def family(self) -> float:
        """The share of the largest singular value below which others belong to families."""
        kept = self.unknowns.phase and self.arcs[0].case.system.is_conservative
        return FAMILY if kept else FAMILY_WITHOUT_ENERGY

    @property
    def growth(self) -> float:
        """By what factor a small change may have grown after a period."""
        return float(np.linalg.norm(self.monodromy, 2))

    @property
    def blur(self) -> float:
        """About by how much multipliers may be off: what states miss each other by grows as all changes do."""
        return self.residual * self.growth

    def change(self, step: Array) -> Change:
        """A step x as a change of the ring. States go along with their times."""
        ways, count = self.ways, len(self.arcs)
        rest = step[ways * count :]
        further = float(rest[-1]) * self.unknowns.unit if self.unknowns.followed else 0.0
        free = self.unknowns.period
        longer = float(rest[0]) * self.ring.period / TURN if free else self.unknowns.period_slope * further
        states = []
        for node, each in enumerate(self.arcs):
            along = each.ways[0] @ step[node * ways : (node + 1) * ways] + each.rates[0] * (longer * node / count)
            states.append(along + each.by_parameters[0][:, 0] * further if self.unknowns.followed else along)
        return Change(np.array(states), longer, further)

    def moved(self, change: Change) -> Ring:
        ring, n, parameters = self.ring, len(self.ring.turns), dict(self.ring.parameters)
        states = np.array([each.begin for each in self.arcs]) + change.states
        if self.unknowns.parameter is not None:
            parameters[self.unknowns.parameter] += change.parameter
        period, q, v = ring.period + change.period, states[:, :n], states[:, n:]
        return replace(ring, period=period, positions=q, velocities=v, parameters=parameters)

    def towards(self, other: Linear) -> Change:
        """From this ring to another one of as many states."""
        states = np.array([there.begin - here.begin for here, there in zip(self.arcs, other.arcs, strict=True)])
        name = self.unknowns.parameter
        further = 0.0 if name is None else other.ring.parameters[name] - self.ring.parameters[name]
        return Change(states, other.ring.period - self.ring.period, further)

    def length(self, change: Change) -> float:
        """In scales; states count by their mean square, so that it does not depend on how many there are."""
        return float(np.sqrt(self.product(change, change)))

    def product(self, one: Change, other: Change) -> float:
        squares = self.norm.weights**2
        along = float(np.sum(one.states * other.states * squares)) / len(self.arcs)
        time = self.ring.period / TURN
        return (
            along
            + one.period * other.period / time**2 * self.unknowns.period
            + one.parameter * other.parameter / self.unknowns.unit**2
        )

    def row(self, change: Change) -> Array:
        """The row that gives the product of a change with any step."""
        units = np.eye(self.matrix.shape[1])
        return np.array([self.product(change, self.change(unit)) for unit in units])


def linear(subject: Subject, ring: Ring, unknowns: Unknowns, tolerance: float) -> Linear:
    """The motions of a ring with their derivatives. Raises AssemblyError and IntegrationError where there are none."""
    by = () if unknowns.parameter is None else (unknowns.parameter,)
    arcs, q, v = [], ring.positions.copy(), ring.velocities.copy()
    for node in range(ring.nodes):
        case = ring.case(subject, node)
        q[node], v[node] = case.start.positions, case.start.velocities
        arcs.append(arc_of(case, ring.lap, tolerance, by))
    if len({each.ways[0].shape[1] for each in arcs}) > 1:
        message = "a contact that lasts takes freedoms from some of the states along the motion, and not from others"
        raise IntegrationError(Fault(message, hint="begin at a time at which it is open"))
    for each, there in zip(arcs, (*arcs[1:], arcs[0]), strict=True):
        refuse_other(each.solution, there.case.system)
    ring = replace(ring, positions=q, velocities=v)
    norm = Norm.of(arcs[0].case.system, ring.period / TURN)
    matrix, missed, beside = _closing(ring, arcs, norm, unknowns)
    rows, off = _conditions(arcs[0], norm, unknowns, matrix.shape[1])
    return Linear(ring, tuple(arcs), norm, unknowns, np.vstack([matrix, *rows]), np.append(missed, off), beside)


def _closing(ring: Ring, arcs: Sequence[Arc], norm: Norm, unknowns: Unknowns) -> tuple[Array, Array, float]:
    """What each motion misses the next state by, and how that changes; and what is missed across all ways: little, by
    the bend of constraints, unless the next state leans on a contact that the motion does not come to."""
    count, ways = len(arcs), arcs[0].ways[0].shape[1]
    matrix, missed = np.zeros((count, ways, count * ways + unknowns.beside)), np.zeros((count, ways))
    turned, across = TURN * np.concatenate([ring.turns, np.zeros_like(ring.turns)]), 0.0
    for node, each in enumerate(arcs):
        after = (node + 1) % count
        off = each.end - arcs[after].begin - (turned if after == 0 else 0.0)
        beside = _beside(ring, each, arcs[after], node, unknowns)
        columns = norm.coordinates(arcs[after].ways[0], np.column_stack([off, each.ways[1], *beside]))
        missed[node] = columns[:, 0]
        across = max(across, norm.length(off - arcs[after].ways[0] @ columns[:, 0]))
        matrix[node, :, node * ways : (node + 1) * ways] += columns[:, 1 : 1 + ways]
        matrix[node, :, after * ways : (after + 1) * ways] -= np.eye(ways)
        matrix[node, :, count * ways :] = columns[:, 1 + ways :]
    return matrix.reshape(count * ways, -1), missed.ravel(), across


def _beside(ring: Ring, each: Arc, there: Arc, node: int, unknowns: Unknowns) -> list[Array]:
    """How an end moves beside the next state, with the period and with the parameter. All states but the first go along
    with their times."""
    moved = each.rates[1] if node + 1 == ring.nodes else each.rates[1] - there.rates[0]
    later = moved * ((node + 1) / ring.nodes)
    columns = [later * ring.period / TURN] if unknowns.period else []
    if unknowns.followed:
        own = each.by_parameters[1][:, 0] - there.by_parameters[0][:, 0]
        columns.append(unknowns.unit * (own + unknowns.period_slope * later))
    return columns


def _conditions(first: Arc, norm: Norm, unknowns: Unknowns, width: int) -> tuple[list[Array], list[float]]:
    """Rows for the first state, and what they are off by: where the phase is free it does not move along the motion;
    and what is held has its value."""
    along = np.concatenate([first.ways[0], first.by_parameters[0]], axis=1)
    labels, n, ways = list(first.case.system.labels), first.case.system.n, first.ways[0].shape[1]
    found: list[tuple[Array, float]] = []
    if unknowns.phase:
        forward = norm.weights**2 * first.rates[0] / (norm.length(first.rates[0]) or 1.0)
        found.append((forward @ along, 0.0))
    for name, value in unknowns.held.items():
        if name == ENERGY:
            size = float(np.abs(first.energies).max(initial=0.0)) or 1.0
            found.append((first.energies / size, (first.energy - value) / size))
            continue
        label = name.removesuffix("_dot")
        place = labels.index(label) + n * (label != name)
        found.append((norm.weights[place] * along[place], norm.weights[place] * (first.begin[place] - value)))
    rows = np.zeros((len(found), width))
    for row, (values, _) in zip(rows, found, strict=True):
        row[:ways] = values[:ways]
        if unknowns.followed:
            row[-1] = values[-1] * unknowns.unit
    return list(rows), [off for _, off in found]
