"""`mechsim basins`: which rest or periodic motion each of many starts goes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mechsim.cli import dynamics, options, tables

if TYPE_CHECKING:
    from mechsim.analysis.basin import Basins

MOST_COORDINATES = 4  # of an attractor that are named


@click.command(
    epilog="\b\nExamples:\n"
    "  mechsim basins specs/dynamics/magnetic_pendulum.yaml --start A_x=-1.5:1.5:200 --start A_y=-1.5:1.5:200 "
    "--plot basins.png\n"
    "  mechsim basins spec.yaml --period 2*pi/w --start A_x=-2:2:300 --start A_x_dot=-2:2:300 -o basins.npz\n\n"
    "docs/dynamics.md tells how attractors are found.",
    short_help="Basins of attraction: where each of many starts goes.",
)
@options.shared(
    options.SPEC,
    dynamics.START,
    click.option("--period", metavar="EXPR", help="Of a forcing, as an expression of parameters: 2*pi/w."),
    click.option("--apart", is_flag=True, help="Rests that differ by whole turns are different ones."),
    click.option("--tend", type=float, metavar="T", help="How far motions are followed. [the file's end]"),
    click.option("--tol", type=float, metavar="TOL", help="Error tolerance per step. [1e-9]"),
    options.T0,
    options.SET,
    options.TABLES,
    options.BRANCH,
    click.option("-o", "--output", metavar="FILE", help="Write which start goes where: .npz, .csv or .json."),
    dynamics.PICTURE,
    dynamics.QUIET,
    options.JSON,
    options.DEBUG,
)
def basins(
    spec: str,
    starts: Sequence[str],
    period: str | None,
    apart: bool,
    tend: float | None,
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
    """Follow motions of SPEC.yaml from a grid of starts until they are near a stable rest or a stable periodic motion,
    which are found on the way, by Newton's method from where motions are. Ctrl-C ends it with what is known by then."""
    from mechsim import simulation
    from mechsim.analysis.basins import TOLERANCE
    from mechsim.analysis.basins import basins as find
    from mechsim.render.paper import FORMS

    tolerance = TOLERANCE if tol is None else tol
    read = simulation.adjust(simulation.read(spec, parameters, folders), tol=tolerance, t0=t0, tend=tend, branch=branch)
    dynamics.check_paths(spec, read, [(output, (".npz", ".csv", ".json")), (picture, FORMS)])
    subject = dynamics.subject_of(read, t0)
    given = dynamics.values_of(subject, starts, "--start")
    dynamics.derive(subject)
    with dynamics.counted("starts", quiet or as_json) as progress:
        found = find(
            subject,
            given,
            float(read.problem.tend),
            period=period,
            apart=apart,
            tolerance=tolerance,
            observer=progress,
        )
    shown = dynamics.Shown(read.title or read.path, output, picture, quiet, as_json)
    dynamics.tell(found, shown, "basins.plot_basins", _show)
    return dynamics.exit_code(found)


def _show(found: Basins) -> None:
    sizes = " by ".join(str(len(values)) for values in found.values)
    tables.facts([("starts", f"{found.labels.size:,}: {sizes} of {', '.join(found.names)}")])
    rows = [
        [str(number), attractor.words, f"{100 * share:.3f} %", _where(found, number)]
        for number, (attractor, share) in enumerate(zip(found.attractors, found.shares, strict=True))
    ]
    others = (("not settled", found.undecided), ("its motion failed", found.failed))
    rows += [["", words, f"{100 * share:.3f} %", ""] for words, share in others if share]
    tables.table(["label", "goes to", "share", "at"], rows, right=(0, 2))


def _where(found: Basins, number: int) -> str:
    values = zip(found.coordinates, found.attractors[number].positions.tolist(), strict=True)
    shown = [f"{name} = {round(value, 9) + 0.0:.6g}" for name, value in values]
    return ", ".join([*shown[:MOST_COORDINATES], *["..."] * (len(shown) > MOST_COORDINATES)])
