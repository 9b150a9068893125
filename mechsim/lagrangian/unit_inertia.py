"""Inertia of a coordinate by itself: what moves by it alone goes straight on, at constant speed."""

from mechsim.lagrangian.kind import Kind


def kinetic(x, v, t, p):
    (rate,) = v
    return p.inertia / 2 * rate**2


kind = Kind(name="unit_inertia", variables=("x",), parameters=("inertia",), kinetic=kinetic)
