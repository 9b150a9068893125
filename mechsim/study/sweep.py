"""Sweeps: many cases of one mechanism, measured; from Python here, from the command line in `cli/sweep.py`."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import cast

import numpy as np

from mechsim.errors import BranchWarning, Fault, MechsimError
from mechsim.frozen import frozen
from mechsim.result.paths import OutputError, explained, sources
from mechsim.source import Folders, Parameters, Source
from mechsim.study.executors import Executor, InProcess, cores
from mechsim.study.journal import Journal, Memory
from mechsim.study.plan import Given, Plan, plan_of
from mechsim.study.processes import Processes
from mechsim.study.rows import WORKER_DIED, Rows, failed_rows
from mechsim.study.schedule import Schedule, Standing, Tally, Watch
from mechsim.study.table import SweepFacts, SweepTable, load_sweep, table_of
from mechsim.study.worker import Worker
from mechsim.study.written import is_sweep, pieces, read_facts, sweep_target, write

AT_ONCE = 200  # cases for which processes are started before anything is known of how long one takes
LOOK = 0.2  # seconds between two looks
Observer = Callable[[Standing], None]


@frozen
class Outcome:
    """How a sweep went. `resumed` cases were there already."""

    plan: Plan
    path: Path | None
    tally: Tally
    resumed: int
    seconds: float
    rate: float
    executor: str


class Sweep:
    """A plan on its way to its file. As a context it ends all that it started, and keeps what is finished."""

    def __init__(
        self,
        plan: Plan,
        output: str | Path | None,
        *,
        processes: int | None = None,
        scheduler: str | None = None,
        resume: bool = False,
        restart: bool = False,
    ):
        self.plan = plan
        self.tally, self.watch = Tally(plan.measures.labels), Watch()
        self.executor: Executor | None = None
        self.notes: list[str] = []
        self.path = None if output is None else sweep_target(output, sources(plan.spec.path, plan.spec.files))
        self._prepare_folder()
        self.journal = Memory(plan) if self.path is None else Journal(self.path, plan, resume=resume, restart=restart)
        try:
            self.complete = resume and self._is_complete()
            self.missing = [] if self.complete else self.journal.missing
            self._recall()
            if self.missing:
                self.executor = self._executor(processes, scheduler)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Sweep:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self.executor is not None:
            self.executor.close()
        self.journal.close()

    def prepare(self) -> None:
        """Derive and plan once, here; others then find it in the cache."""
        if self.executor is None:
            return
        worker = Worker(self.plan.job)
        with suppress(MechsimError):  # the file's own parameters have no start, but others may
            worker.handle.start()
        if isinstance(self.executor, Processes):
            self.executor.begin(self.plan.job, worker)
        elif isinstance(self.executor, InProcess):
            self.executor.begin(worker)

    def run(self, observer: Observer | None = None) -> Outcome:
        """Run what is missing and write the file."""
        resumed = self.tally.done
        self.watch = Watch()
        if self.executor is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", BranchWarning)  # the rows say it
                self._run(self.executor, observer)
            self.executor.close()
        described = self.executor.described if self.executor is not None else ""
        outcome = Outcome(self.plan, self.path, self.tally, resumed, self.watch.seconds, self.watch.rate, described)
        if self.path is not None and not self.complete:
            try:
                write(self.path, self.plan, self.journal.in_order())
            except OutputError as error:
                fault = error.faults[0]
                hint = f"{fault.hint}; all cases are kept: --resume writes the file"
                raise OutputError(Fault(fault.message, fault.mark, hint)) from error
            self.journal.remove()
        return outcome

    def table(self) -> SweepTable:
        """All rows, after `run`."""
        if self.path is not None:
            return load_sweep(self.path)
        import pyarrow

        found = pyarrow.concat_tables(pieces(self.plan, self.journal.in_order()))
        facts = json.loads(json.dumps(self.plan.facts))
        return table_of(cast(SweepFacts, facts), found)

    def _run(self, executor: Executor, observer: Observer | None) -> None:
        schedule = Schedule(self.plan.cases, self.missing, executor.workers)
        while schedule.left or schedule.outstanding:
            schedule.workers = executor.workers
            while schedule.left and schedule.outstanding < 2 * executor.workers:
                executor.give(schedule.next())
            for done in executor.wait(LOOK):
                if schedule.returned(done):
                    self._keep(done.chunk.first, done.rows or self._died(done.why))
                    self.watch.saw(done)
            if observer is not None:
                observer(self.watch.standing(self.tally, len(self.plan.cases), executor.busy()))

    def _keep(self, first: int, rows: Rows) -> None:
        self.journal.append(first, rows)
        self.tally.add(first, rows)

    def _died(self, why: str) -> Rows:
        message = f"the process that ran this case died twice: {why}"
        return failed_rows(1, len(self.plan.measures.labels), WORKER_DIED, message)

    def _recall(self) -> None:
        """Count what is there already."""
        if isinstance(self.journal, Journal):
            found = self.journal.in_order()
            for first, batch in found:
                self.tally.add(first, _rows_of(batch))
            if self.journal.dropped:
                self.notes.append(f"{self.journal.path}: {self.journal.dropped} bytes at its end were not whole rows")

    def _is_complete(self) -> bool:
        """Whether the file is there already. One of another plan is not to be replaced by who wants to go on."""
        assert isinstance(self.journal, Journal)
        if self.path is None or self.journal.batches or not is_sweep(self.path):
            return False
        found, wanted = read_facts(self.path), json.loads(json.dumps(self.plan.facts))
        if others := [key for key in wanted if found.get(key) != wanted[key]]:
            message = f"{self.path} is complete, but of another sweep: {', '.join(others)} differ"
            raise OutputError(Fault(message, hint="without --resume it is replaced; or choose another name with -o"))
        return True

    def _executor(self, processes: int | None, scheduler: str | None) -> Executor:
        count = sum(last - first for first, last in self.missing)
        if scheduler is not None:
            from mechsim.study.cluster import Cluster

            return Cluster(scheduler, self.plan.job, processes)
        workers = min(cores() if processes is None else processes, count)
        if workers < 1:
            raise MechsimError(Fault(f"{processes} processes cannot run anything"))
        return InProcess() if workers == 1 else Processes(workers, at_once=count >= AT_ONCE)

    def _prepare_folder(self) -> None:
        if self.plan.job.motions is not None:
            with explained(self.plan.job.motions):
                Path(self.plan.job.motions).mkdir(parents=True, exist_ok=True)


def _rows_of(batch: object) -> Rows:
    """Rows of the journal, as they were given to it."""
    import pyarrow

    assert isinstance(batch, pyarrow.RecordBatch)
    *numbers, steps, status, message = batch.columns[1:]
    values = [column.to_numpy() for column in numbers]
    codes = status.dictionary_encode()
    messages = {k: text for k, text in enumerate(message.to_pylist()) if text}
    return Rows(
        np.column_stack(values) if values else np.empty((batch.num_rows, 0)),
        steps.to_numpy(),
        codes.indices.to_numpy(),
        tuple(codes.dictionary.to_pylist()),
        messages,
    )


def sweep(
    source: Source,
    *,
    vary: Mapping[str, Given] | None = None,
    measure: str | Sequence[str] = (),
    cases: str | Path | None = None,
    draws: int | None = None,
    latin: bool | None = None,
    seed: int | None = None,
    output: str | Path | None = None,
    processes: int | None = None,
    scheduler: str | None = None,
    resume: bool = False,
    restart: bool = False,
    parameters: Parameters | None = None,
    tables_from: Folders = (),
    tol: float | None = None,
    order: int | None = None,
    t0: float | None = None,
    tend: float | None = None,
    motions: str | Path | None = None,
    observer: Observer | None = None,
) -> SweepTable:
    """Many motions of a mechanism with other parameters, measured: a row for each case.

    `vary` names parameters with their values: text, "500:1500:21", "log:0.1:10:9" or "normal:1:0.001", or numbers.
    `cases` is a CSV file with a row for each case. Distributions need `draws`, how many; `latin` makes them those of a
    Latin hypercube. `measure` are expressions of the motion, "max(A_y)". What is not given is as the file's Sweep says.

    Rows go to `output` (.parquet or .csv), if that is given; a sweep that was ended goes on with `resume=True`. Cases
    run in so many `processes` (all cores), or on the Dask cluster of a `scheduler`; none of this changes any row. A
    case that fails is a row with its status and message.
    """
    plan = plan_of(
        source,
        vary=vary,
        measure=measure,
        cases=cases,
        draws=draws,
        latin=latin,
        seed=seed,
        parameters=parameters,
        tables_from=tables_from,
        tol=tol,
        order=order,
        t0=t0,
        tend=tend,
        motions=motions,
    )
    with Sweep(plan, output, processes=processes, scheduler=scheduler, resume=resume, restart=restart) as running:
        running.prepare()
        running.run(observer)
        return running.table()
