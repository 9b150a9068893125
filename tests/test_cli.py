"""The command line as people and programs meet it, and the Python API that shares its way."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mechsim
from mechsim import simulation
from mechsim.cli.main import main
from mechsim.cli.progress import Progress
from mechsim.errors import AssemblyError, IntegrationError, SpecError
from mechsim.result import load

SPECS = Path(__file__).parent.parent / "specs"
PENDULUM = str(SPECS / "pendulum.yaml")
Command = Callable[..., Any]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run `mechsim WORDS` in an empty folder; returns exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Any:
        with pytest.raises(SystemExit) as left:
            main(words)
        captured = capsys.readouterr()
        return SimpleNamespace(code=left.value.code or 0, out=captured.out, err=captured.err)

    return run


def python(script: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


# --- starting fast

HEAVY = ("jax", "numpy", "scipy", "matplotlib", "cyipopt", "yaml", "rich", "pandas", "pyarrow")


@pytest.mark.parametrize(
    "script",
    [
        "import mechsim",
        "from mechsim.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass",
        "from mechsim.cli.main import main\ntry: main(['run', '--help'])\nexcept SystemExit: pass",
    ],
)
def test_importing_and_asking_for_help_import_nothing_heavy(script: str) -> None:
    printed = python(f"{script}\nimport sys\nprint('LOADED', *(name for name in {HEAVY} if name in sys.modules))")
    assert printed.rsplit("LOADED", 1)[1].split() == []


@pytest.mark.parametrize("word", ["run", "check", "assemble"])
def test_a_warm_start_imports_only_what_it_needs(word: str, tmp_path: Path) -> None:
    mechsim.simulate(PENDULUM, tend=0.1)  # the programs are now in the cache
    words = [word, PENDULUM, *(["-o", str(tmp_path / "out.csv"), "-q"] if word == "run" else [])]
    script = f"from mechsim.cli.main import main\ntry: main({words})\nexcept SystemExit as left: print(left)"
    heavy = ("jax", "scipy", "cyipopt", "matplotlib", "pandas", "pyarrow")
    heavy += ("rich",) if word == "run" else ()  # others draw tables with it
    # Each of these takes as long as a tenth of a start: see kernel/linear.py and derive/cache.py.
    heavy += ("numpy.ma", "numpy.random", "importlib.metadata", "tempfile")
    printed = python(f"{script}\nimport sys\nprint('LOADED', *(name for name in {heavy} if name in sys.modules))")
    assert printed.rsplit("LOADED", 1)[1].split() == []
    assert printed.split()[-2] == "0"


# --- help


@pytest.mark.parametrize("words", [["--help"], *([name, "-h"] for name in ("run", "check", "assemble", "schema"))])
def test_every_help_has_an_example(command: Command, words: list[str]) -> None:
    shown = command(*words)
    assert shown.code == 0
    assert "Example" in shown.out
    assert max(map(len, shown.out.split("\n"))) <= 80


def test_versions(command: Command) -> None:
    assert command("--version").out == f"mechsim {mechsim.__version__}\n"
    assert "numpy" in command("version").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rum"], "Did you mean run?"),
        (["pendulum.yaml"], "mechsim run pendulum.yaml"),
        (["run"], "Missing argument"),
        (["run", "x.yaml", "--tol", "small"], "not a valid float"),
        (["run", "x.yaml", "--samples", "1"], "--samples"),
        (["run", "x.yaml", "--dt", "0"], "--dt"),
        (["run", "x.yaml", "--dt", "1", "--samples", "5"], "exclude each other"),
        (["run", "x.yaml", "--set", "m"], "NAME=EXPR"),
        (["run", "x.yaml", "--set", "m=1", "--set", "m=2"], "m is set twice"),
        (["run", "x.yaml", "-o", "-", "--json"], "both want standard output"),
        (["assemble", "x.yaml", "--all", "--branch", "2"], "use one of them"),
    ],
)
def test_wrong_words(command: Command, words: list[str], said: str) -> None:
    shown = command(*words)
    assert shown.code == 2
    assert said in shown.err


# --- run


def test_run_writes_a_file_and_a_summary(command: Command) -> None:
    shown = command("run", PENDULUM)
    assert shown.code == 0
    for word in ("Simple pendulum", "1 degree of freedom, index 3", "energy", "constraints", "pendulum.csv"):
        assert word in shown.out
    assert "\x1b" not in shown.out + shown.err
    trajectory = load("pendulum.csv")
    assert trajectory.t[0] == 0.0 and trajectory.t[-1] == 10.0
    assert trajectory.spec_text == Path(PENDULUM).read_text()
    assert trajectory.certificate is not None
    # The bars of the project: constraints to 1e-13 of the size, their rates to 1e-12 of the peak speed.
    assert trajectory.certificate.position_residual < 1e-13
    assert trajectory.certificate.velocity_residual < 1e-12
    # Some hundred steps at 1e-14 each.
    assert trajectory.certificate.energy_drift < 1e-12


def test_options_reach_the_run(command: Command) -> None:
    words = ["--tol", "1e-8", "--order", "10", "--t0", "1", "--tend", "2", "--set", "m=2", "--set", "l=2*m/4"]
    shown = command("run", PENDULUM, "-o", "out.csv", "--json", *words)
    summary = json.loads(shown.out)
    assert summary["settings"] == {
        "tol": 1e-8,
        "order": 10,
        "t0": 1.0,
        "tend": 2.0,
        "overrides": {"m": "2", "l": "2*m/4"},
        "branch": None,
    }
    assert load("out.csv").t[0] == 1.0
    assert load("out.csv")["A_x"][0] == 1.0
    assert load("out.csv").certificate.order == 10


def test_json_is_one_object_and_nothing_else(command: Command) -> None:
    shown = command("run", PENDULUM, "--json", "-o", "out.csv", "--verify")
    summary = json.loads(shown.out)
    assert shown.err == ""
    assert summary["status"] == "finished" and summary["dof"] == 1 and summary["rows"] == len(load("out.csv"))
    assert set(summary["end"]["positions"]) == {"A_x", "A_y"}
    assert set(summary["verify"]["digits"]) == {"A", "A_dot"}


def test_verify_counts_agreeing_digits(command: Command) -> None:
    shown = command("run", PENDULUM, "--verify", "--tol", "1e-10")
    assert "digits shared with tolerance 1e-12" in shown.out
    line = next(line.split() for line in shown.out.split("\n") if line.startswith("  A_dot"))
    assert float(line[2]) > 7  # the tolerance leaves 10 digits per step, ten seconds of swinging cost two


CHAOS = """
PartData: {Fixed: {O: []}, Rods: {OA: 1, AB: 1}, Particles: {A: 1, B: 1}}
AppliedForces: {Gravity: }
ProblemData: {tend: 100, positions: {A: [0, 1], B: [0.1, 2]}}
"""


def test_what_two_runs_do_not_share_is_said_however_quiet(command: Command) -> None:
    """Errors of a double pendulum grow to its size within half a minute."""
    Path("chaos.yaml").write_text(CHAOS)
    assert "shares no digit of A, B" in command("run", "chaos.yaml", "-q", "--verify").err
    summary = json.loads(command("run", "chaos.yaml", "--json", "--verify").out)
    assert any("shares no digit" in doubt for doubt in summary["doubts"])


def test_verify_runs_at_another_order(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    followed, follow = [], simulation.follow
    monkeypatch.setattr(simulation, "follow", lambda *a, **k: followed.append(follow(*a, **k)) or followed[-1])
    for order in (3, 14, 60):
        assert command("run", PENDULUM, "--verify", "--tend", "0.5", "--order", str(order), "--tol", "1e-9").code == 0
        first, second = followed[-2:]
        assert first.statistics["order"] == order != second.statistics["order"]
        assert not set(first.t[1:-1]) & set(second.t[1:-1])  # nor do its steps end where those of the first did


def test_quiet_says_nothing(command: Command) -> None:
    shown = command("run", PENDULUM, "-q")
    assert (shown.code, shown.out, shown.err) == (0, "", "")


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet"])
def test_samples_in_every_format(command: Command, ending: str) -> None:
    assert command("run", PENDULUM, "-o", f"out.{ending}", "--samples", "21", "--tend", "1").code == 0
    trajectory = load(f"out.{ending}")
    assert np.array_equal(trajectory.t, np.linspace(0, 1, 21))
    # Sampled rows are projected on the constraint too: a rounding or two.
    assert np.abs(np.hypot(*trajectory["A"].T) - 1.0).max() < 1e-15
    assert os.listdir() == [f"out.{ending}"]


def test_spacing(command: Command) -> None:
    assert command("run", PENDULUM, "-o", "out.csv", "--dt", "0.1", "--tend", "1").code == 0
    assert len(load("out.csv")) == 11


def test_standard_output_carries_the_table(command: Command) -> None:
    shown = command("run", PENDULUM, "-o", "-", "--samples", "3")
    rows = [line for line in shown.out.split("\n") if line and line[0] != "#"]
    assert rows[0] == "t,A_x,A_x_dot,A_y,A_y_dot,T,V"
    assert "Simple pendulum" in shown.err
    assert os.listdir() == []


def test_a_file_that_is_not_ours_is_not_replaced_by_default(command: Command) -> None:
    Path("pendulum.csv").write_text("my measurements")
    shown = command("run", PENDULUM)
    assert shown.code == 2
    assert "was not written by mechsim" in shown.err and "-o pendulum.csv" in shown.err
    assert Path("pendulum.csv").read_text() == "my measurements"


# --- what can go wrong


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["missing.yaml"], 2, "missing.yaml"),
        ([PENDULUM, "--tol", "0"], 2, "the tolerance 0 is not between 1e-16 and 1"),
        ([PENDULUM, "--tol", "1e-120"], 2, "the tolerance 1e-120 is not between 1e-16 and 1"),
        ([PENDULUM, "--tol", "nan"], 2, "the tolerance nan is not between 1e-16 and 1"),
        ([PENDULUM, "--tol", "nan"], 2, "the tolerance nan"),
        ([PENDULUM, "--order", "1"], 2, "the order 1"),
        ([PENDULUM, "--tend", "-1"], 2, "tend = -1 is not after t0 = 0"),
        ([PENDULUM, "--tend", "inf"], 2, "must be numbers up to 1e+75"),
        ([PENDULUM, "--set", "q=1"], 2, "--set:1:1: error: there is no parameter q"),
        ([PENDULUM, "--set", "l=1/0"], 2, "error: "),
        ([PENDULUM, "-o", "no/folder/out.csv"], 2, "folder no/folder does not exist"),
        ([PENDULUM, "-o", "/dev/full"], 2, "the disk is full"),
        ([PENDULUM, "--dt", "1e-30"], 2, "rows"),
        ([PENDULUM, "--branch", "7"], 3, "branch 7"),
    ],
)
def test_failures_are_said_in_a_line(command: Command, words: list[str], code: int, said: str) -> None:
    shown = command("run", *words)
    assert shown.code == code
    assert said in shown.err and "error: " in shown.err
    assert "Traceback" not in shown.err and shown.out == ""
    assert os.listdir() == []


def test_all_faults_come_at_once_with_their_places(command: Command) -> None:
    Path("bad.yaml").write_text(Path(PENDULUM).read_text().replace("l: 1 ", "l: oops ").replace("Fixed", "Fxed"))
    shown = command("run", "bad.yaml")
    assert shown.code == 2
    assert "bad.yaml:6:6: error: " in shown.err and "Did you mean Fixed" in shown.err.replace("did", "Did")


def test_json_tells_faults_too(command: Command) -> None:
    shown = command("run", "missing.yaml", "--json")
    told = json.loads(shown.out)
    assert told["exit_code"] == 2 and told["faults"][0]["message"]
    assert json.loads(command("run", PENDULUM, "--tol", "x", "--json").out)["exit_code"] == 2


def test_a_bug_is_one_line_without_debug(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("somewhere\ndeep")

    monkeypatch.setattr(simulation, "prepare", broken)
    shown = command("run", PENDULUM)
    assert shown.code == 1
    assert "error: unexpected ZeroDivisionError: somewhere deep\n" in shown.err and "--debug" in shown.err
    with pytest.raises(ZeroDivisionError):
        main(["run", PENDULUM, "--debug"])


def with_observer(change: Callable[[Callable[[Any], None]], Callable[[Any], None]]) -> Callable[..., Any]:
    """`follow` with the observer wrapped."""
    original = simulation.follow

    def follow(prepared: Any, *, observer: Any = None, **settings: Any) -> Any:
        return original(prepared, observer=change(observer), **settings)

    return follow


def test_an_interrupt_keeps_the_rows_and_the_older_file(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupting(observer: Callable[[Any], None]) -> Callable[[Any], None]:
        def observe(batch: Any) -> None:
            observer(batch)
            raise KeyboardInterrupt

        return observe

    monkeypatch.setattr(simulation, "follow", with_observer(interrupting))
    Path("out.csv").write_text("older")
    shown = command("run", PENDULUM, "-o", "out.csv")
    assert shown.code == 130
    assert "interrupted at t = " in shown.err and "out.partial.csv" in shown.err
    assert Path("out.csv").read_text() == "older"
    partial = load("out.partial.csv")
    assert partial.status == "partial" and partial.t[0] == 0.0


def test_a_failed_integration_keeps_the_rows(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    original = simulation.follow

    def failing(prepared: Any, **settings: Any) -> Any:
        done = original(prepared, **settings)
        return replace(done, status="step_too_small", message="the step became tiny")

    monkeypatch.setattr(simulation, "follow", failing)
    shown = command("run", PENDULUM, "-o", "out.csv")
    assert shown.code == 4
    assert "error: the integration stopped: the step became tiny" in shown.err
    assert "out.partial.csv" in shown.err
    assert os.listdir() == ["out.partial.csv"]


# --- check, assemble, schema


def test_check_tells_the_structure(command: Command) -> None:
    shown = command("check", str(SPECS / "mechanism1a.yaml"))
    assert shown.code == 0
    for words in (
        "Index = 3, DOF = 4",
        "2 degrees of freedom",
        "AC, BD and CDE share 1 degree of freedom; EF has 1",
        "1 of C_x, C_y, D_x, D_y, E_x\n",  # E and F stand at the lowest points of their paths: E_y, F_y are extreme
        " F_x\n",
    ):
        assert words in shown.out


def test_check_as_json(command: Command) -> None:
    told = json.loads(command("check", PENDULUM, "--json").out)
    assert (told["dof"], told["total_dof"], told["index"], told["redundant"]) == (1, 2, 3, [])
    assert told["may_fix"] == [{"count": 1, "of": ["A_y"]}]  # A_x is extreme where the rod lies level


def test_check_tells_the_structure_even_when_the_start_fails(command: Command) -> None:
    text = Path(PENDULUM).read_text().replace("{A: [l, [0, fixed]]}", "{A: [l, [3*l, fixed]]}", 1)
    Path("stuck.yaml").write_text(text)
    shown = command("check", "stuck.yaml")
    assert shown.code == 3
    assert "Index = 3, DOF = 2" in shown.out and "error: " in shown.err


def test_assemble_shows_roles(command: Command) -> None:
    shown = command("assemble", PENDULUM)
    lines = [line.split() for line in shown.out.split("\n")]
    assert ["A_x", "guess", "1", "1"] in lines
    assert ["A_y", "fixed", "0", "0"] in lines


def test_assemble_lists_the_ways_to_close(command: Command) -> None:
    told = json.loads(command("assemble", PENDULUM, "--all", "--json").out)
    ends = [{row["label"]: row["obtained"] for row in each["values"]} for each in told["configurations"]]
    assert sorted(round(end["A_x"], 12) for end in ends) == [-1.0, 1.0]  # A_y = 0 is held: left or right
    shown = command("assemble", PENDULUM, "--all")
    assert "2 ways to close were found" in shown.out
    picked = command("assemble", PENDULUM, "--branch", "2", "--json")
    assert json.loads(picked.out)["configurations"][0]["values"][0]["obtained"] == pytest.approx(-1.0)


def test_schema_is_json(command: Command) -> None:
    assert "ProblemData" in json.loads(command("schema").out)["properties"]


PARALLELOGRAM = """\
Title: Parallelogram with a third bar
Dimension: 2
PhysicalParams: {l: 1, m: 1}
PartData:
  Fixed: {O: [], P: [l], Q: [2*l]}
  Rigids:
    OA, PB, QC: {Geom: [[l]], Dyna: [[l/2], m, m*l**2/12]}
    ABC: {Geom: [[l], [2*l]], Dyna: [[l], 2*m, m*l**2]}
