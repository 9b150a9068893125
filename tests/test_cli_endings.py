"""How runs end when something comes between: Ctrl-C at any stage, a second run that fails, missing streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from mechsim import simulation
from mechsim.cli.main import main
from mechsim.result import Certificate, load
from mechsim.result.recorder import Recorder

PENDULUM = str(Path(__file__).parent.parent / "specs" / "pendulum.yaml")
# Both cranks pass through the line of the fixed points at speed: a change point, where constraints are dependent.
PARALLELOGRAM = """
PartData:
  Fixed: {O: [], P: [2]}
  Rigids:
    OA, PB: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    AB: {Geom: [[2]], Dyna: [[1], 1, 4/12]}
ProblemData: {tend: 20, positions: {A: [0, 1], B: [2, 1]}, rates: {OA: [7, fixed]}}
"""


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["run", *words])
    return int(left.value.code or 0)


def interrupting(*_: Any, **__: Any) -> Any:
    raise KeyboardInterrupt


def failing_second_run(monkeypatch: pytest.MonkeyPatch, status: str) -> None:
    """The engine comes to its end once; the next time it stops with `status`."""
    real = simulation.follow

    def follow(prepared: Any, **settings: Any) -> Any:
        solution = real(prepared, **settings)
        if settings.get("tolerance") is not None:  # only the second run has one of its own
            object.__setattr__(solution, "status", status)
        return solution

    monkeypatch.setattr(simulation, "follow", follow)


def test_an_interrupt_while_sampling_keeps_the_rows_so_far(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real, calls = Recorder._table, []

    def second_time(self: Recorder, *values: Any) -> Any:
        calls.append(1)
        return real(self, *values) if len(calls) == 1 else interrupting()

    monkeypatch.setattr(Recorder, "_table", second_time)
    assert run(PENDULUM, "-o", "out.csv", "--samples", "10000") == 130  # more than are taken at once
    assert "the rows so far are in out.partial.csv" in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["out.partial.csv"]
    assert len(load("out.partial.csv")) > 2


@pytest.mark.parametrize(("status", "code"), [("interrupted", 130), ("step_too_small", 4)])
def test_a_second_run_that_does_not_finish_leaves_the_first_complete(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], status: str, code: int
) -> None:
    failing_second_run(monkeypatch, status)
    assert run(PENDULUM, "-o", "out.csv", "--verify") == code
    shown = capsys.readouterr()
    assert "energy" in shown.out  # the summary of the first run
    assert "out.csv is complete" in shown.err and "second run" in shown.err
    assert load("out.csv").status == "finished"


def test_a_failed_second_run_prints_one_json_object(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing_second_run(monkeypatch, "step_too_small")
    assert run(PENDULUM, "-o", "out.csv", "--verify", "--json") == 4
    told = json.loads(capsys.readouterr().out)
    assert told["status"] == "error" and "out.csv is complete" in told["faults"][0]["message"]


def test_an_interrupt_while_preparing_ends_the_run_even_where_it_would_be_swallowed() -> None:
    script = f"""
import contextlib, os, signal
from mechsim import simulation
from mechsim.cli.main import main
def deaf(spec):
    with contextlib.suppress(KeyboardInterrupt):  # as JAX does within its callbacks
        os.kill(os.getpid(), signal.SIGINT)
    raise AssertionError("not reached")
simulation.prepare = deaf
signal.signal(signal.SIGINT, signal.default_int_handler)
main(["run", {PENDULUM!r}, "-o", "out.csv"])
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == 130 and ended.stderr.strip() == "interrupted"
    assert not list(Path().iterdir())


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_run_without_standard_streams_still_writes_its_file(closed: str) -> None:
    words = f"{sys.executable} -m mechsim run {PENDULUM} -o out.csv {closed}"
    assert subprocess.run(["sh", "-c", words]).returncode == 0
    assert load("out.csv").status == "finished"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux only")
def test_a_full_standard_output_is_said() -> None:
    words = f"{sys.executable} -m mechsim run {PENDULUM} -o out.csv > /dev/full"
    ended = subprocess.run(["sh", "-c", words], capture_output=True, text=True)
    assert ended.returncode == 1
    assert "cannot write to standard output" in ended.stderr and "Traceback" not in ended.stderr


@pytest.mark.parametrize("words", [("--dt", "nan"), ("--samples", "1000000000"), ("--order", "2"), ("--order", "61")])
def test_numbers_that_make_no_sense_are_refused(words: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(PENDULUM, "-o", "out.csv", *words) == 2
    assert words[1] in capsys.readouterr().err


def test_a_run_without_title_is_headed_by_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("swing.yaml").write_text(PARALLELOGRAM)
    assert run("swing.yaml", "--tend", "0.1") == 0
    assert capsys.readouterr().out.startswith("swing.yaml\n")


def test_a_motion_whose_energy_is_not_kept_is_doubted_even_when_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    """Straight through its anchor a spring's force jumps, which a series does not see; here a run is only told so."""
    text = """
PartData: {Fixed: {O: []}, Springs: {OA: [10, 1]}, Particles: {A: 1}}
ProblemData: {tend: 1, positions: {A: [0.5, 0]}, velocities: {A: [[-5, fixed], [0, fixed]]}}
"""
    Path("through.yaml").write_text(text)
    code = run("through.yaml", "-q")
    said = capsys.readouterr().err
    assert code == 4 or "warning: energy drifted" in said
    assert run(PENDULUM, "-q") == 0
    assert capsys.readouterr().err == ""


def test_doubts_of_a_certificate() -> None:
    figures = dict.fromkeys((each.name for each in fields(Certificate)), 0.0) | {"tolerance": 1e-12, "steps": 100}
    assert Certificate(**figures | {"energy_drift": 1e-10}).doubts() == ()
    assert len(Certificate(**figures | {"energy_drift": 1e-7}).doubts()) == 1
    assert len(Certificate(**figures | {"position_residual": 1e-6}).doubts()) == 1
