"""What the parts of a mechanism in space look like: closed surfaces in their own frames, and where these frames are.

A part that the file gives shapes looks like them. Any other is made of round bars: a rod is one, a body has them along
the edges of the hull of its points, with a thin plate between them if the points are in one plane.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import combinations, pairwise

import numpy as np

from mechsim.frozen import frozen
from mechsim.model.mechanism import Part
from mechsim.render.polygon import counter_clockwise, triangles_of
from mechsim.render.revolve import Surface, capsule, cone, cylinder, merged, placed, ring, sphere
from mechsim.result.layout import Array
from mechsim.spec.document import Solid
from mechsim.spec.number import Number, values_of

BAR = 0.032  # radius of a bar, as a share of the mechanism's typical length
BAR_OF_PART = 0.07  # and at most this share of its part, which must not become a blob
PLATE = 0.7  # thickness of a plate between bars, as a share of their radius
FLAT = 1e-9  # distances below this share of a part's extent are none
SMOOTH_TURN = np.cos(np.radians(35))  # corners that turn less belong to a round outline, and are no edges


@frozen
class Piece:
    """One simple shape of a part: its sizes are those of a Solid, of a "bar" its radius and how far the middles of its
    round ends are apart, along its own z axis. The columns of `axes` are its own axes, in the frame of the part."""

    shape: str
    sizes: tuple[float, ...]
    at: Array
    axes: Array
    outline: Array = field(default_factory=lambda: np.empty((0, 2)))  # of a prism
    holes: tuple[Array, ...] = ()


def surface_of(part: Part, size: float) -> Surface:
    """The surface of a rigid part in its own frame. `size` is a length typical of the mechanism."""
    return merged([placed(own_surface(piece), piece.at, piece.axes) for piece in pieces_of(part, size)])


def pieces_of(part: Part, size: float) -> list[Piece]:
    """The shapes that a part is made of: its own, else bars and plates about its points."""
    radius = bar_radius(part, size)
    if part.solids:
        return [_piece(solid, radius) for solid in part.solids]
    return _skeleton(_local(part), radius)


def own_surface(piece: Piece) -> Surface:
    """The surface of a piece about its own axes."""
    sizes = piece.sizes
    if piece.shape == "prism":
        return prism(piece.outline, piece.holes, sizes[0])
    return SHAPES[piece.shape](*sizes)


def bar_radius(part: Part, size: float) -> float:
    """How thick a part's bars are."""
    extent = float(np.ptp(_local(part), axis=0).max()) if len(part.points) > 1 else 0.0
    return min(BAR * size, BAR_OF_PART * extent) if extent > 0 else BAR * size


def pose_of(part: Part, positions: Mapping[str, Array]) -> tuple[Array, Array]:
    """Origin (..., 3) and rotation (..., 3, 3) of the part's frame where its points are at `positions` (..., 3).

    The columns of a rotation are the frame's axes. A rod may turn about itself: its second axis is across the one of
    the world's axes that it is least along at each moment, as nothing else tells.
    """
    places = [np.asarray(positions[name], float) for name in part.points]
    origin = places[0]
    local = _local(part)
    if len(places) == 1:
        return origin, np.broadcast_to(np.eye(3), (*origin.shape, 3)).copy()
    along = _unit(places[1] - origin) * (1.0 if local[1, 0] >= 0 else -1.0)
    beside = next((index for index, corner in enumerate(local) if abs(corner[1]) > FLAT * np.abs(local).max()), None)
    if beside is None:
        least = np.argmin(np.abs(along), axis=-1)
        third = _unit(np.cross(along, np.eye(3)[least]))
    else:
        third = _unit(np.cross(along, places[beside] - origin)) * np.sign(local[beside, 1])
    return origin, np.stack([along, np.cross(third, along), third], axis=-1)


def _local(part: Part) -> Array:
    return np.array([[float(x) for x in corner] for corner in part.geometry]).reshape(len(part.points), -1)


def _unit(vectors: Array) -> Array:
    unit: Array = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300)
    return unit


def _piece(solid: Solid, bar: float) -> Piece:
    shape, sizes = solid.shape, tuple(float(size) for size in values_of(solid.sizes))
    if shape == "rod":  # a line has no thickness, but must be seen
        shape, sizes = "cylinder", (min(bar, 0.1 * sizes[0]), sizes[0])
    at, axes = np.array([float(x) for x in solid.at]), np.array(solid.axes, float).T
    return Piece(shape, sizes, at, axes, _corners(solid.outline), tuple(_corners(hole) for hole in solid.holes))


def _corners(outline: Sequence[Sequence[Number]]) -> Array:
    return np.array([[float(x) for x in corner[:2]] for corner in outline]).reshape(-1, 2)


