"""Results: columns, certificate, files. A pendulum solved by SciPy stands in for the engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import pytest
from scipy.integrate import solve_ivp

from mechsim.engine import Points
from mechsim.engine.sampling import StepRows
from mechsim.errors import MechsimError
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.result import (
    Agreement,
    Certificate,
    Journal,
    Monitor,
    Motion,
    OutputError,
    Polynomials,
    Recorder,
    agreement,
    disagreement,
    equally_spaced,
    full_layout,
    load,
    written_layout,
)
from mechsim.spec import parse
from mechsim.spec.document import OutFile
from mechsim.structure import NO_REDUNDANCY

PENDULUM = """\
Title: A pendulum
Dimension: 2
PhysicalParams: {l: 2, m: 3, g: 9.81}   # "quoted, with # and ,
PartData:
  Fixed: {O: []}
  Rigids:
    OA: {Geom: [[l]]}
  Particles:
    A: m
AppliedForces:
  Gravity: [0, -g]
ProblemData:
  t0: 0
  tend: 1
  positions: {A: [l, [0, fixed]]}
  velocities: {A: [0, [0, fixed]]}
"""
LABELS = ("t", "A_x", "A_x_dot", "A_y", "A_y_dot", "T", "V")


@dataclass
class PendulumSolution:
    """The angle's equation solved by SciPy, seen in cartesian coordinates: constraints hold to rounding."""

    system: Any
    tolerance: float = 1e-12
    structure: Any = field(default_factory=lambda: SimpleNamespace(redundancy=NO_REDUNDANCY))
    segments: Any = None
    events: Any = None
    status: str = "finished"
    message: str = ""
    statistics: dict[str, Any] = field(default_factory=lambda: {"steps": 7, "rejected": 1, "order": 8, "seconds": 0.5})

    def __post_init__(self) -> None:
        def rates(t: float, state: np.ndarray) -> list[float]:
            return [state[1], -9.81 / 2 * np.cos(state[0])]

        solved = solve_ivp(rates, (0, 1), [0, 0], "DOP853", rtol=self.tolerance, atol=self.tolerance, dense_output=True)
        self.dense = solved.sol
        self.t = solved.t
        self.q, self.v, self.lam = self.sample(self.t)
        self.coefficients = np.zeros((len(self.t) - 1, 3, 2))
        self.coefficients[:, :2, 0] = self.q[:-1]
        self.coefficients[:, :2, 1] = self.v[:-1]

    def sample(self, times: np.ndarray, side: str = "after") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        angle, rate = self.dense(np.atleast_1d(times))
        q = 2 * np.column_stack([np.cos(angle), np.sin(angle)])
        v = 2 * np.column_stack([-np.sin(angle) * rate, np.cos(angle) * rate])
        return q, v, np.zeros((len(q), 1))

    def jerks(self, points: Any, side: str | None = None) -> np.ndarray:
        raise NotImplementedError  # no column asks for them

    @property
    def points(self) -> Any:
        return Points(self.system, self.t, self.q, self.v)

    @property
    def rows(self) -> Any:
        return self.points

    def sampled(self, times: np.ndarray, side: str = "after") -> Any:
        q, v, lam = self.sample(times)
        return Points(self.system, np.atleast_1d(times), q, v, lam)

    def batches(self, size: int = 5) -> Any:
        for first in range(0, len(self.t), size):
            yield self.points[first : first + size]


FACTS = {
    "title": "A pendulum",
    "spec_path": "pendulum.yaml",
    "spec_text": PENDULUM,
    "version": "0.1.0",
    "settings": {"tol": 1e-12, "order": None, "t0": 0.0, "tend": 1.0, "overrides": {"m": "3"}},
}


@pytest.fixture(scope="module")
def system() -> Any:
    return System(build(parse(PENDULUM)))


@pytest.fixture(scope="module")
def solution(system: Any) -> PendulumSolution:
    return PendulumSolution(system)


@pytest.fixture(scope="module")
def motion(solution: PendulumSolution) -> Motion:
    return Motion(solution, FACTS)


def recorder(system: Any, target: Path | str, sampling: Any = None, outfile: OutFile | None = None) -> Recorder:
    sampling = sampling or StepRows(lambda: None)  # no projection is needed: these points have no steps to divide
    return Recorder(system, full_layout(system.mechanism), str(target), FACTS, outfile or OutFile(), sampling)


