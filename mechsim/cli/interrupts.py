"""Ctrl-C at every stage. JAX swallows a KeyboardInterrupt in its callbacks, and dies of one while it is imported."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130  # what a shell reports for Ctrl-C

_at_once = False


def listen() -> None:
    """Be ready for `at_once`. Where Ctrl-C is ignored (`nohup`, a job in the background) it stays so."""
    in_main = threading.current_thread() is threading.main_thread()  # only there may handlers be set
    if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


@contextmanager
def at_once() -> Iterator[None]:
    """Within, Ctrl-C ends the process on the spot: for stages that have nothing to save and may run JAX."""
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
