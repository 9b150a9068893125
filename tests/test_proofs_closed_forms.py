"""Proofs 4 and 5 of the forces: a driven crank against virtual power; friction and oscillators against closed forms."""

import numpy as np
import pytest
from reference import SPECS
from scipy.integrate import quad
from scipy.optimize import brentq

import mechsim

FORCES = SPECS / "forces"


# --- 4. a crank at constant speed


def slider_crank_torque(theta, w=12.0, a=0.3, b=0.9, masses=(2.0, 3.0, 1.5), g=9.81):
    """Virtual power: sum of m (r'' - g) . dr/dtheta + I phi'' dphi/dtheta, every r a function of the crank angle."""
    sine = -a / b * np.sin(theta)  # of phi, the angle of the rod
    cosine = np.sqrt(1 - sine**2)
    first = -a * np.cos(theta) / (b * cosine)
    second = (a * np.sin(theta) + b * sine * first**2) / (b * cosine)
    crank, rod = a * np.exp(1j * theta), b * (cosine + 1j * sine)
    crank_1, crank_2 = 1j * crank, -crank
    rod_1, rod_2 = 1j * first * rod, (1j * second - first**2) * rod
    bodies = [
        (masses[0], crank_1 / 3, crank_2 / 3),
        (masses[1], crank_1 + 0.4 * rod_1, crank_2 + 0.4 * rod_2),
        (masses[2], crank_1 + rod_1, crank_2 + rod_2),
    ]
    torque = masses[1] * b**2 / 12 * w**2 * second * first
    return torque + sum(m * ((w**2 * r_2 + 1j * g) * np.conj(r_1)).real for m, r_1, r_2 in bodies)


