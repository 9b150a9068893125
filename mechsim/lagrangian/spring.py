"""A spring that may have mass: a stretchable uniform rod, seed 001 (4.2) and Corollary 3.3."""

from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.smooth import sqrt
from mechsim.lagrangian.vector import dot, square


def kinetic(x, v, t, p):
    a, b = v
    return p.mass / 6 * (square(a) + dot(a, b) + square(b))


def potential(x, t, p):
    a, b = x
    stretch = sqrt(square(b - a)) - p.length
    weight = -p.mass / 2 * dot(p.g, a + b)
    return p.stiffness / 2 * stretch**2 + weight


kind = Kind(
    name="spring",
    points=("a", "b"),
    parameters=("stiffness", "length", "mass"),
    vectors=("g",),
    kinetic=kinetic,
    potential=potential,
)
