"""`mechsim run`: from a mechanism file to a file of its motion, with a certificate."""

from __future__ import annotations

import time

import click

from mechsim.cli import options


@click.command(
    epilog="\b\nExamples:\n  mechsim run specs/andrews.yaml -o out.csv\n"
    "  mechsim run specs/andrews.yaml --set mom=0.04 --samples 1000 --verify",
    short_help="Simulate a mechanism and write its motion.",
)
@options.shared(
    options.SPEC,
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="File to write: .csv, .npz or .parquet; - for standard output. Default: SPEC's name with .csv, here.",
    ),
    click.option("--tol", type=float, metavar="TOL", help="Error tolerance per step, for example 1e-14."),
    click.option("--order", type=int, metavar="P", help="Order of the Taylor series; chosen from the tolerance."),
    options.T0,
    click.option("--tend", type=float, metavar="T", help="End time instead of the file's."),
    options.SET,
    options.TABLES,
    options.BRANCH,
    click.option("--samples", type=click.IntRange(min=2), metavar="N", help="Write N equally spaced rows."),
    click.option(
        "--dt",
        type=click.FloatRange(min=0, min_open=True),
        metavar="X",
        help="Write a row every X of time, from the start on. Default: the rows of the steps taken.",
    ),
    click.option(
        "--reactions",
        callback=options.names,
        metavar="POINTS",
        help="Write the forces on the parts at these joints, for example A,C, or all.",
    ),
    click.option(
        "--accelerations",
        callback=options.names,
        metavar="NAMES",
        help="Write the accelerations of these points and turn angles, for example A,theta_OA, or all.",
    ),
    click.option(
        "--jerks",
        callback=options.names,
        metavar="NAMES",
        help="Write the jerk, the rate of acceleration, of these points and turn angles.",
    ),
    click.option("--verify", is_flag=True, help="Run again at another tolerance and count the digits that agree."),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors and warnings."),
    options.JSON,
    options.DEBUG,
)
def run(
    spec: str,
    output: str | None,
    tol: float | None,
    order: int | None,
    t0: float | None,
    tend: float | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    branch: int | None,
    samples: int | None,
    dt: float | None,
    reactions: tuple[str, ...] | None,
    accelerations: tuple[str, ...] | None,
    jerks: tuple[str, ...] | None,
    verify: bool,
    quiet: bool,
    as_json: bool,
    debug: bool,
) -> int:
    """Simulate the mechanism of SPEC.yaml and write its motion.

    Rows go to FILE.partial.csv while the run lasts and become FILE when it is complete, so an older FILE stays
    until then. The summary at the end says how well energy and constraints were kept.
    """
    began = time.perf_counter()
    if samples is not None and dt is not None:
        raise click.UsageError("--samples and --dt exclude each other.")
    if output == "-" and as_json:
        raise click.UsageError("--json and -o - both want standard output.")
    from mechsim import simulation
    from mechsim.cli.simulate import Request, carry_out
    from mechsim.result.paths import SIGNATURE, named_after

    problem = simulation.adjust(
        simulation.read(spec, parameters, folders), tol=tol, order=order, t0=t0, tend=tend, branch=branch
    )
    target = output if output is not None else named_after(spec, ".csv", SIGNATURE, len(SIGNATURE))
    problem = simulation.asking(problem, accelerations, jerks)
    return carry_out(problem, Request(target, samples, dt, reactions, verify, quiet, as_json, began))
