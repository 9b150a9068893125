"""Bad input of forces, drives and tables: what `mechsim run` says, where, with which exit code, and what it keeps."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq

from mechsim.cli.main import main
from mechsim.result import load

ARM = """\
PhysicalParams: {L: 1, m: 2}
PartData:
  Fixed: {O: []}
  Rigids:
    OA, AB: {Geom: [[L]], Dyna: [[L/2], m, m*L**2/12]}
AppliedForces:
  Gravity: [0, -9.81]
ProblemData:
  tend: 2
  positions: {A: [0.6, -0.8], B: [1.2]}
"""
FORCES, DRIVES = 8, 11  # the line of a section that `forces` or `sections` adds


def forces(text):
    return ARM.replace("ProblemData:", f"  {text}\nProblemData:")


def sections(text):
    return ARM + text + "\n"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """`mechsim run` of a text in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(text):
        (tmp_path / "arm.yaml").write_text(text)
        with pytest.raises(SystemExit) as left:
            main(["run", "arm.yaml", "-o", "out.csv"])
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        return SimpleNamespace(code=left.value.code or 0, out=shown.out, err=shown.err, folder=tmp_path)

    return run


def refused(shown, code, place, *words):
    """Nothing is written; the first line says where."""
    assert shown.code == code
    assert shown.err.startswith(f"arm.yaml:{place}: error: ")
    for word in words:
        assert word in shown.err
    assert not list(shown.folder.glob("out*"))


# --- names and corners


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("k*2", ["k is not defined", "define it in PhysicalParams or Signals"]),
        ("omga_OA", ["omga_OA is not defined", "did you mean omega_OA?"]),
        ("theta_OB", ["OB, which is no rigid part", "OA and AB"]),
        ("B.z", ["a point has no z", "x, y, vx and vy"]),
        ('"dist(A,Q)"', ["the point Q, which no part has", "A, B and O"]),
    ],
)
def test_an_unknown_name(run, expression, words):
    column = 17 + expression.startswith('"')
    refused(run(forces(f"Torques: {{OA: {expression}}}")), 2, f"{FORCES}:{column}", *words)


def test_all_unknown_names_come_at_once(run):
    shown = run(forces("Torques: {OA: k + omga_OA, AB-OA: q}"))
    assert shown.code == 2 and shown.err.count("is not defined") == 3


@pytest.mark.parametrize(
    ("expression", "smooth"),
    [
        ("1 if t < 1 else 0", "write if(x, a, b)"),
        ("(t < 1)*2", "Tables or Piecewise"),
        ("sgn(t)", "sign(x)"),
        ('"where(t, 1, 0)"', "if(x, 1, 0)"),
        ("floor(t)", "Tables or Piecewise"),
    ],
)
def test_what_is_no_expression_is_refused_with_one_that_is(run, expression, smooth):
    shown = run(forces(f"Torques: {{OA: {expression}}}"))
    column = shown.err.split(":")[2]
    refused(shown, 2, f"{FORCES}:{column}", "hint: ", smooth)


@pytest.mark.parametrize("expression", ["abs(omega_OA)", '"min(t, 1)"', '"max(omega_OA, 0)"', '"if(t - 1, 1, 0)"'])
def test_a_switch_runs_in_a_torque_but_not_in_a_drive(run, expression):
    assert run(forces(f"Torques: {{OA: {expression}}}")).code == 0
    shown = run(forces("Torques: {OA: 0}") + f"\nDrives: {{theta_OA: {expression.replace('omega_OA', 't')}}}\n")
    assert shown.code == 2
    assert "must be smooth, but abs, sign, min, max and if" in shown.err


def test_abs_of_a_constant_is_no_corner(run):
    assert run(forces("Torques: {OA: abs(-L)*t}")).code == 0


@pytest.mark.parametrize("expression", ["sqrt(omega_OA**2 + 1e-4)", "tanh(omega_OA/0.01)"])
def test_the_smooth_forms_run(run, expression):
    assert run(forces(f"Torques: {{OA: {expression}}}")).code == 0


# --- drives that cannot be


def test_a_drive_of_what_cannot_change(run):
    refused(run(sections('Drives: {"dist(O,A)": 1 + 0.1*t}')), 2, f"{DRIVES}:11", "has nothing to move")


def four_bar(crank, rocker):
    return f"""\
PartData:
  Fixed: {{O: [], C: [3]}}
  Rigids:
    OA: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
    AB: {{Geom: [[3.5]], Dyna: [[1.75], 3.5, 3]}}
    CB: {{Geom: [[2]], Dyna: [[1], 2, 0.6]}}
Drives:
  theta_OA: {crank}
  theta_CB: {rocker}
ProblemData:
  tend: 1
  positions: {{A: [0.36, 0.93], B: [3, 2]}}
"""


# The angle of the rocker when the crank is at 1.2.
CLOSED = brentq(lambda angle: abs(3 + 2 * np.exp(1j * angle) - np.exp(1.2j)) - 3.5, 1.0, 2.5, xtol=1e-15)


