"""Families of rests: rests that lie beside each other without a gap are one, however different they look.

From one of them the way goes towards the other, always along directions in which nothing pulls back, and Newton's
method puts every place of it on a rest again. Where the way ends at the other they are of one family.
"""

from __future__ import annotations

import numpy as np

from mechsim.analysis.balanced import apart, balanced, unheld
from mechsim.analysis.flow import Local
from mechsim.analysis.linear import Linearised
from mechsim.errors import AssemblyError, SpecError
from mechsim.kernel.linear import generic

STRIDE, STRIDES = 0.25, 80  # in scales; a way that takes more of them is given up
THERE = 1e-5  # in scales
GAINS = 0.9999  # a stride has to come nearer: to so much of what was left
LEADS = 1e-3  # of the way that is left: a direction that has less of it leads nowhere
DOUBLE = 1e-3  # of the largest: to this eigenvalues agree, of which several may be zero
NUDGES = 3  # then, in directions of no special kind


def are_alike(one: Linearised, other: Linearised) -> bool:
    """Whether two move near them alike, as a cart does at two places: what nothing holds in as many ways is of one
    family then."""
    found = [each.eigenvalues for each in (one, other)]
    parts = [np.concatenate([np.sort(values.real), np.sort(values.imag)]) for values in found]
    if parts[0].shape != parts[1].shape:
        return False
    largest = float(np.abs(found[0]).max(initial=0.0))
    return bool(np.abs(parts[0] - parts[1]).max(initial=0.0) <= max(DOUBLE * largest, 10 * one.slowest))


def are_of_one_family(one: Local, other: Local) -> bool:
    """Whether a way of rests is found from one to the other."""
    flow, local, nudges = one.flow, one, 0
    scales = flow.system.scales[: flow.system.n]
    for _ in range(STRIDES):
        away = apart(flow, other.q, local.q)
        left = float(np.linalg.norm(away))
        if left <= THERE:
            return True
        free = unheld(local)
        ahead = free @ (free.T @ away)
        length = float(np.linalg.norm(ahead))
        nudged = length <= LEADS * left  # the other is straight across
        if nudged:
            nudges += 1
            ahead, length = STRIDE * free @ generic(nudges * free.shape[1])[-free.shape[1] :], STRIDE
        try:
            local = balanced(flow, local.t, local.q + scales * ahead * min(1.0, STRIDE / length))
        except (AssemblyError, SpecError):
            return False
        nearer = np.linalg.norm(apart(flow, other.q, local.q)) <= GAINS * left
        if not local.is_rest or nudges > NUDGES or not (nearer or nudged):
            return False
    return False