@dataclass
class AtTheEnd:
    """Stands in for the engine's sampling: all points come when the march is over."""

    solution: PendulumSolution
    times: Any
    has_steps = False

    def passed(self, batch: Any) -> Any:
        return iter(())

    def rest(self) -> Any:
        yield self.solution.sampled(self.times)


# --- columns


def test_columns_follow_the_seed(system: Any) -> None:
    layout = full_layout(system.mechanism)
    assert layout.labels == LABELS
    assert layout.units == ("s", "m", "m/s", "m", "m/s", "J", "J")


def test_outfile_limits_derivatives_but_keeps_what_the_renderer_needs() -> None:
    andrews = build(parse(Path("specs/andrews.yaml").read_text()))
    layout = written_layout(andrews, OutFile(points={"D": 2}, angles={}))
    assert [label for label in layout.labels if label.endswith("_dot")] == ["D_x_dot", "D_y_dot"]
    assert {"E_x", "E_y", "theta_OF", "T", "V"} <= set(layout.labels)


def test_rows_hold_the_numbers_their_columns_name(motion: Motion, solution: PendulumSolution) -> None:
    trajectory = motion.trajectory
    assert np.array_equal(trajectory["A"], solution.q)
    assert np.array_equal(trajectory["A_y_dot"], solution.v[:, 1])
    assert trajectory.points == ("A",)
    # T = m |v|^2 / 2 with m = 3: one rounding or two apart.
    assert np.allclose(trajectory["T"], 1.5 * (solution.v**2).sum(axis=1), rtol=1e-15)
    with pytest.raises(KeyError, match="no column or point 'B'"):
        trajectory["B"]


# --- motion


def test_motion_answers_at_any_time(motion: Motion) -> None:
    assert motion(0.0)["A"].tolist() == [2.0, 0.0]
    assert motion(0.5)["O"].tolist() == [0.0, 0.0]
    assert motion([0.1, 0.2])["A"].shape == (2, 2)
    assert motion(0.3)["A_x"] == motion(0.3)["A"][0]
    assert motion.velocity(0.5)["O"].tolist() == [0.0, 0.0]
    assert list(motion.multipliers(0.5)) == ["l_OA"]
    with pytest.raises(ValueError, match="from t = 0 to 1"):
        motion(1.5)
    with pytest.raises(KeyError, match="no point or coordinate 'Q'"):
        motion(0.5)["Q"]


def test_motion_as_pandas(motion: Motion) -> None:
    assert tuple(motion.to_pandas().columns) == LABELS


# --- certificate


def test_certificate_of_a_good_motion(motion: Motion) -> None:
    figures = motion.certificate
    # The angle is good to about 1e-12 relative (SciPy's tolerance), so energy is kept to some 1e-11.
    assert figures.energy_drift < 1e-10
    # Cosine and sine are rounded once: residuals of a few units in the last place.
    assert figures.position_residual < 1e-15
    assert figures.velocity_residual < 1e-15
    assert figures.peak_speed == pytest.approx(np.linalg.norm(motion.solution.v, axis=1).max())
    assert (figures.steps, figures.rejected, figures.order, figures.seconds) == (7, 1, 8, 0.5)


def test_certificate_measures_a_distance(system: Any) -> None:
    """The end of a rod that is too long by 2e-6 would have to move by 2e-6; so with velocities."""
    monitor = Monitor(system)
    monitor.observe(Points(monitor.system, np.zeros(1), np.array([[2 + 2e-6, 0.0]]), np.array([[2e-6, 1.0]])))
    figures = monitor.certificate(1e-12, {})
    assert figures.position_residual * figures.size == pytest.approx(2e-6, rel=1e-5)  # first order in the error
    assert figures.velocity_residual * figures.peak_speed == pytest.approx(2e-6, rel=1e-5)


def test_certificate_does_not_depend_on_batches(system: Any, solution: PendulumSolution) -> None:
    whole, parts = Monitor(system), Monitor(system)
    whole.observe(solution.points)
    for batch in solution.batches(3):
        parts.observe(batch)
    one, other = whole.certificate(1e-12, {}), parts.certificate(1e-12, {})
    assert one.energy_drift == other.energy_drift
    assert one.peak_speed == other.peak_speed


def test_certificate_sees_energy_that_appears_from_nowhere(system: Any) -> None:
    monitor = Monitor(system)
    q = np.array([[2.0, 0.0], [2.0, 0.0]])
    monitor.observe(Points(monitor.system, np.array([0.0, 1.0]), q, np.array([[0.0, 1.0], [0.0, 2.0]])))
    assert monitor.certificate(1e-12, {}).energy_drift == pytest.approx((6.0 - 1.5) / 6.0)  # exact in binary


