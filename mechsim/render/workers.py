"""Processes that draw a film together, and the folder they work in: when the one that leads them is gone, however it
ended, they go too and leave nothing behind."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

PREFIX = "mechsim-film-"
LOCK = "lock"  # held as long as any of the processes lives
OLD = 3600.0  # seconds: a folder without a lock is being made, or was left behind
LOOK = 0.2  # seconds between two looks for the leader
PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder for the pieces of a film. Those left behind by processes that were all killed are removed first."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if _is_ours(left) and _is_abandoned(left):
                shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder, open(Path(folder) / LOCK, "w") as lock:
        _hold(lock)
        yield Path(folder)


def _is_ours(folder: Path) -> bool:
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())


def _is_abandoned(folder: Path) -> bool:
    try:
        with open(folder / LOCK) as lock:
            return _hold(lock)
    except FileNotFoundError:
        return time.time() - folder.lstat().st_mtime > OLD


def _hold(lock: IO[str]) -> bool:
    """Whether nobody else holds the lock; then it is ours until it is closed here and in every process forked since."""
    try:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def follow(leader: int, folder: Path) -> None:
    """In a drawing process: Ctrl-C is for the leader, which then says halt; when it is gone, this process goes too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_go_with, args=(leader, folder), daemon=True).start()


def _go_with(leader: int, folder: Path) -> None:
    while os.getppid() == leader:
        time.sleep(LOOK)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def ending_with_us() -> Callable[[], None] | None:
    """What a new process calls before it becomes another program, so that it is killed when we are; None: not here."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl  # before the fork: after it, nothing may be loaded
    return lambda: prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
