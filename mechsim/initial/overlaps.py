"""Starts behind a barrier: which, how deep, what contradicts what, and where the nearest start is that is allowed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mechsim.errors import AssemblyError, Fault
from mechsim.initial.start import Array, Indices
from mechsim.model.outlines import overlap

if TYPE_CHECKING:
    from mechsim.kernel.system import System

OVERLAP = 1e-12  # of a gap's size, which a start may be off: what a person writes down is rounded
OPPOSITE = 1e-9  # by which directions may differ that are opposite to each other
MOVED = 1e-9  # of a scale: a coordinate that moves less is not told
MOST_STEPS = 50
MOST_TOLD = 6  # coordinates of a start


class Beginning(Protocol):
    """What is asked of a start."""

    @property
    def t(self) -> float: ...
    @property
    def positions(self) -> np.ndarray: ...
    @property
    def fixed(self) -> tuple[tuple[int, ...], tuple[int, ...]]: ...


def refuse_overlaps(system: System, start: Beginning) -> None:
    """A motion cannot begin behind a barrier. Raises AssemblyError."""
    if all(gap.bond for gap in system.gaps):
        return
    faults = [*_Barriers(system, start).faults(), *_of_pairs(system, start)]
    if faults:
        raise AssemblyError(*faults)


def _of_pairs(system: System, start: Beginning) -> Iterator[Fault]:
    sizes = system.constraint_sizes[system.gap_rows]
    for pair in system.mechanism.pairs:
        depth = overlap(pair.first, pair.second, start.positions, system.mechanism.constants)
        if depth > OVERLAP * sizes[pair.lent[0].gap]:
            message = f"the start is inside contact {pair.name} by {depth:.6g}"
            yield Fault(message, pair.mark, f"move the one out of the other, by {depth:.3g} or more")


class _Barriers:
    """The gaps of a system at a start, but for those of outlines."""

    def __init__(self, system: System, start: Beginning):
        lent = {each.gap for pair in system.mechanism.pairs for each in pair.lent}
        own = [number for number, gap in enumerate(system.gaps) if number not in lent and not gap.bond]
        self.start, self.own = start, own
        constants = system.constants.copy()
        constants[system.gap_modes[self.own]] = 1.0
        self.closed = system.holding(constants)  # its constraints are the gaps themselves
        self.gaps = [system.gaps[number] for number in self.own]
        self.rows = system.gap_rows[self.own]
        self.sizes = system.constraint_sizes[self.rows]
        self.lasting = np.setdiff1d(np.arange(system.m), system.gap_rows)

    def faults(self) -> list[Fault]:
        with np.errstate(all="ignore"):
            heights = self._heights(self.start.positions)
            strange = [
                Fault(
                    f"contact {gap.name} has no gap at the start: it is {height}",
                    gap.mark,
                    "begin where its formula has a value",
                )
                for gap, height in zip(self.gaps, heights.tolist(), strict=True)
                if not np.isfinite(height)
            ]
            entered = np.flatnonzero(heights < -OVERLAP * self.sizes)
            if strange or not len(entered):
                return strange
            return list(self._contradictions(entered, heights)) or self._entered(entered, heights)

    def _heights(self, q: Array) -> Array:
        return np.asarray(self.closed.constraints(self.start.t, q)[self.rows])

    def _gradients(self, q: Array, rows: Indices) -> Array:
        """By coordinates in their scales."""
        found = np.zeros((self.closed.m, self.closed.n))
        row, column, value = self.closed.constraint_jacobian(self.start.t, q)
        np.add.at(found, (row, column), value)
        return np.asarray((found * self.closed.scales[: self.closed.n])[rows])

    def _contradictions(self, entered: Indices, heights: Array) -> Iterator[Fault]:
        """Gaps that open in opposite directions, so that all that is before the one is behind the other."""
        gradients = self._gradients(self.start.positions, self.rows)
        lengths = np.linalg.norm(gradients, axis=1)
        lengths[lengths == 0] = np.inf
        ways = gradients / lengths[:, None]
        for i in entered.tolist():
            for j in range(len(self.gaps)):
                apart = heights[i] / lengths[i] + heights[j] / lengths[j]
                if ways[i] @ ways[j] > OPPOSITE - 1 or not apart < 0 or (j in entered and j < i):
                    continue
                one, other = self.gaps[min(i, j)], self.gaps[max(i, j)]
                where = f" (line {other.mark.line})" if other.mark is not None and other.mark != one.mark else ""
                message = f"contacts {one.name} and {other.name}{where} cannot both hold at t = {self.start.t:g}"
                hint = "what is before the one is behind the other: exchange them, or move them apart"
                yield Fault(message, one.mark, hint)

    def _entered(self, entered: Indices, heights: Array) -> list[Fault]:
        advice = "begin where its gap is not negative" + self._nearest()
        return [
            Fault(
                f"the start is inside contact {self.gaps[number].name} by {-heights[number]:.6g}",
                self.gaps[number].mark,
                advice,
            )
            for number in entered.tolist()
        ]

    def _nearest(self) -> str:
        """The nearest start that is allowed, in words; nothing where none was found."""
        moving = [i for i, each in enumerate(self.closed.mechanism.variables) if each.kind != "state"]
        fixed = self.start.fixed[0]
        for held in (fixed, ()):
            free = np.array([i for i in moving if i not in held], dtype=np.intp)
            q = self._moved_out(free)
            if q is None:
                continue
            moved = np.abs(q - self.start.positions) > MOVED * self.closed.scales[: self.closed.n]
            places = np.flatnonzero(moved).tolist()
            if len(places) > MOST_TOLD:
                return ""
            told = ", ".join(f"{self.closed.labels[place]} = {q[place]:.6g}" for place in places)
            let_go = [self.closed.labels[place] for place in places if place in fixed]
            return f"; the nearest such start has {told}" + (f" ({_named(let_go)} fixed now)" if let_go else "")
        return ""

    def _moved_out(self, free: Indices) -> Array | None:
        """The start, moved by these coordinates as little as it takes, by Newton's method; None: it was not found."""
        q, scales = self.start.positions.copy(), self.closed.scales[: self.closed.n]
        active = np.zeros(len(self.gaps), dtype=bool)
        for _ in range(MOST_STEPS):
            heights = self._heights(q)
            active |= heights < -OVERLAP * self.sizes
            rows = np.concatenate([self.lasting, self.rows[active]])
            off = self.closed.constraints(self.start.t, q)[rows]
            if not np.isfinite(off).all():
                return None
            if (
                np.abs(off).max(initial=0.0) <= OVERLAP * self.sizes.max()
                and not (heights < -OVERLAP * self.sizes).any()
            ):
                return q
            step = np.linalg.lstsq(self._gradients(q, rows)[:, free], -off, rcond=None)[0]
            q[free] += step * scales[free]
        return None


def _named(labels: Sequence[str]) -> str:
    return f"{', '.join(labels)} {'is' if len(labels) == 1 else 'are'}"
