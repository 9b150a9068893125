"""Measures with their derivatives by what a motion was differentiated by.

The derivative of a measure is made of changes of its quantity at some points (changes.py): of an extreme at its place
(what the place moves by does not matter there), of an integral at the nodes of a quadrature, of a time at which
something happens at that time, by the implicit function. Formulas of measures follow by the chain rule.
"""

from __future__ import annotations

import ast
from functools import cached_property

import numpy as np

from mechsim.engine.tangents import END
from mechsim.errors import Fault, MechsimError
from mechsim.measure import bernstein, piecewise
from mechsim.measure.bernstein import DEGREE, Array, Indices
from mechsim.measure.changes import Changes
from mechsim.measure.piecewise import Pieces
from mechsim.measure.quantities import (
    Bound,
    Given,
    Happening,
    Inside,
    Instant,
    Meanings,
    Quantity,
    Unknown,
    Written,
)
from mechsim.measure.reading import Asked, function_of, happening_key
from mechsim.measure.scalars import Evaluation, Scalars, sound
from mechsim.measure.sides import beside, derivatives, piece_at, side, slopes_of
from mechsim.measure.slopes import is_zero, leaves, slope
from mechsim.measure.steps import CLOSE
from mechsim.spec.expression import name_of, operands_of

NODES = DEGREE + 4  # of a quadrature on a piece: exact for a product of two such polynomials
ADDED = ("integral", "mean", "rms")  # functions that add up over time
NO_TIME = 1e-13  # of the motion's duration
FLAT = 1e-9  # of its size over the motion: a slope below this is none, and a crossing there has no derivative
SAME = 1e-7  # of the motion's duration: peaks nearer than this are one
APART = 1e-6  # of their size: derivatives of two equal peaks that differ by more are two answers
Point = tuple[Indices, Array]  # a step, and a share of it


def leaf_of(node: ast.AST) -> str | None:
    """What a node of a measure is called that is a leaf of its formula: a name, or a function of the motion."""
    return ast.unparse(node) if function_of(node) is not None else name_of(node)


class Gradients:
    """Of measures of one motion. `notes` are what a person should know of them."""

    def __init__(self, changes: Changes):
        self.changes, self.steps = changes, changes.steps
        self.scalars = Scalars(changes.steps)
        self.notes: dict[str, None] = {}
        self._known: dict[str, Array] = {}

    def of(self, asked: Asked) -> tuple[float, Array]:
        """The value and its derivatives, (directions,). Raises MechsimError where there is none of them."""
        value = _one(self.scalars.of(asked))
        if np.isnan(value):
            why = self.scalars.messages.get(0, f"{asked.label} has no value")
            raise MechsimError(Fault(why))
        found = _Gradient(self, asked).of(asked.expression.tree)
        if not np.isfinite(found).all():
            raise MechsimError(Fault(f"{asked.label} has no derivative here: a formula of it is not smooth there"))
        return value, found

    def running(self, asked: Asked) -> list[tuple[float, Quantity]]:
        """What a measure adds up over time: quantities, each with its weight, whose integrals it follows."""
        return _Gradient(self, asked).running(asked.expression.tree)

    def bent(self, asked: Asked) -> Array:
        """What the formulas of a measure bend, (directions, directions): of sums of squares the matrix of Gauss and
        Newton. How the motion itself bends is left out."""
        return _Gradient(self, asked).bent(asked.expression.tree)


