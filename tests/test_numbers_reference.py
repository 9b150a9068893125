"""Motions known from elsewhere to 20 digits and more: pendulum (exact), double pendulum, four-bar (quad precision)."""

from dataclasses import replace

import numpy as np
import pytest
from reference import SPECS, reference, stacked

import mechsim
from mechsim.kernel.system import System

# What a march at tolerance 1e-14 loses beyond the growth of a perturbation: rounding of some hundred steps.
ROUNDING = 1e-14


@pytest.fixture(scope="module")
def four_bar():
    return mechsim.simulate(SPECS / "four_bar.yaml")


def test_pendulum_is_the_elliptic_functions():
    """An error in the energy is one in the period, so the error of a position grows with t: 1e-14 per second.

    At t = 2000 (33,000 steps) the benchmark allows 1e-6; rounding in the energy, which random-walks, gives 1e-10.
    """
    motion = mechsim.simulate(SPECS / "pendulum.yaml", tend=2000.0)
    for t, (*expected, tension) in reference("pendulum").items():
        state = np.concatenate([motion(t)["A"], motion.velocity(t)["A"]])
        limit = 1e-9 if t > 1000 else 1e-13 + 3e-14 * t
        np.testing.assert_allclose(state, expected, rtol=0, atol=limit)
        # The constraint is |A|^2 - l^2, with gradient 2 A: the rod pulls with 2 l lambda. Tension turns at 30 N/s.
        assert 2 * motion.multipliers(t)["l_OA"] == pytest.approx(tension, rel=0, abs=10 * limit)


def test_double_pendulum_keeps_what_chaos_leaves():
    """Errors are rounding of the start and of the steps, grown by the figure of the reference; speeds reach 13 m/s."""
    motion = mechsim.simulate(SPECS / "double_pendulum.yaml")
    for row in reference("double_pendulum"):
        turned = np.exp(1j * np.array(row["angles"]))
        points = np.cumsum(-1j * turned)  # from the downward vertical: x = sin, y = -cos
        speeds = np.cumsum(turned * row["rates"])
        limit = ROUNDING * row["growth"]
        np.testing.assert_allclose(_complex(motion(row["t"]), "AB"), points, rtol=0, atol=limit)
        np.testing.assert_allclose(_complex(motion.velocity(row["t"]), "AB"), speeds, rtol=0, atol=13 * limit)


def _complex(state, names):
    x, y = stacked(state, names).reshape(-1, 2).T
    return x + 1j * y


def _bars(state):
    """Crank, coupler and rocker as complex numbers."""
    o, a, b, c = _complex(state, "OABC")
    return np.array([a - o, b - a, b - c])


def _four_bar_rows():
    return [pytest.param(row, id=f"t={row['t']}") for row in reference("four_bar")["rows"]]


@pytest.mark.parametrize("row", _four_bar_rows())
def test_four_bar_moves_as_in_minimal_coordinates(four_bar, row):
    """Twenty times rounding, grown: angles are lost at 7 rad/s, rates at 24 rad/s^2."""
    bars, velocities = _bars(four_bar(row["t"])), _bars(four_bar.velocity(row["t"]))
    limit = 2 * ROUNDING * max(row["growth"], 1.0)
    np.testing.assert_allclose(np.angle(bars * np.exp(-1j * np.array(row["angles"]))), 0.0, atol=limit)
    np.testing.assert_allclose((velocities / bars).imag, row["rates"], rtol=0, atol=24 * limit)
    np.testing.assert_allclose(four_bar(row["t"])["P"], row["P"], rtol=0, atol=2 * limit)
    # The turn angle of the crank counts its turns. It grows to 37, whose last bit is 7e-15.
    assert four_bar(row["t"])["theta_OA"] == pytest.approx(row["angles"][0], rel=0, abs=limit + 2e-14)


@pytest.mark.parametrize("row", _four_bar_rows())
def test_four_bar_accelerations_and_joint_force(four_bar, row):
    """Accelerations and forces change by 400 per rad of the crank, so they lose that much more than the angles."""
    system, t = four_bar.system, row["t"]
    q, v, multipliers = (values[0] for values in four_bar.solution.sample(t))
    accelerations, _ = system.accelerations(t, q, v)
    limit = 400 * ROUNDING * max(row["growth"], 1.0)
    bars, velocities = _bars(four_bar(t)), _bars(four_bar.velocity(t))
    second = _bars(mechsim.result.motion.State(system.mechanism, accelerations, constant=0.0))
    # e^{i theta}'' / e^{i theta} = i theta'' - theta'^2
    np.testing.assert_allclose((second / bars).imag, row["accelerations"], rtol=0, atol=limit)
    np.testing.assert_allclose((second / bars).real, -((velocities / bars).imag ** 2), rtol=0, atol=limit)
    found = force_on(system, "CB", "B", t, q, v, accelerations, multipliers)
    np.testing.assert_allclose(found, row["force"], rtol=0, atol=limit)
    assert sum(system.energies(t, q, v)) == pytest.approx(reference("four_bar")["energy"], rel=1e-14)


def force_on(system, part, point, t, q, v, accelerations, multipliers):
    """The force a part receives at a point: what its own elements leave over in the rows of that point."""
    mechanism = system.mechanism
    alone = replace(mechanism, elements=tuple(e for e in mechanism.elements if e.owner == part))
    by_label = dict(zip(system.labels[system.n :], multipliers, strict=True))
    own = [by_label[label] for label in alone.multipliers]
    return System(alone).residuals(t, q, v, accelerations, own)[list(mechanism.points[point])]


def test_a_spring_of_no_length_passes_through_its_anchor():
    """V = k d^2/2 is smooth everywhere: harmonic motion, exactly through the anchor, to a few roundings."""
    motion = mechsim.simulate(
        "PartData: {Fixed: {O: []}, Springs: {OA: [4, 0]}, Particles: {A: 1}}\n"
        "ProblemData: {tend: 10, positions: {A: [1, 0]}}\n",
        tol=1e-14,
    )
    assert motion(10.0)["A"] == pytest.approx([np.cos(20.0), 0.0], abs=1e-13)
