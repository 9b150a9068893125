"""Ctrl-C, remembered: what JAX runs while it is imported and traces may swallow a KeyboardInterrupt."""

from __future__ import annotations

import signal
import threading
from types import FrameType

_seen = False


def listen() -> None:
    """Remember Ctrl-C from now on. Where it is ignored (`nohup`, a job in the background) it stays so."""
    global _seen
    _seen = False
    in_main = threading.current_thread() is threading.main_thread()  # only there may handlers be set
    if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def seen() -> bool:
    """Whether Ctrl-C has come."""
    return _seen


def check() -> None:
    """Raise the KeyboardInterrupt that was swallowed, if there was one."""
    if _seen:
        raise KeyboardInterrupt


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _seen
    _seen = True
    raise KeyboardInterrupt
