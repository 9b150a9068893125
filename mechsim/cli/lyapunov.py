"""`mechsim lyapunov`: how fast motions beside each other part, with error bars."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, interrupts, options, tables

if TYPE_CHECKING:
    from mechsim.analysis.exponents import Exponents


@click.command(
    epilog="\b\nExamples:\n  mechsim lyapunov specs/double_pendulum.yaml --tend 1000\n"
    "  mechsim lyapunov spec.yaml --tend 1e4 --transient 100 --n 2 -o averages.csv --plot averages.png\n\n"
    "docs/analysis.md tells how exponents and errors are found.",
    short_help="Lyapunov exponents: how fast motions beside each other part.",
)
@options.shared(
    options.SPEC,
    click.option(
        "--tend", type=float, metavar="T", help="End time instead of the file's; the longer, the more digits."
    ),
    click.option("--n", "count", type=click.IntRange(min=1), metavar="K", help="Only the K largest exponents. [all]"),
    click.option(
        "--transient",
        type=click.FloatRange(min=0),
        default=0.0,
        metavar="T",
        help="Leave this time out of the averages, until the motion is on its attractor. [0]",
    ),
    click.option("--tol", type=float, metavar="TOL", help="Error tolerance per step. [1e-9]"),
    options.T0,
    options.SET,
    options.TABLES,
    options.BRANCH,
    click.option("-o", "--output", metavar="FILE", help="Write the averages against time: .csv or .npz."),
    click.option("--plot", "picture", metavar="FILE", help="Draw the averages against time: .png, .svg or .pdf."),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors and warnings."),
    options.JSON,
    options.DEBUG,
)
def lyapunov(
    spec: str,
    tend: float | None,
    count: int | None,
    transient: float,
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
    """Find the Lyapunov exponents of the motion of SPEC.yaml: rates, in 1/s, at which motions beside it part (above
    zero: chaos) or come together, in each direction that the constraints allow.

    Errors are standard deviations of the averages. The time itself is no state: a mechanism that is driven by a
    formula of t has no exponent for it. Ctrl-C ends the averages where they are.
    """
    from mechsim import simulation
    from mechsim.analysis.exponents import check_history
    from mechsim.analysis.lyapunov import TOLERANCE
    from mechsim.analysis.lyapunov import lyapunov as find
    from mechsim.cli.progress import Progress
    from mechsim.result.paths import refuse_sources, sources

    read = simulation.read(spec, parameters, folders)
    asked = simulation.adjust(read, tol=TOLERANCE if tol is None else tol, t0=t0, tend=tend, branch=branch)
    targets = [check_history(output)] if output is not None else []
    targets += [_check_picture(picture)] if picture is not None else []
    for target in targets:
        refuse_sources(target, sources(spec, asked.files))
    with interrupts.at_once():
        prepared = simulation.prepare(asked)
    times = float(asked.problem.t0), float(asked.problem.tend)
    with Progress(*times, quiet=quiet or as_json) as progress:
        found = find(
            prepared.system,
            prepared.structure,
            prepared.start,
            tend=times[1],
            n=count,
            transient=transient,
            tolerance=asked.solver.tolerance,
            observer=progress.show,
        )
    if output is not None:
        found.save(output)
    title = asked.title or asked.path
    if picture is not None:
        from mechsim.render.exponents import plot_exponents

        plot_exponents(title, found, targets[-1])
    if as_json:
        click.echo(json.dumps({"title": asked.title, **found.as_dict()}))
    else:
        _show(title, found, [path for path in (output, picture) if path is not None], quiet)
    return 0 if found.status == "finished" else interrupts.INTERRUPTED


def _check_picture(path: str) -> Path:
    from mechsim.render.paper import FORMS
    from mechsim.render.target import check_film_target

    return check_film_target(path, FORMS)


def _show(title: str, found: Exponents, written: list[str], quiet: bool) -> None:
    for note in found.notes:
        errors.note(note)
    if quiet:
        return
    tables.heading(title)
    rows = [
        [str(number + 1), *_told(value, error), "zero within its error" * zero]
        for number, (value, error, zero) in enumerate(zip(found.values, found.errors, found.zero.tolist(), strict=True))
    ]
    tables.table(["", "exponent / s⁻¹", "error", ""], rows, right=(0, 1, 2))
    tables.facts(_facts(found, written))


def _told(value: float, error: float) -> tuple[str, str]:
    """A value and its error, to the second digit of that."""
    decimals = _digits(error)
    return (f"{value:.{decimals}f}", f"{error:.{decimals}f}") if value > -float("inf") else ("-∞", "")


def _facts(found: Exponents, written: list[str]) -> list[tuple[str, str]]:
    steps, seconds = int(found.statistics["steps"]), found.statistics["seconds"]
    facts = [("averaged", f"from t = {found.begun:g} to {found.times[-1]:g}, {steps:,} steps in {seconds:.2g} s")]
    which = "of all" if found.complete else f"of these, of {found.dimension}"
    which = f"of the {len(found.values) - found.lost} that are finite" if found.lost else which
    decimals = _digits(found.sum_error)
    facts.append(("sum", f"{found.sum:.{decimals}f} ± {found.sum_error:.{decimals}f}, {which}"))
    if found.complete and found.divergence is not None:
        mean, error = found.divergence
        facts.append(("divergence", f"{mean:.8g}{f' ± {error:.1g}' if error else ''}, which all add up to"))
    if found.unpaired is not None:
        facts.append(("pairs", f"of opposite sign, to {found.unpaired:.2g}"))
    if found.kaplan_yorke is not None:
        facts.append(("dimension", f"{found.kaplan_yorke:.4g} by Kaplan and Yorke, of {found.dimension}"))
    return [*facts, *(("written", path) for path in written)]


def _digits(error: float) -> int:
    """Decimals to the second digit of an error."""
    from math import floor, isfinite, log10

    return max(0, 1 - floor(log10(error))) if isfinite(error) and error > 0 else 6