# --- CSV


def test_csv_streams_and_is_renamed_when_complete(tmp_path: Path, system: Any, solution: PendulumSolution) -> None:
    target, partial = tmp_path / "out.csv", tmp_path / "out.partial.csv"
    target.write_text("an older file")
    record = recorder(system, target)
    lengths = []
    for batch in solution.batches():
        record(batch)
        lengths.append(len(load(partial)))
        assert target.read_text() == "an older file"
    assert lengths == [min(5 * (k + 1), len(solution.t)) for k in range(len(lengths))]
    path, certificate, rows = record.finish(solution, None)
    assert (path, rows) == (target.resolve(), len(solution.t))
    assert not partial.exists()
    assert load(target).certificate == certificate


def test_csv_round_trip_keeps_every_bit(tmp_path: Path, motion: Motion) -> None:
    read = load(motion.save(tmp_path / "out.csv"))
    assert np.array_equal(read.table, motion.trajectory.table)
    for name in ("labels", "units", "title", "spec_path", "spec_text", "settings", "version", "certificate", "status"):
        assert getattr(read, name) == getattr(motion.trajectory, name), name
    assert read.notes == ()


def test_csv_is_read_by_pandas(tmp_path: Path, motion: Motion) -> None:
    frame = pandas.read_csv(motion.save(tmp_path / "out.csv"), comment="#")
    assert tuple(frame.columns) == LABELS
    # Older pandas reads decimals a unit in the last place off; ours are exact (the test above).
    assert np.allclose(frame.to_numpy(), motion.trajectory.table, rtol=1e-15)


@pytest.mark.parametrize("text", ["a\r\nb\rc\n", 'x: "1,2\n"# y', "é µ 機\n\n", ""])
def test_csv_carries_any_spec_text(tmp_path: Path, motion: Motion, text: str) -> None:
    odd = Motion(motion.solution, {**FACTS, "spec_text": text})
    path = odd.save(tmp_path / "out.csv")
    assert load(path).spec_text == text.replace("\r\n", "\n").replace("\r", "\n")
    assert len(pandas.read_csv(path, comment="#")) == len(odd.t)


def test_csv_obeys_formats(tmp_path: Path, system: Any, solution: PendulumSolution) -> None:
    outfile = OutFile(time_format="%.3f", value_format="% .17e")
    record = recorder(system, tmp_path / "out.csv", outfile=outfile)
    for batch in solution.batches():
        record(batch)
    path, _, _ = record.finish(solution, None)
    first = next(line for line in path.read_text().split("\n") if line.startswith("0.000"))
    assert first.startswith("0.000, 2.00000000000000000e+00,")
    assert np.array_equal(load(path)["A_x"], solution.q[:, 0])


@pytest.mark.parametrize("wrong", ["%d %d", "%q", "no format", "%s%%"])
def test_a_format_that_prints_no_number_is_refused_before_the_run(tmp_path: Path, system: Any, wrong: str) -> None:
    with pytest.raises(OutputError, match="qformat"):
        recorder(system, tmp_path / "o.csv", outfile=OutFile("%g", wrong))
    assert list(tmp_path.iterdir()) == []


def test_a_truncated_file_is_readable_and_says_so(tmp_path: Path, system: Any, solution: PendulumSolution) -> None:
    record = recorder(system, tmp_path / "out.csv")
    for batch in solution.batches():
        record(batch)
    partial = record.keep()
    assert partial is not None
    text = partial.read_text()
    partial.write_text(text[:-7])  # as a full disk or a pulled plug would leave it
    read = load(partial)
    assert len(read) == len(solution.t) - 1
    assert read.status == "partial"
    assert "cut short" in read.notes[0] and "did not come to its end" in read.notes[1]


