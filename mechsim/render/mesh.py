"""Solid shapes as triangles, in NumPy alone: flat prisms with bevelled edges (seed 001, section 5), pins, coils, balls.

A mesh is closed: every edge belongs to two triangles that run along it in opposite directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen
from mechsim.render.polygon import Faces, circle, counter_clockwise, inset, outward, triangles_of, width_that_fits
from mechsim.result.layout import Array

BEVEL_STEPS = 2  # pieces of the quarter circle that rounds an edge: more cannot be seen at film size
COIL_STEPS = 14  # straight pieces of wire in one turn of a spring
WIRE_SIDES = 6
TURNS_ASIDE = 1e-6  # what is left of a unit vector that a line turns into


@frozen
class Mesh:
    """Triangles `faces` (f, 3), counter-clockwise from outside, on `points` (p, 3) with unit `normals` for shading.

    Where two smooth surfaces meet in an edge its points stand twice, once with each normal; `joined` gives every
    point the number of its first copy.
    """

    points: Array
    normals: Array
    faces: Faces
    joined: Faces

    def volume(self) -> float:
        """The volume enclosed, by the divergence theorem."""
        a, b, c = np.moveaxis(self.points[self.faces], 1, 0)
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def prism(outline: Array, bottom: float, top: float, bevel: float) -> Mesh:
    """The flat prism over a simple closed outline (k, 2), its edges rounded over a width of `bevel`.

    The outline may turn either way and need not be convex. The bevel becomes narrower where the outline leaves no
    room for it, and is never deeper than half of the height; it is shaded like a round edge in any case.
    """
    outline = counter_clockwise(outline)
    bevel = width_that_fits(outline, bevel)
    depth = min(bevel, (top - bottom) / 2)
    angles = np.linspace(0, np.pi / 2, BEVEL_STEPS + 1) if bevel else np.zeros(1)
    upper = [(angle, bevel * (1 - np.cos(angle)), top - depth * (1 - np.sin(angle))) for angle in angles]
    lower = [(-angle, width, top + bottom - height) for angle, width, height in reversed(upper)]
    # A bevel as deep as half of the height leaves no straight side: both quarter circles end in the same ring.
    return _swept(outline, [*lower, *(upper[1:] if depth == (top - bottom) / 2 else upper)])


def pin(radius: float, bottom: float, top: float, bevel: float) -> Mesh:
    """An upright round pin about the z axis."""
    return prism(circle(radius, 20), bottom, top, bevel)


def bar(start: float, end: float, radius: float, bevel: float | None = None, sides: int = 24) -> Mesh:
    """A round bar along the x axis, its edges rounded."""
    return turned_to_x(prism(circle(radius, sides), start, end, 0.3 * radius if bevel is None else bevel))


def turned_to_x(mesh: Mesh) -> Mesh:
    """What stands along z, lying along x."""
    return replace(mesh, points=mesh.points[:, [2, 0, 1]], normals=mesh.normals[:, [2, 0, 1]])


def ball(radius: float, rings: int = 14, sides: int = 28) -> Mesh:
    """A sphere about the origin; at the poles the triangles end in small flat caps."""
    latitude = np.pi * (np.arange(rings) + 0.5) / rings - np.pi / 2
    loops = [np.column_stack([circle(np.cos(a), sides), np.full(sides, np.sin(a))]) for a in latitude]
    normals = np.vstack(loops)
    return _tube_of(radius * normals, normals, rings, sides)


def cone(length: float, radius: float, sides: int = 24) -> Mesh:
    """A cone along x, its base at the origin and its point, a little blunt, at `length`."""
    blunt = 0.04
    ring = circle(radius, sides)
    out = np.column_stack([np.full(sides, radius), length * ring / radius]) / np.hypot(length, radius)
    base = np.column_stack([np.zeros(sides), ring])
    tip = np.column_stack([np.full(sides, (1 - blunt) * length), blunt * ring])
    back = np.tile([-1.0, 0.0, 0.0], (sides, 1))
    mesh = _tube_of(np.vstack([base, tip]), np.vstack([out, out]), 2, sides)
    # The base is flat: it gets points of its own, facing backwards.
    faces = np.where(_is_cap(mesh.faces, sides)[:, None], mesh.faces + 2 * sides, mesh.faces)
    joined = np.concatenate([mesh.joined, np.arange(sides)])
    return Mesh(np.vstack([mesh.points, base]), np.vstack([mesh.normals, back]), faces, joined)


def coil(length: float, turns: int, radius: float, wire: float) -> Mesh:
    """A spring along x from 0 to its length at rest; a renderer stretches it."""
    return tube(coil_line(length, turns, radius), wire)


def coil_line(length: float, turns: int, radius: float) -> Array:
    """The middle of a spring's wire: straight leads at both ends, and a helix that swells out of them."""
    lead = min(1.5 * radius, 0.15 * length)
    phase = np.linspace(0, 1, turns * COIL_STEPS + 1)
    swell = np.clip(2 * turns * np.minimum(phase, 1 - phase), 0, 1)
    width = radius * swell * (2 - swell)
    turn = 2 * np.pi * turns * phase
    helix = np.column_stack([lead + (length - 2 * lead) * phase, width * np.sin(turn), width * np.cos(turn)])
    return np.vstack([[0, 0, 0], helix, [length, 0, 0]])


