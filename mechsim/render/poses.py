"""How a part stands: its origin, and how it is turned. In the plane the turn is an angle, in space a matrix."""

from __future__ import annotations

import numpy as np

from mechsim.result.layout import Array
from mechsim.spec.names import PLANE

Pose = tuple[Array, Array]  # origin (k, dimension), and angle (k,), counted on over turns, or turn (k, 3, 3)

FLAT = 1e-9  # of its length: how far points may be off a line and still tell nothing of turns about it


def pose(local: Array, world: Array) -> Pose:
    """The rigid placement nearest to `world` (k, points, dimension) of points that stand at `local` in their frame."""
    return _in_plane(local, world) if local.shape[1] == PLANE else _in_space(local, world)


def placed(shape: Array, where: Pose, frame: int) -> Array:
    """A shape of a part's own frame, in the world at one frame."""
    origin, turn = where
    moved: Array = shape @ (_turn(turn[frame]) if turn.ndim == 1 else turn[frame]).T + origin[frame]
    return moved


def all_placed(shape: Array, where: Pose) -> Array:
    """A shape (p, dimension) of a part's own frame, in the world at all frames, (k, p, dimension)."""
    origin, turn = where
    if turn.ndim == 1:
        turned = np.exp(1j * turn)[:, None] * (shape @ (1, 1j)) + (origin @ (1, 1j))[:, None]
        return np.stack([turned.real, turned.imag], axis=2)
    return np.asarray(origin[:, None] + shape @ turn.transpose(0, 2, 1))


def _turn(angle: float) -> Array:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin], [sin, cos]])


def _in_plane(local: Array, world: Array) -> Pose:
    own, there = local @ (1, 1j), world @ (1, 1j)
    own_mean, mean = own.mean(), there.mean(axis=1)
    turn = ((there - mean[:, None]) * (own - own_mean).conj()).sum(axis=1)
    turn = np.where(turn == 0, 1, turn / np.where(turn == 0, 1, np.abs(turn)))
    origin = mean - turn * own_mean
    return np.stack([origin.real, origin.imag], axis=1), np.unwrap(np.angle(turn))


def _in_space(local: Array, world: Array) -> Pose:
    """By Kabsch's method. Points on one line do not tell how they turn about it: then as little as can be."""
    own_mean, mean = local.mean(axis=0), world.mean(axis=1)
    own = local - own_mean
    _, sizes, _ = np.linalg.svd(own)
    if len(sizes) < 2 or sizes[1] <= FLAT * sizes[0]:
        turn = _straight(own, world - mean[:, None])
    else:
        left, _, right = np.linalg.svd((world - mean[:, None]).transpose(0, 2, 1) @ own)
        left[:, :, 2] *= np.sign(np.linalg.det(left @ right))[:, None]  # no mirror images
        turn = left @ right
    return mean - turn @ own_mean, turn


def _straight(own: Array, world: Array) -> Array:
    """The shortest turns that bring points on a line to where they are; none where they are all one point."""
    far = int(np.argmax((own**2).sum(axis=1)))
    ways = [np.atleast_2d(own[far]), world[:, far]]
    start, end = (way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-300) for way in ways)
    return (
        shortest_turn(np.broadcast_to(start, end.shape), end)
        if own[far].any()
        else np.tile(np.eye(3), (len(end), 1, 1))
    )


def shortest_turn(start: Array, end: Array) -> Array:
    """The turns (k, 3, 3) that carry unit vectors (k, 3) to others the shortest way, opposite ones by half a turn."""
    middle = start + end
    length = np.linalg.norm(middle, axis=1, keepdims=True)
    aside = np.cross(start, np.eye(3)[np.argmin(np.abs(start), axis=1)])
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    middle = np.where(length > 1e-9, middle / np.maximum(length, 1e-300), aside)
    # Half a turn about `start` and then half a turn about the middle is the turn by twice the angle between these.
    return _half_turn(middle) @ _half_turn(start)


def _half_turn(axis: Array) -> Array:
    return 2 * axis[:, :, None] * axis[:, None] - np.eye(3)
