"""The CSV of results: a `#` header that carries the spec and the settings, rows, and a `#` footer.

    # mechsim 0.1.0
    # title: "Andrews Squeezing Mechanism"
    # settings: {"tol": 1e-14, ...}
    # units: ["s", "m", ...]
    # spec: "specs/andrews.yaml"
    #|Title: Andrews Squeezing Mechanism
    #|...
    t,D_x,D_x_dot,...
    0.0,...
    # certificate: {"energy_drift": ...}

Any CSV reader that skips `#` reads it; a file without the certificate line was cut short.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypedDict, cast

import numpy as np

from mechsim.errors import Fault, Mark
from mechsim.result.certificate import Certificate
from mechsim.result.journal import OutputError
from mechsim.result.layout import Array
from mechsim.result.soundness import Unsound
from mechsim.result.trajectory import Settings, Trajectory
from mechsim.spec.document import NUMBER_FORMAT


class Header(TypedDict, total=False):
    """What the lines of a file claim; `soundness.check` sees whether it is so."""

    title: str
    settings: Settings
    units: list[str]
    spec: str
    not_unique: list[str]
    drawing: str
    status: str
    certificate: Mapping[str, float]


def head(
    *,
    version: str,
    title: str,
    settings: Settings,
    spec_path: str,
    spec_text: str,
    labels: Sequence[str],
    units: Sequence[str],
    not_unique: Sequence[str] = (),
    drawing: str = "",
    status: str = "",
) -> str:
    """Everything above the rows."""
    facts: dict[str, object] = {"title": title, "settings": dict(settings), "units": list(units), "spec": spec_path}
    if not_unique:  # columns of forces that redundant constraints leave open
        facts["not_unique"] = list(not_unique)
    if drawing:
        facts["drawing"] = drawing
    if status:  # of what is no motion; of motions the certificate tells
        facts["status"] = status
    lines = [f"# mechsim {version}", *(f"# {key}: {json.dumps(value)}" for key, value in facts.items())]
    # To YAML every line break is the same; a lone \r would end the comment for some CSV readers.
    text = spec_text.replace("\r\n", "\n").replace("\r", "\n")
    lines += [f"#|{line}" for line in text.split("\n")]
    return "\n".join([*lines, ",".join(labels), ""])


def foot(certificate: Certificate | None) -> str:
    """What is known only when the last row is written."""
    return f"# certificate: {json.dumps(certificate.as_dict())}\n" if certificate else ""


def row_format(columns: int, time_format: str = "%.17g", value_format: str = "%.17g") -> str:
    """The `%` format of one row. A format that cannot print a number is refused here, before the run."""
    for key, text in (("tformat", time_format), ("qformat", value_format)):
        if not re.fullmatch(NUMBER_FORMAT, text):
            message = f"OutFile: {key} {text!r} is not a format for one number"
            raise OutputError(Fault(message, hint="for example '% .17e'"))
    return ",".join([time_format] + [value_format] * (columns - 1)) + "\n"


def parse(text: str, path: str) -> Trajectory:
    """The trajectory in the text of a CSV file. A truncated last line is dropped, and a note says so."""
    lines = text.split("\n")
    if not lines[0].startswith("# mechsim "):
        raise _bad(path, 1, "this is no file of mechsim: its first line is not '# mechsim VERSION'")
    notes: list[str] = []
    if lines.pop():  # a complete file ends in a line break
        notes.append(f"{path}: the last line is cut short and was dropped")
        if not lines:
            raise _bad(path, 1, "the file ends within its first line")
    facts, spec_text, body = _sort_lines(lines, path)
    if not body:
        raise _bad(path, len(lines) + 1, "the file ends before its column names")
    labels = tuple(body[0][1].split(","))
    table = _numbers(body[1:], len(labels), path)
    certificate = _certificate(facts.get("certificate"))
    status = facts.get("status") or ("finished" if certificate else "partial")
    if status == "partial":
        notes.append(f"{path}: the run that wrote this file did not come to its end")
    return Trajectory(
        labels=labels,
        units=_names(facts.get("units", [""] * len(labels))),
        table=table,
        title=facts.get("title", ""),
        spec_path=facts.get("spec", ""),
        spec_text=spec_text,
        settings=facts.get("settings", {}),
        version=lines[0].split()[-1],
        certificate=certificate,
        status=status,
        notes=tuple(notes),
        not_unique=_names(facts.get("not_unique", ())),
        drawing=facts.get("drawing", ""),
    )


def _certificate(figures: object) -> Certificate | None:
    if figures is None:
        return None
    if not isinstance(figures, Mapping):
        raise Unsound("its certificate is no dictionary")
    return Certificate.from_dict(figures)


def _names(values: object) -> tuple[str, ...]:
    if not isinstance(values, list | tuple):
        raise Unsound("a list of names in its header is none")
    return tuple(values)


def _sort_lines(lines: Sequence[str], path: str) -> tuple[Header, str, list[tuple[int, str]]]:
    """Facts of the header and footer, the spec's text, and the remaining lines with their numbers."""
    facts: dict[str, object] = {}
    spec_lines: list[str] = []
    body: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start=1):
        if line.startswith("#|"):
            spec_lines.append(line[2:])
        elif line.startswith("# ") and ": " in line:
            key, _, value = line[2:].partition(": ")
            try:
                facts[key] = json.loads(value)
            except (ValueError, RecursionError):
                raise _bad(path, number, f"cannot read the header's {key}") from None
        elif line and not line.startswith("#"):
            body.append((number, line))
    return cast(Header, facts), "\n".join(spec_lines), body


def _numbers(body: Sequence[tuple[int, str]], columns: int, path: str) -> Array:
    if not body:
        return np.empty((0, columns))
    try:
        table = np.loadtxt([line for _, line in body], delimiter=",", ndmin=2, comments=None)
        if table.shape[1] == columns:
            return table
    except ValueError:
        pass
    for number, line in body:  # something is wrong: find out where
        cells = line.split(",")
        if len(cells) != columns:
            raise _bad(path, number, f"{len(cells)} values, but there are {columns} columns")
        for cell in cells:
            try:
                float(cell)
            except ValueError:
                raise _bad(path, number, f"{cell.strip()!r} is not a number") from None
    raise _bad(path, body[0][0], "cannot read the rows")


def _bad(path: str, line: int, message: str) -> OutputError:
    return OutputError(Fault(message, Mark(path, line, 1)))
