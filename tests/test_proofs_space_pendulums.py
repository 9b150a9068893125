"""Pendulums in space: on skew hinges, spherical, conical, Foucault's; against Lagrange's equations in minimal
coordinates and elliptic functions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import SPECS
from reference.lagrange import integral, lagrangian_motion, oscillation

import mechsim

SPACE = SPECS / "space"


def skew_lagrangian(q, v, t):
    """Two rods: positions and frames from the hinge angles, velocities by their derivatives."""
    alpha, beta, m, l, g = 0.3, 0.7, 1.0, 1.0, 9.81
    inertia = jnp.array([m * l**2 / 12, 0.001, m * l**2 / 12])

    def frames(q):
        p = jnp.array([jnp.cos(alpha), 0.0, jnp.sin(alpha)])
        e = jnp.array([0.0, 1.0, 0.0])
        along = jnp.cos(q[0]) * e + jnp.sin(q[0]) * jnp.cross(p, e)
        first = jnp.stack([p, along, jnp.cross(p, along)], axis=1)
        axis = first @ jnp.array([jnp.cos(beta), 0.0, jnp.sin(beta)])
        beside = -jnp.cos(q[1]) * along - jnp.sin(q[1]) * jnp.cross(axis, along)
        second = jnp.stack([axis, beside, jnp.cross(axis, beside)], axis=1)
        return jnp.stack([first, second]), jnp.stack([l / 2 * along, l * along + l / 2 * beside])

    (turned, centres), (turning, speeds) = jax.jvp(frames, (q,), (v,))
    spin = jnp.einsum("bki,bkj->bij", turned, turning)  # R^T R': the angular velocity in the frame
    omega = jnp.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    return m / 2 * jnp.sum(speeds**2) + jnp.sum(inertia * omega**2) / 2 - m * g * jnp.sum(centres[:, 2])


@pytest.mark.slow
def test_skew_hinges_against_an_ode_in_their_angles():
    """Energy to 1e-11 and angles to 1e-9 are the bars. The motion is chaotic: in five seconds the errors of DOP853,
    1e-13 a step, grow to some
    1e-11, in ten to 6e-9; so angles are compared for five."""
    motion = mechsim.simulate(SPACE / "skew2pend.yaml")
    table = motion.trajectory
    assert np.ptp(table["T"] + table["V"]) < 1e-11
    t = np.linspace(0.0, 5.0, 21)
    expected = lagrangian_motion(skew_lagrangian, [0.4, 2.0], [0.5, -1.0], t)
    names = ["theta_OPA_OPE", "theta_AQB_AQO"]
    for row, name in enumerate(names):
        np.testing.assert_allclose(motion(t)[name], expected[row], rtol=0, atol=1e-9)
        np.testing.assert_allclose(motion.velocity(t)[name], expected[2 + row], rtol=0, atol=1e-8)
    assert motion.certificate.reaction_balance < 1e-11


def test_spherical_pendulum_is_elliptic():
    """z'^2 l^2 = 2 (E - g z)(l^2 - z^2) - h^2; twenty seconds of some 100 steps leave roundings: 1e-11 is asked."""
    motion = mechsim.simulate(SPACE / "spherical_pendulum.yaml")
    l, g, theta0, v0 = 1.2, 9.81, 1.2, 1.5
    z0, h = -l * np.cos(theta0), l * np.sin(theta0) * v0
    energy = v0**2 / 2 + g * z0
    cubic = np.array([2 * g, -2 * energy, -2 * g * l**2, 2 * energy * l**2 - h**2]) / l**2
    t = np.linspace(0.0, 20.0, 81)
    z = oscillation(cubic, z0, t)
    phi = integral(lambda t: h / (l**2 - oscillation(cubic, z0, t) ** 2), t)
    r = np.sqrt(l**2 - z**2)
    np.testing.assert_allclose(motion(t)["A"], np.array([r * np.cos(phi), r * np.sin(phi), z]).T, rtol=0, atol=1e-11)