def test_drive_torque_equals_virtual_power():
    """The bar is 1e-9. Torques reach 33 N m, and come from a linear solve at every row."""
    motion = mechsim.simulate(FORCES / "driven_slider_crank.yaml")
    table = motion.sampled(np.linspace(0.0, 1.0, 201))
    expected = slider_crank_torque(12.0 * table.t)
    assert np.abs(expected).max() > 10.0
    np.testing.assert_allclose(table["drive_theta_OA"], expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(table["drive_theta_OA_power"], 12.0 * expected, rtol=0, atol=1.2e-9)
    np.testing.assert_allclose(motion.torque("OA", 0.3), slider_crank_torque(3.6), rtol=0, atol=1e-10)


def test_drive_work_is_the_integral_of_its_power():
    motion = mechsim.simulate(FORCES / "driven_slider_crank.yaml")
    table = motion.trajectory
    work, _ = quad(lambda t: 12.0 * slider_crank_torque(12.0 * t), 0.0, 1.0, epsabs=1e-11, epsrel=0, limit=200)
    assert table["work_drive_theta_OA"][-1] == pytest.approx(work, rel=0, abs=1e-11)
    balance = table["T"] + table["V"] - table["work_drive_theta_OA"]
    assert np.ptp(balance) < 1e-13 * np.abs(table["T"]).max()


def test_crank_at_the_same_speed_by_its_rate():
    """The same drive at the level of speeds: the start angle is then a choice, and 12 t its integral."""
    text = (FORCES / "driven_slider_crank.yaml").read_text().replace("theta_OA: w*t", "omega_OA: w")
    text = text.replace("positions: {A: [a], B: [a + b]}", "positions: {B: [a + b]}\n  angles: {OA: [0, fixed]}")
    motion = mechsim.simulate(text)
    table = motion.sampled(np.linspace(0.0, 1.0, 51))
    np.testing.assert_allclose(table["theta_OA"], 12.0 * table.t, rtol=0, atol=1e-13)
    np.testing.assert_allclose(table["drive_omega_OA"], slider_crank_torque(12.0 * table.t), rtol=0, atol=1e-10)


# --- 5. friction


PULL, PRESS = 9.81 * np.sin(0.5), 9.81 * np.cos(0.5)
SLOW = 0.05


def friction_time(speed, start, coefficient):
    """When v' = p - q tanh(v/v0) reaches a speed: dt = v0 du/(p - q tanh u) has this integral."""
    p, q = PULL, coefficient * PRESS

    def integral(u):
        return (p * u + q * (abs(u) + np.log(abs((p - q) * np.exp(u - abs(u)) + (p + q) * np.exp(-u - abs(u)))))) / (
            p**2 - q**2
        )

    return SLOW * (integral(speed / SLOW) - integral(start / SLOW))


def test_block_runs_away_against_friction():
    """mu = 0.4 below tan(alpha): the block's own speed, put into the closed form, gives the time back."""
    motion = mechsim.simulate(FORCES / "friction_on_incline.yaml")
    for t in (0.01, 0.1, 0.5, 1.0, 2.0):
        speed = np.hypot(*motion.velocity(t)["A"])
        assert friction_time(speed, 0.0, 0.4) == pytest.approx(t, rel=0, abs=1e-10)
        way, _ = quad(lambda v: v / (PULL - 0.4 * PRESS * np.tanh(v / SLOW)), 0, speed, points=[4 * SLOW], epsabs=1e-13)
        assert np.hypot(*motion(t)["A"]) == pytest.approx(way, rel=0, abs=1e-10)
    # Friction takes mu N on the way, less what tanh leaves out at the start.
    taken = motion.trajectory["work_friction_A_QS"][-1]
    assert taken == pytest.approx(-0.4 * 2.0 * PRESS * np.hypot(*motion(2.0)["A"]), rel=0.01)


def test_block_slows_down_to_its_creep():
    """mu = 0.8 above tan(alpha): from 1 m/s down to v0 atanh(tan(alpha)/mu), the law's only rest."""
    motion = mechsim.simulate(FORCES / "friction_on_incline.yaml", parameters={"mu": 0.8, "u0": 1})
    creep = SLOW * np.arctanh(np.tan(0.5) / 0.8)
    for t in (0.1, 0.3, 0.4, 0.44, 0.46):
        # The excess over the creep decays like an exponential in the end: its logarithm is what a root finder can find.
        excess = brentq(lambda z, t=t: friction_time(creep + np.exp(z), 1.0, 0.8) - t, -25.0, 0.0, xtol=1e-14)
        speed = motion.velocity(t)["A"] @ [np.cos(0.5), -np.sin(0.5)]
        assert speed == pytest.approx(creep + np.exp(excess), rel=0, abs=1e-10)
    assert motion.velocity(2.0)["A"] @ [np.cos(0.5), -np.sin(0.5)] == pytest.approx(creep, rel=0, abs=1e-12)


# --- 5. oscillators


def oscillator(c, t, m=0.5, k=8.0, x=0.7, v=-1.2):
    """The free oscillation from x, v, by the roots of m s^2 + c s + k; equal roots have their limit."""
    decay = c / (2 * m)
    square = k / m - decay**2
    if square == 0:
        return np.exp(-decay * t) * (x + (v + decay * x) * t)
    root = np.sqrt(complex(square))
    return (np.exp(-decay * t) * (x * np.cos(root * t) + (v + decay * x) / root * np.sin(root * t))).real


@pytest.mark.parametrize("c", [0.0, 0.6, 4.0, 9.0], ids=["free", "under", "critical", "over"])
def test_damped_oscillator(c):
    """The bar is 1e-10; positions are 2 m and speeds 2 m/s, rounded fifty times."""
    motion = mechsim.simulate(FORCES / "damped_oscillator.yaml", parameters={"c": c})
    t = np.linspace(0.0, 5.0, 101)
    np.testing.assert_allclose(motion(t)["A"][:, 0] - 2.0, oscillator(c, t), rtol=0, atol=1e-13)
    table = motion.trajectory
    taken = table["work_spring_OA"] if c else np.zeros(len(table.t))
    assert np.ptp(table["T"] + table["V"] - taken) < 1e-13 * (table["T"] + table["V"]).max()


@pytest.mark.parametrize("c", [0.0, 0.3])
def test_oscillator_pushed_at_resonance(c):
    """The swing grows to 2.5 m in 12 periods and carries earlier errors along: 1e-12, where the bar is 1e-10."""
    motion = mechsim.simulate(FORCES / "driven_oscillator.yaml", parameters={"c": c})
    t, m, w, force = np.linspace(0.0, 20.0, 401), 0.5, 4.0, 0.5
    if c:
        damped = np.sqrt(w**2 - (c / (2 * m)) ** 2)
        expected = force / c * (np.sin(w * t) / w - np.exp(-c / (2 * m) * t) * np.sin(damped * t) / damped)
    else:
        expected = force / (2 * m * w) * t * np.sin(w * t)
    np.testing.assert_allclose(motion(t)["A"][:, 0] - 4.0, expected, rtol=0, atol=1e-12)
    table = motion.trajectory
    work = table["work_A"] + (table["work_spring_OA"] if c else 0.0)
    assert np.ptp(table["T"] + table["V"] - work) < 1e-13 * (table["T"] + table["V"]).max()
