"""Where solids stand in space, frame by frame, as matrices (k, 4, 4) from a solid's own frame to the world."""

from __future__ import annotations

import numpy as np

from mechsim.render.poses import shortest_turn
from mechsim.result.layout import Array

Matrices = Array  # (k, 4, 4)

SHORTEST = 1e-9  # a way that is shorter has no direction


def standing(origin: Array, turn: Array | None = None) -> Matrices:
    """At origins (k, 3), turned by (k, 3, 3)."""
    matrices = np.tile(np.eye(4), (len(origin), 1, 1))
    matrices[:, :3, 3] = origin
    if turn is not None:
        matrices[:, :3, :3] = turn
    return matrices


def spanning(start: Array, end: Array, length: float) -> Matrices:
    """Of what reaches from 0 to `length` along its x axis: from `start` to `end` (k, 3), stretched to reach."""
    way = end - start
    now = np.linalg.norm(way, axis=1)
    matrices = standing(start, turned_along(way))
    matrices[:, :3, 0] *= np.maximum(now / length, SHORTEST)[:, None]  # never flat: it must have an inverse
    return matrices


def turned_along(way: Array) -> Array:
    """Turns (k, 3, 3) that carry the x axis to ways (k, 3), the shortest way at first and then as little as can be from
    frame to frame, so that nothing spins about its own axis."""
    length = np.linalg.norm(way, axis=1)
    direction = np.where((length > 0)[:, None], way / np.maximum(length, 1e-300)[:, None], np.eye(3)[0])
    found = shortest_turn(np.eye(3)[[0]], direction[:1])
    changes = shortest_turn(direction[:-1], direction[1:])
    turns = [found[0]]
    for change in changes:
        turns.append(change @ turns[-1])
    return np.array(turns)


def scaled(matrices: Matrices, scales: Array) -> Matrices:
    """After scaling along the solid's own axes, (k, 3) or (k, 1)."""
    found = matrices.copy()
    found[:, :3, :3] *= scales[:, None, :]
    return found


def moved(points: Array, matrices: Matrices) -> Array:
    """Points (p, 3) of a solid in the world, (k, p, 3)."""
    return np.asarray(points @ matrices[:, :3, :3].transpose(0, 2, 1) + matrices[:, None, :3, 3])
