"""Places as vectors of numbers: where spheres and lines meet, and how a part is turned to point somewhere.

In the plane spheres are circles, and a turn is a complex number: what a vector has at its left is only known there. In
space the plane of a vector and of `down` takes its place.
"""

from __future__ import annotations

from cmath import phase, rect
from functools import reduce
from math import pi
from operator import add

from mechsim.lagrangian.vector import PLANE, Vector, cross, dot, left, turned, vector, vector_product
from mechsim.spec.living import Living, aware, hypot, plain

atan2, cos, sin = aware("atan2"), aware("cos"), aware("sin")  # places may follow from the parameters of a file

Place = Vector[float]
Frame = tuple[Place, ...]  # where the axes of a part point

ON_LINE = 1e-6  # sine of an angle that tells no plane
ASIDE = 0.35  # of a radius: where figures do not meet, points a little off their line still have two sides


def norm(a: Place) -> float:
    return hypot(*a)


def unit(a: Place) -> Place:
    return a / norm(a)


def axis(number: int, dimension: int) -> Place:
    return vector(float(each == number) for each in range(dimension))


def beside(along: Place, down: Place) -> Place:
    """A unit vector across another one: to its left in the plane; in space as far down as can be."""
    if len(along) == PLANE:
        return left(along)
    for other in (down, *(axis(number, len(along)) for number in range(len(along)))):
        across = other - along * dot(along, other)
        if norm(across) > ASIDE:
            return unit(across)
    raise ValueError("a vector of one dimension has nothing beside it")


def upright_frame(down: Place) -> Frame:
    """Directions across each other, down the first."""
    found = [down]
    for other in (beside(down, down), *(axis(number, len(down)) for number in range(len(down)))):
        rest = other
        for direction in found:
            rest = rest - direction * dot(direction, rest)
        if norm(rest) > ASIDE and len(found) < len(down):
            found.append(unit(rest))
    return tuple(found)


def spheres_meet(
    centre: Place, radius: float, other_centre: Place, other_radius: float, down: Place
) -> tuple[Place, Place]:
    """Where two spheres meet, on either side of their line; if they do not, the points of the first nearest to that, a
    little off the line."""
    apart = other_centre - centre
    distance = norm(apart)
    along = (distance**2 + radius**2 - other_radius**2) / (2 * distance)
    along = max(-radius, min(radius, along))
    across = max(radius**2 - along**2, (ASIDE * radius) ** 2 / 10) ** 0.5
    line = apart / distance
    side = beside(line, down)
    return centre + (line * along + side * across), centre + (line * along - side * across)


def line_meets_sphere(start: Place, direction: Place, centre: Place, radius: float) -> tuple[Place, Place]:
    """Where a line meets a sphere, farther along the line first; if it does not, its points nearest to that."""
    line, arm = unit(direction), centre - start
    way = dot(arm, line)
    offset = norm(arm - line * way)
    along = max(radius**2 - offset**2, (ASIDE * radius) ** 2 / 10) ** 0.5
    return start + line * (way + along), start + line * (way - along)


def moved(frame: Frame, local: Place) -> Place:
    """A vector of a part in the world, its axes pointing as the frame says."""
    total = frame[0] * local[0]
    for direction, component in zip(frame[1:], list(local)[1:], strict=True):
        total = total + direction * component
    return total


def frame_towards(arm: Place, direction: Place) -> Frame:
    """The frame of a part that is turned, on the shortest way, until its `arm` points in a direction."""
    dimension = len(arm)
    if dimension == PLANE and any(isinstance(each, Living) for each in (*arm, *direction)):
        turn = Vector((dot(arm, direction), cross(arm, direction)))
        return frame_along(unit(turn) if any(turn) else axis(0, PLANE))
    if dimension == PLANE:
        quotient = rect(1.0, phase(complex(*direction) / complex(*arm)))
        return frame_along(Vector((quotient.real, quotient.imag)))
    before, after = unit(arm), unit(direction)
    return tuple(_swung(axis(number, dimension), before, after) for number in range(dimension))


def _swung(a: Place, before: Place, after: Place) -> Place:
    """A vector taken along when a unit vector swings to another."""
    middle, cosine = before + after, dot(before, after)
    if cosine < -1 + 1e-12:  # half a turn, about any axis across
        side = beside(before, axis(0, len(a)))
        return a - before * (2 * dot(before, a)) - side * (2 * dot(side, a))
    return a - middle * (dot(middle, a) / (1 + cosine)) + after * (2 * dot(before, a))


# --- space


def collinear(a: Place, b: Place, c: Place) -> bool:
    """Whether three places are on one line, or so nearly that they tell no plane."""
    first, second = b - a, c - a
    return plain(norm(vector_product(first, second))) <= ON_LINE * plain(norm(first)) * plain(norm(second))


def triad(origin: Place, along: Place, beside: Place) -> Frame:
    """Unit vectors across each other: from the origin towards a point, towards the side of another, and across both."""
    first = unit(along - origin)
    arm = beside - origin
    second = unit(arm - first * dot(first, arm))
    return first, second, vector_product(first, second)


def frame_between(local: Frame, world: Frame) -> Frame:
    """The frame of a part that has turned its directions `local` to where `world` says."""
    columns = zip(*local, strict=True)
    return tuple(reduce(add, (there * share for there, share in zip(world, each, strict=True))) for each in columns)


def turned_about(axis: Place, direction: Place, angle: float) -> Place:
    """A vector across a unit vector, turned about it."""
    return direction * cos(angle) + vector_product(axis, direction) * sin(angle)


# --- the plane: an angle about its normal tells a direction


def frame_along(direction: Place) -> Frame:
    """The frame of a planar part whose x axis has this direction."""
    return direction, left(direction)


def direction_at(angle: float) -> Place:
    return Vector((cos(angle), sin(angle)))


def turn_angle(direction: Place) -> float:
    """In (-pi, pi]."""
    x, y = direction
    angle = atan2(y, x)
    return pi if angle == -pi else angle


def swung(direction: Place, angle: float) -> Place:
    return turned(direction, direction_at(angle))
