"""`mechsim response`: how a driven mechanism answers to the frequency of what drives it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from mechsim.cli import dynamics, options


@click.command(
    epilog="\b\nExamples:\n"
    "  mechsim response specs/dynamics/duffing.yaml --over w=0.5:2.5 --of A_x --plot response.png\n"
    "  mechsim response spec.yaml --over f=1:20 --period 1/f --of theta_OA,A_x -o response.csv\n\n"
    "docs/dynamics.md tells how motions are found and followed.",
    short_help="Frequency response: periodic motions over the frequency of a forcing.",
)
@options.shared(
    options.SPEC,
    click.option("--over", required=True, metavar="NAME=FROM:TO", help="The parameter that is the frequency, rad/s."),
    click.option("--of", "columns", required=True, callback=options.names, metavar="NAMES", help="What answers: A_x."),
    click.option("--period", metavar="EXPR", help="Of the forcing. [2*pi/NAME]"),
    dynamics.FROM,
    dynamics.BRANCHES,
    dynamics.TOL,
    options.T0,
    options.SET,
    options.TABLES,
    options.BRANCH,
    click.option("-o", "--output", metavar="FILE", help="Write all motions: .csv, .npz or .json."),
    dynamics.PICTURE,
    dynamics.QUIET,
    options.JSON,
    options.DEBUG,
)
def response(
    spec: str,
    over: str,
    columns: Sequence[str],
    period: str | None,
    since: float | None,
    branches: int,
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
    """Follow the periodic motion of SPEC.yaml over the frequency of its forcing: stable and unstable ones, and the
    frequencies at which it jumps (folds). Of each column largest and smallest value, amplitude and phase of the first
    harmonic are told: it is about amplitude * cos(2*pi*t/period - phase). Ctrl-C ends it with what is found by then."""
    from mechsim import simulation
    from mechsim.analysis.periodic import TOLERANCE, wanted_of
    from mechsim.analysis.readings import quantity_of
    from mechsim.analysis.response import harmonics, period_of
    from mechsim.render.paper import FORMS

    tolerance = TOLERANCE if tol is None else tol
    read = simulation.adjust(simulation.read(spec, parameters, folders), tol=tolerance, t0=t0, branch=branch)
    dynamics.check_paths(spec, read, [(output, (".csv", ".npz", ".json")), (picture, FORMS)])
    subject = dynamics.subject_of(read, t0)
    forced = period_of(over.partition("=")[0].strip(), period)
    wanted = wanted_of(forced, 1, since, float(read.problem.tend), ())
    for column in columns or ():
        quantity_of(subject, column, "--of")  # what is wrong is told as it was written, not as it is measured
    measures = harmonics(columns or (), forced)
    asked = dynamics.Asked(over, measures, branches, tolerance)
    return dynamics.follow_and_show(
        subject, wanted, asked, dynamics.Shown(read.title or read.path, output, picture, quiet, as_json)
    )
