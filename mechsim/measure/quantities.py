"""Quantities of many motions: what names of a measure mean, and their values anywhere within steps or at the end.

Coordinates and velocities come straight from the polynomials of the steps, for all cases at once; so do expressions of
them, and energies. What takes more (reactions, drives, tabled signals) goes case by case.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from mechsim.engine.points import Points
from mechsim.frozen import frozen
from mechsim.measure import bernstein, piecewise, resolving
from mechsim.measure.bernstein import ROUNDING, Array, Indices, Mask
from mechsim.measure.formulas import Formula, Look, Term
from mechsim.measure.piecewise import Pieces
from mechsim.measure.steps import Steps
from mechsim.result.derived import Derived
from mechsim.spec.expression import Expression, name_of


@frozen
class Unknown:
    """A coordinate (order 0), its velocity (1), its acceleration (2) or its jerk (3)."""

    label: str
    order: int


@frozen
class Instant:
    """The time."""


@frozen
class Bound:
    """When the motion began or ended."""

    is_end: bool


@frozen
class Given:
    """A parameter of the file."""

    name: str


@frozen
class Held:
    """A constant of the mechanism by number: of a fixed point, or what an input holds; it may go on since a time, by a
    polynomial with these further coefficients."""

    constant: int
    since: int = -1
    slopes: tuple[int, ...] = ()


@frozen
class Energy:
    """Kinetic (0) or potential (1)."""

    which: int


@frozen
class Column:
    """A column beyond the state, with the points whose reactions it takes."""

    label: str
    reactions: tuple[str, ...] = ()


@frozen
class Written:
    """An expression of names that have meanings of their own: a signal, a distance."""

    expression: Expression
    meanings: Mapping[str, Meaning]


@frozen
class Happening:
    """What happened at a contact, or an event of the file."""

    name: str


Meaning = Unknown | Instant | Bound | Given | Held | Energy | Column | Written | Happening | float
Meanings = Mapping[str, Meaning]


class Place(ABC):
    """Where quantities are asked for. Each point has a case, and a time since which constants are as they are."""

    def __init__(self, steps: Steps, case: Indices):
        self.steps, self.case = steps, case
        self._written: dict[int, Term] = {}  # what is used several times is evaluated once

    @property
    @abstractmethod
    def times(self) -> Array: ...

    @property
    @abstractmethod
    def since(self) -> Array: ...

    @abstractmethod
    def unknown(self, label: str, order: int) -> Term: ...

    def formula(self, meanings: Meanings, look: Look) -> Formula:
        """For expressions here, which are looked at."""
        return Formula(lambda name: self._term(meanings[name], look), look)

    def _term(self, meaning: Meaning, look: Look) -> Term:
        match meaning:
            case Unknown(label, order):
                return self.unknown(label, order)
            case Instant():
                return Term(self.times, np.abs(self.times))
            case Bound(is_end):
                return _exact(self._per_case(self.steps.t if is_end else self.steps.starts))
            case Given(name):
                return _exact(self._per_case(self.steps.parameter(name)))
            case Held():
                return _exact(self._held(meaning))
            case Energy(which):
                return _exact(self._energies[which])
            case Column():
                return _exact(self._column(meaning))
            case Written(expression, meanings):
                if id(meaning) not in self._written:
                    self._written[id(meaning)] = self.formula(meanings, look).value(expression.tree)
                return self._written[id(meaning)]
            case Happening(name):
                raise AssertionError(f"{name} is no function of time")  # the reader has seen to it
            case _:
                return _exact(np.asarray(float(meaning)))

    def _per_case(self, values: Array) -> Array:
        return values if values.ndim == 0 else values[self.case]

    def _held(self, held: Held) -> Array:
        constants = self.steps.constants(self.case, self.since)
        value = constants[:, held.constant]
        if not held.slopes:
            return value
        gone, total = self.times - constants[:, held.since], np.zeros_like(self.times)
        for slope in reversed(held.slopes):
            total = (total + constants[:, slope]) * gone
        return value + total

    @cached_property
    def states(self) -> tuple[Array, Array]:
        """All coordinates and velocities, each (points, n)."""
        return tuple(
            np.stack([self.unknown(label, order).values.ravel() for label in self.steps.labels], axis=1)
            for order in (0, 1)
        )  # type: ignore[return-value]

    @cached_property
    def _flat(self) -> tuple[Indices, Array, Array]:
        """Case, since and time of every point."""
        shape = self.times.shape
        return tuple(np.broadcast_to(each, shape).ravel() for each in (self.case, self.since, self.times))  # type: ignore[return-value]

    @cached_property
    def _energies(self) -> tuple[Array, Array]:
        kinetic, potential = self.steps.energies(*self._flat, *self.states)
        return kinetic.reshape(self.times.shape), potential.reshape(self.times.shape)

    def _column(self, column: Column) -> Array:
        case = self._flat[0]
        found = np.empty(len(case))
        for k in np.unique(case).tolist():
            rows = np.flatnonzero(case == k)
            derived, points = self._points(k, column, rows)
            label = derived.signals.get(column.label, column.label)
            found[rows] = derived.table(points)[:, derived.names.index(label)]
        return found.reshape(self.times.shape)

    def _points(self, k: int, column: Column, rows: Indices) -> tuple[Derived, Points]:
        """Of one case, as its own motion has them."""
        _, since, times = self._flat
        solution = self.steps.motion(k).solution
        derived = self.steps.derived(k, column.reactions)
        system = solution.segments.system_at(solution.system, since[rows])
        q, v = (each[rows] for each in self.states)
        return derived, Points(system, times[rows], q, v, None, self._series(k, rows))

    def _series(self, k: int, rows: Indices) -> tuple[Array, Array] | None:
        return None


class Inside(Place):
    """Points within steps: of each step by number those at some shares of it, (shares, steps)."""

    def __init__(self, steps: Steps, step: Indices, shares: Array):
        super().__init__(steps, steps.case[step])
        self.step, self.shares = step, shares

    @cached_property
    def times(self) -> Array:
        return self.steps.begins[self.step] + self.shares * self.steps.durations[self.step]

    @property
    def since(self) -> Array:
        return self.steps.begins[self.step]

    def unknown(self, label: str, order: int) -> Term:
        series = self.steps.series(label, order)
        own = series[:, self.step]
        value = np.broadcast_to(own[-1], self.shares.shape)
        for row in own[-2::-1]:
            value = value * self.shares + row
        return Term(value, self.steps.reach(label, order)[self.step])

    def _series(self, k: int, rows: Indices) -> tuple[Array, Array] | None:
        step = np.broadcast_to(self.step, self.shares.shape).ravel()[rows]
        return self.steps.leading(step, self.shares.ravel()[rows])


class End(Place):
    """Where the motions ended."""

    def __init__(self, steps: Steps):
        super().__init__(steps, np.arange(steps.count))

    @property
    def times(self) -> Array:
        return self.steps.t

    @property
    def since(self) -> Array:
        return self.steps.last_since

    @cached_property
    def _energies(self) -> tuple[Array, Array]:
        kinetic, potential = (self.steps.many.column(name)[self.steps.cases] for name in "TV")
        return kinetic, potential

    def unknown(self, label: str, order: int) -> Term:
        if order > 1:
            return self._last.unknown(label, order)
        state = self.steps.v if order else self.steps.q
        return _exact(state[:, self.steps.labels.index(label)])

    @property
    def _last(self) -> Inside:
        """The same, as the ends of the last steps."""
        return Inside(self.steps, self.steps.offsets[1:] - 1, np.ones(self.steps.count))


def _exact(values: Array) -> Term:
    return Term(values, np.abs(values))


@frozen(eq=False)
class Quantity:
    """An expression of the motion: a node of a measure's tree, and what the names in it mean."""

    node: ast.expr
    meanings: Meanings

    def at(self, place: Place) -> Array:
        """Its values, shaped like the place."""
        values = place.formula(self.meanings, Look()).value(self.node).values
        return np.broadcast_to(values, place.times.shape)

    @property
    def plain(self) -> tuple[Unknown, float] | None:
        """The coordinate or velocity that it is, and with which sign; None if it is more."""
        node, sign = self.node, 1.0
        while isinstance(node, ast.UnaryOp):
            sign = -sign if isinstance(node.op, ast.USub) else sign
            node = node.operand
        meaning = self.meanings.get(name) if (name := name_of(node)) is not None else None
        return (meaning, sign) if isinstance(meaning, Unknown) else None

    def pieces(self, steps: Steps) -> tuple[Pieces, Mask]:
        """As polynomials, and which cases have it resolved."""
        fine = np.ones(steps.count, dtype=bool)
        if self.plain is None:
            return resolving.resolve(self._sampled(steps), steps.case, steps.begins, steps.ends, steps.count)
        unknown, sign = self.plain
        polynomials = bernstein.of_taylor(sign * steps.series(unknown.label, unknown.order))
        return steps.pieces(polynomials, np.arange(len(steps.case))), fine

    def plain_largest(self, steps: Steps, sign: float) -> Array:
        """`sign` times the largest value of `sign` times what is plain. Most steps are left out before anything is done
        with them: between its ends a function is above its chord by an eighth of its curvature, at most."""
        assert self.plain is not None
        unknown, own = self.plain
        series = steps.series(unknown.label, unknown.order)
        series = -series if own * sign < 0 else series
        ends, bend = series[0].copy(), np.zeros(series.shape[1])
        for degree, row in enumerate(series[1:], 1):
            ends += row
            bend -= degree * (degree - 1) / 8.0 * np.minimum(row, 0.0)
        tops = np.maximum(series[0], ends)
        known = piecewise.by_case(np.maximum, tops, steps.case, np.full(steps.count, -np.inf))
        high = np.flatnonzero(tops + bend > known[steps.case])
        high = high[_may_turn(series[:, high])]
        pieces = steps.pieces(bernstein.of_taylor(series[:, high]), high)
        return sign * piecewise.largest(pieces, known)

    def _sampled(self, steps: Steps) -> resolving.Sample:
        def sample(step: Indices, shares: Array) -> resolving.Sampled:
            place = Inside(steps, step, shares)
            look = Look()
            term = place.formula(self.meanings, look).value(self.node)
            values = np.array(np.broadcast_to(term.values, shares.shape))
            wobble = ROUNDING * np.broadcast_to(term.wobble, shares.shape).max(axis=0)
            wide = np.zeros(len(step), dtype=bool) if look.wide is None else look.wide
            return resolving.Sampled(values, np.where(np.isfinite(wobble), wobble, 0.0), wide)

        return sample


def _may_turn(series: Array) -> Mask:
    """Which polynomials, by powers, may rise and fall on [0, 1]: the slope at 0 does not outweigh all curvature."""
    up, down = np.zeros((2, series.shape[1]))
    for degree, row in enumerate(series[2:], 2):
        up += degree * (degree - 1) * np.maximum(row, 0.0)
        down += degree * (degree - 1) * np.minimum(row, 0.0)
    return (series[1] + up > 0) & (series[1] + down < 0)
