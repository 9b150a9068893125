"""A progress bar for those who watch: on a terminal only, and only when a run lasts."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from mechsim.engine import Points

PATIENCE = 0.5  # seconds; a bar that flashes by only disturbs


class Progress:
    """An observer of the engine that draws how far time has come, with the time left, on standard error."""

    def __init__(self, t0: float, tend: float, *, quiet: bool, words: str = "t = {now:.4g}"):
        self.t0, self.tend, self.words = t0, tend, words
        self.enabled = not quiet and sys.stderr.isatty()
        self.began = time.perf_counter()
        self.drawn: tuple[Bar, TaskID] | None = None

    def __enter__(self) -> Progress:
        return self

    def __call__(self, batch: Points) -> None:
        if len(batch.t):
            self.show(float(batch.t[-1]))

    def show(self, now: float) -> None:
        if not self.enabled:
            return
        if self.drawn is None and time.perf_counter() - self.began > PATIENCE:
            self.drawn = self._draw()
        if self.drawn is not None:
            bar, task = self.drawn
            bar.update(task, completed=now - self.t0, now=self.words.format(now=now, end=self.tend))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.drawn is not None:
            self.drawn[0].stop()

    def _draw(self) -> tuple[Bar, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.fields[now]}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        bar = Bar(*columns, console=Console(stderr=True), transient=True)
        task = bar.add_task("", total=self.tend - self.t0, now="")
        bar.start()
        return bar, task


class Tally:
    """How a search goes on, on one line of standard error that is wiped at its end."""

    def __init__(self, words: str, *, quiet: bool):
        self.words = words
        self.enabled = not quiet and sys.stderr.isatty()
        self.began = time.perf_counter()
        self.width = 0

    def __enter__(self) -> Tally:
        return self

    def __call__(self, *counts: int) -> None:
        if self.enabled and time.perf_counter() - self.began > PATIENCE:
            self._write(self.words.format(*counts))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.width:
            self._write("")
            sys.stderr.write("\r")

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = max(self.width, len(text))
