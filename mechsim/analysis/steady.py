"""Steady motions (relative equilibria): a mechanism that is carried along by a motion which leaves it as it is, while
nothing else about it moves. Rests are those that are carried nowhere.

Where X is the flow and S the motion that carries, both as changes of the state, X = S. Newton's method finds such
states among all that the constraints allow; near one, and seen by who is carried along, the motion is x' = A x with
A = DX - DS. What the symmetries themselves make of the state (other places, other turns) is left out of A.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from itertools import islice

import numpy as np

from mechsim.analysis.balanced import MOST_HALVINGS, MOST_STEPS, SMALLER, apart
from mechsim.analysis.carried import Symmetries, View, generic_states, symmetries
from mechsim.analysis.families import are_alike
from mechsim.analysis.flow import Flow, projected, well_chosen
from mechsim.analysis.held import Momenta
from mechsim.analysis.least import is_least
from mechsim.analysis.linear import Linearised
from mechsim.analysis.rest import poses
from mechsim.engine.events import as_switched
from mechsim.errors import AssemblyError, Fault, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.linear import null_space
from mechsim.result.layout import Array

SETTLED = 1e-12  # of scales: the last step, and what may be left over of X - S
LONGEST = 0.5  # of scales: a step
FEWER = 30  # poses that are tried: a step of Newton's method takes some ms
SAME = 1e-6  # of scales, as states are compared
RANK = 1e-10  # of the largest: what moves less is not moved
# Of the largest: what is less leads to other steady motions, what is more does not; between them it is not clear.
SLOW = 1e-3  # in scales, in the time in which things move
ROUNDED, CLEAR = 2e-13, 1e-11
FAR = 2e-12  # of how far away it is, in scales: what is less is known worse than to 1e-4 of it
ROUNDINGS = 1e-14  # of places and speeds, however far and fast they are
FARTHEST = 3e7  # in scales: farther away, roundings are above 1e-8 of them
SEEN = 1e-10  # of the largest: a rate that is less is not told
NEAR = 1e-6  # of speeds and accelerations: what a state may be off that is given
STAYS = 1e-3  # of scales: how near to it a steady motion is then
RESTS = "it rests"


class Unclear(SpecError):
    """What roundings do not let be told."""


@frozen(eq=False, slots=False)
class Steady:
    """A steady motion: how it moves near it as seen by who is carried along, which motion carries it, in words, and its
    energy in that frame (V - T of a mechanism of parts)."""

    linear: Linearised
    words: str
    energy: float
    spins: bool = True  # as the start does, about the centre of mass

    @property
    def positions(self) -> Array:
        return self.linear.positions

    @property
    def velocities(self) -> Array:
        return self.linear.velocities

    @property
    def neighbours(self) -> int:
        """Along how many directions others lie beside it, apart from those that are the same seen from elsewhere."""
        return self.linear.neighbours

    @property
    def stability(self) -> str:
        """Of small changes, but for those to other steady motions: "stable", "unstable", or "undecided" where some
        neither grow nor die out, and no least energy holds them."""
        return self.linear.stability


def steady_motions(
    flow: Flow, t: float, q: Array, v: Array, told: Callable[[int, int], None] | None = None
) -> tuple[Steady, ...]:
    """All that are found from a state and from poses that it can be moved to, with the momenta that it has along
    motions which leave it as it is. Raises AssemblyError where there is none."""
    search = _Search(flow, t, q, v)
    try:
        return _looked_for(search, told)
    except AssemblyError:
        if not search.let_go():
            raise
        return _looked_for(search, told)


def _looked_for(search: _Search, told: Callable[[int, int], None] | None) -> tuple[Steady, ...]:
    flow, t, q, v = search.flow, search.t, search.q, search.v
    found: list[Steady] = []
    own, unclear = 0, None
    families = len(search.symmetries.still) > 0  # which momenta make: one of each is looked for
    for tried, pose in enumerate(islice(poses(flow, t, q), FEWER)):
        if families and found:
            break
        try:
            steady = search.from_pose(pose, v if tried == 0 else None)
            if steady is not None and not any(search.is_same(steady, other) for other in found):
                found.append(steady)
                own += tried == 0
        except Unclear as error:
            unclear = error
        except (AssemblyError, SpecError):
            pass
        if told:
            told(len(found), tried + 1)
    if not found and unclear:
        raise unclear
    if not found:
        hint = "is something free to fall, or does it go faster and faster? Else start it nearer to one"
        if search.momenta is not None:
            hint += "; it has to have the momenta of the start"
        raise AssemblyError(Fault("no steady motion was found from any pose that was tried", hint=hint))
    return (*found[:own], *sorted(found[own:], key=lambda each: round(each.energy / search.energy, 9)))


def steady_at(flow: Flow, t: float, q: Array, v: Array) -> Steady:
    """The steady motion that a state is in. Raises SpecError where it is in none."""
    return _Search(flow, t, q, v).here()


class _Search:
    """States that are carried along at the rates of a first one."""

    def __init__(self, flow: Flow, t: float, q: Array, v: Array):
        self.flow, self.t, self.q, self.v = flow, t, q, v
        self.symmetries: Symmetries = symmetries(flow, t, q, v)
        if self.symmetries.driven is None:
            message = "there is no steady motion: the equations change with time, and no turn or shift of it goes along"
            raise AssemblyError(Fault(message, hint="drives may turn or push at a constant speed"))
        self.driven: Array = self.symmetries.driven
        first = self._view(q, v)
        self._require_near(first)
        self.rates = self._rates(first)
        self._first = first
        self._hold(self.symmetries.still)
        sizes = flow.system.scales[: flow.system.n] / self.symmetries.time
        sizes[flow.system.accounts] = 0.0
        self.energy = float(np.abs(np.asarray(flow.system.mass_matrix(t, q, v)) @ sizes) @ sizes) or 1.0  # a unit

    def _view(self, q: Array, v: Array) -> View:
        return View(self.flow.at(self.t, q, v), self.symmetries.candidates, self.symmetries.time)

    def _hold(self, sums: Array) -> None:
        """Let momenta along these motions be those of the start."""
        self.lasting, first = sums, self._first
        self.momenta = Momenta(self.flow.system, sums) if len(sums) else None
        self.held = self.momenta.at(first)[0] if self.momenta else np.zeros(0)
        self.most = self._largest(first)
        self.spun = self.spin(first) if self.momenta else np.zeros(0)

    def let_go(self) -> bool:
        """Hold momenta only that the mechanism keeps, if there are others: a torque that turns it, or what damps it,
        decides by itself how fast it goes on steadily."""
        kept = self._kept()
        fewer = len(kept) < len(self.lasting)
        if fewer:
            self._hold(kept)
        return fewer

    def _kept(self) -> Array:
        """Sums of motions that leave it as it is, along which momenta are kept."""
        still = self.symmetries.still
        if not len(still):
            return still
        momenta = Momenta(self.flow.system, still)
        states = generic_states(self.flow, self.t, self.q, self.symmetries.time)
        views = [View(local, self.symmetries.candidates, self.symmetries.time) for local in states]
        rates = np.array([momenta.rates(view) for view in views]).reshape(-1, len(still))
        return np.asarray(null_space(rates, absolute=SAME).T @ still)

    def _own(self, view: View) -> Array:
        """What leaves it as it is, as changes of the state, (rows, motions)."""
        return np.asarray(view.carried @ self.symmetries.still.T)

    def _largest(self, view: View) -> Array:
        """The most that momenta could be, in the time in which things move."""
        if self.momenta is None:
            return np.zeros(0)
        changes = np.abs(self.momenta.at(view)[1]).max(axis=1, initial=0.0)
        return np.where(changes > 0, changes, 1.0)

    def _rates(self, view: View) -> Array:
        """Of the motions that leave it as it is, so that these come nearest to how it moves; and where that says no
        more, as of what turns about where it is, to how that goes on."""
        left, own = view.flow - view.time * view.carried @ self.driven, view.time * self._own(view)
        length, largest = len(view.candidates.points) + len(view.candidates.states), _largest(own)
        found = _fitted(own[:length], left[:length], RANK * largest)
        idle = null_space(own[:length], absolute=RANK * largest)
        onward = (left - own @ found)[length:]
        return np.asarray(found + idle @ _fitted(own[length:] @ idle, onward, RANK * largest))

    def _factors(self, rates: Array) -> Array:
        return np.asarray(self.driven + rates @ self.symmetries.still)

    def here(self) -> Steady:
        """The state itself, if it is carried along: what is left over of roundings is taken from it."""
        view = self._view(self.q, self.v)
        off = np.abs(self._left(view, self.rates)).max(initial=0.0)  # momenta are its own
        size = max(1.0, np.abs(view.flow).max(initial=0.0))
        found = self._settled(view) if off <= NEAR * size else None
        if found is None or self._apart(found, view) > STAYS + NEAR * view.far:
            message = (
                f"it does not move steadily there: speeds and accelerations are off by {off / size:.2g} of their size"
            )
            raise SpecError(Fault(message, hint="mechsim equilibrium --steady looks for steady motions near it"))
        return found

    def _apart(self, found: Steady, view: View) -> float:
        """How far a state is from another, in scales."""
        places, rates = found.positions - view.local.q, found.velocities - view.local.v
        return float(np.abs(view.stacked(places, rates)).max(initial=0.0))

    def from_pose(self, pose: Array, v: Array | None) -> Steady | None:
        """What Newton's method comes to from a pose, or from the first state itself."""
        if v is not None:
            return self._settled(self._view(pose, v))
        carried, _ = self.symmetries.candidates.moved(pose[None], 0 * pose[None])
        pose, speeds = projected(self.flow.system, self.t, pose, carried[0] @ self._factors(self.rates))
        return self._settled(self._view(pose, speeds))

    def _settled(self, view: View) -> Steady | None:
        """Where Newton's method comes to."""
        rates = self.rates
        for _ in range(MOST_STEPS):
            left = self._left(view, rates)
            step, turn = self._step(view, rates, left)
            if max(np.abs(step).max(initial=0.0), np.abs(view.time * turn).max(initial=0.0)) <= self._noise(view):
                break
            shorter = min(1.0, LONGEST / max(self._length(view, step), 1e-300))
            before = (1 - SMALLER) * np.linalg.norm(left)
            for _ in range(MOST_HALVINGS):
                nearer = self._moved(view, shorter * step)
                if nearer is not None and np.linalg.norm(self._left(nearer, rates + shorter * turn)) <= before:
                    break
                shorter /= 2
            else:
                break
            view, rates = nearer, rates + shorter * turn
        off = np.abs(self._left(view, rates)).max(initial=0.0)
        return self._told(*self._at_rest(view, rates)) if off <= self._noise(view) else None

    def _at_rest(self, view: View, rates: Array) -> tuple[View, Array]:
        """What goes next to not at all rests, if it may: where drag grows with a power of the speed, roundings hide how
        slow it is."""
        local = view.local
        speed = np.abs(view.time * local.v / self.flow.system.scales[: len(local.v)]).max(initial=0.0)
        if speed > SLOW or self.driven.any() or self.momenta is not None:
            return view, rates
        still = self._view(*projected(self.flow.system, self.t, local.q, 0 * local.v))
        off = np.abs(self._left(still, 0 * rates)).max(initial=0.0)
        return (still, 0 * rates) if off <= self._noise(still) else (view, rates)

    def _length(self, view: View, step: Array) -> float:
        """Of a step, in scales; what all points have in common is measured by how far away they are."""
        changes, count = view.allowed @ step, len(self.symmetries.candidates.points)
        longest = 0.0
        for place in (0, len(changes) - count):  # places, and speeds
            points = changes[place : place + count]
            common = self._centre @ points
            changes[place : place + count] -= common
            longest = max(longest, float(np.abs(common).max(initial=0.0)) / max(1.0, view.far))
        return max(longest, float(np.abs(changes).max(initial=0.0)))

    @cached_property
    def _centre(self) -> Array:
        """From how far coordinates of points go to how far these go on the average."""
        rows, scales = self.symmetries.candidates.points, self.flow.system.scales
        places = self.flow.system.mechanism.points.values()
        axes = {slot: axis for slots in places for axis, slot in enumerate(slots)}
        along = np.array([[axes.get(one) == axes.get(other) for other in rows] for one in rows], dtype=float)
        along = along.reshape(len(rows), len(rows)) * scales[rows] / scales[rows, None]
        return np.asarray(along / np.maximum(along.sum(axis=1, keepdims=True), 1.0))

    def _noise(self, view: View) -> float:
        """What may be left over, in scales."""
        return float(SETTLED * max(1.0, np.abs(view.onward).max(initial=0.0)) + ROUNDINGS * view.far)

    def _require_near(self, view: View) -> None:
        if view.far > FARTHEST:
            message = f"how it moves is lost in roundings: it is {view.far:.2g} times as far away as it is large"
            raise Unclear(Fault(message, hint="or so far it goes on while it moves: put the origin near it"))

    def _left(self, view: View, rates: Array) -> Array:
        """X - S, and what momenta are off."""
        left = view.flow - view.time * view.carried @ self._factors(rates)
        return left if self.momenta is None else np.append(left, (self.momenta.at(view)[0] - self.held) / self.most)

    def _step(self, view: View, rates: Array, left: Array) -> tuple[Array, Array]:
        """Along what is allowed, and of the rates, to where X = S with the momenta there are, were all linear."""
        matrix = np.column_stack([self._bends(view, rates), -self._own(view)])
        if self.momenta is not None:
            more = self.momenta.at(view)[1] / self.most[:, None]
            still = np.zeros((len(self.held), len(rates)))
            matrix = np.concatenate([matrix, np.column_stack([more, still])])
        found = np.asarray(np.linalg.lstsq(matrix, -left, rcond=RANK)[0], dtype=float)
        count = view.allowed.shape[1]
        return found[:count], found[count:] / view.time

    def spin(self, view: View) -> Array:
        """Momenta beside those of moving on: about the centre of mass, where shifts leave it as it is. Momenta along
        motions that leave it as it is are about the origin, and a pose elsewhere makes up for a spin that is lost."""
        candidates, still = view.candidates, self.lasting
        turns = np.arange(still.shape[1]) >= candidates.shifts
        ways = null_space(still[:, turns].T, absolute=SAME)
        local = view.local
        along = candidates.moved(local.q[None], local.v[None])[0][0] @ still.T
        inertia = np.asarray(self.flow.system.mass_matrix(local.t, local.q, local.v))
        moves = along @ ways
        goes_on = np.linalg.lstsq(moves.T @ inertia @ moves, moves.T @ inertia @ local.v, rcond=RANK)[0]
        return np.asarray(along.T @ inertia @ (local.v - moves @ goes_on))

    def _bends(self, view: View, rates: Array) -> Array:
        """DX - DS along what is allowed."""
        return np.asarray(view.onward - view.time * view.bent(self._factors(rates)))

    def _moved(self, view: View, step: Array) -> View | None:
        local, (q, v, _) = view.local, view.moved
        try:
            return self._view(local.q + q @ step, local.v + v @ step)
        except (AssemblyError, SpecError):
            return None

    def _told(self, view: View, rates: Array) -> Steady:
        factors, bends, own = self._factors(rates), self._bends(view, rates), self._own(view)
        inside = view.back @ own
        others = null_space(inside.T, absolute=SAME) if inside.size else np.eye(bends.shape[1])
        seen = others.T @ (view.back @ bends) @ others
        nothing = ROUNDINGS * np.abs(view.onward).max(initial=0.0)
        matrix = np.where(np.abs(seen) > nothing, seen, 0.0) / view.time
        rank = _rank(np.column_stack([bends, -own]), CLEAR + FAR * view.far)
        idle = len(self.symmetries.still) - (bends.shape[1] - len(matrix))  # turns about where it is, which do nothing
        neighbours = own.shape[1] + len(matrix) - rank - idle
        state = view.local.t, view.local.q, view.local.v
        kinetic, potential = as_switched(self.flow.system, *state).energies(*state)
        moved = np.abs(view.time * factors) * self.symmetries.sizes
        seen = np.where(moved > SEEN * max(1.0, moved.max(initial=0.0)), factors, 0.0)
        words = self.symmetries.candidates.words(seen) or RESTS
        held = is_least(self.flow, view, matrix, others, factors, self.symmetries.still)
        linear = replace(_linear(view, matrix, others, words), neighbours=max(0, neighbours), least=held)
        return Steady(linear, words, float(potential - kinetic), self._spins(view))

    def _spins(self, view: View) -> bool:
        """Whether its spin is that of the start, if the mechanism keeps it."""
        if self.momenta is None:
            return True
        same = (np.abs(self.spin(view) - self.spun) <= NEAR * self.most).all()
        return bool(same or len(self._kept()) < len(self.lasting))

    def is_same(self, one: Steady, other: Steady) -> bool:
        """Whether two are one: in one pose or, where motions leave it as it is or lead from one to the other, alike."""
        if len(self.symmetries.still):
            values = [
                np.sort_complex(np.round(each.linear.eigenvalues * self.symmetries.time, 4)) for each in (one, other)
            ]
            near = abs(one.energy - other.energy) <= SAME * max(self.energy, abs(one.energy))
            return bool(near and np.abs(values[0] - values[1]).max(initial=0.0) < 1e-3)
        if one.neighbours and one.neighbours == other.neighbours and are_alike(one.linear, other.linear):
            return True
        return bool(np.abs(apart(self.flow, one.positions, other.positions)).max(initial=0.0) <= SAME)


