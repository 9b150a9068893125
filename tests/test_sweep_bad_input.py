"""What is wrong with a sweep is said before it runs: what, where, and what to do."""

import json
import math
import subprocess
import sys

import pytest

import mechsim
from mechsim.spec import parse, schema

PENDULUM = """Title: A pendulum
PhysicalParams: {l: 1, m: 1, g: 9.81, stiffness: 4}
PartData: {Fixed: {O: []}, Rods: {OA: l}, Particles: {A: m}}
AppliedForces: {Gravity: [0, -g]}
ProblemData: {tend: 1, positions: {A: [[0.5*l, fixed], -l]}}
"""


def told(text: str = PENDULUM, **given) -> str:
    with pytest.raises(mechsim.MechsimError) as caught:
        mechsim.sweep(text, **given)
    assert caught.value.exit_code == 2
    return str(caught.value)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ("5:1:3", "the range goes down from 5 to 1"),
        ("1:5", "a number of values is missing"),
        ("1:5", "for example 1:5:21, or uniform:1:5"),
        ("1:5:0", "0 is not a number of values from 1"),
        ("1:5:-3", "-3 is not a number of values"),
        ("1:5:2.5", "2.5 is not a number of values"),
        ("1:5:1", "there are not 1 value from 1 to 5"),
        ("5:5:3", "there are not 3 values from 5 to 5"),
        ("1:2:3:4", "not of the form FROM:TO:NUMBER"),
        ("1:5:1e12", "is not a number of values"),
        ("log:0:1:3", "a log range cannot begin at 0"),
        ("log:-1:1:3", "a log range cannot begin at -1"),
        ("log:1:2", "a number of values is missing"),
        ("normal:1:-0.1", "the deviation is -0.1, but must be above zero"),
        ("normal:1:0", "the deviation is 0"),
        ("normal:1", "normal takes 2 numbers"),
        ("lognormal:-1:1", "the median is -1, not above zero"),
        ("uniform:2:1", "2 and 1 do not go up"),
        ("triangular:0:5:1", "0 and 5 and 1 do not go up"),
        ("nomral:1:0.1", "did you mean normal?"),
        ("1,,2", "a number is missing"),
        ("", "a number is missing"),
        ("1:2:", "a number is missing"),
        ("nan", "nan is not defined"),
        ("1/0:2:3", "division by zero"),
        ("1e400,1", "too large"),
        ("1e80,1", "too large to compute with"),
        ("stifness:10:3", "did you mean stiffness?"),
        ("0.5*stifness:10:3", "stifness is not defined"),
        ("1 2", "is not an expression"),
    ],
)
def test_values_that_make_no_sense(values, said):
    found = told(vary={"g": values}, draws=3)
    assert said in found and "Traceback" not in found


@pytest.mark.parametrize("values", [[float("nan")], [float("inf"), 1.0], [], ["a"], [[1, 2], [3, 4]], None, [1e300]])
def test_numbers_that_are_none(values):
    assert "g" in told(vary={"g": values})


def test_a_parameter_that_does_not_exist():
    assert "did you mean stiffness?" in told(vary={"stifness": "1:2:3"})
    assert "the file has the parameters l, m, g and stiffness" in told(vary={"zzz": "1:2:3"})


def test_all_is_told_at_once():
    found = told(vary={"q1": "1:2:3", "g": "2:1:3", "m": "log:0:1:3"})
    assert found.count("error:") == 3


def test_draws():
    assert "how many draws" in told(vary={"g": "normal:1:0.1"})
    assert "nothing to draw" in told(vary={"g": "1:2:3"}, draws=10)
    assert "seed" in told(vary={"g": "normal:1:0.1"}, draws=10, seed=-1)
    assert "no parameter varies" in told()


def test_columns_that_have_one_name():
    text = PENDULUM.replace("stiffness", "steps")
    assert "another column is called so too" in told(text, vary={"steps": "1:2:3"})
    assert "twice" in told(vary={"g": "1:2:3"}, measure=["final(A_x)", "final(A_x)"])


def test_too_many_cases():
    assert "are too many" in told(vary={"g": "1:2:100000", "m": "1:2:100000"})


def test_a_measure_that_is_none_has_its_place():
    assert "--measure 2:1:5: error" in told(vary={"g": "1:2:3"}, measure=["max(A_x)", "max(Q_x)"])
    text = PENDULUM + "Sweep:\n  vary: {g: 1:2:3}\n  measure: [max(A_x), max(Q_x)]\n"
    assert "<text>:8:27: error" in told(text)


def test_a_measure_that_divides_by_zero_is_told_in_its_row():
    table = mechsim.sweep(PENDULUM, vary={"g": [1, 2]}, measure=["final(A_x)/(g - 1)", "final(A_x)"])
    assert table.status.tolist() == ["finished", "finished"]
    assert math.isnan(table["final(A_x)/(g - 1)"][0]) and "`g - 1` is 0" in table["message"][0]
    assert table["message"][1] == ""


# --- files of cases


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("g,q\n1,2\n", ":1:3: error: the title 'q' is no parameter"),
        ("g,stifness\n1,2\n", "did you mean stiffness?"),
        ("g,g\n1,2\n", "two columns g"),
        ("g,m\n1,2\n1\n", ":3:1: error: 1 values, but there are 2 titles"),
        ("g,m\n1,2\n1,x\n", ":3:3: error: 'x' is no number for m"),
        ("g\nnan\n", "'nan' is no number for g"),
        ("g\n1_0\n", "is no number"),
        ("g\n", "there are no cases"),
        ("", "there are no cases"),
    ],
)
def test_files_of_cases_that_are_wrong(tmp_path, text, said):
    path = tmp_path / "cases.csv"
    path.write_text(text)
    assert said in told(cases=path)


