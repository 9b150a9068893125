"""Three points on one straight line: seed 001 section 6.1 for n = 2."""

from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.vector import cross


def constraints(x, t, p):
    a, b, c = x
    return [cross(b - a, c - a)]


kind = Kind(name="collinear", points=("a", "b", "c"), planar=True, constraints=constraints, constraint_count=1)
