"""`mechsim assemble`: the consistent start, and the other ways a mechanism closes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, interrupts, options, tables
from mechsim.cli.progress import Tally

if TYPE_CHECKING:
    from mechsim.initial import Row, Start
    from mechsim.kernel.system import System

SIDE_BY_SIDE = 4  # configurations per table: fits 80 columns


@click.command(
    epilog="\b\nExamples:\n  mechsim assemble specs/andrews.yaml\n  mechsim assemble specs/andrews.yaml --all",
    short_help="Find a consistent start and show it.",
)
@options.shared(
    options.SPEC,
    options.T0,
    options.SET,
    options.TABLES,
    options.BRANCH,
    click.option(
        "--all",
        "every",
        is_flag=True,
        help="Search for the different ways the mechanism closes, for half a minute at most.",
    ),
    options.JSON,
    options.DEBUG,
)
def assemble(
    spec: str,
    t0: float | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    branch: int | None,
    every: bool,
    as_json: bool,
    debug: bool,
) -> None:
    """Find positions and velocities that satisfy all constraints, nearest to the guesses of SPEC.yaml.

    The table says for every value whether it was fixed, a guess or free, what was requested and what was obtained.
    """
    if every and branch is not None:
        raise click.UsageError("--all lists every branch, --branch picks one: use one of them.")
    from mechsim import simulation
    from mechsim.initial.problem import InitialValueProblem

    asked = simulation.adjust(simulation.read(spec, parameters, folders), t0=t0, branch=branch)
    with interrupts.at_once(), Tally("{} ways to close found in {} trials", quiet=as_json) as told:
        problem = InitialValueProblem.of(asked)
        starts = problem.starts(told) if every else [problem.start]
    if as_json:
        found = [_as_dict(start, problem.system) for start in starts]
        click.echo(json.dumps({"status": "assembled", "title": asked.title, "configurations": found}))
        return
    for text in starts[0].notes:
        errors.note(text)
    tables.heading(asked.title or asked.path)
    if every:
        _show_all(starts)
    else:
        _show_one(starts[0], problem.system)


def _show_one(start: Start, system: System) -> None:
    redundant = redundant_labels(start, system)
    click.echo(f"  consistent start at t = {start.t:g}" + (f"; redundant: {', '.join(redundant)}" if redundant else ""))
    rows = [
        [row.label, row.role, "" if row.requested is None else f"{row.requested:.12g}", f"{row.obtained:.17g}"]
        for row in start.rows
    ]
    tables.table(["value", "", "requested", "obtained"], rows, right=(2, 3))


def _show_all(starts: Sequence[Start]) -> None:
    ways = "1 way to close was" if len(starts) == 1 else f"{len(starts)} ways to close were"
    click.echo(f"  {ways} found; --branch K, or Branch: K under ProblemData, picks one")
    for first in range(0, len(starts), SIDE_BY_SIDE):
        shown = starts[first : first + SIDE_BY_SIDE]
        columns = ["branch", *(str(first + index + 1) for index in range(len(shown)))]
        rows = [
            [lines[0].label, *(f"{line.obtained:.7g}" for line in lines)]
            for lines in zip(*(_position_rows(start) for start in shown), strict=True)
        ]
        tables.table(columns, rows, right=range(1, len(columns)))


def _position_rows(start: Start) -> list[Row]:
    return [row for row in start.rows if row.quantity == "position"]


def redundant_labels(start: Start, system: System) -> list[str]:
    """Names of the constraints that follow from the others."""
    return [system.labels[system.n + row] for row in start.redundancy.rows]


def _as_dict(start: Start, system: System) -> dict[str, object]:
    keys = ("label", "quantity", "role", "requested", "obtained")
    return {
        "t": start.t,
        "values": [{key: getattr(row, key) for key in keys} for row in start.rows],
        "redundant": redundant_labels(start, system),
        "notes": list(map(str, start.notes)),
    }
