"""The motion of a mechanism as a flow on its freedoms: accelerations at a state, and their exact derivatives.

A mechanism is the state (q, q') on the manifold of its constraints. Near a state it is described by some of its own
coordinates y and rates z, a chart: as many as there are freedoms of positions and of velocities, which differ where
something rolls. The flow is y' and z' = the accelerations of these coordinates. Its derivatives are the kernel's
tangents (src/tangent.hpp): no differences are taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations

import numpy as np

from mechsim.analysis.rolling import Ways
from mechsim.analysis.turning import TURN, angles_near, is_same_after
from mechsim.engine.events import as_switched
from mechsim.engine.leading import planned
from mechsim.engine.tangents import DEPENDENT, Directions
from mechsim.errors import AssemblyError, Fault, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.changes import changes_of
from mechsim.kernel.compiled import Status, make_march
from mechsim.kernel.linear import allowed_motions, dense, generic, unit_rows
from mechsim.kernel.system import System
from mechsim.result.layout import Array
from mechsim.structure import analyse, redundancy

TOLERANCE = 1e-13  # to which constraints are met at a state
MOST_STEPS = 20  # of Newton's method on the constraints
SETTLED, NEARLY = 1e-13, 1e-4  # in scales: its last step, alone and before a march goes on
TOUCHES = 1e-9  # of the size of a gap
ANGLES_FIRST = 3.0  # a turn angle is chosen before a coordinate that moves up to so many times as much
NEVER = 1e-9  # of its scale: what moves less does not move
UNHELD = 1e-8  # singular values of the stiffness below this share: nothing pulls back
APART = 0.01 * NEARLY**0.5  # in scales: what constraints that repeat others may be off, as long as these are nearly met
NEAR = 1e-9  # of scales: a rest that is no farther is this state
ROUNDINGS = 1e-13  # of the largest stiffness and of all forces: accelerations that nothing answers are no larger
LOOP, ASIDE, MOST_LOOPED = 0.05, 0.04, 4  # in scales; of a loop's area; directions that are tried
PACES = 4  # poses beside the start, at which it is looked how hard forces push
STILL = 1e-12  # of the rate at which forces move things
LEAST = 1e-300  # what nothing pulls at rests exactly


@frozen
class Leaning:
    """Contacts that are closed, and what sticks in them, by their numbers among gaps and frictions."""

    closed: tuple[int, ...]
    stuck: tuple[int, ...]


class Flow:
    """The flow of a system as its constants say that it is now: bonds that hold do so, contacts that are open stay so.
    Constraints that are redundant near a consistent pose are left out. What is `leaning` on contacts goes on to do so,
    and what sticks stays where it is."""

    def __init__(self, system: System, t: float, q: Array, leaning: Leaning | None = None):
        if system.frictions and leaning is None:
            message = "a mechanism with friction that sticks has no linear motion near a state"
            raise SpecError(Fault(message, hint="give the friction a v0, or leave it out"))
        if system.samplers:
            message = "a controller that is sampled has no linear motion: what it holds changes at its times only"
            raise SpecError(Fault(message, hint="leave out its period"))
        mechanism = replace(system.mechanism, constants=tuple(system.constants.tolist()))
        now = system.rebuilt(mechanism).bilateral
        if leaning is not None:
            now = System(mechanism.leaning(leaning.closed, leaning.stuck), system.kinds, system.dropped)
        repeating = redundancy(now, t, q).rows
        self.system = now.without(repeating)
        self._repeated = _Repeated(now, repeating, t, q) if repeating else None
        self.leaning = leaning
        self._gaps = system if system.gaps else None
        self.plan = planned(self.system, analyse(self.system))
        self._held = np.array(self.system.constants)
        self.march = make_march(self.plan, order=2, tolerance=TOLERANCE, safety=1.0, rejection=1.0)
        self._near = t, q
        self._turned: dict[tuple[float, ...], bool] = {}  # what is known of whole turns

    @property
    def has_contacts(self) -> bool:
        return self._gaps is not None

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.system.labels[: self.system.n])

    @cached_property
    def angles(self) -> Array:
        """Which coordinates are angles: after whole turns it is where it was."""
        return angles_near(self.system, *self._near)

    def widened(self, sizes: Array) -> Array:
        """The largest accelerations among all coordinates that constraints link, for each: roundings of one are felt by
        all, but what is heavy feels the push of what is light by the ratio of their inertias."""
        found = np.zeros(self.system.n)
        for group in self._linked:
            own, inertia = sizes[group], self._inertia[group]
            given = np.where(inertia > 0, inertia, np.inf)
            order = np.argsort(given)
            heavier = np.append(np.maximum.accumulate(own[order][::-1])[::-1], 0.0)
            with np.errstate(invalid="ignore"):
                lighter = np.append(0.0, np.fmax.accumulate((own * given)[order]))
            place = np.searchsorted(given[order], inertia)
            found[group] = np.maximum(
                heavier[place], np.divide(lighter[place], inertia, where=inertia > 0, out=0 * own)
            )
        return found

    @cached_property
    def _inertia(self) -> Array:
        """Of each coordinate in scales, by itself."""
        t, q = self._near
        own = np.abs(np.diagonal(np.asarray(self.system.mass_matrix(t, q, np.zeros_like(q)))))
        return np.asarray(own * self.system.scales[: self.system.n] ** 2)

    @cached_property
    def _linked(self) -> list[np.ndarray]:
        """Groups of coordinates."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        t, q = self._near
        rows, columns, _ = self.system.rate_jacobian(t, q, np.zeros(self.system.n))
        size = self.system.n + self.system.m
        links = coo_array((np.ones(len(rows)), (np.asarray(rows) + self.system.n, columns)), shape=(size, size))
        numbers = connected_components(links, directed=False)[1][: self.system.n]
        return [np.flatnonzero(numbers == number) for number in np.unique(numbers)]

    def turned(self, change: Array) -> Array:
        """The whole turns in a change of angles after which, all at once, it is where it was; else none."""
        wound = np.array([variable.kind == "angle" for variable in self.system.mechanism.variables], dtype=bool)
        wound &= ~self.angles.astype(bool)
        turns = np.where(wound, np.round(change / TURN), 0.0)
        if not turns.any():
            return turns
        key = tuple(turns.tolist())
        if key not in self._turned:
            self._turned[key] = is_same_after(self.system, *self._near, turns)
        return turns if self._turned[key] else 0.0 * turns

    @cached_property
    def states(self) -> tuple[int, ...]:
        """Variables that have a rate and no acceleration, accounts too."""
        variables = self.system.mechanism.variables
        return tuple(place for place, variable in enumerate(variables) if variable.kind == "state")

    @cached_property
    def _sticks(self) -> np.ndarray:
        """Constraints of velocities that keep positions too, for nothing moves."""
        rubbing = [each.origin.sort == "friction" for each in self.system.mechanism.binding]
        return np.array([flag for number, flag in enumerate(rubbing) if number not in self.system.dropped], dtype=bool)

    @cached_property
    def rolls(self) -> np.ndarray:
        """Constraints of velocities that let positions be changed by way of rolling only."""
        return np.asarray((self.system.levels == 1) & ~self._sticks)

    @cached_property
    def _ways(self) -> Ways:
        return Ways(self.system, *self._near)

    def moved(self, t: float, q: Array, change: Array) -> Array:
        """Where a change of positions leads to: straight on, but for what rolls. Raises AssemblyError."""
        return self._ways.end(t, q, change) if self.leaning is None and self.rolls.any() else q + change

    @cached_property
    def rolls_everywhere(self) -> bool:
        """Whether it can be rolled to all places beside the start, as a skate, and not along a way only, as a wheel on
        a line: small loops of two directions lead aside then (Frobenius)."""
        t, begun = self._near
        if self.leaning is not None or not self.rolls.any():
            return False
        scales = self.system.scales[: self.system.n]
        q, basis = self.pose(t, begun)
        for one, other in combinations(basis.T[:MOST_LOOPED], 2):
            place = q
            for direction in (one, other, -one, -other):
                place, ways = self.pose(t, place)
                place = self.moved(t, place, LOOP * scales * (ways @ (ways.T @ direction)))
            aside = (place - q) / scales
            if np.linalg.norm(aside - basis @ (basis.T @ aside)) > ASIDE * LOOP**2:
                return True
        return False

    @cached_property
    def pace(self) -> float:
        """The rate at which forces would move what has inertia by its scale if nothing balanced them, 1/s: in the
        middle of what it is at some poses, for at a rest all of a force may cancel inside of it."""
        return float(np.median([np.sqrt(pushed[np.isfinite(pushed)].max(initial=0.0)) for pushed in self._pushed]))

    @cached_property
    def pushes(self) -> Array:
        """The same of each coordinate, squared, (n,): what has no inertia of its own may be pushed as much as any."""
        return np.median([np.where(np.isfinite(pushed), pushed, self.pace**2) for pushed in self._pushed], axis=0)

    @cached_property
    def _pushed(self) -> list[Array]:
        """How fast forces accelerate each coordinate, in scales, at some poses; not finite where that is not known."""
        t, q = self._near
        n, scales = self.system.n, self.system.scales[: self.system.n]
        places = [q, *(q + scales * row for row in generic(PACES * n).reshape(PACES, n))]
        return [self._pushed_at(t, place) for place in places]

    def _pushed_at(self, t: float, q: Array) -> Array:
        still = np.zeros_like(q)
        system = as_switched(self.system, t, q, still)
        inertia = np.abs(np.diagonal(np.asarray(system.mass_matrix(t, q, still)))) * system.scales[: system.n]
        inertia[system.accounts] = 0.0
        with np.errstate(all="ignore"):
            return np.asarray(np.where(inertia > 0, system.pushes(t, q, still) / inertia, np.inf))

    @cached_property
    def reads_time(self) -> bool:
        """Whether equations depend on time by themselves."""
        return reads_time(self.system)

    def at(self, t: float, q: Array, v: Array, inputs: Sequence[str] = ()) -> Local:
        """The flow at the state nearest to this one that the constraints allow. Raises AssemblyError."""
        q, v = projected(self.system, t, q, v, NEARLY)  # the march does the rest
        if self._repeated is not None and not self._repeated.met(t, q):
            raise AssemblyError(Fault("parts that repeat each other's constraints would come apart there"))
        system, n = as_switched(self.system, t, q, v), self.system.n
        orders = int(self.plan.variable_offsets.max())
        state = np.zeros((orders, self.plan.size))
        for derivative, given in enumerate((q, v)[:orders]):
            state[derivative, :n] = given
        for number in np.flatnonzero(system.constants != self._held):  # switches
            self.march.set_constant(int(number), float(system.constants[number]))
            self._held[number] = system.constants[number]
        self.march.set_state(t, state)
        status = Status(self.march.prepare())
        if status != Status.REACHED:
            message = f"the mechanism has no accelerations at t = {t:g}"
            hint = "the pose is singular, or a formula has no value there: take a state a little beside it"
            raise AssemblyError(Fault(message, hint=hint))
        found = np.zeros((4, self.plan.size))
        expanded = np.asarray(self.march.expand())[:4]
        found[: len(expanded)] = expanded
        q, v, a, jerk = found[0, :n], found[1, :n], 2 * found[2, :n], 6 * found[3, :n]
        a[list(self.states)] = 0.0  # they have a rate only
        if self.leaning is None:
            self._refuse_contacts(t, q)
        directions, bases = self._directions(t, q, v)
        if not directions.count and self.leaning is not None:  # held by what it leans on
            none = np.zeros((n, 0))
            return Local(self, t, q, v, a, jerk, (none, none, none), bases, directions, ())
        if not directions.count:
            message = "nothing can move by itself: joints and drives decide all"
            raise SpecError(Fault(message, hint="without freedoms there is no motion near a state"))
        if inputs:
            directions = directions.joined(Directions.of_inputs(self.system, inputs))
        directions.begin(self.march, self.plan, False)
        if not self.march.prepare_tangents():
            raise AssemblyError(Fault(f"the motion cannot be differentiated at t = {t:g}", hint="the pose is singular"))
        changes = np.zeros((3, self.plan.size, directions.count))
        coefficients = np.asarray(self.march.tangent_coefficients(False))[:3]
        changes[: len(coefficients)] = coefficients
        self.march.forget_tangents()
        changes[2, list(self.states)] = 0.0
        moved = changes[0, :n], changes[1, :n], 2 * changes[2, :n]
        return Local(self, t, q, v, a, jerk, moved, bases, directions, tuple(inputs))

    def pose(self, t: float, q: Array) -> tuple[Array, Array]:
        """The positions nearest to these that the constraints allow, and the ways to move from there, in scales."""
        still = np.zeros(self.system.n)
        q, _ = projected(self.system, t, q, still, NEARLY)
        if self._repeated is not None and not self._repeated.met(t, q):
            raise AssemblyError(Fault("parts that repeat each other's constraints would come apart there"))
        basis = self._directions(t, q, still)[1][0]
        return q, basis @ self.rolling(t, q, basis)

    def rolling(self, t: float, q: Array, basis: Array) -> Array:
        """Those among changes of positions, in scales, that are possible by rolling: their parts along a basis."""
        if not self.rolls.any():
            return np.eye(basis.shape[1])
        system = self.system
        jacobian = dense(system.rate_jacobian(t, q, np.zeros(system.n)), system.m, system.n)[self.rolls]
        return allowed_motions(jacobian * system.scales[: system.n] @ basis, DEPENDENT)

    def _directions(self, t: float, q: Array, v: Array) -> tuple[Directions, tuple[Array, Array]]:
        """All changes of the state that the constraints allow, but for accounts; and the bases in scaled coordinates of
        those of positions and of velocities."""
        system, n = self.system, self.system.n
        jacobian, unit = dense(system.rate_jacobian(t, q, v), system.m, n), np.eye(n)
        scales = system.scales[:n].copy()
        scales[system.accounts] = 1.0  # they do not change here, and theirs may be beyond all others
        levels = (
            np.concatenate([jacobian[(system.levels == 2) | self._sticks], unit[system.accounts]]),
            np.concatenate([jacobian, unit[list(self.states)]]),
        )
        bases = allowed_motions(levels[0] * scales, DEPENDENT), allowed_motions(levels[1] * scales, DEPENDENT)
        positions, velocities = (scales[:, None] * basis for basis in bases)
        still = [np.zeros((n, basis.shape[1])) for basis in bases]
        q_changes, v_changes = np.hstack([positions, still[1]]), np.hstack([still[0], velocities])
        names = [str(place) for place in range(q_changes.shape[1])]
        return Directions.of_state(system, names, q_changes, v_changes), bases

    def _refuse_contacts(self, t: float, q: Array) -> None:
        if self._gaps is None:
            return
        system = self._gaps
        heights = np.asarray(system.gap_values(t, q)) / system.constraint_sizes[system.gap_rows]
        for gap, height in zip(system.gaps, heights, strict=True):
            if not gap.bond and height <= TOUCHES:
                message = f"contact {gap.name} touches here: what pushes one way only has no linear motion"
                raise SpecError(Fault(message, gap.mark, "take a state in which it is open, or make it a joint"))


