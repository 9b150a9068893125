"""The steps of many motions, as measures read them: polynomials, ends, numbers of each case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from math import perm
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen
from mechsim.measure.bernstein import Array, Indices
from mechsim.measure.piecewise import Pieces
from mechsim.result import Motion
from mechsim.result.derived import Derived
from mechsim.result.motion import derived_columns

LEAST = 3  # coefficients of a polynomial: measures look at slopes, and how these change
CLOSE = 1e-12  # of the motion's duration: times of events are known no better, and what is so near to one is behind it
MOST_STEPS = 1 << 16  # at once: what they need stays near the processor, and bounds what is needed of memory

Value = NDArray[np.generic] | float | str  # of a parameter: for each case, for all, or an expression for all


class Series(Protocol):
    """The polynomials of all steps of all cases: step s is one of case k if `offsets[k] <= s < offsets[k + 1]`, and
    has the unknown j at `t` as the sum of `coefficients[s, d, j] * (t - begins[s])**d`."""

    @property
    def offsets(self) -> Indices: ...
    @property
    def begins(self) -> Array: ...
    @property
    def ends(self) -> Array: ...
    @property
    def coefficients(self) -> Array: ...
    @property
    def constants(self) -> Array: ...  # (cases, constants) of the mechanism


class Many(Protocol):
    """Motions of many cases, of which some may not have finished; t, q and v are those at their ends."""

    @property
    def coordinates(self) -> Sequence[str]: ...
    @property
    def t(self) -> Array: ...
    @property
    def q(self) -> Array: ...
    @property
    def v(self) -> Array: ...
    @property
    def finished(self) -> np.ndarray: ...
    @property
    def parameters(self) -> Mapping[str, Value]: ...
    @property
    def polynomials(self) -> Series: ...
    def column(self, name: str) -> Array: ...
    def motion(self, k: int) -> Motion: ...


@runtime_checkable
class Energetic(Protocol):
    """Motions that know the energies of all their cases at once: at points with the number of a case, time, positions
    and velocities (points, n)."""

    def energies(self, case: Indices, t: Array, q: Array, v: Array) -> tuple[Array, Array]: ...


@frozen(eq=False)
class Block:
    """Cases that are measured at once. Their polynomials have so many degrees: others may stand beside them that have
    more, of which they would otherwise be measured by powers that they have not."""

    cases: Indices
    series: Series | None = None
    degrees: int = 0

    @property
    def known(self) -> Series:
        assert self.series is not None  # what takes no more than final states does not ask
        return self.series


def blocks_of(cases: Indices, series: Series) -> Iterator[Block]:
    """Blocks of cases that have steps, by the degrees that each has, so that it is measured alike in any company."""
    counts = np.diff(series.offsets)[cases]
    cases, counts = cases[counts > 0], counts[counts > 0]
    degrees = _degrees(series)[cases]
    for own in np.unique(degrees).tolist():
        chosen = degrees == own
        ends = np.cumsum(counts[chosen])
        yield from (Block(cases[chosen][first:last], series, own) for first, last in _spans(ends, MOST_STEPS))


def _degrees(series: Series) -> Indices:
    """How many degrees the polynomials of each case have, highest power included, at least those of a parabola."""
    case = np.repeat(np.arange(len(series.offsets) - 1), np.diff(series.offsets))
    found = np.zeros(len(series.offsets) - 1, dtype=np.intp)
    for degree in reversed(range(2, series.coefficients.shape[1])):
        there = case[(series.coefficients[:, degree] != 0).any(axis=1)]
        found[there] = np.maximum(found[there], degree + 1)
        if found[case].all():
            break
    return np.maximum(found, LEAST)


def _spans(ends: Indices, most: int) -> Iterator[tuple[int, int]]:
    """Ranges whose sums are at most so much, or that have one member; `ends` are sums until each."""
    first, before = 0, 0
    while first < len(ends):
        last = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield first, last
        first, before = last, int(ends[last - 1])


class Steps:
    """Some finished cases of many. `changing`: constants of the mechanism change along a motion, so that what depends
    on them is asked of each motion."""

    def __init__(self, many: Many, block: Block, parameter: Callable[[str], Array], changing: bool):
        self.many, self.block, self.changing = many, block, changing
        self.cases = cases = block.cases
        self.count, self.labels = len(cases), tuple(many.coordinates)
        self.t, self.q, self.v = many.t[cases], many.q[cases], many.v[cases]
        self._parameter = parameter
        self._series: dict[tuple[str, int], Array] = {}
        self._derived: dict[tuple[int, tuple[str, ...]], Derived] = {}

    @cached_property
    def offsets(self) -> Indices:
        given = self.block.known.offsets
        return np.concatenate([[0], np.cumsum(given[self.cases + 1] - given[self.cases])])

    @cached_property
    def rows(self) -> slice | Indices:
        """Which steps of all are theirs."""
        given = self.block.known.offsets
        first, last = int(given[self.cases[0]]), int(given[self.cases[-1] + 1])
        if last - first == self.offsets[-1]:
            return slice(first, last)
        return np.concatenate([np.arange(given[k], given[k + 1]) for k in self.cases.tolist()])

    @cached_property
    def case(self) -> Indices:
        return np.repeat(np.arange(self.count), np.diff(self.offsets))

    @cached_property
    def begins(self) -> Array:
        return self.block.known.begins[self.rows]

    @cached_property
    def ends(self) -> Array:
        return self.block.known.ends[self.rows]

    @cached_property
    def durations(self) -> Array:
        return self.ends - self.begins

    @property
    def starts(self) -> Array:
        """When the motions began."""
        return self.begins[self.offsets[:-1]]

    @property
    def last_since(self) -> Array:
        return self.begins[self.offsets[1:] - 1]

    def series(self, label: str, order: int) -> Array:
        """The coefficients of a coordinate, velocity (order 1) or acceleration (2) by powers of the share of a step,
        (degree + 1, steps)."""
        key = label, order
        if key not in self._series:
            kept, degrees = self.block.known.coefficients, self.block.degrees
            found = kept[self.rows, order:degrees, self.labels.index(label)].T.copy()  # which is changed below
            if len(found) < LEAST:  # a parabola's velocity has two, its acceleration is one number
                found = np.concatenate([found, np.zeros((LEAST - len(found), found.shape[1]))])
            power = np.ones(found.shape[1])
            for degree, row in enumerate(found):
                row *= power * perm(degree + order, order)  # exact: a product of small whole numbers
                power *= self.durations
            self._series[key] = found
        return self._series[key]

    def reach(self, label: str, order: int) -> Array:
        """The sum of the sizes of its terms in each step, of which roundings are a share."""
        series = self.series(label, order)
        total = np.abs(series[0])
        for row in series[1:]:
            total = total + np.abs(row)
        return total

    def at(self, times: Array) -> tuple[Indices, Array]:
        """For each case the step at a time, of two the one that begins there, and the share of it."""
        latest = times + CLOSE * (self.t - self.starts)
        begun = np.add.reduceat((self.begins <= latest[self.case]).astype(np.intp), self.offsets[:-1])
        step = self.offsets[:-1] + np.maximum(begun - 1, 0)
        return step, (times - self.begins[step]) / self.durations[step]

    def pieces(self, polynomials: Array, places: Indices) -> Pieces:
        """Steps as pieces."""
        columns = self.case[places], self.begins[places], self.ends[places]
        return Pieces(self.count, *columns, polynomials, np.zeros(self.count))

    def parameter(self, name: str) -> Array:
        """Its value, or one for each case."""
        value = self._parameter(name)
        return value if value.ndim == 0 else value[self.cases]

    def motion(self, case: int) -> Motion:
        return self.many.motion(int(self.cases[case]))

    def derived(self, case: int, reactions: tuple[str, ...]) -> Derived:
        """What gives the columns beyond the state of a case."""
        key = case, reactions
        if key not in self._derived:
            self._derived[key] = derived_columns(self.motion(case).solution, reactions)
        return self._derived[key]

    def constants(self, case: Indices, since: Array) -> Array:
        """Constants of the mechanism of cases, as they are from a time on, (points, constants)."""
        if not self.changing:
            return self.block.known.constants[self.cases[case]]
        found = np.empty((len(case), self.motion(int(case[0])).system.constants.shape[-1]))
        for k, rows in _runs(case):
            solution = self.motion(k).solution
            found[rows] = solution.segments.system_at(solution.system, since[rows]).constants
        return found

    def energies(self, case: Indices, since: Array, t: Array, q: Array, v: Array) -> tuple[Array, Array]:
        """Kinetic and potential energy at points."""
        if isinstance(self.many, Energetic) and not self.changing:
            return self.many.energies(self.cases[case], t, q, v)
        found = np.empty((2, len(t)))
        for k, rows in _runs(case):
            solution = self.motion(k).solution
            system = solution.segments.system_at(solution.system, since[rows])
            found[:, rows] = system.energies(t[rows], q[rows], v[rows])
        return found[0], found[1]

    def leading(self, step: Indices, shares: Array) -> tuple[Array, Array]:
        """Accelerations and multipliers as the polynomials have them at shares of steps."""
        own = self.block.known.coefficients
        rows = (np.arange(self.rows.start, self.rows.stop) if isinstance(self.rows, slice) else self.rows)[step]
        h, n = (shares * self.durations[step])[:, None], len(self.labels)
        bends, multipliers = np.zeros((len(step), n)), np.zeros((len(step), own.shape[2] - n))
        for degree in reversed(range(own.shape[1])):
            multipliers = multipliers * h + own[rows, degree, n:]
            if degree >= 2:
                bends = bends * h + degree * (degree - 1) * own[rows, degree, :n]
        return bends, multipliers


def _runs(case: Indices) -> list[tuple[int, Indices]]:
    """The points of each case."""
    order = np.argsort(case, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(case[order]) != 0))
    return [(int(case[rows[0]]), rows) for rows in np.split(order, first[1:])]
