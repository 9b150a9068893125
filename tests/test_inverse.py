"""Inverse dynamics: torques for a given motion, against closed forms, against statics and d'Alembert by hand, and by
running the mechanism with the torques that were found."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import mechsim
from mechsim.cli.main import cli

ARM = "specs/design/arm_2r.yaml"
L1, L2, M1, M2, LOAD, G = 0.6, 0.4, 4.0, 2.0, 1.5, 9.81
MOTION = {"theta_OA": "0.5*sin(3*t)", "theta_AB-theta_OA": "0.8+0.3*cos(2*t)"}
SPATIAL = """
Dimension: 3
PhysicalParams: {l: 0.7, m: 3, g: 9.81}
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[l]], Dyna: {rod: , mass: m}}}
AppliedForces: {Gravity: [0, 0, -g]}
ProblemData: {tend: 1, positions: {A: [l, 0, 0]}}
"""


def arm_torques(t):
    """Lagrange's equations of the arm, with the angle of the upper arm and the one at the elbow."""
    q1, d1, a1 = 0.5 * np.sin(3 * t), 1.5 * np.cos(3 * t), -4.5 * np.sin(3 * t)
    q2, d2, a2 = 0.8 + 0.3 * np.cos(2 * t), -0.6 * np.sin(2 * t), -1.2 * np.cos(2 * t)
    near, far = M2 * L2**2 / 3 + LOAD * L2**2, (M2 / 2 + LOAD) * L1 * L2  # inertia about the elbow; coupling
    upper = M1 * L1**2 / 3 + (M2 + LOAD) * L1**2
    c, s = np.cos(q2), np.sin(q2)
    weight2 = (M2 / 2 + LOAD) * G * L2 * np.cos(q1 + q2)
    weight1 = (M1 / 2 + M2 + LOAD) * G * L1 * np.cos(q1)
    shoulder = (upper + near + 2 * far * c) * a1 + (near + far * c) * a2 - far * s * (2 * d1 * d2 + d2**2)
    elbow = (near + far * c) * a1 + near * a2 + far * s * d1**2
    return shoulder + weight1 + weight2, elbow + weight2


@pytest.fixture(scope="module")
def arm():
    return mechsim.mechanism(ARM).inverse(MOTION, tend=2, tol=1e-13)


def test_torques_of_an_arm_are_lagranges(arm):
    t = np.linspace(0, 2, 81)
    found, expected = arm.at(t), arm_torques(t)
    names = "drive_theta_OA", "drive_theta_AB_theta_OA"
    for name, torque in zip(names, expected, strict=True):
        assert np.abs(found[name] - torque).max() < 1e-10 * np.abs(torque).max()
    assert found["drive_theta_OA_power"] == pytest.approx(expected[0] * 1.5 * np.cos(3 * t), abs=1e-9)
    assert arm.freedoms == 0 and not arm.notes


def test_peaks_and_means_are_those_of_the_whole_curve(arm):
    t = np.linspace(0, 2, 400_001)
    torque = arm_torques(t)[0]
    need = arm["theta_OA"]
    place = np.argmax(np.abs(torque))
    assert need.peak.value == pytest.approx(torque[place], rel=1e-9)
    assert need.peak.t == pytest.approx(t[place], abs=2e-5)
    weights = np.full(len(t), t[1])
    weights[[0, -1]] /= 2
    assert need.rms == pytest.approx(np.sqrt((torque**2 * weights).sum() / 2), rel=1e-9)
    power = torque * 1.5 * np.cos(3 * t)
    assert need.work == pytest.approx((power * weights).sum(), rel=1e-8)
    assert need.most_power.value == pytest.approx(power.max(), rel=1e-8)


def test_a_table_of_the_motion_gives_the_same_and_better_with_more_rows():
    """A quintic spline misses the second derivative by the fourth power of the distance of its points."""
    inside = np.linspace(0.3, 1.7, 57)
    errors = []
    for count in (21, 41):
        t = np.linspace(0, 2, count)
        motions = {"theta_OA": (t, 0.5 * np.sin(3 * t)), "theta_AB-theta_OA": (t, 0.8 + 0.3 * np.cos(2 * t))}
        found = mechsim.mechanism(ARM).inverse(motions).at(inside)["drive_theta_OA"]
        errors.append(np.abs(found - arm_torques(inside)[0]).max())
    assert errors[1] < 2e-4 and errors[0] / errors[1] > 10


