"""A scene as solid bodies: parts in layers, pins, springs, particles, rails and ground blocks, with their shadows."""

from __future__ import annotations

import numpy as np

from mechsim.frozen import frozen
from mechsim.render.fitting import ACCENT, Fitting, outermost, poses
from mechsim.render.fittings import fittings_of
from mechsim.render.frames import Frames
from mechsim.render.mesh import Mesh, ball, coil, pin, prism, tube
from mechsim.render.outline import hull
from mechsim.render.polygon import circle, rounded_square
from mechsim.render.poses import all_placed
from mechsim.render.scene import Scene, SceneParticle, SceneSpring
from mechsim.render.stage import Look, Placing, Stage, framed, posed, stretched
from mechsim.render.theme import Theme
from mechsim.result.layout import Array

# Sizes of details, in widths of the skin of a part (fleshoutwid).
BEVEL = 0.45
PIN_RADIUS = 0.5
COIL_RADIUS = 0.95
WIRE_RADIUS = 0.24
WIRE_OF_WIDTH = 0.07  # the radius of a wire that stands for a line, for each pixel of its width
BLOCK = 2.0  # half of the side of a ground block
THICKNESS = 0.86  # of a part, in distances between layers (zscale); the rest is air
FEWEST_TURNS, MOST_TURNS = 5, 20

LIGHT = np.array([-0.45, 0.60, 1.0])  # towards the light that throws the shadows
SHADOW_BLUR = 0.45  # width of a shadow's soft edge for each unit of height above the board
CHALK = (0.93, 0.93, 0.92)  # what colours are thinned with
STEEL = Look((0.78, 0.80, 0.83), 0.8)


@frozen
class Levels:
    """Heights in the picture, from the board that shadows fall on to the tops of the parts."""

    step: float
    skin: float
    layers: int

    @classmethod
    def of(cls, scene: Scene) -> Levels:
        return cls(abs(scene.zscale), scene.fleshoutwid, scene.layers)

    @property
    def board(self) -> float:
        return -max(1.5 * self.step, 1.2 * self.skin)

    @property
    def top(self) -> float:
        return self.layers * self.step

    @property
    def springs(self) -> float:
        """Springs lie above all parts: a coil cannot share a layer with plates."""
        return self.top + (COIL_RADIUS + WIRE_RADIUS) * self.skin

    def part(self, layer: int) -> tuple[float, float]:
        """Bottom and top of the parts in a layer."""
        return layer * self.step, (layer + THICKNESS) * self.step


@frozen
class Set:
    """What all builders below need: where to put bodies, what moves, at which heights, in which colours."""

    stage: Stage
    scene: Scene
    frames: Frames
    levels: Levels
    theme: Theme

    def shadow(self, outline: Array, height: float, place: Placing) -> None:
        """The shadow of a flat shape at a height: away from the light, and softer the higher the shape is."""
        above = height - self.levels.board
        shift = (*(-LIGHT[:2] / LIGHT[2] * above), self.levels.board + 1e-3 * self.levels.skin)

        def on_board(frame: int) -> Array:
            matrix = place(frame)
            matrix[:2, 3] += shift[:2]
            matrix[2, 3] = shift[2]
            return matrix

        red, green, blue = (round(255 * value) for value in rgb(self.theme.shadow))
        ink = (red, green, blue, round(255 * 1.25 * self.theme.shadow_strength))
        self.stage.add_shadow(outline, 0.3 * self.levels.skin + SHADOW_BLUR * above, ink, on_board)


def build_bodies(stage: Stage, scene: Scene, frames: Frames, theme: Theme) -> None:
    """Everything of the mechanism, into the stage."""
    built = Set(stage, scene, frames, Levels.of(scene), theme)
    _parts(built)
    _pins(built)
    _blocks(built)
    for spring in scene.springs:
        _spring(built, spring)
    for particle in scene.particles:
        _particle(built, particle)
    for fitting in fittings_of(scene, frames):
        _fitting(built, fitting)


def seen_points(scene: Scene, frames: Frames, directions: int = 48) -> Array:
    """Points (k, 3) that stand for all that the film shows: the outermost in many directions, at board and top."""
    motion, chosen = frames.motion, frames.seen
    levels = Levels.of(scene)
    square = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    wide = {particle.point: particle.radius for particle in scene.particles}
    clouds = []
    for part in scene.parts:
        origin, angle = (values[chosen] for values in motion.poses[part.name])
        clouds.append(all_placed(hull(part.outline), (origin, angle)).reshape(-1, 2))
    for name, path in motion.points.items():
        clouds.append((path[:, None] + wide.get(name, levels.skin) * square).reshape(-1, 2))
    clouds += [outermost(fitting, motion, chosen) for fitting in fittings_of(scene, motion)]
    clouds += [place + BLOCK * levels.skin * square for place in scene.ground.values()]
    cloud = np.vstack(clouds)
    chosen = cloud[np.unique(np.argmax(cloud @ circle(1.0, directions).T, axis=0))]
    heights = (levels.board, levels.springs + levels.skin if scene.springs else levels.top)
    return np.vstack([np.column_stack([chosen, np.full(len(chosen), height)]) for height in heights])


def level_of(scene: Scene, point: str) -> float:
    """The top of the highest part at a point."""
    levels = Levels.of(scene)
    layers = [part.layer for part in scene.parts if point in part.points]
    return levels.part(max(layers))[1] if layers else levels.top


