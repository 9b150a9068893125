"""A fitting: a shape that stands for what holds or moves a mechanism (a rail, a wheel, a rope, a motor), and the frame
that it moves in. The three renderers know no more of rails and wheels than this."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen
from mechsim.render.frames import Frames
from mechsim.render.outline import hull
from mechsim.render.scene import Scene
from mechsim.result.layout import Array

FLOOR = -1.0  # the height of what lies under all parts
ACCENT = -1  # the colour of what drives


@frozen
class Paint:
    """How much of its colour a region or a line has, from 0 (paper) to 1; None: not painted."""

    face: float | None  # None: the shapes are open lines
    edge: float | None
    width: float = 1.4  # of edges and lines, in pixels of a picture of 1280x720
    shadow: bool = False


class Moving(Protocol):
    """Lines that change their shape."""

    def lines(self, frame: int) -> tuple[Array, ...]: ...


@frozen
class Fitting:
    """Shapes in a frame with its origin at the point `at` (None: the world's) and its x axis parallel to the way from
    the first to the second point of `along`, or the world's. `stretched`: the length of that way is the unit of x."""

    name: str
    kind: str
    shapes: tuple[Array, ...]  # (k, 2) each
    paint: Paint
    at: str | None = None
    along: tuple[str, str] | None = None
    stretched: bool = False
    height: float = FLOOR  # what is lower is drawn first; parts have their layers, what is on them fractions more
    colour: int | None = None  # that of a part, or ACCENT; None: that of edges and words
    moving: Moving | None = None  # instead of `shapes`: lines of the world that are others at every frame
    bond: str = ""  # it is there while this holds (Scene.holds); "": always
    way: tuple[Array, Array] | None = None  # instead of `at` and `along`: origin (k, 2) and angle (k,) at every frame

    def lines(self, frame: int) -> tuple[Array, ...]:
        """Its shapes at a frame."""
        return self.moving.lines(frame) if self.moving else self.shapes

    def stands_still(self, scene: Scene) -> bool:
        if self.moving or self.bond:
            return False
        if self.way:
            return not any(np.ptp(each, axis=0).any() for each in self.way)
        names = [name for name in (self.at, *(self.along or ())) if name]
        return all(name in scene.ground for name in names)


def poses(fitting: Fitting, frames: Frames) -> tuple[Array, Array, Array]:
    """Origin (k, 2), angle (k,) and stretch along x (k,) of a fitting's frame."""
    count = len(frames)
    if fitting.way:
        return *fitting.way, np.ones(count)
    origin = frames.points[fitting.at] if fitting.at else np.zeros((count, 2))
    if fitting.along is None:
        return origin, np.zeros(count), np.ones(count)
    way = frames.points[fitting.along[1]] - frames.points[fitting.along[0]]
    stretch = np.hypot(*way.T) if fitting.stretched else np.ones(count)
    return origin, np.unwrap(np.arctan2(way[:, 1], way[:, 0])), stretch


def outermost(fitting: Fitting, frames: Frames, moments: NDArray[np.int64]) -> Array:
    """Corners of a fitting in the world at some moments that reach as far as all of them."""
    origin, angle, stretch = (values[moments] for values in poses(fitting, frames))
    own = hull(np.vstack(fitting.shapes))
    turned = (np.outer(stretch, own[:, 0]) + 1j * own[:, 1]) * np.exp(1j * angle)[:, None] + (origin @ (1, 1j))[:, None]
    return np.column_stack([turned.real.ravel(), turned.imag.ravel()])
