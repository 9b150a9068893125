"""Soft shadows on a floor: what solids hide from the light, drawn as a small picture and blurred."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen
from mechsim.render.mesh import Mesh
from mechsim.render.pen import Path, Pen, place
from mechsim.render.placements import Matrices
from mechsim.render.polygon import Faces
from mechsim.render.things import Thing
from mechsim.result.layout import Array

SIDE = 256  # pixels of the picture: it is blurred anyway
CORNERS = 42  # of a solid, that its shadow is made of
CONVEX = 0.97  # of the volume of its hull: a solid that fills this throws the shadow of the hull
SOFTNESS = 0.035  # how far a shadow is blurred for each unit of height above the floor
SHARPEST = 1.0  # pixels
STOREYS = 3  # heights that are told apart


@frozen
class Caster:
    """The corners of all solids, with the number of the solid that each belongs to; triangles between them."""

    corners: Array  # (n, 4), with a 1 at the end
    owners: NDArray[np.int64]  # (n,)
    faces: Faces
    solids: NDArray[np.int64]  # the number of the solid that each triangle belongs to
    matrices: tuple[Matrices, ...]  # by solid

    @classmethod
    def of(cls, things: list[Thing]) -> Caster:
        shapes = [_rough(thing.mesh) for thing in things]
        first = np.cumsum([0, *(len(points) for points, _ in shapes)])
        corners = np.vstack([points for points, _ in shapes])
        return cls(
            np.column_stack([corners, np.ones(len(corners))]),
            np.repeat(np.arange(len(shapes)), np.diff(first)),
            np.vstack([faces + start for (_, faces), start in zip(shapes, first, strict=False)]),
            np.repeat(np.arange(len(shapes)), [len(faces) for _, faces in shapes]),
            tuple(thing.matrices for thing in things),
        )

    def at(self, frame: int) -> tuple[Array, Array]:
        """The corners in the world, (n, 3), and the origins of all solids, (things, 3)."""
        matrices = np.stack([each[frame, :3] for each in self.matrices])
        return np.einsum("nij,nj->ni", matrices[self.owners], self.corners), matrices[:, :, 3]


@frozen
class Shade:
    """The picture of a square floor about `centre`, at a height, under a light from a direction."""

    caster: Caster
    centre: Array  # (3,)
    half: float  # of its side
    height: float  # of the highest solid above the floor
    light: Array
    pen: Pen

    @classmethod
    def of(cls, things: list[Thing], seen: Array, level: float, light: Array) -> Shade:
        """On a floor at a level, large enough for the shadows of all points seen (k, 3)."""
        fallen = seen[:, :2] - (seen[:, 2:] - level) * (light[:2] / light[2])
        centre, half = (fallen.min(axis=0) + fallen.max(axis=0)) / 2, float(np.ptp(fallen, axis=0).max()) / 2
        height = float(seen[:, 2].max()) - level
        half += 3 * SOFTNESS * height
        return cls(Caster.of(things), np.array([*centre, level]), half, height, light, Pen(SIDE, SIDE))

    def draw(self, frame: int) -> NDArray[np.uint8]:
        """How dark it is, (SIDE, SIDE), lowest row first. What is high throws a softer shadow than what is low."""
        from PIL import Image, ImageChops, ImageFilter

        corners, origins = (places - self.centre for places in self.caster.at(frame))
        fallen = corners[:, :2] - corners[:, 2:] * (self.light[:2] / self.light[2])
        triangles = ((fallen / self.half + 1) * (SIDE / 2))[self.caster.faces]
        a, b = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
        seen = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0] > 0
        storeys = np.clip(STOREYS * origins[:, 2] / self.height, 0, STOREYS - 1).astype(int)[self.caster.solids]
        whole = Image.new("L", (SIDE, SIDE))
        for storey in np.unique(storeys[seen]):
            mask = Image.fromarray(self._mask(triangles[seen & (storeys == storey)]))
            blur = SOFTNESS * (storey + 0.5) / STOREYS * self.height / self.half * SIDE / 2
            soft = ImageFilter.BoxBlur(1.2 * float(max(blur, SHARPEST)))  # twice is nearly a bell, and quicker
            whole = ImageChops.add(whole, mask.filter(soft).filter(soft))
        return np.asarray(whole)[::-1]

    def _mask(self, triangles: Array) -> NDArray[np.uint8]:
        """Triangles that all turn one way, painted as one shape: where they overlap it is no darker."""
        self.pen.renderer.clear()
        if len(triangles):
            corners = np.concatenate([triangles, triangles[:, :1]], axis=1).reshape(-1, 2)
            codes = np.tile(np.array([Path.MOVETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY], np.uint8), len(triangles))
            self.pen.fill(Path(corners, codes), place(1.0, 0.0, 0.0, 0.0), "#000000")
        return np.ascontiguousarray(self.pen.pixels[..., 3])


def _rough(mesh: Mesh) -> tuple[Array, Faces]:
    """A few corners and triangles with the same outline, but for a little."""
    from scipy.spatial import ConvexHull

    points = mesh.points[np.unique(np.argmax(mesh.points @ directions(CORNERS).T, axis=0))]
    hull, whole = ConvexHull(points), ConvexHull(mesh.points)
    if mesh.volume() < CONVEX * whole.volume:
        return mesh.points, mesh.faces
    a, b, c = np.moveaxis(points[hull.simplices], 1, 0)
    outwards = np.einsum("fi,fi->f", np.cross(b - a, c - a), hull.equations[:, :3])
    return points, np.where((outwards > 0)[:, None], hull.simplices, hull.simplices[:, ::-1])


def directions(count: int) -> Array:
    """Unit vectors all around, by Fibonacci's spiral."""
    number = np.arange(count) + 0.5
    height, angle = 1 - 2 * number / count, np.pi * (1 + 5**0.5) * number
    around = np.sqrt(1 - height**2)
    return np.column_stack([around * np.cos(angle), around * np.sin(angle), height])