@pytest.mark.parametrize(("crank", "rocker"), [("1.2", "1.3"), ("1.2 + t", CLOSED)], ids=["places", "speeds"])
def test_drives_that_fight_a_rigid_loop_from_the_start(run, crank, rocker):
    """One freedom, two drives."""
    words = "2 drives, 1 degree of freedom: the drive of theta_OA (line 8) and the drive of theta_CB (line 9)"
    refused(run(four_bar(crank, rocker)), 3, "9:3", words)


@pytest.mark.parametrize("power", [2, 4])
def test_drives_that_fight_a_rigid_loop_later(run, power):
    """At the start places and speeds agree, so that one drive follows from the other; then they part."""
    shown = run(four_bar(f"1.2 + t**{power}", CLOSED))
    assert shown.code == 4
    assert "arm.yaml:9:3: error: " in shown.err
    assert "drive_theta_CB cannot be met with the other constraints after t = 0" in shown.err
    table = load("out.partial.csv")
    assert table.status == "partial" and table["theta_CB"] == pytest.approx(CLOSED, abs=1e-12)
    assert not (shown.folder / "out.csv").exists()


def test_a_drive_that_says_it_twice_is_left_out(run):
    shown = run(four_bar("1.2", CLOSED))
    assert shown.code == 0 and "drive_theta_CB left out as redundant" in shown.out


# --- on the way


def stopped(shown, t, *words):
    """Exit code 4, the reason, and all rows until then."""
    assert shown.code == 4
    for word in ("error: the integration stopped", "out.partial.csv", *words):
        assert word in shown.err
    table = load("out.partial.csv")
    assert table.status == "partial"
    # Steps shrink towards the place; the last one that could be made is near it.
    assert table.t[0] == 0.0 and t - 1e-3 < table.t[-1] <= t
    # Nearer than that to a singular pose forces may be nothing but roundings, and then are not told.
    assert np.isfinite(table.table[table.t < t - 1e-12]).all()
    assert np.isfinite(table["A_x"]).all()
    assert not (shown.folder / "out.csv").exists()
    return table


def test_a_drive_beyond_reach(run):
    """Two rods of 1 m reach 2 m, which dist(O,B) = 1.2 + t asks for at t = 0.8."""
    shown = run(sections('Drives: {"dist(O,B)": 1.2 + t}'))
    table = stopped(shown, 0.8, f"arm.yaml:{DRIVES}:11: ", "cannot follow the drive of dist_O_B any further")
    np.testing.assert_allclose(np.hypot(table["B_x"], table["B_y"]), 1.2 + table.t, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("expression", "t", "words"),
    [
        ("sqrt(0.5 - t)", 0.5, "has no value beyond this point"),
        ("log(1 - t)", 1.0, "has no value beyond this point"),
        ("asin(2*t)", 0.5, "has no value beyond this point"),
        ("1/(1 - t)", 1.0, "grows without bound there"),
        ("1/(1 - t)**2", 1.0, "grows without bound there"),
        ("tan(t)", np.pi / 2, "grows without bound there"),
    ],
)
def test_roots_of_negative_numbers_and_poles(run, expression, t, words):
    stopped(run(forces(f"Torques: {{OA: {expression}}}")), t, f"arm.yaml:{FORCES}:13: ", f"the formula of OA {words}")


@pytest.mark.parametrize("expression", ["sqrt(t - 0.5)", "1/t", "log(t)"])
def test_no_value_at_the_start(run, expression):
    shown = run(forces(f"Torques: {{OA: {expression}}}"))
    refused(shown, 4, f"{FORCES}:13", "cannot start at t = 0: the formula of OA has no value there")


# --- tables


def test_a_table_with_unsorted_times(run):
    shown = run(sections("Tables: {f: {points: [[0, 1], [2, 3], [1, 4]]}}\nSignals: {u: 2*f}"))
    refused(shown, 2, f"{DRIVES}:40", "times must increase, but 1 follows 2", "sort the rows by time")


def test_a_table_file_with_unsorted_times(run, tmp_path):
    (tmp_path / "f.csv").write_text("time,value\n0,1\n2,3\n1,4\n")
    shown = run(sections("Tables: {f: {file: f.csv}}"))
    assert shown.code == 2
    assert "f.csv:4:1: error: Tables.f: times must increase, but 1 follows 2" in shown.err


def test_a_table_that_ends_too_early(run):
    text = forces("Torques: {OA: f}") + "Tables: {f: {points: [[0, 1], [1, 3]], outside: error}}\n"
    refused(run(text), 2, "12:10", "it covers 0 to 1, the run 0 to 2", "outside: hold")


def test_a_drive_along_a_table_with_corners(run):
    text = "Tables: {f: {points: [[0, -0.9], [1, 1], [2, 0]]}}\nDrives: {theta_OA: f}"
    refused(run(sections(text)), 2, "12:10", "the speed jumps from 1.9 to -1 at t = 1", "cubic")
