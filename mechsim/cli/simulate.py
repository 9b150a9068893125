"""Carrying out `mechsim run`: prepare, integrate under watch, write, and report, whatever happens."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from mechsim import simulation
from mechsim.cli import errors, interrupts, summary
from mechsim.cli.interrupts import INTERRUPTED
from mechsim.cli.progress import Progress
from mechsim.errors import IntegrationError, printable
from mechsim.frozen import frozen
from mechsim.result import Recorder, agreement, equally_spaced, written_layout
from mechsim.result.layout import Array
from mechsim.result.paths import STANDARD_OUTPUT, check_target, sources
from mechsim.result.recorder import BINARY
from mechsim.simulation import Prepared
from mechsim.spec.document import MechSpec
from mechsim.study.references import Witness

if TYPE_CHECKING:
    from mechsim.engine import Points
    from mechsim.engine.leading import Leading
    from mechsim.engine.sampling import Sampling, StepRows
    from mechsim.engine.solution import Solution

TIGHTEST = 1e-15  # a tolerance below this asks a double for digits it does not have


@frozen
class Request:
    """What is asked of a run beside its problem. `began` is the clock when the command started."""

    target: str
    samples: int | None
    dt: float | None
    reactions: tuple[str, ...] | None  # points; None: those the file names
    verify: bool
    quiet: bool
    as_json: bool
    began: float

    @property
    def binary(self) -> bool:
        return self.target.endswith(BINARY)

    @property
    def silent(self) -> bool:
        return self.quiet or self.as_json


def carry_out(problem: MechSpec, request: Request) -> int:
    """Simulate, write and report. Returns the exit code, or raises what went wrong."""
    # Nobody wants to learn after the run that its file cannot be written, or that it was written on the mechanism.
    check_target(request.target, sources(problem.path, problem.files))
    times = equally_spaced(float(problem.problem.t0), float(problem.problem.tend), request.samples, request.dt)
    with interrupts.at_once():
        prepared = simulation.prepare(problem)
    recorder = _recorder(prepared, request, times)
    witness = Witness(prepared) if problem.reference and problem.reference.values else None
    keep = _kept(request, sampled=times is not None)
    solution = _watched(prepared, request, recorder, witness, keep=keep, detailed=True)
    if solution is None or solution.status == "interrupted":
        return _interrupted(recorder, request)
    if solution.status != "finished":
        raise _failed(recorder, solution)
    try:
        outcome = _conclude(prepared, recorder, witness, solution, times, request)
    except KeyboardInterrupt:
        return _interrupted(recorder, request)
    return _verified(outcome, request) if request.verify else _report(outcome, request)


def _kept(request: Request, *, sampled: bool) -> str:
    """What is kept of the march. The rows of a CSV are written while it lasts, so it may last as long as it likes."""
    if request.verify or request.target.endswith(".npz") or (request.binary and sampled):
        return "polynomials"
    return "steps" if request.binary else "outline"


def _recorder(prepared: Prepared, request: Request, times: Array | None) -> Recorder:
    outfile = prepared.spec.solver.outfile
    sampling = _sampling(prepared, request, times)
    layout = written_layout(prepared.mechanism, outfile)
    derived = simulation.derived(prepared, simulation.reaction_points(prepared, request.reactions))
    return Recorder(prepared.system, layout, request.target, prepared.facts, outfile, sampling, derived)


def _sampling(prepared: Prepared, request: Request, times: Array | None) -> Sampling | StepRows:
    """The rows that are written while the march lasts; those of a Parquet file are remembered."""
    from mechsim.engine.sampling import Sampling, StepRows

    def leading() -> Leading:
        return simulation.leading(prepared)

    if times is not None and not request.binary:
        return Sampling(times, leading)
    return StepRows(leading, remember=_kept(request, sampled=times is not None) == "steps")


def _watched(
    prepared: Prepared,
    request: Request,
    recorder: Recorder | None = None,
    witness: Witness | None = None,
    *,
    keep: str,
    detailed: bool = False,
    tolerance: float | None = None,
    order: int | None = None,
) -> Solution | None:
    """The solution, recorded and with a progress bar; None when Ctrl-C came before there was one."""
    problem = prepared.spec.problem
    with Progress(float(problem.t0), float(problem.tend), quiet=request.silent) as progress:

        def observer(batch: Points) -> None:
            for watching in (recorder, witness, progress):
                if watching is not None:
                    watching(batch)

        try:
            return simulation.follow(
                prepared, tolerance=tolerance, order=order, keep=keep, observer=observer, detailed=detailed
            )
        except KeyboardInterrupt:
            return None


def _conclude(
    prepared: Prepared,
    recorder: Recorder,
    witness: Witness | None,
    solution: Solution,
    times: Array | None,
    request: Request,
) -> summary.Outcome:
    """Complete the file and gather what the summary tells."""
    path, certificate, rows = recorder.finish(solution, times)
    if witness is not None:  # the engine's loop had to wait for it
        certificate = replace(certificate, seconds=max(0.0, certificate.seconds - witness.seconds))
    return summary.Outcome(
        prepared=prepared,
        solution=solution,
        certificate=certificate,
        path=str(path),
        rows=rows,
        columns=len(recorder.labels),
        not_unique=recorder.derived.not_unique if recorder.derived else (),
        seconds=time.perf_counter() - request.began,
        answers=witness.agreements() if witness is not None else (),
    )


def _verified(outcome: summary.Outcome, request: Request) -> int:
    """Report with the digits a second run confirms. Where that one fails, the file of the first is complete still."""
    tolerance = outcome.prepared.spec.solver.tolerance
    # Tighter where doubles still allow it, else looser; and of another order, so that it cannot share a blind spot.
    other = tolerance / 100 if tolerance / 100 >= TIGHTEST else tolerance * 10
    order = simulation.another_order(outcome.certificate.order)
    second = _watched(outcome.prepared, request, keep="polynomials", tolerance=other, order=order)
    if second is not None and second.status == "finished":
        seconds = time.perf_counter() - request.began
        digits = agreement(outcome.solution, second)
        return _report(replace(outcome, second_tolerance=other, agreements=digits, seconds=seconds), request)
    failed = None if second is None or second.status == "interrupted" else second
    if failed is None or not request.as_json:  # a failure is the one JSON object by itself
        _report(outcome, request)
    complete = "" if outcome.path == "-" else f"; {summary.short(outcome.path)} is complete"
    if failed is None:
        errors.say(printable(f"interrupted in the second run, so no digits are verified{complete}"))
        return INTERRUPTED
    fault = simulation.failure(failed)
    message = f"in the second run, at tolerance {other:g}, {fault.message}; no digits are verified{complete}"
    raise IntegrationError(replace(fault, message=message))


def _report(outcome: summary.Outcome, request: Request) -> int:
    """Tell how the run went; 0, as it came to its end."""
    if request.as_json:
        click.echo(summary.as_json(outcome))
    elif not request.quiet:
        for note in outcome.prepared.notes:
            errors.note(note)
        summary.show(outcome, err=request.target == "-")
    if not request.as_json:  # even a quiet run must not hide them
        for doubt in outcome.doubts:
            errors.warn(doubt)
    return 0


def _saved(recorder: Recorder) -> str:
    """Where the rows of a run that did not come to its end are."""
    path = recorder.keep()
    return "" if path is None or path == STANDARD_OUTPUT else str(path)


def _interrupted(recorder: Recorder, request: Request) -> int:
    """Say how far the run came and what was saved."""
    path = _saved(recorder)
    reached = f" at t = {recorder.reached:.6g}" if recorder.reached is not None else ""
    saved = f"; the rows so far are in {summary.short(path)}" if path else ""
    errors.say(printable(f"interrupted{reached}{saved}"))
    if request.as_json:
        told = {"status": "interrupted", "exit_code": INTERRUPTED, "t": recorder.reached, "partial": path}
        click.echo(json.dumps(told))
    return INTERRUPTED


def _failed(recorder: Recorder, solution: Solution) -> IntegrationError:
    """The engine gave up: its reason in words, with the place of the rows so far."""
    path = _saved(recorder)
    fault = simulation.failure(solution)
    hints = [fault.hint, f"the rows so far are in {summary.short(path)}" if path else ""]
    return IntegrationError(replace(fault, hint="; ".join(filter(None, hints))))
