"""A force at a point, constant in the world frame: V = -f . p."""

from mechsim.lagrangian.kind import Kind


def potential(x, t, p):
    return -(p.f_x * x[0] + p.f_y * x[1])


kind = Kind(name="force", variables=("p_x", "p_y"), parameters=("f_x", "f_y"), potential=potential)
