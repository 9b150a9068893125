"""Basins of attraction as they were found: which start goes where, to be asked, written and drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mechsim.analysis.attractors import Attractor
from mechsim.analysis.written import csv_of, written
from mechsim.frozen import frozen
from mechsim.result.layout import Array

FAILED, UNDECIDED = -2, -1  # instead of the number of an attractor


@frozen(slots=False, eq=False)
class Basins:
    """For each combination of start values, `values` of `names`, the number of the attractor it goes to, and when it
    was near that; -1 where it had not settled, -2 where its motion failed. Attractors come by the share of starts."""

    names: tuple[str, ...]
    values: tuple[Array, ...]
    labels: np.ndarray  # an axis for each name
    settled: Array
    attractors: tuple[Attractor, ...]
    coordinates: tuple[str, ...]
    tend: float
    why: str = ""  # the first motion that failed did so
    status: str = "finished"  # or "interrupted"; then `tend` is how far motions were followed
    units: tuple[str, ...] = ()  # of the names, "" where nobody says

    @property
    def shares(self) -> Array:
        """Of all starts, for each attractor."""
        return np.array([np.mean(self.labels == number) for number in range(len(self.attractors))])

    @property
    def undecided(self) -> float:
        """The share of starts that have not settled."""
        return float(np.mean(self.labels == UNDECIDED))

    @property
    def failed(self) -> float:
        """The share of starts whose motions failed."""
        return float(np.mean(self.labels == FAILED))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know before they trust the picture."""
        found = []
        if self.undecided > 0 or self.status != "finished":
            words = f"{self._share(UNDECIDED)} starts had not settled until t = {self.tend:g}"
            why = "their motions are chaotic, or slow, and longer ones would tell"
            found.append(f"{words}: {why if self.status == 'finished' else 'it was interrupted'}")
        if self.failed > 0:
            found.append(f"{self._share(FAILED)} motions failed: {self.why}")
        return tuple(found)

    def _share(self, label: int) -> str:
        return f"{int(np.sum(self.labels == label)):,} of {self.labels.size:,}"

    def as_dict(self) -> dict[str, object]:
        """What `--json` prints; which start goes where is written to files."""
        return {
            "starts": {name: values.tolist() for name, values in zip(self.names, self.values, strict=True)},
            "attractors": [
                {
                    "kind": each.kind,
                    "period": each.period or None,
                    "multiple": each.multiple or None,
                    "share": float(share),
                    "positions": dict(zip(self.coordinates, each.positions.tolist(), strict=True)),
                    "velocities": dict(zip(self.coordinates, each.velocities.tolist(), strict=True)),
                    "turns": dict(each.turns),
                }
                for each, share in zip(self.attractors, self.shares, strict=True)
            ],
            "undecided": self.undecided,
            "failed": self.failed,
            "status": self.status,
            "tend": self.tend,
            "notes": list(self.notes),
        }

    def as_arrays(self) -> dict[str, np.ndarray]:
        """What a .npz file has."""
        n = len(self.coordinates)
        return {
            "names": np.array(self.names),
            **{f"values_{number}": values for number, values in enumerate(self.values)},
            "labels": self.labels,
            "settled": self.settled,
            "coordinates": np.array(self.coordinates),
            "kinds": np.array([each.kind for each in self.attractors]),
            "periods": np.array([each.period for each in self.attractors]),
            "positions": np.array([each.positions for each in self.attractors]).reshape(-1, n),
            "velocities": np.array([each.velocities for each in self.attractors]).reshape(-1, n),
            "shares": self.shares,
        }

    def save(self, path: str | Path) -> None:
        """Write it to a .npz, .csv (a row for each start) or .json file; raises OutputError."""
        written(path, csv=self._csv, npz=self.as_arrays, as_json=self.as_dict)

    def _csv(self) -> str:
        grids = np.meshgrid(*self.values, indexing="ij")
        columns = [
            *(grid.ravel().tolist() for grid in grids),
            self.labels.ravel().tolist(),
            self.settled.ravel().tolist(),
        ]
        return csv_of([*self.names, "attractor", "settled"], zip(*columns, strict=True))
