"""A mechanism in space on the stage of the solid picture: things, a floor with shadows, what the camera sees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mechsim.render.camera import Shot, View
from mechsim.render.floor import Floor
from mechsim.render.forces import Strength
from mechsim.render.frames import Frames, hermite
from mechsim.render.hardware import things_of
from mechsim.render.options import Options
from mechsim.render.placements import moved
from mechsim.render.pointers import Told
from mechsim.render.scene import Scene
from mechsim.render.shade import Shade
from mechsim.render.spatial_arrows import pointers, too_strong
from mechsim.render.stage import Ink, Light, Look, Stage, matrices
from mechsim.render.theme import Theme
from mechsim.render.things import Kit, Thing
from mechsim.render.views import spatial_views, turned_upright
from mechsim.result.layout import Array

ROOM = 2.0  # radii of a bar between the lowest point and the floor
LEAST_ELEVATION = 3.0  # degrees, from which on the floor is seen
# Towards lights and how strong they are, for who looks along y: from the left, from behind and from above throws the
# shadows; from the right; from below.
LIGHTS = tuple((np.array(way), strength) for way, strength in (
    ((-0.45, -0.2, 1.25), 0.80), ((0.8, -0.8, 0.25), 0.45), ((0.1, -0.5, -1.0), 0.25)
))  # fmt: skip
FINER = 4  # points of a trace for each of the motion: a top turns often in one step
MOST_PLACES = 400_000  # points times moments, from which it is found how far everything reaches
DIRECTIONS = 60  # in which the outermost points are looked for


class SpaceSet:
    """What the solid picture asks of a mechanism in space."""

    def __init__(self, scene: Scene, frames: Frames, theme: Theme, options: Options):
        self.scene, self.theme = scene, theme
        self.views: tuple[View, ...] = spatial_views(scene, options)
        self.frames = turned_upright(scene, frames)

    @cached_property
    def lights(self) -> tuple[Light, ...]:
        """Over the left shoulder of who looks from the first view, and weaker ones so that nothing is black."""
        angle = np.radians(self.views[0][0])
        turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        return tuple((turn @ direction, strength) for direction, strength in LIGHTS)

    @cached_property
    def reach(self) -> Array:
        return reach_of(self.scene, self.frames, self.theme)

    @cached_property
    def floor(self) -> Floor:
        """Below everything; what rolls stands on it."""
        rolls = any(joint.sort in ("disc", "ball") for joint in self.scene.actions.spatial)
        return Floor.under(self.reach, 0.0 if rolls else ROOM * Kit(self.scene, self.frames, self.theme).skin)

    @property
    def seen(self) -> Array:
        """Solids, and the floor under them unless it is looked at along it or from below."""
        low = max(elevation for _, elevation in self.views) < LEAST_ELEVATION
        return self.reach if low else np.vstack([self.reach, self.floor.footprint(self.reach)])

    def tips(self, strength: Strength, usual: float) -> Array:
        """Where arrows end over all of the motion."""
        from mechsim.render.forces import tips

        places, reaches = tips(self.frames, strength)
        return outermost([places + usual * reaches]) if len(places) else np.zeros((0, 3))

    def raised(self, places: Array) -> Array:
        return places

    def build(self, stage: Stage) -> None:
        things = things_of(Kit(self.scene, self.frames, self.theme))
        shade = Shade.of(things, self.reach, self.floor.centre[2], self.lights[0][0])
        self.floor.build(stage, self.theme, shade)
        for thing in things:
            _add(stage, thing)

    def add_arrows(self, stage: Stage, strength: Strength, usual: float) -> None:
        for thing in pointers(self.frames, self.theme, strength, usual):
            _add(stage, thing)

    def too_strong(self, strength: Strength, usual: float, index: int, shot: Shot) -> Iterator[Told]:
        return too_strong(self.frames, strength, usual, index, shot.axes[0])

    def add_trace(self, stage: Stage, name: str, half_width: float, ends: NDArray[np.int64], ink: Ink) -> None:
        way = fine_way(self.frames.motion, name)
        stage.add_hose(way, half_width, FINER * ends, np.repeat(ink, FINER, axis=0))


def fine_times(motion: Frames) -> Array:
    """The moments of a motion and more between them."""
    last = len(motion) - 1
    return np.interp(np.arange(FINER * last + 1) / FINER, np.arange(last + 1), motion.t)


def fine_way(motion: Frames, name: str) -> Array:
    """Where a point is at these, (k, 3)."""
    pairs = zip(motion.points[name].T, motion.velocities[name].T, strict=True)
    return np.column_stack([hermite(motion.t, *each, fine_times(motion))[0] for each in pairs])


def reach_of(scene: Scene, frames: Frames, theme: Theme) -> Array:
    """The outermost points (k, 3) of all solids over all of the motion."""
    seen = frames.seen
    some = at_moments(frames.motion, seen[:: 1 + len(seen) * len(frames.points) // MOST_PLACES])
    things = things_of(Kit(scene, some, theme))
    return outermost([moved(_corners(each), each.matrices).reshape(-1, 3) for each in things])


def at_moments(motion: Frames, moments: NDArray[np.int64]) -> Frames:
    """Where everything is at some moments of a motion."""
    return replace(
        motion,
        t=motion.t[moments],
        points={name: places[moments] for name, places in motion.points.items()},
        velocities={name: speeds[moments] for name, speeds in motion.velocities.items()},
        poses={name: (origin[moments], turn[moments]) for name, (origin, turn) in motion.poses.items()},
        coordinates=motion.coordinates[moments],
        rates=motion.rates[moments],
        energies={},
        arrows=(),
        whole=motion,
    )


def outermost(clouds: list[Array]) -> Array:
    """The points of clouds (k, 3) that are farthest in many directions."""
    from mechsim.render.shade import directions

    around = directions(DIRECTIONS)
    found = [cloud[np.unique(np.argmax(cloud @ around.T, axis=0))] for cloud in clouds if len(cloud)]
    cloud = np.vstack(found)
    return cloud[np.unique(np.argmax(cloud @ around.T, axis=0))]


def _corners(thing: Thing) -> Array:
    low, high = thing.mesh.points.min(axis=0), thing.mesh.points.max(axis=0)
    return outermost([thing.mesh.points]) if len(thing.mesh.points) > 64 else np.array([low, high])


def _add(stage: Stage, thing: Thing) -> None:
    from mechsim.render.bodies import rgb

    stage.add(thing.mesh, Look(rgb(thing.colour), thing.shine), matrices(thing.matrices))
