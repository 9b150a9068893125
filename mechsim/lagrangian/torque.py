"""A constant torque on a part through its turn angle: V = -torque theta, seed 001 (4.5)."""

from mechsim.lagrangian.kind import Kind


def potential(x, t, p):
    return -p.torque * x[0]


kind = Kind(name="torque", variables=("theta",), parameters=("torque",), potential=potential)
