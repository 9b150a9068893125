"""Inertia and weight of a planar rigid body on two reference points a, b.

Seed 001 Theorem 3.2 (ii): with the centroid at a + xi (b - a) in complex numbers, the mass matrix is constant.
"""

from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.vector import cross, dot, square, turned


def centroid(a, b, xi):
    """Where it is, eq (3.18)."""
    return a + turned(b - a, xi)


def kinetic(x, v, t, p):
    a, b = v
    # |(1 - xi) a' + xi b'|^2 of (3.19) multiplied out, so that a_x' a_y' and b_x' b_y', which cancel, never occur.
    along, across = p.xi
    ratio = along**2 + across**2
    speed = (
        (1 - 2 * along + ratio) * square(a)
        + ratio * square(b)
        + 2 * (along - ratio) * dot(a, b)
        + 2 * across * cross(b, a)
    )
    return p.mass / 2 * speed + p.spin / 2 * square(b - a)


def potential(x, t, p):
    a, b = x
    return -p.mass * dot(p.g, centroid(a, b, p.xi))


kind = Kind(
    name="planar_body",
    points=("a", "b"),
    parameters=("mass", "spin"),
    vectors=("xi", "g"),
    planar=True,
    kinetic=kinetic,
    potential=potential,
)
