"""What drives have to give for a motion that is prescribed: forces or torques, power, work (inverse dynamics)."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

import numpy as np

from mechsim.analysis.written import csv_of, written
from mechsim.frozen import frozen
from mechsim.measure import piecewise
from mechsim.measure.extremes import Extreme, highest, lowest, reading
from mechsim.measure.piecewise import Pieces
from mechsim.result import Motion
from mechsim.result.drives import drives
from mechsim.result.layout import Array
from mechsim.spec.motion import plain_name


@frozen
class Need:
    """Of one drive: its force or torque, and its power, of which it may take some back. Extremes are those between
    rows, too."""

    name: str  # the column
    unit: str
    largest: Extreme
    smallest: Extreme
    rms: float
    most_power: Extreme
    least_power: Extreme
    work: float

    @property
    def peak(self) -> Extreme:
        """Whichever is larger, with its sign."""
        return self.largest if abs(self.largest.value) >= abs(self.smallest.value) else self.smallest


@frozen(eq=False, slots=False)
class Inverse:
    """A motion that is prescribed, and what its drives need for it. `freedoms` are those that nothing drives."""

    motion: Motion
    freedoms: int
    needs: tuple[Need, ...]
    text: str  # the mechanism's file with these drives
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Need:
        """By the name of a column, or of what is driven."""
        found = {each.name: each for each in self.needs}
        for known in (name, f"drive_{plain_name(str(name))}"):
            if known in found:
                return found[known]
        raise KeyError(f"no drive {name!r}; there are {', '.join(found)}")

    @cached_property
    def columns(self) -> list[tuple[str, str]]:
        return [column for each in drives(self.motion.mechanism) for column in each.columns]

    def at(self, times: Array) -> dict[str, Array]:
        """Forces and powers at times of your choice."""
        table = self.motion.sampled(np.asarray(times, float))
        return {name: np.asarray(table[name]) for name, _ in self.columns}

    def save(self, path: str | Path, times: Array | None = None) -> Path:
        """Write forces, torques and powers (.csv, .npz), what is needed at most (.json), or the driven mechanism's file
        (.yaml); raises OutputError."""
        if Path(path).suffix.lower() in (".yaml", ".yml") and self.text:
            from mechsim.result.paths import check_target, replacing

            target = check_target(path, endings=(".yaml", ".yml"))
            with replacing(target) as temporary:
                temporary.write_text(self.text, encoding="utf-8")
            return target
        t = np.asarray(self.motion.trajectory["t"]) if times is None else times
        found = {"t": t, **self.at(t)}
        rows = np.stack(list(found.values()), axis=1).tolist()
        units = json.dumps({"t": "s", **dict(self.columns)})
        told = self.as_dict
        return written(path, csv=lambda: csv_of(list(found), rows, f"units: {units}"), npz=lambda: found, as_json=told)

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "t0": float(self.motion.t[0]),
            "tend": float(self.motion.t[-1]),
            "freedoms": self.freedoms,
            "drives": {each.name: _listed(each) for each in self.needs},
            "notes": list(self.notes),
        }


def _listed(need: Need) -> dict[str, object]:
    extremes = {name: getattr(need, name) for name in ("peak", "largest", "smallest", "most_power", "least_power")}
    told = {name: {"value": each.value, "t": each.t} for name, each in extremes.items()}
    return {"unit": need.unit, **told, "rms": need.rms, "work": need.work}


def needs_of(motion: Motion) -> tuple[Need, ...]:
    """Of all drives of a motion that kept its polynomials."""
    found: list[Need] = []
    read = reading(motion)
    for drive in drives(motion.mechanism):
        power = read(f"{drive.labels[0]}_power")
        for label in drive.labels:
            found.append(_need(label, drive.unit, read(label), power))
    return tuple(found)


def _need(name: str, unit: str, force: Pieces, power: Pieces) -> Need:
    duration = float(force.ends[-1] - force.begins[0])
    rms = float(np.sqrt(piecewise.square_integral(force)[0] / duration))
    extremes = [highest(force), lowest(force), highest(power), lowest(power)]
    return Need(
        name, unit, extremes[0], extremes[1], rms, extremes[2], extremes[3], float(piecewise.integral(power)[0])
    )