def test_conical_pendulum_stays_on_its_circle():
    motion = mechsim.simulate(SPACE / "conical_pendulum.yaml")
    t = np.linspace(0.0, 20.0, 81)
    np.testing.assert_allclose(motion(t)["A"][:, 2], -1.2 * np.cos(0.7), rtol=1e-12)
    pull = motion.reaction("O", 7.0)["OA"]
    assert np.linalg.norm(pull) == pytest.approx(9.81 / np.cos(0.7), rel=1e-12)


# --- Foucault

R, RATE, LATITUDE, L, G, A = 500.0, 0.01, 0.8, 10.0, 9.81, 0.4
EAST = np.array([0.0, 1.0, 0.0])
NORTH = np.array([-np.sin(LATITUDE), 0.0, np.cos(LATITUDE)])
UP = np.array([np.cos(LATITUDE), 0.0, np.sin(LATITUDE)])


def foucault_lagrangian(q, v, t):
    """The bob by its ways to the east and to the north on the turning planet."""
    down = jnp.sqrt(L**2 - q @ q)
    place = (R - down) * UP + q[0] * EAST + q[1] * NORTH
    speed = (q @ v) / down * UP + v[0] * EAST + v[1] * NORTH + RATE * jnp.array([-place[1], place[0], 0.0])
    return speed @ speed / 2 + G * R**2 / jnp.sqrt(place @ place)


def test_foucault_turns_with_the_planet():
    """Against an ODE in two coordinates: 1e-9 m, with places of 500 m (their last digit is 6e-14). The swing's
    plane: -w sin(latitude of the plumb
    line), less than 1 % away at this width and rate."""
    motion = mechsim.simulate(SPACE / "foucault.yaml")
    t = np.linspace(0.0, 60.0, 121)
    q = lagrangian_motion(foucault_lagrangian, [0.0, -A], [0.0, 0.0], t)
    down = np.sqrt(L**2 - q[0] ** 2 - q[1] ** 2)
    place = (R - down)[:, None] * UP + q[0][:, None] * EAST + q[1][:, None] * NORTH
    cos, sin = np.cos(RATE * t), np.sin(RATE * t)
    inertial = np.array([cos * place[:, 0] - sin * place[:, 1], sin * place[:, 0] + cos * place[:, 1], place[:, 2]]).T
    np.testing.assert_allclose(motion(t)["A"], inertial, rtol=0, atol=1e-9)
    heading = swing_heading(motion)
    times = np.array([time for time, _ in heading])
    turned = np.unwrap([2 * angle for _, angle in heading]) / 2
    found = np.polyfit(times, turned, 1)[0]
    assert found == pytest.approx(-RATE * np.sin(plumb_latitude()), rel=0.02)


def plumb_latitude():
    """Of a bob at rest on the planet: gravity and the turn balance along the sphere."""
    pull = -G * UP + RATE**2 * R * np.cos(LATITUDE) * np.array([1.0, 0.0, 0.0])
    return np.arctan2(-pull[2], -pull[0])


def swing_heading(motion):
    """Times when the bob is farthest from where it would rest, and its direction there, from east to north."""
    t = np.linspace(0.0, 60.0, 6001)
    place, cos, sin = motion(t)["A"], np.cos(RATE * t), np.sin(RATE * t)
    fixed = np.array([cos * place[:, 0] + sin * place[:, 1], cos * place[:, 1] - sin * place[:, 0], place[:, 2]]).T
    flat = np.array([fixed @ EAST, fixed @ NORTH]).T
    flat -= (flat.max(axis=0) + flat.min(axis=0)) / 2
    width = np.linalg.norm(flat, axis=1)
    top = np.flatnonzero((width[1:-1] > width[:-2]) & (width[1:-1] >= width[2:])) + 1
    return [(t[k], np.arctan2(flat[k, 1], flat[k, 0])) for k in top]
