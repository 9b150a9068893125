"""Rolling in space: the disc, steady and wobbling, and a ball with an eccentric mass; against ODEs in their own
coordinates."""

import numpy as np
from reference import SPECS
from reference.lagrange import followed

import mechsim

SPACE = SPECS / "space"
G = 9.81


def disc_rates(t, state):
    """The classical equations of the rolling disc, as in the head of the file; then heading, spin and the place of
    the centre."""
    r, m = 0.3, 2.0
    axial, across = m * r**2 / 2, m * r**2 / 4
    theta, phi, _, _, _, one, two, three = state
    turn = two / np.tan(theta)
    return np.array(
        [
            one,
            two / np.sin(theta),
            three - turn,
            # The centre moves by r (w1 n - w3 e1): the axis n leans to the azimuth phi, e1 is level across it.
            r * (one * np.sin(theta) * np.cos(phi) + three * np.sin(phi)),
            r * (one * np.sin(theta) * np.sin(phi) - three * np.cos(phi)),
            (across * turn * two - (axial + m * r**2) * two * three - m * G * r * np.cos(theta)) / (across + m * r**2),
            (axial * one * three - across * turn * one) / across,
            m * r**2 * one * two / (axial + m * r**2),
        ]
    )


def test_rolling_disc_moves_as_the_classical_equations_say():
    """Three seconds, 18 rad of spin: DOP853 at 1e-13 gives some 1e-12; the bar is 1e-10 of a metre."""
    motion = mechsim.simulate(SPACE / "rolling_disc.yaml")
    t = np.linspace(0.0, 3.0, 41)
    theta, phi, psi, x, y, *spins = followed(disc_rates, np.array([1.3, 0, 0, 0, 0, 1.5, 1.0, -6.0]), t)
    assert np.ptp(theta) > 0.1
    found = motion(t)
    np.testing.assert_allclose(found["A"], np.array([x, y, 0.3 * np.sin(theta)]).T, rtol=0, atol=1e-10)
    axis = np.array([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)]).T
    np.testing.assert_allclose(found["B"] - found["A"], 0.3 * axis, rtol=0, atol=1e-10)
    level = np.array([-np.sin(phi), np.cos(phi), 0 * phi]).T
    rim = np.cos(psi)[:, None] * level + np.sin(psi)[:, None] * np.cross(axis, level)
    np.testing.assert_allclose(found["D"] - found["A"], 0.3 * rim, rtol=0, atol=1e-10)
    table = motion.sampled(t)
    np.testing.assert_allclose(table["ABD_ABD_wx"], spins[2], rtol=0, atol=1e-9)
    assert np.ptp(motion.trajectory["T"] + motion.trajectory["V"]) < 1e-12 * np.max(motion.trajectory["T"])


def test_disc_on_a_circle_stays_there():
    """Tilt, spin and heading rate obey one relation; roundings of the start grow little in five seconds: 1e-11."""
    motion = mechsim.simulate(SPACE / "rolling_disc_steady.yaml")
    t = np.linspace(0.0, 5.0, 41)
    r, m, theta, W = 0.3, 2.0, 1.2, 1.5
    axial, across = m * r**2 / 2, m * r**2 / 4
    spin = (across * W**2 * np.sin(theta) - m * G * r) * np.cos(theta) / ((axial + m * r**2) * W * np.sin(theta))
    way = -r * spin / W
    circle = np.array([way * np.cos(W * t), way * np.sin(W * t), r * np.sin(theta) + 0 * t]).T
    np.testing.assert_allclose(motion(t)["A"], circle, rtol=0, atol=1e-11)


def ball_rates(t, state):
    """State: place of the centre, the part's axes as columns, angular velocity. About the centre of mass, I w' + w x
    I w = s x F with the contact
    at s from it, and F = m (a - g)."""
    r, m = 0.2, 1.5
    own = np.array([[0.02, 0.001, -0.002], [0.001, 0.024, 0.0015], [-0.002, 0.0015, 0.028]])
    axes, omega = state[3:12].reshape(3, 3), state[12:]
    offset, inertia = axes @ [0.05, 0.02, -0.03], axes @ own @ axes.T
    lever = offset + np.array([0, 0, r])  # from the contact to the centre of mass

    def cross(a):
        return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])

    drift = np.cross(omega, np.cross(omega, offset)) + np.array([0, 0, G])
    mass = inertia - m * cross(lever) @ cross(lever)
    right = -np.cross(omega, inertia @ omega) - m * np.cross(lever, drift)
    return np.concatenate([np.cross(omega, [0, 0, r]), (cross(omega) @ axes).ravel(), np.linalg.solve(mass, right)])


def test_ball_with_an_eccentric_mass():
    """An ODE for all nine direction cosines; two seconds of rocking multiply errors by less than ten: 1e-10."""
    motion = mechsim.simulate(SPACE / "rolling_ball.yaml")
    t = np.linspace(0.0, 2.0, 41)
    start = np.concatenate([[0, 0, 0.2], np.eye(3).ravel(), [3.0, -2.0, 1.0]])
    expected = followed(ball_rates, start, t)
    found, table = motion(t), motion.sampled(t)
    np.testing.assert_allclose(found["A"], expected[:3].T, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found["B"] - found["A"], 0.2 * expected[3:12:3].T, rtol=0, atol=1e-10)
    np.testing.assert_allclose([table[f"ABD_w{axis}"] for axis in "xyz"], expected[12:], rtol=0, atol=1e-9)
    assert np.ptp(motion.trajectory["T"] + motion.trajectory["V"]) < 1e-12
