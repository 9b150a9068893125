"""A point at a height over a plane of a rigid body in space: w . (p - a) = height, w = alpha d + beta e + gamma d x e a
direction of the body. Where something else holds the distance of a useful point to others of its part, the rows
of such planes hold the rest."""

from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.vector import dot, vector_product


def constraints(x, t, p):
    a, b, c, point = x
    d, e = b - a, c - a
    normal = d * p.alpha + e * p.beta + vector_product(d, e) * p.gamma
    return [dot(normal, point - a) - p.height]


kind = Kind(
    name="on_plane",
    points=("a", "b", "c", "p"),
    parameters=("alpha", "beta", "gamma", "height"),
    spatial=True,
    constraints=constraints,
    constraint_count=1,
)
