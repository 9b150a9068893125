"""`mechsim conserved`: which momenta and energies the model keeps, by what others change, and what the motion shows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, interrupts, options, tables

if TYPE_CHECKING:
    from mechsim.analysis.invariants import Invariant, Invariants

ROUNDED = 1e-14  # of its size: a value below is zero
MOST_NAMED = 3  # of what changes a quantity
RATES = {"J": "W", "kg m/s": "N", "kg m^2/s": "N m"}  # units of rates


@click.command(
    epilog="\b\nExamples:\n  mechsim conserved specs/space/heavy_top.yaml\n"
    '  mechsim conserved spec.yaml --generator "screw: [-y, x, 0.1]" -o momenta.csv --plot momenta.png\n'
    '  mechsim conserved spec.yaml --generator "A: [-A.y, A.x]" --quantity "h=A.x*A.vy - A.y*A.vx"\n\n'
    "docs/analysis.md tells what is tested, and how.",
    short_help="Which momenta and energies the model keeps, and what breaks the others.",
)
@options.shared(
    options.SPEC,
    click.option("--tend", type=float, metavar="T", help="End time of the motion instead of the file's."),
    click.option("--tol", type=float, metavar="TOL", help="Error tolerance per step instead of the file's."),
    click.option(
        "--generator",
        "generators",
        multiple=True,
        metavar="TEXT",
        help='A motion whose momentum is looked at: "NAME: [-y, x]" of all points, or "A: [-A.y, A.x]" of some.',
    ),
    click.option(
        "--quantity",
        "quantities",
        multiple=True,
        callback=options.assignments,
        metavar="NAME=EXPR",
        help="An expression of the state: is it conserved?",
    ),
    options.T0,
    options.SET,
    options.TABLES,
    options.BRANCH,
    click.option("-o", "--output", metavar="FILE", help="Write the quantities along the motion: .csv or .npz."),
    click.option("--plot", "picture", metavar="FILE", help="Draw them: .png, .svg or .pdf."),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors and warnings."),
    options.JSON,
    options.DEBUG,
)
def conserved(
    spec: str,
    tend: float | None,
    tol: float | None,
    generators: Sequence[str],
    quantities: dict[str, str],
    t0: float | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    branch: int | None,
    output: str | None,
    picture: str | None,
    quiet: bool,
    as_json: bool,
    debug: bool,
) -> None:
    """Tell which quantities the model of SPEC.yaml conserves, by Noether's theorem: the energy, momenta, angular
    momenta, and sums of these (about any point, along a screw, the energy in a frame that turns); by which forces,
    joints and drives the others change; and how well the motion keeps what is conserved."""
    from mechsim import simulation
    from mechsim.analysis.conserved import conserved as find
    from mechsim.analysis.invariants import check_table
    from mechsim.cli.progress import Progress
    from mechsim.handle.symmetries import Questions, not_met
    from mechsim.result.paths import refuse_sources, sources
    from mechsim.spec.asked import read_generator

    targets = [check_table(output)] if output is not None else []
    targets += [_check_picture(picture)] if picture is not None else []
    given = {name: each for text in generators for name, each in read_generator(text).items()}
    read = simulation.read(spec, parameters, folders)
    questions = Questions.of(read, given, quantities)
    asked = simulation.adjust(questions.told_by(read), tol=tol, t0=t0, tend=tend, branch=branch)
    for target in targets:
        refuse_sources(target, sources(spec, asked.files))
    with interrupts.at_once():
        prepared = simulation.prepare(asked)
    times = float(asked.problem.t0), float(asked.problem.tend)
    with Progress(*times, quiet=quiet or as_json) as progress:
        solution = simulation.follow(prepared, observer=lambda points: progress.show(float(points.t[-1])))
    if solution.status == "interrupted":
        raise KeyboardInterrupt
    if solution.status != "finished":
        raise simulation.IntegrationError(simulation.failure(solution))
    with interrupts.at_once():
        mechanism, beyond = prepared.mechanism, not_met(asked, solution.t)
        found = find(solution, questions.asked(mechanism), questions.watched(mechanism), remarks=beyond)
    title = asked.title or asked.path
    if output is not None:
        found.save(output)
    if picture is not None:
        from mechsim.render.conserved import plot_conserved

        plot_conserved(title, found, targets[-1])
    if as_json:
        click.echo(json.dumps({"title": asked.title, **found.as_dict()}))
        return
    _show(title, found, [path for path in (output, picture) if path is not None], quiet)


def _check_picture(path: str) -> Path:
    from mechsim.render.paper import FORMS
    from mechsim.render.target import check_film_target

    return check_film_target(path, FORMS)


def _show(title: str, found: Invariants, written: list[str], quiet: bool) -> None:
    for doubt in found.doubts:
        errors.warn(doubt)
    if quiet:
        return
    for remark in found.remarks:
        errors.note(remark)
    tables.heading(title)
    rows = [_row(each) for each in found.quantities]
    tables.table(["quantity", "at the start", "conserved", "in this motion", "changed by"], rows, right=(1,))
    plain = {"E", "p_x", "p_y", "p_z", "L", "L_x", "L_y", "L_z", "H"}
    facts = [(each.name, each.words) for each in found.quantities if each.name not in plain]
    facts.append(("tested", f"at {found.tested} states beside the motion; angular momenta are about the origin"))
    run = f"t = {found.t[0]:g} to {found.t[-1]:g}, {found.steps} steps, tolerance {found.tolerance:g}"
    tables.facts([*facts, ("motion", run), *(("file", path) for path in written)])


def _row(each: Invariant) -> list[str]:
    start = each.values[0] if abs(each.values[0]) > ROUNDED * each.size else 0.0
    value = f"{start + 0.0:.8g} {each.unit}".strip()
    if each.always_zero:
        return [each.name, value, "yes", "always zero", ""]
    return [each.name, value, "yes" if each.conserved else "no", _motion(each), _changed_by(each)]


def _motion(each: Invariant) -> str:
    if each.conserved:
        return f"kept to {each.kept:.1e}"
    words = "did not change" if each.stood_still else f"up to {each.rate:.4g} {RATES.get(each.unit, 'per second')}"
    return f"{words}, {each.jumps:.4g} at impacts" if each.jumps > each.size * 1e-12 else words


def _changed_by(each: Invariant) -> str:
    names = sorted(each.broken_by, key=lambda name: -each.broken_by[name])
    more = f", {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
