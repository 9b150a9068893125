"""Forces and torques in space as things: straight arrows, and arrows that turn about the axis of a torque."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechsim.render.forces import Arrow, Strength
from mechsim.render.frames import Frames
from mechsim.render.mesh import bar, cone, prism
from mechsim.render.placements import scaled, standing, turned_along
from mechsim.render.pointers import GAP, HEAD, HEAD_RADIUS, LEAST, SHAFT, TURN_RADIUS, TURNS, Told
from mechsim.render.poses import shortest_turn
from mechsim.render.symbols import turning_arrow
from mechsim.render.theme import Theme
from mechsim.render.things import Thing
from mechsim.result.layout import Array

SHINE = 0.4


def pointers(frames: Frames, theme: Theme, strength: Strength, usual: float) -> Iterator[Thing]:
    """Solid arrows; a force of usual strength gets the length `usual`, in metres."""
    for arrow in frames.arrows:
        palette = theme.parts if arrow.part else theme.trace
        colour = palette[arrow.colour % len(palette)]
        if arrow.is_torque and strength.torque:
            yield from _torque(frames, arrow, colour, strength, usual)
        elif not arrow.is_torque and strength.force:
            yield from _force(frames, arrow, colour, strength, usual)


def too_strong(frames: Frames, strength: Strength, usual: float, index: int, right: Array) -> Iterator[Told]:
    """The arrows at a frame that are too short; `right` is to the right in the picture."""
    for arrow in frames.arrows:
        start, value = arrow.places(frames)[index], arrow.vectors[index]
        if arrow.is_torque:
            broken, reach, unit = strength.turns(arrow.strengths[index])[1], np.array([0.0, 0.0, TURN_RADIUS]), "N m"
        else:
            (reach, broken), unit = strength.lengths(value), "N"
        if broken:
            yield (start + usual * reach)[None], bool(reach @ right < 0), float(arrow.strengths[index]), unit


def _force(frames: Frames, arrow: Arrow, colour: str, strength: Strength, usual: float) -> Iterator[Thing]:
    start = arrow.places(frames)
    reach, broken = strength.lengths(arrow.vectors)
    way = usual * reach
    length = np.maximum(np.linalg.norm(way, axis=1), LEAST * usual)
    head = np.minimum(HEAD * usual, 0.6 * length)
    thick = np.minimum(1.0, length / (HEAD * usual))  # what is short is thin too
    turn = turned_along(way)
    direction = turn[:, :, 0]
    neck = (length - head)[:, None]
    # A force stronger than can be drawn has a gap in its shaft.
    near = np.where(broken, GAP[0], 1.0) * neck[:, 0]
    far = np.where(broken, 1 - GAP[1], LEAST) * neck[:, 0]
    after = start + np.where(broken, GAP[1], 0.0)[:, None] * neck * direction
    shaft, tip = bar(0.0, 1.0, SHAFT * usual, 0.0, 16), cone(HEAD * usual, HEAD_RADIUS * usual)
    pieces = [(start, near), (after, far)] if broken.any() else [(start, near)]
    for place, long in pieces:
        matrices = scaled(standing(place, turn), np.column_stack([long, thick, thick]))
        yield Thing(arrow.label, shaft, matrices, colour, SHINE)
    matrices = scaled(standing(start + neck * direction, turn), (head / (HEAD * usual))[:, None])
    yield Thing(arrow.label, tip, matrices, colour, SHINE)


def _torque(frames: Frames, arrow: Arrow, colour: str, strength: Strength, usual: float) -> Iterator[Thing]:
    """Turns of a few sizes, of which each moment shows the nearest."""
    width, radius = 0.06 * usual, (TURN_RADIUS + 0.07 * arrow.ring) * usual
    turn = turned_along(arrow.vectors) @ shortest_turn(np.eye(3)[[2]], np.eye(3)[[0]])
    sizes = np.round(strength.turns(arrow.strengths)[0] * TURNS).astype(int)
    for size in np.unique(sizes[sizes != 0]):
        mesh = prism(turning_arrow(radius, width, float(size) / TURNS), -width / 2, width / 2, 0.3 * width)
        shown = np.where(sizes == size, 1.0, LEAST)[:, None]
        yield Thing(arrow.label, mesh, scaled(standing(arrow.places(frames), turn), shown), colour, SHINE)
