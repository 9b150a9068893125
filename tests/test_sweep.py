"""Sweeps: which cases there are, what their rows say, and that nothing but the case decides what is in its row."""

import json
import math
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from examples import some_of
from hypothesis import given, settings
from hypothesis import strategies as st

import mechsim
from mechsim.errors import Mark
from mechsim.study.cases import cases_of
from mechsim.study.plan import plan_of
from mechsim.study.rows import joined
from mechsim.study.schedule import Schedule
from mechsim.study.table import is_sweep, load_sweep
from mechsim.study.vary import varied
from mechsim.study.worker import Chunk, Worker

PENDULUM = """
Title: A pendulum
PhysicalParams: {l: 1, m: 1, g: 9.81, k0: 4, th0: 0.5}
PartData: {Fixed: {O: []}, Rods: {OA: l}, Particles: {A: m}}
AppliedForces: {Gravity: [0, -g]}
ProblemData: {tend: 1, positions: {A: [[l*sin(th0), fixed], -l*cos(th0)]}}
SolverParams: {Integration: {tol: 1e-10}}
"""
# A four-bar, impossible if its coupler `b` is too long.
FOUR_BAR = """
Title: A four-bar
PhysicalParams: {a: 1, b: 3, c: 2.5, d: 3, turn: 1}
PartData:
  Fixed: {O: [], Q: [d]}
  Rigids:
    OA: {Geom: [[a]], Dyna: [[a/2], 1, 0.1]}
    AB: {Geom: [[b]], Dyna: [[b/2], 1, 0.5]}
    QB: {Geom: [[c]], Dyna: [[c/2], 1, 0.4]}
AppliedForces: {Gravity: }
ProblemData: {tend: 0.3, positions: {B: [3, 2]}, angles: {OA: [turn, fixed]}}
SolverParams: {Integration: {tol: 1e-9}}
"""
# Not read, of another longest part, and of a branch that is lost on the way.
ODD = {"b": [-1.0, 3.0, 3.0], "turn": [1.0, 2.0, 2 * math.pi], "d": [3.0, 4.5, 6.4]}
HERE = Mark("--vary", 1, 3)
PARAMETERS = {"l": 1.0, "m": 1.0, "g": 9.81, "k0": 4.0, "th0": 0.5}


# --- values


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("500:1500:3", "grid", [500, 1000, 1500]),
        ("0.5*k0:2*k0:4", "grid", [2, 4, 6, 8]),
        ("log:0.1:10:3", "grid", [0.1, 1, 10]),
        ("1, 2,5", "list", [1, 2, 5]),
        ("atan2(0, 1),2", "list", [0, 2]),
        ("7", "list", [7]),
        ("-1:1:2", "grid", [-1, 1]),
    ],
)
def test_values_are_those_that_are_written(text, kind, values):
    found = varied("k", text, HERE, PARAMETERS)
    assert found.kind == kind
    np.testing.assert_allclose(found.values, values, rtol=1e-15)  # one rounding of linspace
    assert found.values[0] == values[0] and found.values[-1] == values[-1]  # ends are exact


def test_grids_multiply_and_the_last_varies_fastest():
    axes = [varied("a", "1,2", HERE, {}), varied("b", "10:30:3", HERE, {})]
    columns = cases_of(axes, None, None, False, 0).columns(0, 6)
    assert columns["a"].tolist() == [1, 1, 1, 2, 2, 2]
    assert columns["b"].tolist() == [10, 20, 30, 10, 20, 30]
    assert cases_of(axes, None, None, False, 0).columns(2, 4)["b"].tolist() == [30, 10]


def test_draws_are_the_same_at_each_point_of_a_grid_and_for_each_name():
    l, m = varied("l", "normal:1:0.1", HERE, {}), varied("m", "uniform:0:1", HERE, {})
    grid = varied("g", "1,2", HERE, {})
    both = cases_of([grid, l, m], None, 50, False, 3).columns(0, 100)
    assert np.array_equal(both["l"][:50], both["l"][50:])
    alone = cases_of([l], None, 80, False, 3).columns(0, 80)
    assert np.array_equal(alone["l"][:50], both["l"][:50])  # more draws begin with the same ones
    assert not np.array_equal(cases_of([l], None, 80, False, 4).columns(0, 80)["l"], alone["l"])


@pytest.mark.parametrize(
    ("text", "mean", "deviation"),
    [
        ("normal:2:0.5", 2.0, 0.5),
        ("uniform:1:3", 2.0, 2 / math.sqrt(12)),
        ("triangular:0:1:5", 2.0, math.sqrt((25 + 1 - 5) / 18)),
        ("lognormal:1:0.5", math.exp(0.125), math.exp(0.125) * math.sqrt(math.exp(0.25) - 1)),
    ],
)
@pytest.mark.parametrize("latin", [False, True])
def test_draws_have_the_moments_of_their_distribution(text, mean, deviation, latin):
    count = 40000
    found = cases_of([varied("x", text, HERE, {})], None, count, latin, 0).columns(0, count)["x"]
    # five standard errors of a mean; those of a Latin hypercube are far smaller
    assert abs(found.mean() - mean) < (0.02 if latin else 5) * deviation / math.sqrt(count)
    assert abs(found.std() / deviation - 1) < 0.05


