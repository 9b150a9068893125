"""Points of a section: where motions were when they passed it, to be asked, written and drawn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mechsim.analysis.written import csv_of, written
from mechsim.errors import Fault, MechsimError
from mechsim.frozen import frozen
from mechsim.result.layout import Array


@frozen(slots=False, eq=False)
class Section:
    """A row for each point, motion after motion, each in the order of time: `table[:, i]` is the column `labels[i]`.

    `motion` is the number of the motion of each row; `varied` the parameters or starts that motions differ by, a value
    for each; `over` is the one of these that the section is a diagram of, if it is one. Angles are between -pi and pi.
    """

    what: str  # the section in words
    labels: tuple[str, ...]
    units: tuple[str, ...]
    table: Array
    motion: np.ndarray
    varied: Mapping[str, Array]
    axes: tuple[str, str]  # columns that are drawn
    over: str | None = None
    failed: Mapping[int, str] | None = None
    fewer: Mapping[int, int] | None = None  # motions that passed less often than asked, and how often
    status: str = "finished"  # or "interrupted": there are the points that were found until then

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, label: str) -> Array:
        """One column, for all rows: of the table, or of what motions differ by."""
        if label in self.labels:
            return self.table[:, self.labels.index(label)]
        if label in self.varied:
            return np.asarray(self.varied[label])[self.motion]
        known = ", ".join((*self.labels, *self.varied))
        raise MechsimError(Fault(f"a section has no column {label}", hint=f"there are {known}"))

    @property
    def count(self) -> int:
        """How many motions there are."""
        return max((len(values) for values in self.varied.values()), default=1)

    def of(self, motion: int) -> Array:
        """The rows of one motion."""
        return self.table[self.motion == motion]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know before they trust the picture."""
        found = ["it was interrupted: points are lacking"] if self.status != "finished" else []
        failed, fewer = self.failed or {}, self.fewer or {}
        if failed:
            number = next(iter(failed))
            found.append(f"{len(failed)} of {self.count} motions failed; {self._named(number)}: {failed[number]}")
        if fewer:
            number = next(iter(fewer))
            times = "never" if not fewer[number] else f"only {fewer[number]} times"
            more = "" if len(fewer) == 1 else f", and {len(fewer) - 1} more passed too seldom"
            found.append(f"{self._named(number)} passed the section {times} in the time it was given{more}")
        return tuple(found)

    def _named(self, number: int) -> str:
        values = ", ".join(f"{name} = {float(values[number]):.6g}" for name, values in self.varied.items())
        return f"the motion with {values}" if values else "the motion"

    def as_dict(self) -> dict[str, object]:
        """What `--json` prints; points are written to files."""
        return {
            "section": self.what,
            "points": len(self),
            "motions": self.count,
            "columns": list(self.labels),
            "over": self.over,
            "varied": {name: np.asarray(values).tolist() for name, values in self.varied.items()},
            "failed": {str(number): why for number, why in (self.failed or {}).items()},
            "notes": list(self.notes),
            "status": self.status,
        }

    def columns(self) -> dict[str, np.ndarray]:
        """All columns of a file."""
        names = [*self.varied, *self.labels]
        return {"motion": self.motion, **{name: self[name] for name in names}}

    def save(self, path: str | Path) -> None:
        """Write all points to a .csv, .npz or .parquet file; raises OutputError."""
        written(path, csv=self._csv, npz=self.columns, parquet=self.columns)

    def _csv(self) -> str:
        columns = self.columns()
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return csv_of(list(columns), rows, f"section: {self.what}")