def _box(x: float, y: float, z: float) -> Surface:
    return prism(np.array([[-x, -y], [x, -y], [x, y], [-x, y]]) / 2, [], z)


SHAPES: dict[str, Callable[..., Surface]] = {
    "bar": capsule, "box": _box, "cylinder": cylinder, "sphere": sphere, "ring": ring, "cone": cone,
}  # fmt: skip


def prism(outline: Array, holes: Sequence[Array], thickness: float) -> Surface:
    """An upright prism about the plane of x and y: walls along the outline and its holes, and two flat lids."""
    loops = [counter_clockwise(outline), *(counter_clockwise(hole)[::-1] for hole in holes)]
    corners, order = _bridged(loops)
    lid, count, half = triangles_of(corners, order), len(corners), thickness / 2
    walls = [_wall(loop, half) for loop in loops]
    levels = [np.column_stack([corners, np.full(count, height)]) for height in (-half, half)]
    normals = np.repeat([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]], count, axis=0)
    lids = Surface(np.vstack(levels), normals, np.vstack([lid[:, ::-1], lid + count]), np.empty((0, 2), int))
    return merged([lids, *walls])


def _wall(loop: Array, half: float) -> Surface:
    """The side of a prism along one closed loop with the inside to its left; its round stretches are shaded so."""
    count = len(loop)
    ahead = _unit(np.roll(loop, -1, axis=0) - loop)
    out = np.column_stack([ahead[:, 1], -ahead[:, 0]])  # of the side that begins at each corner
    smooth = np.einsum("ij,ij->i", ahead, np.roll(ahead, 1, axis=0)) > SMOOTH_TURN
    shared = _unit(out + np.roll(out, 1, axis=0))
    first = np.where(smooth[:, None], shared, out)
    last = np.where(np.roll(smooth, -1)[:, None], np.roll(shared, -1, axis=0), out)
    plan = np.hstack([loop, np.roll(loop, -1, axis=0)]).reshape(-1, 2)
    across = np.hstack([first, last]).reshape(-1, 2)
    vertices = np.vstack([np.column_stack([plan, np.full(2 * count, height)]) for height in (-half, half)])
    normals = np.tile(np.column_stack([across, np.zeros(2 * count)]), (2, 1))
    here = 2 * np.arange(count)
    above = here + 2 * count
    triangles = np.vstack([np.column_stack([here, here + 1, above + 1]), np.column_stack([here, above + 1, above])])
    rims = np.vstack([np.column_stack([here, here + 1]), np.column_stack([above, above + 1])])
    upright = np.column_stack([here, above])[~smooth]
    return Surface(vertices, normals, triangles, np.vstack([rims, upright]))


def _bridged(loops: Sequence[Array]) -> tuple[Array, list[int]]:
    """All corners, and one way round the outline that visits every hole over a bridge, to and fro."""
    corners = np.vstack(loops)
    starts = np.cumsum([0, *(len(loop) for loop in loops)])
    numbers = [list(range(a, b)) for a, b in pairwise(starts)]
    order, waiting = numbers[0], numbers[1:]
    sides = [(loop[k - 1], loop[k]) for loop in numbers for k in range(len(loop))]
    while waiting:
        hole, end, place = _shortest_bridge(corners, order, waiting, sides)
        waiting.remove(hole)
        turned = hole[end:] + hole[:end]
        order = [*order[: place + 1], *turned, turned[0], *order[place:]]
        sides.append((order[place], turned[0]))
    return corners, order


def _shortest_bridge(
    corners: Array, order: list[int], waiting: list[list[int]], sides: list[tuple[int, int]]
) -> tuple[list[int], int, int]:
    """The shortest way from the outline to a hole that crosses nothing: hole, its corner, place in the order."""
    reaches = [
        (float(np.hypot(*(corners[hole[end]] - corners[order[place]]))), which, end, place)
        for which, hole in enumerate(waiting)
        for end in range(len(hole))
        for place in range(len(order))
    ]
    for _, which, end, place in sorted(reaches):
        hole = waiting[which]
        if not _crosses(corners, (hole[end], order[place]), sides):
            return hole, end, place
    _, which, end, place = min(reaches)  # holes that touch each other: what is drawn is nearly right
    return waiting[which], end, place


