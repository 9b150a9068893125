"""The program of a process that runs cases: a job comes in on standard input, then chunks; rows go out."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
import time
import warnings
from typing import IO


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who leads, and ends us then
    rows = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between rows
    warnings.simplefilter("ignore")
    from mechsim.result.paths import OutputError
    from mechsim.study.plan import Job
    from mechsim.study.worker import Worker

    chunks: queue.Queue[object] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, chunks), daemon=True).start()
    job = chunks.get()
    assert isinstance(job, Job)
    worker = Worker(job)
    _send("ready", rows)
    while True:
        chunk = chunks.get()
        began = time.perf_counter()
        try:
            found = worker.run(chunk)  # type: ignore[arg-type]
        except OutputError as error:
            _send(error, rows)
        else:
            _send((found, time.perf_counter() - began), rows)


def _listen(stream: IO[bytes], chunks: queue.Queue[object]) -> None:
    """What is sent; when who leads us is gone, however it ended, we go too, also in the middle of a case."""
    try:
        while True:
            chunks.put(pickle.load(stream))
    except (EOFError, OSError, pickle.UnpicklingError):
        os._exit(0)


def _send(what: object, stream: IO[bytes]) -> None:
    pickle.dump(what, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


if __name__ == "__main__":
    main()
