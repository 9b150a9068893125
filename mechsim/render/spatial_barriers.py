"""What gaps keep apart in space: planes that points stay above, balls that they stay out of, ropes that hold them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechsim.frozen import frozen
from mechsim.render.barriers import BESIDE, is_straight, radius_of
from mechsim.render.frames import Frames
from mechsim.render.gaps import Meeting, meetings
from mechsim.render.scene import Scene
from mechsim.result.layout import Array

THICK = 0.03  # of its side, that a plate stands for a plane
ROUGH = 1e-6  # of the size: planes nearer than this are one


@frozen
class Plate:
    """A piece of a plane: its middle and its normal towards the free side, (k, 3) each; half of its side."""

    name: str
    middle: Array
    normal: Array
    half: float
    stands: bool


@frozen
class Round:
    """A ball about a point that stands; or, as `rope`, what holds two points together."""

    name: str
    points: tuple[str, ...]
    radius: float
    rope: bool


def plates(scene: Scene, frames: Frames, turn: Array) -> Iterator[Plate]:
    """`frames` are of a motion that was turned as a whole by `turn` (3, 3). Points share a plane that stands."""
    found: list[Plate] = []
    for meeting in meetings(scene):
        if meeting.sort != "level" or not is_straight(meeting, frames.motion):
            continue
        plate = _plate(meeting, frames, turn)
        if not any(_same(plate, other, scene.size) for other in found):
            found.append(plate)
    yield from found


def _plate(meeting: Meeting, frames: Frames, turn: Array) -> Plate:
    (point,) = meeting.points
    slopes = meeting.slopes(frames, point) @ turn.T
    steep = np.maximum(np.linalg.norm(slopes, axis=1, keepdims=True), 1e-300)
    normal, way = slopes / steep, frames.motion.points[point]
    foot = frames.points[point] - meeting.width(frames)[:, None] * slopes / steep**2
    centre = (way.min(axis=0) + way.max(axis=0)) / 2
    across = (way - centre) - ((way - centre) @ normal[0])[:, None] * normal[0]
    cloud = np.vstack(list(frames.motion.points.values()))
    half = float(np.linalg.norm(across, axis=1).max()) + BESIDE * float(
        np.ptp(cloud, axis=0).max() or meeting.scene.size
    )
    middle = centre - ((centre - foot) * normal).sum(axis=1, keepdims=True) * normal
    stands = not meeting.uses_time
    if stands:  # but for rounding
        middle, normal = (np.broadcast_to(each[:1], each.shape) for each in (middle, normal))
    return Plate(f"contact {meeting.gap.name}", middle, normal, half, stands)


def _same(plate: Plate, other: Plate, size: float) -> bool:
    apart = abs(float((plate.middle[0] - other.middle[0]) @ plate.normal[0]))
    return (
        plate.stands and other.stands and apart < ROUGH * size and bool(plate.normal[0] @ other.normal[0] > 1 - ROUGH)
    )


def rounds(scene: Scene, frames: Frames) -> Iterator[Round]:
    for meeting in meetings(scene):
        if meeting.sort != "pair":
            continue
        name, radius = f"contact {meeting.gap.name}", float(np.median(radius_of(meeting, frames.motion)))
        standing = tuple(point for point in reversed(meeting.points) if not meeting.moves(point))
        if meeting.inside:
            yield Round(name, meeting.points, radius, rope=True)
        elif standing:
            yield Round(name, standing[:1], radius, rope=False)
