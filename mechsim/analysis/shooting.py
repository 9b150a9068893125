"""Newton's method for motions that come back to where they began: see ring.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mechsim.analysis.ring import Change, Linear, Ring
from mechsim.errors import AssemblyError, Fault, IntegrationError
from mechsim.frozen import frozen
from mechsim.result.layout import Array

MOST_STEPS = 40  # of Newton's method
MOST_HALVINGS = 8  # of one of its steps
LARGEST = 1.0  # step at once, in scales
CLOSED = 100.0  # tolerances, times growth: what is missed by less is an error of the integration
SHORTER = 0.5  # than the step that led there is the next one, where more may be missed for the time being
CONTRACTS = 0.5  # a step that leaves more than this share of what was missed is one of the last

Opened = Callable[[Ring], Linear]  # the motions of a ring
Conditions = Sequence[Change]  # steps are to be across these changes


@frozen(slots=False, eq=False)
class Closed:
    """A ring that is closed; `steps` that it took."""

    linear: Linear
    steps: int


def close(opened: Opened, ring: Ring, tolerance: float, across: Conditions = ()) -> Closed:
    """The ring nearest to this one that is closed, to what the tolerance leaves. Raises IntegrationError."""
    found = opened(ring)
    for steps in range(MOST_STEPS):
        step = solved(found, across)
        if found.residual <= tolerance and _is_last(found, step, tolerance):
            return Closed(found, steps)
        better = _better(opened, found, step, across)
        if better is None:
            if found.residual <= floor(found, tolerance):
                return Closed(found, steps)
            break
        stays = better.residual > CONTRACTS * found.residual and not _nears(found, better, step, across)
        if found.residual <= floor(found, tolerance) and stays:
            return Closed(min(found, better, key=lambda each: each.residual), steps + 1)
        found = better
    message = f"Newton's method found no periodic motion: states are still missed by {found.residual:.2g} of their size"
    hint = "begin nearer to one: at a later time, with another period, or from another start"
    raise IntegrationError(Fault(message, hint=hint))


def floor(found: Linear, tolerance: float) -> float:
    """What may be missed for errors of the integration."""
    growth = max(1.0, *(float(np.linalg.norm(each, 2)) for each in found.transfers))
    return CLOSED * tolerance * growth


def solved(found: Linear, across: Conditions = (), right: Array | None = None) -> Array:
    """The shortest step that closes the ring, were all linear."""
    rows = [found.row(each) for each in across]
    wanted = -np.append(found.missed, np.zeros(len(rows))) if right is None else right
    return np.asarray(np.linalg.lstsq(np.vstack([found.matrix, *rows]), wanted, rcond=found.family)[0])


def _nears(found: Linear, there: Linear, step: Array, across: Conditions) -> bool:
    """Whether the next step, were derivatives there as they were here, is much shorter than the one that led there."""
    right = -np.append(there.missed, np.zeros(len(across)))
    following = found.length(found.change(solved(found, across, right)))
    return following < SHORTER * found.length(found.change(step))


def _is_last(found: Linear, step: Array, tolerance: float) -> bool:
    return found.length(found.change(step)) <= tolerance


def _better(opened: Opened, found: Linear, step: Array, across: Conditions) -> Linear | None:
    """The ring after a step, as far along it as helps; None where nothing does. Less is missed there, or next to a
    singular ring, where much moves for little, the next step is shorter (Deuflhard's natural monotonicity)."""
    length = found.length(found.change(step))
    share = min(1.0, LARGEST / length) if length > 0 else 1.0
    for _ in range(MOST_HALVINGS):
        change = found.change(share * step)
        if found.ring.period + change.period > 0:
            try:
                there = opened(found.moved(change))
            except (AssemblyError, IntegrationError):
                there = None
            if there is not None and there.residual < found.residual:
                return there
            if there is not None and _nears(found, there, step, across):
                return there
        share *= 0.5
    return None
