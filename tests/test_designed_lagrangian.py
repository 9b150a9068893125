"""Inverse dynamics and workspace of a user's Lagrangian: against torques by hand, against those of a file, and against
areas of rings."""

import numpy as np
import pytest
from jax import numpy as jnp
from test_inverse import ARM, L1, L2, LOAD, M1, M2, MOTION, G, arm_torques
from test_workspace import CUBICS, ring

import mechsim

ANGLES = {"q1": "0.5*sin(3*t)", "q2": "0.8+0.3*cos(2*t)"}
ROUNDING = 1e-13  # of torques: they are sums of a few terms


def energies(q, v, t):
    """An arm of two uniform rods with a load, by the angle of the upper arm and the one at the elbow."""
    near, far = M2 * L2**2 / 3 + LOAD * L2**2, (M2 / 2 + LOAD) * L1 * L2
    upper, turning = M1 * L1**2 / 3 + (M2 + LOAD) * L1**2, v[0] + v[1]
    kinetic = (upper * v[0] ** 2 + near * turning**2) / 2 + far * v[0] * turning * jnp.cos(q[1])
    height = (M1 / 2 + M2 + LOAD) * L1 * jnp.sin(q[0]) + (M2 / 2 + LOAD) * L2 * jnp.sin(q[0] + q[1])
    return kinetic - G * height


@pytest.fixture(scope="module")
def arm():
    points = {"O": (0, 0), "A": (f"{L1}*cos(q1)", f"{L1}*sin(q1)")}
    points["B"] = (f"{L1}*cos(q1) + {L2}*cos(q1 + q2)", f"{L1}*sin(q1) + {L2}*sin(q1 + q2)")
    return mechsim.lagrangian_system(energies, ["q1", "q2"], draw={"points": points, "parts": ["OA", "AB"]})


def test_torques_are_those_by_hand_and_of_the_file(arm):
    found = arm.inverse(ANGLES, tend=2, tol=1e-13)
    t = np.linspace(0, 2, 81)
    told, expected = found.at(t), arm_torques(t)
    for name, torque in zip(("drive_q1", "drive_q2"), expected, strict=True):
        assert np.abs(told[name] - torque).max() < ROUNDING * np.abs(torque).max()
    file = mechsim.mechanism(ARM).inverse(MOTION, tend=2, tol=1e-13)
    assert np.abs(file.at(t)["drive_theta_OA"] - told["drive_q1"]).max() < 1e-10  # positions of points are to 1e-13
    for own, other in (("q1", "theta_OA"), ("q2", "theta_AB-theta_OA")):
        assert found[own].peak.value == pytest.approx(file[other].peak.value, rel=1e-9)
        assert found[own].rms == pytest.approx(file[other].rms, rel=1e-9)
        assert found[own].work == pytest.approx(file[other].work, abs=1e-9)
    assert found.freedoms == 0 and not found.notes and found["q1"].unit == ""
    assert found.motion.certificate.energy_drift < 1e-13  # the work of the drives is accounted for


@pytest.mark.slow
def test_a_table_and_an_expression_of_coordinates(arm, tmp_path):
    """The elbow by the angle of the forearm against the ground; a spline of 81 rows misses 1e-6."""
    t = np.linspace(0, 2, 81)
    found = arm.inverse(
        {"q1": (t, 0.5 * np.sin(3 * t)), "q1 + q2": (t, 0.5 * np.sin(3 * t) + 0.8 + 0.3 * np.cos(2 * t))}
    )
    inside = t[10:-10]
    shoulder, elbow = arm_torques(inside)
    told = found.at(inside)
    assert np.abs(told["drive_q1_q2"] - elbow).max() < 1e-5
    assert np.abs(told["drive_q1"] - (shoulder - elbow)).max() < 1e-5  # the other torque acts from the ground
    assert found.save(tmp_path / "torques.csv").read_text().count("\n") > 10
    with pytest.raises(mechsim.MechsimError):
        found.save(tmp_path / "torques.yaml")  # there is no file


