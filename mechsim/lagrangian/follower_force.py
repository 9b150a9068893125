"""A force at a point p, constant in the frame of the part with reference points a, b; its work is a state.

It has no potential, so the energy balance needs the work it has done (DESIGN 6).
"""

from mechsim.lagrangian.kind import Kind


def _world_force(x, p):  # the local force turned by the part's rotation, [c, Xc]/|c| of seed 001 (3.18)
    c_x, c_y = (x[2] - x[0]) / p.length, (x[3] - x[1]) / p.length
    return c_x * p.f_x - c_y * p.f_y, c_y * p.f_x + c_x * p.f_y


def force(x, v, t, p):
    f_x, f_y = _world_force(x, p)
    return [0.0, 0.0, 0.0, 0.0, f_x, f_y, 0.0]


kind = Kind(
    name="follower_force",
    variables=("a_x", "a_y", "b_x", "b_y", "p_x", "p_y", "work"),
    parameters=("f_x", "f_y", "length"),
    force=force,
    account=True,
)
