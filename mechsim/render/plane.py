"""A mechanism in the plane on the stage of the solid picture: parts in layers above a board."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mechsim.render.bodies import LIGHT, Levels, build_bodies, level_of, seen_points
from mechsim.render.camera import Shot, View, views_of
from mechsim.render.forces import Strength
from mechsim.render.frames import Frames
from mechsim.render.options import Options
from mechsim.render.pointers import Told, add_arrows, seen_tips, strengths
from mechsim.render.scene import Scene
from mechsim.render.stage import Ink, Light, Stage
from mechsim.render.theme import Theme
from mechsim.result.layout import Array

USUAL_VIEW = (-12.0, 64.0)  # tilted enough to show the layers, y still upwards


class PlaneSet:
    """What the solid picture asks of a mechanism in the plane."""

    lights: tuple[Light, ...] = ((LIGHT, 0.85), (np.array([0.5, -0.9, 0.55]), 0.42))

    def __init__(self, scene: Scene, frames: Frames, theme: Theme, options: Options):
        self.scene, self.frames, self.theme = scene, frames, theme
        self.views: tuple[View, ...] = views_of(options.view) if options.view else (scene.view or USUAL_VIEW,)

    @cached_property
    def seen(self) -> Array:
        return seen_points(self.scene, self.frames)

    def tips(self, strength: Strength, usual: float) -> Array:
        return seen_tips(self.scene, self.frames, strength, usual)

    def raised(self, places: Array) -> Array:
        """In the plane in which parts lie."""
        return np.column_stack([places, np.full(len(places), 0.5 * Levels.of(self.scene).top)])

    def build(self, stage: Stage) -> None:
        build_bodies(stage, self.scene, self.frames, self.theme)

    def add_arrows(self, stage: Stage, strength: Strength, usual: float) -> None:
        add_arrows(stage, self.scene, self.frames, self.theme, strength, usual)

    def too_strong(self, strength: Strength, usual: float, index: int, shot: Shot) -> Iterator[Told]:
        return strengths(self.scene, self.frames, strength, usual, index)

    def add_trace(self, stage: Stage, name: str, half_width: float, ends: NDArray[np.int64], ink: Ink) -> None:
        way = self.frames.motion.points[name]
        level = level_of(self.scene, name) - 0.5 * abs(self.scene.zscale)
        stage.add_ribbon(np.column_stack([way, np.full(len(way), level)]), half_width, ends, ink)
