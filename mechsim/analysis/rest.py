"""Rests of a mechanism: where its forces balance, and nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from itertools import chain

import numpy as np

from mechsim.analysis.balanced import SINGULAR, TRIPLE, Known, apart, balanced, known, pulled, unheld
from mechsim.analysis.deflated import beside
from mechsim.analysis.families import are_alike, are_of_one_family
from mechsim.analysis.flow import ROUNDINGS, Flow, Local
from mechsim.analysis.linear import Linearised, linear_rest
from mechsim.analysis.one_way import OneWay
from mechsim.analysis.turning import TURN, whole_turns
from mechsim.engine.events import as_switched
from mechsim.errors import AssemblyError, Fault, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.linear import generic
from mechsim.kernel.system import System
from mechsim.result.layout import Array

SCATTERED, FEWEST, WORK = 100, 10, 3000  # poses from which rests are looked for, fewer of many coordinates
STRIDES, STRIDE = 24, 0.25  # how each is come to from there: at most so many steps straight on, in scales
WIDER = (1, 1, 4, 16)  # times as long, in turn, without constraints: scales of a user's coordinates may be small
AROUND, SIZES = 4, (1 / 16, 1 / 4, 1, 4, 32, 256, 2048)  # poses around a rest without constraints, at each distance
MOST_CENTRES = 8  # rests around which it is looked
BESIDE, STAYS = (0.02, -0.013, 0.0073), 0.1  # in scales: where others are looked for, and how near to that they are
TWICE = 1e-7  # in scales: Newton's method ends nearer to a rest
DRIVEN = 1e-9  # of a scale and second: what moves slower is rounding
SYMMETRIC = 1e-9  # of the stiffness of both coordinates, and of critical damping
ALIKE = 1e-9  # of the spread of all energies
FARTHEST = 1e6  # in scales: beyond, forces balance because all that pulls is far away


@frozen(eq=False, slots=False)
class Rest:
    """A rest: how the mechanism moves near it, its potential energy, and along how many directions other rests lie
    beside it without any gap."""

    own: Linearised  # what its modes tell by themselves
    energy: float
    neighbours: int
    least: bool  # forces near it are those of a potential that is least there
    within: float = 0.0  # in scales: to what distance it is known
    singular: bool = False  # so little pulls it back in some direction that others may be nearer than can be told
    loads: Mapping[str, float] = field(default_factory=dict)  # of contacts that it leans on, per unit of their gaps
    sticks: tuple[str, ...] = ()  # frictions that hold it
    held: Array | None = None  # constants of the mechanism there, which say what it leans on

    @cached_property
    def linear(self) -> Linearised:
        """How it moves near it."""
        return replace(self.own, verdict=self.stability)

    @property
    def leaning(self) -> bool:
        return bool(self.loads)

    @property
    def positions(self) -> Array:
        return self.own.positions

    @property
    def stability(self) -> str:
        """As of `Linearised`; "stable" also of what swings where a potential is least, "neutral" where it may be moved
        to other rests beside it. Of one that is nearly singular only what grows fast is known."""
        if self.singular:
            rounded = (
                TRIPLE * ROUNDINGS * max(np.abs(self.own.eigenvalues).max(initial=0.0), self.own.pace) ** 2 / SINGULAR
            )
            return "unstable" if self.own.eigenvalues.real.max(initial=0.0) ** 2 > 2 * rounded else "undecided"
        found = self.own.stability_by_modes if len(self.own.A) else "stable" if self.leaning else "undecided"
        if self.leaning and found != "unstable" and min(self.loads.values()) <= 0:
            return "undecided"  # a contact that bears nothing may open
        if found != "undecided":
            return found
        return "neutral" if self.neighbours else "stable" if self.least else "undecided"


def rests(flow: Flow, t: float, q: Array, told: Callable[[int, int], None] | None = None) -> tuple[Rest, ...]:
    """All that are found from a pose, from others that it can be moved to, and beside those that are found; the one
    nearest to it in the way of Newton's method first, the others by their energies. Raises AssemblyError where there is
    none."""
    require_stillness(flow.system, t, q)
    if not flow.pose(t, q)[1].size:
        message = "nothing can move: joints and drives hold it as it is, which is its only pose"
        raise SpecError(Fault(message, hint="mechsim run tells the forces there (Output: reactions)"))
    way = OneWay.of(flow, t, q)
    search, own, tried = _Found(way), 0, 0
    others = chain(poses(flow, t, q), _around(flow, search.known)) if way is None else chain([q], way.poses())
    for pose in others:
        with suppress(AssemblyError, SpecError):  # no accelerations there; or a contact touches
            search.add(_turned_back(balanced(flow, t, pose, search.known), q))
        own = own if tried else len(search.rests)
        tried += 1
        if told:
            told(len(search.rests), tried)
    if way is not None and way.is_free and search.rests:
        return (replace(search.rests[0], neighbours=1, singular=False, within=0.0),)
    search.look_beside()
    if not search.rests:
        raise _none(flow)
    if told:
        told(len(search.rests), tried)
    energies = [rest.energy for rest in search.rests]
    size = ALIKE * (max(energies) - min(energies)) or 1.0  # of those that are alike the first found comes first
    return (*search.rests[:own], *sorted(search.rests[own:], key=lambda rest: round(rest.energy / size)))


def _turned_back(local: Local, q: Array) -> Local:
    """A pose without the whole turns by which its angles are away from another; what rolls is elsewhere after them."""
    if local.flow.rolls.any():
        return local
    turns = whole_turns(local.flow.angles, q, local.q) + local.flow.turned(local.q - q)
    return balanced(local.flow, local.t, local.q - TURN * turns) if turns.any() else local


class _Found:
    """Rests that are found, each once."""

    def __init__(self, way: OneWay | None) -> None:
        self.way = way  # on which they all are
        self.rests: list[Rest] = []
        self.known: list[Known] = []
        self._places: list[Local] = []
        self._alone: list[Local] = []  # those that are no part of a family to which it may be moved, or rolled

    def add(self, local: Local) -> None:
        """A pose that Newton's method came to, if it is a rest that was not known."""
        step = local.bases[0] @ local.step
        if np.abs(local.q / local.flow.system.scales[: len(local.q)])[_moving(local)].max(initial=0.0) > FARTHEST:
            return
        if not local.is_rest or any(each.draws(local.q, step) for each in self.known) or self._is_known(known(local)):
            return
        if self.way is not None and not self.way.has(local.q):
            return
        linear = linear_rest(local)
        ways = unheld(local).shape[1]
        if ways and any(ways == other.neighbours and are_alike(linear, other.own) for other in self.rests):
            return
        if ways and self._goes_everywhere(local.flow) and self._is_beside(local):
            return
        rest = rest_of(local.flow, local, linear)
        self.rests.append(rest)
        self._places.append(local)
        self.known.append(Known(local.flow, local.q, rest.within))
        if rest.neighbours <= local.freedoms[0] - local.rolling.shape[1]:
            self._alone.append(local)

    def _is_beside(self, local: Local) -> bool:
        """Whether a way of rests leads to it from one that is known."""
        families = [place for place, rest in zip(self._places, self.rests, strict=True) if rest.neighbours]
        return any(are_of_one_family(each, local) for each in families)

    @staticmethod
    def _goes_everywhere(flow: Flow) -> bool:
        """What rolls along a line may not go the ways that it could be put along."""
        return not flow.rolls.any() or flow.rolls_everywhere

    def _is_known(self, found: Known) -> bool:
        """Whether it is one of the others. If that is farther than Newton's method may be off, there may be two, but
        for those of a family."""
        for place, other in enumerate(self.known):
            if other.is_same(found):
                if other.distance(found.q) > TWICE and not self.rests[place].neighbours:
                    self.rests[place] = replace(self.rests[place], singular=True)
                return True
        return False

    def look_beside(self) -> None:
        """Near each, those that are found by it too."""
        for local in self._alone:
            for other in beside(local, self.known):
                with suppress(AssemblyError, SpecError):
                    self.add(other)


