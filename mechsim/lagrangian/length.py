"""Two points a constant distance apart: the constraint l_OA of seed 001 (4.4)."""

from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.vector import square


def constraints(x, t, p):
    a, b = x
    return [square(b - a) - p.length**2]


kind = Kind(
    name="length",
    points=("a", "b"),
    parameters=("length",),
    constraints=constraints,
    constraint_count=1,
)
