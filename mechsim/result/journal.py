"""Writing so that nothing is lost: rows go to `out.partial.csv`, which becomes `out.csv` only when complete."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

from mechsim.result.layout import Array
from mechsim.result.paths import (
    ENDINGS,
    STANDARD_OUTPUT,
    OutputError,
    check_target,
    explained,
    open_held,
    partial_path,
)

__all__ = ["ENDINGS", "STANDARD_OUTPUT", "Journal", "OutputError", "check_target", "explained", "partial_path"]

PIECE = 1024  # rows at once: as text and as objects of Python they take ten times their memory


class Journal:
    """An append-only CSV beside its target. Opening it proves, before any work is done, that the target can be written.

    `finish` puts the rows in the target's place in one move; `keep` leaves them in the partial file. A target that
    is no regular file (a pipe, /dev/null, "-" for standard output) is written to directly.
    """

    def __init__(self, target: str | Path, head: str, row_format: str):
        self.target = check_target(target)
        self.direct = self.target == STANDARD_OUTPUT or (self.target.exists() and not self.target.is_file())
        self.path = self.target if self.direct else partial_path(self.target)
        self.row_format = row_format
        self.rows = 0
        self.stream = self._open()
        try:
            self._write(head)
        except OutputError:
            self.discard()  # an empty file would only hide that nothing was written
            raise

    def append(self, table: Array) -> None:
        """Write rows and hand them to the operating system, so that a killed run keeps them."""
        for begin in range(0, len(table), PIECE):
            piece = table[begin : begin + PIECE].tolist()
            self._write("".join([self.row_format % tuple(row) for row in piece]))
            self.rows += len(piece)

    def finish(self, foot: str) -> Path:
        """Complete the file and give it its name. Returns that name."""
        self._write(foot)
        if os.name == "nt":  # where an open file cannot be renamed
            self._close()
        if not self.direct:
            with explained(self.target):
                os.replace(self.path, self.target)  # while it is held: once it is not, another run may write there
        self._close()
        return self.target

    def keep(self) -> Path:
        """Close, leaving the partial file. Returns its name."""
        self._close()
        return self.path

    def discard(self) -> None:
        """Close and remove the partial file: its rows are kept elsewhere."""
        if not self.direct and os.name != "nt":
            self.path.unlink(missing_ok=True)
        with suppress(OSError):  # what could not be flushed was to be thrown away
            if self.stream is not sys.stdout:
                self.stream.close()
            if not self.direct and os.name == "nt":
                self.path.unlink(missing_ok=True)

    def _open(self) -> IO[str]:
        if self.path == STANDARD_OUTPUT:
            return sys.stdout
        if not self.direct:
            return open_held(self.path)
        with explained(self.path):
            return open(self.path, "w", encoding="utf-8", newline="\n")

    def _write(self, text: str) -> None:
        with explained(self.path):
            self.stream.write(text)
            self.stream.flush()

    def _close(self) -> None:
        with explained(self.path):
            if self.stream is not sys.stdout:
                self.stream.close()
