"""`mechsim run`: from a mechanism file to a file of its motion, with a certificate."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mechsim.cli import options

if TYPE_CHECKING:
    from mechsim.result import Agreement, Recorder
    from mechsim.simulation import Prepared

INTERRUPTED = 130


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
    options.BRANCH,
    click.option("--samples", type=click.IntRange(min=2), metavar="N", help="Write N equally spaced rows."),
    click.option(
        "--dt",
        type=click.FloatRange(min=0, min_open=True),
        metavar="X",
        help="Write a row every X of time. Default: a row per step taken.",
    ),
    click.option("--verify", is_flag=True, help="Run again at another tolerance and count the digits that agree."),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors."),
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
    branch: int | None,
    samples: int | None,
    dt: float | None,
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
    from mechsim.cli import errors, summary
    from mechsim.result import Recorder, equally_spaced, written_layout
    from mechsim.result.journal import check_target

    problem = simulation.adjust(
        simulation.read(spec, parameters), tol=tol, order=order, t0=t0, tend=tend, branch=branch
    )
    target = output or default_output(spec)
    check_target(target)  # nobody wants to learn after the run that its file cannot be written
    times = equally_spaced(float(problem.problem.t0), float(problem.problem.tend), samples, dt)
    prepared = simulation.prepare(problem)
    layout = written_layout(prepared.mechanism, problem.solver.outfile)
    recorder = Recorder(
        prepared.complete, layout, target, prepared.facts, problem.solver.outfile, sampled=times is not None
    )
    keep_series = times is not None or verify or target.endswith(".npz")
    solution = watched(prepared, recorder, quiet=quiet or as_json, keep="polynomials" if keep_series else "steps")
    if solution is None or solution.status == "interrupted":
        return interrupted(recorder, solution, as_json)
    if solution.status != "finished":
        return failed(recorder, solution)
    path, certificate, rows = recorder.finish(solution, times)
    outcome = summary.Outcome(prepared, solution, certificate, str(path), rows, len(layout.labels))
    if verify:
        outcome = outcome.verified(*second_run(prepared, solution, quiet=quiet or as_json))
    outcome = outcome.timed(time.perf_counter() - began)
    if as_json:
        click.echo(summary.as_json(outcome))
    elif not quiet:
        for note in prepared.start.notes:
            errors.note(note)
        summary.show(outcome, err=target == "-")
    return 0


def default_output(spec: str) -> str:
    """`andrews.yaml` writes `andrews.csv` here; a file of that name that is not ours is left alone."""
    from mechsim.errors import Fault
    from mechsim.result import OutputError

    path = Path(Path(spec).stem + ".csv")
    if path.is_file():
        with open(path, "rb") as stream:
            if not stream.read(10).startswith(b"# mechsim "):
                message = f"{path} exists and was not written by mechsim"
                raise OutputError(Fault(message, hint=f"to replace it say -o {path}"))
    return str(path)


def watched(prepared: Prepared, recorder: Recorder | None, *, quiet: bool, keep: str, **settings: Any) -> Any:
    """The solution, recorded and with a progress bar; None when Ctrl-C came before there was one."""
    from mechsim import simulation
    from mechsim.cli.progress import Progress

    problem = prepared.spec.problem
    with Progress(float(problem.t0), float(problem.tend), quiet=quiet) as progress:

        def observer(batch: Any) -> None:
            if recorder:
                recorder(batch)
            progress(batch)

        try:
            return simulation.follow(prepared, keep=keep, observer=observer, **settings)
        except KeyboardInterrupt:
            return None


def second_run(prepared: Prepared, solution: Any, *, quiet: bool) -> tuple[float, list[Agreement]]:
    """The same motion at another tolerance: tighter, where doubles still allow it, else looser."""
    from mechsim.result import agreement

    tolerance = prepared.spec.solver.tolerance
    other = tolerance / 100 if tolerance >= 1e-13 else tolerance * 10
    second = watched(prepared, None, quiet=quiet, keep="polynomials", tolerance=other)
    if second is None or second.status == "interrupted":
        raise KeyboardInterrupt
    if second.status != "finished":
        from mechsim.errors import IntegrationError
        from mechsim.simulation import failure

        raise IntegrationError(failure(second))
    return other, agreement(solution, second)


def interrupted(recorder: Recorder, solution: Any, as_json: bool) -> int:
    """Say what was saved."""
    import json

    from mechsim.cli import errors

    path = recorder.keep()
    reached = f" at t = {recorder.reached:.6g}" if recorder.reached is not None else ""
    saved = f"; the rows so far are in {path}" if path and str(path) != "-" else ""
    errors.say(f"interrupted{reached}{saved}")
    if as_json:
        click.echo(
            json.dumps(
                {"status": "interrupted", "exit_code": INTERRUPTED, "t": recorder.reached, "partial": str(path or "")}
            )
        )
    return INTERRUPTED


def failed(recorder: Recorder, solution: Any) -> int:
    """The engine gave up: raise it in words, with the place of the rows so far."""
    from dataclasses import replace

    from mechsim.errors import IntegrationError
    from mechsim.simulation import failure

    path = recorder.keep()
    fault = failure(solution)
    saved = f"the rows so far are in {path}" if path and str(path) != "-" else ""
    raise IntegrationError(replace(fault, hint="; ".join(filter(None, (fault.hint, saved)))))
