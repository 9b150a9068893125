"""Whatever ends a sweep, finished cases are kept and not run again, and in the end the file is the same."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mechsim
from mechsim.result.paths import OutputError
from mechsim.study.journal import Journal, journal_path
from mechsim.study.plan import plan_of
from mechsim.study.rows import WORKER_DIED, failed_rows
from mechsim.study.sweep import Sweep

PENDULUM = """
Title: A pendulum
PhysicalParams: {l: 1, m: 1, g: 9.81, th0: 0.5}
PartData: {Fixed: {O: []}, Rods: {OA: l}, Particles: {A: m}}
AppliedForces: {Gravity: [0, -g]}
ProblemData: {tend: 20, positions: {A: [[l*sin(th0), fixed], -l*cos(th0)]}}
SolverParams: {Integration: {tol: 1e-10}}
"""
VARY = ["--vary", "g=1:20:60", "--vary", "m=1:2:50"]
CASES = 3000
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "p.yaml").write_text(PENDULUM)
    return tmp_path


def words(*more: str, measure: str = "max(A_x)") -> list[str]:
    return [sys.executable, "-m", "mechsim", "sweep", "p.yaml", *VARY, "--measure", measure, *more]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    """The file of a sweep that nothing disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "p.yaml").write_text(PENDULUM)
    subprocess.run(words("-o", "whole.parquet", "-q"), cwd=folder, check=True)
    return (folder / "whole.parquet").read_bytes()


def wait_for_rows(journal: Path, process: subprocess.Popen, least: int) -> bool:
    """Until the journal has so many bytes; False if the sweep ended before."""
    while process.poll() is None:
        if journal.exists() and journal.stat().st_size > least:
            return True
        time.sleep(0.005)
    return False


def kept_cases(folder: Path, target: str = "out.parquet") -> int:
    plan = plan_of(folder / "p.yaml", vary={"g": "1:20:60", "m": "1:2:50"}, measure="max(A_x)")
    journal = Journal(folder / target, plan, resume=True, restart=False)
    found = sum(batch.rows for batch in journal.batches)
    journal.stream.close()
    return found


def children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_a_sweep_that_is_killed_again_and_again_ends_with_the_same_file(folder, whole):
    journal, kept, chance = folder / "out.partial.arrow", 0, random.Random(1)
    for turn in range(6):
        process = subprocess.Popen(words("-o", "out.parquet", "-q", "--resume"), cwd=folder)
        size = journal.stat().st_size if journal.exists() else 0
        if not wait_for_rows(journal, process, size + chance.randrange(3000)):
            break
        helpers = children(process.pid)
        process.kill()
        process.wait()
        end = time.monotonic() + 10
        while any(map(alive, helpers)) and time.monotonic() < end:
            time.sleep(0.05)
        assert not any(map(alive, helpers))  # who ran cases has gone too
        assert not (folder / "out.parquet").exists()
        now = kept_cases(folder)
        assert now >= kept and turn < 6  # nothing that was finished is lost
        kept = now
    assert kept > 0
    subprocess.run(words("-o", "out.parquet", "-q", "--resume"), cwd=folder, check=True)
    assert (folder / "out.parquet").read_bytes() == whole
    assert not journal.exists()


def test_finished_cases_are_not_run_again(folder, monkeypatch):
    """The rows of the journal are taken as they are: here they say what no run would."""
    given = {"vary": {"g": "1:20:60"}, "measure": "max(A_x)"}
    plan = plan_of(folder / "p.yaml", **given)
    journal = Journal(folder / "out.csv", plan, resume=False, restart=False)
    journal.append(20, failed_rows(15, 1, "mine", "kept"))
    journal.close()
    seen = []
    table = mechsim.sweep(folder / "p.yaml", **given, output=folder / "out.csv", resume=True, observer=seen.append)
    assert (table.status == "mine").tolist() == [20 <= k < 35 for k in range(60)]
    assert set(table.status) == {"mine", "finished"} and seen[-1].done == 60


def test_a_journal_is_not_overwritten_unless_wished(folder):
    plan = plan_of(folder / "p.yaml", vary={"g": "1:20:60"})
    journal = Journal(folder / "out.csv", plan, resume=False, restart=False)
    journal.append(0, failed_rows(15, len(plan.measures.labels), "mine", "kept"))
    journal.close()
    with pytest.raises(OutputError, match="--resume goes on"):
        mechsim.sweep(folder / "p.yaml", vary={"g": "1:20:60"}, output=folder / "out.csv")
    table = mechsim.sweep(folder / "p.yaml", vary={"g": "1:20:60"}, output=folder / "out.csv", restart=True)
    assert set(table.status) == {"finished"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"vary": {"g": "1:20:61"}}, r"--vary was .*60.*, is .*61"),
        ({"vary": {"g": "1:20:60"}, "tol": 1e-9}, "the settings were .*1e-10.*, are .*1e-09"),
        ({"vary": {"g": "1:20:60"}, "measure": "final(A_x)"}, "--measure was"),
        ({"vary": {"g": "1:20:60"}, "parameters": {"l": 2}}, "the set of parameters was"),
        ({"vary": {"g": "2*l - 1:20:60"}}, "--vary was"),
    ],
)
def test_another_plan_cannot_go_on(folder, given, said):
    plan = plan_of(folder / "p.yaml", vary={"g": "1:20:60"})
    journal = Journal(folder / "out.csv", plan, resume=False, restart=False)
    journal.append(0, failed_rows(15, len(plan.measures.labels), "mine", "kept"))
    journal.close()
    with pytest.raises(OutputError, match=said):
        mechsim.sweep(folder / "p.yaml", **given, output=folder / "out.csv", resume=True)
    assert journal.path.exists()


