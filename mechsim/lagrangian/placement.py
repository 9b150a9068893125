"""A useful point in its place on a planar body: a A + b B + c P = 0 in complex numbers, seed 001 (3.22)."""

from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.vector import turned


def constraints(x, t, p):
    a, b, point = x
    return [turned(p.a, a) + turned(p.b, b) + turned(p.c, point)]


kind = Kind(
    name="placement",
    points=("a", "b", "p"),
    vectors=("a", "b", "c"),
    planar=True,
    constraints=constraints,
    constraint_vectors=1,
)
