"""Motions that leave a mechanism as it is: shifts and turns of the whole, and of parts by themselves, which its
equations do not notice. A mechanism that is carried along by one of them moves steadily.

Such a motion S commutes with the flow X. Candidates are tried at a few states of no special kind, all sums of them at
once, together with the time, for what a drive turns steadily is left as it is only if time goes on too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice

import numpy as np

from mechsim.analysis import generators, named_sums
from mechsim.analysis.flow import Flow, Local, projected
from mechsim.analysis.generators import Family
from mechsim.analysis.ground import Ground
from mechsim.analysis.symmetry import reduced
from mechsim.errors import AssemblyError, Fault, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.changes import NumberChanges, changes_of
from mechsim.kernel.linear import generic, null_space
from mechsim.model.mechanism import Mechanism
from mechsim.result.layout import Array

STATES, STRIDE = 4, 0.1  # at which symmetries are tried, so far away in scales
MOST_PARTS = 20  # whose own motions are tried
# Of the size of what is compared: what is less is rounding, what is more is not. Between them it is not clear, nor is
# it where roundings, beside the least that is not, would be seen in sums.
ROUNDED, CLEAR, SEEN = 2e-13, 5e-10, 1e-8
ROUNDINGS = 1e-17  # of how far away it is and how fast it goes on, in scales: these are rounded too
FAINT = 3e-8  # of speeds in scales: rates of change of accelerations that are less may be the root of roundings
STEP = 1e-30  # of imaginary parts: derivatives of polynomials, exact for nothing is subtracted


@frozen(eq=False, slots=False)
class Standing:
    """Points of a mechanism at many states; imaginary parts may be changes."""

    mechanism: Mechanism
    q: Array
    v: Array

    @property
    def points(self) -> dict[str, tuple[int, ...]]:
        return dict(self.mechanism.points)


class Candidates:
    """Motions of a system of which sums are tried."""

    def __init__(self, flow: Flow, families: Sequence[Family] | None = None):
        self.system, self._flow = flow.system, flow
        self._ground = Ground(self.system.mechanism)
        self.families = self._families() if families is None else list(families)
        self.count = sum(map(self._columns, self.families))
        variables = self.system.mechanism.variables
        accounts = set(self.system.accounts.tolist())
        kinds = [variable.kind for variable in variables]
        # What counts: points, and states of controllers, which have rates; other coordinates follow from points.
        self.points = [k for k, kind in enumerate(kinds) if kind == "position"]
        self.states = [k for k, kind in enumerate(kinds) if kind == "state" and k not in accounts]

    @property
    def is_of_a_file(self) -> bool:
        return any(element.origin.sort for element in self.system.mechanism.elements)

    def _families(self) -> list[Family]:
        mechanism = self.system.mechanism
        if not self.is_of_a_file:
            return [generators.of_coordinates(mechanism)]
        parts = [part for part in mechanism.parts if generators.has_frame(part, mechanism.dimension)]
        return [generators.whole(mechanism), *(generators.of_part(part, mechanism) for part in parts[:MOST_PARTS])]

    def _columns(self, family: Family) -> int:
        return len(family.names) if self.is_of_a_file else family.shifts

    @property
    def shifts(self) -> int:
        """How many come first that shift the whole."""
        return self.families[0].shifts if self.families and not self.families[0].part else 0

    @property
    def lengths(self) -> Array:
        """The size of the mechanism for shifts, 1 for turns."""
        sizes = [np.arange(self._columns(each)) < each.shifts for each in self.families]
        shifts = np.concatenate([np.zeros(0, dtype=bool), *sizes])
        return np.where(shifts, self.system.mechanism.size or 1.0, 1.0)

    def without_idle(self, factors: Array) -> tuple[Candidates, list[int]]:
        """Those of families that some sums, (sums, candidates), are made of; and their numbers."""
        ends = np.cumsum([0, *map(self._columns, self.families)])
        used = [k for k in range(len(self.families)) if factors[:, ends[k] : ends[k + 1]].any()]
        numbers = [number for k in used for number in range(ends[k], ends[k + 1])]
        return Candidates(self._flow, [self.families[k] for k in used]), numbers

    def _standing(self, q: Array, v: Array) -> Standing:
        places, still = self._ground.beside(q, self.system.constants)
        return Standing(self._ground.mechanism, places, np.concatenate([v, still], axis=1))

    def strayed(self, q: Array) -> Array:
        """How fast fixed points of a part would go along motions of it by itself, (fixed coordinates, candidates)."""
        n, standing = self.system.n, self._standing(q[None], np.zeros((1, len(q))))
        found = [family.moved(standing)[0][0, n:, : self._columns(family)] for family in self.families]
        strays = [each * bool(family.part) for family, each in zip(self.families, found, strict=True)]
        return np.concatenate(strays, axis=1) / (self.system.mechanism.size or 1.0)

    def moved(self, q: Array, v: Array) -> tuple[Array, Array]:
        """How fast coordinates go along each, and rates of that, (states, n, candidates); q and v may be complex."""
        standing = self._standing(q, v)
        found = [family.moved(standing) for family in self.families]
        n = self.system.n
        columns = [
            [each[k][:, :n, : self._columns(f)] for f, each in zip(self.families, found, strict=True)] for k in (0, 1)
        ]
        none = np.zeros((len(q), n, 0), q.dtype)
        return np.concatenate([none, *columns[0]], axis=2), np.concatenate([none, *columns[1]], axis=2)

    def changes(self, q: Array, v: Array, dq: Array, dv: Array) -> tuple[Array, Array]:
        """How these change along directions, (n, directions): (directions, n, candidates) each."""
        speeds, rates = self.moved(q + 1j * STEP * dq.T, v + 1j * STEP * dv.T)
        return speeds.imag / STEP, rates.imag / STEP

    def words(self, factors: Array) -> str:
        """A sum of them as a motion."""
        said, first = [], 0
        for family in self.families:
            own = factors[first : first + self._columns(family)]
            first += self._columns(family)
            if not own.any():
                continue
            if not self.is_of_a_file:
                names = [name.removeprefix("p_") for name in family.names]
                said += [f"{name} goes on at {named_sums.told(x)}" for name, x in zip(names, own, strict=False) if x]
            else:
                fixed = {} if family.part else self._fixed
                said.append(named_sums.of_motion(own, self.system.mechanism.dimension, family.part, fixed))
        return "; ".join(said)

    @cached_property
    def _fixed(self) -> dict[str, Array]:
        points, constants = self.system.mechanism.points, self.system.constants
        still = {name: slots for name, slots in points.items() if all(slot < 0 for slot in slots)}
        return {name: constants[[-1 - slot for slot in slots]] for name, slots in still.items()}


@frozen(eq=False, slots=False)
class View:
    """The flow at a state in units of scales and of a time: what is allowed, how that goes on, the flow itself, and
    candidates with their rates."""

    local: Local
    candidates: Candidates
    time: float

    @property
    def _rows(self) -> tuple[list[int], list[int]]:
        return [*self.candidates.points, *self.candidates.states], self.candidates.points

    def stacked(self, positions: Array, velocities: Array) -> Array:
        """A change of a state, or several in columns."""
        first, second = self._rows
        scales = self.local.flow.system.scales
        upper = (positions[first].T / scales[first]).T
        return np.concatenate([upper, (self.time * velocities[second].T / scales[second]).T])

    @property
    def far(self) -> float:
        """How far away it is, or how far it goes on in the time, in scales: that is rounded too."""
        rows, scales = self.candidates.points, self.local.flow.system.scales
        away = np.abs(self.local.q[rows] / scales[rows]).max(initial=0.0)
        return float(away + np.abs(self.flow).max(initial=0.0))

    @cached_property
    def moved(self) -> tuple[Array, Array, Array]:
        """Changes of positions, velocities and accelerations along all directions that are allowed, (n, directions)
        each: in scales, and of velocities in scales and the time."""
        places, rates = self.local.freedoms
        sizes = np.append(np.ones(places), np.full(rates, 1 / self.time))
        q, v, a = (each[:, : places + rates] * sizes for each in self.local.moved)
        return q, v, a

    @cached_property
    def allowed(self) -> Array:
        return self.stacked(*self.moved[:2])

    @cached_property
    def onward(self) -> Array:
        """How what is allowed goes on, in units of the time."""
        return self.time * self.stacked(*self.moved[1:])

    @cached_property
    def flow(self) -> Array:
        return self.time * self.stacked(self.local.v, self.local.a)

    @cached_property
    def back(self) -> Array:
        """From changes of the state to directions."""
        return np.asarray(np.linalg.pinv(self.allowed))

    @cached_property
    def carried(self) -> Array:
        """Candidates as changes of the state, (rows, candidates)."""
        speeds, rates = self.candidates.moved(self.local.q[None], self.local.v[None])
        return self.stacked(speeds[0], rates[0])

    def bent(self, factors: Array) -> Array:
        """How a sum of candidates changes along what is allowed, (rows, directions)."""
        speeds, rates = self.candidates.changes(self.local.q, self.local.v, *self.moved[:2])
        return self.stacked((speeds @ factors).T, (rates @ factors).T)

    def conditions(self) -> Array:
        """Rows that are zero for sums of candidates, and of the time in the last column, which leave the flow as it is:
        they go along what is allowed, and accelerations change with them as with the motion."""
        local, candidates = self.local, self.candidates
        inside = np.eye(len(self.allowed)) - self.allowed @ self.back
        together = np.column_stack([self.carried, -self.flow])
        rates = candidates.changes(local.q, local.v, local.v[:, None], local.a[:, None])[1][0]
        still = np.zeros_like(rates)
        length = len(candidates.points)
        second = self.time * self.stacked(still, rates)[-length:]
        jerk = self.time**2 * self.stacked(0.0 * local.jerk, local.jerk)[-length:]
        grows = (self.onward[-length:] @ self.back) @ together
        return np.concatenate([inside @ together, grows - np.column_stack([second, -jerk]), self._gained()])

    def _gained(self) -> Array:
        """How much kinetic energy candidates give, which no shift or turn of the whole does: what maps motions to
        others that are faster, as a skate's circles to wider ones, leaves no mechanism as it is. A Lagrangian tells
        none."""
        local, candidates = self.local, self.candidates
        if not candidates.is_of_a_file:
            return np.zeros((0, candidates.count + 1))
        system, state = local.flow.system, (local.t, local.q, local.v)
        moved = tuple(each[0] for each in candidates.moved(local.q[None], local.v[None]))
        changes = changes_of(system, ("kinetic",), state, moved, NumberChanges.none(system, candidates.count))
        gained = sum((value.sum(axis=0) for _, _, own in changes for value in own), np.zeros(candidates.count))
        momentum = np.abs(np.asarray(system.mass_matrix(*state)) @ local.v)
        most = float(momentum @ system.scales[: system.n]) / self.time
        return np.append(gained / most if most > 0 else gained, 0.0)[None]


@frozen(eq=False, slots=False)
class Symmetries:
    """Sums of candidates that leave the flow as it is, by their factors: those that do by themselves, (sums,
    candidates), each of which moves things about as far, in its own way; and the one that does as time goes on, which
    is zero unless something is driven steadily. None: the flow changes with time in another way."""

    candidates: Candidates
    still: Array
    driven: Array | None
    time: float  # in which things move
    sizes: Array  # how far each candidate moves things, in scales


def symmetries(flow: Flow, t: float, q: Array, v: Array) -> Symmetries:
    """Raises AssemblyError, SpecError where the flow has no value near the state, or where it is not clear."""
    candidates = Candidates(flow)
    time, slow = _times(flow, t, q, v)
    views = [View(local, candidates, slow) for local in generic_states(flow, t, q, slow)]
    strayed = np.concatenate([candidates.strayed(view.local.q) for view in views])
    moves = np.concatenate([*(view.carried for view in views), strayed])
    sizes = _lengths(moves)
    rounded = ROUNDED + ROUNDINGS * max((view.far for view in views), default=0.0)
    used = _independent(moves / sizes, rounded)
    # The time first: a sum that needs it has it. Where nothing changes with time it goes on by itself.
    columns = [*([candidates.count] if flow.reads_time else []), *used]
    strayed = np.column_stack([strayed, np.zeros(len(strayed))])
    units = np.append(sizes, _lengths(np.concatenate([view.flow for view in views])[:, None]))[columns]
    matrix = np.concatenate([*(view.conditions() for view in views), strayed])[:, columns]
    found = reduced(_nothing(matrix / units, rounded).T) / units
    told = np.zeros((len(found), candidates.count + 1))
    told[:, columns] = found
    told, pace = told[:, :-1], told[:, -1]
    driven = None if flow.reads_time else np.zeros(candidates.count)
    if pace.any():
        driven = told[pace != 0][0] / pace[pace != 0][0] / slow
    fewer, numbers = candidates.without_idle(told)
    still = _alike(told[pace == 0], moves, candidates.lengths)[:, numbers]
    return Symmetries(fewer, still, None if driven is None else driven[numbers], time, sizes[numbers])


def _lengths(columns: Array) -> Array:
    """1 for none."""
    lengths = np.linalg.norm(columns, axis=0)
    return np.where(lengths > 0, lengths, 1.0)


def _nothing(matrix: Array, rounded: float) -> Array:
    """Orthonormal columns that a matrix, with columns of one size, takes to nothing. Raises where that is not clear."""
    triangle = np.linalg.qr(matrix)[1]  # rows may be many
    sizes = np.linalg.svd(triangle, compute_uv=False)
    nothing, least = sizes[sizes < CLEAR].max(initial=0.0), sizes[sizes >= CLEAR].min(initial=1.0)
    if nothing > min(rounded, SEEN * least):
        message = "which turns and shifts leave it as it is cannot be told: what they change is as small as roundings"
        hint = "something is very small or slow against something else: let it be larger, or leave it out"
        raise SpecError(Fault(message, hint=hint))
    return null_space(triangle, absolute=CLEAR)


def _alike(sums: Array, moves: Array, lengths: Array) -> Array:
    """The same by sums each of which moves things as far, in a way of its own: so that far from an axis turns about it
    are told apart from shifts. Those that move them far come first: others are told beside them without roundings."""
    if not len(sums):
        return sums
    far = np.linalg.norm(moves @ sums.T, axis=0) / np.linalg.norm(sums / lengths, axis=1)
    sums = sums[np.argsort(-far, kind="stable")]
    return np.linalg.solve(np.linalg.qr(moves @ sums.T)[1].T, sums)


def _independent(carried: Array, rounded: float) -> list[int]:
    """Candidates without those that do nothing, or that are sums of others; the first are kept."""
    sums = reduced(_nothing(carried, rounded).T[:, ::-1])
    left_out = {carried.shape[1] - 1 - int(np.flatnonzero(row)[0]) for row in sums}
    return [k for k in range(carried.shape[1]) if k not in left_out]


def _times(flow: Flow, t: float, q: Array, v: Array) -> tuple[float, float]:
    """In which things move, there and beside it, and in which they would begin to from where they stand: by how
    accelerations change with places and speeds, which is the same wherever the mechanism is and however it goes along;
    of what is free by how fast it is, or would become."""
    beside = list(islice(generic_states(flow, t, q, np.inf), 1))
    near = [flow.at(t, q, v), *beside]
    going = max(map(_going, near))
    rates = [max(map(_bending, some), default=0.0) for some in (near, beside)]
    time, slow = (1.0 / ((rate if rate > FAINT * going else going) or 1.0) for rate in rates)
    return time, slow


def _bending(local: Local) -> float:
    """The rate at which small changes go on, 1/s."""
    system, (count, _), ways = local.flow.system, local.freedoms, sum(local.freedoms)
    moving = np.delete(np.arange(system.n), system.accounts)
    states = np.setdiff1d(local.flow.states, system.accounts).astype(int)
    bends = local.moved[2][moving, :ways] / system.scales[moving, None]
    grows = local.moved[1][states, :ways] / system.scales[states, None]
    slow, fast = (np.linalg.norm(each) for each in (bends[:, :count], bends[:, count:]))
    return float(max(np.sqrt(slow), fast, np.linalg.norm(grows)))


def _going(local: Local) -> float:
    """How fast it is or would become, 1/s."""
    system = local.flow.system
    moving = np.delete(np.arange(system.n), system.accounts)
    speeds, bends = (np.abs(each[moving] / system.scales[moving]).max(initial=0.0) for each in (local.v, local.a))
    return float(max(speeds, np.sqrt(bends)))


def generic_states(flow: Flow, t: float, q: Array, time: float) -> Iterator[Local]:
    """Beside a pose, with velocities of no special kind."""
    n, scales = flow.system.n, flow.system.scales[: flow.system.n]
    for row in generic(2 * STATES * n).reshape(STATES, 2, n):
        try:
            pose, basis = flow.pose(t, q)
            pose = pose + STRIDE * scales * (basis @ (basis.T @ row[0]))
            pose, speeds = projected(flow.system, t, pose, scales * row[1] / time)
            yield flow.at(t, pose, speeds)
        except (AssemblyError, SpecError):
            continue
