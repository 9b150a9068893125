"""The flat picture: parts as round-cornered plates, springs as coils, joints, ground, traces that fade."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen
from mechsim.render import symbols
from mechsim.render.arrows import Arrows
from mechsim.render.fitting import ACCENT, FLOOR, Fitting, poses
from mechsim.render.fittings import fittings_of
from mechsim.render.flashes import Flashes, reaches
from mechsim.render.forces import Strength, tips
from mechsim.render.frames import Frames
from mechsim.render.measures import USUAL_ARROW, Measures
from mechsim.render.options import Options, traced, unit_of
from mechsim.render.outline import inset
from mechsim.render.overlay import Overlay
from mechsim.render.pen import DISC, Path, Pen, closed, mix, place, strokes
from mechsim.render.projected import ProjectedPicture
from mechsim.render.scene import Scene, SceneBody, SceneParticle, SceneSpring
from mechsim.render.theme import THEMES, Theme
from mechsim.render.trails import Trails
from mechsim.render.window import Window, window_of
from mechsim.result.layout import Array
from mechsim.spec.names import PLANE


@frozen
class Look:
    """A part ready to be drawn: its paths, in its own frame, and colours."""

    body: SceneBody
    path: Path
    rim: Path
    face: tuple[float, float, float]
    edge: tuple[float, float, float]
    light: tuple[float, float, float]


@frozen
class FittingLook:
    """A fitting ready to be drawn."""

    fitting: Fitting
    path: Path
    poses: tuple[Array, Array, Array]
    shown: NDArray[np.bool_]
    face: tuple[float, float, float] | None
    edge: tuple[float, float, float] | None


def render_frames(
    scene: Scene, frames: Frames, options: Options, start: int = 0, stop: int | None = None
) -> Iterator[NDArray[np.uint8]]:
    """Frames `start` to `stop` as (height, width, 4) arrays. Each is overwritten by the next."""
    picture = picture_of(scene, frames, options)
    for index in range(start, len(frames) if stop is None else stop):
        yield picture.draw(index)


def picture_of(scene: Scene, frames: Frames, options: Options, *, bare: bool = False) -> FlatPicture | ProjectedPicture:
    """What draws a mechanism in the plane, or the projection of one in space."""
    return (FlatPicture if scene.dimension == PLANE else ProjectedPicture)(scene, frames, options, bare=bare)


class FlatPicture:
    """Draws any frame of a film. What does not move is drawn once."""

    def __init__(self, scene: Scene, frames: Frames, options: Options, *, bare: bool = False):
        self.scene, self.frames, self.options = scene, frames, options
        self.theme: Theme = THEMES[options.theme]
        self.pen = Pen(*options.size)
        self.unit = unit_of(options.size)
        self.overlay = Overlay(scene, frames, options, self.pen, bare=bare)
        strength, arrow = Strength.of(frames, scene), USUAL_ARROW * options.size[1]
        ends = [np.vstack(each) for each in zip(tips(frames, strength), reaches(frames.marks, PLANE), strict=True)]
        self.window: Window = window_of(scene, frames, options.view, self.overlay.box, (ends[0], arrow * ends[1]))
        self.measures = Measures(self.window.scale, arrow, strength, frames.marks.usual if frames.marks else 0.0)
        self.flashes = Flashes(self.pen, self.theme, frames, options, self.unit, arrow / self.window.scale)
        self.arrows = Arrows(self.pen, self.theme, frames, self.window, self.measures, self.unit)
        self.skin = self.window.scale * scene.fleshoutwid  # pixels
        lines = [self.window.pixels(frames.motion.points[name]) for name in traced(scene, options)]
        self.trails = Trails.along(self.pen, frames, options, self.unit, frames.motion.t, lines)
        self.ways = self.trails.ways
        self.fittings = [self._fit(fitting) for fitting in fittings_of(scene, frames)]
        self.steps = self._steps()
        self._draw_background()

    def draw(self, index: int) -> NDArray[np.uint8]:
        """The picture of one frame; the next call overwrites it."""
        self.pen.restore()
        self.trails.draw(index)
        for step in self.steps:
            step(index)
        self.arrows.draw(index)
        self.flashes.draw(index, self.window.pixels)
        self.overlay.draw(index)
        pixels: NDArray[np.uint8] = self.pen.pixels
        return pixels

    def _steps(self) -> list[Callable[[int], None]]:
        """What to draw, lowest layer first: a joint lies on the highest of its parts."""
        scene = self.scene
        heights: dict[str, float] = {}
        for body in scene.parts:
            for point in body.points:
                heights[point] = max(heights.get(point, 0.0), body.layer)
        steps: list[tuple[float, Callable[[int], None]]] = []
        steps += [(look.fitting.height, partial(self._fitting, look)) for look in self.fittings if not self._lies(look)]
        steps += [(body.layer, partial(self._body, self._look(body))) for body in scene.parts]
        for spring in scene.springs:
            steps.append((max(heights.get(p, 0.0) for p in spring.points) + 0.4, partial(self._spring, spring)))
        steps += [(heights.get(name, 0.0) + 0.5, partial(self._pivot, name)) for name in scene.pivots]
        steps += [(heights.get(each.point, 0.0) + 0.6, partial(self._particle, each)) for each in scene.particles]
        return [step for _, step in sorted(steps, key=lambda entry: entry[0])]

    def _look(self, body: SceneBody) -> Look:
        colour = self.theme.parts[body.colour % len(self.theme.parts)]
        rim = inset(body.outline, 0.3 * self.scene.fleshoutwid)
        return Look(
            body,
            closed(body.outline),
            closed(rim),
            mix(colour, self.theme.background, 0.06),
            mix(colour, "#000000", 0.42),
            mix(colour, "#ffffff", 0.28),
        )

    def _draw_background(self) -> None:
        self.pen.clear(self.theme.background)
        self.overlay.draw_background(self.measures)
        for name in self.scene.footings:
            self._ground(self.scene.ground[name])
        for look in filter(self._lies, self.fittings):
            self._fitting(look, 0)
        self.pen.keep()

    def _lies(self, look: FittingLook) -> bool:
        """Whether a fitting is part of the background."""
        return look.fitting.height <= FLOOR and look.fitting.stands_still(self.scene)

    def _ground(self, point: Array) -> None:
        bracket, hatching = symbols.ground(self.skin)
        x, y = self.window.pixels(point)
        where = place(1.0, 0.0, x, y)
        face = mix(self.theme.background, self.theme.edge, 0.14)
        edge = mix(self.theme.background, self.theme.edge, 0.62)
        self.pen.outline(closed(bracket), where, face, edge, 1.4 * self.unit)
        self.pen.line(strokes(*hatching), where, edge, 1.4 * self.unit)

    def _fit(self, fitting: Fitting) -> FittingLook:
        theme, paint, colour = self.theme, fitting.paint, fitting.colour
        plain = (
            theme.edge
            if colour is None
            else theme.trace[0]
            if colour == ACCENT
            else theme.parts[colour % len(theme.parts)]
        )
        rim = plain if colour is None or colour == ACCENT else mix(plain, "#000000", 0.42)
        return FittingLook(
            fitting,
            strokes(*fitting.shapes) if paint.face is None else closed(fitting.shapes[0]),
            poses(fitting, self.frames),
            self.scene.holds(fitting.bond, self.frames.t),
            None if paint.face is None else mix(theme.background, plain, paint.face),
            None if paint.edge is None else mix(theme.background, rim, paint.edge),
        )

    def _fitting(self, look: FittingLook, index: int) -> None:
        if not look.shown[index]:
            return
        origin, angle, stretch = (values[index] for values in look.poses)
        paint, scale = look.fitting.paint, self.window.scale
        x, y = self.window.pixels(origin)
        where = place(scale, angle, x, y, stretch)
        if paint.shadow:
            drop = (1.6 + 0.5 * max(look.fitting.height, 0.0)) * self.unit
            shade = place(scale, angle, x + drop, y - drop, stretch)
            self.pen.fill(look.path, shade, self.theme.shadow, self.theme.shadow_strength)
        stroke = look.edge or self.theme.text  # what is only a line has a colour
        if look.fitting.moving:
            for line in look.fitting.lines(index):
                self.pen.line(Path(line), where, stroke, paint.width * self.unit)
        elif look.face is None:
            self.pen.line(look.path, where, stroke, paint.width * self.unit)
        elif look.edge is None:
            self.pen.fill(look.path, where, look.face)
        else:
            self.pen.outline(look.path, where, look.face, look.edge, paint.width * self.unit)

    def _body(self, look: Look, index: int) -> None:
        origin, angle = self.frames.poses[look.body.name]
        x, y = self.window.pixels(origin[index])
        scale, turn = self.window.scale, angle[index]
        drop = (1.6 + 0.5 * look.body.layer) * self.unit
        self.pen.fill(look.path, place(scale, turn, x + drop, y - drop), self.theme.shadow, self.theme.shadow_strength)
        where = place(scale, turn, x, y)
        self.pen.outline(look.path, where, look.face, look.edge, 1.5 * self.unit)
        self.pen.line(look.rim, where, look.light, 1.2 * self.unit)

    def _spring(self, spring: SceneSpring, index: int) -> None:
        start, end = (self.window.pixels(self.frames.points[name][index]) for name in spring.points)
        length, angle = float(np.hypot(*(end - start))), float(np.arctan2(*(end - start)[::-1]))
        radius = 1.35 * self.skin
        turns = symbols.coil_turns(spring.length * self.window.scale, radius)
        path = Path(symbols.coil(max(length, 1e-9), radius, turns, min(1.5 * self.skin, 0.12 * length)))
        where = place(1.0, angle, *start)
        self.pen.line(path, where, self.theme.edge, 2.6 * self.unit)
        self.pen.line(path, where, mix(self.theme.edge, self.theme.background, 0.62), 1.1 * self.unit)

    def _pivot(self, name: str, index: int) -> None:
        x, y = self.window.pixels(self.frames.points[name][index])
        radius = max(0.52 * self.skin, 2.2 * self.unit)
        self.pen.outline(DISC, place(radius, 0, x, y), self.theme.pin, self.theme.edge, 1.5 * self.unit)
        self.pen.fill(DISC, place(0.34 * radius, 0, x, y), self.theme.edge)

    def _particle(self, particle: SceneParticle, index: int) -> None:
        x, y = self.window.pixels(self.frames.points[particle.point][index])
        radius = self.window.scale * particle.radius
        drop = 2.5 * self.unit
        self.pen.fill(DISC, place(radius, 0, x + drop, y - drop), self.theme.shadow, self.theme.shadow_strength)
        face = mix(self.theme.edge, self.theme.background, 0.25)
        self.pen.outline(DISC, place(radius, 0, x, y), face, self.theme.edge, 1.5 * self.unit)
        self.pen.fill(DISC, place(0.3 * radius, 0, x - 0.32 * radius, y + 0.32 * radius), "#ffffff", 0.55)
