"""How large motions are that come from many starts: what it means that two states are near.

The scale of a mechanism comes from its parts. Where it has none, as a free particle, the start of the file is all that
tells it, which other starts replace: so motions count too, how far apart they begin and how far they go.
"""

from __future__ import annotations

import numpy as np

from mechsim.analysis.arcs import Norm
from mechsim.analysis.lanes import Lanes
from mechsim.analysis.subject import Subject
from mechsim.analysis.turning import TURN
from mechsim.engine.state import States
from mechsim.kernel.system import System
from mechsim.result.layout import Array

MOTIONS = 16  # that are followed for it
STRETCHES = (1 / 64, 1 / 8, 1.0)  # of the time that they are given: what settles at once moves only at first


def norm_of(
    subject: Subject, states: States, angles: Array, lasting: float, period: float | None, tolerance: float
) -> Norm:
    """For motions from these states, some of which are followed for a time. Velocities count in scales over the time
    of a radian of the forcing; else over that in which motions go as far as they are apart."""
    system = subject.case({}).system
    q, v = _followed(subject, states, lasting, tolerance)
    scales = _scales(system, states.positions, q, angles)
    if period is not None:
        return Norm.of(system, period / TURN, scales)
    plain, n = Norm.of(system, 1.0, scales).weights, system.n
    speed = float(np.sqrt(np.mean((plain[n:] * v) ** 2, axis=(1, 2))).max())
    apart = q - q.mean(axis=1, keepdims=True)
    spread = float(np.sqrt(np.mean((plain[:n] * apart) ** 2, axis=(1, 2))).max())
    return Norm.of(system, spread / speed if min(spread, speed) > 0 else 1.0, scales)


def _followed(subject: Subject, states: States, lasting: float, tolerance: float) -> tuple[Array, Array]:
    """Positions and velocities of some motions at a few times, (times, motions, n); those that fail stay behind."""
    chosen = np.unique(np.linspace(0, len(states) - 1, MOTIONS).round().astype(int))
    rows = (values[chosen] for values in (states.t, states.positions, states.velocities, states.singular))
    lanes = Lanes(subject, {}, States(*rows), tolerance)
    begun, found = lanes.t.copy(), [(lanes.q.copy(), lanes.v.copy())]
    for share in STRETCHES:
        lanes.advance(begun + share * lasting, lanes.going, dense=False)
        found.append((lanes.q.copy(), lanes.v.copy()))
    q, v = zip(*found, strict=True)
    return np.array(q), np.array(v)


def _scales(system: System, starts: Array, q: Array, angles: Array) -> Array:
    """Those of the mechanism, or larger ones where motions are; coordinates of one scale, as of a chain, keep one.
    Most motions have to go so far: some may escape. An angle is no larger after many turns."""
    own = np.asarray(system.scales[: system.n])
    ways = np.median(np.abs(q - q[0]).max(axis=0), axis=0)
    sizes = np.where(angles, 0.0, np.maximum(np.ptp(starts, axis=0), ways)) / own
    largest = [sizes[np.logical_and(own == scale, np.logical_not(angles))].max(initial=1.0) for scale in own]
    return np.asarray(np.where(angles, own, own * largest))