def test_files_of_cases_that_are_no_files(tmp_path):
    assert "cannot read" in told(cases=tmp_path / "none.csv")
    assert "cannot read" in told(cases=tmp_path)
    (tmp_path / "x.csv").write_bytes(b"\xff\xfe\x00")
    assert "it is not text" in told(cases=tmp_path / "x.csv")
    (tmp_path / "y.csv").write_text("g\n1\n")
    assert "g is varied, and is also in the file of cases" in told(cases=tmp_path / "y.csv", vary={"g": "1:2:3"})


# --- the section


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("Sweep: {vary: {stifness: 1:2:3}}", "<text>:6:16: error: Sweep varies stifness, which is no parameter"),
        ("Sweep: {vary: {g: 2:1:3}}", "<text>:6:19: error: g=2:1:3: the range goes down"),
        ("Sweep: {vary: {g: {}}}", "must be a range or a list, not"),
        ("Sweep: {vary: {g: []}}", "has no values"),
        ("Sweep: {vary: {g: }}", "has no value"),
        ("Sweep: {vari: {g: 1:2:3}}", "did you mean vary?"),
        ("Sweep: {vary: {g: 1:2:3}, draws: 0}", "whole number from 1"),
        ("Sweep: {vary: {g: 1:2:3}, seed: -1}", "whole number from 0"),
        ("Sweep: {vary: {g: 1:2:3}, latin: maybe}", "must be yes or no"),
        ("Sweep: {vary: {g: 1:2:3}, measure: [[A]]}", "must be an expression, not a list"),
        ("Sweep: {vary: {g: [1, x]}}", "x is not defined"),
        ("Sweep: [1]", "must be a dictionary"),
    ],
)
def test_sections_that_make_no_sense(section, said):
    assert said in told(PENDULUM + section + "\n")


def test_a_section_is_part_of_the_schema_and_may_be_empty():
    properties = schema()["properties"]["Sweep"]["anyOf"][0]["properties"]
    assert list(properties) == ["vary", "measure", "draws", "latin", "seed"]
    assert parse(PENDULUM + "Sweep:\n").sweep is None
    assert parse(PENDULUM + "Sweep: {}\n").sweep is not None


# --- the command


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--vary", "g"], "is not of the form NAME=VALUES"),
        (["--vary", "g=1:2:3", "--vary", "g=1,2"], "g is varied twice"),
        (["--vary", "g=2:1:3"], "--vary:1:3: error: g=2:1:3: the range goes down"),
        (["--vary", "k=2:1:3"], "there is no parameter k"),
        (["--vary", "g=1:2:3", "-o", "x.npz"], "use one of .parquet, .csv"),
        (["--vary", "g=1:2:3", "-o", "-"], "cannot write a sweep to -"),
        (["--vary", "g=1:2:3", "-o", "p.yaml"], "cannot write p.yaml"),
        (["--vary", "g=1:2:3", "-o", "none/x.csv"], "folder none does not exist"),
        (["--vary", "g=1:2:3", "-o", "/dev/full"], "it is no regular file"),
        (["--vary", "g=1:2:3", "--draws", "3", "--latin", "3"], "exclude each other"),
        (["--vary", "g=1:2:3", "--resume", "--restart"], "exclude each other"),
        (["--vary", "g=1:2:3", "--processes", "0"], "--processes"),
        (["--vary", "g=1:2:3", "--tol", "2"], "the tolerance 2 is not between"),
        (["--vary", "g=1:2:3", "--tend", "-1"], "is not after t0"),
        (["--vary", "g=1:2:3", "--motions", "p.yaml"], "cannot write"),
        ([], "no parameter varies"),
    ],
)
def test_the_command_refuses(tmp_path, words, said):
    (tmp_path / "p.yaml").write_text(PENDULUM)
    found = subprocess.run(
        [sys.executable, "-m", "mechsim", "sweep", "p.yaml", *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert found.returncode == 2 and said in found.stderr and "Traceback" not in found.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.yaml"]


def test_a_refusal_as_json(tmp_path):
    (tmp_path / "p.yaml").write_text(PENDULUM)
    words = ["sweep", "p.yaml", "--vary", "gg=1:2:3", "--json"]
    found = subprocess.run([sys.executable, "-m", "mechsim", *words], cwd=tmp_path, capture_output=True, text=True)
    fault = json.loads(found.stdout)["faults"][0]
    assert fault["message"] == "there is no parameter gg" and fault["file"] == "--vary"


def test_messages_of_finished_cases_are_counted_and_other_endings_refused(tmp_path):
    """Both in the words of a sweep: it writes no .npz."""
    (tmp_path / "p.yaml").write_text(PENDULUM)
    words = [sys.executable, "-m", "mechsim", "sweep", "p.yaml", "--vary", "l=1,2", "--measure", "first(A_y - 9)", "-q"]
    found = subprocess.run([*words, "-o", "out.csv"], cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0 and "warning: 2 cases finished with a message; case 0: first(A_y - 9)" in found.stderr
    found = subprocess.run([*words, "-o", "out.txt"], cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 2 and "use one of .parquet, .csv\n" in found.stderr
