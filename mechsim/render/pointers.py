"""Forces and torques as solid arrows, above the bodies."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechsim.render.bodies import Levels, level_of, rgb
from mechsim.render.forces import Arrow, Strength, tips
from mechsim.render.frames import Frames
from mechsim.render.mesh import cone, prism, tube
from mechsim.render.polygon import circle
from mechsim.render.scene import Scene
from mechsim.render.stage import Look, Placing, Stage, posed
from mechsim.render.symbols import turning_arrow
from mechsim.render.theme import Theme
from mechsim.result.layout import Array

# Shares of the length of an arrow of usual strength.
SHAFT, HEAD, HEAD_RADIUS = 0.028, 0.20, 0.075
TURN_RADIUS = 0.25
GAP = (0.42, 0.56)  # of a shaft, where an arrow is broken
TURNS = 24  # sizes of turning arrows
DIRECTIONS = 48  # in which the outermost tip is looked for
Told = tuple[Array, bool, float, str]  # the tip of an arrow (1, 3), whether it points to the left, strength, unit
LEAST = 1e-4  # an arrow is drawn so short instead of vanishing: a matrix without inverse cannot be drawn


def add_arrows(stage: Stage, scene: Scene, frames: Frames, theme: Theme, strength: Strength, usual: float) -> None:
    """Solid arrows; a force of usual strength gets the length `usual`, in metres."""
    for arrow in frames.arrows:
        palette = theme.parts if arrow.part else theme.trace
        look = Look(rgb(palette[arrow.colour % len(palette)]), 0.4)
        if arrow.is_torque and strength.torque:
            _add_torque(stage, frames.points[arrow.point], arrow, look, _height(scene, arrow.point), strength, usual)
        elif not arrow.is_torque and strength.force:
            _add_force(stage, frames.points[arrow.point], arrow, look, _height(scene, arrow.point), strength, usual)


def seen_tips(scene: Scene, frames: Frames, strength: Strength, usual: float) -> Array:
    """Where arrows end, (k, 3): the outermost in many directions, over all of the motion."""
    places, reaches = tips(frames, strength)
    ends = places + usual * reaches
    if not len(ends):
        return np.zeros((0, 3))
    outermost = ends[np.unique(np.argmax(ends @ circle(1.0, DIRECTIONS).T, axis=0))]
    top = max(_height(scene, arrow.point) for arrow in frames.motion.arrows)
    return np.column_stack([outermost, np.full(len(outermost), top)])


def strengths(scene: Scene, frames: Frames, strength: Strength, usual: float, index: int) -> Iterator[Told]:
    """The arrows at a frame that are too short."""
    for arrow in frames.arrows:
        start, value = frames.points[arrow.point][index], arrow.vectors[index]
        if arrow.is_torque:
            broken, reach, unit = strength.turns(value)[1], np.array([0.0, TURN_RADIUS]), "N m"
        else:
            (reach, broken), unit = strength.lengths(value), "N"
        if broken:
            tip = np.array([[*(start + usual * reach), _height(scene, arrow.point)]])
            yield tip, bool(reach[0] < 0), float(arrow.strengths[index]), unit


def _add_torque(
    stage: Stage, start: Array, arrow: Arrow, look: Look, height: float, strength: Strength, usual: float
) -> None:
    """Turns of a few sizes either way, of which each moment shows the nearest."""
    width, radius = 0.06 * usual, (TURN_RADIUS + 0.07 * arrow.ring) * usual
    sizes = np.round(strength.turns(arrow.vectors)[0] * TURNS).astype(int)
    for size in np.unique(sizes[sizes != 0]):
        shape = turning_arrow(radius, width, float(size) / TURNS)
        shown = np.where(sizes == size, 1.0, LEAST)
        mesh = prism(shape, height, height + width, 0.3 * width)
        stage.add(mesh, look, _scaled(posed(start), np.outer(shown, np.ones(3))))


def _add_force(
    stage: Stage, start: Array, arrow: Arrow, look: Look, height: float, strength: Strength, usual: float
) -> None:
    reach, broken = strength.lengths(arrow.vectors)
    vectors = usual * reach
    length = np.maximum(np.hypot(*vectors.T), LEAST * usual)
    head = np.minimum(HEAD * usual, 0.6 * length)
    thick = np.minimum(1.0, length / (HEAD * usual))  # what is short is thin too
    angle = np.arctan2(vectors[:, 1], vectors[:, 0])
    direction = np.column_stack([np.cos(angle), np.sin(angle)])
    shaft = tube(np.array([[0.0, 0, 0], [0.5, 0, 0], [1.0, 0, 0]]), SHAFT * usual, 16)
    tip = cone(HEAD * usual, HEAD_RADIUS * usual)
    neck = start + (length - head)[:, None] * direction
    # A force stronger than can be drawn has a gap in its shaft.
    near = np.where(broken, GAP[0], 1.0) * (length - head)
    far = np.where(broken, 1 - GAP[1], LEAST) * (length - head)
    after = start + np.where(broken, GAP[1], 0.0)[:, None] * (length - head)[:, None] * direction
    for place, long in ((start, near), (after, far)):
        stage.add(shaft, look, _scaled(posed(place, angle, height), np.column_stack([long, thick, thick])))
    stage.add(tip, look, _scaled(posed(neck, angle, height), np.outer(head / (HEAD * usual), np.ones(3))))


def _scaled(place: Placing, scales: Array) -> Placing:
    """A placement after scaling along the body's own axes, (k, 3)."""

    def scaled(frame: int) -> Array:
        matrix = place(frame)
        matrix[:3, :3] *= scales[frame]
        return matrix

    return scaled


def _height(scene: Scene, point: str) -> float:
    levels = Levels.of(scene)
    sprung = any(point in spring.points for spring in scene.springs)
    return (levels.springs if sprung else level_of(scene, point)) + 1.2 * levels.skin
