"""A point mass with its weight."""

from mechsim.lagrangian.kind import Kind


def kinetic(x, v, t, p):
    return p.mass / 2 * (v[0] ** 2 + v[1] ** 2)


def potential(x, t, p):
    return -p.mass * (p.g_x * x[0] + p.g_y * x[1])


kind = Kind(
    name="particle", variables=("x", "y"), parameters=("mass", "g_x", "g_y"), kinetic=kinetic, potential=potential
)
