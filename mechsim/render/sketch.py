"""A solid as a drawing: the region that it covers, its outline and its sharp edges, from any direction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen
from mechsim.render.mesh import Mesh
from mechsim.render.pen import Path
from mechsim.render.polygon import Faces
from mechsim.result.layout import Array

SHARP = np.cos(np.radians(38))  # faces that turn more make an edge that is drawn
GLUE = 1e-7  # of the solid's size: points nearer than this are one

TRIANGLE = np.array([Path.MOVETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY], np.uint8)
STROKE = np.array([Path.MOVETO, Path.LINETO], np.uint8)


@frozen
class Sketch:
    """A closed mesh with the edges of its triangles: their ends, and the triangles on both sides."""

    points: Array
    faces: Faces
    edges: Faces  # (e, 2) points
    sides: Faces  # (e, 2) triangles
    sharp: NDArray[np.bool_]  # (e,)

    @classmethod
    def of(cls, mesh: Mesh) -> Sketch:
        size = float(np.ptp(mesh.points, axis=0).max()) or 1.0
        _, joined = np.unique(np.round(mesh.points / (GLUE * size)), axis=0, return_inverse=True)
        corners = np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]])
        owners = np.tile(np.arange(len(mesh.faces)), 3)
        ends = np.sort(joined.reshape(-1)[corners], axis=1)
        order = np.lexsort(ends.T)
        ends, corners, owners = ends[order], corners[order], owners[order]
        twins = np.flatnonzero((ends[1:] == ends[:-1]).all(axis=1))
        twins = twins[np.append(True, np.diff(twins) > 1)]
        sides = np.column_stack([owners[twins], owners[twins + 1]])
        across = _normals(mesh.points, mesh.faces)
        sharp = np.einsum("ei,ei->e", across[sides[:, 0]], across[sides[:, 1]]) < SHARP
        return cls(mesh.points, mesh.faces, corners[twins], sides, sharp)

    def paths(self, seen: Array) -> tuple[Path, Path, Path]:
        """With its points seen at (p, 2): what it covers, its outline, and sharp edges that face us."""
        triangles = seen[self.faces]
        a, b = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
        front = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0] > 0
        one, other = front[self.sides].T
        return (
            _compound(np.concatenate([triangles[front], triangles[front][:, :1]], axis=1), TRIANGLE),
            _compound(seen[self.edges[one != other]], STROKE),
            _compound(seen[self.edges[one & other & self.sharp]], STROKE),
        )


def _compound(pieces: Array, codes: NDArray[np.uint8]) -> Path:
    return Path(pieces.reshape(-1, 2), np.tile(codes, len(pieces)))


def _normals(points: Array, faces: Faces) -> Array:
    a, b, c = np.moveaxis(points[faces], 1, 0)
    across = np.cross(b - a, c - a)
    return np.asarray(across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300))
