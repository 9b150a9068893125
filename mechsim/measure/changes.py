"""How quantities of a motion change with what it was differentiated by, at points within its steps.

An expression changes by its derivatives by its names (slopes.py) times the changes of these; a coordinate by the
polynomials of the tangents. Nothing here takes a difference.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from math import perm

import numpy as np

from mechsim.engine.tangents import END
from mechsim.kernel.changes import Found, NumberChanges, changes_of
from mechsim.kernel.groups import Group
from mechsim.kernel.system import System
from mechsim.measure.bernstein import Array, Indices
from mechsim.measure.forces import Loaded, force_change
from mechsim.measure.quantities import (
    Bound,
    Column,
    Energy,
    Given,
    Held,
    Inside,
    Instant,
    Meaning,
    Meanings,
    Quantity,
    Unknown,
    Written,
)
from mechsim.measure.slopes import is_zero, leaves, slope
from mechsim.measure.steps import Steps
from mechsim.measure.stretches import Seam, Stretch
from mechsim.spec.expression import name_of

ENERGIES = "kinetic", "potential"


class Changes:
    """The changes of all quantities of one motion, whose steps these are, at any time that does not move itself."""

    def __init__(self, steps: Steps, stretches: Sequence[Stretch], count: int, seams: Sequence[Seam] = ()):
        self.steps, self.stretches, self.count = steps, tuple(stretches), count
        self.seams = (*seams, *(seam for stretch in stretches for seam in stretch.seams(count)))
        self._firsts = np.concatenate([[0], np.cumsum([len(each.coefficients) for each in stretches])])

    def at(self, quantity: Quantity, step: Indices, shares: Array) -> Array:
        """At shares (..., steps) of steps by number, directions last."""
        terms = first_terms(quantity.node, quantity.meanings, Inside(self.steps, step, shares))
        found = np.zeros((*shares.shape, self.count))
        for local, own in self._parts(step, shares):
            for meaning, factor in terms.items():
                change = local.leaf(meaning)
                if change is not None:
                    found[..., own[:, None], local.stretch.columns] += factor[..., own, None] * change
        return found

    def total(self, quantity: Quantity, step: Indices, shares: Array, weights: Array) -> Array:
        """The sum over all such points, each with its weight, (directions,)."""
        terms = first_terms(quantity.node, quantity.meanings, Inside(self.steps, step, shares))
        found = np.zeros(self.count)
        for local, own in self._parts(step, shares):
            for meaning, factor in terms.items():
                change = local.leaf(meaning)
                if change is not None:
                    found[local.stretch.columns] += (weights * factor)[..., own].ravel() @ local.flat(change)
        return found

    def bent(self, quantity: Quantity, step: Indices, shares: Array, weights: Array) -> Array:
        """The weighted sum of what the expression itself bends, (directions, directions): its second derivatives by its
        names times the changes of these. How these bend, by second derivatives of the motion, is left out."""
        terms = second_terms(quantity.node, quantity.meanings, Inside(self.steps, step, shares))
        found = np.zeros((self.count, self.count))
        for local, own in self._parts(step, shares):
            columns = np.ix_(local.stretch.columns, local.stretch.columns)
            for (first, second), factor in terms.items():
                one, other = local.leaf(first), local.leaf(second)
                if one is not None and other is not None:
                    weighted = (weights * factor)[..., own].ravel()[:, None]
                    found[columns] += (weighted * local.flat(one)).T @ local.flat(other)
        return found

    def number(self, name: str) -> Array:
        """Of a parameter, or of the END of the motion."""
        found = np.zeros(self.count)
        for stretch in self.stretches:
            found[stretch.columns] = stretch.change_of(name)
        return found

    def _parts(self, step: Indices, shares: Array) -> Iterator[tuple[_Local, Indices]]:
        """The stretches in which some of these steps are, and which."""
        number = np.searchsorted(self._firsts, step, side="right") - 1
        for k in np.unique(number).tolist():
            own = np.flatnonzero(number == k)
            yield _Local(self, self.stretches[k], step[own], shares[..., own]), own

    def first(self, stretch: Stretch) -> int:
        return int(self._firsts[self.stretches.index(stretch)])


Terms = dict[Meaning, Array]  # the derivatives of an expression by what stands in it, at points
Pairs = dict[tuple[Meaning, Meaning], Array]  # the second ones


def first_terms(node: ast.expr, meanings: Meanings, place: Inside) -> Terms:
    """The derivatives of an expression by all that changes, through signals that stand in it."""
    found: Terms = {}
    for _name, once, meaning in _slopes(node, meanings):
        inner = _inner_terms(meaning, place)
        factor = Quantity(once, meanings).at(place) if inner else np.zeros(())
        for own, share in inner.items():
            found[own] = found.get(own, 0.0) + factor * share
    return found


def _inner_terms(meaning: Meaning, place: Inside) -> Terms:
    """Of a name: itself, or what a signal is made of."""
    if isinstance(meaning, Written):
        return first_terms(meaning.expression.tree, meaning.meanings, place)
    return {meaning: np.ones(())}


def second_terms(node: ast.expr, meanings: Meanings, place: Inside) -> Pairs:
    """The second derivatives, in the same way."""
    found: Pairs = {}
    inner: dict[str, Terms] = {}
    slopes = list(_slopes(node, meanings))
    for name, once, meaning in slopes:
        inner[name] = _inner_terms(meaning, place)
        if isinstance(meaning, Written):
            factor = Quantity(once, meanings).at(place)
            for pair, bent in second_terms(meaning.expression.tree, meaning.meanings, place).items():
                found[pair] = found.get(pair, 0.0) + factor * bent
    for name, once, _ in slopes:
        for other, _, _ in slopes:
            twice = slope(once, other)
            if is_zero(twice):
                continue
            factor = Quantity(twice, meanings).at(place)
            for first, one in inner[name].items():
                for second, share in inner[other].items():
                    found[first, second] = found.get((first, second), 0.0) + factor * one * share
    return found


def _slopes(node: ast.expr, meanings: Meanings) -> Iterator[tuple[str, ast.expr, Meaning]]:
    """The names of an expression that may change, its derivatives by these, and what they mean."""
    for leaf in leaves(node):
        name = name_of(leaf)
        assert name is not None
        once = slope(node, name)
        if not is_zero(once) and not isinstance(meanings[name], float | Instant):
            yield name, once, meanings[name]


class _Local:
    """Changes at points of one stretch, in its own directions."""

    def __init__(self, changes: Changes, stretch: Stretch, step: Indices, shares: Array):
        self.stretch, self.steps = stretch, changes.steps
        self.place = Inside(changes.steps, step, shares)
        self.own = step - changes.first(stretch)
        self.h = shares * changes.steps.durations[step]
        self._unknowns: dict[tuple[str, int], Array] = {}

    def flat(self, change: Array) -> Array:
        """(points, directions)"""
        return np.broadcast_to(change, (*self.h.shape, change.shape[-1])).reshape(self.h.size, -1)

    def leaf(self, meaning: Meaning) -> Array | None:
        """The change of a name, (..., directions); None where nothing changes it."""
        match meaning:
            case Unknown(label, order):
                return self._unknown(label, order)
            case Given(name):
                return self.stretch.directions.change_of(name)
            case Bound(is_end):
                return self.stretch.change_of(END) if is_end else None
            case Held():
                return self._held(meaning)
            case Energy(which):
                return self._summed(ENERGIES[which])
            case Column():
                return self._column(meaning)
        return None

    def _unknown(self, label: str, order: int) -> Array:
        key = label, order
        if key not in self._unknowns:
            own = self.stretch.coefficients[self.own][:, :, self.stretch.labels.index(label)]  # (steps, degrees, ...)
            total = np.zeros((*self.h.shape, own.shape[-1]))
            for degree in reversed(range(order, own.shape[1])):
                total = total * self.h[..., None] + perm(degree, order) * own[:, degree]
            self._unknowns[key] = total
        return self._unknowns[key]

    @cached_property
    def _constants(self) -> Array:
        """(steps, constants, directions), or without steps where they are always the same."""
        return self.stretch.constants(self.place.since)

    def _held(self, held: Held) -> Array:
        def change(constant: int) -> Array:
            return self._constants[..., constant, :]

        value = np.broadcast_to(change(held.constant), (*self.h.shape, self.stretch.directions.count))
        if not held.slopes:
            return value
        constants = self.steps.constants(self.place.case, self.place.since)
        gone = (self.place.times - constants[:, held.since])[..., None]
        total, rate = np.zeros_like(value), np.zeros_like(gone)
        for power, constant in reversed(list(enumerate(held.slopes, 1))):
            total = (total + change(constant)) * gone
            rate = rate * gone + power * constants[:, constant, None]
        return np.asarray(value + total - rate * change(held.since))

    # --- by the programs of the mechanism

    def _values(self, names: tuple[str, ...], groups: tuple[Group, ...] | None = None) -> Found:
        """Changes of outputs at all points, which lie in one row."""
        parts = [(rows, self._values_at(rows, way, names, groups)) for way, rows in self._by_way]
        if len(parts) == 1:
            return parts[0][1]
        found: Found = []
        for number, (group, keys, values) in enumerate(parts[0][1]):
            whole = [np.zeros((self.h.size, *value.shape[-2:])) for value in values]
            for rows, part in parts:
                for place, value in enumerate(part[number][2]):
                    whole[place][rows] = value
            found.append((group, keys, whole))
        return found

    def _values_at(self, rows: Indices, way: int, names: tuple[str, ...], groups: tuple[Group, ...] | None) -> Found:
        """At some of the points, with which constants change in one way."""
        times, (q, v) = self.place.times.ravel(), self.place.states
        state, moved = (times[rows], q[rows], v[rows]), (self._moved(0)[rows], self._moved(1)[rows])
        return changes_of(self._system(rows), names, state, moved, self._numbers(way), groups)

    @cached_property
    def _by_way(self) -> list[tuple[int, Indices]]:
        """The points with which constants change in one way."""
        ways = self.stretch.ways(self._since)
        return [(way, np.flatnonzero(ways == way)) for way in np.unique(ways).tolist()]

    @cached_property
    def _since(self) -> Array:
        return np.broadcast_to(self.place.since, self.h.shape).ravel()

    def _system(self, rows: Indices) -> System:
        solution = self.stretch.solution
        return solution.segments.system_at(solution.system, self._since[rows])

    def _numbers(self, way: int) -> NumberChanges:
        return replace(self.stretch.directions.numbers, constants=self.stretch.way(way))

    def _moved(self, order: int, multipliers: bool = False) -> Array:
        """Changes of all coordinates, or of their derivatives, or of multipliers: (points, unknowns, directions)."""
        count = self.stretch.solution.system.n
        labels = self.stretch.labels[count:] if multipliers else self.stretch.labels[:count]
        found = [self.flat(self._unknown(label, order)) for label in labels]
        return np.stack(found, axis=1) if found else np.zeros((self.h.size, 0, self.stretch.directions.count))

    def _loaded(self, rows: Indices, way: int) -> Loaded:
        step = np.broadcast_to(self.place.step, self.h.shape).ravel()[rows]
        q, v = self.place.states
        leading = self.steps.leading(step, self.place.shares.ravel()[rows])
        state = self.place.times.ravel()[rows], q[rows], v[rows], *leading
        orders = (0, False), (1, False), (2, False), (0, True)
        q_change, v_change, a_change, pushed = (self._moved(*each)[rows] for each in orders)
        return Loaded(self._system(rows), state, (q_change, v_change, a_change, pushed), self._numbers(way))

    def _summed(self, name: str) -> Array:
        """An energy, the sum over all elements."""
        total = np.zeros((self.h.size, self.stretch.directions.count))
        for _, _, values in self._values((name,)):
            total = total + np.broadcast_to(values[0], (*total.shape[:1], *values[0].shape[-2:])).sum(axis=-2)
        return total.reshape(*self.h.shape, -1)

    def _column(self, column: Column) -> Array:
        label, mechanism = column.label, self.stretch.solution.system.mechanism
        if label == "H":
            return self._summed("hamiltonian")
        if label in mechanism.drawn:
            return self._drawn(mechanism.drawn.index(label))
        if label in mechanism.readouts:
            return self._signal(mechanism.readouts[label])
        found = np.zeros((self.h.size, self.stretch.directions.count))
        for way, rows in self._by_way:
            found[rows] = force_change(label, column.reactions, self._loaded(rows, way))
        return self._spread(found)

    def _drawn(self, place: int) -> Array:
        wanted = ("speed" if place % 2 else "place", place // 2)
        for _, keys, values in self._values(("place", "speed")):
            for key, value in zip(keys, values, strict=True):
                if key == wanted:
                    return self._spread(value[..., 0, :])
        raise AssertionError(f"nothing is drawn at {place}")

    def _signal(self, element: int) -> Array:
        group = next(each for each in self.stretch.solution.system.groups if element in each.elements)
        _, _, values = self._values(("signal",), (group,))[0]
        return self._spread(values[0][..., group.elements.index(element), :])

    def _spread(self, values: Array) -> Array:
        return np.broadcast_to(values, (self.h.size, values.shape[-1])).reshape(*self.h.shape, -1)