def tube(line: Array, radius: float, sides: int = WIRE_SIDES) -> Mesh:
    """A round wire along the polyline `line` (k, 3)."""
    ahead = np.gradient(line, axis=0)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    across = _carried_along(ahead)
    over = np.cross(ahead, across)
    cosine, sine = circle(1.0, sides).T[:, None, :, None]
    normals = across[:, None] * cosine + over[:, None] * sine
    points = line[:, None] + radius * normals
    return _tube_of(points.reshape(-1, 3), normals.reshape(-1, 3), len(line), sides)


def soft_shape(outline: Array, blur: float) -> tuple[Array, Faces, Array]:
    """A flat shape with a soft edge of width `blur`: points (p, 2), triangles, and a strength from 1 to 0 per point."""
    outline = counter_clockwise(outline)
    inner = inset(outline, width_that_fits(outline, blur / 2))
    points = np.vstack([inner, inset(outline, -blur / 2)])
    faces = np.vstack([triangles_of(inner), _strips(2, len(outline))[:, ::-1]])
    return points, faces, np.repeat([1.0, 0.0], len(outline))


def ribbon(path: Array, half_width: float) -> Array:
    """A flat band in the plane of x and y along `path` (k, 3): two points for each of its points."""
    ahead = np.gradient(path[:, :2], axis=0)
    length = np.linalg.norm(ahead, axis=1, keepdims=True)
    ahead = np.divide(ahead, length, out=np.zeros_like(ahead), where=length > 0)
    across = half_width * np.column_stack([-ahead[:, 1], ahead[:, 0], np.zeros(len(path))])
    return np.stack([path - across, path + across], axis=1).reshape(-1, 3)


def hose(path: Array, radius: float, sides: int) -> Array:
    """A round band along `path` (k, 3), seen from all sides: `sides` points for each of its points."""
    ahead = np.gradient(path, axis=0)
    length = np.linalg.norm(ahead, axis=1, keepdims=True)
    ahead = np.where(length > 0, ahead / np.maximum(length, 1e-300), np.eye(3)[0])
    across = _carried_along(ahead)
    over = np.cross(ahead, across)
    cosine, sine = circle(radius, sides).T[:, None, :, None]
    return np.asarray((path[:, None] + across[:, None] * cosine + over[:, None] * sine).reshape(-1, 3))


def ribbon_faces(count: int) -> Faces:
    """The triangles of a band over `count` points of a path."""
    first = 2 * np.arange(count - 1)
    second, third, fourth = first + 1, first + 2, first + 3
    return np.vstack([np.column_stack([first, third, second]), np.column_stack([second, third, fourth])])


def hose_faces(count: int, sides: int) -> Faces:
    """The triangles of a round band over `count` points of a path, open at its ends."""
    return _strips(count, sides)


def _swept(outline: Array, rings: Sequence[tuple[float, float, float]]) -> Mesh:
    """Rings (angle of the normal, inset, height) from bottom to top, joined by strips and closed by flat caps."""
    count, side = len(outline), len(rings) * len(outline)
    out = outward(outline)
    drawn = [np.column_stack([inset(outline, width), np.full(count, height)]) for _, width, height in rings]
    normals = [np.column_stack([np.cos(angle) * out, np.full(count, np.sin(angle))]) for angle, _, _ in rings]
    lid = triangles_of(drawn[-1][:, :2])
    caps = np.repeat([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]], count, axis=0)
    number = np.arange(side)
    return Mesh(
        points=np.vstack([*drawn, drawn[0], drawn[-1]]),
        normals=np.vstack([*normals, caps]),
        faces=np.vstack([_strips(len(rings), count), lid[:, ::-1] + side, lid + side + count]),
        joined=np.concatenate([number, number[:count], number[-count:]]),
    )


def _tube_of(points: Array, normals: Array, rings: int, sides: int) -> Mesh:
    """Rings of equally many points as a closed surface."""
    loop = np.arange(sides)
    cap = np.column_stack([np.zeros(sides - 2, int), loop[1:-1], loop[2:]])
    faces = np.vstack([_strips(rings, sides), cap[:, ::-1], cap + (rings - 1) * sides])
    return Mesh(points, normals, faces, np.arange(rings * sides))


def _is_cap(faces: Faces, sides: int) -> NDArray[np.bool_]:
    """Which triangles lie in the first ring."""
    return np.asarray((faces < sides).all(axis=1))


def _strips(rings: int, count: int) -> Faces:
    """Triangles between successive closed rings of `count` points each."""
    here = np.arange(count)
    there = (here + 1) % count
    strip = np.vstack([
        np.column_stack([here, there, there + count]),
        np.column_stack([here, there + count, here + count]),
    ])  # fmt: skip
    return np.vstack([strip + ring * count for ring in range(rings - 1)])


def _carried_along(ahead: Array) -> Array:
    """Unit vectors across a line that turn as little as they can, so that a wire along it is not twisted."""
    across = np.empty_like(ahead)
    vector = np.zeros(3)
    for index, direction in enumerate(ahead):
        vector = vector - direction * (vector @ direction)
        if np.linalg.norm(vector) < TURNS_ASIDE:  # the first, or a corner of a right angle
            vector = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
        vector = vector / np.linalg.norm(vector)
        across[index] = vector
    return across
