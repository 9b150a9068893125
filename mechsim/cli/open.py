"""`mechsim open`: from a mechanism file to its interactive page in the browser, in one word."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mechsim.cli import options
from mechsim.cli.animate import write_sweep_page

if TYPE_CHECKING:
    from mechsim.errors import Fault
    from mechsim.result import Motion, Trajectory

RESULTS = (".csv", ".npz", ".parquet")
MARK = b'<meta name="generator" content="mechsim'  # how a page of ours is known
MARK_WITHIN = 2000  # bytes from its beginning


@click.command(
    name="open",
    epilog="\b\nExamples:\n  mechsim open specs/andrews.yaml\n"
    "  mechsim open specs/andrews.yaml --set mom=0.04 --tend 0.1\n  mechsim open sweep.parquet",
    short_help="Simulate a mechanism and look at it in the browser.",
)
@options.shared(
    click.argument("source", type=click.Path(), metavar="SPEC.yaml"),
    click.option("-o", "--output", metavar="FILE", help="Page to write. Default: SPEC's name with .html, here."),
    click.option("--tend", type=float, metavar="T", help="End time instead of the file's."),
    options.SET,
    options.TABLES,
    options.BRANCH,
    click.option("--no-browser", is_flag=True, help="Write the page, but do not open it."),
    options.DEBUG,
)
def open_(
    source: str,
    output: str | None,
    tend: float | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    branch: int | None,
    no_browser: bool,
    debug: bool,
) -> None:
    """Simulate the mechanism of SPEC.yaml and open its interactive page: film, plots, everything in one HTML file.

    Results that "mechsim run" wrote (.csv, .npz, .parquet) can be opened too; and a sweep, as a page with sliders that
    pick the case.
    """
    from mechsim.errors import printable
    from mechsim.render.source import is_sweep
    from mechsim.render.target import check_film_target
    from mechsim.result.paths import named_after, refuse_sources

    target = output if output is not None else named_after(source, ".html", MARK, MARK_WITHIN)
    if not target.lower().endswith((".html", ".htm")):
        raise click.UsageError(f"-o {target}: a page is a file that ends in .html.")
    refuse_sources(check_film_target(target), [source])
    stopped = None
    if is_sweep(source):
        _refuse(tend is not None or bool(parameters) or bool(folders) or branch is not None)
        write_sweep_page(source, target)
    else:
        motion, stopped = _motion(source, tend, parameters, folders, branch)
        _write(motion, target)
    click.echo(f"{printable(target)}: {Path(target).stat().st_size / 1e6:.2f} MB")
    if not no_browser:
        _show(Path(target))
    if stopped is not None:
        from mechsim.errors import IntegrationError

        raise IntegrationError(replace(stopped, hint=f"what there is of the motion is in {target}"))


open = open_  # a command stands in its module under its own name


def _refuse(given: bool) -> None:
    if given:
        raise click.UsageError(
            "--tend, --set, --tables-from and --branch are for a mechanism file; results are shown as they are."
        )


def _motion(
    source: str, tend: float | None, parameters: dict[str, str], folders: tuple[str, ...], branch: int | None
) -> tuple[Trajectory | Motion, Fault | None]:
    """What to show, and why it is not the whole motion if the integration stopped."""
    if source.lower().endswith(RESULTS):
        from mechsim.render.source import results

        _refuse(tend is not None or bool(parameters) or bool(folders) or branch is not None)
        return results(source), None
    from mechsim import simulation
    from mechsim.cli.progress import Progress
    from mechsim.errors import IntegrationError
    from mechsim.result import Motion

    problem = simulation.adjust(simulation.read(source, parameters, folders), tend=tend, branch=branch)
    prepared = simulation.prepare(problem)
    with Progress(float(problem.problem.t0), float(problem.problem.tend), quiet=False) as progress:
        solution = simulation.follow(prepared, observer=progress)
    if solution.status == "interrupted":
        raise KeyboardInterrupt
    stopped = None if solution.status == "finished" else simulation.failure(solution)
    if stopped is not None and not len(solution.t):
        raise IntegrationError(stopped)  # there is nothing to show
    return Motion(solution, prepared.facts), stopped


def _write(motion: Trajectory | Motion, target: str) -> None:
    from mechsim.cli import errors
    from mechsim.render.film import animate
    from mechsim.render.options import Options

    film = animate(motion, target, Options())
    for text in film.frames.notes:
        errors.note(text)


def _show(page: Path) -> None:
    """Open the page, or say that the user has to: a machine without a screen may still have a text browser."""
    import webbrowser

    from mechsim.cli import errors

    screen = not sys.platform.startswith("linux") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not screen or not webbrowser.open(page.resolve().as_uri()):
        errors.note("no browser to open it in was found; open the file yourself")
