"""Bonds along a march: events of the user let them go, and let them take hold (kernel/src/bonds.cpp)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.engine.stops import Stops
from mechsim.kernel.compiled import Status
from mechsim.kernel.march import March
from mechsim.kernel.system import System

FITS = 1e-9  # of its size: a row that is off by less is meant to be zero

Row = tuple[float, ...]  # of the table of events, see events.COLUMNS


class Bonds:
    """`jumped`: whether some took hold at the last event. `broken`: why one could not."""

    def __init__(self, system: System, march: March, stops: Stops):
        self.system, self.march, self.stops = system, march, stops
        self.jumped, self.broken = False, ""
        self._rows: dict[str, list[int]] = {}
        for number, gap in enumerate(system.gaps):
            if gap.bond:
                self._rows.setdefault(gap.name, []).append(number)

    def act(
        self, releases: Sequence[str], attaches: Sequence[str], t: float, q: np.ndarray, v: np.ndarray
    ) -> list[Row]:
        """What an event asks for, at a state; what is to be told of it. What is so already stays as it is."""
        self.jumped = False
        held = [name for name in releases if self._holds(name)]
        rows = [self._release(name, t, q, v) for name in held]
        for name in attaches:
            if not self._holds(name) and not self.broken:
                rows += self._attach(name, t, q, v)
        return rows

    def _holds(self, name: str) -> bool:
        return bool(self.stops.constants[self._mode(name)])

    def _mode(self, name: str) -> int:
        return self.system.gaps[self._rows[name][0]].mode

    def _release(self, name: str, t: float, q: np.ndarray, v: np.ndarray) -> Row:
        """Nothing jumps but forces."""
        self.stops.changed(self.march, t, q, v, {self._mode(name): 0.0})
        return t, self._rows[name][0], 0.0, 0.0, 0.0, 0.0, 1.0, 0.0

    def _attach(self, name: str, t: float, q: np.ndarray, v: np.ndarray) -> list[Row]:
        """A plastic impact; none where rows do not fit, or where nothing tells what they bear."""
        rows = self._rows[name]
        kept = [self.system.gaps[row].held for row in rows]
        off = self.stops.now.gap_values(t, q)[rows]
        apart = np.where([number is None for number in kept], np.abs(off), 0.0)
        if not np.all(apart <= FITS * self.system.constraint_sizes[self.system.gap_rows[rows]]):
            return self._refuse(name, t, f"what it joins is {apart.max():.3g} apart")
        found = {number: by for number, by in zip(kept, off.tolist(), strict=True) if number is not None}
        if self.stops.changes:
            places = zip(kept, self.system.gap_rows[rows].tolist(), strict=True)
            own = {number: row for number, row in places if number is not None}
            self.stops.changes.kept(self.march, own, self.stops.now, (t, q, v))
        self.stops.set(self.march, {number: self.stops.constants[number] + by for number, by in found.items()})
        status, (rates, impulses, lost) = self.march.attach(np.array(rows, dtype=np.int32))
        if status != Status.REACHED:
            singular = status == Status.SINGULAR
            return self._refuse(name, t, "other joints hold that already" if singular else "nothing tells how it does")
        self.jumped = True
        self.stops.constants[self._mode(name)] = 1.0
        self.stops.log.begin(t, self.stops.constants)
        return [(t, rows[0], _length(rates), 0.0, _length(impulses), float(lost.sum()), 0.0, 1.0)]

    def _refuse(self, name: str, t: float, why: str) -> list[Row]:
        self.broken = f"bond {name} cannot take hold at t = {t:.9g}: {why}"
        return []


def _length(values: np.ndarray) -> float:
    """Of several rows; of one its value, with its sign."""
    return float(values[0] if len(values) == 1 else np.linalg.norm(values))
