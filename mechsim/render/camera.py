"""Where the solid picture is seen from: views as in MATLAB's `view(azimuth, elevation)`, and moves between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mechsim.errors import Fault
from mechsim.frozen import frozen
from mechsim.result.journal import OutputError
from mechsim.result.layout import Array

SLOPE = float(np.tan(np.radians(11)))  # half of the picture's height per distance: a long lens, parallels stay so
FIT_ROUNDS = 64  # by perspective, centring and distance depend on each other a little

View = tuple[float, float]


@frozen
class Frame:
    """The picture's width / height, and the piece for the mechanism: left, bottom, right, top from -1 to 1."""

    aspect: float
    box: tuple[float, float, float, float]

    @classmethod
    def of(cls, size: tuple[int, int], box: tuple[float, float, float, float]) -> Frame:
        """From pixels."""
        width, height = size
        left, bottom, right, top = 2 * np.array(box) / (width, height, width, height) - 1
        return cls(width / height, (left, bottom, right, top))

    @property
    def slopes(self) -> tuple[Array, Array]:
        """Lowest and highest offset, across and up, that is seen in the box at distance 1."""
        reach = SLOPE * np.array([self.aspect, 1.0])
        return reach * self.box[:2], reach * self.box[2:]


@frozen
class Shot:
    """A camera: it looks at `target` from `distance`, from azimuth and elevation in degrees."""

    azimuth: float
    elevation: float
    target: Array
    distance: float

    @property
    def axes(self) -> Array:
        """Rows: to the right, up, and towards the camera. Azimuth 0 and elevation 90 look down on x and y."""
        azimuth, elevation = np.radians([self.azimuth, self.elevation])
        cosine, sine, high, flat = np.cos(azimuth), np.sin(azimuth), np.sin(elevation), np.cos(elevation)
        return np.array([[cosine, sine, 0], [-sine * high, cosine * high, flat], [sine * flat, -cosine * flat, high]])

    @property
    def position(self) -> Array:
        place: Array = self.target + self.distance * self.axes[2]
        return place

    def pixels(self, points: Array, size: tuple[int, int]) -> Array:
        """Where points (k, 3) are seen, counted from the lower left corner of the picture."""
        across, up, depth = ((points - self.target) @ self.axes.T).T
        scale = size[1] / 2 / SLOPE / (self.distance - depth)
        return np.column_stack([size[0] / 2 + across * scale, size[1] / 2 + up * scale])


def views_of(text: str) -> tuple[View, ...]:
    """`-5,27` is one view; `0,30:90,30:90,80` a move from view to view during the film, each way taking as long."""
    try:
        views = tuple((float(a), float(e)) for a, e in (view.split(",") for view in text.split(":")))
    except ValueError:
        views = ()
    if not views or not np.isfinite(views).all():
        hint = "write azimuth,elevation in degrees, such as -5,27; for a camera move several, such as 0,30:90,30"
        raise OutputError(Fault(f"--view {text} is no direction of view", hint=hint))
    return views


def shots(views: Sequence[View], seen: Array, frame: Frame, count: int) -> list[Shot]:
    """A camera for each of `count` pictures, from which all points `seen` (k, 3) are inside the frame's box."""
    keys = [fitted(view, seen, frame) for view in views]
    if len(keys) == 1:
        return keys * count
    way = [_between(keys, share) for share in np.linspace(0, 1, max(count, 2))[:count]]
    # On the way more distance may be needed than at its ends; one factor for all keeps the move calm.
    factor = max(1.0, *(needed_distance(shot, seen, frame) / shot.distance for shot in way))
    return [replace(shot, distance=factor * shot.distance) for shot in way]


def fitted(view: View, seen: Array, frame: Frame) -> Shot:
    """The nearest camera in this direction that has all of `seen` in the frame's box, centred there."""
    shot = Shot(*view, (seen.min(axis=0) + seen.max(axis=0)) / 2, 1.0)
    low, high = frame.slopes
    for _ in range(FIT_ROUNDS):
        shot = replace(shot, distance=needed_distance(shot, seen, frame))
        offsets = (seen - shot.target) @ shot.axes.T
        slopes = offsets[:, :2] / (shot.distance - offsets[:, 2:])
        shift = (slopes.min(axis=0) + slopes.max(axis=0) - low - high) / 2 * shot.distance
        shot = replace(shot, target=shot.target + shift @ shot.axes[:2])
    return replace(shot, distance=needed_distance(shot, seen, frame))


def needed_distance(shot: Shot, seen: Array, frame: Frame) -> float:
    """How far the camera must be from its target to have all of `seen` in the frame's box."""
    offsets = (seen - shot.target) @ shot.axes.T
    low, high = frame.slopes
    return float(max((offsets[:, :2] / side + offsets[:, 2:]).max() for side in (low, high)))


def _between(keys: Sequence[Shot], share: float) -> Shot:
    """The camera at a share of the whole way, starting and stopping softly at every view."""
    place = share * (len(keys) - 1)
    index = min(int(place), len(keys) - 2)
    soft = (1 - np.cos(np.pi * (place - index))) / 2
    first, second = (np.array([k.azimuth, k.elevation, *k.target, k.distance]) for k in keys[index : index + 2])
    azimuth, elevation, x, y, z, distance = first + soft * (second - first)
    return Shot(float(azimuth), float(elevation), np.array([x, y, z]), float(distance))
