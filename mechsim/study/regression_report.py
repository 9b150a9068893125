"""What a batch came to, as files: JSON for programs and to compare versions, Markdown for people, JUnit XML for CI."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

from mechsim._version import __version__
from mechsim.errors import Fault, SpecError, printable
from mechsim.frozen import frozen
from mechsim.result.paths import replacing
from mechsim.study.regression import BAD, FAILED, FINISHED, NO_REFERENCE, Figures, Row, Value, counted

FORMAT = "mechsim bench report 1"


@frozen
class Report:
    """The rows of a batch and the version that made them."""

    rows: tuple[Row, ...]
    version: str = __version__
    name: str = ""  # of the file it was read from


def as_dict(report: Report) -> dict[str, object]:
    """The report as JSON has it; without accepted figures, which are a file of their own."""
    specs = {row.spec: _row_as_dict(row) for row in sorted(report.rows, key=lambda row: row.spec)}
    return {"format": FORMAT, "version": report.version, "verdicts": counted(report.rows), "specs": specs}


def _row_as_dict(row: Row) -> dict[str, object]:
    told: dict[str, object] = {"verdict": row.verdict, "reasons": list(row.reasons)}
    if row.accepted is not None:
        told["accepted"] = row.accepted.as_dict()
    if row.figures is not None:
        told |= {"margin": _finite(row.figures.margin), **_figures_as_dict(row.figures)}
    return told


def _figures_as_dict(figures: Figures) -> dict[str, object]:
    told = {name: value for name, value in asdict(figures).items() if value not in (None, "", ())}
    return {name: _finite(value) if isinstance(value, float) else value for name, value in told.items()}


def _finite(value: float | None) -> float | None:
    """JSON has no NaN."""
    return value if value is not None and math.isfinite(value) else None


def read_report(path: str | Path) -> Report:
    """A report that was written as JSON. Raises SpecError that says what is wrong with the file."""
    hint = "such files are written by  mechsim bench -o report.json"
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content.get("format") != FORMAT:
            raise SpecError(Fault(f"{path} is no report of mechsim bench", hint=hint))
        rows = tuple(_row(spec, values) for spec, values in content["specs"].items())
        return Report(rows, str(content["version"]), Path(path).name)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        raise SpecError(Fault(f"cannot read the report {path}: {reason}", hint=hint)) from None


def _row(spec: str, told: Mapping[str, object]) -> Row:
    reasons = told.get("reasons", [])
    assert isinstance(reasons, list)
    figures = _figures(told) if "status" in told else None
    return Row(spec, str(told["verdict"]), tuple(map(str, reasons)), figures)


def _figures(told: Mapping[str, object]) -> Figures:
    def number(name: str) -> float | None:
        value = told.get(name)
        return float(value) if isinstance(value, int | float) else None

    def count(name: str) -> int | None:
        value = number(name)
        return None if value is None else int(value)

    values, missed = told.get("values", []), told.get("missed", [])
    if not isinstance(values, list) or not isinstance(missed, list):
        raise TypeError("values and missed must be lists")
    return Figures(
        status=str(told["status"]),
        message=str(told.get("message", "")),
        title=str(told.get("title", "")),
        values=tuple(Value(str(v["column"]), float(v["time"]), float(v["digits"]), float(v["asked"])) for v in values),
        missed=tuple(map(str, missed)),
        energy=number("energy"),
        constraints=number("constraints"),
        steps=count("steps"),
        rejected=count("rejected"),
        order=count("order"),
        tolerance=number("tolerance"),
        seconds=number("seconds"),
        seconds_in_all=number("seconds_in_all"),
    )


def json_text(report: Report) -> str:
    return json.dumps(as_dict(report), indent=2, allow_nan=False) + "\n"


# --- cells of tables, for the terminal and for Markdown


def digits_cell(figures: Figures | None) -> str:
    """`13.6 of 12`: found, and asked for, of the value nearest to its bar."""
    worst = figures.worst if figures else None
    return f"{worst.digits:.1f} of {worst.asked:g}" if worst else ""


def worst_cell(figures: Figures | None) -> str:
    worst = figures.worst if figures else None
    return f"{worst.column} at {worst.time:.6g}" if worst else ""


def steps_cell(row: Row) -> str:
    """Steps, with rejected ones; and how many more than accepted, if not as many."""
    figures = row.figures
    if figures is None or figures.steps is None:
        return ""
    text = f"{figures.steps}" + (f"+{figures.rejected}" if figures.rejected else "")
    if row.accepted is None or figures.attempts in (None, row.accepted.attempts):
        return text
    return f"{text} ({(figures.attempts or 0) - row.accepted.attempts:+d})"


def energy_cell(figures: Figures | None) -> str:
    return "" if figures is None or figures.energy is None else f"{figures.energy:.0e}"


def duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1000:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def summary(rows: Sequence[Row]) -> str:
    """`29 passed, 1 failed`."""
    counts = {verdict: number for verdict, number in counted(rows).items() if verdict != NO_REFERENCE}
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items()) or "nothing was run"


# --- Markdown


def markdown(report: Report) -> str:
    """A table, and below it what is wrong."""
    lines = [f"# mechsim bench: {summary(report.rows)}", "", f"mechsim {report.version}", ""]
    lines += [
        "| spec | verdict | digits | nearest to its bar | energy | steps | time |",
        "|---|---|---:|---|---:|---:|---:|",
    ]
    for row in report.rows:
        if row.verdict != NO_REFERENCE:
            cells = (digits_cell(row.figures), worst_cell(row.figures), energy_cell(row.figures), steps_cell(row))
            time = duration(row.figures.seconds if row.figures else None)
            verdict = f"**{row.verdict}**" if row.verdict in BAD else row.verdict
            lines.append(f"| {' | '.join(map(_cell, (row.spec, verdict, *cells, time)))} |")
    told = [f"- {_cell(row.spec)}: {_cell(reason)}" for row in report.rows for reason in row.reasons]
    return "\n".join([*lines, *(["", *told] if told else [])]) + "\n"


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|").replace("<", "&lt;")


# --- JUnit XML


def junit(report: Report) -> str:
    """One test case for each spec: a Reference that is missed or worse than accepted is a failure, else an error."""
    rows = [row for row in report.rows if row.verdict != NO_REFERENCE]
    errors = [row for row in rows if row.verdict == FAILED and row.figures and row.figures.status != FINISHED]
    failures = [row for row in rows if row.verdict in BAD and row not in errors]
    suite = ElementTree.Element(
        "testsuite",
        name="mechsim bench",
        tests=str(len(rows)),
        failures=str(len(failures)),
        errors=str(len(errors)),
        time=_seconds(sum(row.figures.seconds_in_all or 0.0 for row in rows if row.figures)),
    )
    for row in rows:
        _add_case(suite, row, "error" if row in errors else "failure" if row in failures else None)
    whole = ElementTree.Element("testsuites")
    whole.append(suite)
    ElementTree.indent(whole)
    return ElementTree.tostring(whole, encoding="unicode", xml_declaration=True) + "\n"


def _add_case(suite: ElementTree.Element, row: Row, kind: str | None) -> None:
    folder, _, name = row.spec.rpartition("/")
    seconds = row.figures.seconds_in_all if row.figures else None
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=printable(folder.replace("/", ".") or "."),
        name=printable(name),
        time=_seconds(seconds),
    )
    if kind is not None:
        reasons = [printable(reason) for reason in row.reasons]
        first = reasons[0] if reasons else row.verdict
        ElementTree.SubElement(case, kind, message=first, type=row.verdict).text = "\n".join(reasons)
    if row.figures is not None and row.figures.status == FINISHED:
        told = ("digits", digits_cell(row.figures)), ("steps", steps_cell(row)), ("energy", energy_cell(row.figures))
        out = "\n".join(f"{name}: {value}" for name, value in told if value)
        ElementTree.SubElement(case, "system-out").text = out


def _seconds(value: float | None) -> str:
    return f"{value or 0.0:.3f}"


WRITERS: Mapping[str, Callable[[Report], str]] = {".json": json_text, ".md": markdown, ".xml": junit}


def write(text: str, target: Path) -> None:
    """Write the file, whole or not at all."""
    with replacing(target) as temporary:
        temporary.write_text(text, encoding="utf-8")
