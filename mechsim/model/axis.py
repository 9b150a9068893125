"""The axis that an angle turns about, and moments about it.

A turn carries one direction of the world towards another: x towards y is a turn about z, the normal of the plane. The
plane has this one turn, space has those about x and y too; an axis says how much of each an angle is.
"""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen

Array = NDArray[np.float64]

TURNS = ((1, 2), (2, 0), (0, 1))  # about x, y and z: the first direction is carried towards the second


@frozen
class Axis:
    """`direction` is a unit vector; of what moves in the plane only its turns in the plane count."""

    direction: tuple[float, float, float]

    def components(self, dimension: int) -> Array:
        """How much of each turn there is in so many dimensions it has, (turns,)."""
        return np.array([share for share, (a, b) in self._shares if max(a, b) < dimension])

    def moment(self, arm: Array, force: Array) -> Array:
        """Of a force about this axis, (...); `arm` leads to where it acts from any point of the axis."""
        return np.asarray((moments(arm, force) * self.components(arm.shape[-1])).sum(axis=-1))

    def across(self, vector: Array) -> Array:
        """The velocity of the end of a vector that turns about this axis at one radian per second."""
        dimension = vector.shape[-1]
        terms: list[list[Array]] = [[] for _ in range(dimension)]
        for share, (a, b) in self._shares:
            if share and max(a, b) < dimension:
                terms[b].append(share * vector[..., a])
                terms[a].append(-share * vector[..., b])
        nothing = np.zeros(vector.shape[:-1])
        return np.stack([reduce(add, each) if each else nothing for each in terms], axis=-1)

    @property
    def _shares(self) -> list[tuple[float, tuple[int, int]]]:
        return list(zip(self.direction, TURNS, strict=True))


NORMAL = Axis((0.0, 0.0, 1.0))  # of the plane: all that moves in it turns about this


def moments(arm: Array, force: Array) -> Array:
    """The moment of a force for each turn there is: (..., 1) in the plane, (..., 3) in space."""
    pairs = [(a, b) for a, b in TURNS if max(a, b) < arm.shape[-1]]
    found = [arm[..., a] * force[..., b] - arm[..., b] * force[..., a] for a, b in pairs]
    return np.stack(found, axis=-1) if found else np.zeros((*arm.shape[:-1], 0))  # on a line nothing turns
