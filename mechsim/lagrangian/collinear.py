"""Three points on one straight line: seed 001 section 6.1 for n = 2."""

from mechsim.lagrangian.kind import Kind


def constraints(x, t, p):
    a_x, a_y, b_x, b_y, c_x, c_y = x
    return [(b_x - a_x) * (c_y - a_y) - (b_y - a_y) * (c_x - a_x)]


kind = Kind(
    name="collinear",
    variables=("a_x", "a_y", "b_x", "b_y", "c_x", "c_y"),
    constraints=constraints,
    constraint_count=1,
)
