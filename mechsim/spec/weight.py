"""What bodies weigh: mass, centre and inertia of simple shapes, turned, moved, added and taken away.

All of it is plain arithmetic, so that numbers which follow from parameters keep their formulas (see living.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from mechsim.frozen import frozen
from mechsim.spec.living import aware, hypot

Place = tuple[float, ...]  # three coordinates
Axes = tuple[Place, Place, Place]  # the directions of a frame's own x, y and z axes
Moments = tuple[float, ...]  # xx, yy, zz, xy, xz, yz of a symmetric matrix

ORIGIN: Place = (0.0, 0.0, 0.0)
UPRIGHT: Axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_sin, _cos = aware("sin"), aware("cos")


@frozen
class Weight:
    """Mass, centre of mass, and the inertia matrix about it (xy is -int x y dm) in the axes of its frame."""

    mass: float
    centre: Place
    inertia: Moments

    def placed(self, at: Place, axes: Axes) -> Weight:
        """The same body seen from a frame in which its own has the origin `at` and these axes."""
        return Weight(self.mass, placed(self.centre, at, axes), turned(self.inertia, axes))

    def times(self, factor: float) -> Weight:
        """A body of another density; a negative one is taken away where bodies are added."""
        return Weight(self.mass * factor, self.centre, tuple(factor * moment for moment in self.inertia))


def together(bodies: Sequence[Weight]) -> Weight:
    """Several bodies as one, by the parallel-axis theorem."""
    if len(bodies) == 1:
        return bodies[0]
    mass = total(body.mass for body in bodies)
    if mass == 0:
        return Weight(mass, bodies[0].centre, tuple(map(total, zip(*(body.inertia for body in bodies), strict=True))))
    centre = tuple(total(body.mass * body.centre[axis] for body in bodies) / mass for axis in range(3))
    shifted = [
        [a + b for a, b in zip(body.inertia, _of_point(body.mass, minus(body.centre, centre)), strict=True)]
        for body in bodies
    ]
    return Weight(mass, centre, tuple(map(total, zip(*shifted, strict=True))))


def _of_point(mass: float, place: Place) -> Moments:
    x, y, z = place
    squares = (mass * (y * y + z * z), mass * (x * x + z * z), mass * (x * x + y * y))
    return (*squares, -mass * x * y, -mass * x * z, -mass * y * z)


# --- vectors and frames


def total(numbers: Iterable[float]) -> float:
    """The sum; zeros that stand there by themselves leave no trace in a formula."""
    result = 0.0
    for number in numbers:
        result = number if _is_nothing(result) else result if _is_nothing(number) else result + number
    return result


def dot(a: Iterable[float], b: Iterable[float]) -> float:
    return total(0.0 if _is_nothing(x) or _is_nothing(y) else x * y for x, y in zip(a, b, strict=True))


def _is_nothing(number: float) -> bool:
    return type(number) is float and number == 0.0  # a Living zero may become something


def minus(a: Place, b: Place) -> Place:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def placed(place: Place, at: Place, axes: Axes) -> Place:
    """A place of a frame with this origin and these axes, seen from outside."""
    return tuple(total((start, dot(place, column))) for start, column in zip(at, zip(*axes, strict=True), strict=True))


def seen_from(place: Place, at: Place, axes: Axes) -> Place:
    """The other way round: the coordinates which a place has in such a frame."""
    away = minus(place, at)
    return tuple(dot(away, axis) for axis in axes)


def joined(inner: Axes, outer: Axes) -> Axes:
    """Axes that are known in a frame, seen from outside of it."""
    x, y, z = (placed(axis, ORIGIN, outer) for axis in inner)
    return x, y, z


def turned(moments: Moments, axes: Axes) -> Moments:
    """R M R^T, where the axes are the columns of R."""
    xx, yy, zz, xy, xz, yz = moments
    matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    columns = tuple(zip(*axes, strict=True))
    half = [[dot(row, column) for row in matrix] for column in columns]
    return tuple(dot(half[i], columns[j]) for i, j in PLACES)


def axes_along(direction: Place) -> Axes:
    """Axes with z in this direction, which is no null vector (Duff et al. 2017, JCGT 6, 1)."""
    length = hypot(*direction)
    x, y, z = (each / length for each in direction)
    sign = -1.0 if z < 0 else 1.0
    a = -1 / (sign + z)
    b = x * y * a
    return (1 + sign * x * x * a, sign * b, -sign * x), (b, sign + y * y * a, -y), (x, y, z)


def axes_turned(sequence: str, angles: Sequence[float]) -> Axes:
    """Axes turned about x, y and z as the sequence says, each time about the axis as it then stands."""
    axes = UPRIGHT
    for letter, angle in zip(sequence, angles, strict=True):
        first, second = ((1, 2), (2, 0), (0, 1))["xyz".index(letter)]
        turn: list[Place] = list(UPRIGHT)
        for number, other, sign in ((first, second, 1.0), (second, first, -1.0)):
            axis = [0.0, 0.0, 0.0]
            axis[number], axis[other] = _cos(angle), sign * _sin(angle)
            turn[number] = tuple(axis)
        axes = joined((turn[0], turn[1], turn[2]), axes)
    return axes


# --- shapes of the density one, about their own centre: seed 001 has no such table, any book of mechanics has


def box(x: float, y: float, z: float, amount: float) -> Weight:
    xx, yy, zz = (x * x / 12, y * y / 12, z * z / 12)
    return Weight(amount, ORIGIN, (amount * (yy + zz), amount * (xx + zz), amount * (xx + yy), 0.0, 0.0, 0.0))


def round_body(amount: float, across: float, about: float) -> Weight:
    """Of moments per mass: across its axis, which is z, and about it."""
    return Weight(amount, ORIGIN, (amount * across, amount * across, amount * about, 0.0, 0.0, 0.0))


def cylinder(radius: float, length: float, amount: float) -> Weight:
    return round_body(amount, radius * radius / 4 + length * length / 12, radius * radius / 2)


def sphere(radius: float) -> Weight:
    amount = 4 * math.pi / 3 * radius * radius * radius
    return round_body(amount, 2 * radius * radius / 5, 2 * radius * radius / 5)


def ring(radius: float, tube: float) -> Weight:
    """A torus: `radius` to the middle of its tube."""
    amount = 2 * math.pi * math.pi * radius * tube * tube
    return round_body(amount, radius * radius / 2 + 5 * tube * tube / 8, radius * radius + 3 * tube * tube / 4)


def rod(length: float) -> Weight:
    """Thin, so that its density is one per length."""
    return round_body(length, length * length / 12, 0.0)


def cone(radius: float, height: float) -> Weight:
    """Its tip is at z = 3/4 of the height."""
    amount = math.pi / 3 * radius * radius * height
    return round_body(amount, 3 * radius * radius / 20 + 3 * height * height / 80, 3 * radius * radius / 10)


def prism(area: float, spread: Moments, thickness: float, amount: float) -> Weight:
    """Of a polygon with this area and these integrals x x, y y and x y about its centroid."""
    xx, yy, xy = (moment / area for moment in spread)
    zz = thickness * thickness / 12
    return Weight(amount, ORIGIN, (amount * (yy + zz), amount * (xx + zz), amount * (xx + yy), -amount * xy, 0.0, 0.0))
