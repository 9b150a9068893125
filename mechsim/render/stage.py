"""A stage of VTK actors: meshes that are built once and moved by 4x4 matrices, as the seed does (001, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen
from mechsim.render.mesh import Mesh, hose, hose_faces, ribbon, ribbon_faces, soft_shape
from mechsim.render.polygon import Faces
from mechsim.result.layout import Array

Placing = Callable[[int], Array]  # the 4x4 matrix of a body at a frame
Light = tuple[Array, float]  # the direction towards it, and its strength
Ink = NDArray[np.uint8]  # colours with their opacity, (k, 4)

HOSE_SIDES = 6
UNSEEN = 1e-9  # so many times as large as it is: nothing with a size of zero has a surface that could be lit


@frozen
class Look:
    """Colour (red, green, blue from 0 to 1) and how much a surface shines."""

    colour: tuple[float, float, float]
    shine: float = 0.3


@dataclass(slots=True)
class Stage:
    """The bodies in a VTK renderer; `show(frame)` puts each where it is at that frame."""

    renderer: Any
    placings: list[tuple[Any, Placing]] = field(default_factory=list)
    updates: list[Callable[[int], None]] = field(default_factory=list)

    def show(self, frame: int) -> None:
        for matrix, place in self.placings:
            matrix.DeepCopy(place(frame).ravel())
        for update in self.updates:
            update(frame)

    def add(self, mesh: Mesh, look: Look, place: Placing | None = None) -> None:
        """A lit body, standing still or placed frame by frame."""
        self._enter(_lit(_actor(_data(mesh.points, mesh.faces, normals=mesh.normals)), look), place)

    def add_changing(self, meshes: Callable[[int], list[Mesh]], look: Look) -> None:
        """Lit bodies that are others at every frame."""
        actor = _lit(_actor(_joined([])), look)
        self.updates.append(lambda frame: actor.GetMapper().SetInputData(_joined(meshes(frame))))
        self._enter(actor, None)

    def add_shadow(self, outline: Array, blur: float, ink: tuple[int, int, int, int], place: Placing | None) -> None:
        """A flat shape with a soft edge, not lit, painted over what is behind it."""
        points, faces, strength = soft_shape(outline, blur)
        colours = np.tile(np.array(ink, np.uint8), (len(points), 1))
        colours[:, 3] = np.round(ink[3] * strength)
        self._enter(_actor(_data(np.column_stack([points, np.zeros(len(points))]), faces, ink=colours)), place)

    def add_sheet(self, points: Array, faces: Faces, ink: Ink) -> None:
        """Flat colours that stand still, not lit and seen from one side only."""
        actor = _actor(_data(points, faces, ink=ink))
        actor.GetProperty().BackfaceCullingOn()
        self._enter(actor, None)

    def add_picture(self, square: Array, colour: Sequence[int], draw: Callable[[int], Array]) -> None:
        """One colour on a square (4, 3), as strong at each frame as the picture `draw` makes of it says."""
        from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
        from vtkmodules.vtkCommonDataModel import vtkImageData
        from vtkmodules.vtkRenderingCore import vtkTexture

        side = len(draw(0))
        image = vtkImageData()
        image.SetDimensions(side, side, 1)
        pixels = np.zeros((side * side, 4), np.uint8)
        pixels[:, :3] = colour
        image.GetPointData().SetScalars(numpy_to_vtk(pixels, deep=True))
        strength = vtk_to_numpy(image.GetPointData().GetScalars())[:, 3]
        texture = vtkTexture()
        texture.SetInputData(image)
        texture.InterpolateOn()
        data = _data(square, np.array([[0, 1, 2], [0, 2, 3]]))
        data.GetPointData().SetTCoords(
            numpy_to_vtk(np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]], np.float32), deep=True)
        )
        actor = _actor(data)
        actor.SetTexture(texture)
        actor.GetProperty().LightingOff()
        actor.GetProperty().BackfaceCullingOn()
        actor.ForceTranslucentOn()

        def update(frame: int) -> None:
            strength[:] = draw(frame).ravel()
            image.GetPointData().GetScalars().Modified()
            image.Modified()

        self.updates.append(update)
        self._enter(actor, None)

    def add_ribbon(self, path: Array, half_width: float, ends: NDArray[np.int64], ink: Ink) -> None:
        """A flat band along the latest part of a path (k, 3), oldest `ink` first, at frame f up to path[ends[f]]."""
        self._add_trail(path, ribbon(path, half_width), ribbon_faces(len(ink)), ends, ink)

    def add_hose(self, path: Array, radius: float, ends: NDArray[np.int64], ink: Ink) -> None:
        """The same, round: it is seen from all sides."""
        faces = hose_faces(len(ink), HOSE_SIDES)
        self._add_trail(path, hose(path, radius, HOSE_SIDES), faces, ends, ink).GetProperty().BackfaceCullingOn()

    def _add_trail(self, path: Array, points: Array, faces: Faces, ends: NDArray[np.int64], ink: Ink) -> Any:
        """`points` are equally many around each point of the path."""
        sides = len(points) // len(path)
        count = sides * len(ink)
        # The way before the first frame is one point: too little to be seen.
        points = np.vstack([np.repeat(path[:1], count, axis=0), points]).astype(np.float32)
        data = _data(points[:count].copy(), faces, ink=np.repeat(ink, sides, axis=0))
        from vtkmodules.util.numpy_support import vtk_to_numpy

        shared = vtk_to_numpy(data.GetPoints().GetData())

        def update(frame: int) -> None:
            end = count + sides * (int(ends[frame]) + 1)
            shared[:] = points[end - count : end]
            data.GetPoints().Modified()

        self.updates.append(update)
        actor = _actor(data)
        self._enter(actor, None)
        return actor

    def _enter(self, actor: Any, place: Placing | None) -> None:
        from vtkmodules.vtkCommonMath import vtkMatrix4x4

        if place is not None:
            matrix = vtkMatrix4x4()
            actor.SetUserMatrix(matrix)
            self.placings.append((matrix, place))
        self.renderer.AddActor(actor)


def matrices(placed: Array) -> Placing:
    """Placement by matrices (k, 4, 4)."""
    return lambda frame: np.asarray(placed[frame])


def posed(origin: Array, angle: Array | None = None, height: float = 0.0) -> Placing:
    """Placement by a pose in the plane, (k, 2) and (k,), at a height."""

    def place(frame: int) -> Array:
        matrix = np.eye(4)
        if angle is not None:
            cosine, sine = np.cos(angle[frame]), np.sin(angle[frame])
            matrix[:2, :2] = ((cosine, -sine), (sine, cosine))
        matrix[:3, 3] = (*origin[frame], height)
        return matrix

    return place


def framed(origin: Array, angle: Array, stretch: Array, shown: NDArray[np.bool_]) -> Placing:
    """Placement in the plane, (k, 2) and (k,), stretched along the body's own x axis by (k,); too small to be seen
    where it is not shown."""
    place = posed(origin, angle)

    def stretched_too(frame: int) -> Array:
        matrix = place(frame)
        matrix[:, 0] *= stretch[frame]
        matrix[:, :3] *= 1.0 if shown[frame] else UNSEEN
        return matrix

    return stretched_too


def stretched(start: Array, end: Array, length: float, height: float) -> Placing:
    """Placement of what has `length` along the x axis: turned, and scaled along its length (seed, section 5)."""

    def place(frame: int) -> Array:
        along = end[frame] - start[frame]
        now = float(np.linalg.norm(along)) or 1.0
        matrix = np.eye(4)
        matrix[:2, 0] = along / length
        matrix[:2, 1] = (-along[1] / now, along[0] / now)
        matrix[:3, 3] = (*start[frame], height)
        return matrix

    return place


def _lit(actor: Any, look: Look) -> Any:
    surface = actor.GetProperty()
    surface.SetColor(*look.colour)
    surface.SetAmbient(0.30)
    surface.SetDiffuse(0.72)
    surface.SetSpecular(look.shine)
    surface.SetSpecularPower(18 + 40 * look.shine)
    surface.BackfaceCullingOn()  # all meshes are closed: the far sides need not be painted
    return actor


def _joined(meshes: list[Mesh]) -> Any:
    """Several meshes as one; a point where there are none."""
    if not meshes:
        return _data(np.zeros((3, 3)), np.array([[0, 1, 2]]), normals=np.ones((3, 3)))
    first = np.cumsum([0, *(len(mesh.points) for mesh in meshes)])
    faces = np.vstack([mesh.faces + start for mesh, start in zip(meshes, first, strict=False)])
    points, normals = (np.vstack([getattr(mesh, name) for mesh in meshes]) for name in ("points", "normals"))
    return _data(points, faces, normals=normals)


def _data(points: Array, faces: Faces, normals: Array | None = None, ink: Ink | None = None) -> Any:
    import pyvista

    data = pyvista.PolyData.from_regular_faces(points.astype(np.float32), faces)
    if normals is not None:
        data.point_data.active_normals = normals.astype(np.float32)
    if ink is not None:
        from vtkmodules.util.numpy_support import numpy_to_vtk

        data.GetPointData().SetScalars(numpy_to_vtk(ink))
    return data


def _actor(data: Any) -> Any:
    from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper

    mapper = vtkPolyDataMapper()
    mapper.SetInputData(data)
    actor = vtkActor()
    actor.SetMapper(mapper)
    if data.GetPointData().GetScalars() is None:
        mapper.ScalarVisibilityOff()
    else:
        mapper.SetColorModeToDirectScalars()
        actor.GetProperty().LightingOff()
        actor.ForceTranslucentOn()
    return actor