def _moving(local: Local) -> Array:
    return np.delete(np.arange(len(local.q)), local.flow.system.accounts)


def nearest_rest(flow: Flow, t: float, q: Array) -> Local:
    """The first of all rests: that from the pose itself if there is one, else the lowest. Raises AssemblyError."""
    require_stillness(flow.system, t, q)
    with suppress(AssemblyError, SpecError):
        local = _turned_back(balanced(flow, t, q), q)
        if local.is_rest:
            return local
    return balanced(flow, t, rests(flow, t, q)[0].positions)


def rest_from(flow: Flow, t: float, q: Array) -> Rest | None:
    """The one that Newton's method comes to from a pose, if it does."""
    try:
        local = balanced(flow, t, q)
        return rest_of(flow, local) if local.is_rest else None
    except (AssemblyError, SpecError):
        return None


def _none(flow: Flow) -> AssemblyError:
    hint = "forces are left over wherever it goes: is something free to fall or to turn?"
    if flow.has_contacts:
        hint = "with contacts open; nor did it come to rest on some when it sank from its start"
    return AssemblyError(Fault("no rest was found from any pose that was tried", hint=hint))


def rest_of(flow: Flow, local: Local, linear: Linearised | None = None) -> Rest:
    still = np.zeros(flow.system.n)
    _, potential = as_switched(flow.system, local.t, local.q, still).energies(local.t, local.q, still)
    linear = linear or linear_rest(local)
    ways = unheld(local)
    neighbours = sum(_goes_on(local, direction) for direction in ways[:, ~pulled(local, ways)].T)
    within = known(local, neighbours).within
    singular = within > SINGULAR
    least = not singular and _is_least(flow, local, linear)
    return Rest(linear, float(potential), neighbours, least, within, singular)


