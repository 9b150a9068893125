"""A part's direction as a turn angle: b - a = length exp(i theta), seed 001 section 4.3, item 2."""

from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.smooth import cos, sin
from mechsim.lagrangian.vector import Vector


def constraints(x, t, p):
    a, b, theta = x
    return [b - a - p.length * Vector((cos(theta), sin(theta)))]


kind = Kind(
    name="turned_length",
    points=("a", "b"),
    variables=("theta",),
    parameters=("length",),
    planar=True,
    constraints=constraints,
    constraint_vectors=1,
)
