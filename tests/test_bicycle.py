"""Whipple's bicycle against the benchmark of Meijaard, Papadopoulos, Ruina and Schwab (2007), Proc. R. Soc. A 463.

It has four bodies, three hinges and two wheels that roll: 30 coordinates, 23 constraints of positions and 4 of
velocities. The paper's two equations of lean and steer are M q'' + v C1 q' + (g K0 + v^2 K2) q = 0.
"""

from __future__ import annotations

import json
import math
from functools import cache

import numpy as np
import pytest
from click.testing import CliRunner
from reference import SPECS
from scipy.linalg import expm
from scipy.optimize import brentq

import mechsim
from mechsim.cli.main import cli

SPEC = SPECS / "space" / "bicycle.yaml"
G = 9.81
EXACT = 1e-10  # of eigenvalues up to 25/s; 5e-13 is seen
# Lean and steer by the two axles, as seen from above: near straight riding they move by themselves.
LEAN_AND_STEER = {
    "lean": "atan2(B.z - A.z, sqrt((B.x - A.x)**2 + (B.y - A.y)**2))",
    "steer": "atan2((D.x - C.x)*(B.y - A.y) - (D.y - C.y)*(B.x - A.x),"
    " (D.x - C.x)*(B.x - A.x) + (D.y - C.y)*(B.y - A.y))",
}
STRAIGHT = {"push": 0.0}


def canonical() -> tuple[np.ndarray, ...]:
    """M, C1, K0 and K2 by the formulas of the paper's appendix A: x forward, z down."""
    w, c, tilt, front, rear = 1.02, 0.08, math.pi / 10, 0.35, 0.3
    masses = {"R": 2.0, "B": 85.0, "H": 4.0, "F": 3.0}
    xs, zs = {"R": 0.0, "B": 0.3, "H": 0.9, "F": w}, {"R": -rear, "B": -0.9, "H": -0.7, "F": -front}
    across = {"R": 0.0603, "F": 0.1405}
    inertia = {
        **{name: np.diag([value, 0, value]) for name, value in across.items()},
        "B": np.array([[9.2, 0, 2.4], [0, 11, 0], [2.4, 0, 2.8]]),
        "H": np.array([[0.05892, 0, -0.00756], [0, 0.06, 0], [-0.00756, 0, 0.00708]]),
    }

    def whole(names: str) -> tuple[float, float, float, float, float, float]:
        mass = sum(masses[name] for name in names)
        x, z = (sum(masses[name] * place[name] for name in names) / mass for place in (xs, zs))
        return mass, x, z, *(moment(names, 0, 0), moment(names, 0, 2), moment(names, 2, 2))

    def moment(names: str, i: int, j: int) -> float:
        """About the rear contact."""
        products = {(0, 0): lambda x, z: z * z, (0, 2): lambda x, z: -x * z, (2, 2): lambda x, z: x * x}[i, j]
        return sum(inertia[name][i, j] + masses[name] * products(xs[name], zs[name]) for name in names)

    mass, x, z, xx, xz, zz = whole("RBHF")
    own, own_x, own_z = whole("HF")[:3]

    def about(i: int, j: int) -> float:
        """Of the front assembly, about its own centre."""
        products = {(0, 0): own_z**2, (0, 2): -own_x * own_z, (2, 2): own_x**2}[i, j]
        return moment("HF", i, j) - own * products

    sine, cosine = math.sin(tilt), math.cos(tilt)
    arm = (own_x - w - c) * cosine - own_z * sine
    steer = own * arm**2 + about(0, 0) * sine**2 + 2 * about(0, 2) * sine * cosine + about(2, 2) * cosine**2
    steer_x = -own * arm * own_z + about(0, 0) * sine + about(0, 2) * cosine
    steer_z = own * arm * own_x + about(0, 2) * sine + about(2, 2) * cosine
    ratio = c / w * cosine
    spin_rear, spin_front = 0.12 / rear, 0.28 / front
    spin = spin_rear + spin_front
    weight = own * arm + ratio * mass * x
    m = np.array([[xx, steer_x + ratio * xz], [0, steer + 2 * ratio * steer_z + ratio**2 * zz]])
    m[1, 0] = m[0, 1]
    k0 = np.array([[mass * z, -weight], [-weight, -weight * sine]])
    k2 = np.array([[0, (spin - mass * z) / w * cosine], [0, (weight + spin_front * sine) / w * cosine]])
    upper = ratio * spin + spin_front * cosine + xz / w * cosine - ratio * mass * z
    lower = steer_z / w * cosine + ratio * (weight + zz / w * cosine)
    c1 = np.array([[0, upper], [-(ratio * spin + spin_front * cosine), lower]])
    return m, c1, k0, k2


def linear(v: float) -> np.ndarray:
    m, c1, k0, k2 = canonical()
    a = np.zeros((4, 4))
    a[:2, 2:] = np.eye(2)
    a[2:, :2], a[2:, 2:] = -np.linalg.solve(m, G * k0 + v**2 * k2), -np.linalg.solve(m, v * c1)
    return a