def test_a_killed_process_leaves_its_rows(tmp_path: Path) -> None:
    script = (
        "import numpy, os, signal\n"
        "from mechsim.result import Journal\n"
        "journal = Journal('out.csv', '# mechsim 0\\nt,x\\n', '%g,%g\\n')\n"
        "journal.append(numpy.array([[0.0, 1.0], [0.5, 2.0]]))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=False)
    assert load(tmp_path / "out.partial.csv")["x"].tolist() == [1.0, 2.0]
    assert not (tmp_path / "out.csv").exists()


def test_samples_replace_the_rows_of_steps(tmp_path: Path, system: Any, solution: PendulumSolution) -> None:
    times = equally_spaced(0.0, 1.0, 11, None)
    record = recorder(system, tmp_path / "out.csv", AtTheEnd(solution, times))
    for batch in solution.batches():
        record(batch)
    path, certificate, rows = record.finish(solution, times)
    assert rows == 11
    assert np.array_equal(load(path).t, np.linspace(0, 1, 11))
    assert certificate.rows_watched == 11 + len(solution.t)
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


def test_equally_spaced_reaches_the_end_and_never_passes_it() -> None:
    assert equally_spaced(0.0, 1.0, None, None) is None
    tenths = equally_spaced(0.0, 0.3, None, 0.1)
    assert tenths is not None and tenths[-1] == 0.3  # 3 * 0.1 is larger than 0.3 in doubles
    uneven = equally_spaced(1.0, 2.0, None, 0.3)
    assert uneven is not None and len(uneven) == 4
    with pytest.raises(OutputError, match="rows"):
        equally_spaced(0.0, 1.0, None, 1e-30)


# --- other formats


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_binary_round_trip(tmp_path: Path, motion: Motion, ending: str) -> None:
    read = load(motion.save(tmp_path / f"out.{ending}"))
    assert np.array_equal(read.table, motion.trajectory.table)
    for name in ("labels", "units", "title", "spec_text", "settings", "version", "certificate", "status"):
        assert getattr(read, name) == getattr(motion.trajectory, name), name
    assert (read.polynomials is not None) == (ending == "npz")


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_binary_runs_keep_a_csv_journal_until_done(
    tmp_path: Path, system: Any, solution: PendulumSolution, ending: str
) -> None:
    record = recorder(system, tmp_path / f"out.{ending}")
    for batch in solution.batches():
        record(batch)
    assert len(load(tmp_path / "out.partial.csv")) == len(solution.t)
    record.finish(solution, None)
    assert [file.name for file in tmp_path.iterdir()] == [f"out.{ending}"]


def test_parquet_is_plain_for_pandas(tmp_path: Path, motion: Motion) -> None:
    frame = pandas.read_parquet(motion.save(tmp_path / "out.parquet"))
    assert tuple(frame.columns) == LABELS


def test_polynomials_are_evaluated_from_the_start_of_their_step() -> None:
    series = Polynomials(np.array([0.0, 1.0]), np.array([1.0, 3.0]), np.array([[[1.0, 2.0]], [[3.0, -1.0]]]), ("x",))
    assert series(np.array([0.0, 0.5, 1.0, 3.0]))[:, 0].tolist() == [1.0, 2.0, 3.0, 1.0]


# --- what can go wrong


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"", "no file of mechsim"),
        ("a.csv", b"t,x\n1,2\n", "a.csv:1:1: error: this is no file of mechsim"),
        ("a.csv", b"# mechsim 1", "ends within its first line"),
        ("a.csv", b"# mechsim 1\n", "ends before its column names"),
        ("a.csv", b"# mechsim 1\nt,x\n1,2\n3\n", "a.csv:4:1: error: 1 values, but there are 2 columns"),
        ("a.csv", b"# mechsim 1\nt,x\n1,2\n3,no\n", "a.csv:4:1: error: 'no' is not a number"),
        ("a.csv", b"# mechsim 1\n# settings: {oops\nt,x\n1,2\n", "a.csv:2:1: error: cannot read the header's settings"),
        ("a.csv", b"\xff\xfe\x00", "damaged or no file of mechsim"),
        ("a.npz", b"not a zip", "damaged or no file of mechsim"),
        ("a.parquet", b"not parquet", "damaged or no file of mechsim"),
    ],
)
def test_bad_files_are_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    with pytest.raises(OutputError, match="error") as caught:
        load(name)
    assert said in str(caught.value)


