"""Inertia and weight of a planar rigid body on two reference points a, b.

Seed 001 Theorem 3.2 (ii): with the centroid at a + xi (b - a) in complex numbers, the mass matrix is constant.
"""

from mechsim.lagrangian.kind import Kind


def _centroid(a_x, a_y, b_x, b_y, p):  # eq (3.18) for positions, (3.19) for velocities: the same linear map
    c_x, c_y = b_x - a_x, b_y - a_y
    return a_x + p.xi_x * c_x - p.xi_y * c_y, a_y + p.xi_y * c_x + p.xi_x * c_y


def kinetic(x, v, t, p):
    speed_x, speed_y = _centroid(*v, p)
    turn_x, turn_y = v[2] - v[0], v[3] - v[1]
    return p.mass / 2 * (speed_x**2 + speed_y**2) + p.spin / 2 * (turn_x**2 + turn_y**2)


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
