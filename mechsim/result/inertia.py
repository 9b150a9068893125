"""What the motion of a part demands of the forces on it, by Newton and Euler.

Of a part that stands at a + sum_i x_i b_i, b_i vectors that turn with it:

    the sum of all forces               m (c'' - g)             c the centroid
    the sum of all moments about c      sum_ij S_ij b_i x b_j''   S_ij the integral of x_i x_j over the mass, about c

In the plane and of a rod there is one vector, d = b - a (in the plane with complex shares); of a body in space there
are d, e = c - a and d x e.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mechsim.frozen import frozen
from mechsim.lagrangian.vector import labels
from mechsim.model.axis import moments
from mechsim.model.mechanism import Mechanism, Part
from mechsim.result.contacts import position, turned_left
from mechsim.result.layout import Array

Parameters = Mapping[str, float]
MASSIVE = ("planar_body", "spatial_body", "rod", "particle", "spring")  # kinds that have a mass


@frozen
class Inertia:
    """Of one part: `shares` of the centroid, and second moments, for each of its vectors; `across` is the share of d
    turned to the left, which only the plane has."""

    mechanism: Mechanism
    points: tuple[str, ...]
    mass: float
    gravity: tuple[float, ...]
    shares: tuple[float, ...]
    second: Array
    across: float = 0.0

    def demand(self, q: Array, v: Array, accelerations: Array) -> tuple[Array, Array, Array]:
        """The centroid, the force and the moment about it."""
        places = [position(point, self.mechanism, q) for point in self.points]
        rates, bends = ([self._rate(point, values) for point in self.points] for values in (v, accelerations))
        vectors, bending = self._vectors(places, rates, bends)
        force = self.mass * (self._centroid(bends[0], bending) - np.array(self.gravity))
        moment = moments(places[0], np.zeros_like(places[0]))
        for row, one in zip(self.second, vectors, strict=True):
            for share, other in zip(row, bending, strict=True):
                if share:
                    moment = moment + share * moments(one, other)
        return self._centroid(places[0], vectors), force, moment

    def _vectors(
        self, places: Sequence[Array], rates: Sequence[Array], bends: Sequence[Array]
    ) -> tuple[list[Array], list[Array]]:
        """The vectors that turn with the part, and their second derivatives."""
        d, e = places[1] - places[0], places[-1] - places[0]
        bent = [bends[1] - bends[0], bends[-1] - bends[0]]
        if len(self.shares) == 1:
            return [d], bent[:1]
        turned = [rates[1] - rates[0], rates[-1] - rates[0]]
        normal = np.cross(bent[0], e) + 2 * np.cross(turned[0], turned[1]) + np.cross(d, bent[1])
        return [d, e, np.cross(d, e)], [*bent, normal]

    def _centroid(self, start: Array, vectors: Sequence[Array]) -> Array:
        total = start
        for share, each in zip(self.shares, vectors, strict=True):
            total = total + share * each
        return total + self.across * turned_left(vectors[0]) if self.across else total

    def _rate(self, point: str, values: Array) -> Array:
        slots, at_rest = self.mechanism.points[point], np.zeros(values.shape[:-1])
        return np.stack([values[..., slot] if slot >= 0 else at_rest for slot in slots], axis=-1)


def inertia_of(part: Part, kinds: Mapping[str, Parameters], mechanism: Mechanism) -> Inertia:
    """From the parameters of the part's own element that has mass, if it has one."""
    kind = next((name for name in MASSIVE if name in kinds), "")
    values = kinds.get(kind, {})
    gravity = tuple(values.get(label, 0.0) for label in labels("g", mechanism.dimension))
    mass, points = values.get("mass", 0.0), (*part.points, part.points[0])[:2]
    if kind == "spatial_body":
        return Inertia(mechanism, part.points[:3], mass, gravity, *_spatial(part, values))
    spins = {"planar_body": values.get("spin", 0.0), "rod": values.get("spin", 0.0), "spring": mass / 12}
    share = values.get("xi_x", values.get("xi", 0.5))
    second = np.array([[spins.get(kind, 0.0)]])
    return Inertia(mechanism, points, mass, gravity, (share,), second, values.get("xi_y", 0.0))


def _spatial(part: Part, values: Parameters) -> tuple[tuple[float, ...], Array]:
    """Shares and second moments about the centroid. Parameters have them about a, and what is above the plane of d and
    e is added to both axes in it there (model/inertia.py)."""
    mass, shares = values["mass"], np.array([values["xi"], values["eta"], values["zeta"]])
    (length, _, _), (x, y, _) = part.geometry[1:3]
    above = values["twist"] * np.array([[x**2 + y**2, -length * x], [-length * x, length**2]])
    second = np.array(
        [
            [values["bb"], values["bc"], values["dn"]],
            [values["bc"], values["cc"], values["en"]],
            [values["dn"], values["en"], values["twist"]],
        ]
    )
    second[:2, :2] -= above
    return tuple(shares), second - mass * np.outer(shares, shares)