@cache
def roots(v: float) -> np.ndarray:
    return np.linalg.eigvals(linear(v))


def apart(found: np.ndarray, expected: np.ndarray) -> float:
    return max(float(np.abs(found - value).min()) for value in expected)


@pytest.fixture(scope="module")
def bicycle():
    return mechsim.mechanism(SPEC)


def test_formulas_are_those_of_the_paper():
    """The canonical matrices as printed there, to all digits."""
    printed = (
        [[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]],
        [[0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]],
        [[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]],
        [[0, 76.59734589573222], [0, 2.65431523794604]],
    )
    for matrix, expected in zip(canonical(), printed, strict=True):
        np.testing.assert_allclose(matrix, expected, rtol=0, atol=6e-15 * 10)


@pytest.mark.parametrize("v", [0, 5, *(pytest.param(v, marks=pytest.mark.slow) for v in (1, 2, 3, 4, 6, 7, 8, 9, 10))])
def test_eigenvalues_at_all_speeds_of_its_table(bicycle, v):
    """By lean and steer alone, and as seen by who rides along: these four, and the family of other speeds."""
    found = bicycle.linearize(parameters={"v": v, **STRAIGHT}, coordinates=LEAN_AND_STEER)
    assert found.states == ("lean", "steer", "lean_dot", "steer_dot")
    assert apart(found.eigenvalues, roots(v)) < EXACT
    if v:
        steady = bicycle.linearize(parameters={"v": v, **STRAIGHT}, steady=True)
        assert len(steady.states) == 5 and apart(steady.eigenvalues, roots(v)) < EXACT
        assert steady.neighbours == 1 and np.abs(steady.eigenvalues).min() < 1e-9
        assert steady.stability == ("stable" if v in (5, 6) else "unstable")


def test_table_of_the_paper_at_five_metres_a_second(bicycle):
    """As printed, to all digits."""
    found = bicycle.linearize(parameters={"v": 5, **STRAIGHT}, coordinates=LEAN_AND_STEER).eigenvalues
    weave, capsize, castering = -0.77534188219585 + 4.46486771378823j, -0.32286642900409, -14.07838969279822
    assert apart(found, np.array([weave, weave.conjugate(), capsize, castering])) < 1e-12


@pytest.mark.slow
def test_speeds_at_which_it_balances_by_itself(bicycle):
    """Weave stops to grow at 4.29238253634111 m/s, and capsize begins to at 6.02426201538837 m/s."""

    def largest(v: float, swings: bool) -> float:
        values = bicycle.linearize(parameters={"v": v, **STRAIGHT}, coordinates=LEAN_AND_STEER).eigenvalues
        return max(value.real for value in values if (abs(value.imag) > 1) == swings)

    assert brentq(largest, 4.2, 4.4, args=(True,), xtol=1e-13) == pytest.approx(4.29238253634111, abs=1e-11)
    assert brentq(largest, 5.9, 6.1, args=(False,), xtol=1e-13) == pytest.approx(6.02426201538837, abs=1e-11)


@pytest.mark.slow
def test_small_pushes_move_it_as_the_paper_says(bicycle):
    """Its own motion from a small push, and the exponential of the paper's equations: nonlinear terms are cubic."""
    push = 1e-4
    motion = bicycle.simulate(parameters={"v": 5, "push": push}, tend=2, tol=1e-13)
    a, b = motion(2)["A"], motion(2)["B"]
    lean = math.atan2(b[2] - a[2], math.hypot(*(b - a)[:2]))  # to the right, as in the paper
    assert lean == pytest.approx((expm(2 * linear(5)) @ [0, 0, push, 0])[0], rel=1e-6)


@pytest.mark.slow
def test_it_rights_itself_and_keeps_its_energy(bicycle):
    """Figure 4 of the paper: what the push gave goes into speed, and it rides on in another direction."""
    motion = bicycle.simulate(tend=10)
    assert motion.certificate.energy_drift < 1e-12
    rises = [abs(motion(t)["B"][2] - motion(t)["A"][2]) for t in np.linspace(0, 10, 101)]
    assert rises[-1] < 2e-4 and max(rises) > 0.005  # of 0.1 m of axle
    assert 4.6 < np.linalg.norm(motion.velocity(10)["A"]) < 4.65


def test_command():
    said = (
        CliRunner()
        .invoke(cli, ["linearize", str(SPEC), "--steady", "--set", "push=0", "--set", "v=5"], catch_exceptions=False)
        .stdout
    )
    assert "-0.32286643" in said and "-0.77534188 ± 4.4648677i" in said and "-14.07839" in said
    assert "stable: small changes die out, but for those to other steady motions" in said
    found = json.loads(
        CliRunner()
        .invoke(cli, ["linearize", str(SPEC), "--steady", "--set", "push=0", "--set", "v=7", "--json"])
        .stdout
    )
    assert found["stability"] == "unstable"
