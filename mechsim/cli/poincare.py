"""`mechsim poincare`: sections through motions, and bifurcation diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mechsim.cli import dynamics, options, tables

if TYPE_CHECKING:
    from mechsim.analysis.section import Section

POINTS, POINTS_OVER = 1000, 100


@click.command(
    epilog="\b\nExamples:\n"
    "  mechsim poincare pendulum.yaml --period 2*pi/w --transient 500 --points 20000 --plot attractor.png\n"
    "  mechsim poincare specs/dynamics/henon_heiles.yaml --section A_x --vary y0=-0.4:0.6:21 --plot section.png\n"
    "  mechsim poincare pendulum.yaml --period 2*pi/w --transient 300*2*pi/w --over g=1:1.5:800 --plot diagram.png\n\n"
    "docs/dynamics.md tells more.",
    short_help="Poincaré sections and bifurcation diagrams.",
)
@options.shared(
    options.SPEC,
    click.option("--period", metavar="EXPR", help="Section at whole periods of a forcing: 2*pi/w."),
    click.option("--section", metavar="EXPR", help="Section where an expression crosses zero: A_x - 0.1."),
    click.option("--direction", type=click.Choice(["up", "down", "both"]), default="up", help="Of the crossing. [up]"),
    click.option("--event", metavar="NAME", help="Section at an event or contact of the file."),
    click.option("--points", type=click.IntRange(min=1), metavar="N", help="Of each motion. [1000; with --over 100]"),
    click.option(
        "--transient", default="0", metavar="EXPR", help="Leave out this time, an expression of parameters. [0]"
    ),
    click.option("--over", metavar="NAME=VALUES", help="A diagram over a parameter, as g=1:1.5:400."),
    click.option(
        "--follow",
        type=click.Choice(["up", "down", "both"]),
        help="With --over: each motion begins where the one before ended.",
    ),
    click.option(
        "--vary", multiple=True, metavar="NAME=VALUES", help="Motions with other parameters; may be repeated."
    ),
    dynamics.START,
    click.option(
        "--columns", callback=options.names, metavar="NAMES", help="Columns: coordinates, A_x_dot, T, signals."
    ),
    click.option("--x", metavar="NAME", help="What is drawn to the right."),
    click.option("--y", metavar="NAME", help="What is drawn upwards."),
    click.option("--tol", type=float, metavar="TOL", help="Error tolerance per step. [1e-10]"),
    options.T0,
    options.SET,
    options.TABLES,
    options.BRANCH,
    click.option("-o", "--output", metavar="FILE", help="Write all points: .csv, .npz or .parquet."),
    dynamics.PICTURE,
    dynamics.QUIET,
    options.JSON,
    options.DEBUG,
)
def poincare(
    spec: str,
    period: str | None,
    section: str | None,
    direction: str,
    event: str | None,
    points: int | None,
    transient: str,
    over: str | None,
    follow: str | None,
    vary: Sequence[str],
    starts: Sequence[str],
    columns: Sequence[str] | None,
    x: str | None,
    y: str | None,
    tol: float | None,
    t0: float | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    branch: int | None,
    output: str | None,
    picture: str | None,
    quiet: bool,
    as_json: bool,
    debug: bool,
) -> int:
    """Points at which motions of SPEC.yaml pass a section: at whole periods of a forcing, where an expression crosses
    zero, or at an event of the file. With --over it is a bifurcation diagram: the points of a motion for each value of
    a parameter. Ctrl-C ends it with the points that are found by then."""
    from mechsim import simulation
    from mechsim.analysis.cut import Cut, Wanted
    from mechsim.analysis.sections import TOLERANCE
    from mechsim.analysis.sections import poincare as find
    from mechsim.render.paper import FORMS
    from mechsim.result.paths import ENDINGS

    if over is not None and (vary or starts):
        raise click.UsageError("--over varies one parameter: --vary and --start are for sections without it.")
    if follow is not None and over is None:
        raise click.UsageError("--follow is for diagrams: use --over.")
    tolerance = TOLERANCE if tol is None else tol
    read = simulation.adjust(simulation.read(spec, parameters, folders), tol=tolerance, t0=t0, branch=branch)
    dynamics.check_paths(spec, read, [(output, ENDINGS), (picture, FORMS)])
    subject = dynamics.subject_of(read, t0)
    varied = dynamics.values_of(
        subject, (over,) if over is not None else vary, "--over" if over is not None else "--vary"
    )
    wanted = Wanted(
        Cut(period, section, direction, event),
        points or (POINTS if over is None else POINTS_OVER),
        transient,
        columns,
        (x, y),
        varied,
        dynamics.values_of(subject, starts, "--start"),
        next(iter(varied)) if over is not None else None,
        follow,
    )
    lasting = float(read.problem.tend) - float(read.problem.t0)
    dynamics.derive(subject)
    with dynamics.counted("points", quiet or as_json) as progress:
        found = find(subject, wanted, lasting, tolerance, progress)
    shown = dynamics.Shown(read.title or read.path, output, picture, quiet, as_json)
    dynamics.tell(found, shown, "sections.plot_section", _show)
    return dynamics.exit_code(found)


def _show(found: Section) -> None:
    facts = [("section", found.what), ("points", f"{len(found):,} of {found.count:,} motion{'s' * (found.count > 1)}")]
    tables.facts(facts)
    if len(found):
        rows = [[name, unit, *_range(found, name)] for name, unit in zip(found.labels, found.units, strict=True)]
        tables.table(["column", "unit", "from", "to"], rows, right=(2, 3))


def _range(found: Section, name: str) -> list[str]:
    values = found[name]
    return [f"{round(float(each), 12) + 0.0:.8g}" for each in (values.min(), values.max())]
