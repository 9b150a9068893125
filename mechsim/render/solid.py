"""The solid picture: a scene lit and seen in space, drawn by VTK without a display (pyvista, the extra `solid`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from ctypes import CDLL
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mechsim.errors import Fault
from mechsim.render.bodies import rgb
from mechsim.render.camera import SLOPE, Frame, Shot, View, shots
from mechsim.render.flashes import Flashes
from mechsim.render.forces import Strength
from mechsim.render.frames import Frames
from mechsim.render.measures import USUAL_ARROW, Measures, force_text, write_beside
from mechsim.render.options import Options, traced
from mechsim.render.overlay import Overlay
from mechsim.render.pen import Pen
from mechsim.render.plane import PlaneSet
from mechsim.render.pointers import Told
from mechsim.render.scene import Scene
from mechsim.render.space import SpaceSet
from mechsim.render.stage import Ink, Light, Stage
from mechsim.render.theme import THEMES, Theme
from mechsim.render.triad import draw_triad
from mechsim.render.views import upright
from mechsim.result.journal import OutputError
from mechsim.result.layout import Array
from mechsim.spec.names import PLANE

Places = NDArray[np.intp]  # of pixels, along one side of a picture
Paint = NDArray[np.float32]

FINER = 2  # drawn so many times larger and averaged: smooth edges, cheaper in software than multisampling
ARROW_ROUNDS = 6  # a longer arrow needs a farther camera, which makes arrows longer: by a third each time, or less
TRACE_WIDTH = 0.16  # half of it, in widths of a part's skin
TRACE_PIXELS = 1.2  # half of the least width
TRACE_SECONDS = 1.6  # of film, that a trace lasts
TRACE_LENGTH = 2.5  # heights of the picture, that a trace is long at most


def require_solid() -> None:
    """Raise an error that says what to install, if solid pictures cannot be drawn here."""
    if find_spec("pyvista") is None:
        hint = 'pip install "mechsim[solid]"'
        raise OutputError(Fault("solid pictures need pyvista, which is not installed", hint=hint))


def render_frames(
    scene: Scene, frames: Frames, options: Options, start: int = 0, stop: int | None = None
) -> Iterator[NDArray[np.uint8]]:
    """Frames `start` to `stop` as (height, width, 4) arrays. Each is overwritten by the next."""
    picture = SolidPicture(scene, frames, options)
    for index in range(start, len(frames) if stop is None else stop):
        yield picture.draw(index)
    picture.close()


class Set(Protocol):
    """What stands on the stage, in the plane or in space."""

    views: tuple[View, ...]

    @property
    def frames(self) -> Frames: ...
    @property
    def lights(self) -> tuple[Light, ...]:
        """The first throws the shadows."""

    @property
    def seen(self) -> Array:
        """Points (k, 3) that stand for all that the film shows."""

    def tips(self, strength: Strength, usual: float) -> Array:
        """Where arrows end, (k, 3), if a force of usual strength has the length `usual`."""

    def too_strong(self, strength: Strength, usual: float, index: int, shot: Shot) -> Iterator[Told]: ...
    def raised(self, places: Array) -> Array:
        """Places of the mechanism, (k, 3) on the stage."""

    def build(self, stage: Stage) -> None: ...
    def add_arrows(self, stage: Stage, strength: Strength, usual: float) -> None: ...
    def add_trace(self, stage: Stage, name: str, half_width: float, ends: NDArray[np.int64], ink: Ink) -> None: ...


class SolidPicture:
    """Draws any frame of a film: bodies by VTK, then words and measures over them by the flat picture's pen."""

    def __init__(self, scene: Scene, frames: Frames, options: Options, *, bare: bool = False):
        require_solid()
        self.scene, self.frames, self.options = scene, frames, options
        self.theme: Theme = THEMES[options.theme]
        self.pen = Pen(*options.size)
        self.overlay = Overlay(scene, frames, options, self.pen, bare=bare)
        self.strength = Strength.of(frames, scene)
        self.set: Set = (PlaneSet if scene.dimension == PLANE else SpaceSet)(scene, frames, self.theme, options)
        self.shots = self._shots(Frame.of(options.size, self.overlay.box))
        self.arrow = _height(self.shots[0]) * USUAL_ARROW  # metres, for a force of usual strength
        self.window = _window(options, self.theme, self.set.lights)
        self.stage = Stage(self.window.GetRenderers().GetFirstRenderer())
        self.set.build(self.stage)
        self._add_traces()
        self.set.add_arrows(self.stage, self.strength, self.arrow)
        self.flashes = Flashes(self.pen, self.theme, self.set.frames, options, self.overlay.unit, self.arrow)
        self.lettered: Shot | None = None  # the camera for which `letters` hold

    def draw(self, index: int) -> NDArray[np.uint8]:
        """The picture of one frame; the next call overwrites it."""
        shot = self.shots[index]
        self.stage.show(index)
        _aim(self.stage.renderer, shot)
        self.window.Render()
        if shot is not self.lettered:
            self.letters, self.lettered = self._letters(shot), shot
        pixels: NDArray[np.uint8] = self.pen.pixels
        pixels[:] = _pixels(self.window, self.options.size)
        pixels[..., 3] = 255
        rows, columns, paint, cover = self.letters
        pixels[rows, columns] = pixels[rows, columns] * (1 - cover) + paint
        self._write_strengths(index, shot)
        self.flashes.draw(index, lambda places: shot.pixels(self.set.raised(places), self.options.size))
        self.overlay.draw(index)
        return pixels

    def _write_strengths(self, index: int, shot: Shot) -> None:
        """Beside arrows that are not as long as their forces are strong."""
        size = 13 * self.overlay.unit
        for tip, leftwards, value, unit in self.set.too_strong(self.strength, self.arrow, index, shot):
            seen = shot.pixels(tip, self.options.size)[0]
            write_beside(self.pen, force_text(value, unit), seen, leftwards, size, self.theme.text)

    def _shots(self, frame: Frame) -> list[Shot]:
        """Cameras that see everything, arrows too, which are the longer the farther away the camera is."""
        views, seen = self.set.views, self.set.seen
        found = shots(views, seen, frame, len(self.frames))
        for _ in range(ARROW_ROUNDS):
            tips = self.set.tips(self.strength, _height(found[0]) * USUAL_ARROW)
            if not len(tips):
                break
            found = shots(views, np.vstack([seen, tips]), frame, len(self.frames))
        return found

    @property
    def measures(self) -> Measures:
        """As seen by the first camera."""
        return self._measures(self.shots[0])

    def _measures(self, shot: Shot) -> Measures:
        """Lengths are those across the picture, at the camera's target."""
        scale = self.options.size[1] / _height(shot)
        return Measures(scale, self.arrow * scale, self.strength, self.frames.marks.usual if self.frames.marks else 0.0)

    def _letters(self, shot: Shot) -> tuple[Places, Places, Paint, Paint]:
        """What the overlay shows besides time: pixels (rows, columns), their paint, and how much of them it covers."""
        self.pen.renderer.clear()
        self.overlay.draw_background(self._measures(shot))
        if self.scene.dimension != PLANE and not self.overlay.bare:
            draw_triad(self.pen, self.theme, self.overlay.unit, shot.axes @ upright(self.scene))
        rows, columns = np.nonzero(self.pen.pixels[..., 3])
        paint = self.pen.pixels[rows, columns].astype(np.float32)
        cover = paint[:, 3:] / np.float32(255)
        paint[:, :3] *= cover
        return rows, columns, paint, cover

    def close(self) -> None:
        self.window.Finalize()

    def _add_traces(self) -> None:
        """Bands where points have been, fainter the longer ago; a fast point leaves no tangle."""
        height, motion = _height(self.shots[0]), self.frames.motion
        half_width = max(TRACE_WIDTH * self.scene.fleshoutwid, TRACE_PIXELS * height / self.options.size[1])
        ends = np.searchsorted(motion.t, self.frames.t)
        seconds = float(motion.t[-1] - motion.t[0]) / (self.options.speed or 1.0)  # of film
        if not seconds:
            return
        for name, colour in zip(traced(self.scene, self.options), self.theme.trace * 99, strict=False):
            way = motion.points[name]
            step = np.hypot.reduce(np.diff(way, axis=0), axis=1).mean() or height
            lasting = min(TRACE_SECONDS / seconds * len(way), TRACE_LENGTH * height / step)
            ink = fading_ink(colour, max(2, min(round(lasting), len(way))))
            self.set.add_trace(self.stage, name, half_width, ends, ink)