@given(st.integers(1, 300), st.integers(0, 5))
def test_a_latin_hypercube_has_one_draw_in_each_share(count, seed):
    found = cases_of([varied("x", "uniform:0:1", HERE, {})], None, count, True, seed).columns(0, count)["x"]
    assert sorted(np.floor(found * count).astype(int)) == list(range(count))


def test_a_million_cases_are_not_made_before_they_are_wanted():
    axes = [varied(name, "0:1:1000", HERE, {}) for name in "abc"]
    cases = cases_of(axes, None, None, False, 0)
    assert len(cases) == 10**9
    assert cases.columns(10**9 - 1, 10**9)["c"].tolist() == [1.0]


# --- rows


def test_rows_are_what_single_runs_give():
    table = mechsim.sweep(PENDULUM, vary={"g": "5:10:3", "th0": [0.2, 0.4]}, measure=["final(A_x)", "max(A_x)"])
    assert table["case"].tolist() == list(range(6)) and set(table.status) == {"finished"}
    handle = mechsim.mechanism(PENDULUM)
    for k in range(6):
        motion = handle.simulate(parameters=table.case(k))
        assert table["final(A_x)"][k] == pytest.approx(motion(1.0)["A_x"], abs=1e-9)  # the tolerance, ten times
        assert table.motion(k)(1.0)["A_x"] == motion(1.0)["A_x"]
    assert table["steps"].min() > 0


def test_without_measures_where_motions_end_is_measured():
    table = mechsim.sweep(PENDULUM, vary={"g": [9.81]})
    assert [name for name in table.columns if name not in ("case", "g", "steps", "status", "message")] == [
        "A_x",
        "A_x_dot",
        "A_y",
        "A_y_dot",
    ] or set(table.labels) == {"A_x", "A_x_dot", "A_y", "A_y_dot"}


def test_a_case_that_is_impossible_is_a_row(tmp_path):
    table = mechsim.sweep(FOUR_BAR, vary={"b": [3.0, 30.0, 3.1, -1.0]}, measure="final(B_x)", processes=1)
    assert table.status.tolist() == ["finished", "not_assembled", "finished", "not_read"]
    assert np.isnan(table["final(B_x)"]).tolist() == [False, True, False, True]
    assert table["message"][0] == "" and all(table["message"][[1, 3]])
    assert table["steps"][1] == 0
    with pytest.raises(mechsim.AssemblyError):
        table.motion(1)


def test_a_lost_branch_is_told_in_its_row():
    # while the crank turns round with d growing, the parts do not reach for a while: at the end they close again
    table = mechsim.sweep(FOUR_BAR, vary={"turn": [1, 2 * math.pi], "d": [3, 6.4]}, measure="final(B_x)")
    assert table.status[3] == "finished" and "may be on another branch" in table["message"][3]
    assert table["message"][0] == ""


def test_the_file_may_say_what_a_sweep_does():
    section = "Sweep: {vary: {g: 5:10:3, m: [1, 2]}, measure: [final(A_x)]}\n"
    assert len(mechsim.sweep(PENDULUM + section)) == 6
    table = mechsim.sweep(PENDULUM + section, vary={"g": "5:6:2", "l": [1, 2]}, measure="final(A_y)")
    assert (len(table), table.labels) == (8, ("final(A_y)",))
    drawn = PENDULUM + "Sweep: {vary: {g: normal:9.81:0.01}, draws: 4, latin: yes, seed: 5}\n"
    facts = mechsim.sweep(drawn).facts
    assert (facts["draws"], facts["latin"], facts["seed"], facts["count"]) == (4, True, 5, 4)
    assert mechsim.sweep(drawn, draws=7, latin=False).facts["latin"] is False


