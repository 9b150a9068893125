"""Poses beside one, to which a mechanism can move: what is so there and here alike is so along the whole motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mechsim.initial.closure import position_closure, scales_of
from mechsim.initial.freedom import NULL_SPACE_LIMIT, motions
from mechsim.initial.newton import is_closed, polish
from mechsim.initial.start import Array
from mechsim.kernel.linear import generic

if TYPE_CHECKING:
    from mechsim.kernel.system import System

STEPS = (0.2, -0.1, 0.05, -0.02)  # in scales; shorter ones where longer ones do not close
ENOUGH = 2


def poses_beside(system: System, t: float, q: Array) -> list[Array] | None:
    """A few closed poses a little way from this one in no special direction, as if drives let go; none where nothing
    can move. None if they are not found, or would cost too much."""
    mechanism = system.mechanism
    free = np.array([i for i, each in enumerate(mechanism.variables) if each.kind != "state"], dtype=np.intp)
    if len(free) > NULL_SPACE_LIMIT:
        return None
    held = np.flatnonzero(system.levels == 2)
    rows = held[~np.isin(held, list(mechanism.prescribed))]
    closure = position_closure(system, t, q, scales_of(mechanism), free, rows).rescaled(q)
    ways = motions(closure, q)
    if not ways.shape[1]:
        return []
    way = ways @ generic(ways.shape[1])
    way /= np.abs(way).max()
    starts = (closure.moved(q, step * way) for step in STEPS)
    closed = [pose for pose in (polish(closure, start) for start in starts) if is_closed(closure.rescaled(pose), pose)]
    return closed[:ENOUGH] or None
