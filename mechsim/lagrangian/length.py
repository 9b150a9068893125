"""Two points a constant distance apart: the constraint l_OA of seed 001 (4.4)."""

from mechsim.lagrangian.kind import Kind


def constraints(x, t, p):
    a_x, a_y, b_x, b_y = x
    return [(b_x - a_x) ** 2 + (b_y - a_y) ** 2 - p.length**2]


kind = Kind(
    name="length",
    variables=("a_x", "a_y", "b_x", "b_y"),
    parameters=("length",),
    constraints=constraints,
    constraint_count=1,
)
