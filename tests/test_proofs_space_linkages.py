"""Linkages in space against closed forms: slider-crank, universal joint, couplings, screw, bevel gears, Bricard,
governor, door."""

import numpy as np
import pytest
from reference import SPECS
from scipy.special import ellipj, ellipk

import mechsim
from mechsim.result.repeated import repetitions
from mechsim.simulation import motion_of, prepare
from mechsim.spec import read

SPACE = SPECS / "space"


def test_slider_crank_closes():
    """The slider's way is a root of |B - A| = l, its speed the derivative; the drive gives the rate of all energy.
    1e-13 of a metre; power 1e-10."""
    motion = mechsim.simulate(SPACE / "slider_crank.yaml")
    r, l, w, mass = 0.3, 1.1, 5.0, 2.0
    start, line = np.array([0.3, 0.0, 0.2]), np.array([0.6 * np.sin(0.4), np.cos(0.4), 0.8 * np.sin(0.4)])
    t = np.linspace(0.0, 3.0, 61)

    def way(t):
        arm = r * np.array([0 * t, np.cos(w * t), np.sin(w * t)]).T - start
        return arm @ line + np.sqrt(l**2 - np.sum(arm**2, axis=1) + (arm @ line) ** 2)

    def speed(t):
        arm = r * np.array([0 * t, np.cos(w * t), np.sin(w * t)]).T - start
        rate = r * w * np.array([0 * t, -np.sin(w * t), np.cos(w * t)]).T
        root = np.sqrt(l**2 - np.sum(arm**2, axis=1) + (arm @ line) ** 2)
        return rate @ line + ((arm @ line) * (rate @ line) - np.sum(arm * rate, axis=1)) / root

    np.testing.assert_allclose(motion(t)["B"], start + way(t)[:, None] * line, rtol=0, atol=1e-13)
    np.testing.assert_allclose(motion.velocity(t)["B"], speed(t)[:, None] * line, rtol=0, atol=1e-12)
    step = 1e-4  # fourth-order differences of closed forms: 1e-16/1e-4 of roundings and 1e-16 of 5^5
    inner = t[1:-1]
    sides = [speed(inner + k * step) for k in (-2, -1, 1, 2)]
    gain = mass * speed(inner) * np.dot([1, -8, 8, -1], np.array(sides)) / (12 * step)
    weight = 9.81 * (mass * line[2] * speed(inner) + r / 2 * w * np.cos(w * inner))
    table = motion.sampled(inner)
    np.testing.assert_allclose(
        table["drive_theta_OPA_OPE_power"], gain + weight, rtol=0, atol=1e-9 * np.abs(gain).max()
    )


@pytest.mark.parametrize("name", ["universal_joint", "universal_cross"])
def test_universal_joint_has_its_speed_ratio(name):
    """tan(b) = cos(beta) tan(a), with and without the cross as a body; over three turns 1e-13."""
    motion = mechsim.simulate(SPACE / f"{name}.yaml")
    t, w, beta = np.linspace(0.0, 5.0, 101), 4.0, 0.6
    b = np.unwrap(np.arctan2(np.cos(beta) * np.sin(w * t), np.cos(w * t)))
    np.testing.assert_allclose(motion(t)["theta_OQB_OQF"], b, rtol=0, atol=1e-13)
    ratio = np.cos(beta) / (1 - (np.sin(beta) * np.sin(w * t)) ** 2)
    np.testing.assert_allclose(motion.velocity(t)["theta_OQB_OQF"], w * ratio, rtol=1e-12)


def test_constant_velocity_coupling_turns_alike():
    """Equal turns to 1e-12, of 90 rad and more."""
    motion = mechsim.simulate(SPACE / "constant_velocity.yaml")
    t = np.linspace(0.0, 3.0, 61)
    state = motion(t)
    assert state["theta_OPA_OPE"][-1] > 90
    np.testing.assert_allclose(state["theta_OPA_OPE"] + state["theta_OQB_OQE"], 0.0, atol=1e-12)


