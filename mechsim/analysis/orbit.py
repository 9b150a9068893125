"""A periodic motion as it was found: its period, its start, its Floquet multipliers, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from mechsim.analysis.floquet import Multipliers, multipliers_of
from mechsim.analysis.ring import Linear
from mechsim.analysis.subject import Case
from mechsim.analysis.written import written
from mechsim.engine import Solution
from mechsim.frozen import frozen
from mechsim.result import Motion
from mechsim.result.layout import Array

FORMS = (".json", ".npz")
FOLLOWS = 1e-6  # in scales: a motion that misses its start by more does not show that it is periodic
BLURRED = 1e-3  # an error of multipliers that is told
UNSURE = 1e-10  # of the largest multiplier: smaller ones may be roundings


@frozen(slots=False, eq=False)
class Orbit:
    """A motion that comes back to its start after a `period`, coordinates by name gone on by whole `turns`.

    `residual` is by how much states along it are missed, `checked` by how much they are a period later, both in scales
    (None where nothing depends on time, and so nothing has to be checked). `family` is in how many ways there are
    others beside it.
    """

    linear: Linear
    autonomous: bool
    multiple: int  # periods of the forcing
    conserved: bool  # energy
    family: int
    checked: float | None
    steps: int  # of Newton's method
    remarks: tuple[str, ...] = ()

    @property
    def t(self) -> float:
        return float(self.linear.ring.t)

    @property
    def period(self) -> float:
        return float(self.linear.ring.period)

    @property
    def parameters(self) -> Mapping[str, float]:
        """Those that are not as the mechanism has them."""
        return self.linear.ring.parameters

    @property
    def coordinates(self) -> tuple[str, ...]:
        system = self.case.system
        return tuple(system.labels[: system.n])

    @property
    def case(self) -> Case:
        return self.linear.arcs[0].case

    @property
    def positions(self) -> Array:
        return self.linear.ring.positions[0]

    @property
    def velocities(self) -> Array:
        return self.linear.ring.velocities[0]

    @property
    def energy(self) -> float:
        """Where it begins."""
        return self.linear.arcs[0].energy

    @property
    def nodes(self) -> int:
        """States that it was found by: 1 is single shooting."""
        return self.linear.ring.nodes

    @property
    def residual(self) -> float:
        return self.linear.residual

    @property
    def turns(self) -> dict[str, int]:
        """Whole turns of a period, of coordinates that make some."""
        pairs = zip(self.coordinates, self.linear.ring.turns.tolist(), strict=True)
        return {name: int(turns) for name, turns in pairs if turns}

    @cached_property
    def floquet(self) -> Multipliers:
        return floquet_of(self.linear, self.autonomous, self.conserved)

    @property
    def multipliers(self) -> np.ndarray:
        """Floquet multipliers by falling size, without the trivial ones of the motion itself and of its energy."""
        return self.floquet.values

    @property
    def stability(self) -> str:
        """`stable`, `unstable`, or `undecided` where linear terms do not tell: nothing grows, some does not die out."""
        return self.floquet.stability

    @cached_property
    def solution(self) -> Solution:
        """One period."""
        system = self.case.system
        start = self.linear.ring.state(0)
        case = self.case.starting(start)
        found = case.solution(start.t + self.period, tolerance=self.linear.arcs[0].solution.tolerance)
        assert found.system.n == system.n
        return found

    @cached_property
    def motion(self) -> Motion:
        """One period, as results."""
        return self.case.motion(self.solution)

    @property
    def closes(self) -> float:
        """By how much one motion over the period misses its start, in scales: errors grow as the multipliers do."""
        n, ring = self.case.system.n, self.linear.ring
        end = np.concatenate([self.solution.q[-1] - 2 * np.pi * ring.turns, self.solution.v[-1]])
        return self.linear.norm.length(end - np.concatenate([ring.positions[0][:n], ring.velocities[0]]))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a person should know before they trust the digits."""
        found = [*self.remarks, *self.motion.certificate.doubts()]
        if self.family:
            why = "energy is conserved, so there are" if self.conserved else "there are"
            ways = "one way" if self.family == 1 else f"{self.family} ways"
            found.append(f"{why} other periodic motions beside it, in {ways}: this is the nearest to the guess")
        if self.nodes > 1 and self.closes > FOLLOWS:
            words = f"small changes grow so fast that one motion over the period misses its start by {self.closes:.2g}"
            found.append(f"{words} of its size; states along it are met to {self.residual:.2g}")
        if self.linear.blur > BLURRED:
            grown = f"small changes grow by {self.linear.growth:.1g} on the way, as next to a rest"
            found.append(f"multipliers are known to {self.linear.blur:.1g} only: {grown}")
        sizes = np.abs(self.floquet.all)
        if sizes.min(initial=1.0) < UNSURE * sizes.max(initial=0.0):
            found.append(f"multipliers below {UNSURE * sizes.max():.1g} are roundings of the largest")
        return tuple(found)

    def as_dict(self) -> dict[str, object]:
        """What `--json` prints."""
        return {
            "t": self.t,
            "period": self.period,
            "frequency": 1 / self.period,
            "multiple": self.multiple,
            "autonomous": self.autonomous,
            "conserved": self.conserved,
            "parameters": dict(self.parameters),
            "positions": self._named(self.positions),
            "velocities": self._named(self.velocities),
            "turns": self.turns,
            "energy": self.energy,
            "multipliers": [[each.real, each.imag] for each in self.multipliers.tolist()],
            "trivial": list(self.floquet.trivial),
            "trivial_error": self.floquet.error,
            "stability": self.stability,
            "family": self.family,
            "residual": self.residual,
            "checked": self.checked,
            "nodes": self.nodes,
            "steps": self.steps,
            "notes": list(self.notes),
        }

    def _named(self, values: Array) -> dict[str, float]:
        """By coordinates, without accounts of work, which nothing depends on."""
        accounts = self.case.system.accounts
        pairs = enumerate(zip(self.coordinates, values.tolist(), strict=True))
        return {name: value for place, (name, value) in pairs if place not in accounts}

    def as_arrays(self) -> dict[str, np.ndarray]:
        """What a .npz file has."""
        return {
            "t": np.array(self.t),
            "period": np.array(self.period),
            "coordinates": np.array(self.coordinates),
            "positions": self.positions,
            "velocities": self.velocities,
            "turns": self.linear.ring.turns,
            "multipliers": self.multipliers,
            "monodromy": self.linear.monodromy,
            "states": self.linear.arcs[0].ways[0],
        }

    def save(self, path: str | Path) -> None:
        """Write what was found to a .json or .npz file; raises OutputError. `motion.save` writes the motion itself."""
        written(path, npz=self.as_arrays, as_json=self.as_dict)


def floquet_of(found: Linear, autonomous: bool, conserved: bool) -> Multipliers:
    """The multipliers of a ring that is closed."""
    first = found.arcs[0]
    forward = found.norm.coordinates(first.ways[0], first.rates[0]) if autonomous else None
    return multipliers_of(found.monodromy, forward, first.energies[: found.ways] if conserved else None)
