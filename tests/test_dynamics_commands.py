"""`mechsim periodic`, `response`, `poincare` and `basins` as people meet them: tables, files, pictures, faults."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from reference import SPECS

import mechsim
from mechsim.cli.main import cli, main

VAN_DER_POL = str(SPECS / "dynamics" / "van_der_pol.yaml")
DUFFING = str(SPECS / "dynamics" / "duffing.yaml")
DRIVEN = str(SPECS / "dynamics" / "driven_pendulum.yaml")


def run(*words: str) -> str:
    found = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.output


@pytest.fixture
def fails(capfd):
    def refused(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as left:
            main(words)
        return left.value.code, capfd.readouterr().err

    return refused


def test_a_periodic_motion_is_told_written_and_drawn(tmp_path):
    target, motion, picture = (tmp_path / name for name in ("orbit.json", "motion.csv", "orbit.png"))
    out = run("periodic", VAN_DER_POL, "-o", str(target), "--motion", str(motion), "--plot", str(picture))
    assert "6.66328685932313 s" in out and "along the motion" in out and "stable: small changes die out" in out
    assert json.loads(target.read_text())["stability"] == "stable"
    table = mechsim.load(motion)
    assert table["A_x"][0] == pytest.approx(table["A_x"][-1], abs=1e-10)
    assert picture.read_bytes().startswith(b"\x89PNG")
    told = json.loads(run("periodic", VAN_DER_POL, "--json"))
    assert told["period"] == pytest.approx(6.66328685932313, rel=1e-13) and told["title"] == "Van der Pol's oscillator"


def test_branches_are_told_written_and_drawn(tmp_path):
    target, picture = tmp_path / "branch.csv", tmp_path / "branch.svg"
    words = ("--period", "2*pi/w", "--from", "100", "--over", "w=1.7:1.8", "--tol", "1e-10")
    out = run("periodic", DUFFING, *words, "--measure", "max(A_x)", "-o", str(target), "--plot", str(picture))
    assert "branch 1" in out and "max(A_x)" in target.read_text() and "<svg" in picture.read_text()
    out = run("response", DUFFING, "--over", "w=1.7:1.8", "--from", "100", "--of", "A_x", "--tol", "1e-10", "--json")
    told = json.loads(out)
    assert told["measures"] == ["max(A_x)", "min(A_x)", "amplitude(A_x)", "phase(A_x)"]
    assert told["branches"][0]["values"][0] == 1.7


def test_sections_and_diagrams_are_told_written_and_drawn(tmp_path):
    target, picture = tmp_path / "points.npz", tmp_path / "points.png"
    words = ("--period", "2*pi/w", "--transient", "50", "--points", "40")
    out = run("poincare", DRIVEN, *words, "-o", str(target), "--plot", str(picture))
    assert "40 of 1 motion" in out and "theta_OA_dot" in out
    with np.load(target) as file:
        assert len(file["theta_OA"]) == 40
    diagram = tmp_path / "diagram.pdf"
    out = run("poincare", DRIVEN, *words, "--over", "g=1:1.1:3", "--y", "theta_OA_dot", "--plot", str(diagram))
    assert "120 of 3 motions" in out and diagram.read_bytes().startswith(b"%PDF")
    told = json.loads(run("poincare", DUFFING, "--section", "A_x", "--start", "A_x=0.1,0.2", "--points", "5", "--json"))
    assert (told["points"], told["motions"]) == (10, 2)
    out = run("poincare", DUFFING, "--period", "2*pi/w", "--points", "1", "--over", "w=1:1.2:3", "--follow", "both")
    assert "6 of 6 motions" in out


def test_basins_are_told_written_and_drawn(tmp_path):
    target, picture = tmp_path / "basins.npz", tmp_path / "basins.png"
    grid = ("--start", "A_x=-2:2:4", "--start", "A_x_dot=0,1", "--tend", "80")
    out = run("basins", VAN_DER_POL, *grid, "-o", str(target), "--plot", str(picture))
    assert "periodic, 6.6632869 s" in out and "100.000 %" in out and "4 by 2 of A_x, A_x_dot" in out
    with np.load(target) as file:
        assert file["labels"].shape == (4, 2)
    assert picture.exists()


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("nobody says with which period", ("periodic", DUFFING)),
        ("NAME=FROM:TO", ("periodic", DUFFING, "--over", "w")),
        ("use --over", ("periodic", DUFFING, "--measure", "max(A_x)")),
        ("use one of them", ("periodic", DUFFING, "--over", "w=1:2", "--motion", "x.csv")),
        ("there is no parameter v", ("periodic", DUFFING, "--period", "2*pi/w", "--over", "v=1:2")),
        ("a is not defined", ("periodic", DUFFING, "--period", "2*pi/w", "--over", "w=a:2")),
        ("is not known", ("periodic", DUFFING, "--period", "2*pi/w", "-o", "orbit.txt")),
        ("there is no column B_x", ("response", DUFFING, "--over", "w=1:2", "--of", "B_x")),
        ("say one of them", ("poincare", DUFFING)),
        ("use --over", ("poincare", DUFFING, "--period", "1", "--follow", "up")),
        ("NAME=VALUES", ("poincare", DUFFING, "--period", "1", "--vary", "w")),
        ("a number of values is missing", ("poincare", DUFFING, "--period", "1", "--over", "w=1:2")),
        ("draws from a distribution", ("poincare", DUFFING, "--period", "1", "--vary", "w=normal:1:2")),
        ("a basin has starts", ("basins", VAN_DER_POL)),
        ("there is no coordinate or rate B_x", ("basins", VAN_DER_POL, "--start", "B_x=1,2")),
    ],
)
def test_what_is_wrong_is_said_in_words(words, command, fails):
    code, said = fails(*command)
    assert code == 2
    assert words in said and "Traceback" not in said


BALL = """
PartData: {Fixed: {}, Particles: {P: 1}}
AppliedForces: {Gravity: [0, -9.81]}
Contacts: {table: {gap: P.y, e: 0.9}}
ProblemData: {tend: 2, positions: {P: [[0, fixed], [0.1, fixed]]}}
"""


def test_a_section_that_is_never_passed_is_empty(tmp_path):
    target, picture = tmp_path / "points.csv", tmp_path / "points.png"
    words = ("--section", "A_x - 50", "--points", "3", "-o", str(target), "--plot", str(picture))
    assert "0 of 1 motion" in run("poincare", DUFFING, *words)
    assert target.read_text().splitlines()[-1].startswith("motion,t,") and picture.exists()


def test_a_contact_goes_by_the_name_that_the_file_gives_it(tmp_path):
    path = tmp_path / "ball.yaml"
    path.write_text(BALL)
    assert "2 of 1 motion" in run("poincare", str(path), "--event", "table", "--points", "2")


def test_what_is_not_there_is_told_once_and_as_it_was_written(fails):
    _, told = fails("response", DUFFING, "--over", "w=1:2", "--of", "A_q")
    assert told.count("error:") == 1 and told.startswith("--of:1:1: error: there is no column A_q")
    _, told = fails("response", DUFFING, "--over", "omega=1:2", "--of", "A_x")
    assert "there is no parameter omega" in told and "there are m, k, k3, c, F, w, " in told
