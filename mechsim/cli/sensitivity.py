"""`mechsim sensitivity`: how measures of a motion change with parameters and with the start."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, interrupts, options, tables

if TYPE_CHECKING:
    from mechsim.design.sensitivities import Sensitivity
    from mechsim.design.tolerances import Budget


@click.command(
    epilog="\b\nExamples:\n"
    '  mechsim sensitivity specs/andrews.yaml --measure "max(theta_OF)" --by mom,c0,F_y\n'
    "  mechsim sensitivity spec.yaml --curve A_x --curve A_y_dot --by l,k -o curves.csv --plot curves.png\n"
    '  mechsim sensitivity spec.yaml --measure "max(A_y)" --tolerance l=0.01,k=5%\n\n'
    "docs/optimization.md tells of measures, tolerances and what has no derivative.",
    short_help="How measures of a motion change with parameters and with the start.",
)
@options.shared(
    options.SPEC,
    click.option("--measure", multiple=True, metavar="EXPR", help='For example "max(A_y)"; may be repeated. [final]'),
    click.option(
        "--by",
        callback=options.names,
        metavar="NAMES",
        help="Parameters, inputs, coordinates of the start and rates (A_x,A_x_dot), tend. [all parameters]",
    ),
    click.option("--curve", multiple=True, metavar="EXPR", help="A quantity along the motion; may be repeated."),
    click.option(
        "--tolerance",
        multiple=True,
        metavar="NAME=TOL,...",
        help="By how much parameters may be off: l=0.01,k=5%. [those of the file]",
    ),
    click.option("--tol", type=float, metavar="TOL", help="Error tolerance per step instead of the file's."),
    options.T0,
    click.option("--tend", type=float, metavar="T", help="End time instead of the file's."),
    options.SET,
    options.TABLES,
    click.option("-o", "--output", metavar="FILE", help="Write .csv (curves, or measures), .npz or .json."),
    click.option("--plot", "picture", metavar="FILE", help="Draw derivatives and tolerances: .png, .svg, .pdf."),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors and warnings."),
    options.JSON,
    options.DEBUG,
)
def sensitivity(
    spec: str,
    measure: Sequence[str],
    by: tuple[str, ...] | None,
    curve: Sequence[str],
    tolerance: Sequence[str],
    tol: float | None,
    t0: float | None,
    tend: float | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    output: str | None,
    picture: str | None,
    quiet: bool,
    as_json: bool,
    debug: bool,
) -> None:
    """Differentiate measures of the motion of SPEC.yaml, and quantities along it, by parameters and by its start.

    Derivatives are exact: through the formulas of the file, the consistent start and the motion. With tolerances it is
    told which parameter matters most, and by how much measures are off at worst.
    """
    from mechsim.design.sensitivities import FORMS, check_file
    from mechsim.handle import mechanism
    from mechsim.render import paper
    from mechsim.render.target import check_film_target
    from mechsim.result.paths import refuse_sources, sources

    handle = mechanism(spec, parameters, tables_from=folders)
    targets = [check_file(output, FORMS)] if output is not None else []
    targets += [check_film_target(picture, paper.FORMS)] if picture is not None else []
    for target in targets:
        refuse_sources(target, sources(spec, handle.spec.files))
    with interrupts.at_once():
        found = handle.sensitivity(
            tuple(measure),
            by or (),
            curves=tuple(curve),
            tolerances=_tolerances(tolerance) or None,
            tol=tol,
            t0=t0,
            tend=tend,
        )
    if output is not None:
        found.save(output)
    title = handle.spec.title or handle.spec.path
    if picture is not None:
        from mechsim.render.sensitivity import plot_sensitivity

        plot_sensitivity(title, found, Path(picture))
    if as_json:
        click.echo(json.dumps({"title": handle.spec.title, **found.as_dict()}))
        return
    for note in found.notes:
        errors.note(note)
    if not quiet:
        _show(title, found, [path for path in (output, picture) if path is not None])


def _tolerances(given: Sequence[str]) -> dict[str, str]:
    """`l=0.01,k=5%`, repeated."""
    found: dict[str, str] = {}
    for part in (each for text in given for each in text.split(",")):
        name, equals, size = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not size:
            raise click.BadParameter(
                f"{part!r} is not of the form NAME=TOL, for example l=0.01", param_hint="--tolerance"
            )
        if name in found:
            raise click.BadParameter(f"{name} has two tolerances", param_hint="--tolerance")
        found[name] = size
    return found


def _show(title: str, found: Sensitivity, written: list[str]) -> None:
    tables.heading(title)
    if found.labels:
        tables.table(["measure", "value", "by", "at", "derivative", "per 1 %"], _rows(found), right=(1, 3, 4, 5))
    if found.budget is not None:
        _show_budget(found.budget)
    curves = ", ".join(each.label for each in found.curves)
    facts = [("curves", f"{curves} at {len(found.times)} times")] if curves else []
    tables.facts([*facts, *(("written", path) for path in written)])


def _rows(found: Sensitivity) -> list[list[str]]:
    rows = []
    for place, label in enumerate(found.labels):
        head = [f"{label}{f' / {found.units[place]}' if found.units[place] else ''}", f"{found.values[place]:.9g}"]
        for number, name in enumerate(found.by):
            given, slope = found.given[number], found.derivatives[place, number]
            share = f"{0.01 * slope * given:+.3g}" if given == given and given != 0 else ""
            rows.append([*head, name, f"{given:.6g}" if given == given else "", f"{slope:.9g}", share])
            head = ["", ""]
    return rows


def _show_budget(budget: Budget) -> None:
    rows = []
    for place, label in enumerate(budget.labels):
        head = label
        for number in budget.ranked(place):
            part, share = budget.contributions[place, number], budget.shares[place, number]
            rows.append(
                [head, budget.names[number], f"± {budget.tolerances[number]:.4g}", f"± {part:.4g}", f"{share:.1%}"]
            )
            head = ""
        low, high = budget.corners[place] - budget.values[place]
        tried = f"tried: {low:+.4g}, {high:+.4g}" if low == low and high == high else ""
        rows.append(["", "at worst", "", f"± {budget.worst[place]:.4g}", tried])
        rows.append(["", "root sum square", "", f"± {budget.likely[place]:.4g}", ""])
    tables.table(["measure", "by", "tolerance", "contributes", "of the variance"], rows, right=(2, 3, 4))