def test_the_mechanism_or_mechsim_may_have_changed(folder, monkeypatch):
    given = {"vary": {"g": "1:20:60"}, "output": folder / "out.csv", "resume": True}
    plan = plan_of(folder / "p.yaml", vary={"g": "1:20:60"})
    journal = Journal(folder / "out.csv", plan, resume=False, restart=False)
    journal.append(0, failed_rows(15, len(plan.measures.labels), "mine", "kept"))
    journal.close()
    (folder / "p.yaml").write_text(PENDULUM.replace("m: 1", "m: 2"))
    with pytest.raises(OutputError, match="the mechanism's text is another"):
        mechsim.sweep(folder / "p.yaml", **given)
    (folder / "p.yaml").write_text(PENDULUM)
    monkeypatch.setattr("mechsim.study.plan.__version__", "99.0")
    with pytest.raises(OutputError, match=r"mechsim was .*, is 99\.0"):
        mechsim.sweep(folder / "p.yaml", **given)


@pytest.mark.parametrize("harm", ["cut", "zeros", "changed", "garbage", "head"])
def test_of_a_damaged_journal_what_is_sound_is_used(folder, harm):
    given = {"vary": {"g": "1:20:60"}, "output": folder / "out.csv"}
    plan = plan_of(folder / "p.yaml", vary={"g": "1:20:60"})
    journal = Journal(folder / "out.csv", plan, resume=False, restart=False)
    journal.append(0, failed_rows(15, len(plan.measures.labels), "mine", "kept"))
    first = journal.stream.tell()
    journal.append(20, failed_rows(15, len(plan.measures.labels), "mine", "kept"))
    journal.close()
    content = bytearray(journal.path.read_bytes())
    if harm == "cut":
        content = content[:-7]
    elif harm == "zeros":
        content += bytes(1000)
    elif harm == "changed":
        content[content.rindex(b"kept")] ^= 1
    elif harm == "garbage":
        content[first:] = random.Random(2).randbytes(len(content) - first)
    else:
        content = content[:20]
    journal.path.write_bytes(content)
    with Sweep(plan, folder / "out.csv", resume=True) as running:
        assert bool(running.notes) == (harm != "head")  # it is said that something was dropped
        running.prepare()
        running.run()
    table = mechsim.load(given["output"])
    kept = {"cut": 15, "zeros": 30, "changed": 15, "garbage": 15, "head": 0}[harm]
    assert (table.status == "mine").sum() == kept
    assert (table.status == "finished").sum() == 60 - kept


def test_two_sweeps_into_one_file_are_refused(folder):
    plan = plan_of(folder / "p.yaml", vary={"g": "1:20:60"})
    with Sweep(plan, folder / "out.csv"), pytest.raises(OutputError, match="another run is writing it"):
        mechsim.sweep(folder / "p.yaml", vary={"g": "1:20:60"}, output=folder / "out.csv")
    (folder / "out.partial.arrow").write_text("my own file")
    with pytest.raises(OutputError, match="not written by mechsim"):
        mechsim.sweep(folder / "p.yaml", vary={"g": "1:20:60"}, output=folder / "out.csv")
    assert (folder / "out.partial.arrow").read_text() == "my own file"


def test_a_sweep_that_is_complete_need_not_be_resumed(folder):
    given = {"vary": {"g": "1:20:6"}, "output": folder / "out.parquet"}
    mechsim.sweep(folder / "p.yaml", **given)
    content = (folder / "out.parquet").read_bytes()
    table = mechsim.sweep(folder / "p.yaml", **given, resume=True)
    assert len(table) == 6 and (folder / "out.parquet").read_bytes() == content
    with pytest.raises(OutputError, match="complete, but of another sweep: settings differ"):
        mechsim.sweep(folder / "p.yaml", **given, resume=True, tol=1e-8)
    assert not list(folder.glob("*partial*"))


def test_a_worker_that_is_killed_is_replaced(folder, whole):
    process = subprocess.Popen(words("-o", "out.parquet", "-q"), cwd=folder)
    assert wait_for_rows(folder / "out.partial.arrow", process, 4000)
    killed = children(process.pid)
    for pid in killed[:2]:
        os.kill(pid, signal.SIGKILL)
    assert process.wait(120) == 0
    assert killed and (folder / "out.parquet").read_bytes() == whole


