"""Where forces balance, by forces alone.

Accelerations tell best how well a rest is known. But what is light beside what it carries is thrown about by it, from
any pose but those next to a rest, and then they do not tell the way there. Forces along what constraints allow do,
whatever has how much inertia: Newton's method on them has the multipliers that balance them best, and with these the
curvature of the constraints.
"""

from __future__ import annotations

import numpy as np

from mechsim.analysis.flow import UNHELD, Flow
from mechsim.engine.events import as_switched
from mechsim.errors import AssemblyError, MechsimError, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.changes import NumberChanges, changes_of, gathered
from mechsim.kernel.linear import dense, unit_rows
from mechsim.result.layout import Array

MOST_STEPS, MOST_HALVINGS = 60, 12
LONGEST, NEAR = 0.5, 1e-9  # of a step, in scales; below that accelerations tell the rest
SMALLER = 1e-4  # a step has to lessen forces by this share of them; else it is halved


def eased(flow: Flow, t: float, q: Array) -> Array | None:
    """The pose in which Newton's method ends, if forces come to balance there; None for what rolls or has states of its
    own, which are no matter of forces."""
    if flow.rolls.any() or set(flow.states) - set(flow.system.accounts.tolist()):
        return None
    try:
        here = _forces(flow, t, q)
        for _ in range(MOST_STEPS):
            step = np.linalg.lstsq(here.stiffness, -here.left, rcond=UNHELD)[0]
            moved = np.abs(here.basis @ step).max(initial=0.0)
            if moved <= NEAR:
                return here.q
            nearer = _nearer(here, step * min(1.0, LONGEST / moved))
            if nearer is None:
                return None
            here = nearer
    except (AssemblyError, SpecError, np.linalg.LinAlgError):
        pass
    return None


def along(flow: Flow, t: float, q: Array, direction: Array) -> tuple[float, float]:
    """What is left over of forces along a direction that constraints allow, and the sizes of all of them; NaN where
    they have no value."""
    try:
        still, n = np.zeros(flow.system.n), flow.system.n
        system = as_switched(flow.system, t, q, still)
        pushed = np.asarray(system.residuals(t, q, still, still, np.zeros(flow.system.m)))[:n]
        return float(pushed @ direction), float(system.pushes(t, q, still) @ np.abs(direction))
    except MechsimError:
        return float("nan"), float("nan")


@frozen(eq=False)
class _Forces:
    """Along the columns of a basis, in scales, at a pose: what is left over, and how that changes along them."""

    flow: Flow
    t: float
    q: Array
    basis: Array
    left: Array
    stiffness: Array


def _forces(flow: Flow, t: float, q: Array) -> _Forces:
    q, basis = flow.pose(t, q)
    n, m, still = flow.system.n, flow.system.m, np.zeros(flow.system.n)
    system, scales = as_switched(flow.system, t, q, still), flow.system.scales[: flow.system.n]
    pushed = np.asarray(system.residuals(t, q, still, still, np.zeros(m)))[:n] * scales
    gradients, lengths = unit_rows(dense(system.constraint_jacobian(t, q), m, n) * scales)
    multipliers = np.linalg.lstsq(gradients.T, -pushed, rcond=None)[0] / lengths.ravel()
    ways = scales[:, None] * basis
    none = np.zeros_like(ways)
    directions = ways, none, none, np.zeros((m, ways.shape[1]))
    numbers = NumberChanges.none(system, ways.shape[1])
    found = changes_of(system, ("row",), (t, q, still, still, multipliers), directions, numbers)
    changes = gathered(found, lambda group, key: group.row(key[1], n), n + m, ways.shape[1])[:n]
    return _Forces(flow, t, q, basis, basis.T @ pushed, ways.T @ changes)


def _nearer(here: _Forces, step: Array) -> _Forces | None:
    """Where less is left over than before, along a step."""
    scales, before = here.flow.system.scales[: len(here.q)], (1 - SMALLER) * float(np.linalg.norm(here.left))
    for _ in range(MOST_HALVINGS):
        try:
            found = _forces(here.flow, here.t, here.q + scales * (here.basis @ step))
            if np.linalg.norm(found.left) <= before:
                return found
        except (AssemblyError, SpecError):
            pass
        step = step / 2
    return None
