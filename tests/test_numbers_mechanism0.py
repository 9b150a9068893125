"""Mechanism0 against an ODE without constraints in (theta, r, phi), as the seed's authors checked theirs (section 4.4).

The ODE below shares nothing with the program: no code, no coordinates, no solver.
"""

from math import cos, sin

import numpy as np
from reference import SPECS
from scipy.integrate import solve_ivp

import mechsim

GRAVITY = 9.80665  # the seed's default
# Figure 3
L, M, K, REST, PARTICLE, MU, TORQUE, V0 = 11.137, 2.059, 35.24, 11.88, 1.416, 2.715, 6.46, 12.34


def rates(_, state):
    """(4.6)-(4.8): T = gamma/2 L^2 theta'^2 + alpha A'.W + beta/2 |W|^2, with W = B' - A', worked out by hand."""
    theta, r, phi, w, u, f = state
    alpha, beta, gamma = MU / 2 + PARTICLE, MU / 3 + PARTICLE, M / 3 + MU + PARTICLE
    s, c = sin(phi - theta), cos(phi - theta)
    mass = np.array(
        [
            [gamma * L**2, alpha * L * s, alpha * L * r * c],
            [alpha * L * s, beta, 0.0],
            [alpha * L * r * c, 0.0, beta * r**2],
        ]
    )
    turn = f - w
    change_of_mass = [
        alpha * L * (u * c * turn + u * f * c - r * f * s * turn),
        alpha * L * w * c * turn,
        alpha * L * w * (u * c - r * s * turn) + 2 * beta * r * u * f,
    ]
    along = alpha * L * w * (u * c - r * f * s)  # dT/dphi = -dT/dtheta
    slope = [
        -along - (M / 2 + MU + PARTICLE) * GRAVITY * L * sin(theta) + TORQUE,
        alpha * L * w * f * c + beta * r * f**2 + alpha * GRAVITY * cos(phi) - K * (r - REST),
        along - alpha * GRAVITY * r * sin(phi),
    ]
    return [w, u, f, *np.linalg.solve(mass, np.subtract(slope, change_of_mass))]


def points(state):
    """A, B and their velocities, (4.6) with its erratum."""
    theta, r, phi, w, u, f = state
    a = L * np.array([sin(theta), -cos(theta)])
    a_dot = L * w * np.array([cos(theta), sin(theta)])
    outward, across = np.array([sin(phi), -cos(phi)]), np.array([cos(phi), sin(phi)])
    return np.concatenate([a, a + r * outward]), np.concatenate([a_dot, a_dot + u * outward + r * f * across])


def test_mechanism0_of_figure_3_is_the_ode_of_the_seed():
    """DOP853 at 1e-13 is right to about 1e-12 of the size (22 m) here, one digit below the bar 1e-10 m."""
    theta, phi = np.arctan2(5.0, 12.0), np.arctan2(0.6, 0.8)
    w = V0 / (L * cos(theta))
    a_dot = L * w * np.array([cos(theta), sin(theta)])  # B is at rest, so W = -A'
    start = [theta, REST, phi, w, -a_dot @ [sin(phi), -cos(phi)], -a_dot @ [cos(phi), sin(phi)] / REST]
    ode = solve_ivp(rates, (0.0, 10.0), start, method="DOP853", rtol=1e-13, atol=1e-13)
    motion = mechsim.simulate(SPECS / "mechanism0_figure3.yaml", tol=1e-13)
    state, velocity = motion(10.0), motion.velocity(10.0)
    positions, velocities = points(ode.y[:, -1])
    np.testing.assert_allclose(np.concatenate([state["A"], state["B"]]), positions, rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.concatenate([velocity["A"], velocity["B"]]), velocities, rtol=0, atol=1e-10)
    # theta_OA counts from the x axis, theta from the downward vertical.
    np.testing.assert_allclose(state["theta_OA"] + np.pi / 2, ode.y[0, -1], rtol=0, atol=1e-11)  # L times this is 1e-10
