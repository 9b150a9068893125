"""Numbers that a person gives in a CSV file: titles in its first line, a row of numbers in each further one. What is
wrong with it is told with its places."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from mechsim.errors import Fault, Mark, SpecError
from mechsim.result.layout import Array
from mechsim.spec.expression import NUMERAL

MOST_BYTES = 2_000_000_000
MOST_FAULTS = 20  # one slip may be in every line

Refused = Callable[[str], tuple[str, str] | None]  # what is wrong with a title, and a hint; None if nothing


def read_numbers(
    path: str | Path, refused: Refused, nothing: tuple[str, str], holes: bool = False
) -> tuple[tuple[str, ...], Array]:
    """Titles, and the numbers below them, (rows, titles); lines with # are skipped. `nothing` is said, with a hint, of
    a file without rows; `holes`: cells may be empty, and are NaN. Raises SpecError."""
    name, text = str(path), _text(path)
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip() and line[0] != "#"]
    if len(lines) < 2:
        raise SpecError(Fault(nothing[0], Mark(name, 1, 1), nothing[1]))
    titles = _titles(lines[0][1], Mark(name, lines[0][0], 1), refused)
    return titles, _numbers(lines[1:], titles, name, holes)


def _text(path: str | Path) -> str:
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise SpecError(Fault(f"cannot read {path}: {(error.strerror or str(error)).lower()}")) from None
    except UnicodeDecodeError:
        raise SpecError(Fault(f"cannot read {path}: it is not text", hint="save it as CSV, in UTF-8")) from None
    if len(content) > MOST_BYTES:
        raise SpecError(Fault(f"cannot read {path}: it is larger than {MOST_BYTES:g} bytes"))
    return text


def _titles(line: str, mark: Mark, refused: Refused) -> tuple[str, ...]:
    titles, faults, column = [], [], 1
    for cell in line.split(","):
        title = cell.strip().strip('"').strip()
        place = Mark(mark.file, mark.line, column)
        if (wrong := refused(title)) is not None:
            faults.append(Fault(wrong[0], place, wrong[1]))
        elif title in titles:
            faults.append(Fault(f"there are two columns {title}", place))
        titles.append(title)
        column += len(cell) + 1
    if faults:
        raise SpecError(*faults)
    return tuple(titles)


def _numbers(lines: Sequence[tuple[int, str]], titles: tuple[str, ...], name: str, holes: bool) -> Array:
    try:
        table = np.loadtxt([line for _, line in lines], delimiter=",", ndmin=2, comments=None)
        if table.shape[1] == len(titles) and np.isfinite(table).all():
            return table
    except ValueError:
        pass
    faults = [fault for number, line in lines if (fault := _fault(line, titles, Mark(name, number, 1), holes))]
    if faults or not holes:
        raise SpecError(*faults[:MOST_FAULTS])
    return np.array([[float(cell) if cell.strip() else np.nan for cell in line.split(",")] for _, line in lines])


def _fault(line: str, titles: tuple[str, ...], mark: Mark, holes: bool) -> Fault | None:
    cells = line.split(",")
    if len(cells) != len(titles):
        return Fault(f"{len(cells)} values, but there are {len(titles)} titles", mark)
    column = 1
    for title, cell in zip(titles, cells, strict=True):
        known = NUMERAL.fullmatch(cell.strip()) and math.isfinite(float(cell))
        if not known and not (holes and not cell.strip()):
            hint = "leave a cell empty where nothing is known" if holes else ""
            return Fault(f"{cell.strip()!r} is no number for {title}", Mark(mark.file, mark.line, column), hint)
        column += len(cell) + 1
    return None
