"""Rests of a mechanism: where its forces balance, and nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from mechsim.analysis.flow import Flow, Local
from mechsim.analysis.linear import SLOWEST, Linearised, linearised
from mechsim.errors import AssemblyError, Fault, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.linear import generic
from mechsim.result.layout import Array

SCATTERED, FEWEST, WORK = 100, 10, 3000  # poses from which rests are looked for, fewer of many coordinates
STRIDES, STRIDE = 24, 0.25  # how each is come to from there: at most so many steps straight on, in scales
WIDER = (1, 1, 4, 16)  # times as long, in turn, without constraints: scales of a user's coordinates may be small
MOST_STEPS = 60  # of Newton's method
LONGEST = 0.5  # of these, in scales
SMALLER = 1e-4  # of what a step should win of the residual, it has to
SETTLED = 1e-11  # steps below this, in scales, are the last; what is left of accelerations is compared with
BALANCED = 1e-9  # ... this, of those that forces which balance would give alone
SAME = 1e-6  # in scales
DOUBLE = 1e-3  # of the largest: to this eigenvalues agree, of which several may be zero
DEPENDENT = 1e-8  # singular values of the stiffness below this share: rests are not isolated


@frozen(eq=False, slots=False)
class Rest:
    """A rest: how the mechanism moves near it, its potential energy, and along how many directions other rests lie
    beside it without any gap."""

    linear: Linearised
    energy: float
    neighbours: int

    @property
    def positions(self) -> Array:
        return self.linear.positions

    @property
    def stability(self) -> str:
        """As of `Linearised`; "stable" also of what only swings where the potential energy is least, "neutral" where it
        may be moved to other rests beside it."""
        found = self.linear.stability
        if found != "undecided":
            return found
        swings = all(mode.eigenvalue.imag != 0 for mode in self.linear.modes)
        return "neutral" if self.neighbours else "stable" if swings and self._without_speeds else "undecided"

    @property
    def _without_speeds(self) -> bool:
        """Whether no force near it depends on velocities: then what only swings is where a potential is least."""
        matrix, count = self.linear.A, len(self.linear.A) // 2
        return bool(np.abs(matrix[count:, count:]).max(initial=0.0) <= BALANCED * np.abs(matrix).max(initial=0.0))


def rests(flow: Flow, t: float, q: Array, told: Callable[[int, int], None] | None = None) -> tuple[Rest, ...]:
    """All that are found from a pose and from others that it can be moved to; the one nearest to it in the way of
    Newton's method first, the others by their energies. Raises AssemblyError where there is none."""
    _require_stillness(flow, t, q)
    found: list[Rest] = []
    own, least = 0, np.inf
    for tried, pose in enumerate(_poses(flow, t, q)):
        with suppress(AssemblyError, SpecError):  # no accelerations there; or a contact touches
            local, off = _balanced(flow, t, pose)
            least = min(least, off)
            if off <= BALANCED and not any(_is_same(flow, local.q, other.positions) for other in found):
                rest = _rest(flow, local)
                if not any(_is_family(rest, other) for other in found):
                    found.append(rest)
                    own += tried == 0
        if told:
            told(len(found), tried + 1)
    if not found:
        raise _none(flow, least)
    return (*found[:own], *sorted(found[own:], key=lambda rest: round(rest.energy, 9)))


def nearest_rest(flow: Flow, t: float, q: Array) -> Local:
    """The first that is found, from the pose itself if there is one. Raises AssemblyError."""
    _require_stillness(flow, t, q)
    least = np.inf
    for pose in _poses(flow, t, q):
        with suppress(AssemblyError, SpecError):
            local, off = _balanced(flow, t, pose)
            if off <= BALANCED:
                return local
            least = min(least, off)
    raise _none(flow, least)


def _none(flow: Flow, least: float) -> AssemblyError:
    if flow.has_contacts:
        hint = "contacts count as open here: what rests on one is not found"
        return AssemblyError(Fault("no rest was found from any pose that was tried", hint=hint))
    hint = f"nothing holds it: of the forces {least:.2g} is left over at best; is something free to fall or to turn?"
    return AssemblyError(Fault("no rest was found from any pose that was tried", hint=hint))


def _rest(flow: Flow, local: Local) -> Rest:
    still = np.zeros(flow.system.n)
    _, potential = flow.system.energies(local.t, local.q, still)
    stiffness = _slopes(local)
    sizes = np.linalg.svd(stiffness, compute_uv=False)
    rank = int((sizes > DEPENDENT * sizes.max(initial=0.0)).sum())
    return Rest(linearised(flow, local.t, local.q, still), float(potential), local.freedoms[0] - rank)


