"""Proof 6 of the forces: the triple pendulum of seed 003, forced, without its barrier, against its eq (8) in angles."""

import numpy as np
import pytest
from reference import SPECS
from scipy.integrate import solve_ivp

import mechsim

LINKS = ("OA", "AB", "BC")
# Non-dimensional coefficients as the seed prints them, eq (9).
INERTIA = np.array([[1, 9 / 14, 3 / 14], [9 / 14, 4 / 7, 3 / 14], [3 / 14, 3 / 14, 1 / 7]])
WEIGHT = np.array([1, 3 / 5, 1 / 5])
VISCOUS = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
START = np.array([0.3, -0.2, 0.5, 0.1, -0.4, 0.2])


def angles(t, c, q, w):
    def right(time, y):
        psi, rates = y[:3], y[3:]
        apart = psi[:, None] - psi[None, :]
        force = -(INERTIA * np.sin(apart)) @ rates**2 - c * VISCOUS @ rates - WEIGHT * np.sin(psi)
        force[0] += q * np.cos(w * time)
        return np.concatenate([rates, np.linalg.solve(INERTIA * np.cos(apart), force)])

    return solve_ivp(right, (0.0, t[-1]), START, method="DOP853", t_eval=t, rtol=1e-13, atol=1e-14).y


@pytest.mark.parametrize(
    ("c", "q", "w", "tend"),
    [
        pytest.param(0.1, 0.7, 1.2, 50.0, id="figure 3a"),
        pytest.param(0.2, 0.75, 1.0, 50.0, id="figure 3b"),
        pytest.param(0.02, 0.5, 1.0, 20.0, id="figure 4e"),
    ],
)
def test_columns_are_those_of_the_angles(c, q, w, tend):
    """The bar is 1e-9: DOP853 errs by 1e-12 per second; weak damping (figure 4e) is chaotic, so it runs shorter."""
    motion = mechsim.simulate(SPECS / "forces/triple_pendulum.yaml", parameters={"c": c, "q": q, "w": w}, tend=tend)
    table = motion.sampled(np.linspace(0.0, tend, 201))
    expected = angles(table.t, c, q, w)
    ends = np.cumsum(-1j * np.exp(1j * expected[:3]), axis=0)  # x = sin(psi), y = -cos(psi)
    speeds = np.cumsum(np.exp(1j * expected[:3]) * expected[3:], axis=0)
    for i, (link, point) in enumerate(zip(LINKS, "ABC", strict=True)):
        found = {
            f"theta_{link}": expected[i] - np.pi / 2,
            f"theta_{link}_dot": expected[3 + i],
            f"{point}_x": ends[i].real,
            f"{point}_y": ends[i].imag,
            f"{point}_x_dot": speeds[i].real,
            f"{point}_y_dot": speeds[i].imag,
        }
        for label, values in found.items():
            np.testing.assert_allclose(table[label], values, rtol=0, atol=1e-9, err_msg=label)


def test_energy_account_of_the_forced_pendulum_closes():
    """What the torque gives and the dampers take, each some 10 in these units, to the last digits."""
    table = mechsim.simulate(SPECS / "forces/triple_pendulum.yaml").trajectory
    work = [label for label in table.labels if label.startswith("work_") and not label.endswith("_dot")]
    assert len(work) == 4
    balance = table["T"] + table["V"] - sum(table[label] for label in work)
    assert np.ptp(balance) < 1e-13 * max(np.abs(table[label]).max() for label in work)
