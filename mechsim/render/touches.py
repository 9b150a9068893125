"""Where two outlines touch: of all ways in which they may, the one that is closed at a moment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechsim.model.mechanism import Pair
from mechsim.model.outlines import CORNER_OF_SECOND, CORNERS, Outline
from mechsim.render.frames import Frames
from mechsim.result.layout import Array

BEYOND = 1e-6  # of its reach, that a corner may be beyond the end of an edge


def touch(pair: Pair, frames: Frames, constants: tuple[float, ...], rank: NDArray[np.int64]) -> tuple[Array, Array]:
    """At each moment the place, and the unit vector in which the first outline is pushed, (k, 2) each. `rank` (k,): of
    several that touch at one time the nearest, the next, ..."""
    places, ways = np.zeros((2, len(frames), 2))
    for moment in range(len(frames)):
        places[moment], ways[moment] = _touch(pair, frames.coordinates[moment], constants, int(rank[moment]))
    return places, ways


def _touch(pair: Pair, q: Array, constants: tuple[float, ...], rank: int) -> tuple[Array, Array]:
    frames = {outline: outline.place(q, constants) for outline in (pair.first, pair.second)}
    sorts = pair.ways[:, 0]
    found: list[tuple[Array, Array, Array]] = []
    for sort in np.unique(sorts):
        own, other = (pair.second, pair.first) if sort == CORNER_OF_SECOND else (pair.first, pair.second)
        chosen = np.flatnonzero(sorts == sort)
        values = pair.values[chosen]
        corner, at = _world(values[:, :2], frames[own]), _world(values[:, 2:4], frames[other])
        if sort == CORNERS:
            apart = corner - at
            far = np.hypot(*apart.T)
            normal, width = apart / np.maximum(far, 1e-300)[:, None], far - values[:, 4]
            radius = pair.first.corners[pair.ways[chosen, 1], 2]
        else:
            along = _turned(values[:, 4:6], frames[other][1])
            normal = np.column_stack([-along[:, 1], along[:, 0]])
            width = ((corner - at) * normal).sum(axis=1) - values[:, 6]
            reach, length = ((corner - at) * along).sum(axis=1), other.edges[pair.ways[chosen, 2], 4]
            near = BEYOND * max(pair.first.reach if np.isfinite(pair.first.reach) else 1.0, 1e-300)
            width = np.where((reach < -near) | (reach > length + near), np.inf, np.abs(width))
            radius = own.corners[pair.ways[chosen, 1], 2]
        sign = -1.0 if sort == CORNER_OF_SECOND else 1.0
        found.append((np.abs(width), corner - radius[:, None] * normal, sign * normal))
    widths, places, normals = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(widths, kind="stable")
    best = order[min(rank, len(order) - 1)]
    return places[best], normals[best]


def _world(local: Array, frame: tuple[Array, Array]) -> Array:
    return np.asarray(frame[0] + _turned(local, frame[1]))


def _turned(local: Array, axis: Array) -> Array:
    return np.column_stack(
        [axis[0] * local[:, 0] - axis[1] * local[:, 1], axis[0] * local[:, 1] + axis[1] * local[:, 0]]
    )


def stands(outline: Outline) -> bool:
    return not outline.part and not outline.point
