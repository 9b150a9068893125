"""Basins of attraction: against motions followed by SciPy, and by the symmetries that mechanisms have."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest
from reference import SPECS
from reference.dynamics import followed, magnetic_pendulum
from scipy.optimize import fsolve

import mechsim
from mechsim.errors import AssemblyError, SpecError

DYNAMICS = SPECS / "dynamics"
LOOSE = {"rtol": 1e-9, "atol": 1e-10}  # to which of some rests a motion comes needs no more, away from borders

PENDULUM = mechsim.lagrangian_system(
    lambda q, v, t: v[0] ** 2 / 2 + jnp.cos(q[0]), ["angle"], forces=lambda q, v, t: [-0.2 * v[0]]
)
WELLS = mechsim.lagrangian_system(
    lambda q, v, t, p: v[0] ** 2 / 2 + q[0] ** 2 / 2 - q[0] ** 4 / 4,
    ["x"],
    forces=lambda q, v, t, p: [-0.25 * v[0] + p.F * jnp.cos(t)],
    parameters={"F": 0.0},
)


@pytest.mark.slow
def test_a_damped_pendulum_comes_to_rest_after_some_turns():
    """Starts at random are followed by SciPy to the same number of turns, and the grid is its own mirror image. Starts
    within 1e-3 of the rest above would take long; none of these is."""
    angles, rates = np.linspace(-math.pi, math.pi, 40), np.linspace(-6, 6, 41)
    found = PENDULUM.basins({"angle": angles, "angle_dot": rates}, apart=True, tend=150.0, scales={"angle": 1.0})
    assert {each.kind for each in found.attractors} == {"rest"} and found.undecided == 0
    turns = np.array([round(each.positions[0] / (2 * math.pi)) for each in found.attractors])
    assert [each.positions[0] for each in found.attractors] == pytest.approx(2 * math.pi * turns, abs=1e-9)
    counted = turns[found.labels]
    assert np.array_equal(counted, -counted[::-1, ::-1])
    random = np.random.default_rng(7)
    for i, j in random.integers(0, 40, (25, 2)):
        start = [angles[i], rates[j]]
        end = followed(lambda t, y: [y[1], -math.sin(y[0]) - 0.2 * y[1]], start, [60.0], **LOOSE)[-1]
        assert counted[i, j] == round(end[0] / (2 * math.pi))
    together = PENDULUM.basins({"angle": angles[:3], "angle_dot": rates[:3]}, tend=150.0, scales={"angle": 1.0})
    assert len(together.attractors) == 1  # whole turns make no difference, unless asked


def test_two_wells_are_mirror_images():
    values = np.linspace(-2, 2, 41)
    found = WELLS.basins({"x": values, "x_dot": values}, tend=150.0, scales={"x": 1.0})
    assert sorted(each.positions[0] for each in found.attractors) == pytest.approx([-1, 1], abs=1e-10)
    middle = found.labels[20, 20]
    assert middle == -1 or len(found.attractors) == 2  # it starts on the ridge, and stays for good
    sides = np.where(found.labels < 0, 0, np.array([each.positions[0] for each in found.attractors])[found.labels])
    assert np.array_equal(np.sign(sides), -np.sign(sides[::-1, ::-1]))
    assert found.notes and "had not settled" in found.notes[0]


def test_driven_wells_have_periodic_motions():
    """With a small push two motions of its period, which Newton's method finds; their starts at a phase later by half a
    period are mirror images, so both states are known from one."""
    values = np.linspace(-1.8, 1.8, 24)
    found = WELLS.basins(
        {"x": values, "x_dot": values}, period=2 * math.pi, parameters={"F": 0.2}, tend=400.0, scales={"x": 1.0}
    )
    assert [(each.kind, each.multiple) for each in found.attractors] == [("periodic", 1)] * 2
    assert found.undecided < 0.02 and found.shares.sum() > 0.98
    one, other = found.attractors
    state = [one.positions[0], one.velocities[0]]
    half = followed(
        lambda t, y: [y[1], y[0] - y[0] ** 3 - 0.25 * y[1] + 0.2 * math.cos(t)], state, [math.pi, 2 * math.pi]
    )
    assert half[1] == pytest.approx(state, abs=1e-8)
    assert -half[0] == pytest.approx([other.positions[0], other.velocities[0]], abs=1e-7)


@pytest.mark.slow
def test_magnets_have_their_rests_and_their_mirror():
    handle = mechsim.mechanism(DYNAMICS / "magnetic_pendulum.yaml")
    values = np.linspace(-1.2, 1.2, 13)
    found = handle.basins({"A_x": values, "A_y": values}, tol=1e-8)
    rates = magnetic_pendulum()
    for each in found.attractors:
        rest = fsolve(lambda x: rates(0, np.array([*x, 0, 0]))[2:], each.positions, xtol=1e-12)
        assert each.positions == pytest.approx(rest, abs=1e-9)
    heights = np.array([each.positions[1] for each in found.attractors])
    side = np.round(heights[found.labels], 6) + 0.0
    assert np.array_equal(side[:, :6], -side[:, :6:-1])  # without the axis itself, where it stays or falls to a side
    for i, j in [(10, 6), (4, 10), (4, 2), (9, 8), (3, 7)]:
        end = followed(rates, [values[i], values[j], 0, 0], [80.0], **LOOSE)[-1]
        assert found.attractors[found.labels[i, j]].positions == pytest.approx(end[:2], abs=1e-3)


@pytest.mark.slow
def test_a_limit_cycle_takes_all():
    handle = mechsim.mechanism(DYNAMICS / "van_der_pol.yaml")
    values = np.linspace(-2.7, 2.3, 6)
    found = handle.basins({"A_x": values, "A_x_dot": values}, tend=80.0)
    assert found.shares == pytest.approx([1.0])
    assert found.attractors[0].period == pytest.approx(6.66328685932313, rel=1e-9)


def test_basins_are_written(tmp_path):
    found = PENDULUM.basins({"angle": [0.5, 1.0], "angle_dot": [0.0, 0.5, 1.0]}, tend=100.0, scales={"angle": 1.0})
    for ending in ("csv", "npz", "json"):
        found.save(tmp_path / f"basins.{ending}")
    lines = (tmp_path / "basins.csv").read_text().splitlines()
    assert lines[1] == "angle,angle_dot,attractor,settled" and len(lines) == 2 + 6
    with np.load(tmp_path / "basins.npz") as file:
        assert file["labels"].shape == (2, 3) and list(file["names"]) == ["angle", "angle_dot"]


@pytest.mark.slow
def test_what_has_no_basins():
    with pytest.raises(SpecError, match="a basin has starts"):
        PENDULUM.basins({}, tend=10.0)
    with pytest.raises(SpecError, match="there is no coordinate or rate speed"):
        PENDULUM.basins({"speed": [1.0]}, tend=10.0)
    with pytest.raises(SpecError, match="nobody says with which period"):
        mechsim.mechanism(DYNAMICS / "double_well.yaml").basins({"A_x": [0.0]})
    with pytest.raises(AssemblyError, match="nothing can start with A_x = 3"):
        mechsim.mechanism(SPECS / "pendulum.yaml").basins({"A_x": [3.0]})
    swinging = mechsim.mechanism(SPECS / "pendulum.yaml").basins({"A_y": [-0.3, -0.5]}, tend=3.0)
    assert swinging.undecided == 1.0 and not swinging.attractors  # nothing dies out
