"""What commands about periodic motions, sections and basins share: options, subjects, tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import click

from mechsim.cli import errors, interrupts, tables
from mechsim.frozen import frozen

if TYPE_CHECKING:
    from mechsim.analysis.branch import Branch, Branches, Marked
    from mechsim.analysis.following import Over
    from mechsim.analysis.measured import Texts
    from mechsim.analysis.periodic import Wanted
    from mechsim.handle.subject import FileSubject
    from mechsim.result.layout import Array
    from mechsim.spec.document import MechSpec

TOL = click.option("--tol", type=float, metavar="TOL", help="Error tolerance per step. [1e-12]")
PERIOD = click.option(
    "--period",
    metavar="EXPR",
    help="Of the forcing, as an expression of parameters: 2*pi/w. Without a forcing: a guess.",
)
FROM = click.option(
    "--from", "since", type=float, metavar="T", help="Guess the state at this time of the motion, not its start."
)
TEND = click.option("--tend", type=float, metavar="T", help="Look for a return until then. [the file's end]")
PICTURE = click.option("--plot", "picture", metavar="FILE", help="Draw it: .png, .svg or .pdf.")
QUIET = click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors and warnings.")
BRANCHES = click.option(
    "--branches",
    type=click.IntRange(min=0),
    default=0,
    metavar="K",
    help="Follow branches that leave others too, K times over. [0]",
)
START = click.option(
    "--start",
    "starts",
    multiple=True,
    metavar="NAME=VALUES",
    help="Starts with these values of a coordinate or rate, as A_x=-1:1:200; may be repeated.",
)


def values_of(subject: FileSubject, texts: Sequence[str], option: str) -> dict[str, Array]:
    """`NAME=VALUES`, repeated: grids and lists, as for sweeps."""
    from mechsim.errors import Mark
    from mechsim.study.vary import varied

    found: dict[str, Array] = {}
    for text in texts:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not name or not values:
            message = f"{text!r} is not of the form NAME=VALUES, for example k=500:1500:21"
            raise click.BadParameter(message, param_hint=option)
        if name in found:
            raise click.BadParameter(f"{name} is given twice", param_hint=option)
        read = varied(name, values, Mark(option, 1, len(name) + 2), subject.parameters)
        if read.values is None:
            message = f"{text!r} draws from a distribution: give a grid or a list, for example {name}=0:1:21"
            raise click.BadParameter(message, param_hint=option)
        found[name] = read.values
    return found


@contextmanager
def counted(words: str, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A progress bar for what is counted."""
    from mechsim.cli.progress import Progress

    with Progress(0.0, 1.0, quiet=quiet, words=words) as progress:
        yield lambda found, of: progress.show(found / max(of, 1))


def check_paths(spec: str, read: MechSpec, outputs: Sequence[tuple[str | None, Sequence[str]]]) -> list[Path | None]:
    """The paths that files of these endings can be written to; raises before anything is computed."""
    from mechsim.result.paths import check_target, sources

    own = sources(spec, read.files)
    return [None if path is None else check_target(path, own, endings) for path, endings in outputs]


def subject_of(read: MechSpec, t0: float | None) -> FileSubject:
    from mechsim.handle import MechanismHandle
    from mechsim.handle.subject import FileSubject

    return FileSubject(MechanismHandle(read), t0)


def over_of(subject: FileSubject, text: str) -> Over:
    """`NAME=FROM:TO`, each an expression of the file's parameters."""
    from mechsim.analysis.following import Over
    from mechsim.analysis.formula import value_of

    name, equals, values = text.partition("=")
    ends = values.split(":")
    if not equals or not name.strip() or len(ends) != 2 or not all(each.strip() for each in ends):
        raise click.BadParameter(f"{text!r} is not of the form NAME=FROM:TO, for example w=0.5:3", param_hint="--over")
    first, last = (value_of(each, subject.parameters, "--over") for each in ends)
    return Over(name.strip(), first, last)


@frozen
class Asked:
    """What motions are followed over, and what is told of each."""

    over: str
    measures: Texts | None
    branches: int
    tolerance: float


@frozen
class Shown:
    """Where what is found goes."""

    title: str
    output: str | None
    picture: str | None
    quiet: bool
    as_json: bool


