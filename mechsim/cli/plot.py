"""`mechsim plot`: curves of one result, or of several to compare; and of sweeps."""

from __future__ import annotations

from pathlib import Path

import click

from mechsim.cli import options
from mechsim.cli.animate import names_of, size_of


def _pairs(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """`A_x,A_x_dot`, repeated, as pairs of columns."""
    pairs = []
    for value in values:
        words = [word.strip() for word in value.split(",")]
        if len(words) != 2 or not all(words):
            raise click.BadParameter(f"{value!r} is not two columns, for example A_x,A_x_dot")
        pairs.append((words[0], words[1]))
    return tuple(pairs)


@click.command(
    epilog="\b\nExamples:\n  mechsim plot out.csv\n  mechsim plot out.csv -o phase.svg --phase A_x,A_x_dot\n"
    "  mechsim plot out.csv -o path.pdf --path A,B\n  mechsim plot a.csv b.csv\n"
    "  mechsim plot out.csv --phase A_x,A_x_dot --events section\n"
    '  mechsim plot sweep.parquet --x k --y "max(A_y)"\n  mechsim plot sweep.parquet --x k --y m --z "max(A_y)"',
    short_help="Plot energies, coordinates, paths; compare results; sweeps.",
)
@options.shared(
    click.argument("results", type=click.Path(), nargs=-1, required=True, metavar="RESULT..."),
    click.option("-o", "--output", metavar="FILE", help="File to write: .png (default), .svg or .pdf."),
    click.option("--phase", callback=_pairs, multiple=True, metavar="X,Y", help="One column against another."),
    click.option("--events", metavar="E", help="With --phase: only where this event happened, as dots (Poincaré)."),
    click.option("--path", callback=names_of, metavar="A,B", help="The ways of points; in space from three sides."),
    click.option("--columns", callback=names_of, metavar="C,D", help="Columns against time, a panel for each."),
    click.option("--x", metavar="C", help="Of a sweep: the parameter (or measure) to plot against."),
    click.option("--y", multiple=True, metavar="C", help="Of a sweep: a measure, or a second parameter."),
    click.option("--z", multiple=True, metavar="C", help="Of a sweep: the measure that a heat map shows."),
    click.option(
        "--kind", type=click.Choice(["curves", "heat", "scatter", "histogram", "dots", "shares"]),
        help="Of a sweep: how to draw it. dots: small ones, for bifurcation diagrams.",
    ),
    click.option("--theme", type=click.Choice(["light", "dark"]), default="light", show_default=True),
    click.option("--size", callback=size_of, metavar="WxH", help="Pixels, at 100 per inch."),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors."),
    options.DEBUG,
)  # fmt: skip
def plot(
    results: tuple[str, ...],
    output: str | None,
    phase: tuple[tuple[str, str], ...],
    events: str | None,
    path: tuple[str, ...] | None,
    columns: tuple[str, ...] | None,
    x: str | None,
    y: tuple[str, ...],
    z: tuple[str, ...],
    kind: str | None,
    theme: str,
    size: tuple[int, int] | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Plot the results in RESULT: energies and their drift, constraint residuals and coordinates, or what is asked for.

    Several results are drawn over each other, and the distance between them is plotted too. Of a sweep the overview
    shows every measure: as curves over one parameter, heat maps over two, histograms and shares of variance of draws.
    """
    from mechsim.cli import errors
    from mechsim.errors import printable
    from mechsim.render.haste import hasten
    from mechsim.render.paper import FORMS
    from mechsim.render.source import is_sweep
    from mechsim.render.target import check_film_target
    from mechsim.result.paths import named_after, refuse_sources

    target = output if output is not None else named_after(results[0], ".png")
    refuse_sources(check_film_target(target, FORMS), results)
    swept = [each for each in results if is_sweep(each)]
    if events is not None and not phase:
        raise click.UsageError("--events says where --phase X,Y is shown: name two columns.")
    _check_options(bool(swept), len(results), bool(phase or path or columns), bool(x or y or z or kind))
    if swept:
        from mechsim.render.sweeps import SweepOptions, plot_sweep
        from mechsim.study.table import load_sweep

        table = load_sweep(results[0])
        hasten()
        notes = plot_sweep(Path(results[0]).name, table, target, SweepOptions(x, y, z, kind, theme, size))
    else:
        from mechsim.render.plot import PlotOptions
        from mechsim.render.plot import plot as draw
        from mechsim.render.source import results as read

        alike = len(set(map(_stem, results))) < len(results)
        trajectories = [(each if alike else _stem(each), read(each)) for each in results]
        hasten()
        notes = draw(trajectories, target, PlotOptions(phase, path or (), columns or (), events, theme, size))
    if not quiet:
        for text in notes:
            errors.note(text)
        click.echo(printable(target))


def _check_options(is_sweep: bool, count: int, of_motion: bool, of_sweep: bool) -> None:
    """Raise UsageError for options that belong to another kind of file."""
    if is_sweep and count > 1:
        raise click.UsageError("a sweep is plotted by itself: name one file.")
    if is_sweep and of_motion:
        raise click.UsageError("--phase, --path and --columns are for motions; a sweep has --x, --y, --z and --kind.")
    if of_sweep and not is_sweep:
        raise click.UsageError("--x, --y, --z and --kind are for sweeps; a motion has --phase, --path and --columns.")


def _stem(path: str) -> str:
    return Path(path).name
