"""What a sweep says while it lasts and at its end."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, statistics, summary, tables
from mechsim.cli.interrupts import INTERRUPTED
from mechsim.cli.progress import PATIENCE
from mechsim.errors import Fault, MechsimError, printable
from mechsim.study.rows import FINISHED

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live

    from mechsim.study.schedule import AtWork, Standing
    from mechsim.study.statistics import Statistics
    from mechsim.study.sweep import Outcome, Sweep

ALL_FAILED = 4  # as of a run that fails
MOST_MEASURES_SHOWN = 12
LONGEST_MESSAGE = 100


class SweepProgress:
    """Draws how many cases are done, how fast, and how long the rest will take, if standard error is a terminal."""

    def __init__(self, count: int, *, quiet: bool, workers: bool):
        self.count, self.workers = count, workers
        self.enabled = not quiet and sys.stderr.isatty()
        self.began = time.perf_counter()
        self.live: Live | None = None

    def __enter__(self) -> SweepProgress:
        return self

    def __call__(self, standing: Standing) -> None:
        if not self.enabled or time.perf_counter() - self.began < PATIENCE:
            return
        if self.live is None:
            from rich.console import Console
            from rich.live import Live

            self.live = Live(console=Console(stderr=True), transient=True, refresh_per_second=5)
            self.live.start()
        self.live.update(self._drawn(standing))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.stop()

    def _drawn(self, standing: Standing) -> Group:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        line = Table.grid(padding=(0, 2))
        line.add_row(ProgressBar(standing.count, standing.done, width=24), Text(standing_line(standing)))
        shown = [Text(worker_line(each), style="dim") for each in standing.workers] if self.workers else []
        return Group(line, *shown)


def standing_line(standing: Standing) -> str:
    """`1200 of 5000 cases, 3 failed, 410 a second, 9 s left`."""
    words = [f"{standing.done} of {standing.count} cases"]
    if standing.failed:
        words.append(f"{standing.failed} failed")
    if standing.rate:
        words.append(f"{_rate(standing.rate)} a second")
    if standing.left is not None and standing.done < standing.count:
        words.append(f"{duration(standing.left)} left")
    return ", ".join(words)


def worker_line(worker: AtWork) -> str:
    at = "" if worker.chunk is None else f", at cases {worker.chunk[0]} to {worker.chunk[1]}"
    return f"  {worker.name}: {worker.cases} cases, {_rate(worker.rate)} a second{at}"


def _rate(rate: float) -> str:
    return f"{rate:.0f}" if rate >= 100 else f"{rate:.3g}"


def duration(seconds: float) -> str:
    """Short: `8 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@contextmanager
def kept(running: Sweep, *, as_json: bool) -> Iterator[None]:
    """Say what is kept of a sweep that does not come to its end."""
    try:
        yield
    except KeyboardInterrupt:
        saved = _saved(running)
        errors.say(printable(f"interrupted{saved}"))
        if as_json:
            told = {"status": "interrupted", "exit_code": INTERRUPTED, "done": running.tally.done}
            click.echo(json.dumps(told))
    except MechsimError as error:
        first, *more = error.faults
        hint = "; ".join(filter(None, (first.hint, _saved(running).removeprefix(": "))))
        error.faults = (Fault(first.message, first.mark, hint), *more)
        raise


def _saved(running: Sweep) -> str:
    done, count = running.tally.done, len(running.plan.cases)
    path = getattr(running.journal, "path", None)
    if not done or path is None:
        return ""
    return f": {done} of {count} cases are kept in {summary.short(str(path))}, --resume goes on"


def report(outcome: Outcome, notes: Sequence[str], seconds: float, *, quiet: bool, as_json: bool) -> int:
    """Tell how the sweep went; the exit code."""
    tally = outcome.tally
    code = ALL_FAILED if tally.failed == tally.done else 0
    if as_json:
        click.echo(json.dumps(_as_dict(outcome, seconds, code)))
        return code
    if not quiet:
        for note in notes:
            errors.note(note)
        _show(outcome, seconds)
    for line in doubts(outcome):
        errors.warn(line)
    return code


def doubts(outcome: Outcome) -> list[str]:
    """What a person should know before they use the table: also a quiet sweep says it."""
    tally, count = outcome.tally, len(outcome.plan.cases)
    found = []
    if tally.failed:
        words = "all" if tally.failed == tally.done else f"{tally.failed} of"
        by = ", ".join(f"{number} {status}" for status, number in _failures(outcome))
        found.append(f"{words} {summary.count(count, 'case')} failed ({by}); their rows say why")
    if tally.remarks is not None:
        number, case, text = tally.remarks
        found.append(f"{summary.count(number, 'case')} finished with a message; case {case}: {_cut(text)}")
    return found


def _failures(outcome: Outcome) -> list[tuple[str, int]]:
    return [(status, number) for status, number in sorted(outcome.tally.counts.items()) if status != FINISHED]


def _show(outcome: Outcome, seconds: float) -> None:
    plan, tally = outcome.plan, outcome.tally
    tables.heading(plan.spec.title or plan.spec.path)
    ran = tally.done - outcome.resumed
    resumed = f", {outcome.resumed} were there already" if outcome.resumed else ""
    failed = f", {tally.failed} failed" if tally.failed else ""
    speed = f"{_rate(outcome.rate)} cases a second in {outcome.executor}, " if ran else ""
    columns = 1 + len(plan.cases.names) + len(plan.measures.labels) + 3
    path = summary.short(str(outcome.path))
    facts = [
        ("sweep", f"{_sizes(outcome)}"),
        ("motion", f"t = {plan.job.t0:g} to {plan.job.tend:g}, tolerance {plan.job.tol:g}"),
        ("cases", f"{tally.counts[FINISHED]} finished{failed}{resumed}"),
        ("time", f"{speed}{seconds:.3g} s in all"),
        ("file", f"{path}: {summary.count(tally.done, 'row')}, {summary.count(columns, 'column')}"),
    ]
    if plan.draws is not None:
        facts.insert(1, ("draws", f"{plan.draws}{' of a Latin hypercube' if plan.latin else ''}, seed {plan.seed}"))
    tables.facts(facts)
    if (drawn := _statistics(outcome)) is not None:
        statistics.show(drawn)
    else:
        _show_measures(outcome)
    if tally.failed:
        rows = []
        for status, number in _failures(outcome):
            case, message = tally.examples.get(status, (-1, ""))
            rows.append([status, str(number), f"case {case}: {_cut(message)}" if case >= 0 else ""])
        tables.table(["failed", "cases", "the first"], rows, right=(1,))


def _statistics(outcome: Outcome) -> Statistics | None:
    """What the draws say; None for a sweep without any."""
    from mechsim.study.statistics import summary as summary_of
    from mechsim.study.table import load_sweep

    if outcome.path is None or outcome.plan.draws is None:
        return None
    return summary_of(load_sweep(outcome.path))


def _sizes(outcome: Outcome) -> str:
    """`k: 21 values from 500 to 1500; m: 9 values from 0.1 to 10; 189 cases`."""
    plan = outcome.plan
    words = []
    for each in plan.varied:
        if each.values is None:
            words.append(f"{each.name} {each.text}")
        elif len(each.values) == 1:
            words.append(f"{each.name} = {each.values[0]:g}")
        else:
            words.append(f"{each.name} {len(each.values)} values from {each.values.min():g} to {each.values.max():g}")
    if plan.listed is not None:
        words.append(f"{', '.join(plan.listed.names)} {len(plan.listed)} rows of a file")
    return f"{summary.count(len(plan.cases), 'case')}: {'; '.join(words)}"


def _show_measures(outcome: Outcome) -> None:
    tally, units = outcome.tally, outcome.plan.measures.units
    if not tally.counts[FINISHED]:
        return
    rows = []
    for k, label in enumerate(tally.labels[:MOST_MEASURES_SHOWN]):
        known = tally.least[k] <= tally.greatest[k]
        span = [f"{tally.least[k]:.6g}", f"{tally.greatest[k]:.6g}"] if known else ["", ""]
        rows.append([label, *span, units[k], str(tally.unknown[k]) if tally.unknown[k] else ""])
    columns = ["measure", "least", "greatest", "unit", "no value"]
    if not any(row[4] for row in rows):
        columns, rows = columns[:4], [row[:4] for row in rows]
    tables.table(columns, rows, right=(1, 2))
    if len(tally.labels) > MOST_MEASURES_SHOWN:
        click.echo(f"  and {len(tally.labels) - MOST_MEASURES_SHOWN} more")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_MESSAGE else f"{text[: LONGEST_MESSAGE - 3]}..."


def _as_dict(outcome: Outcome, seconds: float, code: int) -> dict[str, object]:
    tally, plan = outcome.tally, outcome.plan
    facts = plan.facts
    told: dict[str, object] = {"status": "finished" if code == 0 else "failed", "exit_code": code}
    told |= {key: facts[key] for key in ("title", "version", "settings", "draws", "latin", "seed", "count")}
    told["spec"] = plan.spec.path
    told["parameters"] = list(plan.cases.names)
    told["measures"] = {
        label: {
            "least": _number(tally.least[k]),
            "greatest": _number(tally.greatest[k]),
            "unknown": int(tally.unknown[k]),
        }
        for k, label in enumerate(tally.labels)
    }
    told |= {"cases": dict(sorted(tally.counts.items())), "resumed": outcome.resumed}
    told["examples"] = {status: {"case": case, "message": text} for status, (case, text) in tally.examples.items()}
    told |= {"seconds": seconds, "rate": outcome.rate, "executor": outcome.executor, "output": str(outcome.path)}
    told["doubts"] = doubts(outcome)
    if (drawn := _statistics(outcome)) is not None:
        told["statistics"] = drawn.as_dict()
    return told


def _number(value: float) -> float | None:
    """JSON knows no infinity."""
    return float(value) if abs(value) != float("inf") else None