def follow_and_show(subject: FileSubject, wanted: Wanted, asked: Asked, shown: Shown) -> int:
    """Follow periodic motions, write and tell what is found; the exit code."""
    from mechsim.analysis.following import follow
    from mechsim.cli.progress import Progress

    over = over_of(subject, asked.over)
    derive(subject)
    quiet, words = shown.quiet or shown.as_json, over.name + " = {now:.4g}"
    with Progress(over.first, over.last, quiet=quiet, words=words) as progress:
        found = follow(subject, wanted, over, asked.measures, asked.branches, asked.tolerance, progress.show)
    tell(found, shown, "orbits.plot_branches", _show_branches)
    return exit_code(found)


def derive(subject: FileSubject) -> None:
    """Run JAX, if it has to be run, where Ctrl-C may end everything; later it ends what is being found."""
    with interrupts.at_once():
        subject.case({})


class Ended(Protocol):
    """What may be interrupted."""

    @property
    def status(self) -> str: ...


def exit_code(found: Ended) -> int:
    return 0 if found.status == "finished" else interrupts.INTERRUPTED


class Finding(Protocol):
    """What analyses give."""

    @property
    def notes(self) -> tuple[str, ...]: ...
    def as_dict(self) -> dict[str, object]: ...
    def save(self, path: str) -> None: ...


Found = TypeVar("Found", bound=Finding)


def tell(found: Found, shown: Shown, plot: str, show: Callable[[Found], None], further: Sequence[str] = ()) -> None:
    """Write what was found, draw it by a function of `render`, and print it: its notes, what `show` prints, and the
    files that were written, `further` ones among them."""
    if shown.output is not None:
        found.save(shown.output)
    if shown.picture is not None:
        module, _, function = plot.partition(".")
        getattr(import_module(f"mechsim.render.{module}"), function)(shown.title, found, shown.picture)
    if shown.as_json:
        click.echo(json.dumps({"title": shown.title, **found.as_dict()}))
        return
    for note in found.notes:
        errors.note(note)
    if shown.quiet:
        return
    tables.heading(shown.title)
    show(found)
    written = [path for path in (shown.output, *further, shown.picture) if path is not None]
    tables.facts([("written", path) for path in written])


def _show_branches(found: Branches) -> None:
    """What happens on branches, and where they go."""
    rows = [[str(number + 1), mark.kind, *_row(mark)] for number, mark in found.marks]
    if rows:
        tables.table(
            ["branch", "", found.name, "period / s", *found.labels], rows, right=range(2, 4 + len(found.labels))
        )
    facts = [(f"branch {number + 1}", _told(found, number)) for number in range(len(found.branches))]
    tables.facts(facts)
    spans = [row for number, branch in enumerate(found.branches) for row in _spans(found.labels, number, branch)]
    if spans:
        heads = ["branch", "of its motions", "least", f"at {found.name}", "largest", f"at {found.name}"]
        tables.table(heads, spans, right=range(2, 6))


def _spans(labels: Sequence[str], number: int, branch: Branch) -> Iterator[list[str]]:
    """Between which values measures are on a branch, and where it has these."""
    import numpy as np

    values = branch.column("value")
    for place, label in enumerate(labels):
        column = branch.measures[:, place]
        if np.isnan(column).all():
            continue
        ends = [int(find(column)) for find in (np.nanargmin, np.nanargmax)]
        yield [str(number + 1), label, *(f"{each:.6g}" for k in ends for each in (column[k], values[k]))]


def _row(mark: Marked) -> list[str]:
    return [f"{mark.sample.value:.10g}", f"{mark.sample.period:.8g}", *(f"{each:.6g}" for each in mark.sample.measures)]


def _told(found: Branches, number: int) -> str:
    branch = found.branches[number]
    values = branch.column("value")
    shares = [branch.stability.count(kind) for kind in ("stable", "unstable")]
    stable = "stable" if shares[0] == len(values) else "unstable" if shares[1] == len(values) else ""
    words = f"{len(values)} motions, {found.name} = {values[0]:.6g} to {values[-1]:.6g}"
    words += f", {stable}" if stable else f", {shares[0]} of them stable" if shares[0] else ""
    if branch.left is not None:
        parent, mark = branch.left
        words += f"; it leaves branch {parent + 1} at the {mark.kind}, {found.name} = {mark.sample.value:.6g}"
    return words