def test_a_missing_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no such file"):
        load(tmp_path / "nothing.csv")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("missing/out.csv", "folder missing does not exist"),
        ("out.xls", "'.xls' is not known"),
        ("out", "without ending"),
        (".", "it is a folder"),
        ("file.csv/out.csv", "does not exist"),
    ],
)
def test_a_target_that_cannot_be_written_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file.csv").write_text("")
    with pytest.raises(OutputError) as caught:
        Journal(target, "", "%g\n")
    assert said in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_read_only_folder_is_refused_at_once(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        folder = Path("/sys/kernel")  # root may write anywhere but here
    else:
        folder = tmp_path
        folder.chmod(0o500)
    with pytest.raises(OutputError, match="cannot write"):
        Journal(folder / "out.csv", "", "%g\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_said() -> None:
    with pytest.raises(OutputError, match="the disk is full"):
        Journal("/dev/full", "# mechsim 0\n", "%g\n")


def test_a_disk_that_fills_up_loses_nothing_written_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out.csv").write_text("an older file")
    journal = Journal(tmp_path / "out.csv", "# mechsim 0\nt\n", "%g\n")
    journal.append(np.array([[0.0], [1.0]]))

    class Full:
        def write(self, text: str) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(journal, "stream", Full())
    with pytest.raises(MechsimError, match="the disk is full"):
        journal.append(np.array([[2.0]]))
    assert load(tmp_path / "out.partial.csv").t.tolist() == [0.0, 1.0]
    assert (tmp_path / "out.csv").read_text() == "an older file"


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    first = Journal(tmp_path / "out.csv", "# mechsim 0\nt\n", "%g\n")
    first.append(np.array([[0.0]]))
    with pytest.raises(OutputError, match="another run is writing it"):
        Journal(tmp_path / "out.csv", "# mechsim 0\nt\n", "%g\n")
    assert load(first.finish("")).t.tolist() == [0.0]
    Journal(tmp_path / "out.csv", "# mechsim 0\nt\n", "%g\n").finish("")


def test_certificates_of_other_versions_are_read() -> None:
    figures = Certificate.from_dict({"steps": 7, "a_figure_of_the_future": 1.0})
    assert figures.steps == 7
    assert np.isnan(figures.energy_drift)


def test_links_are_followed_not_replaced(tmp_path: Path, motion: Motion) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    motion.save(tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert len(load(tmp_path / "real.csv")) == len(motion.t)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_certificate_sees_what_is_no_number(system: Any, value: float) -> None:
    """In any row: a maximum that forgets NaN would call such a motion clean."""
    for row in range(3):
        monitor, q = Monitor(system), np.tile([2.0, 0.0], (3, 1))
        q[row, 0] = value
        with np.errstate(all="ignore"):
            monitor.observe(Points(monitor.system, np.arange(3.0), q, np.zeros((3, 2))))
        assert any("range of numbers" in doubt for doubt in monitor.certificate(1e-12, {}).doubts())


def test_no_tolerance_excuses_a_loss_of_energy(system: Any) -> None:
    monitor = Monitor(system)
    monitor.observe(
        Points(monitor.system, np.arange(2.0), np.tile([2.0, 0.0], (2, 1)), np.array([[0.0, 2.0], [0.0, 1.25]]))
    )
    figures = monitor.certificate(0.5, {"steps": 1000})
    assert figures.energy_drift == pytest.approx(0.61, abs=0.005)
    assert any("energy drifted by 0.61" in doubt for doubt in figures.doubts())


def test_tables_and_values_end_where_the_motion_does(motion: Motion) -> None:
    for outside in (motion.t[0] - 1e-9, motion.t[-1] + 1e-9, np.nan):
        for ask in (motion, lambda t: motion.sampled(np.array([t])), motion.velocity):
            with pytest.raises(ValueError, match="the motion is known from"):
                ask(float(outside))


# --- agreement


def test_runs_that_share_no_digit_are_doubted() -> None:
    """A point at rest has none to share, and matters to nobody."""
    noise, wrong, right = (
        Agreement(name, *digits) for name, *digits in (("R", 0, 0, 1e-15), ("A", 9, 0.1, 0.9), ("B", 8, 7, 1e-7))
    )
    assert disagreement([noise, right]) == ()
    (doubt,) = disagreement([noise, wrong, right])
    assert "no digit of A at some time" in doubt


def test_agreement_counts_digits(solution: PendulumSolution, system: Any) -> None:
    rough = PendulumSolution(system, tolerance=1e-6)
    digits = {each.quantity: each for each in agreement(solution, rough)}
    assert set(digits) == {"A", "A_dot"}
    # A tolerance of 1e-6 per step leaves 4 to 9 digits over one second, and fewest at the worst moment.
    assert 4 < digits["A"].throughout <= digits["A"].at_end < 9
    assert all(each.throughout == 16.0 for each in agreement(solution, solution))


def test_facts_are_json(motion: Motion) -> None:
    assert json.loads(json.dumps(motion.certificate.as_dict()))["steps"] == 7