def test_a_case_that_kills_who_runs_it_is_a_row(folder, monkeypatch):
    """Here case 37 does so, in every process but this one."""
    deadly = folder / "sitecustomize.py"
    deadly.write_text(
        "import os, sys\n"
        "def patch():\n"
        "    from mechsim.study import worker\n"
        "    run = worker.Worker.run\n"
        "    def dying(self, chunk):\n"
        "        if chunk.first <= 37 < chunk.first + len(chunk):\n"
        "            os.kill(os.getpid(), 9)\n"
        "        return run(self, chunk)\n"
        "    worker.Worker.run = dying\n"
        "if 'mechsim.study.served' in ' '.join(sys.orig_argv):\n"
        "    patch()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(folder))
    plan = plan_of(folder / "p.yaml", vary={"g": "1:20:100"}, measure="final(A_x)")
    with Sweep(plan, None, processes=2) as running:
        running.executor._run_here = lambda worker: None  # nothing may run here
        running.executor._start()
        running.prepare()
        running.run()
        table = running.table()
    assert [k for k in range(100) if table.status[k] != "finished"] == [37]
    assert table.status[37] == WORKER_DIED and "SIGKILL" in table["message"][37]


def test_ctrl_c_keeps_what_is_finished(folder, whole):
    process = subprocess.Popen(
        words("-o", "out.parquet"),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # tests may run in the background
    )
    assert wait_for_rows(folder / "out.partial.arrow", process, 4000)
    helpers = children(process.pid)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "cases are kept in out.partial.arrow, --resume goes on" in said and "Traceback" not in said
    assert not any(map(alive, helpers))
    subprocess.run(words("-o", "out.parquet", "-q", "--resume"), cwd=folder, check=True)
    assert (folder / "out.parquet").read_bytes() == whole


def test_a_full_disk_keeps_what_is_finished(folder, whole):
    """A limit of the size of files stands for the disk; when it is lifted, the sweep goes on."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then a write fails, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, resource.RLIM_INFINITY))

    found = subprocess.run(words("-o", "out.parquet"), cwd=folder, preexec_fn=limit, capture_output=True, text=True)
    assert found.returncode == 2
    assert "cannot write" in found.stderr and "--resume" in found.stderr and "Traceback" not in found.stderr
    assert 0 < kept_cases(folder) < CASES
    subprocess.run(words("-o", "out.parquet", "-q", "--resume"), cwd=folder, check=True)
    assert (folder / "out.parquet").read_bytes() == whole


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["1", "2"])
def test_motions_that_cannot_be_written_end_a_sweep(folder, processes):
    """They are not failed cases: the sweep goes on when there is room. Swift pendulums come last, and only their
    files meet the limit."""
    more = ["--vary", "g=log:0.1:1000:24", "--measure", "final(A_x)", "--processes", processes, "--motions", "all"]
    given = [sys.executable, "-m", "mechsim", "sweep", "p.yaml", *more]

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then a write fails, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, resource.RLIM_INFINITY))

    found = subprocess.run(
        [*given, "-o", "out.csv"], cwd=folder, preexec_fn=limit, capture_output=True, text=True, timeout=120
    )
    assert found.returncode == 2, found.stderr
    assert "/all/case_" in found.stderr and "with --motions; " in found.stderr and "--resume goes on" in found.stderr
    assert "Traceback" not in found.stderr
    assert (folder / "out.partial.arrow").exists() and not (folder / "out.csv").exists()
    assert 0 < len(list((folder / "all").iterdir())) < 24 and not list((folder / "all").glob("*partial*"))
    subprocess.run([*given, "-o", "out.csv", "-q", "--resume"], cwd=folder, check=True)
    assert set(mechsim.load(folder / "out.csv").status) == {"finished"}
    assert len(list((folder / "all").iterdir())) == 24
    subprocess.run([*given, "-o", "whole.csv", "-q"], cwd=folder, check=True)
    assert (folder / "out.csv").read_bytes() == (folder / "whole.csv").read_bytes()


def test_a_file_that_cannot_be_written_in_the_end_is_written_later(folder, monkeypatch):
    given = {"vary": {"g": "1:20:60"}, "output": folder / "out.parquet"}

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("mechsim.study.written._write_parquet", full)
        with pytest.raises(OutputError, match="the disk is full") as caught:
            mechsim.sweep(folder / "p.yaml", **given)
    assert "--resume writes the file" in caught.value.faults[0].hint
    assert journal_path(folder / "out.parquet").exists() and not (folder / "out.parquet").exists()
    seen = []
    assert len(mechsim.sweep(folder / "p.yaml", **given, resume=True, observer=seen.append)) == 60
    assert not seen  # no case was run
