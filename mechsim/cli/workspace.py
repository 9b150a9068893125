"""`mechsim workspace`: what a point reaches: the boundary, and its area."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, interrupts, options, tables

if TYPE_CHECKING:
    from mechsim.analysis.workspace import Workspace

FORMS = (".csv", ".npz", ".json")


@click.command(
    epilog="\b\nExamples:\n  mechsim workspace specs/design/five_bar.yaml --point P --plot reach.png\n"
    "  mechsim workspace arm.yaml --point B --limit theta_OA=0:pi/2 --limit theta_AB-theta_OA=0:2.5 -o reach.csv\n"
    "  mechsim workspace robot.yaml --point P --hold P.y=0\n\n"
    "docs/design.md tells more.",
    short_help="What a point can reach: boundary, area.",
)
@options.shared(
    options.SPEC,
    click.option("--point", metavar="P", help='A point, or "AB: 0.5, 0.3" in the frame of AB.'),
    click.option("--of", "quantities", multiple=True, metavar="EXPR", help="Instead: two quantities, each by --of."),
    click.option(
        "--limit",
        "limits",
        multiple=True,
        callback=options.assignments,
        metavar="EXPR=FROM:TO",
        help="Between which values something stays, beside the file's Stops; may be repeated.",
    ),
    click.option(
        "--hold",
        multiple=True,
        callback=options.assignments,
        metavar="EXPR=VALUE",
        help="What stays at a value; a coordinate of the point for a section in space; may be repeated.",
    ),
    options.SET,
    options.TABLES,
    click.option("-o", "--output", metavar="FILE", help="Write the curves: .csv, .npz; or what was found: .json."),
    click.option("--plot", "picture", metavar="FILE", help="Draw the region: .png, .svg or .pdf."),
    options.JSON,
    options.DEBUG,
)
def workspace(
    spec: str,
    point: str | None,
    quantities: Sequence[str],
    limits: dict[str, str],
    hold: dict[str, str],
    parameters: dict[str, str],
    folders: tuple[str, ...],
    output: str | None,
    picture: str | None,
    as_json: bool,
    debug: bool,
) -> None:
    """Find what a point of SPEC.yaml reaches while its drives, and all that is free, move as far as joints, Stops and
    --limit allow: the boundary, where the mechanism is stretched, folded or at a limit, and the area within."""
    from mechsim.handle import mechanism
    from mechsim.render.paper import FORMS as PICTURES
    from mechsim.render.target import check_film_target
    from mechsim.result.paths import check_target

    if (point is None) == (not quantities):
        raise click.UsageError("give a --point, or two quantities by --of.")
    if output is not None:
        check_target(output, endings=FORMS)
    if picture is not None:
        check_film_target(picture, PICTURES)
    with interrupts.at_once():
        handle = mechanism(spec, parameters, tables_from=folders)
        found = handle.workspace(quantities if point is None else point, limits=dict(limits), hold=dict(hold))
    title = handle.spec.title or handle.spec.path
    if output is not None:
        found.save(output)
    if picture is not None:
        from mechsim.render.workspace import plot_workspace

        plot_workspace(title, found, picture)
    if as_json:
        click.echo(json.dumps({"title": handle.spec.title, **found.as_dict()}))
        return
    _show(title, found, [path for path in (output, picture) if path is not None])


def _show(title: str, found: Workspace, written: list[str]) -> None:
    for remark in found.notes:
        errors.warn(remark)
    tables.heading(title)
    square = f"{found.units[0]}^2" if found.units[0] == found.units[1] else " ".join(found.units)
    area = "not known" if math.isnan(found.area) else f"{found.area:.7g} {square}"
    facts = [("area", area if found.area else "none, it is a curve")]
    pairs = zip(found.names, found.units, found.low, found.high, strict=True)
    facts += [(name, f"{_end(low)} to {_end(high)} {unit}") for name, unit, low, high in pairs]
    held = Counter(", ".join(found.met(piece)) or "stretched or folded" for piece in found.boundary)
    if found.area:
        facts.append(("boundary", "; ".join(f"{words} ({count})" for words, count in held.items()) or "none found"))
    if found.inner:
        facts.append(("inside", f"{len(found.inner)} curves on which it is singular or at a limit"))
    tables.facts([*facts, *(("file", path) for path in written)])


def _end(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else "no end"