def test_screw_advances_by_its_pitch():
    """C_z - 1 = pitch turn/(2 pi); the fall is even. Ways of 40 m, 1e-13 of them."""
    motion = mechsim.simulate(SPACE / "screw.yaml")
    t = np.linspace(0.0, 4.0, 41)
    fall = 9.81 / (1 + 0.01 * (2 * np.pi / 0.4) ** 2 / 2)
    state = motion(t)
    np.testing.assert_allclose(state["C"][:, 2], 1 + t - fall * t**2 / 2, rtol=0, atol=1e-12)
    np.testing.assert_allclose(state["theta_ABE_ABF"] * 0.4 / (2 * np.pi), state["C"][:, 2] - 1, rtol=0, atol=1e-12)


def test_bevel_gears_keep_their_ratio():
    motion = mechsim.simulate(SPACE / "bevel_gears.yaml")
    state = motion(np.linspace(0.0, 2.0, 41))
    np.testing.assert_allclose(state["theta_OXB_OXZ"], -0.1 / 0.25 * state["theta_OZA_OZX"], rtol=0, atol=1e-13)


def test_bricard_moves_and_keeps_its_energy():
    """Ten seconds; the bar is 1e-12 of the energy. By counting 30 - 6 * 5 = 0 freedoms are left; in truth one is.
    The file's Reference has quad values."""
    prepared = prepare(read(SPACE / "bricard.yaml"))
    assert prepared.structure.dof == 1
    assert prepared.structure.redundancy.rows
    motion = motion_of(prepared, None, "polynomials")
    assert motion.certificate.energy_drift < 1e-12
    table = motion.trajectory
    assert np.ptp(table["T"] + table["V"]) < 1e-12 * np.abs(table["V"]).max()


@pytest.mark.parametrize(("sleeve", "rate"), [(0.0, 8.0), (3.0, 15.0)])
def test_governor_stands_where_it_should(sleeve, rate):
    """cos(theta) = (1 + M/m) g/(w^2 l): started there it stays for 5 s to 1e-12; a damped one comes there."""
    names = {"M": sleeve, "w": rate}
    cosine = (1 + sleeve) * 9.81 / (rate**2 * 0.3)
    still = mechsim.simulate(SPACE / "governor.yaml", parameters=names)
    t = np.linspace(0.0, 5.0, 51)
    np.testing.assert_allclose(still(t)["S"][:, 2], -0.6 * cosine, rtol=0, atol=1e-12)
    np.testing.assert_allclose(still(t)["theta_OPH_OPE"], rate * t, rtol=1e-14, atol=1e-14)


def test_a_damped_governor_comes_to_its_angle():
    cosine = 4 * 9.81 / (15**2 * 0.3)
    damped = mechsim.simulate(SPACE / "governor.yaml", parameters={"c": 1, "theta0": 0.7}, tend=20.0, tol=1e-12)
    assert damped(20.0)["S"][2] == pytest.approx(-0.6 * cosine, abs=1e-10)


def test_door_on_two_hinges_is_a_pendulum():
    """What the second hinge repeats is told; the door swings as I phi'' = -m g (w/2) sin(tilt) sin(phi), elliptic:
    1e-12."""
    motion = mechsim.simulate(SPACE / "door.yaml")
    width, mass, tilt, start = 0.9, 25.0, 0.05, 1.5
    rate = np.sqrt(mass * 9.81 * width / 2 * np.sin(tilt) / (mass * width**2 / 3))
    t, m = np.linspace(0.0, 10.0, 41), np.sin(start / 2) ** 2
    expected = 2 * np.arcsin(np.sqrt(m) * ellipj(ellipk(m) - rate * t, m)[0])
    np.testing.assert_allclose(motion(t)["theta_ABF_ABE"], expected, rtol=0, atol=1e-12)
    shared = motion.trajectory.not_unique
    assert {"A_ABFCD_Fx", "A_ABFCD_Mz", "C_ABFCD_Fx", "C_ABFCD_Mz"} <= set(shared)
    assert motion.certificate.reaction_balance < 1e-12
    prepared = prepare(read(SPACE / "door.yaml"))
    assert any("hinge CD repeats" in words for words in repetitions(prepared.mechanism, prepared.structure.redundancy))