def _rank(matrix: Array, clear: float) -> int:
    """Raises SpecError where it is not clear."""
    sizes = np.linalg.svd(matrix, compute_uv=False)
    largest = sizes.max(initial=0.0)
    if ((sizes > ROUNDED * largest) & (sizes < clear * largest)).any():
        message = "how it moves near a steady motion cannot be told: what hardly pulls back is as small as roundings"
        raise Unclear(Fault(message, hint="it is nearly singular, or something is very slow against something else"))
    return int((sizes >= clear * largest).sum())


def _largest(matrix: Array) -> float:
    return float(np.linalg.norm(matrix, axis=0).max(initial=0.0))


def _fitted(matrix: Array, right: Array, least: float) -> Array:
    """By least squares, without what moves less."""
    left, sizes, rows = np.linalg.svd(matrix, full_matrices=False)
    kept = sizes > least
    return np.asarray(rows[kept].T @ ((left[:, kept].T @ right) / sizes[kept]))


def _linear(view: View, matrix: Array, rest: Array, words: str) -> Linearised:
    """In coordinates of the mechanism that tell directions apart."""
    local, flow = view.local, view.local.flow
    q, v = (each @ rest for each in view.moved[:2])
    scales, n = flow.system.scales[: flow.system.n, None], flow.system.n
    weights = np.array([3.0 if each.kind == "angle" else 1.0 for each in flow.system.mechanism.variables])
    weights[flow.system.accounts] = q[flow.system.accounts] = 0.0  # they add up work, and nothing moves with them
    stacked = np.concatenate([q / scales, view.time * v / scales])
    chosen = well_chosen(stacked, np.concatenate([100.0 * weights, weights]))
    own = np.concatenate([q, v])[chosen]
    back = np.linalg.inv(own) if len(own) else own
    names = tuple(flow.labels[k] if k < n else f"{flow.labels[k - n]}_dot" for k in chosen)
    unit = np.eye(len(chosen))
    return Linearised(
        t=local.t,
        positions=local.q.copy(),
        velocities=local.v.copy(),
        coordinates=flow.labels,
        states=names,
        inputs=(),
        outputs=names,
        A=own @ matrix @ back,
        B=np.zeros((len(chosen), 0)),
        C=unit,
        D=np.zeros((len(chosen), 0)),
        shapes=q @ back,
        rest=words == RESTS,
        reads_time=flow.reads_time,
        steady=words,
        pace=1 / view.time,
    )
