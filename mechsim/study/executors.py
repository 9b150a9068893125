"""Where chunks are run: here, in processes, or on a cluster. All give the same rows."""

from __future__ import annotations

import os
import time
from typing import NamedTuple, Protocol

from mechsim.study.rows import Rows
from mechsim.study.worker import Chunk, Worker


class Done(NamedTuple):
    """A chunk that came back: its rows, or None where the worker died of it, or with it."""

    chunk: Chunk
    rows: Rows | None
    seconds: float  # that the worker took
    worker: str
    why: str = ""  # it died


class Executor(Protocol):
    @property
    def workers(self) -> int:
        """How many chunks run at a time."""

    @property
    def described(self) -> str:
        """`2 processes`."""

    def give(self, chunk: Chunk) -> None:
        """A chunk that will be run."""

    def wait(self, timeout: float) -> list[Done]:
        """Chunks that came back since the last call; waits for one, at most so many seconds."""

    def busy(self) -> dict[str, Chunk]:
        """What each worker is at."""

    def close(self) -> None:
        """End all, at once."""


class InProcess:
    """Runs chunks in this process, in the thread that waits."""

    workers = 1
    described = "1 process"

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._waiting: list[Chunk] = []

    def begin(self, worker: Worker) -> None:
        self._worker = worker

    def give(self, chunk: Chunk) -> None:
        self._waiting.append(chunk)

    def wait(self, timeout: float) -> list[Done]:
        assert self._worker is not None
        return [timed(self._worker, self._waiting.pop(0), "here")] if self._waiting else []

    def busy(self) -> dict[str, Chunk]:
        return {}

    def close(self) -> None:
        self._waiting.clear()


def timed(worker: Worker, chunk: Chunk, name: str) -> Done:
    began = time.perf_counter()
    rows = worker.run(chunk)
    return Done(chunk, rows, time.perf_counter() - began, name)


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
