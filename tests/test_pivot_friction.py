"""Friction in a pivot that takes the pivot's own reaction as its load."""

from textwrap import dedent

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mechsim


def test_pendulum_against_its_equation_in_the_angle():
    mass, centroid, inertia, gravity, mu, radius, slow = 2.0, 0.4, 0.3, 9.81, 0.3, 0.05, 0.1
    text = f"""
        PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {{Geom: [[1]], Dyna: [[{centroid}], {mass}, {inertia}]}}}}}}
        AppliedForces: {{Gravity: [0, -{gravity}], Friction: {{OA: {{mu: {mu}, v0: {slow}, r: {radius}}}}}}}
        ProblemData: {{tend: 3, angles: {{OA: [0.2, fixed]}}, rates: {{OA: [1, fixed]}}}}
    """
    motion = mechsim.simulate(dedent(text), tol=1e-13)

    def rates(_, state):
        theta, omega = state
        turning = 0.0
        for _ in range(40):  # the load depends on the acceleration, by a factor of 0.02: converges to the last digit
            across = mass * (centroid * turning + gravity * np.cos(theta))
            along = mass * (gravity * np.sin(theta) - centroid * omega**2)
            torque = -mu * radius * np.hypot(across, along) * np.tanh(omega / slow)
            turning = (torque - mass * gravity * centroid * np.cos(theta)) / (inertia + mass * centroid**2)
        return omega, turning

    times = np.linspace(0, 3, 13)
    expected = solve_ivp(rates, (0, 3), (0.2, 1.0), "DOP853", times, rtol=1e-12, atol=1e-13).y
    # Both are good to about 1e-11; the rounded corner of the load changes it by 1e-12 of itself.
    assert motion(times)["theta_OA"] == pytest.approx(expected[0], abs=1e-9)
    assert motion.velocity(times)["theta_OA"] == pytest.approx(expected[1], abs=1e-9)
    assert motion.certificate.energy_drift < 1e-12


CORNER = "{Geom: [[1], [0.7, 0.3]], Dyna: [[0.4, 0.2], 2, 0.3]}"
BAR = "{Geom: [[0.8]], Dyna: [[0.3, 0.1], 1, 0.1]}"


@pytest.mark.parametrize(
    ("parts", "friction", "point", "part"),
    [
        (f"OAB: {CORNER}, BC: {BAR}", "OAB", "O", "OAB"),  # the ground, at a first point
        (f"OAB: {CORNER}, BC: {BAR}", "OAB-BC", "B", "OAB"),  # at a useful point
        (f"OAB: {CORNER}, BC: {BAR}", "BC-OAB", "B", "BC"),  # at a first point that moves
        (f"OAB: {CORNER}, CB: {BAR}", "CB-OAB", "B", "CB"),  # at a second point
        (f"AOB: {CORNER}, BC: {BAR}", "AOB", "O", "AOB"),  # the ground, at a second point
        (f"ABO: {CORNER}, BC: {BAR}", "ABO", "O", "ABO"),  # the ground, at a useful point
        (f"OR: {{Geom: [[2]]}}, OAB: {CORNER}, BC: {BAR}", "OR-OAB", "O", "OAB"),  # the ground as a part
    ],
)
def test_the_load_is_the_reaction(parts, friction, point, part):
    """The power of the friction is mu |F| r tanh(omega/v0) omega with the force F that `Motion.reaction` tells."""
    text = f"""
        PartData: {{Fixed: {{O: []{", R: [2]" if "OR" in parts else ""}}}, Rigids: {{{parts}}}}}
        AppliedForces: {{Gravity: [1, -9.81], Friction: {{{friction}: {{mu: 0.3, v0: 0.5, r: 0.1}}}}}}
        ProblemData: {{tend: 0.5, positions: {{A: [1, 0.1], B: [0.6, 0.5], C: [1.3, 0.6]}}}}
    """
    motion = mechsim.simulate(dedent(text))
    times = np.linspace(0.05, 0.5, 7)
    one, _, other = friction.partition("-")
    rates = motion.velocity(times)
    omega = sum(sign * rates[f"theta_{name}"] for sign, name in ((1, one), (-1, other)) if f"theta_{name}" in rates)
    load = np.hypot(*motion.reaction(point, times)[part].T)
    expected = -0.3 * 0.1 * load * np.tanh(omega / 0.5) * omega
    # Powers up to 1 W; the load's corner is rounded over 1e-6 of the weights, and the series are good to 1e-10.
    assert rates[f"work_friction_{friction.replace('-', '_')}"] == pytest.approx(expected, abs=1e-9)
    assert np.abs(expected).max() > 1e-3


@pytest.mark.parametrize(
    ("fixed", "loads", "said"),
    [
        ("O: [], A: [1]", "Friction: {BC: {mu: 0.3, v0: 0.5}}", "not just one pivot"),
        ("O: []", "Friction: {BC-OAB: {mu: 0.3, v0: 0.5}}, Forces: {BC.B: [t]}", "forces on its own pivot"),
        ("O: []", "Friction: {BC-OAB: {mu: 0.3, v0: 0.5}}, Gravity: {mu: 1, centre: O}", "central gravity"),
    ],
)
def test_a_load_that_cannot_be_found_is_asked_for(fixed, loads, said):
    text = f"""
        PartData: {{Fixed: {{{fixed}}}, Rigids: {{OAB: {CORNER}, BC: {BAR}}}}}
        AppliedForces: {{{loads}}}
        ProblemData: {{tend: 0.5, positions: {{B: [0.6, 0.5], C: [1.3, 0.6]}}}}
    """
    with pytest.raises(mechsim.SpecError, match=rf"<text>:3:\d+: .*{said}[^\n]*\n.*write N"):
        mechsim.simulate(dedent(text))
