"""Sweeps on a Dask cluster: the same rows, also where workers are lost; and what is said where there is no cluster."""

import logging
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import mechsim

distributed = pytest.importorskip("distributed")

PENDULUM = """
Title: A pendulum
PhysicalParams: {l: 1, m: 1, g: 9.81}
PartData: {Fixed: {O: []}, Rods: {OA: l}, Particles: {A: m}}
AppliedForces: {Gravity: [0, -g]}
ProblemData: {tend: 50, positions: {A: [[0.5*l, fixed], -l]}}
SolverParams: {Integration: {tol: 1e-10}}
"""
GIVEN = {"vary": {"g": "1:20:400"}, "measure": ["max(A_x)", "final"]}


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
    ) as found:
        yield found


@pytest.fixture(scope="module")
def here(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("here") / "out.parquet"
    mechsim.sweep(PENDULUM, **GIVEN, output=path, processes=1)
    return path.read_bytes()


def test_a_cluster_gives_the_same_file_and_survives_a_lost_worker(cluster, here, tmp_path):
    path = tmp_path / "out.parquet"
    killed = []

    def kill_one(standing) -> None:
        if not killed and standing.done:
            with distributed.Client(cluster, set_as_default=False) as client:
                pids = client.run(os.getpid)
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    table = mechsim.sweep(PENDULUM, **GIVEN, output=path, scheduler=cluster.scheduler_address, observer=kill_one)
    assert killed and set(table.status) == {"finished"}
    assert path.read_bytes() == here


def test_another_version_on_a_worker_is_told(cluster, tmp_path):
    def pretend(version: str) -> str:
        from mechsim.study import cluster as module

        before, module.__version__ = module.__version__, version
        return before

    with distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(1)
        own = next(iter(client.run(pretend, "0.0.1").values()))
        try:
            with pytest.raises(mechsim.MechsimError, match=r"has mechsim 0\.0\.1, here is"):
                mechsim.sweep(PENDULUM, **GIVEN, scheduler=cluster.scheduler_address)
        finally:
            client.run(pretend, own)


@pytest.mark.slow
def test_an_unreachable_scheduler_is_told_within_seconds(tmp_path):
    (tmp_path / "p.yaml").write_text(PENDULUM)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    words = ["sweep", "p.yaml", "--vary", "g=1:2:9", "--scheduler", address]
    found = subprocess.run(
        [sys.executable, "-m", "mechsim", *words], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert found.returncode == 2 and f"the scheduler {address} cannot be reached" in found.stderr
    assert "dask scheduler" in found.stderr and "Traceback" not in found.stderr
    assert not list(tmp_path.glob("*partial*"))


@pytest.mark.parametrize("address", ["nonsense", "http://x:1", "http://x:y", "tcp://", "tcp://host:port"])
def test_what_is_no_address_is_told(address, monkeypatch):
    """Before Dask makes a client of it: one that cannot connect takes ten seconds to go, and leaves a traceback."""
    monkeypatch.setattr(distributed, "Client", None)
    with pytest.raises(mechsim.MechsimError, match="cannot be reached: that is no address"):
        mechsim.sweep(PENDULUM, **GIVEN, scheduler=address)


@pytest.mark.slow
def test_a_scheduler_that_goes_away_leaves_what_is_finished(tmp_path):
    """It is killed once rows have come; then processes of this machine go on."""
    (tmp_path / "p.yaml").write_text(PENDULUM)
    script = (
        "import time\n"
        "from distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    c = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50)\n"
        "    print(c.scheduler_address, flush=True)\n"
        "    time.sleep(300)\n"
    )
    (tmp_path / "c.py").write_text(script)
    with subprocess.Popen([sys.executable, "c.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        address = server.stdout.readline().strip()

        def end(standing) -> None:
            if standing.done and server.poll() is None:
                server.kill()

        given = {"vary": {"g": "1:20:2000"}, "measure": "max(A_x)", "output": tmp_path / "out.parquet"}
        with pytest.raises(mechsim.MechsimError, match="is gone"):
            mechsim.sweep(tmp_path / "p.yaml", **given, scheduler=address, observer=end)
    table = mechsim.sweep(tmp_path / "p.yaml", **given, resume=True)
    assert set(table.status) == {"finished"} and len(table) == 2000


def test_without_dask_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(mechsim.MechsimError, match=r"pip install 'mechsim\[cluster\]'"):
        mechsim.sweep(PENDULUM, **GIVEN, scheduler="local")


@pytest.mark.slow
def test_local_starts_a_cluster_here(here, tmp_path):
    (tmp_path / "p.yaml").write_text(PENDULUM)
    words = ["sweep", "p.yaml", "--vary", "g=1:20:400", "--measure", "max(A_x)", "--measure", "final"]
    found = subprocess.run(
        [sys.executable, "-m", "mechsim", *words, "--scheduler", "local", "--processes", "2", "-o", "out.parquet"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0 and "2 Dask workers" in found.stdout and found.stderr == ""
    assert mechsim.load(Path(tmp_path / "out.parquet"))["max(A_x)"].shape == (400,)
