"""Plots: each form is written, each kind of panel is drawn, what cannot be plotted is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mechsim
from mechsim.cli.main import main
from mechsim.render.plot import PlotOptions, plot
from mechsim.render.plotted import Result, constraint_residuals

SPECS = Path(__file__).parent.parent / "specs"


@pytest.fixture(scope="module")
def trajectory():
    return mechsim.simulate(SPECS / "pendulum.yaml", tend=2.0).trajectory


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], trajectory: Any
) -> Callable[..., Any]:
    """Run `mechsim plot WORDS` in a folder with a.csv and b.npz."""
    monkeypatch.chdir(tmp_path)
    trajectory.save("a.csv")
    trajectory.save("b.npz")

    def run(*words: str) -> Any:
        with pytest.raises(SystemExit) as left:
            main(["plot", *words])
        captured = capsys.readouterr()
        return SimpleNamespace(code=left.value.code or 0, out=captured.out, err=captured.err)

    return run


@pytest.mark.parametrize(("form", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_forms(command, form, start):
    done = command("a.csv", "-o", f"out.{form}")
    assert done.code == 0, done.err
    assert Path(f"out.{form}").read_bytes().startswith(start)


def test_an_overview_says_what_it_shows(command):
    assert command("a.csv", "b.npz", "-o", "out.svg").code == 0
    text = Path("out.svg").read_text()
    for words in ("Energies", "Energy drift", "Constraints missed", "Largest difference", "a.csv", "b.npz"):
        assert f"<!-- {words}" in text or words in text


@pytest.mark.parametrize(
    "words", [["--phase", "A_x,A_x_dot"], ["--path", "A"], ["--columns", "A_y,T"], ["--theme", "dark"]]
)
def test_what_is_asked_for(command, words):
    done = command("a.csv", *words, "--size", "400x300")
    assert done.code == 0, done.err
    assert done.out.strip() == "a.png"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.csv", "--phase", "A_x"], "is not two columns"),
        (["a.csv", "--phase", "A_x,Q"], "no column Q"),
        (["a.csv", "--path", "Q"], "no column Q_x"),
        (["a.csv", "-o", "x.jpg"], "'.jpg' is not known"),
        (["a.csv", "-o", "nowhere/x.png"], "does not exist"),
        (["absent.csv"], "cannot read absent.csv"),
    ],
)
def test_bad_input_is_explained(command, words, said):
    done = command(*words)
    assert done.code == 2
    assert said in done.err
    assert sorted(each.name for each in Path().iterdir()) == ["a.csv", "b.npz"]


def test_residuals_are_those_of_the_rows(trajectory):
    result, _ = Result.of("a", trajectory, "-")
    assert constraint_residuals(result)[0].max() < 1e-14  # rows are projected on the constraints
    result.columns["A_x"] = 1.001 * result.columns["A_x"]
    worst = constraint_residuals(result)[0].max()
    assert worst == pytest.approx(1e-3, rel=0.01)  # where the rod lies level, a thousandth of its length too long


def test_a_phase_plane_of_a_circle_is_round(trajectory, tmp_path):
    """Between rows both curves are drawn from the same cubic, so value and derivative belong together."""
    from mechsim.render.plotted import together

    t = np.linspace(0, 6, 7)
    table = np.column_stack([t, np.sin(t), np.cos(t)])
    columns = {"t": t, "A_x": table[:, 1], "A_x_dot": table[:, 2]}
    result = replace(Result.of("a", trajectory, "-")[0], columns=columns)
    x, y = together(result, "A_x", "A_x_dot")
    assert np.abs(np.hypot(x, y) - 1).max() < 0.02  # steps of a whole radian: h^3 and h^4 terms of the cubic


BALL = """
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -9.8]}
Contacts: {ground: {gap: P.y, e: 0.5}}
Events: {top: {when: P.vy, direction: down}}
ProblemData: {tend: 2, positions: {P: [[0, fixed], [1, fixed]]}}
"""


def test_a_section_has_a_dot_for_each_event(command):
    """Of CSV and Parquet from the table of events beside them, of NPZ from its own."""
    motion = mechsim.simulate(BALL)
    count = len(motion.events.of("top"))
    assert count > 5
    for name in ("c.csv", "c.parquet", "c.npz"):
        motion.save(name)
        result, _ = Result.of(name, mechsim.load(name), "-")
        heights, speeds = result.at_events("top", "P_y", "P_y_dot")
        assert len(heights) == count
        assert np.abs(speeds).max() < 1e-12
        assert command(name, "--phase", "P_y,P_y_dot", "--events", "top", "-o", "out.svg").code == 0
    assert "at each top" in Path("out.svg").read_text()
    done = command("c.csv", "--phase", "P_y,P_y_dot", "--events", "bottom")
    assert done.code != 0
    assert "has no event bottom" in done.err
    assert "--phase X,Y" in command("c.csv", "--events", "top").err


def test_events_of_another_run_are_not_taken(tmp_path):
    """The table beside a file is of this run only if it has as many rows as the certificate says."""
    path = mechsim.simulate(BALL).save(tmp_path / "c.csv")
    beside = tmp_path / "c.events.csv"
    beside.write_text("".join(beside.read_text().splitlines(keepends=True)[:-1]))
    assert mechsim.load(path).events is None


def test_results_without_a_mechanism_are_plotted_too(trajectory, tmp_path):
    plot([("a", replace(trajectory, spec_text=""))], tmp_path / "out.png", PlotOptions())
    assert (tmp_path / "out.png").is_file()


def test_results_with_a_damaged_mechanism_or_without_a_column_are_plotted_too(trajectory, tmp_path):
    notes = plot([("a", replace(trajectory, spec_text="Title: [1"))], tmp_path / "out.png", PlotOptions())
    assert any("damaged" in note for note in notes)
    keep = [index for index, label in enumerate(trajectory.labels) if label != "A_y"]
    labels, units = (tuple(each[k] for k in keep) for each in (trajectory.labels, trajectory.units))
    bare = replace(trajectory, labels=labels, units=units, table=trajectory.table[:, keep], polynomials=None)
    plot([("a", bare)], tmp_path / "out.png", PlotOptions())
