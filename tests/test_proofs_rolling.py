"""Proofs 2 and 3 of the forces: the bead on a rotating hoop; sleigh, skate and wheel."""

import numpy as np
import pytest
from reference import SPECS, reference

import mechsim

FORCES = SPECS / "forces"
# A march at tolerance 1e-14 errs by some roundings; a reference's `growth` says what becomes of each until then.
ROUNDING = 1e-14


# --- the bead on a hoop


@pytest.fixture(scope="module")
def bead():
    return mechsim.simulate(FORCES / "bead_on_hoop.yaml")


@pytest.mark.parametrize("row", reference("bead_on_hoop")["rows"], ids=lambda row: f"t={row['t']}")
def test_bead_moves_as_in_quad_precision(bead, row):
    limit = 10 * ROUNDING * max(row["growth"], 1.0)
    assert bead(row["t"])["theta_OA"] + np.pi / 2 == pytest.approx(row["theta"], rel=0, abs=limit)
    assert bead.velocity(row["t"])["theta_OA"] == pytest.approx(row["omega"], rel=0, abs=15 * limit)  # at 15 rad/s^2


def test_hamiltonian_of_the_bead_stays_and_its_energy_does_not(bead):
    """H = T + V with the effective potential: 1e-12 is the bar, some roundings of 14 J are the truth."""
    table = bead.trajectory
    hamiltonian = table["T"] + table["V"]
    assert np.ptp(hamiltonian) < 1e-12
    energy = table["E"]  # the spinning counted as kinetic: a signal of the file
    assert energy[0] == pytest.approx(reference("bead_on_hoop")["energy"], rel=1e-15)
    assert np.ptp(energy) > 20.0


def test_bead_rests_on_the_slope():
    """cos(theta) = g/(R w^2): started there it stays; with friction it comes there, exp(-c t/2) later."""
    tilted = reference("bead_on_hoop")["equilibrium"]
    assert np.cos(tilted) == pytest.approx(9.81 / 25, rel=1e-15)
    still = mechsim.simulate(FORCES / "bead_on_hoop.yaml", parameters={"theta0": "acos(g/(R*w**2))"})
    assert np.abs(still.trajectory["theta_OA"] + np.pi / 2 - tilted).max() < 1e-14  # the start is rounded
    damped = mechsim.simulate(FORCES / "bead_on_hoop.yaml", parameters={"c": 2}, tend=40.0)
    assert damped(40.0)["theta_OA"] + np.pi / 2 == pytest.approx(tilted, abs=1e-13)  # exp(-40) is 4e-18
    slow = mechsim.simulate(FORCES / "bead_on_hoop.yaml", parameters={"c": 2, "w": 3}, tend=60.0)
    assert slow(60.0)["theta_OA"] + np.pi / 2 == pytest.approx(0.0, abs=1e-9)  # below sqrt(g/R): the bottom


# --- blades


def heading_speed(motion, t, part="AB", point="A"):
    """The speed of a point along its part."""
    angle = motion(t)[f"theta_{part}"]
    v_x, v_y = motion.velocity(t)[point]
    return v_x * np.cos(angle) + v_y * np.sin(angle), v_y * np.cos(angle) - v_x * np.sin(angle)


@pytest.fixture(scope="module")
def sleigh():
    return mechsim.simulate(FORCES / "chaplygin_sleigh.yaml")


@pytest.mark.parametrize("row", reference("chaplygin_sleigh")["rows"], ids=lambda row: f"t={row['t']}")
def test_chaplygin_sleigh_is_exact(sleigh, row):
    """The bar is 1e-10; growth up to 55 and paths of 20 m leave us 1e-12."""
    t = row["t"]
    along, across = heading_speed(sleigh, t)
    found = [*sleigh(t)["A"], sleigh(t)["theta_AB"], along, sleigh.velocity(t)["theta_AB"]]
    expected = [row[key] for key in ("x", "y", "phi", "v", "omega")]
    assert found == pytest.approx(expected, rel=0, abs=1e-12)
    assert across == pytest.approx(0.0, abs=1e-14)  # the last bit of an angle of 10 is 2e-15


@pytest.mark.parametrize("name", ["chaplygin_sleigh", "skate_on_incline", "rolling_wheel"])
def test_blades_and_wheels_keep_the_energy(name):
    """A constraint linear in the velocities does no work. The bar is 1e-12 of the largest term."""
    table = mechsim.simulate(FORCES / f"{name}.yaml").trajectory
    largest = max(np.abs(table["T"]).max(), np.abs(table["V"]).max())
    assert np.ptp(table["T"] + table["V"]) < 1e-12 * largest


def test_skate_on_an_inclined_plane_runs_along_a_cycloid():
    """theta = phi0 + w t, v' = -pull sin(theta): elementary. Distances of 10 m, rounded some ten times."""
    motion = mechsim.simulate(FORCES / "skate_on_incline.yaml")
    pull, v0, w, phi0 = 3.0, 0.4, 1.5, 0.3
    drift = v0 - pull / w * np.cos(phi0)

    def place(theta):
        x = drift * np.sin(theta) / w + pull / w**2 * (theta / 2 + np.sin(2 * theta) / 4)
        y = -drift * np.cos(theta) / w - pull / w**2 * np.cos(theta) ** 2 / 2
        return np.array([x, y])

    t = np.linspace(0.0, 10.0, 41)
    theta = phi0 + w * t
    np.testing.assert_allclose(motion(t)["theta_AB"], theta, rtol=0, atol=1e-13)
    np.testing.assert_allclose(motion(t)["A"].T, place(theta) - place(phi0)[:, None], rtol=0, atol=1e-12)
    along, across = heading_speed_many(motion, t)
    np.testing.assert_allclose(along, drift + pull / w * np.cos(theta), rtol=0, atol=1e-12)
    np.testing.assert_allclose(across, 0.0, atol=1e-14)


def heading_speed_many(motion, t):
    along, across = zip(*(heading_speed(motion, each) for each in t), strict=True)
    return np.array(along), np.array(across)


def test_wheel_rolls_as_in_the_book():
    """s = v0 t - a t^2/2 up the line with a = g sin(alpha)/(1 + I/(m r^2)); it turns by -s/r, 26 rad in the end."""
    motion = mechsim.simulate(FORCES / "rolling_wheel.yaml")
    r, m, inertia, alpha = 0.4, 3.0, 0.3, np.pi / 6
    t = np.linspace(0.0, 3.0, 31)
    way = t - 9.81 * np.sin(alpha) / (1 + inertia / (m * r**2)) * t**2 / 2
    centre = (way + 1j * r) * np.exp(1j * alpha)
    rim = centre + r * np.exp(-1j * way / r)
    for point, expected in (("C", centre), ("P", rim)):
        found = motion(t)[point] @ [1, 1j]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(motion(t)["theta_CP"], -way / r, rtol=0, atol=2e-13)
