"""A spring that may have mass: a stretchable uniform rod, seed 001 (4.2) and Corollary 3.3."""

from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.smooth import sqrt


def kinetic(x, v, t, p):
    a_x, a_y, b_x, b_y = v
    return p.mass / 6 * (a_x**2 + a_y**2 + a_x * b_x + a_y * b_y + b_x**2 + b_y**2)


def potential(x, t, p):
    a_x, a_y, b_x, b_y = x
    stretch = sqrt((b_x - a_x) ** 2 + (b_y - a_y) ** 2) - p.length
    weight = -p.mass / 2 * (p.g_x * (a_x + b_x) + p.g_y * (a_y + b_y))
    return p.stiffness / 2 * stretch**2 + weight


kind = Kind(
    name="spring",
    variables=("a_x", "a_y", "b_x", "b_y"),
    parameters=("stiffness", "length", "mass", "g_x", "g_y"),
    kinetic=kinetic,
    potential=potential,
)
