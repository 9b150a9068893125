"""A force at a point, constant in the world frame: V = -f . p."""

from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.vector import dot


def potential(x, t, p):
    (place,) = x
    return -dot(p.f, place)


kind = Kind(name="force", points=("p",), vectors=("f",), potential=potential)
