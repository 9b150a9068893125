"""Motions that cannot go on: a drive beyond the reach, a root of a negative number, a pole. What was computed stays."""

from math import atan, log, pi, sqrt

import pytest

import mechsim
from mechsim.errors import IntegrationError

ARM = """
PartData:
  Fixed: {O: []}
  Rigids: {"OA, AB": {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
AppliedForces: {Gravity: [0, -9.81]}
Drives: {B.x: 1 + t, B.y: 0.1}
ProblemData: {tend: 5, positions: {A: [0.5, 0.8], B: [1, 0.1]}}
"""
ROCKER = """
PartData:
  Fixed: {O: [], C: [3]}
  Rigids:
    OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    AB: {Geom: [[3.5]], Dyna: [[1.75], 3.5, 3.5**3/12]}
    CB: {Geom: [[2]], Dyna: [[1], 2, 8/12]}
Drives: {theta_CB: 1.4 + t}
ProblemData: {tend: 2, positions: {A: [0, 1], B: [3, 2]}}
"""
ROOT = """
PartData: {Particles: {A: 1}}
AppliedForces:
  Forces: {A: [1 + sqrt(1 - A.x)/1000, 0]}
ProblemData: {tend: 5, positions: {A: [0, 0]}}
"""
POLE = """
PartData: {Particles: {A: 1}}
AppliedForces:
  Forces: {A: [1/(2 - t), 0]}
ProblemData: {tend: 5, positions: {A: [0, 0]}}
"""
POLE_OF_DRIVE = """
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
Drives: {theta_OA: 1/(1 - t)}
ProblemData: {tend: 2, angles: {OA: 1}}
"""
FALL = """
PartData: {Particles: {A: 1}}
AppliedForces:
  Potentials: {sun: -1/sqrt(A.x**2 + A.y**2)}
ProblemData: {tend: 5, positions: {A: [1, 0]}}
"""
DAMPER = """
PartData: {Fixed: {R: [1]}, Particles: {B: 1}}
AppliedForces:
  Dampers: {RB: 0.3}
ProblemData: {tend: 5, positions: {B: [0, 0]}, velocities: {B: [1, 0]}}
"""


@pytest.mark.parametrize(
    ("text", "words", "line", "end"),
    [
        (ARM, "cannot follow the drive of B_x any further", 6, (4 - 0.01) ** 0.5 - 1),
        (ROCKER, "cannot follow the drive of theta_CB any further", 8, None),
        (ROOT, "the formula of A has no value beyond this point", 4, None),
        (POLE, "the formula of A grows without bound there", 4, 2.0),
        (DAMPER, "RB has no value beyond this point: its ends meet, and it has no direction", 4, log(1 / 0.7) / 0.3),
        (FALL, "the formula of sun grows without bound there", 4, 1.1107207345),
    ],
    ids=["reach", "rocker", "root", "pole", "damper", "fall"],
)
def test_the_end_is_explained_and_what_was_computed_stays(text, words, line, end):
    """Ends are known but for the ending steps: the square root that rules there is left within 1e-6."""
    with pytest.raises(IntegrationError, match=words) as caught:
        mechsim.simulate(text)
    fault = caught.value.faults[0]
    assert fault.mark is not None and fault.mark.line == line
    motion = caught.value.motion
    assert len(motion.trajectory) > 5
    assert f"{motion.t[-1]:.9g}" in fault.message
    if end is not None:
        assert motion.t[-1] == pytest.approx(end, abs=1e-6)


def test_a_drive_with_a_pole_ends_where_time_cannot_resolve_it():
    """Before that it turns without end. Time has an error of 1.1e-16 near 1, and one of 100 tolerances is too much: at
    a speed of 1e6 1/s, for the tolerance 1e-12."""
    with pytest.raises(IntegrationError, match="the formula of drive of theta_OA grows without bound there") as caught:
        mechsim.simulate(POLE_OF_DRIVE, tol=1e-12)
    assert caught.value.faults[0].mark.line == 5
    motion = caught.value.motion
    assert 1 - motion.t[-1] == pytest.approx(1e-3, rel=0.1)
    assert motion.trajectory["theta_OA"][-1] == pytest.approx(1 / (1 - motion.t[-1]), rel=1e-9)


def test_a_spring_with_damping_whose_ends_meet_is_named():
    """Of no length at rest, so that it swings through its anchor as x'' + 2 d x' + k x = 0 does from rest at 1."""
    text = DAMPER.replace("AppliedForces:\n  Dampers: {RB: 0.3}\n", "").replace(
        "B: 1}}", "B: 1}, Springs: {RB: [10, 0, 0, 0.5]}}"
    )
    with pytest.raises(IntegrationError, match="RB has no value beyond this point: its ends meet") as caught:
        mechsim.simulate(text.replace(", velocities: {B: [1, 0]}", ""))
    turn = sqrt(10 - 0.25**2)
    assert caught.value.motion.t[-1] == pytest.approx((pi / 2 + atan(0.25 / turn)) / turn, abs=1e-6)


def test_a_damper_whose_ends_meet_at_the_start_is_refused():
    with pytest.raises(IntegrationError, match=r"cannot start at t = 0: the formula of RB .* its ends meet"):
        mechsim.simulate(DAMPER.replace("B: [0, 0]", "B: [1, 0]"))


def test_run_keeps_the_rows_and_says_where(tmp_path, monkeypatch, capsys):
    from mechsim.cli.main import main
    from mechsim.result import load

    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.yaml").write_text(ARM)
    with pytest.raises(SystemExit) as left:
        main(["run", "arm.yaml", "--reactions", "A"])
    shown = capsys.readouterr().err
    assert left.value.code == 4
    assert shown.startswith("arm.yaml:6:")
    assert "arm.partial.csv" in shown
    rows = load("arm.partial.csv")
    assert rows.t[-1] == pytest.approx((4 - 0.01) ** 0.5 - 1, abs=1e-6)
    assert "A_AB_Fx" in rows.labels
