"""Which piece of the plane is seen: the whole motion, fitted into the sheet beside the words."""

from __future__ import annotations

import numpy as np

from mechsim.errors import Fault
from mechsim.frozen import frozen
from mechsim.render.fitting import outermost
from mechsim.render.fittings import fittings_of
from mechsim.render.frames import Frames
from mechsim.render.poses import all_placed
from mechsim.render.scene import Scene
from mechsim.result.journal import OutputError
from mechsim.result.layout import Array

HALVINGS = 60  # of the range of scales: down to the last digits of a double


@frozen
class Window:
    """A world point p is seen at pixel `scale * p + shift`, counted from the lower left corner."""

    scale: float  # pixels per metre
    shift: Array

    def pixels(self, points: Array) -> Array:
        seen: Array = self.scale * np.asarray(points, float) + self.shift
        return seen


def window_of(
    scene: Scene,
    frames: Frames,
    view: str | None,
    box: tuple[float, float, float, float],
    arrows: tuple[Array, Array] | None = None,
) -> Window:
    """The window that shows the whole motion, or the `view` asked for, within box = (left, bottom, right, top).

    `arrows` are places and how far from there something is drawn, in pixels: it is inside too.
    """
    low, high = _asked(view) if view else reach(scene, frames)
    return fitted_window(low, high, scene.size, box, None if view else arrows)


def fitted_window(
    low: Array,
    high: Array,
    size: float,
    box: tuple[float, float, float, float],
    arrows: tuple[Array, Array] | None = None,
) -> Window:
    """The window that shows what is between two corners, and arrows, of a mechanism of a size."""
    extent = np.maximum(high - low, 1e-3 * max(size, 1e-300))
    corner, opposite = np.array(box[:2]), np.array(box[2:])
    scale = float(((opposite - corner) / extent).min())
    places, offsets = np.array([low, high]), np.zeros((2, 2))
    if arrows:
        places, offsets = (np.vstack(each) for each in zip((places, offsets), arrows, strict=True))
        scale = _fitting_scale(places, offsets, opposite - corner, scale)
    seen = scale * places + offsets
    return Window(scale, (corner + opposite - seen.min(axis=0) - seen.max(axis=0)) / 2)


def _fitting_scale(places: Array, offsets: Array, room: Array, most: float) -> float:
    """The largest scale, up to `most`, at which places with what is drawn from there take no more room."""
    low, high = 0.0, most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        fits = (np.ptp(middle * places + offsets, axis=0) <= room).all()
        low, high = (middle, high) if fits else (low, middle)
    return low or most


def reach(scene: Scene, frames: Frames) -> tuple[Array, Array]:
    """The corners of the smallest upright box around everything that is drawn, over all of the motion."""
    drawn, frames, skin = frames, frames.motion, scene.fleshoutwid
    ground = [point + skin * np.array(offset) for point in map(scene.ground.__getitem__, scene.footings)
              for offset in ((-3, -4.6), (3, 1.5))]  # fmt: skip
    clouds = [np.array(ground)] if ground else []
    clouds += [frames.points[name] + sign * 1.2 * skin for name in frames.points for sign in (-1, 1)]
    for body in scene.parts:
        flat = all_placed(body.path, frames.poses[body.name]).reshape(-1, 2)
        clouds += [flat - 1.2 * skin, flat + 1.2 * skin]
    clouds += [frames.points[p.point] + sign * p.radius for p in scene.particles for sign in (-1, 1)]
    clouds += [outermost(fitting, frames, drawn.seen) for fitting in fittings_of(scene, frames)]
    cloud = np.vstack(clouds)
    return cloud.min(axis=0), cloud.max(axis=0)


def _asked(view: str) -> tuple[Array, Array]:
    try:
        left, right, lower, upper = (float(number) for number in view.split(","))
    except ValueError:
        hint = "the flat picture takes the window X0,X1,Y0,Y1; a direction of view is for --renderer solid"
        raise OutputError(Fault(f"--view {view} is not of the form X0,X1,Y0,Y1", hint=hint)) from None
    if not (np.isfinite([left, right, lower, upper]).all() and left < right and lower < upper):
        raise OutputError(Fault(f"--view {view} is an empty window", hint="X0 < X1 and Y0 < Y1"))
    return np.array([left, lower]), np.array([right, upper])
