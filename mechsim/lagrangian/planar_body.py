"""Inertia and weight of a planar rigid body on two reference points a, b.

Seed 001 Theorem 3.2 (ii): with the centroid at a + xi (b - a) in complex numbers, the mass matrix is constant.
"""

from mechsim.lagrangian.kind import Kind


def _centroid(a_x, a_y, b_x, b_y, p):  # eq (3.18)
    c_x, c_y = b_x - a_x, b_y - a_y
    return a_x + p.xi_x * c_x - p.xi_y * c_y, a_y + p.xi_y * c_x + p.xi_x * c_y


def kinetic(x, v, t, p):
    a_x, a_y, b_x, b_y = v
    # |(1 - xi) a' + xi b'|^2 of (3.19) multiplied out, so that a_x' a_y' and b_x' b_y', which cancel, never occur.
    square = p.xi_x**2 + p.xi_y**2
    speed = (
        (1 - 2 * p.xi_x + square) * (a_x**2 + a_y**2)
        + square * (b_x**2 + b_y**2)
        + 2 * (p.xi_x - square) * (a_x * b_x + a_y * b_y)
        + 2 * p.xi_y * (a_y * b_x - a_x * b_y)
    )
    return p.mass / 2 * speed + p.spin / 2 * ((b_x - a_x) ** 2 + (b_y - a_y) ** 2)


def potential(x, t, p):
    c_x, c_y = _centroid(*x, p)
    return -p.mass * (p.g_x * c_x + p.g_y * c_y)


kind = Kind(
    name="planar_body",
    variables=("a_x", "a_y", "b_x", "b_y"),
    parameters=("mass", "spin", "xi_x", "xi_y", "g_x", "g_y"),
    kinetic=kinetic,
    potential=potential,
)
