"""Derivatives of a motion by its start and its numbers, in some directions, found beside it (src/tangent.hpp)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from mechsim.engine.segments import Side, last_begun
from mechsim.errors import Fault, IntegrationError
from mechsim.frozen import frozen
from mechsim.kernel.changes import Found, NumberChanges, changes_of, gathered
from mechsim.kernel.compiled import make_march
from mechsim.kernel.linear import allowed_motions, dense
from mechsim.kernel.march import March
from mechsim.kernel.plan import Plan
from mechsim.kernel.series import horner
from mechsim.kernel.system import Group, System
from mechsim.model.mechanism import Gap, Sampler, Watched

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mechsim.engine.solution import Solution
    from mechsim.engine.state import InitialState
    from mechsim.engine.stops import Stops

Point = tuple[float, np.ndarray, np.ndarray]  # t, q, v
Part = tuple[np.ndarray, np.ndarray | None]  # of a batch: values and rates at points, polynomials of steps

END = "the end"  # of the motion, among what is given: no parameter can be called so
BREAK_AT_END = "a break at the end"  # of a table or function of time, if there is one: the march does not come to it
DEPENDENT = 1e-11  # singular values of scaled constraints below this share belong to dependent ones


@frozen(slots=False)
class Directions:
    """Where tangents begin: changes of the start, (n, directions), and of the numbers, in directions with names.

    `switches` are the changes of what each switch of the mechanism sets, by constant. Changes of the start need not
    satisfy the constraints: the march brings them on the linearised ones, in the sense of the system's own inertia.
    `given` are those of parameters by name, and of the `END` of the motion; what is not there does not change.
    """

    names: tuple[str, ...]
    positions: np.ndarray
    velocities: np.ndarray
    numbers: NumberChanges
    switches: tuple[Mapping[int, np.ndarray], ...] = ()
    given: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.names)

    def change_of(self, name: str) -> np.ndarray:
        """Of a parameter, or of the END."""
        return self.given.get(name, np.zeros(self.count))

    @classmethod
    def of_state(cls, system: System, names: Sequence[str], positions: ArrayLike, velocities: ArrayLike) -> Directions:
        """Directions in which the start changes, and no number does."""
        q, v = (np.ascontiguousarray(each, dtype=float) for each in (positions, velocities))
        if q.shape != (system.n, len(names)) or v.shape != q.shape:
            raise ValueError(f"changes of the start must be ({system.n}, {len(names)}) arrays")
        return cls(tuple(names), q, v, NumberChanges.none(system, len(names)))

    @classmethod
    def of_inputs(cls, system: System, names: Sequence[str]) -> Directions:
        """Directions in which inputs of the mechanism change, each by one."""
        still = np.zeros((system.n, len(names)))
        numbers = NumberChanges.none(system, len(names))
        for place, name in enumerate(names):
            numbers.constants[system.mechanism.inputs[name].value, place] = 1.0
        return cls(tuple(names), still, still.copy(), numbers)

    @classmethod
    def basis(cls, system: System, t: float, q: np.ndarray, v: np.ndarray, still: Sequence[int] = ()) -> Directions:
        """A basis of all changes of the state that the constraints allow: of positions, then of velocities. Coordinates
        that are to stand `still` do not change."""
        held = _held_rows(system)
        jacobian = dense(system.rate_jacobian(t, q, v), system.m, system.n)[held]
        scales = system.scales[: system.n].copy()
        scales[system.accounts] = 1.0  # theirs may be beyond all others, and would hide the constraints
        states = [place for place, variable in enumerate(system.mechanism.variables) if variable.kind == "state"]
        rated = np.concatenate([jacobian, np.eye(system.n)[states]])  # the rate of a state is no one's to choose
        own = np.eye(system.n)[list(still)]
        levels = (np.concatenate([rows, own]) for rows in (jacobian[system.levels[held] == 2], rated))
        blocks = [allowed_motions(rows * scales, DEPENDENT) * scales[:, None] for rows in levels]
        of_q, of_v = (block.shape[1] for block in blocks)
        zeros = np.zeros((system.n, max(of_q, of_v)))
        positions = np.concatenate([blocks[0], zeros[:, :of_v]], axis=1)
        velocities = np.concatenate([zeros[:, :of_q], blocks[1]], axis=1)
        names = [f"position {i + 1}" for i in range(of_q)] + [f"velocity {i + 1}" for i in range(of_v)]
        return cls.of_state(system, names, positions, velocities)

    def joined(self, other: Directions) -> Directions:
        """The directions of both."""
        q, v = (
            np.concatenate(pair, axis=1)
            for pair in ((self.positions, other.positions), (self.velocities, other.velocities))
        )
        count = max(len(self.switches), len(other.switches))
        switches = tuple(_joined_switch(self, other, number) for number in range(count))
        both = (*self.given, *(name for name in other.given if name not in self.given))
        given = {name: np.concatenate([self.change_of(name), other.change_of(name)]) for name in both}
        return Directions((*self.names, *other.names), q, v, self.numbers.joined(other.numbers), switches, given)

    def ordered(self, names: Sequence[str]) -> Directions:
        """The same in the order of these names, which are all."""
        places = [self.names.index(name) for name in names]
        switches = tuple({constant: change[places] for constant, change in each.items()} for each in self.switches)
        given = {name: change[places] for name, change in self.given.items()}
        q, v = self.positions[:, places], self.velocities[:, places]
        return Directions(tuple(names), q, v, self.numbers.taken(places), switches, given)

    def begin(self, march: March, plan: Plan, dense: bool) -> None:
        """Let a march that has its state carry these directions."""
        n, orders = len(self.positions), int(plan.variable_offsets.max())
        state = np.zeros((orders, plan.size, self.count))
        for derivative, changes in enumerate((self.positions, self.velocities)[:orders]):
            state[derivative, :n] = changes
        tables = [self.numbers.tables[block.group][:, block.members] for block in plan.blocks]
        flat = np.concatenate([*(table.reshape(-1, self.count) for table in tables), np.zeros((0, self.count))])
        constants = np.concatenate([self.numbers.constants, np.zeros((1, self.count))])  # what is not there
        march.set_tangents(state, np.ascontiguousarray(flat), np.ascontiguousarray(constants))
        march.set_contact_changes(*map(np.ascontiguousarray, (self.numbers.gaps, self.numbers.frictions)))
        march.keep_tangents(dense)


def _held_rows(system: System) -> np.ndarray:
    """Constraints that hold both ways: gaps and frictions do not, but bonds that are closed."""
    open_gaps = [row for row, gap in zip(system.gap_rows, system.gaps, strict=True) if not _is_held(system, gap)]
    return np.setdiff1d(np.arange(system.m), [*open_gaps, *system.friction_rows])


def _is_held(system: System, gap: Gap) -> bool:
    return bool(gap.bond and system.constants[gap.mode])


def _joined_switch(one: Directions, other: Directions, number: int) -> dict[int, np.ndarray]:
    def changes(directions: Directions) -> Mapping[int, np.ndarray]:
        return directions.switches[number] if number < len(directions.switches) else {}

    first, second = changes(one), changes(other)
    constants = sorted({*first, *second})
    pairs = {c: (first.get(c, np.zeros(one.count)), second.get(c, np.zeros(other.count))) for c in constants}
    return {constant: np.concatenate(pair) for constant, pair in pairs.items()}


class HeldChanges:
    """Changes of the constants that switches and samplers set, as they are now: see Stops."""

    def __init__(self, directions: Directions, system: System):
        self.directions, self.system = directions, system
        self.constants = directions.numbers.constants.copy()

    def switched(self, march: March, number: int, constants: Sequence[int]) -> None:
        """A switch sets these constants: what it sets changes with parameters, or not at all."""
        given = self.directions.switches[number] if number < len(self.directions.switches) else {}
        for constant in constants:
            self._set(march, constant, given.get(constant, np.zeros(self.directions.count)))

    def sampled(self, march: March, sampler: Sampler, system: System, point: Point) -> None:
        """A sampler sets its constants by the state and by what it held before."""
        for constant, change in zip(
            sampler.constants, self._signals(march, sampler.element, system, point), strict=True
        ):
            self._set(march, constant, change)

    def given(self, march: March, event: Watched, system: System, point: Point) -> None:
        """An event sets its constants by the state where it is; what it watches comes first among its signals. A switch
        has no values that change."""
        changes = [] if event.switch else self._signals(march, event.element, system, point)[1:]
        for constant, change in zip(event.constants, changes, strict=False):
            self._set(march, constant, change)

    def kept(self, march: March, constants: Mapping[int, int], system: System, point: Point) -> None:
        """Bonds keep what they find: of each constant the row that it is subtracted from."""
        found = gathered(
            self._changes(march, ("constraint",), system, point),
            lambda group, key: group.multipliers[key[1]],
            system.m,
            self.directions.count,
        )
        for constant, row in constants.items():
            self._set(march, constant, self.constants[constant] + found[row])

    def potentials(self, march: March, system: System, point: Point) -> np.ndarray:
        """Changes of the potentials that have accounts, (n, directions), see `System.accounted_potentials`."""
        accounted = tuple(group for group in system.groups if group.kind.account)
        found = self._changes(march, ("potential",), system, point, accounted)
        return gathered(found, lambda group, _: group.variables[-1], self.system.n, self.directions.count)

    def _signals(self, march: March, element: int, system: System, point: Point) -> list[np.ndarray]:
        group = next(group for group in system.groups if element in group.elements)
        found = self._changes(march, ("signal",), system, point, (group,))
        return [change[group.elements.index(element)] for change in found[0][2]]

    def _changes(
        self,
        march: March,
        names: tuple[str, ...],
        system: System,
        point: Point,
        groups: tuple[Group, ...] | None = None,
    ) -> Found:
        """Where the march stands; at an event of the user, where that is beside the motion."""
        n, state = self.system.n, march.tangent_coefficients(False)
        numbers = replace(self.directions.numbers, constants=self.constants)
        return changes_of(system, names, point, (state[0, :n], state[1, :n]), numbers, groups, march.event_change())

    def _set(self, march: March, constant: int, change: np.ndarray) -> None:
        self.constants[constant] = change
        march.set_constant_change(constant, np.ascontiguousarray(change))


@frozen(slots=False)
class Tangents:
    """Derivatives of a motion at its step ends, (points, n, directions), and if kept their polynomials."""

    names: tuple[str, ...]
    t: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    multipliers: np.ndarray
    coefficients: np.ndarray | None  # (steps, degrees, unknowns, directions)
    events: np.ndarray  # of the times of all events of the motion, (events, directions)
    end: np.ndarray  # of the time at which the motion ends, (directions,): an event may end it

    @classmethod
    def gathered(
        cls, directions: Directions, t: np.ndarray, n: int, parts: Sequence[Part], events: np.ndarray, end: np.ndarray
    ) -> Tangents | None:
        if not parts:
            return None
        points = np.concatenate([part[0] for part in parts])[: len(t)]
        polynomials = [part[1] for part in parts if part[1] is not None and len(part[1])]
        kept = np.concatenate(polynomials)[: max(len(t) - 1, 0)] if polynomials else None
        return cls(directions.names, t, points[:, 0, :n], points[:, 1, :n], points[:, 0, n:], kept, events, end)

    def evaluate(self, times: ArrayLike, side: Side = "after") -> tuple[np.ndarray, np.ndarray]:
        """All unknowns' changes and their rates at any times, (times, unknowns, directions) each. They are changes at
        fixed times; where an event makes them jump, those before it or after it."""
        if self.coefficients is None:
            raise ValueError('only the table was kept, so tangents are not known in between: keep="polynomials"')
        times = np.atleast_1d(np.asarray(times, dtype=float))
        starts = self.t[:-1]
        step = last_begun(starts, times, side, self.t[-1] < self.t[0])
        highest_first = self.coefficients[step].swapaxes(0, 1)[::-1]
        values, rates = horner(highest_first, (times - starts[step])[:, None, None], 2)
        return values, rates


def sampled(solution: Solution, times: ArrayLike, side: Side = "after") -> tuple[np.ndarray, np.ndarray]:
    """d(positions) and d(velocities) at any times, (times, n, directions), on the linearised constraints there."""
    tangents, directions, plan = solution.tangents, solution.directions, solution.plan
    if tangents is None or directions is None:
        raise ValueError("the motion was not differentiated: `tangents` of `integrate` are the directions")
    times = np.atleast_1d(np.asarray(times, dtype=float))
    n = solution.system.n
    if len(solution.segments) > 1 or solution.system.gaps:  # the polynomials satisfy them to the tolerance
        values, rates = tangents.evaluate(times, side)
        return values[:, :n], rates[:, :n]
    points = solution.sampled(times)
    q, v = points.q, points.v
    values, rates = tangents.evaluate(times)
    march = make_march(plan, order=1, tolerance=solution.tolerance, safety=1.0, rejection=1.0)
    orders = int(plan.variable_offsets.max())
    state = np.zeros((orders, plan.size))
    for i, time in enumerate(times):
        for derivative, given in enumerate((q[i], v[i])[:orders]):
            state[derivative, :n] = given
        march.set_state(float(time), state)
        march.prepare()
        replace(directions, positions=values[i, :n], velocities=rates[i, :n]).begin(march, plan, False)
        if not march.prepare_tangents():
            raise IntegrationError(Fault(f"the motion cannot be differentiated at t = {time:g}"))
        found = march.tangent_coefficients(False)
        values[i, :n], rates[i, :n] = found[0, :n], found[1, :n]
    return values[:, :n], rates[:, :n]


class MarchTangents:
    """The tangents of a march while it runs, if any are wanted."""

    def __init__(self, march: March, plan: Plan, start: InitialState, directions: Directions | None, keep: str):
        self.march, self.directions = march, directions
        self.count = 0 if directions is None else directions.count
        self.parts: list[Part] = []
        if directions is None:
            return
        if keep == "outline":
            raise ValueError('tangents are kept at all steps: keep="steps" or "polynomials"')
        refuse(plan, start)
        directions.begin(march, plan, keep == "polynomials")

    def resume(self, stops: Stops) -> None:
        """The point where a march goes on."""
        if stops.changes is not None:
            stops.changes.constants[:] = self.march.constant_changes()[: len(stops.constants)]
            coefficients = self.march.tangent_coefficients(False)
            values = np.zeros((1, 2, *coefficients.shape[1:]))
            values[0, : min(2, len(coefficients))] = coefficients[:2]
            self.parts.append((values, None))
            self._add(stops.gained, values[:, 0])

    def take(self, gained: np.ndarray) -> None:
        """What there is since the last time, with what accounts have gained (see Stops)."""
        if self.directions is not None:
            points, polynomials = self.march.take_tangents()
            self._add(gained, points[:, 0])
            if polynomials is not None and len(polynomials):
                self._add(gained, polynomials[:, 0])
            self.parts.append((points, polynomials))

    def jump(self, gain: np.ndarray) -> None:
        """At the newest point accounts gain so much."""
        if self.parts and len(self.parts[-1][0]):
            self._add(gain, self.parts[-1][0][-1:, 0])

    def _add(self, gained: np.ndarray, values: np.ndarray) -> None:
        values[:, : len(gained)] += gained[:, 1:]

    def told(self, solution: Solution, events: np.ndarray, ended: bool) -> Solution:
        """The solution with its tangents, and with changes of the times of its events, the last of which may have ended
        it; the march is left without, for who may use it next."""
        if self.directions is None:
            return solution
        self.march.forget_tangents()
        end = events[-1] if ended else np.zeros(self.count)
        found = Tangents.gathered(self.directions, solution.t, solution.system.n, self.parts, events, end)
        return replace(solution, tangents=found, directions=self.directions)


def refuse(plan: Plan, start: InitialState) -> None:
    """Raise for motions whose derivatives are not known."""
    if plan.redundant:
        message = "a mechanism with redundant constraints cannot be differentiated"
        hint = "which of them act is chosen at each pose; leave out those that follow from others"
        raise IntegrationError(Fault(message, hint=hint))
    if start.singular:
        message = "a motion that starts on a singular pose, or very near one, cannot be differentiated"
        raise IntegrationError(Fault(message, hint="start away from it"))
