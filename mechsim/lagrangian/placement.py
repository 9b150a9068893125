"""A useful point in its place on a planar body: a A + b B + c P = 0 in complex numbers, seed 001 (3.22)."""

from mechsim.lagrangian.kind import Kind


def constraints(x, t, p):
    a_x, a_y, b_x, b_y, p_x, p_y = x
    return [
        p.a_x * a_x - p.a_y * a_y + p.b_x * b_x - p.b_y * b_y + p.c_x * p_x - p.c_y * p_y,
        p.a_x * a_y + p.a_y * a_x + p.b_x * b_y + p.b_y * b_x + p.c_x * p_y + p.c_y * p_x,
    ]


kind = Kind(
    name="placement",
    variables=("a_x", "a_y", "b_x", "b_y", "p_x", "p_y"),
    parameters=("a_x", "a_y", "b_x", "b_y", "c_x", "c_y"),
    constraints=constraints,
    constraint_count=2,
)