def judged(flow: Flow, linear: Linearised) -> Linearised:
    """The linear motion in any coordinates; with the stability of the rest that it is about, if it is about one, and
    nothing is left out."""
    if not linear.rest:
        return linear
    local = flow.at(linear.t, linear.positions, 0 * linear.velocities)
    if len(linear.states) < sum(local.freedoms):
        return linear
    return replace(linear, verdict=rest_of(flow, local, linear).stability)


def _goes_on(local: Local, direction: Array) -> bool:
    """Whether rests go on without a gap where nothing pulls back: wherever it is put beside, it stays."""
    flow, scales = local.flow, local.flow.system.scales[: local.flow.system.n]
    for away in BESIDE:
        put = local.q + away * scales * direction
        try:
            other = balanced(flow, local.t, put)
        except (AssemblyError, SpecError):
            return False
        moved = np.abs(apart(flow, other.q, put)).max(initial=0.0)
        if not other.is_rest or moved > STAYS * abs(away) * np.abs(direction).max(initial=0.0):
            return False
    return True


def _is_least(flow: Flow, local: Local, linear: Linearised) -> bool:
    """Whether forces near a rest come from a potential that is least there, and others only take energy (Lagrange and
    Dirichlet, Kelvin and Tait): as many rates as positions, a stiffness that is symmetric and pulls back every way, and
    damping that gives none. Each coordinate counts by its own stiffness and inertia."""
    count = local.freedoms[0]
    if local.freedoms[1] != count or linear.states[count:] != tuple(f"{name}_dot" for name in linear.states[:count]):
        return False
    shapes = linear.shapes[:, :count]
    mass = shapes.T @ np.asarray(flow.system.mass_matrix(local.t, local.q)) @ shapes
    stiffness, damping = -mass @ linear.A[count:, :count], -mass @ linear.A[count:, count:]
    held, heavy = np.diagonal(stiffness), np.diagonal(mass)
    if not ((held > 0) & (heavy > 0)).all():
        return False
    stiffness, critical = stiffness / np.sqrt(np.outer(held, held)), np.sqrt(held * heavy)
    damping = damping / np.sqrt(np.outer(critical, critical))
    symmetric = np.abs(stiffness - stiffness.T).max(initial=0.0) <= SYMMETRIC
    most = max(1.0, np.abs(damping).max(initial=0.0))
    takes = np.linalg.eigvalsh(damping + damping.T).min(initial=0.0) >= -SYMMETRIC * most
    return bool(symmetric and takes and np.linalg.eigvalsh(stiffness + stiffness.T).min(initial=1.0) > 0)


def require_stillness(system: System, t: float, q: Array) -> None:
    """Raise where a drive moves something whatever is done."""
    rates = np.abs(np.asarray(system.constraint_rate(t, q, np.zeros(system.n))))
    lengths = np.maximum(np.asarray(system.gradient_lengths(t, q, np.zeros(system.n))), 1e-300)
    if len(rates) and (rates / lengths).max() > DRIVEN:
        element = system.mechanism.binding[int(np.argmax(rates / lengths))]
        message = f"there is no rest: the {element.owner} keeps moving at t = {t:g}"
        raise AssemblyError(Fault(message, element.mark, "let it stand still, or linearise at a time of the motion"))


def poses(flow: Flow, t: float, q: Array) -> Iterator[Array]:
    """The pose itself, and others scattered over all that it can be moved to, the same every time."""
    yield q
    n, scales = flow.system.n, flow.system.scales[: flow.system.n]
    rolling = bool(flow.rolls.any())  # along geodesics, so that no stride is too long
    wider = WIDER if rolling or not flow.system.m else (1,)  # else one that is may end on another branch
    count = max(FEWEST, min(SCATTERED, WORK // n))
    for number, row in enumerate(generic(count * (n + 1)).reshape(count, n + 1)):
        pose, direction = q, row[:n]
        stride = STRIDE * wider[number % len(wider)] * scales
        strides = 1 + int(STRIDES * abs(row[n]))
        if rolling:  # one does as well
            stride, strides = stride * strides, 1
        with suppress(AssemblyError, SpecError):
            for _ in range(strides):
                pose, basis = flow.pose(t, pose)
                direction = basis @ (basis.T @ direction)
                direction /= max(float(np.abs(direction).max(initial=0.0)), 1e-300)
                pose = flow.moved(t, pose, stride * direction)
        yield pose


def _around(flow: Flow, centres: Sequence[Known]) -> Iterator[Array]:
    """Poses near and far around rests, as these are found, where no constraint says how large the mechanism is: the
    start, from which scales come, may be far from all of them."""
    if flow.system.m:
        return
    n, place = flow.system.n, 0
    count = AROUND * len(SIZES)
    rows = generic(MOST_CENTRES * count * n).reshape(MOST_CENTRES, count, n)
    while place < min(len(centres), MOST_CENTRES):
        for number, row in enumerate(rows[place]):
            yield centres[place].q + SIZES[number % len(SIZES)] * flow.system.scales[:n] * row
        place += 1
