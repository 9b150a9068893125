"""Bodies in space about a point: Lagrange's top, gyroscope, heavy top; the free body over 50 flips."""

import numpy as np
import pytest
from reference import SPECS
from reference.lagrange import integral, oscillation
from scipy.special import ellipj, ellipk, ellipkinc

import mechsim

SPACE = SPECS / "space"


def test_lagrange_top_is_elliptic():
    """u = cos(theta) by sn, azimuth and spin by quadrature. Some 300 steps at 1e-14 and 140 rad of spin leave 1e-12;
    the bar is 1e-11."""
    motion = mechsim.simulate(SPACE / "lagrange_top.yaml")
    m, l, J, C, g, theta0, W, spin = 2.0, 0.5, 0.1, 0.15, 9.81, 0.8, -1.0, 14.0
    across = J + m * l**2
    u0 = np.cos(theta0)
    a, b = C * spin / across, (C * spin * u0 + across * W * np.sin(theta0) ** 2) / across
    beta = 2 * m * g * l / across
    alpha = W**2 * np.sin(theta0) ** 2 + beta * u0
    cubic = [beta, -(alpha + a**2), 2 * a * b - beta, alpha - b**2]  # (1 - u^2)(alpha - beta u) - (b - a u)^2
    t = np.linspace(0.0, 10.0, 41)

    def azimuth_rate(t):
        u = oscillation(cubic, u0, t)
        return (b - a * u) / (1 - u**2)

    u, phi = oscillation(cubic, u0, t), integral(azimuth_rate, t)
    axis = l * np.array([np.sqrt(1 - u**2) * np.cos(phi), np.sqrt(1 - u**2) * np.sin(phi), u]).T
    assert np.ptp(u) > 0.1  # it nutates
    np.testing.assert_allclose(motion(t)["A"], axis, rtol=0, atol=1e-11 * l)
    table = motion.sampled(t)
    np.testing.assert_allclose(table["OAB_OAB_wx"], spin, rtol=1e-12)
    psi = integral(lambda t: spin - azimuth_rate(t) * oscillation(cubic, u0, t), t)
    node = np.array([-np.sin(phi), np.cos(phi), 0 * phi]).T  # where B was at the start, carried by the azimuth
    upward = np.cross(axis / l, node)
    B = l * (np.cos(psi)[:, None] * node + np.sin(psi)[:, None] * upward)
    np.testing.assert_allclose(motion(t)["B"], B, rtol=0, atol=1e-11 * l)


def test_gyroscope_precesses_evenly():
    """Started on steady precession it stays there: 1e-10 is the bar, asked of the place and of all rates."""
    motion = mechsim.simulate(SPACE / "gyroscope.yaml")
    m, l, J, C, g, theta, spin = 2.0, 0.5, 0.1, 0.15, 9.81, 1.1, 150.0
    slow, fast = np.sort(np.roots([(J + m * l**2) * np.cos(theta), -C * spin, m * g * l]))
    assert slow == pytest.approx(m * g * l / (C * spin), rel=0.01) and fast > 50 * slow
    t = np.linspace(0.0, 20.0, 81)
    ring = np.array([np.sin(theta) * np.cos(slow * t), np.sin(theta) * np.sin(slow * t), np.cos(theta) + 0 * t]).T
    np.testing.assert_allclose(motion(t)["A"], l * ring, rtol=0, atol=1e-11)
    speed = np.linalg.norm(motion.velocity(t)["A"], axis=1)
    np.testing.assert_allclose(speed, l * np.sin(theta) * slow, rtol=1e-10)


def test_heavy_top_has_its_published_rate():
    """Exudyn publishes global omega_y(2 s) to 1e-10; the file's Reference has quad values beside."""
    motion = mechsim.simulate(SPACE / "heavy_top.yaml")
    assert motion.sampled([2.0])["OAB_wy"][0] == pytest.approx(-106.16380414310, abs=1e-10)


# --- the free body


def jacobi_spin(inertia, start):
    """Of a free body with I1 < I2 < I3 and L^2 > 2 E I2: w1 = x cn, w2 = y sn, w3 = z dn of `rate` t, parameter m
    (Landau and Lifshitz, section 37)."""
    one, two, three = inertia
    twice_energy, square = np.dot(inertia, np.square(start)), np.dot(np.square(inertia), np.square(start))
    x = np.sqrt((twice_energy * three - square) / (one * (three - one)))
    y = np.sqrt((twice_energy * three - square) / (two * (three - two)))
    z = np.sqrt((square - twice_energy * one) / (three * (three - one)))
    rate = np.sqrt((three - two) * (square - twice_energy * one) / (one * two * three))
    m = (two - one) * (twice_energy * three - square) / ((three - two) * (square - twice_energy * one))
    assert 0 < m < 1
    return x, y, z, rate, m


def test_free_body_over_fifty_flips_is_jacobian():
    """The bar is 1e-10 of omega. The start is 0.3 of 5 rad/s off the middle axis, so a rounding of the energy moves a
    flip by 1/0.3^2 as much; fifty flips add up, and 2e-11 is found."""
    inertia, start = np.array([1.0, 2.0, 3.0]), np.array([0.3, 5.0, 0.3])
    x, y, z, rate, m = jacobi_spin(inertia, start)
    period = 4 * ellipk(m) / rate
    motion = mechsim.simulate(SPACE / "tennis_racket.yaml", parameters={"eps": 0.3}, tend=25.5 * period)
    t = np.linspace(0.0, 25.5 * period, 1021)
    # dw2/dt = (I3 - I1)/I2 w3 w1 > 0 at the start, where w1 and w3 are positive: w2 = y sn, w1 = x cn, w3 = z dn.
    phase = ellipkinc(np.arctan2(start[1] / y, start[0] / x), m)
    sn, cn, dn, _ = ellipj(np.remainder(rate * t + phase, 4 * ellipk(m)), m)
    expected = np.array([x * cn, y * sn, z * dn]).T
    table = motion.sampled(t)
    found = np.array([table[f"ABC_ABC_w{axis}"] for axis in "xyz"]).T
    flips = np.count_nonzero(np.diff(np.sign(expected[:, 1])))
    assert flips >= 50
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.linalg.norm(start))


def test_free_body_keeps_its_angular_momentum():
    """L = R I R^T omega in the room: the bar is 1e-13 of its size."""
    motion = mechsim.simulate(SPACE / "tennis_racket.yaml", parameters={"eps": 0.3}, tend=120.0)
    t = np.linspace(0.0, 120.0, 241)
    table = motion.sampled(t)
    own = np.array([table[f"ABC_ABC_w{axis}"] for axis in "xyz"]).T * [1, 2, 3]
    state = motion(t)
    first = state["B"] - state["A"]
    second = state["C"] - state["A"]
    axes = np.stack([first, second, np.cross(first, second)], axis=1)
    momentum = np.einsum("ti,tij->tj", own, axes)
    np.testing.assert_allclose(momentum, [[0.3, 10.0, 0.9]] * len(t), rtol=0, atol=1e-13 * np.linalg.norm(momentum[0]))
