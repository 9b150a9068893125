"""The references of the two driven specs, derived again here: their numbers stand in the files, their way must too.

Crank angles are given, so everything is a formula of one angle: no equation of motion is integrated.
"""

import math
from pathlib import Path

import jax
import numpy as np
import pytest
from jax import numpy as jnp

from mechsim.spec import read

FORCES = Path(__file__).parent.parent / "specs" / "forces"
# Doubles, sums of some twenty terms of the size of the largest, and derivatives that JAX makes exactly.
ROUNDING = 2e-14


@pytest.fixture(autouse=True)
def doubles():
    with jax.enable_x64(True):
        yield


def references(name):
    spec = read(str(FORCES / f"{name}.yaml"))
    answers = {(each.time, each.column): each.value for each in spec.reference.values}
    return {key: float(value) for key, value in spec.parameters.items()}, answers


@pytest.mark.slow
def test_the_torque_of_a_crank_is_the_change_of_energy_with_its_angle():
    """At constant speed the power of the drive is dE/dt = w dE/dtheta, and its work the change of E."""
    p, answers = references("driven_slider_crank")

    def place(theta, share):  # of a point on the rod AB
        a = jnp.array([p["a"] * jnp.cos(theta), p["a"] * jnp.sin(theta)])
        b = jnp.array([a[0] + jnp.sqrt(p["b"] ** 2 - a[1] ** 2), 0.0])
        return a + share * (b - a)

    def energy(theta):
        v = {share: p["w"] * jax.jacfwd(place)(theta, share) for share in (0.0, 0.4, 1.0)}
        turn = p["w"] * p["a"] * jnp.cos(theta) / jnp.sqrt(p["b"] ** 2 - (p["a"] * jnp.sin(theta)) ** 2)
        crank = p["m1"] * p["a"] ** 2 * (1 / 9 + 1 / 12) * p["w"] ** 2
        rod = p["m2"] * (v[0.4] @ v[0.4]) + p["m2"] * p["b"] ** 2 / 12 * turn**2
        piston = p["m3"] * (v[1.0] @ v[1.0])
        height = p["m1"] * p["a"] / 3 * jnp.sin(theta) + p["m2"] * place(theta, 0.4)[1]
        return (crank + rod + piston) / 2 + p["g"] * height

    for t in (0.3, 1.0):
        theta = p["w"] * t
        size = float(abs(energy(theta)))
        assert answers[t, "drive_theta_OA"] == pytest.approx(float(jax.grad(energy)(theta)), abs=ROUNDING * size)
        work = float(energy(theta) - energy(0.0))
        assert answers[t, "work_drive_theta_OA"] == pytest.approx(work, abs=ROUNDING * size)


@pytest.mark.slow
def test_forces_of_the_four_bar_satisfy_newton_and_euler():
    p, answers = references("four_bar_driven")

    def pose(t):
        theta = p["theta0"] + p["w"] * t
        a = p["a"] * jnp.array([jnp.cos(theta), jnp.sin(theta)])
        c = jnp.array([p["d"], 0.0])
        away = c - a
        distance = jnp.sqrt(away @ away)
        along = (p["b"] ** 2 - p["c"] ** 2 + distance**2) / (2 * distance)
        aside = jnp.sqrt(p["b"] ** 2 - along**2)
        b = a + along * away / distance + aside * jnp.array([-away[1], away[0]]) / distance
        return jnp.stack([jnp.zeros(2), a, b, c])

    def angle(t, first, second):
        way = pose(t)[second] - pose(t)[first]
        return jnp.arctan2(way[1], way[0])

    links = {"OA": (0, 1, p["a"]), "AB": (1, 2, p["b"]), "CB": (3, 2, p["c"])}
    # Unknown: force on OA at O, on OA at A, on AB at B, on CB at C, and the torque of the drive.
    acting = {"OA": ((0, 0, 1.0), (1, 1, 1.0)), "AB": ((1, 1, -1.0), (2, 2, 1.0)), "CB": ((2, 2, -1.0), (3, 3, 1.0))}
    for t in (0.5, 2.0):
        points = np.array(pose(t))
        second = np.array(jax.jacfwd(jax.jacfwd(pose))(t))
        matrix, right = np.zeros((9, 9)), np.zeros(9)
        for k, (name, (one, other, length)) in enumerate(links.items()):
            mass, centre = length, (points[one] + points[other]) / 2
            acceleration = (second[one] + second[other]) / 2
            turn = float(jax.grad(jax.grad(angle))(t, one, other))
            for force, at, sign in acting[name]:
                arm = points[at] - centre
                matrix[3 * k, 2 * force] += sign
                matrix[3 * k + 1, 2 * force + 1] += sign
                matrix[3 * k + 2, 2 * force : 2 * force + 2] += sign * np.array([-arm[1], arm[0]])
            right[3 * k : 3 * k + 3] = (
                mass * acceleration[0],
                mass * (acceleration[1] + p["g"]),
                mass * length**2 / 12 * turn,
            )
        matrix[2, 8] = 1.0
        found = np.linalg.solve(matrix, right)
        named = dict(zip(["O_OA_Fx", "O_OA_Fy", "A_OA_Fx", "A_OA_Fy", "B_AB_Fx", "B_AB_Fy", "C_CB_Fx", "C_CB_Fy",
                          "drive_theta_OA"], found, strict=True))  # fmt: skip
        named |= {"B_CB_Fx": -named["B_AB_Fx"], "B_CB_Fy": -named["B_AB_Fy"]}
        named |= {"B_x": points[2][0], "B_y": points[2][1]}
        size, compared = np.abs(found).max(), [key for key in answers if math.isclose(key[0], t)]
        assert len(compared) >= 6
        for _, column in compared:
            assert answers[t, column] == pytest.approx(named[column], abs=ROUNDING * size)
