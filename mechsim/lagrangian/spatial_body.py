"""Inertia and weight of a rigid body in space on three reference points a, b, c: seed 001 (3.11)-(3.17).

With d = b - a, e = c - a and n = d x e every point of the body stands at a + xi d + eta e + zeta n, so the kinetic
energy is a quadratic form of a', d', e' and n' = d' x e + d x e'. Between unit vectors along the body's axes

    |u3'|^2 = |u1'|^2 + |u2'|^2 - 2 (u2' . u1)^2

holds on the constraints, and there u2' . u1 is e' . d over a constant; so the mass matrix is constant but for `twist`
and for what lies beside the plane of the points (coefficients: `model/inertia.py`). A Lagrangian may be changed so:
it is the same on all motions that the constraints allow, and products of series are what a step costs.
"""

from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.vector import dot, square, vector_product


def kinetic(x, v, t, p):
    a, b, c = x
    d, e = b - a, c - a
    speed = p.aa / 2 * square(v[0]) + p.bb / 2 * square(v[1]) + p.cc / 2 * square(v[2])
    speed = speed + p.ab * dot(v[0], v[1]) + p.ac * dot(v[0], v[2]) + p.bc * dot(v[1], v[2])
    turned, bent = v[1] - v[0], v[2] - v[0]
    normal = vector_product(turned, e) + vector_product(d, bent)
    beside = p.zeta * p.mass * dot(v[0], normal)
    # d' . (d' x e) and e' . (d x e') are zero.
    beside = beside + p.dn * dot(turned, vector_product(d, bent)) + p.en * dot(bent, vector_product(turned, e))
    return speed + beside - p.twist * dot(bent, d) ** 2


def potential(x, t, p):
    a, b, c = x
    d, e = b - a, c - a
    return -p.mass * dot(p.g, a + d * p.xi + e * p.eta + vector_product(d, e) * p.zeta)


kind = Kind(
    name="spatial_body",
    points=("a", "b", "c"),
    parameters=("mass", "xi", "eta", "zeta", "aa", "bb", "cc", "ab", "ac", "bc", "dn", "en", "twist"),
    vectors=("g",),
    spatial=True,
    kinetic=kinetic,
    potential=potential,
)