class _Repeated:
    """Constraints that repeat others along the motions from a pose: elsewhere, on another branch of those others, they
    may not, and then a pose is none of the mechanism."""

    def __init__(self, system: System, rows: Sequence[int], t: float, q: Array):
        self.system, self.rows = system, list(rows)
        gradients = dense(system.constraint_jacobian(t, q), system.m, system.n) * system.scales[: system.n]
        self.lengths = np.maximum(np.linalg.norm(gradients[self.rows], axis=1), 1e-300)

    def met(self, t: float, q: Array) -> bool:
        """Whether they hold too, as well as positions are on the others."""
        off = np.asarray(self.system.constraints(t, q))[self.rows] / self.lengths
        return bool(np.abs(off).max() <= APART)


@frozen(eq=False, slots=False)
class Local:
    """The flow at a state: `moved` are the changes of positions, velocities and accelerations, (n, directions) each,
    along directions that are those of the state, then those of the inputs."""

    flow: Flow
    t: float
    q: Array
    v: Array
    a: Array
    jerk: Array
    moved: tuple[Array, Array, Array]
    bases: tuple[Array, Array]  # of positions and of velocities, in scaled coordinates: orthonormal columns
    directions: Directions
    inputs: tuple[str, ...]

    @property
    def freedoms(self) -> tuple[int, int]:
        """How many there are of positions and of velocities."""
        return self.bases[0].shape[1], self.bases[1].shape[1]

    @property
    def residual(self) -> Array:
        """What is not zero where it does not rest: rates and accelerations along the freedoms, in scales."""
        scales = self.flow.system.scales[: self.flow.system.n]
        return np.concatenate([self.bases[0].T @ (self.v / scales), self.rows.T @ (self.a / scales)])

    @property
    def slopes(self) -> Array:
        """How that changes with positions."""
        scales, (_, v, a) = self.flow.system.scales[: self.flow.system.n, None], self.moved
        return np.concatenate([self.bases[0].T @ (v / scales), self.rows.T @ (a / scales)])[:, : self.freedoms[0]]

    @cached_property
    def rows(self) -> Array:
        """The basis of velocities, turned so that what is known well and what is rounded off are apart."""
        turned = np.linalg.svd(self.bases[1] / self.roundings[:, None], full_matrices=False)[2]
        return np.asarray(self.bases[1] @ turned.T)

    @cached_property
    def roundings(self) -> Array:
        """What may be roundings of the acceleration of each coordinate, in scales, 1/s^2: of how much it is pushed, and
        of how that changes. What is stiff says nothing of what is soft beside it."""
        bends = np.abs(self.moved[2][:, : self.freedoms[0]]).max(axis=1, initial=0.0)
        found = np.maximum(self.flow.widened(bends / self.flow.system.scales[: self.flow.system.n]), self.flow.pushes)
        return np.asarray(ROUNDINGS * found + LEAST)

    @cached_property
    def rolling(self) -> Array:
        """Changes that are possible by rolling, along the freedoms of positions."""
        return self.flow.rolling(self.t, self.q, self.bases[0])

    @property
    def step(self) -> Array:
        """Along the freedoms of positions to where it would rest, were all linear; by rolling, if it rolls."""
        return self._step(UNHELD)

    @property
    def whole_step(self) -> Array:
        """The same, also in directions in which next to nothing pulls back."""
        return self._step(ROUNDINGS)

    def _step(self, least: float) -> Array:
        found = np.linalg.lstsq(self.stiffness @ self.rolling, -self.residual / self.noise, rcond=least)[0]
        return np.asarray(self.rolling @ found)

    @cached_property
    def noise(self) -> Array:
        """The same of each row of the residual."""
        largest = ROUNDINGS * max(np.abs(self.slopes).max(initial=0.0), self.flow.pace**2) + LEAST
        rows = np.minimum(np.abs(self.rows).T @ self.roundings, largest)
        return np.asarray(np.concatenate([np.full(self.freedoms[0], largest), rows]))

    def size(self, other: Local) -> float:
        """How large the residual of another pose is, beside roundings here."""
        weights, scales = 1.0 / self.roundings, self.flow.system.scales[: self.flow.system.n]
        rates = self.noise[0] if self.freedoms[0] else LEAST
        accelerations = other.rows @ (other.rows.T @ (other.a / scales))
        return float(np.hypot(np.linalg.norm(other.v / scales / rates), np.linalg.norm(weights * accelerations)))

    @property
    def stiffness(self) -> Array:
        """Slopes in units of what may be roundings."""
        return np.asarray(self.slopes / self.noise[:, None])

    @property
    def left_over(self) -> float:
        """What no step would balance, beside what may be rounding of it: above one, something is free to go."""
        return float(np.linalg.norm((self.residual + self.slopes @ self.step) / self.noise))

    @property
    def is_rest(self) -> bool:
        """Whether nothing moves, and nothing is about to, to what can be told."""
        system = self.flow.system
        moving = np.delete(np.arange(system.n), system.accounts)  # accounts go on adding
        pace = np.sqrt(self.noise.max(initial=LEAST) / ROUNDINGS)
        still = np.abs(self.v[moving] / system.scales[moving]).max(initial=0.0) <= STILL * pace
        near = np.abs(self.bases[0] @ self.step).max(initial=0.0) <= NEAR
        near = near or np.linalg.norm(self.residual / self.noise) <= 1
        return bool(still and near and self.left_over <= 1)

    def chart(self) -> Chart:
        """Coordinates that describe the state well: turn angles first."""
        labels = self.flow.labels
        weights = [ANGLES_FIRST if each.kind == "angle" else 1.0 for each in self.flow.system.mechanism.variables]
        places = well_chosen(self.bases[0], np.array(weights))
        favoured = np.array([100.0 if place in places else weights[place] for place in range(len(labels))])
        return Chart(labels, tuple(places), tuple(well_chosen(self.bases[1], favoured)))

    def signal_changes(self, name: str) -> Array:
        """How one of the file's signals changes along all directions."""
        system = as_switched(self.flow.system, self.t, self.q, self.v)
        element = system.mechanism.readouts[name]
        group = next(group for group in system.groups if element in group.elements)
        point, changes = (self.t, self.q, self.v), self.moved[:2]
        found = changes_of(system, ("signal",), point, changes, self.directions.numbers, (group,))
        return np.asarray(found[0][2][0][group.elements.index(element)])