def _height(shot: Shot) -> float:
    """Of the picture, in metres at the camera's target."""
    return 2 * SLOPE * shot.distance


def fading_ink(colour: str, count: int) -> Ink:
    """Ink for a way, oldest first: from nothing to nearly full."""
    ink = np.tile(np.array([*(round(255 * value) for value in rgb(colour)), 0], np.uint8), (count, 1))
    ink[:, 3] = np.round(230 * np.linspace(0, 1, count) ** 1.4)
    return ink


def _window(options: Options, theme: Theme, lights: Sequence[Light]) -> Any:
    """A window of VTK in memory, with lights and background."""
    # Two processes draw at once on the machines this is for; llvmpipe's own threads would fight over the cores.
    os.environ.setdefault("LP_NUM_THREADS", "0")
    # Left to choose, VTK tries a display first; this draws in memory, on a graphics card or without one.
    if sys.platform == "linux" and is_there("libEGL.so.1"):
        os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")
    import vtkmodules.vtkRenderingOpenGL2  # noqa: F401  registers what draws
    from vtkmodules.vtkCommonCore import vtkLogger
    from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow

    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)  # not what it tried in vain
    window = vtkRenderWindow()
    # Its last resort; where that library is not there either, drawing would end the whole process.
    if window.GetClassName() == "vtkOSOpenGLRenderWindow" and not is_there("libOSMesa.so.8", "libOSMesa.so"):
        hint = "install Mesa's, such as apt install libegl1; no screen or graphics card is needed"
        raise OutputError(Fault("solid pictures need an OpenGL library, and none was found", hint=hint))
    renderer = vtkRenderer()
    renderer.SetBackground(*rgb(theme.background))
    renderer.SetUseOIT(False)  # nothing see-through lies over another such thing of another colour
    renderer.RemoveAllLights()
    renderer.SetAutomaticLightCreation(False)
    for direction, strength in lights:
        renderer.AddLight(_light(direction, strength))
    window.SetShowWindow(False)
    window.SetOffScreenRendering(True)
    window.SetMultiSamples(0)
    window.SetSwapBuffers(False)  # nobody looks at the window itself
    window.SetSize(*(FINER * side for side in options.size))
    window.AddRenderer(renderer)
    return window


