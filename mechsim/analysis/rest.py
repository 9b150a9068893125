"""Rests of a mechanism: where its forces balance, and nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from mechsim.analysis.flow import UNHELD, Flow, Local
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
SMALLER, MOST_HALVINGS = 1e-4, 12  # a step has to lessen accelerations by this share of them; else it is halved
SETTLED = 1e-11  # steps below this, in scales, are the last
DRIVEN = 1e-9  # of a scale and second: what moves slower is rounding
SYMMETRIC = 1e-9  # of the largest entry
SAME = 1e-6  # in scales
DOUBLE = 1e-3  # of the largest: to this eigenvalues agree, of which several may be zero


@frozen(eq=False, slots=False)
class Rest:
    """A rest: how the mechanism moves near it, its potential energy, and along how many directions other rests lie
    beside it without any gap."""

    linear: Linearised
    energy: float
    neighbours: int
    least: bool  # forces near it are those of a potential that is least there

    @property
    def positions(self) -> Array:
        return self.linear.positions

    @property
    def stability(self) -> str:
        """As of `Linearised`; "stable" also of what swings where a potential is least, "neutral" where it may be moved
        to other rests beside it."""
        found = self.linear.stability
        if found != "undecided":
            return found
        return "neutral" if self.neighbours else "stable" if self.least else "undecided"


def rests(flow: Flow, t: float, q: Array, told: Callable[[int, int], None] | None = None) -> tuple[Rest, ...]:
    """All that are found from a pose and from others that it can be moved to; the one nearest to it in the way of
    Newton's method first, the others by their energies. Raises AssemblyError where there is none."""
    _require_stillness(flow, t, q)
    found: list[Rest] = []
    own = 0
    for tried, pose in enumerate(_poses(flow, t, q)):
        with suppress(AssemblyError, SpecError):  # no accelerations there; or a contact touches
            local = _balanced(flow, t, pose)
            if local.is_rest and not any(_is_same(flow, local.q, other.positions) for other in found):
                rest = _rest(flow, local)
                if not any(_is_family(rest, other) for other in found):
                    found.append(rest)
                    own += tried == 0
        if told:
            told(len(found), tried + 1)
    if not found:
        raise _none(flow)
    return (*found[:own], *sorted(found[own:], key=lambda rest: round(rest.energy, 9)))


def nearest_rest(flow: Flow, t: float, q: Array) -> Local:
    """The first that is found, from the pose itself if there is one. Raises AssemblyError."""
    _require_stillness(flow, t, q)
    for pose in _poses(flow, t, q):
        with suppress(AssemblyError, SpecError):
            local = _balanced(flow, t, pose)
            if local.is_rest:
                return local
    raise _none(flow)


def _none(flow: Flow) -> AssemblyError:
    hint = "forces are left over wherever it goes: is something free to fall or to turn?"
    if flow.has_contacts:
        hint = "contacts count as open here: what rests on one is not found"
    return AssemblyError(Fault("no rest was found from any pose that was tried", hint=hint))


def _rest(flow: Flow, local: Local) -> Rest:
    still = np.zeros(flow.system.n)
    _, potential = flow.system.energies(local.t, local.q, still)
    sizes = np.linalg.svd(local.slopes, compute_uv=False)
    rank = int((sizes > UNHELD * sizes.max(initial=0.0)).sum())
    linear = linearised(flow, local.t, local.q, still)
    return Rest(linear, float(potential), local.freedoms[0] - rank, _is_least(flow, local, linear))


def _is_least(flow: Flow, local: Local, linear: Linearised) -> bool:
    """Whether forces near a rest come from a potential alone that is least there (Lagrange and Dirichlet): as many
    rates as positions, none of which a force depends on, and a stiffness that is symmetric and pulls back every way."""
    count = local.freedoms[0]
    if local.freedoms[1] != count or linear.states[count:] != tuple(f"{name}_dot" for name in linear.states[:count]):
        return False
    shapes = linear.shapes[:, :count]
    mass = shapes.T @ np.asarray(flow.system.mass_matrix(local.t, local.q)) @ shapes
    stiffness, largest = -mass @ linear.A[count:, :count], np.abs(linear.A).max(initial=0.0)
    symmetric = np.abs(stiffness - stiffness.T).max(initial=0.0) <= SYMMETRIC * np.abs(stiffness).max(initial=0.0)
    without_speeds = np.abs(linear.A[count:, count:]).max(initial=0.0) <= SYMMETRIC * largest
    return bool(symmetric and without_speeds and np.linalg.eigvalsh(stiffness + stiffness.T).min(initial=1.0) > 0)


def _require_stillness(flow: Flow, t: float, q: Array) -> None:
    """Raise where a drive moves something whatever is done."""
    system = flow.system
    rates = np.abs(np.asarray(system.constraint_rate(t, q, np.zeros(system.n))))
    lengths = np.maximum(np.asarray(system.gradient_lengths(t, q, np.zeros(system.n))), 1e-300)
    if len(rates) and (rates / lengths).max() > DRIVEN:
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


def _balanced(flow: Flow, t: float, q: Array) -> Local:
    """Where Newton's method comes to from a pose; it may rest there or not."""
    scales = flow.system.scales[: flow.system.n]
    local = flow.at(t, q, np.zeros(flow.system.n))
    for _ in range(MOST_STEPS):
        step = local.step
        moved = np.abs(local.bases[0] @ step).max(initial=0.0)
        if moved <= SETTLED:
            break
        step *= min(1.0, LONGEST / moved)
        before = (1 - SMALLER) * np.linalg.norm(local.residual)
        for _ in range(MOST_HALVINGS):
            nearer = _moved(flow, local, scales * (local.bases[0] @ step))
            if nearer is not None and np.linalg.norm(nearer.residual) <= before:
                break
            step /= 2
        else:
            break
        local = nearer
    return local


def _moved(flow: Flow, local: Local, change: Array) -> Local | None:
    try:
        return flow.at(local.t, local.q + change, np.zeros(flow.system.n))
    except (AssemblyError, SpecError):
        return None


def _is_family(one: Rest, other: Rest) -> bool:
    """Whether two that have others beside them are of one family, as a cart at two places: they are alike."""
    if not one.neighbours or one.neighbours != other.neighbours:
        return False
    found = [rest.linear.eigenvalues for rest in (one, other)]
    parts = [np.concatenate([np.sort(values.real), np.sort(values.imag)]) for values in found]
    largest = float(np.abs(found[0]).max(initial=0.0))
    return bool(np.abs(parts[0] - parts[1]).max(initial=0.0) <= max(DOUBLE * largest, 10 * SLOWEST))


def _is_same(flow: Flow, one: Array, other: Array) -> bool:
    """Whole turns make no difference."""
    variables = flow.system.mechanism.variables
    apart = (one - other) / flow.system.scales[: flow.system.n]
    turns = [place for place, variable in enumerate(variables) if variable.kind == "angle"]
    apart[turns] = 2 * np.sin(0.5 * (one - other)[turns])
    apart[flow.system.accounts] = 0.0
    return bool(np.abs(apart).max(initial=0.0) <= SAME)
