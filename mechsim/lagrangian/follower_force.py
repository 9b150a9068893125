"""A force at a point p, constant in the frame of the part with reference points a, b; its work is a state.

It has no potential, so the energy balance needs the work it has done (DESIGN 6).
"""

from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.vector import Vector, turned


def force(x, v, t, p):
    a, b, _place, _work = x
    nothing = Vector((0.0, 0.0))
    # The local force turned by the part's rotation, [c, Xc]/|c| of seed 001 (3.18).
    return [nothing, nothing, turned(p.f, (b - a) / p.length), 0.0]


kind = Kind(
    name="follower_force",
    points=("a", "b", "p"),
    variables=("work",),
    parameters=("length",),
    vectors=("f",),
    planar=True,
    force=force,
    account=True,
)