def test_cases_of_a_file(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("# mine\ng, m\n9.81,1\n1.62,2\n\n3.7,3\n")
    table = mechsim.sweep(PENDULUM, cases=path, measure="final(A_x)")
    assert table["g"].tolist() == [9.81, 1.62, 3.7] and table["m"].tolist() == [1, 2, 3]
    assert len(mechsim.sweep(PENDULUM, cases=path, vary={"l": [1, 2]}, measure="final(A_x)")) == 6


@pytest.fixture(scope="module")
def four_bar(tmp_path_factory):
    path = tmp_path_factory.mktemp("cases") / "cases.csv"
    rows = [(3 + 0.01 * k, 1.0, 3.0) for k in range(37)] + list(zip(*ODD.values(), strict=True))
    path.write_text("b,turn,d\n" + "\n".join(",".join(map(repr, row)) for row in rows))
    plan = plan_of(FOUR_BAR, cases=path, measure=["final", "max(A_x)"])
    worker = Worker(plan.job)
    return plan, worker, worker.run(Chunk(0, plan.cases.columns(0, 40)))


@pytest.mark.filterwarnings("ignore::mechsim.errors.BranchWarning")
@some_of(6)
@given(st.lists(st.integers(1, 39), max_size=6))
def test_rows_do_not_depend_on_chunks(four_bar, cuts):
    plan, worker, whole = four_bar
    places = sorted({0, 40, *cuts})
    parts = [worker.run(Chunk(a, plan.cases.columns(a, b))) for a, b in pairwise(places)]
    found = joined(parts)
    assert found.values.tobytes() == whole.values.tobytes()  # bit by bit
    assert found.steps.tolist() == whole.steps.tolist()
    assert found.status == whole.status and dict(found.messages) == dict(whole.messages)


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_files_do_not_depend_on_processes(tmp_path, ending, monkeypatch):
    files = []
    monkeypatch.setattr("mechsim.study.written.PIECE", 64)  # so that pieces do not end where chunks do
    for processes in (1, 2, 3):
        path = tmp_path / f"{processes}{ending}"
        mechsim.sweep(
            FOUR_BAR, vary={"b": [-1, *np.linspace(3, 3.5, 199), -2]}, measure="final", output=path, processes=processes
        )
        files.append(path.read_bytes())
    assert files[0] == files[1] == files[2]
    assert not list(tmp_path.glob("*partial*"))


# --- tables


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_a_file_is_read_as_it_was_written(tmp_path, ending):
    path = tmp_path / f"out{ending}"
    given = {"b": [3.0, -1.0], "a": [1.0, 1.1]}
    written = mechsim.sweep(FOUR_BAR, vary=given, measure=["final(B_x)"], output=path)
    assert is_sweep(path)
    memory = mechsim.sweep(FOUR_BAR, vary=given, measure=["final(B_x)"])
    for table in (mechsim.load(path), load_sweep(path), memory):
        assert isinstance(table, mechsim.SweepTable)
        assert table.facts == written.facts and list(table.columns) == list(written.columns)
        for name in table.columns:
            np.testing.assert_array_equal(table[name], written[name])
    assert table.facts["vary"][0] == {
        "name": "b",
        "text": "3.0,-1.0",
        "kind": "list",
        "scale": "linear",
        "values": [3.0, -1.0],
    }
    assert "not_read" in repr(table.status) and "4 cases, 2 finished" in repr(table)


def test_pandas_and_xarray(tmp_path):
    table = mechsim.sweep(PENDULUM, vary={"g": "5:10:3", "m": [1, 2]}, measure=["final(A_x)"])
    frame = table.to_pandas()
    assert frame.index.name == "case" and frame.loc[3, "g"] == 7.5
    data = table.to_xarray()
    assert dict(data.sizes) == {"g": 3, "m": 2}
    assert data["final(A_x)"].sel(g=7.5, m=2).item() == table["final(A_x)"][3]
    drawn = mechsim.sweep(
        PENDULUM, vary={"g": "5:10:3", "l": "normal:1:0.01"}, draws=4, measure="final(A_x)"
    ).to_xarray()
    assert dict(drawn.sizes) == {"g": 3, "draw": 4} and drawn["l"].dims == ("draw",)


def test_a_missing_package_is_told(monkeypatch):
    table = mechsim.sweep(PENDULUM, vary={"g": [9.81]})
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(mechsim.MechsimError, match=r"pip install 'mechsim\[xarray\]'"):
        table.to_xarray()


def test_an_unknown_column_is_told():
    with pytest.raises(mechsim.MechsimError, match="did you mean status"):
        mechsim.sweep(PENDULUM, vary={"g": [9.81]})["statu"]


def test_a_damaged_file_is_told(tmp_path):
    path = tmp_path / "out.parquet"
    mechsim.sweep(PENDULUM, vary={"g": [9.81, 1]}, output=path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(mechsim.MechsimError, match="cannot read"):
        mechsim.load(path)
    csv = tmp_path / "out.csv"
    mechsim.sweep(PENDULUM, vary={"g": [9.81, 1]}, output=csv)
    lines = csv.read_text().splitlines(keepends=True)
    csv.write_text("".join(lines[:-1]))
    with pytest.raises(mechsim.MechsimError, match="damaged"):
        mechsim.load(csv)


def test_whole_motions_are_written_if_wished(tmp_path):
    folder = tmp_path / "motions"
    table = mechsim.sweep(FOUR_BAR, vary={"b": [3.0, -1.0, 3.1]}, measure="final(B_x)", motions=folder)
    assert sorted(path.name for path in folder.iterdir()) == ["case_0.npz", "case_2.npz"]
    motion = mechsim.load(folder / "case_2.npz")
    assert motion["B_x"][-1] == pytest.approx(table["final(B_x)"][2], abs=1e-12)
    assert motion.settings["overrides"]["b"] == "3.1"


# --- the schedule


@settings(deadline=None)
@given(st.integers(1, 500), st.integers(1, 5), st.lists(st.floats(1e-6, 2.0), min_size=1, max_size=20))
def test_chunks_cover_all_cases_once_whatever_they_take(count, workers, seconds):
    axes = [varied("x", ",".join(map(str, range(1, count + 1))) if count < 200 else f"1:{count}:{count}", HERE, {})]
    schedule = Schedule(cases_of(axes, None, None, False, 0), [(0, count)], workers)
    from mechsim.study.executors import Done
    from mechsim.study.rows import failed_rows

    seen, turn = [], 0
    while schedule.left:
        chunk = schedule.next()
        each = seconds[turn % len(seconds)]
        turn += 1
        assert schedule.returned(Done(chunk, failed_rows(len(chunk), 0, "x", ""), each * len(chunk), "w"))
        seen += range(chunk.first, chunk.first + len(chunk))
    assert seen == list(range(count)) and schedule.outstanding == 0


def test_chunks_of_quick_cases_grow_and_end_together():
    from mechsim.study.executors import Done
    from mechsim.study.rows import failed_rows

    schedule = Schedule(cases_of([varied("x", "0:1:100000", HERE, {})], None, None, False, 0), [(0, 100000)], 2)
    sizes = []
    while schedule.left:
        chunk = schedule.next()
        sizes.append(len(chunk))
        schedule.returned(Done(chunk, failed_rows(len(chunk), 0, "x", ""), 1e-5 * len(chunk), "w"))
    assert sizes[:4] == [1, 8, 64, 512] and max(sizes) == 20000 and len(sizes) < 60 and sizes[-1] <= 32


# --- the command


def sweep(*words, folder: Path, **more):
    return subprocess.run(
        [sys.executable, "-m", "mechsim", "sweep", *map(str, words)], cwd=folder, capture_output=True, text=True, **more
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    (tmp_path / "four_bar.yaml").write_text(FOUR_BAR)
    return tmp_path


def test_the_command_says_what_it_did(folder):
    found = sweep("four_bar.yaml", "--vary", "b=3,-1,3.1", "--measure", "final(B_x)", folder=folder)
    assert found.returncode == 0
    assert "3 cases: b 3 values from -1 to 3.1" in found.stdout and "2 finished, 1 failed" in found.stdout
    assert "not_read" in found.stdout and "final(B_x)" in found.stdout
    assert "warning: 1 of 3 cases failed (1 not_read)" in found.stderr
    assert len(mechsim.load(folder / "four_bar.parquet")) == 3


def test_json_is_one_object(folder):
    found = sweep("four_bar.yaml", "--vary", "b=3,-1", "--json", "-o", "x.csv", folder=folder)
    told = json.loads(found.stdout)
    assert told["cases"] == {"finished": 1, "not_read": 1} and told["count"] == 2 and told["exit_code"] == 0
    assert told["examples"]["not_read"]["case"] == 1


def test_quiet_says_nothing_but_warnings(folder):
    found = sweep("pendulum.yaml", "--vary", "g=3,30", "-q", folder=folder)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


@pytest.mark.parametrize("measure", ["final", "max(B_y)"])
def test_if_all_fail_the_exit_code_says_so(folder, measure):
    found = sweep("four_bar.yaml", "--vary", "b=-1,-2", "--measure", measure, folder=folder)
    assert found.returncode == 4 and "all 2 cases failed" in found.stderr
    table = mechsim.load(folder / "four_bar.parquet")
    assert list(table.status) == ["not_read"] * 2
    assert all("not on the positive x axis" in message for message in table["message"])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory as Linux tells it")
def test_memory_does_not_grow_with_cases(folder):
    """The largest of the command's processes: 200,000 cases take little more than 2,000; one that held all rows as
    objects would need hundreds of megabytes more."""
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run([sys.executable, '-m', 'mechsim', 'sweep', *sys.argv[1:]], check=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    peaks = []
    for count in (2_000, 200_000):
        words = ["pendulum.yaml", "--vary", f"g=5:15:{count}", "--tend", "0.1", "-q", "--measure", "final"]
        found = subprocess.run(
            [sys.executable, "-c", code, *words], cwd=folder, capture_output=True, text=True, check=True
        )
        peaks.append(int(found.stdout) / 1024)
    assert peaks[1] - peaks[0] < 150, peaks  # megabytes; two pieces of rows, and a grid of 200,000 values as text
