"""Rests near rests: where the stiffness is soft others may be close by, and Newton's method from afar comes to the
stable ones only.

Forces are multiplied by what is infinite at each rest that is known, so that Newton's method cannot come to it again
(deflation; Brown and Gearhart 1971, Farrell, Birkisson and Funke 2015). Steps keep their direction by that, and change
their length and sign: a factor of the step is all it takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mechsim.analysis.balanced import LONGEST, SMALLER, Known, balanced, stepped
from mechsim.analysis.flow import Local
from mechsim.result.layout import Array

AWAY = 0.1  # in scales: where a search begins, from a rest along its softest direction
MOST_STEPS, MOST_HALVINGS = 20, 6
FARTHEST = 0.6  # in scales: a search that has gone farther looks for what is far, which scattered poses find
FINDS = 1e-6  # in scales: steps below this are left to Newton's method itself


def beside(rest: Local, others: Sequence[Known]) -> Iterator[Local]:
    """Where searches end that begin on both sides of a rest; it may rest there or not. `others` are all rests that are
    known, this one too, and may grow meanwhile."""
    softest = rest.rolling @ np.linalg.svd(rest.slopes @ rest.rolling)[2][-1]
    for way in (AWAY, -AWAY):
        begun = stepped(rest, way * softest)
        if begun is not None:
            found = _searched(begun, rest.q, others)
            if found is not None:
                yield balanced(found.flow, found.t, found.q, others)


def _searched(local: Local, first: Array, others: Sequence[Known]) -> Local | None:
    """Where forces that are deflated nearly vanish, if that is near."""
    for _ in range(MOST_STEPS):
        step = local.step * _factor(local, others)
        moved = np.abs(local.bases[0] @ step).max(initial=0.0)
        if moved <= FINDS:
            return local
        step *= min(1.0, LONGEST / moved)
        before = (1 - SMALLER) * _left(local, others)
        for _ in range(MOST_HALVINGS):
            nearer = stepped(local, step)
            if nearer is not None and _left(nearer, others) <= before:
                break
            step /= 2
        else:
            return None
        local = nearer
        if np.abs((local.q - first) / local.flow.system.scales[: len(first)]).max(initial=0.0) > FARTHEST:
            return None
    return None


def _left(local: Local, others: Sequence[Known]) -> float:
    lengths = [max(float(np.linalg.norm(each.apart(local.q))), 1e-300) for each in others]
    return float(np.linalg.norm(local.residual) * np.prod([1 + 1 / length for length in lengths]))


def _factor(local: Local, others: Sequence[Known]) -> float:
    """1 / (1 - s.g) of a step s, where g is the gradient of the logarithm of what is multiplied (by Sherman and
    Morrison's formula)."""
    step, along = local.bases[0] @ local.step, 0.0
    for each in others:
        off = each.apart(local.q)
        length = max(float(np.linalg.norm(off)), 1e-150)  # its square is a number still
        along -= float(step @ off) / (length**2 * (1 + length))
    return 1 / (1 - along) if along != 1 else 1.0