def test_the_arm_with_these_torques_goes_the_same_way(arm):
    """Forward again, with the torques as tables: what a spline of 401 values misses is 1e-9 of them, and the arm makes
    1e-7 of that in two seconds."""
    t = np.linspace(0, 2, 401)
    found = arm.at(t)
    shoulder, elbow = (
        ", ".join(f"[{float(at)!r}, {float(value)!r}]" for at, value in zip(t, found[name], strict=True))
        for name in ("drive_theta_OA", "drive_theta_AB_theta_OA")
    )
    text = Path(ARM).read_text().replace("AppliedForces:", "AppliedForces:\n  Torques: {OA: shoulder, AB-OA: elbow}")
    text = text[: text.index("ProblemData")]
    text += (
        f"Tables: {{shoulder: {{kind: quintic, points: [{shoulder}]}}, elbow: {{kind: quintic, points: [{elbow}]}}}}\n"
    )
    text += "ProblemData: {tend: 2, angles: {OA: [0, fixed], AB: [1.1, fixed]}, rates: {OA: [1.5, fixed], "
    text += "AB: [1.5, fixed]}}\n"
    motion = mechsim.simulate(text, tol=1e-13)
    times = np.linspace(0, 2, 21)
    assert np.abs(motion(times)["theta_OA"] - 0.5 * np.sin(3 * times)).max() < 1e-6
    expected = 0.5 * np.sin(3 * times) + 0.8 + 0.3 * np.cos(2 * times)
    assert np.abs(motion(times)["theta_AB"] - expected).max() < 1e-6


def test_slider_crank_at_constant_speed_by_virtual_power():
    """d'Alembert: the torque times the speed is what weights and inertias take, rod and piston with accelerations from
    the closed form of the crank's angle."""
    w, a, b, m1, m2, m3, g = 12.0, 0.3, 0.9, 2.0, 3.0, 1.5, 9.81
    found = mechsim.mechanism("specs/forces/driven_slider_crank.yaml").inverse()
    t = np.linspace(0, 1, 61)
    theta = w * t
    s = -a / b * np.sin(theta)
    beta, ds = np.arcsin(s), -a / b * np.cos(theta) * w
    db = ds / np.cos(beta)
    ddb = (a / b * np.sin(theta) * w**2 + np.sin(beta) * db**2) / np.cos(beta)

    def kinematics(along):
        """Velocity and acceleration of a point of the rod."""
        e, f = np.exp(1j * theta), np.exp(1j * beta)
        return 1j * w * a * e + 1j * db * along * f, -(w**2) * a * e + (1j * ddb - db**2) * along * f

    middle, end = kinematics(0.4 * b), kinematics(b)
    crank = 1j * w * a / 3 * np.exp(1j * theta)
    weight = m1 * g * crank.imag + m2 * g * middle[0].imag
    inertia = m2 * (middle[0].conj() * middle[1]).real + m2 * b**2 / 12 * db * ddb + m3 * end[0].real * end[1].real
    torque = (weight + inertia) / w
    assert np.abs(found.at(t)["drive_theta_OA"] - torque).max() < 1e-10 * np.abs(torque).max()


def test_an_arm_in_space_that_turns_and_lifts():
    """Azimuth p, elevation h: T = I (cos(h)^2 p'^2 + h'^2)/2 and V = m g l/2 sin(h). The force of the drive of A.z is
    the torque of h over dz/dh."""
    motions = {"A.z": "0.7*sin(0.4*sin(2*t))", "atan2(A.y,A.x)": "0.8*t**2"}
    found = mechsim.mechanism(SPATIAL).inverse(motions, tend=1, tol=1e-13)
    t = np.linspace(0, 1, 21)
    h, dh, ddh = 0.4 * np.sin(2 * t), 0.8 * np.cos(2 * t), -1.6 * np.sin(2 * t)
    dp, ddp = 1.6 * t, 1.6
    inertia, weight = 3 * 0.7**2 / 3, 3 * 9.81 * 0.7 / 2
    turning = inertia * (np.cos(h) ** 2 * ddp - 2 * np.cos(h) * np.sin(h) * dh * dp)
    lifting = inertia * (ddh + np.cos(h) * np.sin(h) * dp**2) + weight * np.cos(h)
    torque, force = (found.at(t)[need.name] for need in (found.needs[1], found.needs[0]))
    assert np.abs(torque - turning).max() < 1e-10 * np.abs(turning).max()
    assert np.abs(force * 0.7 * np.cos(h) - lifting).max() < 1e-10 * np.abs(lifting).max()


def test_freedoms_that_nothing_drives_are_told():
    found = mechsim.mechanism(ARM).inverse({"theta_OA": "0.2*t**2"}, tend=0.5)
    assert found.freedoms == 1 and "1 freedom is not driven" in found.notes[0]


def test_a_speed_that_is_driven_is_no_freedom():
    found = mechsim.mechanism(ARM).inverse({"omega_OA": "0.3*t"}, tend=0.2)
    assert found.freedoms == 1 and "1 freedom is not driven" in found.notes[0]
    assert not mechsim.mechanism(ARM).inverse({"omega_OA": "0.3*t", "theta_AB": "t"}, tend=0.2).notes


def test_a_formula_that_ends_is_told_by_its_name():
    with pytest.raises(
        mechsim.IntegrationError, match=r"the motion of theta_OA has no value beyond t = 1: sqrt\(1-t\)"
    ):
        mechsim.mechanism(ARM).inverse({"theta_OA": "sqrt(1-t)", "theta_AB": "1"})