def rgb(colour: str) -> tuple[float, float, float]:
    """`#4f7fb5` as numbers from 0 to 1."""
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return red, green, blue


def _parts(built: Set) -> None:
    for part in built.scene.parts:
        bottom, top = built.levels.part(part.layer)
        place = posed(*built.frames.poses[part.name])
        colour = rgb(built.theme.parts[part.colour % len(built.theme.parts)])
        built.stage.add(prism(part.outline, bottom, top, BEVEL * built.levels.skin), Look(colour, 0.35), place)
        built.shadow(part.outline, (bottom + top) / 2, place)


def _pins(built: Set) -> None:
    """A pin through all parts that meet at a point; at a spring it goes on up to the spring, in the ground down."""
    levels, scene = built.levels, built.scene
    sprung = {point for spring in scene.springs for point in spring.points}
    for name in scene.pivots:
        layers = [part.layer for part in scene.parts if name in part.points] or [0]
        bottom = levels.board if name in scene.ground else levels.part(min(layers))[0]
        top = levels.part(max(layers))[1] + 0.4 * min(levels.step, levels.skin)
        if name in sprung:
            top = levels.springs + 1.6 * WIRE_RADIUS * levels.skin
        radius = PIN_RADIUS * levels.skin
        built.stage.add(pin(radius, bottom, top, 0.3 * radius), STEEL, posed(built.frames.points[name]))


def _blocks(built: Set) -> None:
    """A block on the board under each fixed point."""
    levels = built.levels
    top = -0.15 * levels.step
    square = rounded_square(BLOCK * levels.skin, 0.5 * levels.skin)
    red, green, blue = (np.array(rgb(built.theme.faint)) + STEEL.colour) / 2
    look = Look((red, green, blue), 0.1)
    for name in built.scene.footings:
        place = posed(built.frames.points[name])
        built.stage.add(prism(square, levels.board, top, 0.3 * levels.skin), look, place)
        built.shadow(square, (levels.board + top) / 2, place)


def _spring(built: Set, spring: SceneSpring) -> None:
    start, end = (built.frames.points[name] for name in spring.points)
    levels = built.levels
    length = spring.length or float(np.linalg.norm(end - start, axis=1).mean()) or built.scene.size
    radius = COIL_RADIUS * levels.skin
    turns = int(np.clip(length / (1.7 * radius), FEWEST_TURNS, MOST_TURNS))
    place = stretched(start, end, length, levels.springs)
    look = Look((0.80, 0.82, 0.86), 0.9)
    built.stage.add(coil(length, turns, radius, WIRE_RADIUS * levels.skin), look, place)
    strip = np.array([[0, -0.6], [1, -0.6], [1, 0.6], [0, 0.6]]) * (length, radius)
    built.shadow(strip, levels.springs, place)


def _particle(built: Set, particle: SceneParticle) -> None:
    """A ball, resting in the lowest layer that its parts leave free of it."""
    height = level_of(built.scene, particle.point) / 2
    place = posed(built.frames.points[particle.point], None, height)
    built.stage.add(ball(particle.radius), Look(rgb(built.theme.trace[0]), 0.6), place)
    built.shadow(circle(particle.radius), height, place)


def _fitting(built: Set, fitting: Fitting) -> None:
    """A region as a plate, a line as a wire; on the board, inside a layer under its part, or on top of it."""
    levels, paint = built.levels, fitting.paint
    bottom, top = _span(levels, fitting)
    place = framed(*poses(fitting, built.frames), built.scene.holds(fitting.bond, built.frames.t))
    look = _look_of(built, fitting)
    if paint.face is None:
        wire = WIRE_OF_WIDTH * paint.width * levels.skin

        def wires(frame: int) -> list[Mesh]:
            lines = [_spaced(line) for line in fitting.lines(frame)]
            return [tube(np.column_stack([line, np.full(len(line), top)]), wire) for line in lines if len(line) > 1]

        if fitting.moving:
            built.stage.add_changing(wires, look)
        else:
            for mesh in wires(0):
                built.stage.add(mesh, look, place)
        return
    built.stage.add(prism(fitting.shapes[0], bottom, top, 0.15 * levels.skin), look, place)
    if paint.shadow:
        built.shadow(fitting.shapes[0], (bottom + top) / 2, place)


def _span(levels: Levels, fitting: Fitting) -> tuple[float, float]:
    """Bottom and top of a fitting."""
    if fitting.height < -0.5:
        return 0.65 * levels.board, 0.1 * levels.board
    layer = round(fitting.height)
    bottom, top = levels.part(layer)
    if fitting.height < layer or fitting.height < 0:
        return bottom, bottom + (0.45 - fitting.height + layer if fitting.height > layer - 0.08 else 0.45) * (
            top - bottom
        )
    return bottom, top + (fitting.height - layer) * min(levels.step, levels.skin)


def _spaced(line: Array) -> Array:
    """The line without corners that follow on themselves, which have no direction."""
    kept: Array = line[np.append(True, np.hypot(*np.diff(line, axis=0).T) > 0)]
    return kept


def _look_of(built: Set, fitting: Fitting) -> Look:
    theme, paint, colour = built.theme, fitting.paint, fitting.colour
    share = paint.edge if paint.face is None else paint.face
    plain = (
        theme.edge if colour is None else theme.trace[0] if colour == ACCENT else theme.parts[colour % len(theme.parts)]
    )
    red, green, blue = (1 - (share or 0)) * np.array(CHALK) + (share or 0) * np.array(rgb(plain))
    return Look((red, green, blue), 0.3)
