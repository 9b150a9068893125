"""What a designer asks of a mechanism of one freedom: how far its input goes, dead centres, how outputs follow it and
what force they give for it (mechanical advantage), transmission angles, and coupler curves."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mechsim.analysis.curve import Curve, curve_of
from mechsim.analysis.round import TOLERANCE, Round
from mechsim.analysis.written import csv_of, written
from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.measure import piecewise
from mechsim.measure.piecewise import Pieces
from mechsim.result.layout import Array

ROWS = 360
NEWTON = 6
FULL = 1e-9  # of a turn
FORCES = {"rad": "N m", "m": "N"}
NAMED = re.compile(r"[A-Za-z]\d*")
STILL = 1e-12  # of the largest rate: nothing but rounding


@frozen
class Place:
    """A value of a quantity, where the input is at it, and the place along the way."""

    value: float
    input: float
    s: float


@frozen
class Range:
    """Between which values a quantity goes, and where."""

    smallest: Place
    largest: Place


@frozen
class DeadCentre:
    """Where a quantity turns back while the mechanism goes on. That of the input cannot drive it on from there; at one
    of an output any force of it is borne without one of the input."""

    of: str
    is_input: bool
    place: Place


@frozen(eq=False)
class Cycle:
    """All poses of a mechanism of one freedom. Columns have a row for each of `s`, the length of the way: the input,
    each output with `d.../d...` and `advantage ...`, angles, and coordinates of points."""

    way: Round
    input: str
    unit: str
    outputs: Mapping[str, str]  # their units
    turns: int  # that the input makes until all is as at first; 0 where it goes there and back
    s: Array
    columns: Mapping[str, Array]
    units: Mapping[str, str]
    ranges: Mapping[str, Range]
    dead_centres: tuple[DeadCentre, ...]
    angles: Mapping[str, Range]  # between two lines, from 0 to pi
    curves: Mapping[str, Curve]

    @property
    def closed(self) -> bool:
        return self.way.closed

    @property
    def notes(self) -> tuple[str, ...]:
        return self.way.notes

    def at(self, quantity: str, s: float | Array) -> Array:
        """Any quantity of the pose along the way."""
        return piecewise.values_at(self.way.pieces(quantity), np.atleast_1d(np.asarray(s, float)))

    def ratio(self, output: str, s: float | Array) -> Array:
        """How fast an output goes for each unit of the input's rate; without bounds where that is at a dead centre."""
        places = np.atleast_1d(np.asarray(s, float))
        return _ratio(*(_rate(self.way.pieces(text), places) for text in (output, self.input)))

    def advantage(self, output: str, s: float | Array) -> Array:
        """The force or torque of an output for each unit of the input's, as nothing is lost on the way."""
        places = np.atleast_1d(np.asarray(s, float))
        return _ratio(*(_rate(self.way.pieces(text), places) for text in (self.input, output)))

    def save(self, path: str | Path) -> Path:
        """Write the columns (.csv, .npz), or all that was found (.json); raises OutputError."""
        columns = {"s": self.s, **self.columns}
        rows = np.stack(list(columns.values()), axis=1).tolist()
        return written(
            path,
            csv=lambda: csv_of(list(columns), rows, f"units: {json.dumps(dict(self.units))}"),
            npz=lambda: columns,
            as_json=self.as_dict,
        )

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "input": self.input,
            "closed": self.closed,
            "turns": self.turns,
            "ranges": {name: _listed(each) for name, each in self.ranges.items()},
            "dead_centres": [
                {"of": each.of, "input": each.place.input, "value": each.place.value, "s": each.place.s}
                for each in self.dead_centres
            ],
            "angles": {name: _listed(each) for name, each in self.angles.items()},
            "curves": {
                name: {
                    "low": each.low,
                    "high": each.high,
                    "cusps": [list(mark.at) for mark in each.cusps],
                    "doubles": [list(mark.at) for mark in each.doubles],
                }
                for name, each in self.curves.items()
            },
            "notes": list(self.notes),
        }


def _listed(each: Range) -> dict[str, dict[str, float]]:
    return {
        name: {"value": place.value, "input": place.input, "s": place.s}
        for name, place in (("smallest", each.smallest), ("largest", each.largest))
    }


