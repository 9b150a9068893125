"""Tables in files of their own: which files a mechanism may name, and the rows in them.

A mechanism file may come from anybody. So what it names is read only from its own folder or below, links followed,
unless the user allows another folder; only regular files are opened; and of a file that is no table nothing is shown.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.expression import NUMERAL
from mechsim.spec.number import within_bounds

MAX_BYTES = 8_000_000
MAX_ROWS = 100_000
LOOK_ALIKES = str.maketrans("OolI", "0011")  # letters that are typed for digits

Row = tuple[tuple[float, float], Mark]  # time and value, and where they stand


@dataclass(slots=True)
class TableFiles:
    """The files that the tables of one mechanism may be read from.

    `folder` is the mechanism file's, None where no file may be read; `allowed` are further ones. `texts` holds, by
    name, what is known already (results carry their tables) and keeps what is read.
    """

    folder: Path | None = None
    allowed: Sequence[str | Path] = ()
    texts: dict[str, str] = field(default_factory=dict)

    def rows(self, name: str, mark: Mark) -> list[Row]:
        """The rows of the file called `name` at `mark`. Raises SpecError."""
        place = str((self.folder or Path()) / name)
        if name not in self.texts:
            self.texts[name] = self._read(name, place, mark)
        found = _rows(self.texts[name], place)
        if not found or len(found) > MAX_ROWS:
            raise SpecError(Fault(f"{name} has {len(found)} rows of numbers, not 1 to {MAX_ROWS}", mark))
        return found

    def _read(self, name: str, place: str, mark: Mark) -> str:
        try:
            if "\0" in name:
                raise _Refused("no file can have such a name")
            self._refuse_outside(place)
            return _content(place)
        except OSError as error:
            reason, hint = (error.strerror or str(error)).lower(), "the path is from the folder of the mechanism file"
        except _Refused as refusal:
            reason, hint = refusal.args[0], refusal.hint
        raise SpecError(Fault(f"cannot read {name}: {reason}", mark, hint)) from None

    def _refuse_outside(self, place: str) -> None:
        if self.folder is None:
            raise _Refused("these results do not carry it", "run the mechanism again to have it in the results")
        target = os.path.realpath(place)
        for folder in (self.folder, *self.allowed):
            inside = os.path.realpath(folder)
            if os.path.commonpath([inside, target]) == inside:
                return
        hint = "copy it there, or allow its folder: --tables-from FOLDER, in Python tables_from=FOLDER"
        raise _Refused("it is outside the folder of the mechanism file", hint)


class _Refused(Exception):
    """Why a file is not read, and what to do."""

    def __init__(self, reason: str, hint: str = ""):
        super().__init__(reason)
        self.hint = hint


def _content(place: str) -> str:
    if not stat.S_ISREG(os.stat(place).st_mode):  # a pipe would wait for ever, a device may do anything
        raise _Refused("it is no regular file")
    with open(place, "rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise _Refused(f"it is larger than {MAX_BYTES // 1_000_000} MB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _Refused("it is not text") from None


def _rows(text: str, place: str) -> list[Row]:
    """Rows of two numbers; lines with `#` are skipped, and one line of titles above the first row."""
    rows: list[Row] = []
    titled = False
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        cells = [cell.strip().strip('"').strip() for cell in line.split(",")]
        if cells == [""] or cells[0].startswith("#"):
            continue
        if not rows and not titled and _are_titles(cells):
            titled = True
            continue
        rows.append((_pair(cells, line, Mark(place, number, 1)), Mark(place, number, 1)))
    return rows


def _are_titles(cells: list[str]) -> bool:
    """Two words. A row with a slip in it is none: it still has a number, or what is meant to be one."""
    if len(cells) != 2 or any(_is_like_a_number(cell) for cell in cells):
        return False
    return not all(NUMERAL.fullmatch(cell.translate(LOOK_ALIKES)) for cell in cells)


def _is_like_a_number(cell: str) -> bool:
    return not cell or cell[0] in "+-.0123456789" or cell.lower() in ("nan", "inf", "infinity")


def _pair(cells: list[str], line: str, mark: Mark) -> tuple[float, float]:
    if len(cells) != 2:
        hint = "a row is `time, value`, with points in the numbers and a comma between them"
        raise SpecError(Fault(f"a row of {len(cells)} values, but a table has two: time and value", mark, hint))
    numbers = []
    for cell, what, column in zip(cells, ("time", "value"), (1, line.find(",") + 2), strict=True):
        place = Mark(mark.file, mark.line, column)
        if not NUMERAL.fullmatch(cell):
            raise SpecError(Fault(f"this {what} is not a number", place))
        value = float(cell)
        numbers.append(within_bounds(value, f"this {what}", partial(format, value, "g"), place))
    return numbers[0], numbers[1]
