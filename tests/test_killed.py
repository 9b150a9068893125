"""Whatever ends a process, nothing of it is left: no process, no temporary folder; and Ctrl-C is never a traceback."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from mechsim.render import workers

SPECS = Path(__file__).parent.parent / "specs"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def descendants(pid: int) -> set[int]:
    """All processes that come from this one and live."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:  # it has ended meanwhile
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    found, fresh = set(), {pid}
    while fresh:
        fresh = {child for child, parent in parents.items() if parent in fresh}
        found |= fresh
    return found


def alive(pids: set[int]) -> set[int]:
    left = set()
    for pid in pids:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                left.add(pid)
        except OSError:
            continue
    return left


def wait_until(condition, seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def hearing() -> None:
    """Tests may run in the background or under nohup, where these are ignored, and stay so in a new program."""
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "out.csv"
    subprocess.run([sys.executable, "-m", "mechsim", "run", SPECS / "andrews.yaml", "-o", path, "-q"], check=True)
    return path


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGTERM, 143),
        (signal.SIGKILL, -9),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow),
    ],
)
def test_a_film_that_is_ended_leaves_nothing(number, code, results, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    words = [
        sys.executable,
        "-m",
        "mechsim",
        "animate",
        results,
        "-o",
        tmp_path / "film.mp4",
        "-q",
        "--speed",
        "1/3000",
    ]
    process = subprocess.Popen(
        words,
        env={**os.environ, "TMPDIR": str(folder)},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hearing,
    )
    try:
        # The leader draws with at least one process, and each has an encoder; the folder holds a lock and pieces.
        assert wait_until(lambda: len(descendants(process.pid)) >= 2 and len(list(folder.glob("*/*"))) >= 2)
        began = descendants(process.pid)
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()  # nothing, if it has ended
    assert process.returncode == code and "Traceback" not in said
    assert wait_until(lambda: not alive(began), 10)
    assert wait_until(lambda: not list(folder.iterdir()), 10)
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]


def test_folders_of_crews_that_are_gone_are_removed_at_the_next_start(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("gone", "fresh", "old", "file"):
        place = tmp_path / f"{workers.PREFIX}{name}"
        if name == "file":
            place.write_text("not a folder")
            continue
        place.mkdir()
        if name == "gone":
            (place / workers.LOCK).write_text("")
            (place / "000.mp4").write_text("a piece")
    long_ago = time.time() - 2 * workers.OLD
    os.utime(tmp_path / f"{workers.PREFIX}old", (long_ago, long_ago))
    (tmp_path / f"{workers.PREFIX}link").symlink_to(tmp_path / "precious")
    (tmp_path / "precious").mkdir()
    with workers.workplace() as mine, workers.workplace() as other:  # two films at once leave each other alone
        assert mine.exists() and other.exists() and mine != other
    left = {path.name.removeprefix(workers.PREFIX) for path in tmp_path.iterdir()}
    assert left == {"fresh", "file", "link", "precious"}


# --- Ctrl-C

INTERRUPTING = """
import os, runpy, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Finder())
sys.argv = ["mechsim", *{words!r}]
import mechsim.__main__
mechsim.__main__.main()
"""
EARLY = ["mechsim.cli", "mechsim.cli.main", "click", "click.core", "mechsim.errors", "mechsim.cli.errors"]
EARLY += ["mechsim.cli.interrupts", "mechsim.cli.run", "mechsim.simulation", "mechsim.spec.reader", "yaml", "numpy"]
EARLY += ["mechsim.result", "mechsim.cli.simulate", "mechsim.model", "mechsim.kernel.system", "mechsim.initial"]


@pytest.mark.parametrize("module", EARLY)
def test_an_interrupt_at_any_import_is_no_traceback(module, tmp_path):
    script = INTERRUPTING.format(module=module, words=["run", str(SPECS / "pendulum.yaml"), "-o", "out.csv"])
    ended = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 130, ended.stderr
    assert ended.stderr.strip() == "interrupted" and not list(tmp_path.iterdir())


def test_hardly_anything_is_imported_before_ctrl_c_is_heard():
    """What stands before the handler is what Python itself has loaded, and two small files of ours."""
    script = "import sys; before = set(sys.modules); import mechsim.__main__; print(*sorted(set(sys.modules) - before))"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert {name for name in found if name.startswith("mechsim")} == {"mechsim", "mechsim.__main__", "mechsim._version"}
    assert not {"typing", "signal", "click", "numpy"} & set(found)


def test_where_ctrl_c_is_ignored_it_stays_so(tmp_path):
    run = f"{sys.executable} -m mechsim run {SPECS / 'pendulum.yaml'} -o out.csv -q"
    words = f"trap '' INT; {run} & sleep 0.3; kill -INT $!; wait $!"
    assert subprocess.run(["sh", "-c", words], cwd=tmp_path).returncode == 0


def test_a_run_that_is_terminated_keeps_its_rows(tmp_path):
    words = [sys.executable, "-m", "mechsim", "run", SPECS / "pendulum.yaml", "-o", "out.csv", "--tend", "1e6", "-q"]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    partial = tmp_path / "out.partial.csv"
    assert wait_until(lambda: partial.exists() and partial.stat().st_size > 10_000)
    process.terminate()
    _, said = process.communicate(timeout=30)
    assert process.returncode == 143 and "Traceback" not in said
    from mechsim.result import load

    assert len(load(partial)) > 10