def cycle_of(
    way: Round,
    input: str,
    outputs: Sequence[str] = (),
    angles: Mapping[str, str] | None = None,
    points: Mapping[str, Sequence[str]] | None = None,
    rows: int = ROWS,
) -> Cycle:
    """`angles` are cosines as expressions, `points` the expressions of coordinates, by name. Raises SpecError."""
    driving = way.pieces(input)
    if not _moves(way, driving):
        raise SpecError(Fault(f"the input {input} stands still while the mechanism moves", hint="name what moves"))
    units = {name: way.names.unit(name) or "" for name in (input, *outputs)}
    first, last = (piecewise.values_at(driving, np.array([place]))[0] for place in (0.0, way.length))
    turns = round(abs(last - first) / (2 * np.pi)) if way.closed else 0
    whole = way.closed and turns > 0 and abs(abs(last - first) / (2 * np.pi) - turns) < FULL
    s = _rows(way, driving, rows)
    columns, ranges, dead = {input: piecewise.values_at(driving, s)}, {input: _range(way, driving, driving)}, []
    told = {input: units[input]}
    dead += _dead_centres(way, input, driving, driving)
    for name in outputs:
        pieces = way.pieces(name)
        rates = [_rate(each, s) for each in (pieces, driving)]
        columns |= {name: piecewise.values_at(pieces, s), f"d {name}/d {input}": _ratio(*rates)}
        columns[f"advantage {name}"] = _ratio(*reversed(rates))
        told |= {name: units[name], f"d {name}/d {input}": _per(units[name], units[input])}
        told[f"advantage {name}"] = _per(FORCES.get(units[name], ""), FORCES.get(units[input], ""))
        ranges[name] = _range(way, pieces, driving)
        dead += _dead_centres(way, name, pieces, driving)
    lines = {}
    for name, text in (angles or {}).items():
        _check_angle(name)
        cosine = way.pieces(text)
        columns[name], told[name] = _angle(piecewise.values_at(cosine, s)), "rad"
        lines[name] = _angles(_range(way, cosine, driving))
    curves = {name: curve_of(way, name, texts) for name, texts in (points or {}).items()}
    for name, curve in curves.items():
        for axis, text in zip("xyz", curve.texts, strict=False):
            columns[f"{name}_{axis}"], told[f"{name}_{axis}"] = piecewise.values_at(way.pieces(text), s), "m"
    dead.sort(key=lambda each: each.place.s)
    own = {name: units[name] for name in outputs}
    return Cycle(
        way,
        input,
        units[input],
        own,
        turns if whole else 0,
        s,
        columns,
        told,
        ranges,
        tuple(dead),
        lines,
        curves,
    )


def _check_angle(name: str) -> None:
    """Raises SpecError where points of an angle are the same."""
    points = NAMED.findall(name.removeprefix("angle "))
    if len(points) == 3 and len(set(points)) < 3:
        hint = "A,B,C is the angle at B, between the lines to A and to C"
        raise SpecError(Fault(f"{name} needs three points that differ", hint=hint))


def _moves(way: Round, pieces: Pieces) -> bool:
    return float(np.abs(_rate(pieces, np.linspace(0, way.length, 32))).max()) > STILL


def _rate(pieces: Pieces, s: Array) -> Array:
    return piecewise.values_at(piecewise.slopes(pieces), s)


def _ratio(above: Array, below: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(above / below)


def _per(one: str, other: str) -> str:
    if one == other:
        return ""
    return f"{one}/({other})" if " " in other else f"{one}/{other}" if one and other else ""


def _rows(way: Round, driving: Pieces, rows: int) -> Array:
    """Places along the way: by equal steps of the input if that always goes on, else of the way itself."""
    s = np.linspace(0.0, way.length, rows + 1)
    if len(way.zeros(piecewise.slopes(driving))):
        return s
    values = piecewise.values_at(driving, s)
    wanted = np.linspace(values[0], values[-1], rows + 1)
    forward = values if values[-1] > values[0] else -values
    s = np.interp(np.abs(wanted - wanted[0]), forward - forward[0], s)
    for _ in range(NEWTON):
        s = np.clip(s - (piecewise.values_at(driving, s) - wanted) / _rate(driving, s), 0.0, way.length)
    return s


def _range(way: Round, pieces: Pieces, driving: Pieces) -> Range:
    """Of one round: all its turning points, and its ends if it has some."""
    turns = way.zeros(piecewise.slopes(pieces))
    s = np.concatenate([np.array([0.0, way.length]), turns])
    values = piecewise.values_at(pieces, s)
    inputs = piecewise.values_at(driving, s)
    low, high = int(np.argmin(values)), int(np.argmax(values))
    found = [Place(float(values[k]), float(inputs[k]), float(s[k])) for k in (low, high)]
    return Range(*found)


def _dead_centres(way: Round, name: str, pieces: Pieces, driving: Pieces) -> list[DeadCentre]:
    s = way.zeros(piecewise.slopes(pieces))
    values, inputs = (piecewise.values_at(each, s).tolist() for each in (pieces, driving))
    found = zip(values, inputs, s.tolist(), strict=True)
    return [DeadCentre(name, pieces is driving, Place(*each)) for each in found]


def _angles(cosine: Range) -> Range:
    """The smallest angle is where its cosine is largest."""

    def turned(each: Place) -> Place:
        return Place(float(_angle(np.array(each.value))), each.input, each.s)

    return Range(turned(cosine.largest), turned(cosine.smallest))


def _angle(cosine: Array) -> Array:
    """Cosines are as good as the way: lines whose cosine is as near to one as that are in line, for all that is known,
    while its inverse would tell an angle of the square root of rounding."""
    known = np.where(1.0 - np.abs(cosine) <= TOLERANCE, np.sign(cosine), cosine)
    return np.asarray(np.arccos(np.clip(known, -1.0, 1.0)))
