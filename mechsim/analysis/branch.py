"""Branches of periodic motions over a parameter, as they were followed: to be asked, written and drawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mechsim.analysis.floquet import Multipliers
from mechsim.analysis.ring import Ring
from mechsim.analysis.written import csv_of, written
from mechsim.frozen import frozen
from mechsim.result.layout import Array

FORMS = (".csv", ".npz", ".json")
STABILITY = {"stable": 1, "undecided": 0, "unstable": -1}  # in .npz files


@frozen(slots=False, eq=False)
class Sample:
    """One periodic motion of a branch: the value of what is followed, and what was measured."""

    value: float
    ring: Ring
    floquet: Multipliers
    energy: float
    measures: Array

    @property
    def period(self) -> float:
        return float(self.ring.period)

    @property
    def multipliers(self) -> np.ndarray:
        return self.floquet.values

    @property
    def stability(self) -> str:
        return self.floquet.stability


@frozen(slots=False, eq=False)
class Marked:
    """Where a branch folds ("fold"), where another one leaves it ("branch point"), where motions of twice the period
    begin ("period doubling"), or where a pair of multipliers leaves the unit circle ("Neimark-Sacker"); `after` so many
    of its samples."""

    kind: str
    sample: Sample
    after: int


@frozen(slots=False, eq=False)
class Branch:
    """Periodic motions one after the other; `why` it ends, if not at an end of the range; `left` is the number of the
    branch that it leaves, and where, for one that was not asked for."""

    samples: tuple[Sample, ...]
    marks: tuple[Marked, ...]
    why: str
    left: tuple[int, Marked] | None = None
    doubled: int = 0  # times, beside the first branch

    def column(self, name: str) -> Array:
        """`value`, `period` or `energy` of all samples."""
        return np.array([getattr(sample, name) for sample in self.samples], dtype=float)

    @property
    def measures(self) -> Array:
        """(samples, measures)"""
        return np.array([sample.measures for sample in self.samples])

    @property
    def stability(self) -> tuple[str, ...]:
        return tuple(sample.stability for sample in self.samples)


@frozen(slots=False, eq=False)
class Branches:
    """Branches of periodic motions over `name`; first is the one that was asked for. `labels` are its measures."""

    name: str
    labels: tuple[str, ...]
    units: tuple[str, ...]
    coordinates: tuple[str, ...]
    branches: tuple[Branch, ...]
    status: str = "finished"  # or "interrupted"
    remarks: tuple[str, ...] = ()  # on the motion that was found first

    @property
    def marks(self) -> tuple[tuple[int, Marked], ...]:
        """What happens on branches, with the number of the branch."""
        return tuple((number, mark) for number, branch in enumerate(self.branches) for mark in branch.marks)

    def values(self, kind: str, branch: int = 0) -> Array:
        """Where something happens on a branch: "fold", "branch point", "period doubling" or "Neimark-Sacker"."""
        found = [mark.sample.value for mark in self.branches[branch].marks if mark.kind == kind]
        return np.array(found, dtype=float)

    def rows(self) -> Iterator[tuple[int, Sample, str]]:
        """All motions of all branches in their order, with the number of the branch and what happens there."""
        for number, branch in enumerate(self.branches):
            for place, sample in enumerate(branch.samples):
                yield from ((number, mark.sample, mark.kind) for mark in branch.marks if mark.after == place)
                yield number, sample, ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know before they trust the picture."""
        found = [f"the first motion: {remark}" for remark in self.remarks]
        for number, branch in enumerate(self.branches):
            which = f"branch {number + 1}" if len(self.branches) > 1 else "the branch"
            found += [f"{which} was left: {branch.why}"] if branch.why else []
        unknown = [label for place, label in enumerate(self.labels) if self._lacks(place)]
        return (*found, *(f"{label} has no value for some of the motions" for label in unknown))

    def _lacks(self, place: int) -> bool:
        return any(bool(np.isnan(branch.measures[:, place]).any()) for branch in self.branches)

    def as_dict(self) -> dict[str, object]:
        """What `--json` prints."""
        return {
            "over": self.name,
            "measures": list(self.labels),
            "branches": [self._branch(branch) for branch in self.branches],
            "notes": list(self.notes),
            "status": self.status,
        }

    def _branch(self, branch: Branch) -> dict[str, object]:
        return {
            "left": None if branch.left is None else {"branch": branch.left[0], **self._mark(branch.left[1])},
            "doubled": branch.doubled,
            "values": branch.column("value").tolist(),
            "periods": branch.column("period").tolist(),
            "stability": list(branch.stability),
            "measures": {label: branch.measures[:, place].tolist() for place, label in enumerate(self.labels)},
            "marks": [self._mark(mark) for mark in branch.marks],
            "why": branch.why,
        }

    def _mark(self, mark: Marked) -> dict[str, object]:
        sample = mark.sample
        return {
            "kind": mark.kind,
            "value": sample.value,
            "period": sample.period,
            "measures": dict(zip(self.labels, sample.measures.tolist(), strict=True)),
            "multipliers": [[each.real, each.imag] for each in sample.multipliers.tolist()],
        }

    def save(self, path: str | Path) -> None:
        """Write all motions to a .csv, .npz or .json file; raises OutputError."""
        written(path, csv=self._csv, npz=self.as_arrays, as_json=self.as_dict)

    def as_arrays(self) -> dict[str, np.ndarray]:
        """What a .npz file has: a row for each motion; multipliers are padded with NaN."""
        rows = list(self.rows())
        samples = [sample for _, sample, _ in rows]
        most = max(len(sample.multipliers) for sample in samples)
        multipliers = np.full((len(rows), most), np.nan, dtype=complex)
        for row, sample in zip(multipliers, samples, strict=True):
            row[: len(sample.multipliers)] = sample.multipliers
        return {
            "over": np.array(self.name),
            "branch": np.array([number for number, _, _ in rows]),
            "value": np.array([sample.value for sample in samples]),
            "period": np.array([sample.period for sample in samples]),
            "energy": np.array([sample.energy for sample in samples]),
            "stability": np.array([STABILITY[sample.stability] for sample in samples]),
            "mark": np.array([mark for _, _, mark in rows]),
            "measures": np.array([sample.measures for sample in samples]),
            "labels": np.array(self.labels),
            "multipliers": multipliers,
            "coordinates": np.array(self.coordinates),
            "t": np.array([sample.ring.t for sample in samples]),
            "positions": np.array([sample.ring.positions[0] for sample in samples]),
            "velocities": np.array([sample.ring.velocities[0] for sample in samples]),
        }

    def _csv(self) -> str:
        names = ["branch", self.name, "period", "stability", "largest_multiplier", "mark", *self.labels]
        rows = []
        for number, sample, mark in self.rows():
            largest = float(np.abs(sample.multipliers).max(initial=0.0))
            cells = [number + 1, sample.value, sample.period, sample.stability, largest, mark]
            rows.append([*cells, *sample.measures.tolist()])
        return csv_of(names, rows)
