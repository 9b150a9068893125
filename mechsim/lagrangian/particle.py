"""A point mass with its weight."""

from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.vector import dot, square


def kinetic(x, v, t, p):
    (velocity,) = v
    return p.mass / 2 * square(velocity)


def potential(x, t, p):
    (place,) = x
    return -p.mass * dot(p.g, place)


kind = Kind(name="particle", points=("a",), parameters=("mass",), vectors=("g",), kinetic=kinetic, potential=potential)