AppliedForces: {Gravity: }
ProblemData:
  t0: 0
  tend: 1
  positions: {A: [0.6*l, [-0.8*l, fixed]], B: [1.6*l, -0.8*l], C: [2.6*l, -0.8*l]}
"""


def test_redundant_constraints_are_named_and_still_hold(command: Command) -> None:
    Path("bars.yaml").write_text(PARALLELOGRAM)
    assert "redundant     l_" in command("check", "bars.yaml").out
    assert "left out as redundant" in command("run", "bars.yaml").out
    # The certificate covers the constraint that was left out; to rounding, as the bars are exactly parallel.
    assert load("bars.csv").certificate.position_residual < 1e-14


FOLLOWER = """\
Title: A rod pushed across itself
Dimension: 2
PhysicalParams: {l: 1, m: 1, f: 2}
PartData:
  Fixed: {O: []}
  Rigids:
    OA: {Geom: [[l]], Dyna: [[l/2], m, m*l**2/12]}
AppliedForces:
  Gravity:
  ConstForces: {OA.A: [0, f]}
ProblemData:
  t0: 0
  tend: 5
  positions: {A: [0, -l]}
"""


def test_work_of_a_following_force_is_in_the_table_and_the_balance() -> None:
    motion = mechsim.simulate(FOLLOWER)
    work = motion.trajectory["work_OA_A"]
    assert work[0] == 0.0
    assert np.ptp(work) > 1.0  # the force does matter to the balance
    assert motion.certificate.energy_drift < 1e-12  # the tolerance; some 70 steps


# --- terminals


def in_terminal(folder: Path, columns: int, *words: str, **environment: str) -> str:
    """Everything `mechsim WORDS` writes to a terminal of that width."""
    main_end, other_end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "mechsim", *words],
        stdin=other_end,
        stdout=other_end,
        stderr=other_end,
        cwd=folder,
        env={**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color", **environment},
    )
    os.close(other_end)
    shown = b""
    while True:
        try:
            part = os.read(main_end, 65536)
        except OSError:  # Linux says EIO when the other end has closed
            break
        if not part:
            break
        shown += part
    process.wait()
    os.close(main_end)
    return shown.decode()


@pytest.mark.parametrize("columns", [40, 80])
def test_a_terminal_gets_colour_unless_it_declines(tmp_path: Path, columns: int) -> None:
    words = ("run", str(SPECS / "andrews.yaml"), "--tend", "0.001")
    assert "\x1b[" in in_terminal(tmp_path, columns, *words)
    plain = in_terminal(tmp_path, columns, *words, NO_COLOR="1")
    # rich still makes the heading of a table bold: colour is what was declined
    assert "\x1b[3" not in plain
    table = plain[plain.index("x_dot") :]
    assert max(map(len, table.split("\n"))) <= columns + 10  # escapes and the carriage return


def test_progress_is_only_for_those_who_watch() -> None:
    assert not Progress(0.0, 1.0, quiet=False).enabled  # under pytest standard error is no terminal


# --- the Python API


def test_simulate_from_file_text_and_spec() -> None:
    spec = simulation.read(PENDULUM)
    motions = [mechsim.simulate(source, tend=1) for source in (PENDULUM, Path(PENDULUM), spec.text, spec)]
    ends = [motion(1.0)["A"].tolist() for motion in motions]
    assert all(end == ends[0] for end in ends)
    assert motions[0].certificate.position_residual < 1e-13  # the project's bar


def test_simulate_with_other_parameters() -> None:
    motion = mechsim.simulate(PENDULUM, parameters={"l": 2, "m": "l + 1"}, tend=0.5, tol=1e-10)
    assert motion(0.0)["A"].tolist() == [2.0, 0.0]
    assert motion.trajectory.settings["overrides"] == {"l": "2.0", "m": "l + 1"}
    assert np.abs(np.linalg.norm(motion(np.linspace(0, 0.5, 7))["A"], axis=1) - 2.0).max() < 1e-14  # rounding


def test_simulate_saves_and_loads(tmp_path: Path) -> None:
    motion = mechsim.simulate(PENDULUM, tend=0.5)
    again = mechsim.load(motion.save(tmp_path / "x.npz"))
    assert again.polynomials is not None
    middle = 0.5 * (motion.t[0] + motion.t[1])
    # Polynomials are not projected: they agree within the step's error.
    assert np.allclose(again.polynomials([middle])[0, :2], motion(middle)["A"], atol=1e-13)


def test_simulate_raises_what_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecError):
        mechsim.simulate("Title: nothing\n")
    with pytest.raises(SpecError, match="tend"):
        mechsim.simulate(PENDULUM, tend=-1)
    with pytest.raises(AssemblyError):
        mechsim.simulate(PENDULUM, branch=9)
    original = simulation.follow

    def failing(prepared: Any, **settings: Any) -> Any:
        done = original(prepared, **settings)
        return replace(done, status="diverged", message="it flew apart")

    monkeypatch.setattr(simulation, "follow", failing)
    with pytest.raises(IntegrationError, match="it flew apart") as caught:
        mechsim.simulate(PENDULUM, tend=0.5)
    assert len(caught.value.motion.to_pandas()) > 1  # what there is of the motion is not lost


def test_unknown_names_are_told() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = mechsim.nonsense
    assert "simulate" in dir(mechsim)


def test_a_mechanism_is_an_object() -> None:
    pendulum = mechsim.mechanism(PENDULUM)
    assert pendulum.coordinates == ("A_x", "A_y") and pendulum.constraints == ("l_OA",)
    at, moving = {"A": (0.6, -0.8)}, {"A_x": 0.8, "A_y": 0.6}
    # All of these are exact but for the rounding of 0.6 and 0.8.
    assert pendulum.constraint_residuals(at) == pytest.approx([0.0], abs=1e-15)
    assert pendulum.constraint_rates(at, moving) == pytest.approx([0.0], abs=1e-15)
    assert pendulum.mass_matrix(at) == pytest.approx(np.eye(2))
    gradient = pendulum.constraint_jacobian(at)[0]
    assert gradient[1] / gradient[0] == pytest.approx(-0.8 / 0.6, rel=1e-15)
    acceleration = pendulum.accelerations(at, moving)
    # r . r'' = -|r'|^2 on a circle, and along the path only gravity acts.
    assert acceleration @ [0.6, -0.8] == pytest.approx(-1.0, rel=1e-14)
    assert acceleration @ [0.8, 0.6] == pytest.approx(-9.81 * 0.6, rel=1e-14)
    residuals = pendulum.residuals(at, moving, acceleration, pendulum.multipliers(at, moving))
    assert residuals == pytest.approx(np.zeros(3), abs=1e-14)
    kinetic, potential = pendulum.energies(at, moving)
    assert (kinetic, potential) == (pytest.approx(0.5), pytest.approx(-9.81 * 0.8))


def test_a_mechanism_with_other_parameters() -> None:
    heavy = mechsim.mechanism(PENDULUM).with_parameters(m=2)
    assert heavy.mass_matrix([1.0, 0.0]) == pytest.approx(2 * np.eye(2))
    assert heavy.parameters["m"] == 2.0
    positions, velocities = heavy.start()
    assert positions.tolist() == [1.0, 0.0] and velocities.tolist() == [0.0, 0.0]


def test_a_state_must_be_complete() -> None:
    pendulum = mechsim.mechanism(PENDULUM)
    with pytest.raises(ValueError, match="no value for A_y"):
        pendulum.mass_matrix({"A_x": 1.0})
    with pytest.raises(ValueError, match="no point or coordinate 'B'"):
        pendulum.mass_matrix({"A": (1, 0), "B": (1, 0)})
    with pytest.raises(ValueError, match="2 coordinates"):
        pendulum.mass_matrix([1.0])


def test_a_mechanism_that_cannot_move_has_nothing_to_fix(command: Command) -> None:
    text = """
PartData:
  Fixed: {O: [], P: [1]}
  Rigids: {"OA, PA": {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
ProblemData: {tend: 1, positions: {A: [0.5, 0.9]}}
"""
    Path("truss.yaml").write_text(text)
    shown = command("check", "truss.yaml")
    assert "0 degrees of freedom" in shown.out and "cannot move" in shown.out
    assert "velocities" not in shown.out
