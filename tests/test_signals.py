"""Signals that a file asks for are columns, along steps and samples, in every kind of file."""

from textwrap import dedent

import numpy as np
import pytest

import mechsim
from mechsim.result.files import load

SPEC = dedent("""
    Signals: {power: 3*omega_OA, T: A.x, mixed: power + ramp, clock: 2*t, root: sqrt(0.5 - t)}
    Tables: {ramp: {points: [[0, 0], [0.5, 1], [4, 1]]}}
    Piecewise: {jump: [[0, 0], [0.5, 7]]}
    PartData:
      Fixed: {O: []}
      Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
    AppliedForces: {Gravity: , Torques: {OA: 3}}
    Output: {reactions: all, signals: [power, T, mixed, clock, ramp, jump, root]}
    ProblemData: {tend: 1}
""")


@pytest.fixture(scope="module")
def motion():
    return mechsim.simulate(SPEC)


def test_columns_follow_their_formulas(motion):
    # The formulas are evaluated at the very states of the rows: only rounding may differ.
    for table in (motion.trajectory, motion.sampled(np.linspace(0, 1, 11))):
        ramp = np.minimum(2 * table.t, 1)
        assert table["power"] == pytest.approx(3 * table["theta_OA_dot"], rel=1e-15)
        assert table["clock"] == pytest.approx(2 * table.t, rel=1e-15)
        assert table["ramp"] == pytest.approx(ramp, abs=1e-15)
        assert table["mixed"] == pytest.approx(table["power"] + ramp, rel=1e-14)
        assert np.array_equal(table["jump"][table.t != 0.5], np.where(table.t > 0.5, 7.0, 0.0)[table.t != 0.5])


def test_a_name_that_is_taken_gets_another(motion):
    assert np.array_equal(motion.trajectory["signal_T"], motion.trajectory["A_x"])
    assert motion.trajectory["T"].min() >= 0  # still the kinetic energy


def test_signals_by_name_at_any_time(motion):
    assert motion.signals(0.25)["T"] == motion(0.25)["A_x"]
    times = np.array([0.1, 0.9])
    assert np.array_equal(motion.signals(times)["power"], 3 * motion.velocity(times)["theta_OA"])


def test_a_signal_without_a_value_disturbs_nothing_else(motion, recwarn):
    root = motion.sampled(np.array([0.25, 0.75]))["root"]
    assert root[0] == 0.5 and np.isnan(root[1])
    assert not recwarn.list


def test_a_signal_is_no_joint(motion):
    """Reading A.x and omega_OA exerts nothing: `reactions: all` is about O alone, and the torque about OA's load."""
    forces = [label for label in motion.trajectory.labels if "_F" in label]
    assert forces == ["O_OA_Fx", "O_OA_Fy", "O_OA_Fu", "O_OA_Fv"]
    quiet = mechsim.simulate(SPEC.replace("Torques: {OA: 3}", ""))
    assert "OA_M" in motion.trajectory.labels and "OA_M" not in quiet.trajectory.labels


@pytest.mark.parametrize("form", ["csv", "npz", "parquet"])
def test_files_have_the_columns(motion, form, tmp_path):
    loaded = load(str(motion.save(tmp_path / f"out.{form}")))
    assert np.array_equal(loaded["mixed"], motion.trajectory["mixed"])


def test_unknown_reaction_points_are_told_with_their_place():
    with pytest.raises(mechsim.SpecError, match=r":9:.*Q"):
        mechsim.simulate(SPEC.replace("reactions: all", "reactions: [Q]"))
    with pytest.raises(mechsim.SpecError):
        mechsim.simulate(SPEC.replace("reactions: all", "reactions: every"))


def test_drag_of_a_point_that_starts_at_rest():
    """Falling with quadratic drag from rest: v = u tanh(g t/u), the fall u^2/g log(cosh(g t/u)), u^2 = m g/k."""
    text = """
        PartData: {Particles: {A: 2}}
        AppliedForces: {Gravity: [0, -10], Drag: {A: [0, 0.2]}}
        ProblemData: {tend: 3, positions: {A: [0, 0]}}
    """
    fall = mechsim.simulate(dedent(text), tol=1e-14)
    # The corner is rounded over v0 = 1e-5 sqrt(10) m/s, which changes accelerations by k v0^2/(2 m) = 5e-11 at most;
    # in three seconds that is less than 2e-10 m/s and 3e-10 m.
    assert fall.velocity(3.0)["A_y"] == pytest.approx(-10 * np.tanh(3), abs=2e-10)
    assert fall(3.0)["A_y"] == pytest.approx(-10 * np.log(np.cosh(3)), abs=3e-10)