def _crosses(corners: Array, bridge: tuple[int, int], sides: list[tuple[int, int]]) -> bool:
    others = np.array([side for side in sides if not set(side) & set(bridge)]).reshape(-1, 2)
    if not len(others):
        return False
    a, b = corners[list(bridge)]
    c, d = corners[others[:, 0]], corners[others[:, 1]]

    def side(start: Array, end: Array, point: Array) -> Array:
        first, second = end - start, point - start
        return np.asarray(first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0])

    apart = (side(a, b, c) * side(a, b, d) > 0) | (side(c, d, a) * side(c, d, b) > 0)
    return bool((~apart).any())


def _skeleton(local: Array, bar: float) -> list[Piece]:
    """Bars and plates of a part of which only points are known."""
    if len(local) == 1 or not np.ptp(local, axis=0).any():
        return [Piece("sphere", (1.6 * bar,), local[0], np.eye(3))]
    centred = local - local.mean(axis=0)
    _, spread, axes = np.linalg.svd(centred, full_matrices=False)
    rank = int((spread > FLAT * spread[0]).sum())
    if rank == 1:
        way = centred @ axes[0]
        return [_bar(local[np.argmin(way)], local[np.argmax(way)], bar)]
    if rank == 2:
        return _frame_with_plate(local, axes, bar)
    return [_bar(local[i], local[j], bar) for i, j in _with_inner(local, hull_edges(local))]


def _frame_with_plate(local: Array, axes: Array, bar: float) -> list[Piece]:
    """Bars around the points, which are in one plane, and a plate between them."""
    rotation = np.column_stack([axes[0], axes[1], np.cross(axes[0], axes[1])])
    middle = local.mean(axis=0)
    flat = (local - middle) @ rotation[:, :2]
    hull = hull_of(flat)
    bars = [_bar(local[hull[k - 1]], local[hull[k]], bar) for k in range(len(hull))]
    return [*bars, Piece("prism", (PLATE * bar,), middle, rotation, flat[hull])]


def _bar(start: Array, end: Array, radius: float) -> Piece:
    """A round bar with rounded ends about its two points."""
    way = end - start
    length = float(np.linalg.norm(way))
    along = way / length
    across = np.cross(np.eye(3)[np.argmin(np.abs(along))], along)
    across /= np.linalg.norm(across)
    axes = np.column_stack([across, np.cross(along, across), along])
    return Piece("bar", (radius, length), (start + end) / 2, axes)


def hull_of(points: Array) -> list[int]:
    """Numbers of the corners of the convex hull of points in the plane, counter-clockwise (Andrew's monotone chain)."""
    order = [int(index) for index in np.lexsort(points.T[::-1])]
    least = FLAT * float(np.ptp(points, axis=0).max()) ** 2

    def half(numbers: list[int]) -> list[int]:
        kept: list[int] = []
        for number in numbers:
            while len(kept) > 1:
                first, second = points[kept[-1]] - points[kept[-2]], points[number] - points[kept[-2]]
                if first[0] * second[1] - first[1] * second[0] > least:
                    break
                kept.pop()
            kept.append(number)
        return kept[:-1]

    return half(order) + half(order[::-1])


def hull_edges(points: Array) -> list[tuple[int, int]]:
    """The edges of the convex hull of points in space, without those that only cut its flat faces.

    Every plane through three points that has all others on one side is a face; two faces share an edge. This looks at
    all triples, which is soon done for as many points as a part has.
    """
    extent = float(np.ptp(points, axis=0).max())
    triples = np.array(list(combinations(range(len(points)), 3)))
    first, second, third = np.moveaxis(points[triples], 1, 0)
    normals = np.cross(second - first, third - first)
    areas = np.linalg.norm(normals, axis=1)
    plane = areas > FLAT * extent**2
    heights = np.einsum("tpk,tk->tp", points[None] - first[plane][:, None], normals[plane] / areas[plane][:, None])
    outer = (heights.max(axis=1) <= FLAT * extent) | (heights.min(axis=1) >= -FLAT * extent)
    faces = {frozenset(np.flatnonzero(on).tolist()) for on in np.abs(heights[outer]) <= FLAT * extent}
    edges = set()
    for one, other in combinations(faces, 2):
        shared = sorted(one & other)
        if len(shared) > 1:
            way = points[shared] @ (points[shared[1]] - points[shared[0]])
            low, high = shared[int(np.argmin(way))], shared[int(np.argmax(way))]
            edges.add((min(low, high), max(low, high)))
    return sorted(edges)


def _with_inner(points: Array, edges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """A bar for every point inside the hull too, to the nearest of its corners."""
    corners = sorted({corner for edge in edges for corner in edge})
    inner = [number for number in range(len(points)) if number not in corners]
    reach = [np.linalg.norm(points[corners] - points[number], axis=1) for number in inner]
    return [*edges, *((number, corners[int(np.argmin(own))]) for number, own in zip(inner, reach, strict=True))]
