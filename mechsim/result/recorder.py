"""Recording a run while it happens: rows are watched by the monitor and appended to the journal."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from mechsim.engine.points import Points
from mechsim.engine.sampling import Sampling, StepRows
from mechsim.engine.solution import Solution
from mechsim.errors import Fault
from mechsim.kernel.system import System
from mechsim.result import csvtext
from mechsim.result.certificate import Certificate, Monitor
from mechsim.result.derived import Derived
from mechsim.result.files import save
from mechsim.result.happenings import write_beside
from mechsim.result.journal import Journal, OutputError
from mechsim.result.layout import Array, Layout
from mechsim.result.motion import tabulate
from mechsim.result.trajectory import Facts
from mechsim.spec.document import OutFile

BINARY = (".npz", ".parquet")
MOST_ROWS = 100_000_000  # a dt far too small is a slip, not a wish for a file of terabytes


class Recorder:
    """The engine's observer of `mechsim run`. `system` has all constraints; `target` "-" is standard output."""

    def __init__(
        self,
        system: System,
        layout: Layout,
        target: str,
        facts: Facts,
        outfile: OutFile,
        sampling: Sampling | StepRows,
        derived: Derived | None = None,
    ):
        self.system, self.layout, self.target, self.facts, self.outfile = system, layout, target, facts, outfile
        self.sampling = sampling
        self.derived = derived
        self.labels = layout.labels + (derived.labels if derived else ())
        self.units = layout.units + (derived.units if derived else ())
        self.monitor = Monitor(system)
        self.reached: float | None = None  # the time of the last row seen
        self.seconds = 0.0  # spent here, within the engine's loop
        self.journal = self._journal()

    def __call__(self, points: Points) -> None:
        began = time.perf_counter()
        if not self.sampling.has_steps:  # the certificate is about every step, written or not
            self.monitor.observe(points)
        self._append(self.sampling.passed(points))
        if len(points):
            self.reached = float(points.t[-1])
        self.seconds += time.perf_counter() - began

    def finish(self, solution: Solution, times: Array | None) -> tuple[Path, Certificate, int]:
        """Give the file its name. Returns it with the certificate and the number of rows written.

        `times` are those of the rows of a binary file; None: the steps.
        """
        if self.target.endswith(BINARY):
            return self._finish_binary(solution, times)
        self._append(self.sampling.rest())
        certificate = self.certificate(solution)
        path = self.journal.finish(csvtext.foot(certificate))
        if solution.events is not None and solution.events.names and path.is_file():
            write_beside(solution.events, path)
        return path, certificate, self.journal.rows

    def keep(self) -> Path | None:
        """The run did not come to its end: leave what rows there are, and say where."""
        if self.journal.rows == 0:
            self.journal.discard()
            return None
        return self.journal.keep()

    def certificate(self, solution: Solution) -> Certificate:
        """The figures of all rows seen."""
        tolerance = self.facts["settings"]["tol"]
        return self._timed(self.monitor.certificate(tolerance, solution.statistics, self.derived, solution.events))

    def _timed(self, certificate: Certificate) -> Certificate:
        """With the time of the integration alone: the engine's loop had to wait for this recorder."""
        return replace(certificate, seconds=max(0.0, certificate.seconds - self.seconds))

    def _table(self, points: Points) -> Array:
        """All columns of these points, which the monitor sees too."""
        columns = [self.layout.table(self.monitor.observe(points))]
        if self.derived and self.derived.labels:
            columns.append(self.derived.table(points))
        return np.concatenate(columns, axis=1)

    def _append(self, batches: Iterable[Points]) -> None:
        for points in batches:
            self.journal.append(self._table(points))

    def _journal(self) -> Journal:
        not_unique = self.derived.not_unique if self.derived else ()
        head = csvtext.head(labels=self.labels, units=self.units, not_unique=not_unique, **self.facts)
        formats = self.outfile.time_format, self.outfile.value_format
        return Journal(self.target, head, csvtext.row_format(len(self.labels), *formats))

    def _rows(self, solution: Solution) -> Points:
        if solution.coefficients is None and isinstance(self.sampling, StepRows):
            return self.sampling.remembered(solution)
        return solution.rows

    def _finish_binary(self, solution: Solution, times: Array | None) -> tuple[Path, Certificate, int]:
        if times is not None:
            times = times[times <= solution.t[-1]]  # an event may have ended the motion
        points = self._rows(solution) if times is None else solution.sampled(times)
        trajectory = tabulate(solution, self.facts, points, self.derived)
        assert trajectory.certificate is not None
        certificate = self._timed(trajectory.certificate)
        path = save(replace(trajectory, certificate=certificate), self.target)
        self.journal.discard()
        return path, certificate, len(trajectory)


def equally_spaced(t0: float, tend: float, samples: int | None, dt: float | None) -> Array | None:
    """Times of `--samples N` (both ends included) or `--dt X` (from t0 on); None when neither is asked for."""
    if samples is not None:
        if samples >= MOST_ROWS:
            raise OutputError(Fault(f"{samples} rows are too many", hint=f"ask for less than {MOST_ROWS:g} --samples"))
        return np.linspace(t0, tend, samples)
    if dt is None:
        return None
    steps = (tend - t0) / dt
    if not steps < MOST_ROWS:  # nor for a dt that is no number
        raise OutputError(Fault(f"a spacing of {dt:g} asks for {steps:.3g} rows", hint="choose a larger --dt"))
    # 1e-9: a dt that divides the interval must reach its end in spite of rounding.
    return np.minimum(t0 + dt * np.arange(int(steps + 1e-9) + 1), tend)
