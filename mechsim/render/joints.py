"""Joints in space as parts tell them: what two parts share is a point (a ball), a line (a hinge), or more (a weld)."""

from __future__ import annotations

from itertools import combinations
from typing import Literal

import numpy as np

from mechsim.frozen import frozen
from mechsim.render.scene import Scene
from mechsim.result.layout import Array

GROUND = ""  # instead of a part's name
ONE_PLACE = 1e-9  # of a part's size: points nearer than this say nothing of a direction


@frozen
class Joint:
    """`points` are one of a ball, the two farthest of a hinge."""

    kind: Literal["ball", "hinge"]
    points: tuple[str, ...]
    parts: tuple[str, str]


def joints_of(scene: Scene) -> list[Joint]:
    """Between each two parts, and parts and the ground, in the order of the file."""
    owners: dict[str, list[str]] = {name: [GROUND] for name in scene.ground}
    for body in scene.parts:
        for point in body.points:
            owners.setdefault(point, []).append(body.name)
    shared: dict[tuple[str, str], list[str]] = {}
    for point, names in owners.items():
        for one, other in combinations(names, 2):
            shared.setdefault((one, other), []).append(point)
    bodies = {body.name: body for body in scene.parts}
    found = []
    for parts, points in shared.items():
        body = bodies[parts[1]]  # the ground comes first
        joint = _joint(points, body.local[[body.points.index(point) for point in points]], parts)
        found += [joint] if joint else []
    return found


def _joint(points: list[str], places: Array, parts: tuple[str, str]) -> Joint | None:
    ways = places - places[0]
    size = float(np.abs(ways).max())
    if size == 0.0:
        return Joint("ball", (points[0],), parts)
    spread = np.linalg.svd(ways - ways.mean(axis=0), compute_uv=False)
    if len(spread) > 1 and spread[1] > ONE_PLACE * spread[0]:
        return None  # three points that are not on one line hold everything
    along = ways @ ways[int(np.argmax((ways**2).sum(axis=1)))]
    return Joint("hinge", (points[int(np.argmin(along))], points[int(np.argmax(along))]), parts)
