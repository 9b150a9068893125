"""Signals at every stage. Ctrl-C: JAX swallows a KeyboardInterrupt in its callbacks, and dies of one while it is
imported. A request to end (kill, a closed terminal): what was begun is cleaned up first."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130  # what a shell reports for Ctrl-C
ENDINGS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]

_at_once = False


def listen() -> None:
    """Be ready for `at_once`, and for requests to end. What is ignored (by `nohup`, say) stays so."""
    if threading.current_thread() is not threading.main_thread():  # only there may handlers be set
        return
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler or getattr(handler, "__name__", "") == "leave":  # of mechsim.__main__
        signal.signal(signal.SIGINT, _interrupt)
    for number in ENDINGS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


@contextmanager
def at_once() -> Iterator[None]:
    """Within, a signal ends the process on the spot: for stages that have nothing to save and may run JAX."""
    global _at_once
    _at_once = True
    try:
        yield
    finally:
        _at_once = False


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _at_once:
        os.write(2, b"\ninterrupted\n")
        os._exit(INTERRUPTED)
    raise KeyboardInterrupt


def _end(number: int, frame: FrameType | None) -> None:
    if _at_once:
        os._exit(128 + number)
    raise SystemExit(128 + number)