@frozen
class Chart:
    """Coordinates and rates, by their places among all, that describe the state of a mechanism."""

    labels: tuple[str, ...]
    positions: tuple[int, ...]
    velocities: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        rates = (f"{self.labels[place]}_dot" for place in self.velocities)
        return (*(self.labels[place] for place in self.positions), *rates)

    def of(self, positions: Array, velocities: Array) -> Array:
        """What these are of states, or of changes of states."""
        return np.concatenate([positions[list(self.positions)], velocities[list(self.velocities)]])


def reads_time(system: System) -> bool:
    """Whether equations depend on time by themselves."""
    return any(source.kind == "time" for group in system.groups for source in group.program.inputs)


def projected(
    system: System, t: float, q: Array, v: Array, settled: float = SETTLED, held: Sequence[int] = ()
) -> tuple[Array, Array]:
    """The nearest state that the constraints allow, in scaled coordinates; positions that are `held` stay. Raises
    AssemblyError where constraints have no values."""
    scales = system.scales[: system.n].copy()
    scales[list(held)] = 0.0
    for _ in range(MOST_STEPS):
        gradients = dense(system.constraint_jacobian(t, q), system.m, system.n)
        step = _nearest(gradients * scales, -np.asarray(system.constraints(t, q)))
        q = q + scales * step
        if np.abs(step).max(initial=0.0) <= settled:
            break
    return q, with_rates(system, t, q, v)


