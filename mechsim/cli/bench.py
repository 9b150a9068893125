"""`mechsim bench`: run specs with known answers, judge them, and compare with what was accepted."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, options, tables
from mechsim.errors import printable

if TYPE_CHECKING:
    from mechsim.study.regression import Row
    from mechsim.study.regression_batch import Batch
    from mechsim.study.regression_report import Report

REGRESSED = 5  # the exit code
DEFAULT_FOLDER = "specs"
COLOURS = {"failed": "red", "regressed": "red", "vanished": "red", "better": "green"}


@click.command(
    epilog="\b\nExamples:\n  mechsim bench                       all specs of the folder specs\n"
    "  mechsim bench specs/andrews.yaml\n"
    "  mechsim bench specs -o report.xml -o report.json\n"
    "  mechsim bench --compare old.json new.json -o page.html\n\n"
    "Exit code 5: a spec failed, regressed or vanished.",
    short_help="Run specs with known answers and compare with what was accepted.",
)
@options.shared(
    click.argument("places", nargs=-1, type=click.Path(), metavar="[FOLDER | SPEC.yaml]..."),
    click.option("--update", is_flag=True, help="Accept what was found, except what fails its Reference."),
    click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        metavar="FILE",
        help="Report to write: .json, .md, .xml (JUnit) or .html; may be repeated.",
    ),
    click.option(
        "--compare",
        nargs=2,
        type=click.Path(),
        metavar="OLD.json NEW.json",
        help="Run nothing, but write a page (-o x.html) that compares two reports.",
    ),
    click.option(
        "--jobs", type=click.IntRange(min=1), metavar="N", help="Specs run at a time. Default: one per processor."
    ),
    click.option("-v", "--verbose", is_flag=True, help="List specs without a Reference, and every value."),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing but what is wrong."),
    options.JSON,
    options.DEBUG,
)
def bench(
    places: tuple[str, ...],
    update: bool,
    outputs: tuple[str, ...],
    compare: tuple[str, str] | None,
    jobs: int | None,
    verbose: bool,
    quiet: bool,
    as_json: bool,
    debug: bool,
) -> int:
    """Run every mechanism file with a Reference, in the folders given and below (default: the folder specs, else this
    one), and judge it: digits of known values, drift of energy, steps. The figures are compared with those
    accepted last, which stand in accepted.json beside the specs; "--update" accepts the new ones.
    """
    if compare is not None:
        if places or update or as_json:
            raise click.UsageError("--compare runs nothing: it takes two reports and -o page.html.")
        return _compare(*compare, outputs)
    targets = [_target(each) for each in outputs]
    from mechsim.study.regression import is_bad
    from mechsim.study.regression_batch import accept, gather
    from mechsim.study.regression_report import Report, as_dict

    batch = gather(places or [DEFAULT_FOLDER if os.path.isdir(DEFAULT_FOLDER) else "."])
    rows = _run(batch, jobs or _processors(), quiet=quiet or as_json)
    report = Report(tuple(rows))
    changes = accept(batch, rows) if update else {}
    if as_json:
        click.echo(json.dumps({"exit_code": REGRESSED if is_bad(rows) else 0, **as_dict(report)}))
    else:
        _show(rows, verbose=verbose, quiet=quiet, updated=update)
        if update and not quiet:
            _show_changes(changes, rows)
    for target in targets:
        _write(report, target)
    return REGRESSED if is_bad(rows) else 0


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _target(output: str) -> Path:
    """Nobody wants to learn after the run that its report cannot be written."""
    from mechsim.result.paths import check_folder, real_path
    from mechsim.study.regression_page import ENDINGS as PAGES
    from mechsim.study.regression_report import WRITERS

    known = (*WRITERS, *PAGES)
    if not output.lower().endswith(known):
        raise click.UsageError(f"-o {output}: a report ends in {', '.join(known[:-1])} or {known[-1]}.")
    target = real_path(output)
    check_folder(target, output)
    return target


def _run(batch: Batch, jobs: int, *, quiet: bool) -> list[Row]:
    from mechsim.cli.progress import Tally
    from mechsim.errors import Fault, SpecError
    from mechsim.study.regression import NO_REFERENCE
    from mechsim.study.regression_batch import carry_out

    with Tally("{0} of {1} specs", quiet=quiet) as tally:
        rows = carry_out(batch, jobs, tally)
    if all(row.verdict == NO_REFERENCE for row in rows):
        where = "none of these files has" if rows else "there is no mechanism file with"
        hint = "a Reference says what is known of a motion: see Reference in docs/language.md"
        raise SpecError(Fault(f"{where} a Reference", hint=hint))
    return rows


def _write(report: Report, target: Path) -> None:
    from mechsim.study.regression_page import against_accepted
    from mechsim.study.regression_report import WRITERS, write

    ending = target.suffix.lower()
    write(WRITERS[ending](report) if ending in WRITERS else against_accepted(report), target)


def _show(rows: Sequence[Row], *, verbose: bool, quiet: bool, updated: bool) -> None:
    from mechsim.study.regression import BAD, BETTER, NEW, NO_REFERENCE
    from mechsim.study.regression_report import summary

    judged = [row for row in rows if row.verdict != NO_REFERENCE]
    if not quiet:
        columns, cells = _fitting(judged)
        tables.table(columns, cells, right=(2, 4, 5, 6) if len(columns) == 7 else (2, 3, 4, 5))
        if verbose:
            _show_values(judged)
    for row in judged:
        for reason in row.reasons if row.verdict in BAD or not quiet else ():
            word = click.style(f"{row.verdict}: ", fg=COLOURS.get(row.verdict), bold=row.verdict in BAD)
            errors.say(f"{click.style(printable(row.spec), bold=True)}: {word}{printable(reason)}")
    if quiet:
        return
    without = [row.spec for row in rows if row.verdict == NO_REFERENCE]
    click.echo(summary(rows) + (f"; {len(without)} without a Reference" if without else ""))
    if verbose:
        for spec in without:
            click.echo(f"  no Reference: {printable(spec)}")
    if not updated and any(row.verdict in (NEW, BETTER) for row in rows):
        errors.note("what is new or better than accepted is compared with next time if --update accepts it")


def _fitting(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """The table; without the column of values where the window has no room for it."""
    from mechsim.study import regression_report as report

    columns = ["spec", "verdict", "digits", "nearest to its bar", "energy", "steps", "time"]
    cells = [
        [
            row.spec.removesuffix(".yaml"),
            row.verdict,
            report.digits_cell(row.figures),
            report.worst_cell(row.figures),
            report.energy_cell(row.figures),
            report.steps_cell(row),
            report.duration(row.figures.seconds if row.figures else None),
        ]
        for row in rows
    ]
    if tables.width(columns, cells) <= shutil.get_terminal_size().columns or not os.isatty(1):
        return columns, cells
    return [*columns[:3], *columns[4:]], [[*row[:3], *row[4:]] for row in cells]


def _show_values(rows: Sequence[Row]) -> None:
    values = [
        [row.spec.removesuffix(".yaml"), f"{value.time:.6g}", value.column, f"{value.digits:.1f}", f"{value.asked:g}"]
        for row in rows
        if row.figures
        for value in row.figures.values
    ]
    tables.table(["spec", "t", "value", "digits", "asked"], values, right=(1, 3, 4))


def _show_changes(changes: dict[Path, list[str]], rows: Sequence[Row]) -> None:
    from mechsim.study.regression import FAILED
    from mechsim.study.regression_batch import shown

    for book, lines in changes.items():
        click.echo(f"accepted, in {printable(shown(book))}:")
        for line in lines:
            click.echo(f"  {printable(line)}")
    if not changes:
        click.echo("accepted figures stay as they were")
    if refused := [row.spec for row in rows if row.verdict == FAILED]:
        errors.note(f"what fails is never accepted: {', '.join(refused)}")


def _compare(old: str, new: str, outputs: Sequence[str]) -> int:
    from mechsim.study.regression_page import ENDINGS, comparison, differences
    from mechsim.study.regression_report import read_report, write

    if len(outputs) != 1 or not outputs[0].lower().endswith(ENDINGS):
        raise click.UsageError("--compare needs one page to write: -o page.html.")
    target = _target(outputs[0])
    reports = read_report(old), read_report(new)
    write(comparison(*reports), target)
    click.echo(f"{printable(outputs[0])}: {differences(*reports)}")
    return 0
