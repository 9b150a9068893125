"""Chunks in processes of this machine. One that dies is replaced, and its chunk is given back.

Each process is served by a thread here, which takes chunks from the common queue. They are programs of their own, not
forks: a user's script is not run again in them, and nothing of this process is copied. They import what they need while
this one still reads the mechanism; until the first is ready, chunks are run here.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

from mechsim.errors import MechsimError
from mechsim.study.executors import Done, timed
from mechsim.study.plan import Job
from mechsim.study.worker import Chunk, Worker

# One thread for each process is all that the cores have time for.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
HERE = "here"
LAST_CHUNK = 2.0  # seconds that a chunk which runs here is waited for at the end
FEWEST_STARTS = 3  # of a process that dies before it does anything


class _Process:
    """A process that runs chunks; not started until it is."""

    def __init__(self) -> None:
        self.popen: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = [sys.executable, "-m", "mechsim.study.served"]
        path = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), *_search_path())))
        self.popen = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
        )

    @property
    def name(self) -> str:
        return f"process {self.popen.pid}" if self.popen else "process"

    def send(self, what: object) -> None:
        assert self.popen and self.popen.stdin
        pickle.dump(what, self.popen.stdin, pickle.HIGHEST_PROTOCOL)
        self.popen.stdin.flush()

    def receive(self) -> object:
        assert self.popen and self.popen.stdout
        return pickle.load(self.popen.stdout)

    def why(self) -> str:
        """How it ended."""
        assert self.popen
        try:
            code = self.popen.wait(5)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            code = self.popen.wait()
        if code < 0:
            with suppress(ValueError):
                return f"it was ended by {signal.Signals(-code).name}"
        return f"it ended with exit code {code}"

    def kill(self) -> None:
        if self.popen is not None:
            self.popen.kill()
            for stream in (self.popen.stdin, self.popen.stdout):
                with suppress(OSError):
                    if stream:
                        stream.close()
            self.popen.wait()


def _search_path() -> list[str]:
    """Where mechsim itself is imported from, for processes that stand in another folder."""
    import mechsim

    return [os.path.dirname(os.path.dirname(os.path.abspath(mechsim.__file__)))]


class Processes:
    """So many processes, and this one until they are ready."""

    def __init__(self, workers: int, *, at_once: bool = True):
        self.workers = workers
        self.described = f"{workers} processes"
        self._chunks: queue.Queue[Chunk] = queue.Queue()
        self._done: queue.Queue[Done | BaseException] = queue.Queue()
        self._busy: dict[str, Chunk] = {}
        self._processes = [_Process() for _ in range(workers)]
        self._ready, self._closed = threading.Event(), threading.Event()
        self._job: Job | None = None
        self._begun: float | None = None
        self._here: threading.Thread | None = None
        self._failure: BaseException | None = None
        if at_once:
            self._start()

    def _start(self) -> None:
        for process in self._processes:
            if process.popen is None:
                process.start()

    def begin(self, job: Job, worker: Worker) -> None:
        """Give them their job; `worker` runs chunks here meanwhile."""
        self._job, self._begun = job, time.perf_counter()
        self._here = threading.Thread(target=self._run_here, args=(worker,), daemon=True)
        self._here.start()
        if self._processes[0].popen is not None:
            self._serve_all()

    def _serve_all(self) -> None:
        self._start()
        self._begun = None
        for process in self._processes:
            threading.Thread(target=self._guarded, args=(process,), daemon=True).start()

    def give(self, chunk: Chunk) -> None:
        self._chunks.put(chunk)

    def wait(self, timeout: float) -> list[Done]:
        if self._begun is not None and time.perf_counter() - self._begun > PATIENCE:
            self._serve_all()
        found: list[Done] = []
        with suppress(queue.Empty):
            while self._failure is None:
                answer = self._done.get_nowait() if found else self._done.get(timeout=timeout)
                if isinstance(answer, Done):
                    found.append(answer)
                else:
                    self._failure = answer
        if self._failure is not None and not found:  # chunks that came back before are kept first
            raise self._failure
        return found

    def busy(self) -> dict[str, Chunk]:
        return dict(self._busy)

    def close(self) -> None:
        self._closed.set()
        for process in self._processes:
            process.kill()
        if self._here is not None:
            self._here.join(LAST_CHUNK)

    def _run_here(self, worker: Worker) -> None:
        """Until processes are ready: what this process runs, it may die of."""
        while not (self._ready.is_set() or self._closed.is_set()):
            with suppress(queue.Empty):
                chunk = self._chunks.get(timeout=0.05)
                self._busy[HERE] = chunk
                try:
                    done: Done | BaseException = timed(worker, chunk, HERE)
                except BaseException as error:
                    done = error
                self._busy.pop(HERE)
                self._done.put(done)

    def _guarded(self, process: _Process) -> None:
        """A thread that fails must be heard of, else all would wait for it."""
        try:
            self._serve(process)
        except BaseException as error:
            if not self._closed.is_set():
                self._done.put(error)

    def _serve(self, process: _Process) -> None:
        """Chunks for one process, and another one in its place whenever it dies."""
        barren = 0
        while not self._closed.is_set():
            chunk: Chunk | None = None
            try:
                process.send(self._job)
                process.receive()
                self._ready.set()
                while (chunk := self._next()) is not None:
                    self._busy[process.name] = chunk
                    process.send(chunk)
                    answer = process.receive()
                    self._busy.pop(process.name)
                    if isinstance(answer, MechsimError):  # not of the chunk: nothing goes on
                        raise answer
                    assert isinstance(answer, tuple)
                    self._done.put(Done(chunk, answer[0], answer[1], process.name))
                    chunk, barren = None, 0
                return
            except (EOFError, OSError, pickle.UnpicklingError):
                if self._closed.is_set():
                    return
                why, name = process.why(), process.name
                self._busy.pop(name, None)
                if chunk is not None:
                    self._done.put(Done(chunk, None, 0.0, name, why))
                barren = barren + 1 if chunk is None else 0
                if barren == FEWEST_STARTS:
                    raise RuntimeError(f"a process for cases cannot be started: {why}") from None
                process.kill()
                process.start()

    def _next(self) -> Chunk | None:
        while not self._closed.is_set():
            with suppress(queue.Empty):
                return self._chunks.get(timeout=0.2)
        return None


PATIENCE = 0.3  # seconds of cases run here before processes are started for the rest
