"""A useful point on the line of a rod: p = a + share (b - a)."""

from mechsim.lagrangian.kind import Kind


def constraints(x, t, p):
    a, b, point = x
    return [point - a - (b - a) * p.share]


kind = Kind(name="on_rod", points=("a", "b", "p"), parameters=("share",), constraints=constraints, constraint_vectors=1)
