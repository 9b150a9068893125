"""The flat picture of a mechanism in space: its solids as a drawing has them, seen along parallels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen
from mechsim.render.camera import Shot
from mechsim.render.flashes import Flashes
from mechsim.render.forces import Strength, tips
from mechsim.render.frames import Frames
from mechsim.render.hardware import things_of
from mechsim.render.measures import HERE, USUAL_ARROW, Measures, force_text, write_beside
from mechsim.render.options import Options, traced, unit_of
from mechsim.render.overlay import Overlay
from mechsim.render.pen import Colour, Pen, mix
from mechsim.render.scene import Scene
from mechsim.render.sketch import Sketch
from mechsim.render.space import fine_times, fine_way, reach_of
from mechsim.render.spatial_arrows import pointers, too_strong
from mechsim.render.theme import THEMES, Theme
from mechsim.render.things import Kit, Thing
from mechsim.render.trails import Trails
from mechsim.render.triad import draw_triad
from mechsim.render.views import spatial_views, turned_upright, upright
from mechsim.render.window import Window, fitted_window
from mechsim.result.layout import Array


@frozen
class Look:
    """A thing ready to be drawn, with its colours."""

    thing: Thing
    sketch: Sketch
    middle: Array  # (3,), in its own frame
    face: Colour
    edge: Colour


class ProjectedPicture:
    """Draws any frame of a film. What does not move is drawn once."""

    def __init__(self, scene: Scene, frames: Frames, options: Options, *, bare: bool = False):
        self.scene, self.frames, self.options = scene, turned_upright(scene, frames), options
        self.theme: Theme = THEMES[options.theme]
        self.pen, self.unit = Pen(*options.size), unit_of(options.size)
        self.overlay = Overlay(scene, frames, options, self.pen, bare=bare)
        self.axes = Shot(*spatial_views(scene, options)[0], np.zeros(3), 1.0).axes  # to the right, up, towards us
        self.strength = Strength.of(frames, scene)
        self.window = self._window(USUAL_ARROW * options.size[1])
        impulse = frames.marks.usual if frames.marks else 0.0
        self.measures = Measures(self.window.scale, USUAL_ARROW * options.size[1], self.strength, impulse)
        self.arrow = self.measures.arrow / self.window.scale  # metres
        self.flashes = Flashes(self.pen, self.theme, self.frames, options, self.unit, self.arrow)
        times = fine_times(self.frames.motion)
        lines = [self._seen(fine_way(self.frames.motion, name)) for name in traced(scene, options)]
        self.trails = Trails.along(self.pen, self.frames, options, self.unit, times, lines)
        self.looks = self._looks(things_of(Kit(scene, self.frames, self.theme)))
        self.pointers = self._looks(list(pointers(self.frames, self.theme, self.strength, self.arrow)))
        self._draw_background(bare)

    def draw(self, index: int) -> NDArray[np.uint8]:
        """The picture of one frame; the next call overwrites it."""
        self.pen.restore()
        self.trails.draw(index)
        for look in sorted(self.looks, key=lambda look: self._nearness(look, index)):
            self._draw(look, index)
        for look in self.pointers:
            self._draw(look, index)
        self._write_strengths(index)
        self.flashes.draw(index, self._seen)
        self.overlay.draw(index)
        pixels: NDArray[np.uint8] = self.pen.pixels
        return pixels

    def _window(self, arrow: float) -> Window:
        seen = reach_of(self.scene, self.frames, self.theme) @ self.axes[:2].T
        places, reaches = (each @ self.axes[:2].T for each in tips(self.frames, self.strength))
        return fitted_window(
            seen.min(axis=0), seen.max(axis=0), self.scene.size, self.overlay.box, (places, arrow * reaches)
        )

    def _seen(self, points: Array) -> Array:
        """Points (k, 3) in pixels."""
        return self.window.pixels(points @ self.axes[:2].T)

    def _looks(self, things: Sequence[Thing]) -> list[Look]:
        sketches: dict[int, Sketch] = {}
        looks = []
        for thing in things:
            sketch = sketches.setdefault(id(thing.mesh), Sketch.of(thing.mesh))
            middle = (thing.mesh.points.min(axis=0) + thing.mesh.points.max(axis=0)) / 2
            edge = mix(thing.colour, "#000000", 0.45)
            looks.append(Look(thing, sketch, middle, mix(thing.colour, self.theme.background, 0.06), edge))
        return looks

    def _nearness(self, look: Look, index: int) -> float:
        """How far towards us its middle is, or its far end: what is nearer is drawn later."""
        matrix = look.thing.matrices[index]
        places = look.sketch.points if look.thing.inner else look.middle
        return float(np.min((places @ matrix[:3, :3].T + matrix[:3, 3]) @ self.axes[2]))

    def _draw(self, look: Look, index: int) -> None:
        matrix = look.thing.matrices[index]
        covered, outline, edges = look.sketch.paths(self._seen(look.sketch.points @ matrix[:3, :3].T + matrix[:3, 3]))
        # What is outside of all of it stays of the first line; pieces of one body that overlap are told apart faintly.
        self.pen.line(outline, HERE, look.edge, 3.0 * self.unit)
        self.pen.fill(covered, HERE, look.face)
        self.pen.line(outline, HERE, look.edge, 0.8 * self.unit, 0.35)
        if look.thing.creased:
            self.pen.line(edges, HERE, look.edge, 0.9 * self.unit, 0.7)

    def _write_strengths(self, index: int) -> None:
        """Beside arrows that are not as long as their forces are strong."""
        told = too_strong(self.frames, self.strength, self.arrow, index, self.axes[0])
        for tip, leftwards, value, unit in told:
            words = force_text(value, unit)
            write_beside(self.pen, words, self._seen(tip)[0], leftwards, 13 * self.unit, self.theme.text)

    def _draw_background(self, bare: bool) -> None:
        self.pen.clear(self.theme.background)
        self.overlay.draw_background(self.measures)
        if not bare:
            draw_triad(self.pen, self.theme, self.unit, self.axes @ upright(self.scene))
        self.pen.keep()