def is_there(*libraries: str) -> bool:
    """Whether one of these shared libraries can be loaded."""
    for library in libraries:
        with suppress(OSError):
            return CDLL(library) is not None
    return False


def _light(direction: Array, strength: float) -> Any:
    from vtkmodules.vtkRenderingCore import vtkLight

    light = vtkLight()
    light.SetLightTypeToSceneLight()
    light.SetPositional(False)
    light.SetPosition(*direction)
    light.SetFocalPoint(0, 0, 0)
    light.SetIntensity(strength)
    return light


def _aim(renderer: Any, shot: Shot) -> None:
    camera = renderer.GetActiveCamera()
    camera.SetViewAngle(float(np.degrees(2 * np.arctan(SLOPE))))
    camera.SetPosition(*shot.position)
    camera.SetFocalPoint(*shot.target)
    camera.SetViewUp(*shot.axes[1])
    renderer.ResetCameraClippingRange()


def _pixels(window: Any, size: tuple[int, int]) -> NDArray[np.uint8]:
    """The window's picture, averaged down to `size`, first row on top."""
    from PIL import Image
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkUnsignedCharArray

    width, height = (FINER * side for side in size)
    data = vtkUnsignedCharArray()
    window.GetRGBACharPixelData(0, 0, width - 1, height - 1, 0, data, 0)
    fine = Image.frombuffer("RGBX", (width, height), vtk_to_numpy(data), "raw", "RGBX", 0, 1)
    return np.asarray(fine.reduce(FINER))[::-1]
