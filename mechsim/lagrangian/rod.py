"""Inertia and weight of a thin rod on two points a, b of its line, in any dimension; its turning about itself does not
count. The centroid is at a + xi (b - a), and `spin` is its moment of inertia over the square of |b - a|."""

from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.vector import dot, square


def kinetic(x, v, t, p):
    a, b = v
    # (3.21) multiplied out, so that what cancels never occurs.
    first, second = p.mass * (1 - p.xi) ** 2 + p.spin, p.mass * p.xi**2 + p.spin
    return first / 2 * square(a) + second / 2 * square(b) + (p.mass * p.xi * (1 - p.xi) - p.spin) * dot(a, b)


def potential(x, t, p):
    a, b = x
    return -p.mass * dot(p.g, a + (b - a) * p.xi)


kind = Kind(
    name="rod",
    points=("a", "b"),
    parameters=("mass", "spin", "xi"),
    vectors=("g",),
    kinetic=kinetic,
    potential=potential,
)
