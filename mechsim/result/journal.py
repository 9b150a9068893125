"""Writing so that nothing is lost: rows go to `out.partial.csv`, which becomes `out.csv` only when complete."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from mechsim.errors import Fault, MechsimError
from mechsim.result.layout import Array

ENDINGS = (".csv", ".npz", ".parquet")
STANDARD_OUTPUT = Path("-")


class OutputError(MechsimError):
    """A file of results cannot be read or written."""

    exit_code = 2


class Journal:
    """An append-only CSV beside its target. Opening it proves, before any work is done, that the target can be written.

    `finish` puts the rows in the target's place in one move; `keep` leaves them in the partial file. A target that
    is no regular file (a pipe, /dev/null, "-" for standard output) is written to directly.
    """

    def __init__(self, target: str | Path, head: str, row_format: str, marker: str = "partial"):
        self.target = check_target(target)
        self.direct = self.target == STANDARD_OUTPUT or (self.target.exists() and not self.target.is_file())
        self.path = self.target if self.direct else partial_path(self.target, marker)
        self.row_format = row_format
        self.rows = 0
        self.stream: IO[str] = _open(self.path)
        try:
            self._write(head)
        except OutputError:
            self.discard()  # an empty file would only hide that nothing was written
            raise

    def append(self, table: Array) -> None:
        """Write rows and hand them to the operating system, so that a killed run keeps them."""
        self._write("".join([self.row_format % tuple(row) for row in table.tolist()]))
        self.rows += len(table)

    def finish(self, foot: str) -> Path:
        """Complete the file and give it its name. Returns that name."""
        self._write(foot)
        self._close()
        if not self.direct:
            with explained(self.target):
                os.replace(self.path, self.target)
        return self.target

    def keep(self) -> Path:
        """Close, leaving the partial file. Returns its name."""
        self._close()
        return self.path

    def discard(self) -> None:
        """Close and remove the partial file: its rows are kept elsewhere."""
        if self.stream is not sys.stdout:
            with suppress(OSError):  # what could not be flushed was to be thrown away
                self.stream.close()
        if not self.direct:
            self.path.unlink(missing_ok=True)

    def _write(self, text: str) -> None:
        with explained(self.path):
            self.stream.write(text)
            self.stream.flush()

    def _close(self) -> None:
        with explained(self.path):
            if self.stream is not sys.stdout:
                self.stream.close()


def check_target(path: str | Path) -> Path:
    """The path results can be written to (links followed), or an OutputError that says why not."""
    if Path(path) == STANDARD_OUTPUT:
        return STANDARD_OUTPUT
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise OutputError(Fault(f"cannot write {path}: it is a folder", hint=f"name a file in it: {path}/out.csv"))
    if target.exists() and not target.is_file():
        return target
    if target.suffix.lower() not in ENDINGS:
        said = f"the ending {target.suffix!r}" if target.suffix else "a name without ending"
        raise OutputError(Fault(f"cannot write {path}: {said} is not known", hint=f"use one of {', '.join(ENDINGS)}"))
    if not target.parent.is_dir():
        folder = Path(path).parent
        raise OutputError(Fault(f"cannot write {path}: folder {folder} does not exist", hint=f"mkdir -p {folder}"))
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError(Fault(f"cannot write {path}: it is read-only", hint="choose another name with -o"))
    return target


def partial_path(target: Path, marker: str = "partial") -> Path:
    """`out.csv`, `out.npz` and `out.parquet` all keep their rows in `out.partial.csv` while they are made."""
    return target.with_name(f"{target.stem}.{marker}.csv")


def _open(path: Path) -> IO[str]:
    """An empty file to write to, held against other runs until it is closed.

    It is emptied only when it is held, for another run may be writing to it.
    """
    if path == STANDARD_OUTPUT:
        return sys.stdout
    with explained(path):
        stream = open(path, "a", encoding="utf-8", newline="\n")  # noqa: SIM115
        if path.is_file():
            _hold(stream, path)
            stream.truncate(0)
    return stream


def _hold(stream: IO[str], path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # no such locks on Windows, where a file in use cannot be renamed anyway
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        hint = "wait for it, or choose another name with -o"
        raise OutputError(Fault(f"cannot write {path}: another run is writing it", hint=hint)) from None


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the operating system's refusal into words a person can act on."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of a pipe has gone: the command line ends quietly
    except OSError as error:
        raise OutputError(Fault(f"cannot write {path}: {_reason(error)}", hint=_remedy(error))) from error


def _reason(error: OSError) -> str:
    named = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up"}
    return named.get(error.errno or 0, (error.strerror or str(error)).lower())


def _remedy(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free some space, or choose another disk with -o"
    return "choose another place with -o"
