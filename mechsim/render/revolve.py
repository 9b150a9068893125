"""Closed surfaces that are round about an axis, in NumPy alone, and what is done with any surface: moved, put together.

A surface is closed: glue vertices that stand at the same place, and every side of a triangle has a neighbour that runs
along it in the opposite direction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.frozen import frozen
from mechsim.render.polygon import Faces
from mechsim.result.layout import Array

SIDES = 20  # of a round bar
ROUND = 32  # of what is large and round: a cylinder, a sphere, a ring


@frozen
class Surface:
    """Triangles (m, 3), counter-clockwise from outside, of `vertices` (n, 3) with unit `normals` (n, 3); `edges` (k, 2)
    are sharp. A vertex on an edge stands once for each smooth surface that meets there."""

    vertices: Array
    normals: Array
    triangles: Faces
    edges: Faces

    def volume(self) -> float:
        """The volume enclosed, by the divergence theorem; of bodies that overlap, all of them."""
        a, b, c = np.moveaxis(self.vertices[self.triangles], 1, 0)
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def merged(surfaces: Sequence[Surface]) -> Surface:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(each.vertices) for each in surfaces)])[:-1]
    return Surface(
        np.vstack([each.vertices for each in surfaces]),
        np.vstack([each.normals for each in surfaces]),
        np.vstack([each.triangles + start for each, start in zip(surfaces, starts, strict=True)]),
        np.vstack([each.edges + start for each, start in zip(surfaces, starts, strict=True)]),
    )


def placed(surface: Surface, at: Array, rotation: Array) -> Surface:
    """The surface moved: turned by `rotation`, its axes, then moved to `at`. A mirror image stays closed."""
    triangles = surface.triangles if np.linalg.det(rotation) > 0 else surface.triangles[:, ::-1]
    return Surface(surface.vertices @ rotation.T + at, surface.normals @ rotation.T, triangles, surface.edges)


def cylinder(radius: float, length: float) -> Surface:
    half = length / 2
    bottom = [[0, -half, 0, -1], [radius, -half, 0, -1]]
    side = [[radius, -half, 1, 0], [radius, half, 1, 0]]
    top = [[radius, half, 0, 1], [0, half, 0, 1]]
    return _revolved([bottom, side, top], ROUND)


def cone(radius: float, height: float) -> Surface:
    """About its centre of mass, which is a quarter of its height above the base."""
    low, high = -height / 4, 3 * height / 4
    slope = np.array([height, radius]) / np.hypot(height, radius)
    base = [[0, low, 0, -1], [radius, low, 0, -1]]
    side = [[radius, low, *slope], [0, high, *slope]]
    return _revolved([base, side], ROUND)


def sphere(radius: float, sides: int = ROUND) -> Surface:
    return _revolved([_arc(0, radius, 0, -0.5 * np.pi, 0.5 * np.pi, sides // 2)], sides)


def ring(radius: float, tube: float) -> Surface:
    """A torus about z."""
    return _revolved([_arc(radius, tube, 0, 0, 2 * np.pi, 16)], 2 * ROUND)


def capsule(radius: float, length: float) -> Surface:
    """A round bar along z with half balls about its ends, which are `length` apart."""
    half, quarter = length / 2, SIDES // 4
    lower = _arc(0, radius, -half, -0.5 * np.pi, 0, quarter)
    upper = _arc(0, radius, half, 0, 0.5 * np.pi, quarter)
    return _revolved([np.vstack([lower, upper])], SIDES)


def _arc(middle: float, radius: float, height: float, start: float, end: float, steps: int) -> Array:
    """Part of a profile: a circle about (middle, height), with its normals."""
    angle = np.linspace(start, end, steps + 1)
    cosine, sine = np.cos(angle), np.sin(angle)
    # On the axis exactly: a pole is one place, not a small hole.
    cosine = np.where(np.abs(cosine) < 1e-12, 0.0, cosine)
    sine = np.where(np.abs(sine) < 1e-12, 0.0, sine)
    return np.column_stack([middle + radius * cosine, height + radius * sine, cosine, sine])


def _revolved(profile: Sequence[Sequence[Sequence[float]] | Array], sides: int) -> Surface:
    """Smooth runs (radius, height, outward normal in both) from the bottom to the top, turned about z. Between two runs
    there is a sharp edge, where it is off the axis."""
    pieces = [_run(np.array(run, float), sides) for run in profile]
    return merged([
        Surface(piece.vertices, piece.normals, piece.triangles, piece.edges if number else piece.edges[:0])
        for number, piece in enumerate(pieces)
    ])  # fmt: skip


def _run(run: Array, sides: int) -> Surface:
    angle = 2 * np.pi * np.arange(sides) / sides
    turn = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    count = len(run)

    def about(radius: Array, height: Array) -> Array:
        flat = radius[:, None, None] * turn
        upright = np.broadcast_to(height[:, None, None], (count, sides, 1))
        return np.concatenate([flat, upright], axis=2).reshape(-1, 3)

    here = np.arange(sides)
    there = (here + 1) % sides
    strip = np.vstack([
        np.column_stack([here, there, there + sides]),
        np.column_stack([here, there + sides, here + sides]),
    ])  # fmt: skip
    triangles = np.vstack([strip + ring * sides for ring in range(count - 1)])
    on_axis = np.repeat(run[:, 0] <= 0, sides)
    # At a pole one of two triangles has no area: it has two corners there.
    triangles = triangles[on_axis[triangles].sum(axis=1) < 2]
    edges = np.column_stack([here, there]) if run[0, 0] > 0 else np.empty((0, 2), int)
    return Surface(about(run[:, 0], run[:, 1]), about(run[:, 2], run[:, 3]), triangles, edges)
