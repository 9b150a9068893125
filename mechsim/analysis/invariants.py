"""Energy, momenta and what else was asked for along a motion: which of them the model conserves, by what the others
change, and what the motion made of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from mechsim._version import __version__
from mechsim.errors import Fault
from mechsim.frozen import frozen
from mechsim.result.certificate import DOUBTFUL_DRIFT, DOUBTFUL_STEP
from mechsim.result.layout import Array
from mechsim.result.paths import SIGNATURE, OutputError, check_target, replacing

FORMS = (".csv", ".npz")
STILL = 1e-12  # of its size: what changes by less did not change


@frozen(slots=False, eq=False)
class Invariant:
    """One quantity along a motion: its `values` at the times of the table. `size` is what they are judged beside.

    `conserved` is a claim about the model: its rate is zero at every state that the constraints allow. `broken_by` has
    what changes it otherwise, and the most that each did along this motion, in its unit per second; what did nothing
    along it, but does elsewhere, has 0. `missed` is how far the integral of its rate is from what it changed by.
    """

    name: str
    words: str
    unit: str
    conserved: bool
    always_zero: bool
    values: Array
    rate: float  # the largest, in size, along the motion
    size: float
    broken_by: Mapping[str, float]
    missed: float
    jumps: float  # what impacts changed, in size

    @property
    def drift(self) -> float:
        """The most by which it was off its value at the start."""
        return float(np.abs(self.values - self.values[0]).max())

    @property
    def kept(self) -> float:
        """The same, over its size."""
        return self.drift / self.size if self.size > 0 else 0.0

    @property
    def stood_still(self) -> bool:
        """Whether it did not change along this motion, whatever the model says."""
        return self.kept <= STILL

    def as_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "words": self.words,
            "unit": self.unit,
            "conserved": self.conserved,
            "always_zero": self.always_zero,
            "start": float(self.values[0]),
            "end": float(self.values[-1]),
            "drift": self.drift,
            "kept": self.kept,
            "rate": self.rate,
            "broken_by": dict(self.broken_by),
            "missed": self.missed,
            "jumps": self.jumps,
        }


@frozen(slots=False, eq=False)
class Invariants(Mapping[str, Invariant]):
    """What is conserved, and what is not, by name; with the times of the table."""

    t: Array
    quantities: tuple[Invariant, ...]
    tested: int  # states at which the claims were tested
    steps: int
    tolerance: float
    remarks: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Invariant:
        for each in self.quantities:
            if each.name == name:
                return each
        raise KeyError(f"no quantity {name!r}; there are {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        return (each.name for each in self.quantities)

    def __len__(self) -> int:
        return len(self.quantities)

    @property
    def conserved(self) -> tuple[Invariant, ...]:
        """Those that the model conserves, and that are not zero whatever it does."""
        return tuple(each for each in self.quantities if each.conserved and not each.always_zero)

    @property
    def limit(self) -> float:
        """The largest drift, over the size, that the tolerance explains."""
        return max(DOUBTFUL_DRIFT, DOUBTFUL_STEP * self.tolerance * self.steps)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know."""
        return (*self.doubts, *self.remarks)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Where the motion does not bear out what is claimed; usually nothing."""
        found = []
        for each in self.quantities:
            if each.conserved and each.kept > self.limit:
                found.append(
                    f"{each.name} is conserved by the model, but the motion changed it by {each.kept:.1e} of its size, "
                    f"more than a tolerance of {self.tolerance:g} explains: do not trust the motion"
                )
            elif not each.missed <= self.limit:
                found.append(f"the rate of {each.name} misses what it changed by {each.missed:.1e} of its size")
        return tuple(found)

    def as_dict(self) -> dict[str, object]:
        """What `--json` prints."""
        return {
            "t0": float(self.t[0]),
            "tend": float(self.t[-1]),
            "steps": self.steps,
            "tolerance": self.tolerance,
            "tested": self.tested,
            "quantities": [each.as_dict() for each in self.quantities],
            "notes": list(self.notes),
        }

    def save(self, path: str | Path) -> None:
        """Write the quantities along the motion to a .csv or .npz; raises OutputError."""
        target = check_table(path)
        names = [each.name for each in self.quantities]
        table = np.column_stack([each.values for each in self.quantities])
        with replacing(target) as temporary:
            if target.suffix.lower() == ".npz":
                with open(temporary, "wb") as stream:
                    np.savez(stream, t=self.t, names=np.array(names), values=table)
            else:
                header = [f"{SIGNATURE.decode()}{__version__}", f"# conserved: {json.dumps(self.as_dict())}"]
                columns = ",".join(["t", *(f'"{name}"' if "," in name else name for name in names)])
                rows = (",".join(map(repr, row)) for row in np.column_stack([self.t, table]).tolist())
                temporary.write_text("\n".join([*header, columns, *rows]) + "\n", encoding="utf-8")


def check_table(path: str | Path) -> Path:
    """The path that quantities can be written to, or an OutputError that says why not."""
    target = check_target(path)
    if target.suffix.lower() not in FORMS:
        raise OutputError(
            Fault(f"cannot write {path}: this table goes to other files", hint=f"use {' or '.join(FORMS)}")
        )
    return target
