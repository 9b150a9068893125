"""Long runs: rows and samples are written while a march lasts, and what is kept of it does not grow."""

import sys
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from memory import peak

import mechsim
from mechsim.cli.main import main
from mechsim.engine import integrate
from mechsim.engine.outline import LAST_KEPT
from mechsim.engine.sampling import Sampling
from mechsim.simulation import adjust, follow, leading, prepare, read

SPECS = Path(__file__).parent.parent / "specs"
SWITCHED = dedent("""
    PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}}
    Tables: {push: {points: [[0, 0], [0.3, 2], [0.7, -1], [1.1, 0]]}}
    AppliedForces: {Gravity: , Torques: {OA: push}}
    Controllers: {theta_OA: {target: 0.5, kp: 30, kd: 4, ki: 2, period: 0.05}}
    Output: {reactions: [O]}
    ProblemData: {tend: 1.2}
""")
CASES = {
    "pendulum": SPECS / "pendulum.yaml",
    "andrews": SPECS / "andrews.yaml",
    "rolling": SPECS / "forces" / "rolling_wheel.yaml",
    "switched": SWITCHED,
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("count", [2, 7, 1000])
def test_samples_of_a_march_are_those_of_its_polynomials(case, count):
    """Taken batch by batch while it lasts, or from all polynomials at its end: the same numbers, to the last bit, for
    both come from the same polynomials and the same projection."""
    prepared = prepare(adjust(read(CASES[case])))
    problem = prepared.spec.problem
    times = np.linspace(problem.t0.value, problem.tend.value, count)
    sampling = Sampling(times, lambda: leading(prepared))
    found = []
    solution = follow(prepared, observer=lambda batch: found.extend(sampling.passed(batch)), detailed=True)
    found.extend(sampling.rest())
    expected = solution.sampled(times)
    for name in ("t", "q", "v", "lam"):
        columns = [getattr(points, name) for points in found]
        assert np.array_equal(np.concatenate(columns), getattr(expected, name)), name
    if case == "switched":
        held = expected.system.constants
        constants = [np.broadcast_to(points.system.constants, (len(points), held.shape[1])) for points in found]
        assert np.array_equal(np.concatenate(constants), held)


@pytest.mark.parametrize("words", [[], ["--samples", "50"], ["--dt", "0.017"], ["--samples", "50", "--verify"]])
def test_the_command_writes_what_python_has(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("arm.yaml").write_text(SWITCHED)
    with pytest.raises(SystemExit) as left:
        main(["run", "arm.yaml", "-o", "out.csv", "-q", *words])
    assert left.value.code == 0
    written, motion = mechsim.load("out.csv"), mechsim.simulate(SWITCHED)
    table = motion.sampled(written.t) if words else motion.trajectory
    assert written.labels == table.labels and np.array_equal(written.table, table.table)


def outline(tend: float):
    prepared = prepare(adjust(read(SPECS / "pendulum.yaml"), tend=tend, tol=1e-8))
    start, tolerance = prepared.start, prepared.spec.solver.tolerance
    return [
        integrate(prepared.system, prepared.structure, start, tend=tend, tolerance=tolerance, keep=keep)
        for keep in ("steps", "outline")
    ]


def test_an_outline_has_the_ends_of_a_march(monkeypatch):
    monkeypatch.setattr("mechsim.engine.outline.MOST_NUMBERS", 2000)
    whole, few = outline(200.0)
    assert len(few.t) < 400 < len(whole.t)
    assert np.isin(few.t, whole.t).all() and np.all(np.diff(few.t) > 0)
    assert np.array_equal(few.t[-LAST_KEPT:], whole.t[-LAST_KEPT:]) and few.t[0] == whole.t[0]
    assert np.array_equal(few.q[-1], whole.q[-1]) and np.array_equal(few.v[-1], whole.v[-1])
    assert np.diff(few.t).max() < 10  # all along the way
    assert few.statistics["steps"] == whole.statistics["steps"] == len(whole.t) - 1


def test_a_table_without_polynomials():
    whole, table = (mechsim.simulate(SPECS / "pendulum.yaml", keep=keep) for keep in ("polynomials", "table"))
    assert np.array_equal(whole.trajectory.table, table.trajectory.table)
    assert table.trajectory.polynomials is None and table.solution.coefficients is None
    assert table.certificate.energy_drift == whole.certificate.energy_drift
    for ask in (
        lambda: table(0.5),
        lambda: table.velocity(0.5),
        lambda: table.sampled([0.5]),
        lambda: table.signals(0.5),
    ):
        with pytest.raises(ValueError, match=r"keep=.polynomials."):
            ask()
    with pytest.raises(mechsim.MechsimError, match="keep='rows' is not known"):
        mechsim.simulate(SPECS / "pendulum.yaml", keep="rows")


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory as Linux tells it")


@LINUX
def test_the_peak_of_a_command_is_its_own(tmp_path):
    """However much memory the process has that measures it."""
    ballast = np.ones(25_000_000)
    assert peak(tmp_path, "--version") < ballast.nbytes / 1e6


@pytest.mark.slow
@LINUX
@pytest.mark.parametrize("words", [["-o", "/dev/null"], ["--samples", "10"]], ids=["rows", "samples"])
def test_memory_does_not_grow_with_the_length_of_a_run(words, tmp_path):
    """190,000 steps more: kept, they would be 9 MB of points and 18 MB of polynomials."""
    spec, more = str(SPECS / "pendulum.yaml"), ["--tol", "1e-4", "--order", "3", "-q", *words]
    short = min(peak(tmp_path, "run", spec, *more, "--tend", "10") for _ in range(2))
    long = min(peak(tmp_path, "run", spec, *more, "--tend", "600") for _ in range(2))
    assert long < short + 3


@LINUX
@pytest.mark.slow
def test_a_million_steps_in_the_memory_of_a_thousand(tmp_path):
    spec, more = str(SPECS / "pendulum.yaml"), ["--tol", "1e-4", "--order", "3", "-q", "--samples", "10"]
    short = peak(tmp_path, "run", spec, *more, "--tend", "3")
    assert peak(tmp_path, "run", spec, *more, "--tend", "3200") < short + 3
