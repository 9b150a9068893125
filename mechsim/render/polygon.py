"""Closed outlines in the plane: drawn inwards, cut into triangles. NumPy alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mechsim.result.layout import Array

Faces = NDArray[np.int64]

MITRE_LIMIT = 3.0  # a sharp corner is drawn in at most so many widths
STRAIGHT = 1e-12  # twice a triangle's area, as a share of the outline's size squared, below which it is no ear
SAME_POINT = 1e-9  # distance, as a share of the outline's size, below which two corners are one


def counter_clockwise(outline: Array) -> Array:
    """The outline without repeated corners, turning left."""
    outline = np.asarray(outline, float)
    step = np.linalg.norm(outline - np.roll(outline, 1, axis=0), axis=1)
    outline = outline[step > SAME_POINT * np.ptp(outline, axis=0).max()]
    twice_area = cross(outline, np.roll(outline, -1, axis=0)).sum()
    return outline if twice_area > 0 else outline[::-1]


def inset(outline: Array, distance: float) -> Array:
    """A counter-clockwise outline drawn inwards by `distance`, corner by corner (outwards if negative)."""
    both = _directions(outline) + np.roll(_directions(outline), -1, axis=0)
    inward = np.column_stack([-both[:, 1], both[:, 0]])
    # |both| / 2 is the cosine of half of the turn, and the mitre is one over it.
    squared = np.maximum(np.einsum("ij,ij->i", inward, inward), (2 / MITRE_LIMIT) ** 2)
    drawn: Array = outline + distance * 2 * inward / squared[:, None]
    return drawn


def outward(outline: Array) -> Array:
    """Unit vectors that point out of a counter-clockwise outline at its corners."""
    away = outline - inset(outline, 1.0)
    unit: Array = away / np.linalg.norm(away, axis=1, keepdims=True)
    return unit


def width_that_fits(outline: Array, width: float) -> float:
    """The width, halved until no edge turns round when the outline is drawn in by it; 0 if none will do."""
    for _ in range(8):
        drawn = inset(outline, width)
        steps = drawn - np.roll(drawn, 1, axis=0)
        if np.all(np.einsum("ij,ij->i", steps, _directions(outline)) > 0):
            return width
        width /= 2
    return 0.0


def triangles_of(outline: Array, order: Sequence[int] | None = None) -> Faces:
    """The inside of a counter-clockwise simple outline of k corners as k - 2 triangles, by cutting off ears.

    `order` is the way round if it is not that of the corners: with holes it goes over bridges, and a corner may come
    twice.
    """
    left = list(range(len(outline)) if order is None else order)
    least = STRAIGHT * float(np.ptp(outline, axis=0).max()) ** 2
    triangles: list[tuple[int, int, int]] = []
    place = misses = 0
    while len(left) > 3:
        corner = (left[place - 1], left[place], left[(place + 1) % len(left)])
        # After a whole round without an ear only flat or touching corners are left: cut them as they come.
        if misses > len(left) or _is_ear(outline, corner, left, least):
            triangles.append(corner)
            del left[place]
            misses = 0
        else:
            misses += 1
        # Going on, instead of cutting at the same corner again, keeps the triangles from becoming one thin fan.
        place = (place + 1) % len(left)
    return np.array([*triangles, tuple(left)])


def cross(a: Array, b: Array) -> Array:
    """The third component of the cross product of vectors in the plane."""
    product: Array = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return product


def circle(radius: float, sides: int = 28) -> Array:
    angle = 2 * np.pi * np.arange(sides) / sides
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def rounded_square(half_side: float, radius: float, per_corner: int = 6) -> Array:
    """A square about the origin with round corners, counter-clockwise."""
    angle = np.linspace(0, np.pi / 2, per_corner)
    arc = half_side - radius + radius * np.column_stack([np.cos(angle), np.sin(angle)])
    quarter = np.array([[0, 1], [-1, 0]])
    return np.vstack([arc @ np.linalg.matrix_power(quarter, turn) for turn in range(4)])


def _is_ear(outline: Array, corner: tuple[int, int, int], left: Sequence[int], least: float) -> bool:
    """Whether the triangle at this corner lies inside the polygon: it turns left and no other corner is in it."""
    first, middle, last = outline[list(corner)]
    if cross(middle - first, last - middle) <= least:
        return False
    others = outline[[index for index in left if index not in corner]]
    inside = (
        (cross(middle - first, others - first) >= 0)
        & (cross(last - middle, others - middle) >= 0)
        & (cross(first - last, others - last) >= 0)
    )
    return not inside.any()


def _directions(outline: Array) -> Array:
    """Unit vectors along the edges that come into each corner."""
    steps = outline - np.roll(outline, 1, axis=0)
    unit: Array = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    return unit
