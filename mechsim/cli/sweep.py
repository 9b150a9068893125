"""`mechsim sweep`: many runs of one mechanism, measured, into one table."""

from __future__ import annotations

import time
from collections.abc import Sequence

import click

from mechsim.cli import options


@click.command(
    epilog="\b\nExamples:\n"
    '  mechsim sweep spec.yaml --vary k=500:1500:21 --vary m=log:0.1:10:9 --measure "max(A_y)"\n'
    "  mechsim sweep spec.yaml --vary L=normal:1:0.001 --latin 1000 --seed 7 --measure final -o out.parquet\n\n"
    "\b\nValues:\n"
    "  500:1500:21     21 values, equally spaced, both ends included\n"
    "  log:0.1:10:9    9 values, each the same multiple of the one before\n"
    "  1,2,5           these values\n"
    "  normal:1:0.001  draws: normal:MEAN:DEVIATION, lognormal:MEDIAN:DEVIATION,\n"
    "                  uniform:LEAST:MOST, triangular:LEAST:LIKELIEST:MOST\n\n"
    "docs/studies.md tells of measures, of what the file holds, and of clusters.",
    short_help="Run a mechanism with many parameters and measure each motion.",
)
@options.shared(
    options.SPEC,
    click.option("--vary", multiple=True, metavar="NAME=VALUES", help="Values of a PhysicalParam; may be repeated."),
    click.option("--measure", multiple=True, metavar="EXPR", help='For example "max(A_y)"; may be repeated. [final]'),
    click.option("--cases", metavar="FILE.csv", help="A row for each case, under names of parameters."),
    click.option("--draws", type=click.IntRange(min=1), metavar="N", help="Draw N times from distributions."),
    click.option("--latin", type=click.IntRange(min=1), metavar="N", help="The same as a Latin hypercube."),
    click.option("--seed", type=click.IntRange(0, 2**63 - 1), metavar="S", help="Of the draws. [0]"),
    click.option(
        "-o", "--output", metavar="FILE", help="File to write: .parquet or .csv. Default: SPEC's name with .parquet."
    ),
    click.option("--resume", is_flag=True, help="Go on with a sweep that was ended; what is finished is kept."),
    click.option("--restart", is_flag=True, help="Begin anew, though finished cases of an ended sweep are there."),
    click.option("--processes", type=click.IntRange(min=1), metavar="N", help="How many run cases. [all cores]"),
    click.option("--scheduler", metavar="ADDRESS", help="Run on a Dask cluster: tcp://host:port, or local."),
    click.option("--motions", metavar="FOLDER", help="Write whole motions too: FOLDER/case_12.npz."),
    click.option("--tol", type=float, metavar="TOL", help="Error tolerance per step, for example 1e-9."),
    click.option("--order", type=int, metavar="P", help="Order of the Taylor series; chosen from the tolerance."),
    options.T0,
    click.option("--tend", type=float, metavar="T", help="End time instead of the file's."),
    options.SET,
    options.TABLES,
    click.option("--show-workers", is_flag=True, help="A line for each worker while the sweep lasts."),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors and warnings."),
    options.JSON,
    options.DEBUG,
)
def sweep(
    spec: str,
    vary: Sequence[str],
    measure: Sequence[str],
    cases: str | None,
    draws: int | None,
    latin: int | None,
    seed: int | None,
    output: str | None,
    resume: bool,
    restart: bool,
    processes: int | None,
    scheduler: str | None,
    motions: str | None,
    tol: float | None,
    order: int | None,
    t0: float | None,
    tend: float | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    show_workers: bool,
    quiet: bool,
    as_json: bool,
    debug: bool,
) -> int:
    """Run the mechanism of SPEC.yaml with many parameters and measure each motion.

    FILE has a row for each case. A case that fails is a row with its status and message. Finished cases are kept in
    FILE.partial.arrow while the sweep lasts, whatever ends it; --resume goes on from there. What --vary, --measure and
    --draws do not say is as the Sweep section of SPEC.yaml says.
    """
    began = time.perf_counter()
    if draws is not None and latin is not None:
        raise click.UsageError("--draws and --latin exclude each other.")
    if resume and restart:
        raise click.UsageError("--resume and --restart exclude each other.")
    given, marks = options.assigned(vary, "--vary", "NAME=VALUES", "k=500:1500:21")
    from mechsim.cli import interrupts, sweep_summary
    from mechsim.result.paths import named_after
    from mechsim.study.plan import plan_of
    from mechsim.study.sweep import Sweep

    plan = plan_of(
        spec,
        vary=given,
        marks=marks,
        measure=measure,
        cases=cases,
        draws=draws if latin is None else latin,
        latin=None if draws is None and latin is None else latin is not None,
        seed=seed,
        parameters=parameters,
        tables_from=folders,
        tol=tol,
        order=order,
        t0=t0,
        tend=tend,
        motions=motions,
    )
    target = output if output is not None else named_after(spec, ".parquet")
    with (
        Sweep(plan, target, processes=processes, scheduler=scheduler, resume=resume, restart=restart) as running,
        sweep_summary.kept(running, as_json=as_json),
    ):
        with interrupts.at_once():
            running.prepare()
        with sweep_summary.SweepProgress(len(plan.cases), quiet=quiet or as_json, workers=show_workers) as progress:
            outcome = running.run(progress)
        return sweep_summary.report(outcome, running.notes, time.perf_counter() - began, quiet=quiet, as_json=as_json)
    return sweep_summary.INTERRUPTED
