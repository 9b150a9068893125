"""Newton's method for poses in which forces balance, and how well such a pose is known.

Where the stiffness is nearly singular, as of a column at its buckling load, rests lie close together, and roundings
move each of them by the more the less pulls it back. Two poses are one rest where they are no farther apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.analysis.flow import UNHELD, Flow, Local
from mechsim.analysis.statics import eased
from mechsim.analysis.turning import TURN
from mechsim.errors import AssemblyError, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.linear import generic
from mechsim.result.layout import Array

MOST_STEPS, MOST_SOFT = 60, 4  # of Newton's method; in directions in which little pulls back
LONGEST = 0.5  # of these, in scales
SMALLER, MOST_HALVINGS = 1e-4, 12  # a step has to lessen accelerations by this share of them; else it is halved
SETTLED = 1e-11  # steps below this, in scales, are the last
FAINT = 1e6  # of roundings: what is left over of no more may still be balanced where next to nothing pulls back
SAME = 1e-8  # in scales: Newton's method comes nearer than that to a rest that it is drawn to
FARTHEST = 1e-2  # in scales: no rest is taken to be known worse than that
TRIPLE = 4.0  # where forces are as small as roundings, three rests in one are thrice as far as a step says, or more
SINGULAR = 4e-5  # in scales: one that is known worse is nearly singular
ASIDE, LOOKED, CLEARLY = 1e-12, 4, 16.0  # in scales; poses that are looked at; times what roundings are
EPSILON = 2.3e-16
AIMED, NEARING = 1e-2, 0.1  # a step ending so near a known rest, of its length, and no longer, in scales, finds it


@frozen(eq=False, slots=False)
class Known:
    """A rest that is known, and to what distance, in scales: where forces are as small as roundings of them."""

    flow: Flow
    q: Array
    within: float

    def apart(self, q: Array) -> Array:
        """How far a pose is from it, in scales of each coordinate; whole turns make no difference."""
        return apart(self.flow, q, self.q)

    def is_same(self, other: Known) -> bool:
        """Whether two are one, to what can be told."""
        return self.distance(other.q) <= max(SAME, self.within + other.within)

    def distance(self, q: Array) -> float:
        return float(np.abs(self.apart(q)).max(initial=0.0))

    def draws(self, q: Array, step: Array) -> bool:
        """Whether Newton's method is about to come to it by a step, in scales."""
        off, length = self.apart(q), np.abs(step).max(initial=0.0)
        aims = length <= NEARING and np.abs(off + step).max(initial=0.0) <= AIMED * length
        return bool(aims or (self.within > SINGULAR and np.abs(off).max(initial=0.0) <= self.within))


def known(local: Local, others_beside: int = 0) -> Known:
    """A rest that was found; in so many directions others lie beside it without a gap."""
    sizes = np.linalg.svd(local.stiffness, compute_uv=False)[: local.freedoms[0] - others_beside]
    softest = float(sizes.min()) if len(sizes) else np.inf
    return Known(local.flow, local.q, min(FARTHEST, TRIPLE / softest) if softest > 0 else FARTHEST)


def unheld(local: Local) -> Array:
    """Directions along which nothing pulls back, to what can be told, as columns of changes of scaled coordinates."""
    _, sizes, rows = np.linalg.svd(local.stiffness)
    held = int((sizes > max(UNHELD * sizes.max(initial=0.0), TRIPLE / SINGULAR)).sum())
    return np.asarray(local.bases[0] @ rows[held:].T)


def pulled(local: Local, directions: Array) -> np.ndarray:
    """Whether forces change along each direction, in scales, by more than roundings there explain, as these are seen in
    poses that are next to the same: where something stiff is in the way it may still be unknown where it would rest."""
    count, rows = local.freedoms[0], generic(LOOKED * local.freedoms[0]).reshape(LOOKED, -1)
    others = [stepped(local, ASIDE * row) for row in rows] if len(directions.T) else []
    ways = local.bases[0].T @ directions
    changes, spreads = local.slopes @ ways, np.zeros(len(directions.T))
    for other in others:
        if other is None:
            return np.zeros(len(directions.T), dtype=bool)
        turned = other.rows.T @ local.rows
        seen = other.slopes[count:] @ (other.bases[0].T @ directions)
        spreads = np.maximum(spreads, np.linalg.norm(seen - turned @ changes[count:], axis=0))
    least = EPSILON * np.linalg.norm(np.abs(local.slopes) @ np.abs(ways), axis=0)
    return np.asarray(np.linalg.norm(changes, axis=0) > CLEARLY * np.maximum(spreads, least))


def apart(flow: Flow, one: Array, other: Array) -> Array:
    """In scales; whole turns make no difference, nor do accounts."""
    away = one - other
    away = away - TURN * flow.turned(away)
    found = away / flow.system.scales[: flow.system.n]
    found[flow.angles] = 2 * np.sin(0.5 * away[flow.angles])
    found[flow.system.accounts] = 0.0
    return np.asarray(found)


def balanced(flow: Flow, t: float, q: Array, rests: Sequence[Known] = ()) -> Local:
    """Where Newton's method comes to from a pose; it may rest there or not. It ends sooner where it is about to come to
    one of the rests that are known."""
    local = _balanced(flow, t, q, rests)
    if local.is_rest or any(each.draws(local.q, local.bases[0] @ local.step) for each in rests):
        return local
    nearer = eased(flow, t, q)
    other = None if nearer is None else _balanced(flow, t, nearer, rests)
    return other if other is not None and other.is_rest else local


def _balanced(flow: Flow, t: float, q: Array, rests: Sequence[Known]) -> Local:
    local = flow.at(t, q, np.zeros(flow.system.n))
    for _ in range(MOST_STEPS):
        step = local.step if not 1 < local.left_over < FAINT else local.whole_step
        change = local.bases[0] @ step
        moved = np.abs(change).max(initial=0.0)
        if moved <= SETTLED:
            return _softly(_nearer(local, step, local.size(local), 1) or local)
        if any(each.draws(local.q, change) for each in rests):
            break
        step *= min(1.0, _longest(flow, local.q) / moved)
        nearer = _nearer(local, step, (1 - SMALLER) * local.size(local))
        if nearer is None:
            break
        local = nearer
    return local


def _softly(local: Local) -> Local:
    """What is left over may be no more than roundings of something stiff, and still be balanced by what pulls less."""
    for _ in range(MOST_SOFT):
        if not pulled(local, unheld(local)).any():
            break
        nearer = _nearer(local, local.whole_step, (1 - SMALLER) * local.size(local))
        if nearer is None:
            break
        local = nearer
    return local


def _longest(flow: Flow, q: Array) -> float:
    """Of a step, in scales. Without constraints these are as large as the start was, and a pose may be far from it."""
    far = 0.0 if flow.system.m else np.abs(q / flow.system.scales[: flow.system.n]).max(initial=0.0)
    return float(LONGEST * max(1.0, far))


def _nearer(local: Local, step: Array, before: float, trials: int = MOST_HALVINGS) -> Local | None:
    """Where less is left than before, along a step."""
    for _ in range(trials):
        moved = stepped(local, step)
        if moved is not None and local.size(moved) <= before:
            return moved
        step = step / 2
    return None


def stepped(local: Local, step: Array) -> Local | None:
    """The flow at rest beside a pose, if there is one."""
    flow = local.flow
    change = flow.system.scales[: flow.system.n] * (local.bases[0] @ step)
    try:
        return flow.at(local.t, flow.moved(local.t, local.q, change), np.zeros(flow.system.n))
    except (AssemblyError, SpecError):
        return None