def _require_stillness(flow: Flow, t: float, q: Array) -> None:
    """Raise where a drive moves something whatever is done."""
    system = flow.system
    rates = np.abs(np.asarray(system.constraint_rate(t, q, np.zeros(system.n))))
    lengths = np.maximum(np.asarray(system.gradient_lengths(t, q, np.zeros(system.n))), 1e-300)
    if len(rates) and (rates / lengths).max() > BALANCED:
        element = system.mechanism.binding[int(np.argmax(rates / lengths))]
        message = f"there is no rest: the {element.owner} keeps moving at t = {t:g}"
        raise AssemblyError(Fault(message, element.mark, "let it stand still, or linearise at a time of the motion"))


def _poses(flow: Flow, t: float, q: Array) -> Iterator[Array]:
    """The pose itself, and others scattered over all that it can be moved to, the same every time."""
    yield q
    n, scales = flow.system.n, flow.system.scales[: flow.system.n]
    wider = WIDER if not flow.system.m else (1,)  # on constraints a stride that is too long ends on another branch
    count = max(FEWEST, min(SCATTERED, WORK // n))
    for number, row in enumerate(generic(count * (n + 1)).reshape(count, n + 1)):
        pose, direction = q, row[:n]
        stride = STRIDE * wider[number % len(wider)] * scales
        with suppress(AssemblyError, SpecError):
            for _ in range(1 + int(STRIDES * abs(row[n]))):
                pose, basis = flow.pose(t, pose)
                direction = basis @ (basis.T @ direction)
                direction /= max(float(np.abs(direction).max(initial=0.0)), 1e-300)
                pose = pose + stride * direction
        yield pose


def _balanced(flow: Flow, t: float, q: Array) -> tuple[Local, float]:
    """Where Newton's method comes to from a pose, and what is left of accelerations there."""
    still, scales = np.zeros(flow.system.n), flow.system.scales[: flow.system.n]
    local = flow.at(t, q, still)
    size = _size(local)
    for _ in range(MOST_STEPS):
        residual, slopes = _residual(local), _slopes(local)
        step = np.linalg.lstsq(slopes, -residual, rcond=DEPENDENT)[0]
        moved = np.abs(local.bases[0] @ step).max(initial=0.0)
        if moved <= SETTLED:
            break
        step *= min(1.0, LONGEST / moved)
        for _ in range(12):  # halvings
            nearer = _moved(flow, local, scales * (local.bases[0] @ step))
            before = np.linalg.norm(residual)
            if nearer is not None and np.linalg.norm(_residual(nearer)) <= (1 - SMALLER) * before:
                break
            step /= 2
        else:
            break
        local = nearer
        size = max(size, _size(local))
    return local, float(np.linalg.norm(_residual(local))) / (size or 1.0)


def _moved(flow: Flow, local: Local, change: Array) -> Local | None:
    try:
        return flow.at(local.t, local.q + change, np.zeros(flow.system.n))
    except (AssemblyError, SpecError):
        return None


def _residual(local: Local) -> Array:
    """Rates of states and accelerations, along the freedoms."""
    scales = local.flow.system.scales[: local.flow.system.n]
    return np.concatenate([local.bases[0].T @ (local.v / scales), local.bases[1].T @ (local.a / scales)])


def _slopes(local: Local) -> Array:
    """How that changes with positions."""
    _, v, a = local.moved
    scales = local.flow.system.scales[: local.flow.system.n, None]
    count = local.freedoms[0]
    return np.concatenate([local.bases[0].T @ (v / scales), local.bases[1].T @ (a / scales)])[:, :count]


def _size(local: Local) -> float:
    """Accelerations that forces would give which in a rest balance each other: by how they change with the pose."""
    return float(np.abs(_slopes(local)).max(initial=0.0)) + float(np.linalg.norm(_residual(local)))


def _is_family(one: Rest, other: Rest) -> bool:
    """Whether two that have others beside them are of one family, as a cart at two places: they are alike."""
    if not one.neighbours or one.neighbours != other.neighbours:
        return False
    values = [np.sort_complex(np.round(rest.linear.eigenvalues, 12)) for rest in (one, other)]
    largest = float(np.abs(values[0]).max(initial=0.0))
    return bool(np.abs(values[0] - values[1]).max(initial=0.0) <= max(DOUBLE * largest, 10 * SLOWEST))


def _is_same(flow: Flow, one: Array, other: Array) -> bool:
    """Whole turns make no difference."""
    variables = flow.system.mechanism.variables
    apart = (one - other) / flow.system.scales[: flow.system.n]
    turns = [place for place, variable in enumerate(variables) if variable.kind == "angle"]
    apart[turns] = 2 * np.sin(0.5 * (one - other)[turns])
    apart[flow.system.accounts] = 0.0
    return bool(np.abs(apart).max(initial=0.0) <= SAME)
