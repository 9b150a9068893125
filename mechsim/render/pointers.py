"""Forces and torques as solid arrows, above the bodies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.render.bodies import Levels, level_of, rgb
from mechsim.render.forces import Arrow, arrows_of
from mechsim.render.frames import Frames
from mechsim.render.mesh import cone, prism, tube
from mechsim.render.scene import Scene
from mechsim.render.stage import Look, Placing, Stage, posed
from mechsim.render.symbols import turning_arrow
from mechsim.render.theme import Theme
from mechsim.result.layout import Array

Arrows = Sequence[tuple[Arrow, str]]  # with their colours

# Shares of the length of the longest arrow.
SHAFT, HEAD, HEAD_RADIUS = 0.028, 0.20, 0.075
TURN_RADIUS = 0.35
MOST_TIMES = 2.0  # as long, at moments when a force peaks
LEAST = 1e-4  # an arrow is drawn so short instead of vanishing: a matrix without inverse cannot be drawn


def add_arrows(stage: Stage, scene: Scene, frames: Frames, arrows: Arrows, longest: float) -> None:
    """Solid arrows; a force of its arrow's `largest` strength gets the length `longest`."""
    for arrow, colour in arrows:
        look = Look(rgb(colour), 0.4)
        height = _height(scene, arrow.point)
        if arrow.vectors.ndim == 1:
            width = 0.06 * longest
            shape = turning_arrow(TURN_RADIUS * longest, width, float(arrow.vectors[0]))
            mesh = prism(shape, height, height + width, 0.3 * width)
            stage.add(mesh, look, posed(frames.points[arrow.point]))
        else:
            _add_force(stage, frames.points[arrow.point], arrow, look, height, longest)


def arrows_to_show(scene: Scene, frames: Frames, theme: Theme, show: Sequence[str]) -> Arrows:
    """The arrows asked for, with their colours: applied forces, and forces in the joints in the colours of parts."""
    applied = arrows_of(scene, frames) if "forces" in show else []
    kinds = ((applied, theme.trace), (frames.reactions, theme.parts))
    return [(arrow, palette[arrow.colour % len(palette)]) for arrows, palette in kinds for arrow in arrows]


def _add_force(stage: Stage, start: Array, arrow: Arrow, look: Look, height: float, longest: float) -> None:
    vectors = arrow.vectors * (longest / arrow.largest)
    length = np.clip(np.hypot(*vectors.T), LEAST * longest, MOST_TIMES * longest)
    head = np.minimum(HEAD * longest, 0.6 * length)
    angle = np.arctan2(vectors[:, 1], vectors[:, 0])
    direction = np.column_stack([np.cos(angle), np.sin(angle)])
    shaft = tube(np.array([[0.0, 0, 0], [0.5, 0, 0], [1.0, 0, 0]]), SHAFT * longest, 16)
    tip = cone(HEAD * longest, HEAD_RADIUS * longest)
    neck = start + (length - head)[:, None] * direction
    ones = np.ones(len(length))
    stage.add(shaft, look, _scaled(posed(start, angle, height), np.column_stack([length - head, ones, ones])))
    stage.add(tip, look, _scaled(posed(neck, angle, height), np.outer(head / (HEAD * longest), np.ones(3))))


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