@pytest.mark.slow
def test_one_freedom_may_be_left(arm):
    found = arm.inverse({"q1": "0.1*t"}, {"q2": 0.5}, tend=0.5)
    assert found.freedoms == 1 and "1 freedom is not driven" in found.notes[0]


@pytest.mark.slow
def test_constraints_of_the_user_hold_too():
    """A mass on a circle, moved along it at the rate 2: the force is that against its weight, m g cos."""
    system = mechsim.lagrangian_system(
        lambda q, v, t, p: p.m * (v[0] ** 2 + v[1] ** 2) / 2 - p.m * 9.81 * q[1],
        ["x", "y"],
        constraints=lambda q, t, p: [q[0] ** 2 + q[1] ** 2 - 1],
        parameters={"m": 2.0},
    )
    found = system.inverse({"x": "cos(2*t)"}, {"x": 1, "y": 0.3}, t0=0.2, tend=1, parameters={"m": 3.0})
    t = np.linspace(0.2, 1, 21)
    expected = -3.0 * 9.81 * np.cos(2 * t) / np.sin(2 * t)  # by virtual work: F dx + W dy = 0
    assert np.abs(found.at(t)["drive_x"] - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"motions": {}}, "no motion is given"),
        ({"motions": {"q1": "t"}}, "nothing says when the motion ends"),
        ({"motions": {"q3": "t"}, "tend": 1}, "q3, which is neither coordinate nor parameter"),
        ({"motions": {"q1": "q2"}, "tend": 1}, "must be a function of time"),
        ({"motions": {"2": "t"}, "tend": 1}, "has nothing to move"),
        ({"motions": {"q1": ([0, 1], [0, 1])}}, "a spline needs"),
        ({"motions": {"q1": "t", "2*q1": "t"}, "tend": 1}, "drive of"),
    ],
)
def test_motions_that_are_refused(arm, asked, words):
    with pytest.raises(mechsim.MechsimError, match=words):
        arm.inverse(**asked)


def test_an_arm_reaches_a_ring(arm):
    found = arm.workspace("B", {"q1": 0.3, "q2": 0.5}, turning=["q1", "q2"])
    assert found.area == pytest.approx(ring(0.2, 1.0), rel=CUBICS)
    assert found.names == ("B_x", "B_y") and not found.notes


@pytest.mark.slow
def test_with_limits_and_with_constraints():
    """The same arm in positions of its points; the rest is as for files (test_workspace.py)."""
    rods = mechsim.lagrangian_system(
        lambda q, v, t: sum(each**2 for each in v) / 2,
        ["A_x", "A_y", "B_x", "B_y"],
        constraints=lambda q, t: [q[0] ** 2 + q[1] ** 2 - 0.36, (q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - 0.16],
    )
    start = {"A_x": 0.6, "A_y": 0.1, "B_x": 0.8, "B_y": 0.4}
    assert rods.workspace("B", start).area == pytest.approx(ring(0.2, 1.0), rel=CUBICS)
    above = rods.workspace("B", start, limits={"B_y": (0, None)})
    assert above.area == pytest.approx(ring(0.2, 1.0) / 2, rel=CUBICS)
    assert {name for piece in above.boundary for name in above.met(piece)} == {"B_y min"}


def test_what_workspaces_refuse(arm):
    start = {"q1": 0.3, "q2": 0.5}
    for of, more, words in (
        ("C", {}, "there is no point C"),
        (["q1"], {}, "two expressions, not of 1"),
        (["q1", "q9"], {}, "q9, which is neither"),
        ("B", {"hold": {"q1": 0.3}}, "with 1 freedom B_x and B_y reach no area"),
        ("B", {"limits": {"q1": (1, 2)}}, "the start is beyond a limit"),
        ("B", {"turning": ["z"]}, "turning names 'z'"),
    ):
        with pytest.raises(mechsim.MechsimError, match=words):
            arm.workspace(of, start, **more)
