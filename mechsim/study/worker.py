"""Who runs cases: a mechanism that is read once, and chunks of cases that are given to it. What comes out for a case
depends on nothing but the case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mechsim.errors import MechsimError, printable
from mechsim.handle import MechanismHandle
from mechsim.handle.motions import Motions
from mechsim.result.layout import Array
from mechsim.result.paths import OutputError
from mechsim.study.plan import Job, measures_of
from mechsim.study.rows import Rows, failed_rows, joined

MOST_MEMORY = 100e6  # bytes of polynomials at a time
FIRST_BATCH = 64  # cases, as long as it is not known how much memory one takes
LARGEST_BATCH = 8192


class Chunk(NamedTuple):
    """Cases that follow each other, from `first` on, with their parameters."""

    first: int
    columns: Mapping[str, Array]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def halves(self) -> tuple[Chunk, Chunk]:
        middle = len(self) // 2
        return self.part(0, middle), self.part(middle, len(self))

    def part(self, begin: int, end: int) -> Chunk:
        return Chunk(self.first + begin, {name: column[begin:end] for name, column in self.columns.items()})


class Worker:
    """Runs cases of one job, in this process."""

    def __init__(self, job: Job, handle: MechanismHandle | None = None):
        self.job = job
        self.handle = handle or MechanismHandle(job.spec)
        self.measures = measures_of(job.measures, self.handle._file)
        self.keep = "polynomials" if job.motions else self.measures.keep
        self._batch = FIRST_BATCH if self.keep == "polynomials" else LARGEST_BATCH

    def run(self, chunk: Chunk) -> Rows:
        """The rows of a chunk, in batches whose polynomials fit in memory."""
        found, begin = [], 0
        while begin < len(chunk):
            part = chunk.part(begin, min(len(chunk), begin + self._batch))
            rows = self._attempt(part)
            found.append(rows)
            begin += len(part)
            if self.keep == "polynomials":
                self._batch = int(np.clip(MOST_MEMORY / self._bytes(rows), 1, LARGEST_BATCH))
        return joined(found)

    def _bytes(self, rows: Rows) -> float:
        """Of polynomials, for a case that takes as many steps as the longest here."""
        unknowns = self.handle.system.n + self.handle.system.m
        return float(max(1, rows.steps.max(initial=1)) * 8.0 * unknowns * 32)

    def _attempt(self, chunk: Chunk) -> Rows:
        """Rows whatever happens to a case: what fails for all is tried in halves, until one case is to blame. That a
        motion cannot be written is the fault of none: OutputError, for the sweep to end and to go on later."""
        try:
            return self._rows(chunk)
        except OutputError:
            raise
        except (Exception, MemoryError) as error:
            if len(chunk) == 1:
                return failed_rows(1, len(self.measures.labels), "error", _told(error))
        return joined([self._attempt(half) for half in chunk.halves()])

    def _rows(self, chunk: Chunk) -> Rows:
        job = self.job
        motions = self.handle.simulate_many(
            dict(chunk.columns), tol=job.tol, order=job.order, t0=job.t0, tend=job.tend, keep=self.keep
        )
        values, reasons = self.measures.of_many(motions)
        values[~motions.finished] = np.nan
        wanting = {k for k, reason in enumerate(reasons) if reason} | set(np.flatnonzero(~motions.finished).tolist())
        told = {k: _joined(motions.message(k), reasons[k], motions.remark(k)) for k in {*wanting, *motions.remarked}}
        if job.motions:
            self._save(motions, chunk, Path(job.motions))
        steps = np.asarray(motions.statistics["steps"], dtype=np.int64)
        messages = {k: text for k, text in sorted(told.items()) if text}
        return Rows(values, np.maximum(steps, 0), motions.codes, motions.STATUSES, messages)

    def _save(self, motions: Motions, chunk: Chunk, folder: Path) -> None:
        """Whole motions, as far as there are any: `case_12.npz`."""
        for k in range(len(chunk)):
            try:
                motion = motions.motion(k)
            except MechsimError:
                continue
            try:
                motion.save(folder / f"case_{chunk.first + k}.npz")
            except OutputError as error:
                faults = [
                    replace(fault, hint=fault.hint.replace("with -o", "with --motions")) for fault in error.faults
                ]
                raise OutputError(*faults) from error


def _joined(*texts: str) -> str:
    return "; ".join(dict.fromkeys(printable(text) for text in texts if text))


def _told(error: BaseException) -> str:
    if isinstance(error, MechsimError):
        return "; ".join(fault.message for fault in error.faults)
    return printable(f"unexpected {type(error).__name__}: {error}")
