"""`mechsim optimize`: parameters, starts and inputs chosen so that a measure of the motion is least."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, interrupts, options, tables

if TYPE_CHECKING:
    from mechsim.design.optimum import Chosen, Optimum
    from mechsim.design.standing import Iteration

NOT_FOUND = 4  # no optimum: as where a motion cannot be followed
AXES = ("x", "y", "z")
SHOWN = 11  # times of an input over intervals


@click.command(
    epilog="\b\nExamples:\n"
    '  mechsim optimize spec.yaml --vary l=0.5:2 --vary k=10:100 --minimise "max(A_y)" --subject "final(A_x) = 0"\n'
    "  mechsim optimize spec.yaml --vary c=0:1 --fit measured.csv -o fitted.yaml --plot fit.png\n"
    '  mechsim optimize arm.yaml --vary tau=-5:5:40 --minimise "integral(tau**2)" --subject "final(theta_OA) = pi"\n\n'
    "docs/optimization.md tells of goals, relations, fits and optimal control.",
    short_help="Choose parameters or inputs so that a measure of the motion is least.",
)
@options.shared(
    options.SPEC,
    click.option(
        "--vary",
        multiple=True,
        metavar="NAME=LEAST:MOST",
        help="What is chosen: a PhysicalParam, tend, or an input, over intervals: u=-5:5:20; may be repeated.",
    ),
    click.option("--minimise", "--minimize", metavar="EXPR", help='The measure that is to be least: "max(A_y)".'),
    click.option("--squares", multiple=True, metavar="EXPR", help="Measures whose squares are to be least; repeated."),
    click.option("--fit", metavar="FILE.csv", help="Measured columns to come near, by least squares."),
    click.option(
        "--through", multiple=True, metavar="POINT=FILE.csv", help="Places that a point is to come near, a row each."
    ),
    click.option("--subject", multiple=True, metavar="RELATION", help='"max(A_y) <= 1", "periodic"; may be repeated.'),
    click.option("--iterations", type=click.IntRange(min=1), metavar="N", help="At most so many. [500]"),
    click.option("--tol", type=float, metavar="TOL", help="Error tolerance per step of the motions."),
    options.T0,
    click.option("--tend", type=float, metavar="T", help="End time instead of the file's."),
    options.SET,
    options.TABLES,
    click.option("-o", "--output", metavar="FILE", help="Write .json, or .yaml: SPEC with what was chosen."),
    click.option("--resume", is_flag=True, help="Go on from what is best so far in FILE."),
    click.option("--plot", "picture", metavar="FILE", help="Draw the search, before and after: .png, .svg or .pdf."),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors and warnings."),
    options.JSON,
    options.DEBUG,
)
def optimize(
    spec: str,
    vary: Sequence[str],
    minimise: str | None,
    squares: Sequence[str],
    fit: str | None,
    through: Sequence[str],
    subject: Sequence[str],
    iterations: int | None,
    tol: float | None,
    t0: float | None,
    tend: float | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    output: str | None,
    resume: bool,
    picture: str | None,
    quiet: bool,
    as_json: bool,
    debug: bool,
) -> int:
    """Choose parameters, the end, or inputs of the mechanism of SPEC.yaml so that a measure of its motion is least, and
    others hold.

    Derivatives are exact; IPOPT searches with them. What is not said here is as the Optimize section of SPEC.yaml says.
    FILE has what is best so far while the search lasts; Ctrl-C ends it there.
    """
    from mechsim.design.course import Settings
    from mechsim.design.optimum import FORMS
    from mechsim.design.sensitivities import check_file
    from mechsim.handle import mechanism
    from mechsim.handle.optimizing import Given, optimize_file
    from mechsim.handle.subject import FileSubject
    from mechsim.render import paper
    from mechsim.render.target import check_film_target
    from mechsim.result.paths import refuse_sources, sources
    from mechsim.simulation import adjust

    given, marks = options.assigned(vary, "--vary", "NAME=LEAST:MOST", "l=0.5:2")
    handle = mechanism(spec, parameters, tables_from=folders)
    adjust(handle.spec, tol=tol, t0=t0, tend=tend)
    targets = [check_file(output, FORMS)] if output is not None else []
    targets += [check_film_target(picture, paper.FORMS)] if picture is not None else []
    for target in targets:
        refuse_sources(target, sources(spec, handle.spec.files))
    with interrupts.at_once():
        handle.start()  # what JAX derives is derived before signals are kept back
    wanted = Given(given, minimise, tuple(squares), _places(through), fit, tuple(subject), marks)
    with _Progress(quiet=quiet or as_json) as progress:
        found = optimize_file(
            FileSubject(handle, t0, strict=True),
            wanted,
            Settings(tend, tol),
            iterations=iterations,
            output=output,
            resume=resume,
            observer=progress,
            saved=False,
        )
    title = handle.spec.title or handle.spec.path
    if as_json:
        click.echo(json.dumps({"title": handle.spec.title, **found.as_dict()}))
    else:
        _show(title, found, [path for path in (output, picture) if path is not None], quiet)
    if output is not None:  # last: what was found is told even where it cannot be written
        found.save(output)
    if picture is not None:
        from mechsim.render.optimum import plot_optimum

        plot_optimum(title, found, Path(picture))
    if found.found:
        return 0
    return interrupts.INTERRUPTED if found.status == "interrupted" else NOT_FOUND


def _places(given: Sequence[str]) -> dict[str, list[list[float]]] | None:
    """`P=places.csv`, repeated."""
    if not given:
        return None
    files, _ = options.assigned(given, "--through", "POINT=FILE.csv", "P=places.csv")
    return {point: _places_in(path.strip()) for point, path in files.items()}


def _places_in(path: str) -> list[list[float]]:
    """In the order x, y, z, whatever that of the columns is."""
    from mechsim.errors import Fault, Mark, SpecError
    from mechsim.result.given import read_numbers

    def refused(title: str) -> tuple[str, str] | None:
        return None if title in AXES else (f"the title {title!r} is none of x, y, z", "")

    nothing = "there are no places", "the first line is x,y; each further line is a place"
    titles, table = read_numbers(path, refused, nothing)
    if set(titles) != set(AXES[: len(titles)]):
        given = " and ".join(titles)
        raise SpecError(Fault(f"the places have {given} only", Mark(path, 1, 1), "the first line is x,y or x,y,z"))
    places: list[list[float]] = table[:, [titles.index(axis) for axis in AXES[: len(titles)]]].tolist()
    return places


class _Progress:
    """A line on standard error that tells how the search goes, for those who watch."""

    def __init__(self, *, quiet: bool):
        self.enabled = not quiet and sys.stderr.isatty()
        self.width = 0

    def __enter__(self) -> _Progress:
        return self

    def __call__(self, iteration: Iteration) -> None:
        if self.enabled:
            missed = f", missed by {iteration.missed:.2g}" if iteration.missed > 0 else ""
            self._write(f"iteration {iteration.number}: {iteration.goal:.8g}{missed}")

    def __exit__(self, *_: object) -> None:
        if self.width:
            self._write("")
            sys.stderr.write("\r")

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = max(self.width, len(text))


def _show(title: str, found: Optimum, written: list[str], quiet: bool) -> None:
    for note in found.notes:
        errors.note(note)
    if found.message:
        (errors.note if found.status == "interrupted" else errors.warn)(found.message)
    if quiet:
        return
    tables.heading(title)
    courses = tuple(f"{each.name}[" for each in found.inputs)
    chosen = [each for each in found.chosen if not each.name.startswith(courses)] if courses else list(found.chosen)
    fitted = any(each.error is not None for each in chosen)
    if chosen:
        names = ["", "before", "after", *(["± error"] if fitted else []), "bounds", "held"]
        tables.table(names, [_row(each, fitted) for each in chosen], right=(1, 2, 3) if fitted else (1, 2))
    if found.inputs:
        _show_inputs(found)
    if found.held:
        held = [[each.text, f"{each.value:.6g}", _size(each.missed, 2), _size(each.price, 5)] for each in found.held]
        tables.table(["must hold", "difference", "missed by", "price"], held, right=(1, 2, 3))
    tables.facts(_facts(found, written))


def _show_inputs(found: Optimum) -> None:
    """Inputs over time, some of their values, and those that the Hamiltonian says there."""
    told, first = found.hamiltonian, found.inputs[0]
    times = first.times[:: max(first.degree, 1)]
    rows = []
    for k in sorted({round(share * (len(times) - 1) / (SHOWN - 1)) for share in range(SHOWN)}):
        row = [f"{times[k]:.6g}", *(f"{each.begins[k]:.7g}" if k < len(each.begins) else "" for each in found.inputs)]
        if told is not None:
            known = k < len(told.times)
            row += [f"{value:.7g}" for value in told.controls[k]] if known else [""] * len(told.names)
            row.append(f"{told.values[k]:.7g}" if known else "")
        rows.append(row)
    names = [each.name for each in found.inputs]
    by = [f"{name} by H" for name in told.names] + ["H"] if told is not None else []
    tables.table(["t", *names, *by], rows, right=range(len(rows[0])))


def _row(chosen: Chosen, fitted: bool) -> list[str]:
    error = [_error(chosen.error)] if fitted else []
    held = f"at its {chosen.held}{f', price {chosen.price:.4g}' if chosen.price else ''}" if chosen.held else ""
    sides = ["" if math.isinf(side) else f"{side:g}" for side in (chosen.least, chosen.most)]
    bounds = f"{sides[0]}:{sides[1]}" if any(sides) else ""
    return [chosen.name, f"{chosen.before:.7g}", f"{chosen.after:.10g}", *error, bounds, held]


def _error(error: float | None) -> str:
    return "" if error is None else "not told" if math.isinf(error) else f"{error:.2g}"


def _size(value: float, digits: int) -> str:
    """What is next to nothing is not shown."""
    return f"{value:.{digits}g}" if abs(value) > 1e-12 else ""


def _facts(found: Optimum, written: list[str]) -> list[tuple[str, str]]:
    facts = [("least", f"{found.label}: {found.before:.9g} → {found.goal:.9g}")]
    if found.quality is not None:
        left = ", ".join(f"{name} {size:.3g}" for name, size in found.quality.left.items())
        facts.append(("left over", f"root mean square: {left}, of {found.quality.rows} rows"))
    if (told := found.hamiltonian) is not None:
        constant = "constant to" if told.autonomous else "between"
        facts.append(("Hamiltonian", f"{told.mean:.8g}, {constant} ± {told.spread:.2g}, at {len(told.times)} times"))
    facts.append((found.status, f"{len(found.history)} iterations, {found.evaluations} motions, {found.seconds:.2g} s"))
    return [*facts, *(("written", path) for path in written)]