class _Gradient:
    """Of one measure."""

    def __init__(self, gradients: Gradients, asked: Asked):
        self.gradients, self.asked = gradients, asked
        self.changes, self.steps = gradients.changes, gradients.steps
        self.evaluation = Evaluation(gradients.scalars, asked)
        self.end = self.changes.number(END)

    def of(self, node: ast.expr) -> Array:
        """Of a number."""
        total = np.zeros(self.changes.count)
        for leaf in leaves(node, leaf_of):
            name = leaf_of(leaf)
            assert name is not None
            factor = slope(node, name, leaf_of)
            change = self._leaf(leaf)
            if not is_zero(factor) and change.any():
                total = total + _one(self.evaluation.value(factor)) * change
        return total

    def running(self, node: ast.expr) -> list[tuple[float, Quantity]]:
        found = []
        for leaf in leaves(node, leaf_of):
            function = function_of(leaf)
            if function in ADDED:
                weight = _one(self.evaluation.value(slope(node, leaf_of(leaf) or "", leaf_of)))
                quantity = operands_of(leaf)[0]
                if function == "rms":
                    weight *= 0.5 / (self._duration * _one(self.evaluation.value(leaf)))
                    quantity = ast.BinOp(quantity, ast.Pow(), ast.Constant(2))
                elif function == "mean":
                    weight /= self._duration
                found.append((weight, self._quantity(quantity)))
        return found

    def bent(self, node: ast.expr) -> Array:
        found = np.zeros((self.changes.count, self.changes.count))
        known = {leaf_of(leaf) or "": leaf for leaf in leaves(node, leaf_of)}
        for first, leaf in known.items():
            once = slope(node, first, leaf_of)
            if is_zero(once):
                continue
            function = function_of(leaf)
            if function is not None and (rule := getattr(self, f"_bent_{function}", None)) is not None:
                found += _one(self.evaluation.value(once)) * rule(*operands_of(leaf))
            for second, other in known.items():
                twice = slope(once, second, leaf_of)
                if not is_zero(twice):
                    found += _one(self.evaluation.value(twice)) * np.outer(self._leaf(leaf), self._leaf(other))
        return found

    def _leaf(self, node: ast.expr) -> Array:
        function = function_of(node)
        if function is None:
            return self._number(name_of(node) or "")
        known, key = self.gradients._known, ast.unparse(node)
        if key not in known:
            known[key] = getattr(self, f"_{function}")(*operands_of(node))
        return known[key]

    def _number(self, name: str) -> Array:
        match self.asked.outside[name]:
            case Given():
                return self.changes.number(name)
            case Bound(is_end) if is_end:
                return self.end
        return np.zeros(self.changes.count)

    # --- at a time

    def _quantity(self, node: ast.expr) -> Quantity:
        return Quantity(node, self.asked.inside)

    def _pieces(self, node: ast.expr) -> Pieces:
        pieces = self.evaluation.pieces(node)
        if np.isnan(pieces.noise).any():  # those are all zero, and tell no rate
            why = self.gradients.scalars.messages.get(0, f"{self.asked.label} has no derivative here")
            raise MechsimError(Fault(why))
        return sound(pieces)

    def _at_point(self, node: ast.expr, point: Point) -> Array:
        step, share = point
        return self.changes.at(self._quantity(node), step, share[None])[0, 0]

    def _sampled(self, node: ast.expr, time: float, moved: Array) -> Array:
        """Of the value at a time that changes too."""
        step, share = self.steps.at(np.array([time]))
        begin = float(self.steps.begins[step[0]])
        if abs(time - begin) <= CLOSE * self._duration:
            self._refuse_start(node, begin)
        change = self._at_point(node, (step, share))
        if moved.any():
            change = change + derivatives(self._pieces(node), max(time, begin))[0] * moved
        if step[0] > 0 and abs(time - begin) <= CLOSE * self._duration and self._passes(begin, moved):
            self._tell_sides(node, step, change, moved)
        return change

    def _passes(self, seam: float, moved: Array) -> bool:
        """Whether what happens at that time, which may be a seam, moves otherwise than a time that is asked for."""
        moves = [each.moved for each in self.changes.seams if each.jumps and each.time == seam]
        size = max(np.abs(each).max() for each in (moved, *moves))
        return any(np.abs(each - moved).max() > APART * size for each in moves)

    def _tell_sides(self, node: ast.expr, step: Indices, change: Array, moved: Array) -> None:
        """At a time that such a seam passes the value is one or the other of two, or has a kink."""
        sides = [(step, np.zeros(1)), (step - 1, np.ones(1))]
        after, before = (self._value(node, side) for side in sides)
        pieces, time = self._pieces(node), float(self.steps.begins[step[0]])
        where = f"{self.asked.expression.shown(node)} {{}} at t = {time:.6g}, where {self._happening(time)}"
        if abs(after - before) > FLAT * float(pieces.sizes.max()):
            why = where.format(f"jumps from {before:.6g} to {after:.6g}")
            raise MechsimError(Fault(f"{self.asked.label} has no derivative here: {why} comes before or after it"))
        other = self._at_point(node, sides[1])
        if moved.any():
            other = other + slopes_of(pieces, beside(pieces, time, before=True), 1.0)[0] * moved
        if np.abs(other - change).max() > APART * max(np.abs(other).max(), np.abs(change).max()):
            where = where.format("has a kink")
            self.gradients.notes[f"{where} comes before or after it: derivatives are those after it"] = None

    def _happening(self, time: float) -> str:
        names = [seam.name for seam in self.changes.seams if seam.jumps and seam.time == time]
        return ", ".join(dict.fromkeys(names))

    def _value(self, node: ast.expr, point: Point) -> float:
        step, share = point
        return float(self._quantity(node).at(Inside(self.steps, step, share[None]))[0, 0])

    def _at(self, quantity: ast.expr, time: ast.expr) -> Array:
        return self._sampled(quantity, _one(self.evaluation.value(time)), self.of(time))

    def _start(self, quantity: ast.expr) -> Array:
        return self._sampled(quantity, float(self.steps.starts[0]), np.zeros(self.changes.count))

    def _final(self, quantity: ast.expr) -> Array:
        return self._sampled(quantity, float(self.steps.t[0]), self.end)

    def _bent_at(self, quantity: ast.expr, time: ast.expr) -> Array:
        return self._bent_sample(quantity, _one(self.evaluation.value(time)))

    def _bent_start(self, quantity: ast.expr) -> Array:
        return self._bent_sample(quantity, float(self.steps.starts[0]))

    def _bent_final(self, quantity: ast.expr) -> Array:
        return self._bent_sample(quantity, float(self.steps.t[0]))

    def _bent_sample(self, node: ast.expr, time: float) -> Array:
        step, share = self.steps.at(np.array([time]))
        return self.changes.bent(self._quantity(node), step, share[None], np.ones((1, 1)))

    # --- extremes

    def _max(self, quantity: ast.expr) -> Array:
        return self._extreme(quantity, 1.0)

    def _min(self, quantity: ast.expr) -> Array:
        return self._extreme(quantity, -1.0)

    def _extreme(self, node: ast.expr, sign: float) -> Array:
        pieces = self._pieces(node)
        pieces = pieces if sign > 0 else -pieces
        time = _one(piecewise.time_of_largest(pieces))
        self._refuse_start(node, time)
        found = self._peak(node, pieces, time, sign)
        self._tell_equal(node, pieces, time, found, sign)
        return found

    def _peak(self, node: ast.expr, pieces: Pieces, time: float, sign: float) -> Array:
        """Of the value at a peak of pieces; one with a corner, at a time that moves, goes with it."""
        step, share = self._higher(node, time, sign)
        found = self._at_point(node, (step, share))
        if time in self._moving:
            before = bool(share[0] > 0.5)
            rate = sign * slopes_of(pieces, beside(pieces, time, before), float(before))[0]
            found = found + self._carried(node, rate, time)
        return found

    def _higher(self, node: ast.expr, time: float, sign: float) -> Point:
        """Where a time is in the steps; where two meet, in the one with the higher value."""
        step, share = self.steps.at(np.array([time]))
        before = step - 1
        if share[0] == 0.0 and step[0] > 0:
            sides = [(step, share), (before, np.ones(1))]
            values = [sign * self._value(node, side) for side in sides]
            return sides[int(np.argmax(values))]
        return step, share

    def _tell_equal(self, node: ast.expr, pieces: Pieces, time: float, found: Array, sign: float) -> None:
        """Several peaks of one height may change differently: then the extreme has no one derivative."""
        for other in piecewise.times_as_large(pieces).tolist():
            if abs(other - time) <= SAME * self._duration:
                continue
            change = self._peak(node, pieces, other, sign)
            if np.abs(change - found).max() > APART * max(np.abs(change).max(), np.abs(found).max()):
                shown = self.asked.expression.shown(node)
                message = f"{shown} is as {'large' if sign > 0 else 'small'} at t = {time:.6g} as at {other:.6g}"
                self.gradients.notes[f"{message}: derivatives are those of the first"] = None
                return

    def _time_of_max(self, quantity: ast.expr) -> Array:
        return self._time_of_extreme(quantity, 1.0)

    def _time_of_min(self, quantity: ast.expr) -> Array:
        return self._time_of_extreme(quantity, -1.0)

    def _time_of_extreme(self, node: ast.expr, sign: float) -> Array:
        pieces = self._pieces(node)
        time = _one(piecewise.time_of_largest(pieces if sign > 0 else -pieces))
        if time == self.steps.t[0]:
            return self.end
        self._refuse_start(node, time)
        if time == self.steps.starts[0]:
            return np.zeros(self.changes.count)
        first, second = derivatives(pieces, time)
        size = float(piecewise.slopes(pieces).sizes.max())  # the steepest that it ever is
        if abs(first) > APART * size or not abs(second) * float(pieces.durations.max()) > FLAT * size:
            shown = self.asked.expression.shown(node)
            raise MechsimError(Fault(f"the time at which {shown} is extreme has no derivative: there is no round peak"))
        return -self._rate_change(node, pieces, time) / second

    def _rate_change(self, node: ast.expr, pieces: Pieces, time: float) -> Array:
        """The change of the time derivative, by the polynomial of the changes on the piece."""
        piece, share = piece_at(pieces, time)
        begin, duration = float(pieces.begins[piece]), float(pieces.durations[piece])
        step, _ = self.steps.at(np.array([begin + 0.5 * duration]))
        times = begin + duration * bernstein.nodes()
        shares = (times - self.steps.begins[step[0]]) / self.steps.durations[step[0]]
        values = self.changes.at(self._quantity(node), step, shares[:, None])[:, 0]
        polynomials = bernstein.of_chebyshev(bernstein.chebyshev(values))
        slopes = DEGREE * bernstein.differences(polynomials) / duration
        return bernstein.evaluate(slopes, np.full(self.changes.count, share))

    # --- integrals

    def _quadrature(self, pieces: Pieces) -> tuple[Indices, Array, Array]:
        """Steps, shares of these and weights, (nodes, pieces), of an integral over all time. Pieces about a corner are
        shorter than anything that counts, and the corner itself has no slope."""
        pieces = pieces.chosen(pieces.durations > NO_TIME * pieces.durations.sum())
        middles = 0.5 * (pieces.begins + pieces.ends)
        step = np.searchsorted(self.steps.begins, middles, side="right") - 1
        points, weights = np.polynomial.legendre.leggauss(max(NODES, len(pieces.polynomials)))
        times = middles + 0.5 * points[:, None] * pieces.durations
        shares = (times - self.steps.begins[step]) / self.steps.durations[step]
        return step, shares, 0.5 * weights[:, None] * pieces.durations

    def _bent_integral(self, quantity: ast.expr) -> Array:
        return self.changes.bent(self._quantity(quantity), *self._quadrature(self._pieces(quantity)))

    def _bent_mean(self, quantity: ast.expr) -> Array:
        return self._bent_integral(quantity) / self._duration

    def _integrals(self, node: ast.expr, squared: bool) -> Array:
        """Of the quantity, or of half of its square."""
        pieces, quantity = self._pieces(node), self._quantity(node)
        step, shares, weighted = self._quadrature(pieces)
        if squared:
            weighted = weighted * quantity.at(Inside(self.steps, step, shares))
        found = self.changes.total(quantity, step, shares, weighted)
        if self._may_jump(node, self.asked.inside):
            self._refuse_start(node, float(self.steps.starts[0]))
        for time in self._moving:  # what is before such a time grows, what is after it shrinks
            before, after = side(pieces, time, before=True), side(pieces, time, before=False)
            gained = 0.5 * (before * before - after * after) if squared else before - after
            found = found + self._carried(node, gained, time)
        return found

    @cached_property
    def _moving(self) -> dict[float, list[Array]]:
        """Times at which quantities may jump, the end among them, and how they move: several events may be at one."""
        end = float(self.steps.t[0])
        found: dict[float, list[Array]] = {}
        for seam in self.changes.seams:
            if seam.jumps and seam.time < end:  # at the end there is nothing after it that could be another
                found.setdefault(seam.time, []).append(seam.moved)
        moving = {time: moves for time, moves in found.items() if np.any(moves)}
        return {**moving, end: [self.end]} if self.end.any() else moving

    def _carried(self, node: ast.expr, rate: float, time: float) -> Array:
        """What comes of it that such a time moves, by as much for each second of it. Raises MechsimError where events
        of one time move apart, so that it depends on which of them comes first."""
        first, *others = self._moving[time]
        size = max(np.abs(each).max() for each in self._moving[time])
        apart = any(np.abs(each - first).max() > APART * size for each in others)
        if apart and abs(rate) > FLAT * float(self._pieces(node).sizes.max()):
            shown = self.asked.expression.shown(node)
            message = f"{self.asked.label} has no derivative here: {shown} jumps at t = {time:.6g}"
            raise MechsimError(
                Fault(f"{message}, where several events come at once that move apart: {self._happening(time)}")
            )
        return rate * first

    def _refuse_start(self, node: ast.expr, time: float) -> None:
        """Raise at the start of the motion if something happens just there, and a little later beside it: what was
        before it is no part of this motion."""
        if time == self.steps.starts[0] and time in self._moving:
            shown = self.asked.expression.shown(node)
            why = f"it counts {shown} at t = {time:.6g}, where the motion starts and {self._happening(time)} comes too"
            raise MechsimError(Fault(f"{self.asked.label} has no derivative here: {why}"))

    def _may_jump(self, node: ast.expr, meanings: Meanings) -> bool:
        """Whether a quantity is made of more than places and what is given."""
        for leaf in leaves(node):
            match meanings[name_of(leaf) or ""]:
                case Unknown(order=0) | Given() | Bound() | Instant() | float():
                    pass
                case Written() as written if not self._may_jump(written.expression.tree, written.meanings):
                    pass
                case _:
                    return True
        return False

    @property
    def _duration(self) -> float:
        return float(self.steps.t[0] - self.steps.starts[0])

    def _integral(self, quantity: ast.expr) -> Array:
        return self._integrals(quantity, squared=False)

    def _mean(self, quantity: ast.expr) -> Array:
        mean = _one(piecewise.integral(self._pieces(quantity))) / self._duration
        return (self._integral(quantity) - mean * self.end) / self._duration

    def _rms(self, quantity: ast.expr) -> Array:
        square = _one(piecewise.square_integral(self._pieces(quantity))) / self._duration
        with np.errstate(all="ignore"):
            return (self._integrals(quantity, squared=True) - 0.5 * square * self.end) / (
                self._duration * np.sqrt(square)
            )

    # --- crossings

    def _first(self, quantity: ast.expr) -> Array:
        _, times = piecewise.upward_crossings(self._pieces(quantity))
        return self._crossing(quantity, float(times[0]), np.zeros(self.changes.count))

    def _period(self, quantity: ast.expr) -> Array:
        pieces, mean = self._pieces(quantity), self._mean(quantity)
        average = piecewise.integral(pieces) / self._duration
        _, times = piecewise.upward_crossings(pieces.lowered(average))
        first, last = (self._crossing(quantity, float(time), mean) for time in (times[0], times[-1]))
        return (last - first) / (len(times) - 1)

    def _crossing(self, node: ast.expr, time: float, level: Array) -> Array:
        """Of a time at which the quantity crosses a level that changes too."""
        pieces = self._pieces(node)
        jump = abs(side(pieces, time, before=True) - side(pieces, time, before=False))
        if time in self._moving and jump > FLAT * float(pieces.sizes.max()):  # it jumps across, when that comes
            return self._carried(node, 1.0, time)
        rate, _ = derivatives(pieces, time)
        if not abs(rate) * self._duration > FLAT * float(pieces.sizes.max()):
            shown = self.asked.expression.shown(node)
            raise MechsimError(
                Fault(f"the time at which {shown} crosses, {time:.6g}, has no derivative: it is flat there")
            )
        return (level - self._at_point(node, self.steps.at(np.array([time])))) / rate

    def _first_event(self, name: ast.expr) -> Array:
        return self._happened("first_event", name)

    def _last_event(self, name: ast.expr) -> Array:
        return self._happened("last_event", name)

    def _happened(self, function: str, name: ast.expr) -> Array:
        time = _one(self.evaluation.value(ast.Call(ast.Name(function), [name], [])))
        called = self._named(name)
        return next(seam.moved for seam in self.changes.seams if seam.time == time and seam.name == called)

    def _named(self, node: ast.expr) -> str:
        """An event or contact as the motion calls it."""
        meaning = self.asked.inside[happening_key(node)]
        assert isinstance(meaning, Happening)
        return meaning.name

    # --- what has no derivative, or none that is known

    def _count(self, quantity: ast.expr) -> Array:
        return self._whole("count")

    def _events(self, name: ast.expr) -> Array:
        return self._whole("events")

    def _whole(self, function: str) -> Array:
        self.gradients.notes[f"{function}(...) is a whole number: its derivative is zero, or there is none"] = None
        return np.zeros(self.changes.count)

    def _digits(self, *_: ast.expr) -> Array:
        raise self._unknown("a number of digits")

    def _unknown(self, what: str) -> MechsimError:
        return MechsimError(Fault(f"the derivative of {what} is not known", self.asked.expression.mark))


def _one(values: Array) -> float:
    """Of the only case."""
    return float(np.ravel(values)[0])
