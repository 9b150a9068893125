"""A mechanism in space as solids that move: bodies, springs, particles, joints, ground. Both pictures draw these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from mechsim.frozen import frozen
from mechsim.render.frames import Frames
from mechsim.render.mesh import Mesh, ball, bar, coil
from mechsim.render.placements import Matrices, spanning, standing
from mechsim.render.scene import Scene
from mechsim.render.surfaces import BAR, bar_radius, surface_of
from mechsim.render.theme import Theme
from mechsim.result.layout import Array

# Sizes of details, in radii of a usual bar.
COIL_RADIUS, WIRE_RADIUS = 0.95, 0.22
FEWEST_TURNS, MOST_TURNS = 5, 20

STEEL, STONE = "#c7ccd4", "#a2a7ae"
DULL, PAINTED, SHINY = 0.1, 0.35, 0.8  # how much a surface shines


@frozen
class Thing:
    """A solid: its mesh, where it stands frame by frame, and its colour."""

    name: str
    mesh: Mesh
    matrices: Matrices
    colour: str
    shine: float = PAINTED
    creased: bool = True  # whether its sharp edges are lines of a drawing
    inner: bool = False  # whether others are around it, as a sleeve is around a rail: then these hide it


@frozen(slots=False)
class Kit:
    """What makers of things ask for."""

    scene: Scene
    frames: Frames
    theme: Theme

    @cached_property
    def skin(self) -> float:
        """The radius of a usual bar; details are as large as they must be beside it."""
        size = self.scene.mechanism.size
        return float(
            np.median(
                [bar_radius(part, size) for part in self.scene.mechanism.parts if part.kind == "rigid"] or [BAR * size]
            )
        )

    def at(self, point: str) -> Array:
        """Where a point is, (k, 3)."""
        return self.frames.points[point]

    def colour(self, part: str) -> str:
        """Of a part; that of the ground for what is none."""
        return self._colours.get(part, STONE)

    @cached_property
    def _colours(self) -> dict[str, str]:
        palette = self.theme.parts
        return {body.name: palette[body.colour % len(palette)] for body in self.scene.parts}

    def has_shape(self, points: tuple[str, ...]) -> bool:
        """Whether the file says what the part with these points looks like."""
        return any(body.solids for body in self.scene.parts if set(points) <= set(body.points))

    def mean(self, point: str) -> Array:
        """Where a point is on average over the motion."""
        return np.asarray(self.frames.motion.points[point].mean(axis=0))


def bodies(kit: Kit) -> Iterator[Thing]:
    """By the shapes of the file, else made of their points."""
    parts = {part.name: part for part in kit.scene.mechanism.parts}
    for body in kit.scene.parts:
        matrices = standing(*kit.frames.poses[body.name])
        whole = parts[body.name]
        # Solid by solid: each throws its own shadow, and hides what is behind it in a drawing.
        for piece in [replace(whole, solids=(solid,)) for solid in whole.solids] or [whole]:
            surface = surface_of(piece, kit.scene.mechanism.size)
            mesh = Mesh(surface.vertices, surface.normals, surface.triangles, np.arange(len(surface.vertices)))
            yield Thing(body.name, mesh, matrices, kit.colour(body.name), creased=bool(body.solids))


def springs(kit: Kit) -> Iterator[Thing]:
    for spring in kit.scene.springs:
        start, end = (kit.at(point) for point in spring.points)
        length = spring.length or float(np.linalg.norm(end - start, axis=1).mean()) or kit.scene.size
        radius = COIL_RADIUS * kit.skin
        turns = int(np.clip(length / (1.7 * radius), FEWEST_TURNS, MOST_TURNS))
        mesh = coil(length, turns, radius, WIRE_RADIUS * kit.skin)
        yield Thing(spring.name, mesh, spanning(start, end, length), STEEL, SHINY)


def particles(kit: Kit) -> Iterator[Thing]:
    for particle in kit.scene.particles:
        place = standing(kit.at(particle.point))
        yield Thing(particle.point, ball(particle.radius), place, kit.theme.trace[0], 0.6)


def rod_between(kit: Kit, name: str, points: tuple[str, str], radius: float, colour: str) -> Thing:
    """A bar that is as long as the way between two points."""
    start, end = (kit.at(point) for point in points)
    length = float(np.linalg.norm(end - start, axis=1).mean()) or kit.skin
    return Thing(name, bar(0.0, length, radius), spanning(start, end, length), colour)