def with_rates(system: System, t: float, q: Array, v: Array, held: Sequence[int] = ()) -> Array:
    """Velocities, one set or many (..., n), nearest to these that the constraints allow; those `held` stay. Raises
    AssemblyError where constraints have no values."""
    scales = system.scales[: system.n].copy()
    scales[list(held)] = 0.0
    gradients = dense(system.rate_jacobian(t, q, v if v.ndim == 1 else v[0]), system.m, system.n)
    rates = np.asarray(system.constraint_rate(t, np.broadcast_to(q, v.shape), v))
    return v + scales * _nearest(gradients * scales, -rates)


def _nearest(gradients: Array, wanted: Array) -> Array:
    """The least change, one or many (..., n), that changes constraints so; gradients count as if of one length."""
    if not (np.isfinite(gradients).all() and np.isfinite(wanted).all()):
        hint = "a direction of two points that coincide, say, or a root of less than zero"
        raise AssemblyError(Fault("constraints have no values at a pose that was tried", hint=hint))
    jacobian, lengths = unit_rows(gradients)
    return np.asarray(np.linalg.lstsq(jacobian, (wanted / lengths).T, rcond=None)[0].T)


def well_chosen(basis: Array, weights: Array) -> list[int]:
    """As many rows of a basis as it has columns, each the one that is largest beside those before it."""
    left, chosen = basis.copy(), []
    for _ in range(basis.shape[1]):
        sizes = np.linalg.norm(left, axis=1)
        place = int(np.argmax(np.round(weights * np.where(sizes > NEVER, sizes, 0.0), 9)))
        chosen.append(place)
        direction = left[place] / sizes[place]
        left -= np.outer(left @ direction, direction)
    return sorted(chosen)
