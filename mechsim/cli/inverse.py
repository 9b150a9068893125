"""`mechsim inverse`: torques and forces that drives must give for a motion, with their power."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, interrupts, options, tables

if TYPE_CHECKING:
    from mechsim.analysis.needs import Inverse, Need

FORMS = (".csv", ".npz", ".json", ".yaml", ".yml")


@click.command(
    epilog="\b\nExamples:\n  mechsim inverse arm.yaml --table motion.csv -o torques.csv --plot torques.png\n"
    '  mechsim inverse arm.yaml --motion "theta_OA=0.5*sin(3*t)" --motion "theta_AB-theta_OA=0.3*cos(2*t)" --tend 2\n'
    "  mechsim inverse specs/forces/driven_slider_crank.yaml\n\n"
    "docs/design.md tells more.",
    short_help="Torques and forces that drives must give for a motion.",
)
@options.shared(
    options.SPEC,
    click.option(
        "--motion",
        "motions",
        multiple=True,
        callback=options.assignments,
        metavar="NAME=EXPR",
        help="How something moves, a formula of t: theta_OA=sin(t); may be repeated.",
    ),
    click.option(
        "--table", metavar="FILE", help="A CSV file: a column t, and one for each that moves (theta_OA, B_x)."
    ),
    click.option(
        "--spline",
        type=click.Choice(["quintic", "cubic"]),
        default="quintic",
        help="How the rows of the table are joined. Default: quintic, whose jerk is smooth.",
    ),
    click.option("--samples", type=click.IntRange(min=2), metavar="N", help="Write N equally spaced rows."),
    options.T0,
    click.option("--tend", type=float, metavar="T", help="End time instead of the table's or the file's."),
    click.option("--tol", type=float, metavar="TOL", help="Error tolerance per step instead of the file's."),
    options.SET,
    options.TABLES,
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write forces and powers: .csv, .npz; what is needed: .json; the driven mechanism: .yaml.",
    ),
    click.option("--plot", "picture", metavar="FILE", help="Draw forces and powers: .png, .svg or .pdf."),
    options.JSON,
    options.DEBUG,
)
def inverse(
    spec: str,
    motions: dict[str, str],
    table: str | None,
    spline: str,
    samples: int | None,
    t0: float | None,
    tend: float | None,
    tol: float | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    output: str | None,
    picture: str | None,
    as_json: bool,
    debug: bool,
) -> None:
    """Tell which torques and forces drives must give to move the mechanism of SPEC.yaml as --motion, --table or its own
    Drives say, with peaks between rows, root mean squares, power and work. Other forces of the file act as well."""
    import numpy as np

    from mechsim.handle import mechanism
    from mechsim.render.paper import FORMS as PICTURES
    from mechsim.render.target import check_film_target
    from mechsim.result.paths import check_target, refuse_sources

    if output is not None:
        refuse_sources(check_target(output, endings=FORMS), [spec, *([table] if table else [])])
    if picture is not None:
        check_film_target(picture, PICTURES)
    with interrupts.at_once():
        handle = mechanism(spec, parameters, tables_from=folders)
        found = handle.inverse(motions, table=table, kind=spline, t0=t0, tend=tend, tol=tol)
    title = handle.spec.title or handle.spec.path
    if output is not None:
        times = None if samples is None else np.linspace(found.motion.t[0], found.motion.t[-1], samples)
        found.save(output, times)
    if picture is not None:
        from mechsim.render.needs import plot_needs

        plot_needs(title, found, picture)
    if as_json:
        click.echo(json.dumps({"title": handle.spec.title, **found.as_dict()}))
        return
    _show(title, found, [path for path in (output, picture) if path is not None])


def _show(title: str, found: Inverse, written: list[str]) -> None:
    for remark in found.notes:
        errors.note(remark)
    for doubt in found.motion.certificate.doubts():
        errors.warn(doubt)
    tables.heading(title)
    times = f"t = {found.motion.t[0]:g} to {found.motion.t[-1]:g} s"
    columns = ["drive", "peak", "at t", "rms", "most power", "at t", "least power", "at t", "work"]
    tables.table(columns, [_row(each) for each in found.needs], right=range(1, 9))
    tables.facts([("motion", times), *(("file", path) for path in written)])


def _row(need: Need) -> list[str]:
    return [
        need.name.removeprefix("drive_"),
        f"{need.peak.value:.7g} {need.unit}",
        f"{need.peak.t:.5g}",
        f"{need.rms:.7g} {need.unit}",
        f"{need.most_power.value:.7g} W",
        f"{need.most_power.t:.5g}",
        f"{need.least_power.value:.7g} W",
        f"{need.least_power.t:.5g}",
        f"{need.work:.7g} J",
    ]
