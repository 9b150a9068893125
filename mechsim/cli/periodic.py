"""`mechsim periodic`: motions that come back to where they began, their stability, and how they change."""

from __future__ import annotations

import cmath
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mechsim.cli import dynamics, interrupts, options, tables

if TYPE_CHECKING:
    from mechsim.analysis.orbit import Orbit

MOST_MULTIPLIERS = 16
WORDS = {
    "stable": "stable: small changes die out",
    "unstable": "unstable: small changes grow",
    "undecided": "not decided by linear terms: nothing grows, and something does not die out",
}


@click.command(
    epilog="\b\nExamples:\n"
    "  mechsim periodic specs/dynamics/van_der_pol.yaml --plot orbit.png\n"
    "  mechsim periodic spec.yaml --period 2*pi/w --from 200 --motion orbit.csv && mechsim animate orbit.csv\n"
    "  mechsim periodic spec.yaml --period 2*pi/w --over F=0.1:1 --branches 2 -o branches.csv --plot branches.png\n\n"
    "docs/dynamics.md tells how motions are found and followed.",
    short_help="Periodic motions, their stability, and how they change with a parameter.",
)
@options.shared(
    options.SPEC,
    dynamics.PERIOD,
    click.option("--multiple", type=click.IntRange(min=1), default=1, metavar="K", help="K periods of it. [1]"),
    dynamics.FROM,
    dynamics.TEND,
    click.option(
        "--hold",
        callback=options.names,
        metavar="NAMES",
        help="Keep energy, period or coordinates of the start, as energy or A_x: chooses one of a family.",
    ),
    click.option("--over", metavar="NAME=FROM:TO", help="Follow it over a parameter, or over energy or period."),
    click.option("--measure", multiple=True, metavar="EXPR", help="With --over: a number of each; may be repeated."),
    dynamics.BRANCHES,
    dynamics.TOL,
    options.T0,
    options.SET,
    options.TABLES,
    options.BRANCH,
    click.option("-o", "--output", metavar="FILE", help="Write what is found: .json, .npz; with --over .csv too."),
    click.option("--motion", metavar="FILE", help="Write the motion of one period, as results: .csv, .npz, .parquet."),
    dynamics.PICTURE,
    dynamics.QUIET,
    options.JSON,
    options.DEBUG,
)
def periodic(
    spec: str,
    period: str | None,
    multiple: int,
    since: float | None,
    tend: float | None,
    hold: Sequence[str] | None,
    over: str | None,
    measure: Sequence[str],
    branches: int,
    tol: float | None,
    t0: float | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    branch: int | None,
    output: str | None,
    motion: str | None,
    picture: str | None,
    quiet: bool,
    as_json: bool,
    debug: bool,
) -> int:
    """Find a periodic motion of SPEC.yaml by Newton's method, from its start or from where it is at a time; its period,
    and by what factors small changes have grown when it comes back (Floquet multipliers). Derivatives are exact.

    With --over it is followed over a parameter, around folds too; folds, period doublings and other branch points are
    located on the way. Ctrl-C ends it with what is found by then."""
    from mechsim import simulation
    from mechsim.analysis.periodic import TOLERANCE, wanted_of
    from mechsim.analysis.periodic import periodic as find

    if over is None and (measure or branches):
        raise click.UsageError("--measure and --branches are for motions that are followed: use --over.")
    if over is not None and motion is not None:
        raise click.UsageError("--motion writes one motion, --over finds many: use one of them.")
    tolerance = TOLERANCE if tol is None else tol
    read = simulation.read(spec, parameters, folders)
    read = simulation.adjust(read, tol=tolerance, t0=t0, tend=tend, branch=branch)
    forms = (".json", ".npz") if over is None else (".csv", ".npz", ".json")
    from mechsim.render.paper import FORMS
    from mechsim.result.paths import ENDINGS

    dynamics.check_paths(spec, read, [(output, forms), (motion, ENDINGS), (picture, FORMS)])
    subject = dynamics.subject_of(read, t0)
    wanted = wanted_of(period, multiple, since, float(read.problem.tend), hold or ())
    shown = dynamics.Shown(read.title or read.path, output, picture, quiet, as_json)
    if over is not None:
        asked = dynamics.Asked(over, measure or None, branches, tolerance)
        return dynamics.follow_and_show(subject, wanted, asked, shown)
    with interrupts.at_once():
        found = find(subject, wanted, tolerance)
    if motion is not None:
        found.motion.save(motion)
    dynamics.tell(found, shown, "orbits.plot_orbit", _show, () if motion is None else (motion,))
    return 0


def _show(found: Orbit) -> None:
    tables.facts(_facts(found))
    values = found.multipliers[:MOST_MULTIPLIERS].tolist()
    rows = [["", "1", "1", "", "", each] for each in found.floquet.trivial]
    rows += [[str(number), *_row(value, found.period)] for number, value in enumerate(values, 1)]
    if len(found.multipliers) > MOST_MULTIPLIERS:
        rows.append(["...", f"{len(found.multipliers) - MOST_MULTIPLIERS} smaller ones", "", "", "", ""])
    columns = ["", "multiplier", "size", "exponent 1/s", "angle / π", ""]
    tables.table(columns, rows, right=range(5))
    kept = [place for place in range(len(found.coordinates)) if place not in found.case.system.accounts]
    rows = [
        [found.coordinates[place], _number(found.positions[place]), _number(found.velocities[place])] for place in kept
    ]
    tables.table(["start", "value", "rate"], rows, right=(1, 2))


def _facts(found: Orbit) -> list[tuple[str, str]]:
    how = f"{found.steps} step{'s' * (found.steps != 1)} of Newton's method"
    how += f", {found.nodes} states" if found.nodes > 1 else ""
    facts = [("period", f"{found.period:.15g} s, {1 / found.period:.8g} Hz{_multiple(found)}")]
    if found.turns:
        facts.append(("turns", ", ".join(f"{name} {turns:+d}" for name, turns in found.turns.items())))
    facts.append(("begins", f"at t = {found.t:g}, with an energy of {found.energy:.9g} J"))
    checked = "" if found.checked is None else f"; a period later to {found.checked:.1e}"
    facts.append(("closed", f"to {found.residual:.1e} of its size{checked} ({how})"))
    return [*facts, ("stability", WORDS[found.stability])]


def _multiple(found: Orbit) -> str:
    return f", {found.multiple} of the forcing" if found.multiple > 1 and not found.autonomous else ""


def _row(value: complex, period: float) -> list[str]:
    size = abs(value)
    exponent = f"{cmath.log(size).real / period:.6g}" if size > 0 else ""
    shown = (
        f"{value.real:.9g}"
        if value.imag == 0
        else f"{value.real:.9g} {'+' if value.imag > 0 else '-'} {abs(value.imag):.9g}i"
    )
    return [shown, f"{size:.9g}", exponent, f"{cmath.phase(value) / cmath.pi:.6g}", ""]


def _number(value: float) -> str:
    return f"{round(float(value), 13) + 0.0:.12g}"
