"""How parts in space stand and turn, as columns: quaternions, Euler angles, angular velocities.

OAB_qw, OAB_qx, OAB_qy, OAB_qz   the quaternion of the turn that carries the world's axes to the part's, w >= 0
OAB_zxz_1, _2, _3                Euler angles about the part's own axes, of any sequence
OAB_wx, OAB_wy, OAB_wz           its angular velocity in the world; OAB_OAB_wx, ... about its own axes
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.frozen import frozen
from mechsim.lagrangian.vector import AXES
from mechsim.model.axis import moments
from mechsim.model.mechanism import Attitude, Mechanism, Part
from mechsim.result.contacts import position
from mechsim.result.layout import Array

QUATERNION = "quaternion"
SPIN, OWN_SPIN = "spin", "own spin"
LEVEL = 1e-9  # sine of the middle angle: below, two of the three turns are one, and the last is called zero


@frozen
class Orientations:
    """Columns of what is asked of parts."""

    mechanism: Mechanism
    asked: Sequence[Attitude]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label for each in self.asked for label in _labels(each))

    @property
    def units(self) -> tuple[str, ...]:
        rates = {SPIN, OWN_SPIN}
        return tuple(
            "rad/s" if each.way in rates else "" if each.way == QUATERNION else "rad"
            for each in self.asked
            for _ in _labels(each)
        )

    def table(self, q: Array, v: Array) -> Array:
        parts = {part.name: part for part in self.mechanism.parts}
        columns = [np.zeros((len(q), 0))]
        for each in self.asked:
            rotation, rates = frame_of(parts[each.part], self.mechanism, q, v)
            columns.append(_values(each.way, rotation, rates))
        return np.concatenate(columns, axis=1)


def _labels(asked: Attitude) -> list[str]:
    part = asked.part
    if asked.way == QUATERNION:
        return [f"{part}_q{letter}" for letter in "wxyz"]
    if asked.way in (SPIN, OWN_SPIN):
        frame = part if asked.way == SPIN else f"{part}_{part}"
        return [f"{frame}_w{axis}" for axis in AXES]
    return [f"{part}_{asked.way}_{number}" for number in (1, 2, 3)]


def frame_of(part: Part, mechanism: Mechanism, q: Array, v: Array) -> tuple[Array, Array]:
    """Directions of the part's axes as columns, (k, 3, 3), and its angular velocity in the world, (k, 3)."""
    a, b, c = (position(name, mechanism, q) for name in part.points[:3])
    rates = [_rate(name, mechanism, v) for name in part.points[:3]]
    length, (x, y) = part.geometry[1][0], part.geometry[2][:2]
    along, turning = (b - a) / length, (rates[1] - rates[0]) / length
    side, bending = (c - a - x * along) / y, (rates[2] - rates[0] - x * turning) / y
    normal = moments(along, side)
    axes = np.stack([along, side, normal], axis=-1)
    own = np.stack([(normal * bending).sum(-1), -(normal * turning).sum(-1), (side * turning).sum(-1)], axis=-1)
    return axes, np.einsum("kij,kj->ki", axes, own)


def _rate(point: str, mechanism: Mechanism, v: Array) -> Array:
    slots, at_rest = mechanism.points[point], np.zeros(len(v))
    return np.stack([v[:, slot] if slot >= 0 else at_rest for slot in slots], axis=-1)


def _values(way: str, rotation: Array, rates: Array) -> Array:
    if way == SPIN:
        return rates
    if way == OWN_SPIN:
        return np.einsum("kji,kj->ki", rotation, rates)
    return quaternions(rotation) if way == QUATERNION else euler_angles(rotation, way)


def quaternions(rotation: Array) -> Array:
    """(k, 4), w first and not negative. The largest of the four is found first, so that no digits are lost."""
    r = rotation
    trace = np.trace(r, axis1=1, axis2=2)
    squares = np.stack([trace, r[:, 0, 0], r[:, 1, 1], r[:, 2, 2]], axis=1)
    largest = squares.argmax(axis=1)
    # 4 q q^T, by its entries: row `largest` of it is q times four times its largest entry.
    w = [r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]]
    outer = np.empty((len(r), 4, 4))
    outer[:, 0, 0] = 1 + trace
    for i in range(3):
        outer[:, i + 1, i + 1] = 1 - trace + 2 * r[:, i, i]
        outer[:, 0, i + 1] = outer[:, i + 1, 0] = w[i]
        for j in range(i):
            outer[:, i + 1, j + 1] = outer[:, j + 1, i + 1] = r[:, i, j] + r[:, j, i]
    rows = outer[np.arange(len(r)), largest]
    found = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return np.where(found[:, :1] < 0, -found, found)


def euler_angles(rotation: Array, sequence: str) -> Array:
    """Angles about the part's own axes in turn, (k, 3); the middle one in [0, pi] if the outer axes are one, else in
    [-pi/2, pi/2]. Where the outer axes fall together only their sum matters: the last angle is then zero."""
    i, j, k = (AXES.index(axis) for axis in sequence)
    r = rotation
    if i == k:
        other = 3 - i - j
        sign = 1.0 if (j - i) % 3 == 1 else -1.0
        sine = np.hypot(r[:, i, j], r[:, i, other])
        middle = np.arctan2(sine, r[:, i, i])
        first = np.arctan2(r[:, j, i], -sign * r[:, other, i])
        last = np.arctan2(r[:, i, j], sign * r[:, i, other])
        together = np.arctan2(sign * r[:, other, j], r[:, j, j])
    else:
        sign = 1.0 if (j - i) % 3 == 1 else -1.0
        sine = np.hypot(r[:, i, i], r[:, i, j])
        middle = np.arctan2(sign * r[:, i, k], sine)
        first = np.arctan2(-sign * r[:, j, k], r[:, k, k])
        last = np.arctan2(-sign * r[:, i, j], r[:, i, i])
        together = np.arctan2(sign * r[:, k, j], r[:, j, j])
    level = sine < LEVEL
    return np.stack([np.where(level, together, first), middle, np.where(level, 0.0, last)], axis=-1)
