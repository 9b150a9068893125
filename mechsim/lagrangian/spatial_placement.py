"""A useful point in its place on a rigid body in space: p = a + xi d + eta e + zeta d x e, seed 001 (3.11)."""

from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.vector import vector_product


def placed(a, b, c, p):
    """Where it stands."""
    d, e = b - a, c - a
    return a + d * p.xi + e * p.eta + vector_product(d, e) * p.zeta


def constraints(x, t, p):
    a, b, c, point = x
    return [point - placed(a, b, c, p)]


kind = Kind(
    name="spatial_placement",
    points=("a", "b", "c", "p"),
    parameters=("xi", "eta", "zeta"),
    spatial=True,
    constraints=constraints,
    constraint_vectors=1,
)
