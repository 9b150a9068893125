"""Trajectory: a motion as a table, with everything needed to judge it, draw it and run it again."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict

import numpy as np

from mechsim.engine.events import Events
from mechsim.engine.segments import Segments, last_begun
from mechsim.frozen import frozen
from mechsim.kernel.series import horner
from mechsim.result.certificate import Certificate
from mechsim.result.layout import Array

if TYPE_CHECKING:
    import pandas


class Settings(TypedDict, total=False):
    """How a run was asked for: what it takes to repeat it, besides the text of its mechanism."""

    tol: float
    order: int | None
    t0: float
    tend: float
    overrides: dict[str, str]  # parameters that replaced the file's, as they were written
    branch: int | None
    files: dict[str, str]  # texts of the files that the mechanism names


class Facts(TypedDict):
    """What files of results carry besides numbers."""

    title: str
    spec_path: str
    spec_text: str
    version: str
    settings: Settings
    drawing: NotRequired[str]


@frozen
class Polynomials:
    """The Taylor series of every step: variable `labels[j]` at `t[i] + s` is `sum_k coefficients[i, j, k] * s**k`.

    `ends[i]` is the end of step i (the next step's start). Values are not projected on the constraints.
    """

    t: Array
    ends: Array
    coefficients: Array
    labels: tuple[str, ...]

    def __call__(self, times: Array) -> Array:
        """All variables at `times`, shape (len(times), len(labels))."""
        times = np.atleast_1d(np.asarray(times, float))
        steps = last_begun(self.t, times, "after", backwards=bool(self.ends[-1] < self.t[0]))
        local = (times - self.t[steps])[:, None]
        highest_first = (self.coefficients[steps, :, order] for order in reversed(range(self.coefficients.shape[2])))
        return horner(highest_first, local)[0]


MODE = "mode"  # of a linearised motion, enlarged


@frozen
class Trajectory:
    """Rows in time order; `table[:, i]` is the column `labels[i]` in `units[i]`."""

    labels: tuple[str, ...]
    units: tuple[str, ...]
    table: Array
    title: str = ""
    spec_path: str = ""
    spec_text: str = ""
    settings: Settings = field(default_factory=Settings)
    version: str = ""
    certificate: Certificate | None = None
    status: str = "finished"  # or "partial": the run did not come to its end; MODE: it is no motion
    notes: tuple[str, ...] = ()  # what a reader of the file should be told
    polynomials: Polynomials | None = None
    not_unique: tuple[str, ...] = ()  # columns of forces that redundant constraints leave open: the smallest are given
    drawing: str = ""  # of a user's Lagrangian: its points and parts as a file of the language, without physics
    segments: Segments | None = None  # its smooth pieces; None: the file does not say
    events: Events | None = None  # what happened at contacts; None: there are none, or the file does not say

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, label: str) -> Array:
        """One column, e.g. `trajectory["A_x_dot"]`, or the positions of a point, e.g. `trajectory["A"]`."""
        if label in self.labels:
            return self.table[:, self.labels.index(label)]
        axes = [f"{label}_{axis}" for axis in "xyz" if f"{label}_{axis}" in self.labels]
        if not axes:
            raise KeyError(f"no column or point {label!r}; columns are {', '.join(self.labels)}")
        return self.table[:, [self.labels.index(axis) for axis in axes]]

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:g} to {self.t[-1]:g}, " if len(self) else ""
        return f"<Trajectory of {self.title!r}, {span}{len(self)} rows: {', '.join(self.labels)}>"

    @property
    def t(self) -> Array:
        return self["t"]

    @property
    def points(self) -> tuple[str, ...]:
        """The moving points, in the order of the columns; the force `drive_A_x` is of no point."""
        places = [label for label, unit in zip(self.labels, self.units, strict=False) if unit == "m"]
        return tuple(label[:-2] for label in places if label.endswith("_x") and f"{label[:-2]}_y" in places)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame with one column per label."""
        import pandas

        return pandas.DataFrame(self.table, columns=list(self.labels))

    def save(self, path: str | Path) -> Path:
        """Write to `.csv`, `.npz` or `.parquet`, by the file's ending."""
        from mechsim.result.files import save

        return save(self, path)
