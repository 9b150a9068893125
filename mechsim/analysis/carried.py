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
from mechsim.errors import AssemblyError, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.linear import generic, null_space
from mechsim.model.mechanism import Mechanism
from mechsim.result.layout import Array

STATES, STRIDE = 4, 0.1  # at which symmetries are tried, so far away in scales
MOST_PARTS = 20  # whose own motions are tried
COMMUTES = 1e-8  # of the size of what is compared
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

    @cached_property
    def allowed(self) -> Array:
        count = sum(self.local.freedoms)
        return self.stacked(self.local.moved[0][:, :count], self.local.moved[1][:, :count])

    @cached_property
    def onward(self) -> Array:
        """How what is allowed goes on, in units of the time."""
        count = sum(self.local.freedoms)
        return self.time * self.stacked(self.local.moved[1][:, :count], self.local.moved[2][:, :count])

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
        local, count = self.local, sum(self.local.freedoms)
        speeds, rates = self.candidates.changes(local.q, local.v, local.moved[0][:, :count], local.moved[1][:, :count])
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
        return np.concatenate([inside @ together, grows - np.column_stack([second, -jerk])])


@frozen(eq=False, slots=False)
class Symmetries:
    """Sums of candidates that leave the flow as it is, by their factors: those that do by themselves, (sums,
    candidates); and the one that does as time goes on, which is zero unless something is driven steadily. None: the
    flow changes with time in another way."""

    candidates: Candidates
    still: Array
    driven: Array | None
    time: float  # in which things move


def symmetries(flow: Flow, t: float, q: Array, v: Array) -> Symmetries:
    """Raises AssemblyError, SpecError where the flow has no value near the state."""
    candidates = Candidates(flow)
    time = _time(flow, t, q, v)
    views = [View(local, candidates, time) for local in _states(flow, t, q, time)]
    strayed = np.concatenate([candidates.strayed(view.local.q) for view in views])
    used = _independent(np.concatenate([*(view.carried for view in views), strayed]))
    columns = [candidates.count, *used]  # the time first: a sum that needs it has it
    strayed = np.column_stack([strayed, np.zeros(len(strayed))])
    matrix = np.concatenate([*(view.conditions() for view in views), strayed])[:, columns]
    sizes = np.maximum(np.abs(matrix).max(axis=0), 1.0)
    sums = null_space(np.linalg.qr(matrix / sizes)[1], absolute=COMMUTES * np.sqrt(len(matrix))).T / sizes
    found = reduced(sums)
    told = np.zeros((len(found), candidates.count))
    told[:, used] = found[:, 1:]
    with_time = found[:, 0] != 0
    driven = told[with_time][0] / time if with_time.any() else None
    fewer, numbers = candidates.without_idle(told)
    return Symmetries(fewer, told[~with_time][:, numbers], None if driven is None else driven[numbers], time)


def _independent(carried: Array) -> list[int]:
    """Candidates without those that do nothing, or that are sums of others; the first are kept."""
    nothing = null_space(np.linalg.qr(carried)[1], relative=COMMUTES).T
    left_out = {carried.shape[1] - 1 - int(np.flatnonzero(row)[0]) for row in reduced(nothing[:, ::-1])}
    return [k for k in range(carried.shape[1]) if k not in left_out]


def _time(flow: Flow, t: float, q: Array, v: Array) -> float:
    """In which things move, by how fast they are, or would become, there and beside it."""
    n = flow.system.n
    moving = np.delete(np.arange(n), flow.system.accounts)
    scales = flow.system.scales[moving]
    local = flow.at(t, q, v)
    fastest = np.abs(local.v[moving] / scales).max(initial=0.0)
    bends = [local, *islice(_states(flow, t, q, np.inf), 1)]
    bend = max(np.sqrt(np.abs(each.a[moving] / scales).max(initial=0.0)) for each in bends)
    return float(1.0 / (max(fastest, bend) or 1.0))


def _states(flow: Flow, t: float, q: Array, time: float) -> Iterator[Local]:
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
