"""`mechsim animate`: results as a film, a picture or an interactive page."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mechsim.cli import options

if TYPE_CHECKING:
    from mechsim.render.film import Film
    from mechsim.render.options import Options


def names_of(context: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """`A,B` as names; `none` as no name."""
    if value is None:
        return None
    return () if value == "none" else tuple(word.strip() for word in value.split(",") if word.strip())


def _shown(context: click.Context, option: click.Parameter, value: str) -> tuple[str, ...]:
    from mechsim.render.options import SHOWABLE

    names = names_of(context, option, value) or ()
    if unknown := [name for name in names if name not in SHOWABLE]:
        raise click.BadParameter(f"{', '.join(unknown)}: choose from {', '.join(SHOWABLE)}, or none")
    return names


def size_of(context: click.Context, option: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    match = re.fullmatch(r"(\d+)x(\d+)", value.strip().lower())
    if not match:
        raise click.BadParameter(f"{value!r} is not of the form WIDTHxHEIGHT, for example 1920x1080")
    width, height = int(match[1]), int(match[2])
    if not (64 <= width <= 8192 and 64 <= height <= 8192):
        raise click.BadParameter(f"{value} pixels: each side must be from 64 to 8192")
    return width, height


def _speed(context: click.Context, option: click.Parameter, value: str | None) -> float | None:
    """`0.01` or `1/100`."""
    if value is None:
        return None
    try:
        above, _, below = value.partition("/")
        speed = float(above) / float(below or 1)
    except (ValueError, ZeroDivisionError):
        speed = 0.0
    if not 0.0 < speed < float("inf"):
        raise click.BadParameter(f"{value!r} is not a speed, for example 2 or 1/100")
    return speed


@click.command(
    epilog="\b\nExamples:\n  mechsim animate out.csv\n  mechsim animate out.npz -o film.gif --speed 1/100 --trace E\n"
    "  mechsim animate out.csv -o page.html\n  mechsim animate out.csv -o sheet.png --frames 9",
    short_help="Draw the motion: film, picture or interactive page.",
)
@options.shared(
    click.argument("result", type=click.Path(), metavar="RESULT"),
    click.option("-o", "--output", metavar="FILE", help="File to write: .mp4 (default), .gif, .webm, .png or .html."),
    click.option("--fps", type=click.FloatRange(1, 240), help="Frames per second: 30, for a GIF 25."),
    click.option("--speed", callback=_speed, metavar="X", help="Seconds of motion per second of film: 2, 0.01, 1/100."),
    click.option("--size", callback=size_of, metavar="WxH", help="Pixels: 1280x720, for a GIF 640x360."),
    click.option("--from", "start", type=float, metavar="T", help="Time of the motion at which the film starts."),
    click.option("--to", "stop", type=float, metavar="T", help="Time of the motion at which it ends."),
    click.option(
        "--view", metavar="V",
        help="In space: front, top, side, iso, orbit, or azimuth,elevation in degrees. In the plane, flat: the window "
        "X0,X1,Y0,Y1. Solid: azimuth,elevation, or a move such as 0,30:90,30.",
    ),
    click.option("--trace", callback=names_of, metavar="A,B", help="Points that leave a trace; none for no trace."),
    click.option(
        "--show", callback=_shown, default="params,time,events", show_default=True, metavar="WHAT",
        help="What else to show: params,time,energy,forces,reactions,events, or none.",
    ),
    click.option("--theme", type=click.Choice(["light", "dark"]), default="light", show_default=True),
    click.option("--loop/--no-loop", default=None, help="Whether a GIF or a page starts again at its end (it does)."),
    click.option("--renderer", type=click.Choice(["flat", "solid"]), help="How to draw; flat, in space solid."),
    click.option(
        "--frames", type=click.IntRange(1, 100), metavar="N", help="Pictures on the sheet of a PNG (6); 1: one moment.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors."),
    options.DEBUG,
)  # fmt: skip
def animate(
    result: str, output: str | None, fps: float | None, speed: float | None, size: tuple[int, int] | None,
    start: float | None, stop: float | None, view: str | None, trace: tuple[str, ...] | None, show: tuple[str, ...],
    theme: str, loop: bool | None, renderer: str | None, frames: int | None, quiet: bool, debug: bool,
) -> None:  # fmt: skip
    """Draw the motion in RESULT, a file that "mechsim run" wrote (.csv, .npz, .parquet); nothing else is needed.
    A sweep becomes a page with sliders that pick the case.

    Without --speed a motion of some seconds is shown in real time, a shorter one slowed down to ten seconds, a longer
    one sped up. The picture says so. Results in .npz carry their Taylor series, which the film then follows exactly.
    """
    began = time.perf_counter()
    from mechsim.render.options import Options, usual
    from mechsim.render.source import is_sweep
    from mechsim.render.target import check_film_target
    from mechsim.result.paths import named_after, refuse_sources

    swept = is_sweep(result)
    target = output if output is not None else named_after(result, ".html" if swept else ".mp4")
    refuse_sources(check_film_target(target), [result])
    wanted = Options(
        fps=fps or usual(target).fps,
        size=size or usual(target).size,
        speed=speed, start=start, stop=stop, view=view, trace=trace, show=show, theme=theme, loop=loop,
        renderer=renderer, frames=frames,
    )  # fmt: skip
    if swept:
        write_sweep_page(result, target, wanted, quiet)
        if not quiet:
            click.echo(f"{target}: {Path(target).stat().st_size / 1e6:.2f} MB")
        return
    film = _draw(result, target, wanted, quiet)
    if not quiet:
        _report(film, target, time.perf_counter() - began)


def _draw(result: str, target: str, wanted: Options, quiet: bool) -> Film:
    from mechsim.render.film import animate as draw
    from mechsim.render.source import results

    trajectory = results(result)
    with _observed("frame {now:.0f} of {end:.0f}", quiet) as observer:
        return draw(trajectory, target, wanted, observer)


def write_sweep_page(source: str, target: str, wanted: Options | None = None, quiet: bool = False) -> None:
    """Write the page of a sweep, and say what a person should be told."""
    from mechsim.cli import errors
    from mechsim.errors import Fault
    from mechsim.render.options import Options
    from mechsim.render.page.cases import write_sweep
    from mechsim.result.paths import OutputError
    from mechsim.study.table import load_sweep

    if not target.lower().endswith((".html", ".htm")):
        hint = f"-o {Path(target).with_suffix('.html')}; one case as a film: mechsim run with --set, then animate"
        raise OutputError(Fault(f"cannot write {target}: a sweep is shown as a page", hint=hint))
    with _observed("motion {now:.0f} of {end:.0f}", quiet) as observer:
        notes = write_sweep(load_sweep(source), target, wanted or Options(), observer)
    for text in () if quiet else notes:
        errors.note(text)


@contextmanager
def _observed(words: str, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Who tells how many are done, on a terminal as a bar."""
    from mechsim.cli.progress import Progress

    with Progress(0, 0, quiet=quiet, words=words) as bar:

        def observer(done: int, total: int) -> None:
            bar.tend = total
            bar.show(done)

        yield observer


def _report(film: Film, target: str, seconds: float) -> None:
    from mechsim.cli import errors
    from mechsim.errors import printable
    from mechsim.render.options import speed_text

    for text in film.frames.notes:
        errors.note(text)
    chosen, count = film.options, len(film.frames)
    kind = Path(target).suffix.lower()
    if kind in (".mp4", ".webm") and chosen.loop:
        errors.note(f"a {kind[1:].upper()} film starts again only if its player does so")
    length = (
        f"{count / chosen.fps:.3g} s, {count} frames at {chosen.fps:g} per second, {speed_text(chosen.speed or 1.0)}"
    )
    said = f"{count} picture{'s' * (count > 1)}" if kind == ".png" else length
    click.echo(f"{printable(target)}: {said}, {Path(target).stat().st_size / 1e6:.2f} MB, made in {seconds:.1f} s")
