"""A part's direction as a turn angle: b - a = length exp(i theta), seed 001 section 4.3, item 2."""

from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.smooth import cos, sin


def constraints(x, t, p):
    a_x, a_y, b_x, b_y, theta = x
    return [b_x - a_x - p.length * cos(theta), b_y - a_y - p.length * sin(theta)]


kind = Kind(
    name="turned_length",
    variables=("a_x", "a_y", "b_x", "b_y", "theta"),
    parameters=("length",),
    constraints=constraints,
    constraint_count=2,
)
