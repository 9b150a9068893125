"""Curves that hold a point, as lines: in the plane F(x, y) = 0 by contouring, (x(s), y(s)) by sampling, in space too.

A curve is read off the law that holds its point, so whatever may enter that (time, tables, other points) moves the
line as it moves the constraint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from mechsim.frozen import frozen
from mechsim.lagrangian.formula import LEAVES, Formula, evaluated, symbol
from mechsim.model.mechanism import Mechanism
from mechsim.model.origin import Origin
from mechsim.render.frames import Frames
from mechsim.render.workshop import Workshop
from mechsim.result.layout import Array
from mechsim.spec.actions import Curve
from mechsim.spec.expression import IF, MATH
from mechsim.spec.names import AXES

Nested: TypeAlias = "float | str | list[Nested]"

FINENESS = 241  # lines of the grid, and points of a sampled curve: a few pixels apart


def _chosen(condition: Array, one: Array, other: Array) -> Array:
    return np.where(condition > 0, one, other)


OF_NUMPY: Mapping[str, Callable[..., Array]] = {
    "abs": np.abs, "sign": np.sign, "min": np.minimum, "max": np.maximum, IF: _chosen, "**": np.power,
}  # fmt: skip
FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    name: OF_NUMPY.get(name) or getattr(np, name.replace("asin", "arcsin"), None)
    or getattr(np, name.replace("atan", "arctan").replace("acos", "arccos")) for name in MATH
}  # fmt: skip


@frozen
class Track:
    """The rows of the law of a curve: F of an implicit one; of a parametric one x - x(s) and y - y(s).

    `free` are its symbols that run along the curve: the point's own coordinates as "x" and "y", or "s"; `given` are the
    others, with the slot of their value; `point` those of a parametric curve that stand for the point, and are 0.
    """

    rows: tuple[Formula, ...]
    free: Mapping[str, str]
    given: Mapping[str, int]
    parameters: Mapping[str, float]
    point: tuple[str, ...]

    def values(self, own: Mapping[str, Array], t: float, value: Callable[[int], float]) -> list[Array]:
        """The rows on a grid of "x" and "y", or along "s"; `value` tells that of a slot."""
        shape = next(iter(own.values())).shape
        given = {name: np.full(shape, parameter) for name, parameter in self.parameters.items()}
        given |= {name: np.full(shape, value(slot)) for name, slot in self.given.items()}
        given |= {name: own[coordinate] for name, coordinate in self.free.items()}
        given |= {"t": np.full(shape, t)} | dict.fromkeys(self.point, np.zeros(shape))
        with np.errstate(all="ignore"):
            rows = [evaluated(row, lambda leaf: given[symbol(leaf)], FUNCTIONS) for row in self.rows]
        return [np.broadcast_to(np.asarray(row, float), shape) for row in rows]


def track_of(curve: Curve, mechanism: Mechanism) -> Track | None:
    """None where the curve holds nothing that can move."""
    element = next((each for each in mechanism.elements if each.origin == Origin("curve", curve.point)), None)
    if element is None:
        return None
    owners = [variable.owner for variable in mechanism.variables]
    symbols = {slot: f"x{local}" for local, slot in enumerate(element.slots)}
    free = {
        symbols[slot]: name for slot, name in zip(mechanism.points[curve.point], AXES, strict=False) if slot in symbols
    }
    point: tuple[str, ...] = ()
    if curve.implicit is None:
        point = tuple(free)
        free = {symbols[owners.index(f"s_{curve.point}")]: "s"}
    rows = mechanism.laws[element.kind].constraints
    used = {symbol(leaf) for row in rows for leaf in row.leaves() if not leaf.is_number}
    given = {name: slot for slot, name in symbols.items() if name in used - {*free, *point}}
    return Track(rows, free, given, dict(element.parameters), point)


class CurveShape:
    """A curve near the motion: its lines at any frame. Without a `curve` of the file, where the row of `track` is 0."""

    def __init__(self, curve: Curve | None, track: Track, shop: Workshop):
        self.track, self.scene, self.frames = track, shop.scene, shop.drawn
        self.low, self.high = shop.box()
        self.run = None if curve is None or curve.implicit is not None else self._run(curve, shop.frames)

    @property
    def moves(self) -> bool:
        """Whether time, the mechanism or constants that change move it."""
        segments = self.scene.segments
        changing = {-1 - int(number) for number in segments.numbers[segments.changing]}
        slots = set(self.track.given.values())
        return any(row.uses("t") for row in self.track.rows) or any(slot >= 0 or slot in changing for slot in slots)

    @property
    def reach(self) -> tuple[Array, ...]:
        """Corners of a box that holds it at all times."""
        return (np.array([self.low, self.high]),)

    def lines(self, frame: int) -> tuple[Array, ...]:
        """As it is at a frame."""
        frames, segments = self.frames, self.scene.segments
        held = segments.constants(self.scene.mechanism.constants, segments.at(frames.t[frame]))

        def value(slot: int) -> float:
            return float(frames.coordinates[frame, slot] if slot >= 0 else held[-1 - slot])

        t = float(frames.t[frame])
        return self._contours(t, value) if self.run is None else self._sampled(t, value)

    def _run(self, curve: Curve, motion: Frames) -> tuple[float, float]:
        """The piece that the point passes and as much again on either side, or a full turn."""
        owners = [variable.owner for variable in self.scene.mechanism.variables]
        passed = motion.coordinates[:, owners.index(f"s_{curve.point}")]
        middle, half = (passed.max() + passed.min()) / 2, max(1.5 * float(np.ptp(passed)), np.pi)
        return float(middle - half), float(middle + half)

    def _contours(self, t: float, value: Callable[[int], float]) -> tuple[Array, ...]:
        from contourpy import contour_generator

        x, y = (np.linspace(low, high, FINENESS) for low, high in zip(self.low, self.high, strict=True))
        grid = np.meshgrid(x, y)
        (row,) = self.track.values({"x": grid[0], "y": grid[1]}, t, value)
        lines = contour_generator(x, y, np.ma.masked_invalid(row)).lines(0.0)
        return tuple(np.asarray(line) for line in lines)

    def _sampled(self, t: float, value: Callable[[int], float]) -> tuple[Array, ...]:
        """Nothing of it that is far away."""
        assert self.run
        s = np.linspace(*self.run, 3 * FINENESS)
        line = -np.column_stack(self.track.values({"s": s}, t, value))
        near = np.all(np.isfinite(line) & (line >= self.low) & (line <= self.high), axis=1)
        pieces = np.split(line, np.flatnonzero(near[1:] != near[:-1]) + 1)
        return tuple(piece for piece in pieces[0 if near[0] else 1 :: 2] if len(piece) > 1)


def curve_shape(curve: Curve, shop: Workshop) -> CurveShape | None:
    track = track_of(curve, shop.scene.mechanism)
    return None if track is None else CurveShape(curve, track, shop)


def nested(row: Formula) -> Nested:
    """A formula as nested lists, `["+", 1.5, ["sin", "x0"]]`: numbers, names of symbols, operations."""
    if row.is_number:
        return row.value
    if row.operation in LEAVES:
        return symbol(row)
    if row.operation == "neg":
        return ["-", 0.0, nested(row.operands[0])]
    return [row.operation, *map(nested, row.operands)]
