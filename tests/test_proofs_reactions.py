"""Proof 7 of the forces: columns of joint reactions against Newton and Euler. More of it in test_reactions."""

import numpy as np
import pytest
from reference import SPECS
from scipy.optimize import brentq

import mechsim

FORCES = SPECS / "forces"
G = 9.81
CLOSE = 1e-10  # of forces of 10 to 500 N, both sides through a linear solve


def test_each_joint_of_a_hanging_chain_carries_what_is_below():
    table = mechsim.simulate(FORCES / "hanging_chain.yaml").trajectory
    points, parts = "OABCD", ("OA", "AB", "BC", "CD", "DE")
    for i, point in enumerate(points):
        carried = 2.0 * G * (5 - i)
        np.testing.assert_allclose(table[f"{point}_{parts[i]}_Fy"], carried, rtol=0, atol=CLOSE)
        np.testing.assert_allclose(table[f"{point}_{parts[i]}_Fu"], -carried, rtol=0, atol=CLOSE)  # it points down
        np.testing.assert_allclose(table[f"{point}_{parts[i]}_Fx"], 0.0, rtol=0, atol=CLOSE)
        if i:
            np.testing.assert_allclose(table[f"{point}_{parts[i - 1]}_Fy"], -carried, rtol=0, atol=CLOSE)


class FourBar:
    """The driven four-bar by its loop a + z_b = d + z_c, at crank angle theta and constant rate w."""

    lengths = (1.0, 3.5, 2.0)

    def __init__(self, theta, rocker_near, w):
        a, b, c = self.lengths
        crank = a * np.exp(1j * theta)

        def gap(phi):
            return abs(3.0 + c * np.exp(1j * phi) - crank) - b

        phi = brentq(gap, rocker_near - 0.3, rocker_near + 0.3, xtol=1e-15)
        rocker = c * np.exp(1j * phi)
        self.bars = (crank, 3.0 + rocker - crank, rocker)
        # i w_a a + i w_b b - i w_c c = 0, and the same of accelerations: two real equations in two unknowns each.
        loop = np.array([[part(1j * self.bars[1]), part(-1j * self.bars[2])] for part in (np.real, np.imag)])
        right = -1j * w * crank
        self.rates = np.array([w, *np.linalg.solve(loop, [right.real, right.imag])])
        right = sum(s * r**2 * z for s, r, z in zip((1, 1, -1), self.rates, self.bars, strict=True))
        self.spins = np.array([0.0, *np.linalg.solve(loop, [right.real, right.imag])])

    def forces(self):
        """On the crank at O and A, on the rocker at B and C; and the torque. Nine equations of Newton and Euler."""
        second = [(1j * e - r**2) * z for e, r, z in zip(self.spins, self.rates, self.bars, strict=True)]
        centres = (second[0] / 2, second[0] + second[1] / 2, second[2] / 2)
        # Where each force acts on each bar, from the bar's middle, with its sign; unknowns O, A, B, C, torque.
        crank, coupler, rocker = (z / 2 for z in self.bars)
        acting = (
            {0: (1, -crank), 1: (1, crank)},
            {1: (-1, -coupler), 2: (-1, coupler)},
            {2: (1, rocker), 3: (1, -rocker)},
        )
        matrix, right = np.zeros((9, 9)), np.zeros(9)
        for bar, (mass, centre, spin) in enumerate(zip(self.lengths, centres, self.spins, strict=True)):
            for k, (sign, arm) in acting[bar].items():
                matrix[3 * bar, 2 * k] = matrix[3 * bar + 1, 2 * k + 1] = sign
                matrix[3 * bar + 2, 2 * k : 2 * k + 2] = -sign * arm.imag, sign * arm.real
            force = mass * (centre + 1j * G)
            right[3 * bar : 3 * bar + 3] = force.real, force.imag, mass**3 / 12 * spin
        matrix[2, 8] = 1.0
        found = np.linalg.solve(matrix, right)
        return found[:8:2] + 1j * found[1:8:2], found[8]


@pytest.mark.parametrize("w", [0.0, 7.0], ids=["at rest", "in motion"])
def test_four_bar_against_newton_and_euler(w):
    motion = mechsim.simulate(FORCES / "four_bar_driven.yaml", parameters={"w": w})
    table = motion.sampled(np.linspace(0.0, 2.0, 21))
    for row, t in enumerate(table.t):
        rocker = complex(*(motion(t)["B"] - [3.0, 0.0]))  # tells only which of the two closures it is
        forces, torque = FourBar(1.2 + w * t, np.angle(rocker), w).forces()
        places = zip(("O_OA", "A_OA", "B_CB", "C_CB"), forces, strict=True)
        for place, force in (*places, ("A_AB", -forces[1]), ("B_AB", -forces[2])):
            found = table[f"{place}_Fx"][row] + 1j * table[f"{place}_Fy"][row]
            assert found == pytest.approx(force, rel=0, abs=CLOSE), place
        assert table["drive_theta_OA"][row] == pytest.approx(torque, rel=0, abs=CLOSE)
        assert table["drive_theta_OA_power"][row] == pytest.approx(torque * w, rel=0, abs=10 * CLOSE)
    assert not table.not_unique