def test_what_the_file_drives_is_replaced():
    handle = mechsim.mechanism("specs/forces/driven_slider_crank.yaml")
    slower = handle.inverse({"theta_OA": "6*t"}, tend=1)
    assert [need.name for need in slower.needs] == ["drive_theta_OA"]
    assert slower.motion.velocity(0.3)["theta_OA"] == pytest.approx(6, abs=1e-10)
    by_speed = handle.inverse({"omega_OA": "6"}, tend=1)
    assert by_speed.at([0.3])["drive_omega_OA"] == pytest.approx(slower.at([0.3])["drive_theta_OA"], rel=1e-9)


def test_units_and_names_of_columns(tmp_path):
    t = np.linspace(0, 1, 21)
    path = tmp_path / "motion.csv"
    rows = "\n".join(f"{1000 * a:.15g},{np.degrees(0.3 * a**2):.15g},{0.2 - 0.1 * a**3:.15g}" for a in t)
    path.write_text(f"t [ms],theta_OA [deg],theta_AB-theta_OA\n{rows}\n")
    found = mechsim.mechanism(ARM).inverse(table=path)
    same = mechsim.mechanism(ARM).inverse({"theta_OA": "0.3*t**2", "theta_AB-theta_OA": "0.2 - 0.1*t**3"}, tend=1)
    assert found.at([0.5])["drive_theta_OA"] == pytest.approx(same.at([0.5])["drive_theta_OA"], rel=1e-9)
    assert found.motion.t[-1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t,theta_OA\n0,0\n1,\n2,1\n3,2\n", "has 1 gap, the first at t = 1"),
        ("t,theta_OA\n0,0\n2,1\n1,1\n3,2\n", "times must increase, but 1 follows 2"),
        ("t,theta_OA\n0,0\n1,1\n", "has 2 rows, but a spline needs 4"),
        ("t,theta_OA [furlong]\n0,0\n1,1\n", "unit furlong is not known"),
        ("time,theta_OA\n0,0\n1,1\n", "has no column t"),
        ("t\n0\n1\n", "nothing that moves"),
        ("t,theta_XY\n0,0\n1,1\n2,1\n3,1\n", "XY, which is no rigid part"),
    ],
)
def test_tables_that_are_refused(tmp_path, text, words):
    path = tmp_path / "motion.csv"
    path.write_text(text)
    with pytest.raises(mechsim.SpecError, match=words):
        mechsim.mechanism(ARM).inverse(table=path)


def test_a_motion_that_cannot_be_followed_is_told_with_where():
    t = np.linspace(0, 2, 41)
    with pytest.raises(
        mechsim.IntegrationError, match=r"beyond t = 0\.985\d*: B\.x is 0\.997\d* .*go on to 1\.2, 0\.2"
    ) as told:
        mechsim.mechanism(ARM).inverse({"B.x": (t, 0.8 + 0.2 * t), "theta_OA": (t, 0.1 + 0 * t)})
    reach = 0.6 * np.cos(0.1) + 0.4  # the forearm level
    assert told.value.motion(told.value.motion.t[-1])["B_x"] == pytest.approx(reach, abs=1e-5)


def test_a_motion_that_cannot_begin_is_told():
    with pytest.raises(mechsim.AssemblyError, match="cannot be where the motion begins, at t = 0"):
        mechsim.mechanism(ARM).inverse({"B.x": "1.5 + t", "B.y": "0"}, tend=1)


def test_nothing_to_move_is_refused():
    with pytest.raises(mechsim.SpecError, match="no motion is given, and the file has no Drives"):
        mechsim.mechanism(ARM).inverse()
    t = np.linspace(0, 1, 9)
    with pytest.raises(mechsim.SpecError, match="is known from t = 0 to 1, not from 0 to 3"):
        mechsim.mechanism(ARM).inverse({"theta_OA": (t, t)}, tend=3)


def test_the_command(tmp_path):
    words = ["inverse", ARM, "--motion", "theta_OA=0.5*sin(3*t)", "--motion", "theta_AB-theta_OA=0.8+0.3*cos(2*t)"]
    out = tmp_path / "torques.csv"
    told = CliRunner().invoke(cli, [*words, "-o", str(out), "--samples", "11", "--plot", str(tmp_path / "t.png")])
    assert told.exit_code == 0, told.output
    assert "53.39679 N m" in told.output
    assert out.read_text().count("\n") == 14
    driven = tmp_path / "driven.yaml"
    assert CliRunner().invoke(cli, [*words, "-o", str(driven)]).exit_code == 0
    assert mechsim.simulate(driven).sampled([0.5])["drive_theta_OA"][0] == pytest.approx(arm_torques(0.5)[0], rel=1e-9)
    found = json.loads(CliRunner().invoke(cli, [*words, "--json"]).output)
    assert found["drives"]["drive_theta_OA"]["peak"]["value"] == pytest.approx(53.39679, rel=1e-6)


@pytest.mark.parametrize("name", [0, "theta_OB"])
def test_what_is_not_driven_is_told(name):
    found = mechsim.mechanism(ARM).inverse(MOTION, tend=0.1)
    with pytest.raises(KeyError, match=r"no drive .*; there are drive_theta_OA"):
        found[name]
