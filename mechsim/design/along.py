"""Relations that inputs over intervals are to keep all along, `max(F) <= 3`: as relations at times.

A peak has kinks where it is met for a while, which no search with derivatives gets over. At a time it has none; so it
is held at the ends of intervals, and wherever it is then missed between these too (exchange, Blankenship and Falk
1976).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from mechsim.design.course import Course
from mechsim.design.task import Relation
from mechsim.errors import Mark
from mechsim.frozen import frozen
from mechsim.measure.piecewise import sides_of, turning_points
from mechsim.measure.quantities import Bound, Quantity
from mechsim.measure.reading import Asked, function_of
from mechsim.result.layout import Array
from mechsim.spec.expression import operands_of

SIGNS = {"max": 1.0, "min": -1.0}
SEAM = 1e-7  # of the largest value: stretches miss each other by less
SAME = 1e-3  # of an interval: nearer times are one, the later found of them
JUST = 1e-9  # of an interval: so much before the end of it is what holds until then, which may jump there
BEGIN, END = "the begin", "the end"  # names that nobody can write


@frozen(slots=False, eq=False)
class Peak:
    """The largest value of `sign` times a quantity that is to be no more than `sign` times the other side."""

    sign: float
    node: ast.expr
    asked: Asked
    other: Asked

    @cached_property
    def quantity(self) -> Quantity:
        return Quantity(self.node, self.asked.inside)

    def missed(self, course: Course, met: float, just: float) -> Array:
        """Shares of the motion at which it is largest of all around and beyond the other side by more than that; where
        it jumps down there, just before."""
        pieces, _ = self.quantity.pieces(course.steps)
        pieces = pieces if self.sign > 0 else -pieces
        times, _, kinds = turning_points(pieces, SEAM)
        places = np.array([course.begin, *times[kinds > 0], course.end])
        before, behind = sides_of(pieces, places)
        limit = self.sign * course.value(self.other)
        shares = (places - course.begin) / (course.end - course.begin)
        earlier = np.where(shares < 1, just, 0.0)
        jumps = before - behind > SEAM * pieces.sizes.max(initial=0.0)
        return np.concatenate([(shares - earlier)[jumps & (before - limit > met)], shares[behind - limit > met]])

    def at(self, share: float, text: str, mark: Mark | None) -> Relation:
        """What is to hold at a share of the motion."""
        begin, end = ast.Name(BEGIN), ast.Name(END)
        way = ast.BinOp(ast.Constant(share), ast.Mult(), ast.BinOp(end, ast.Sub(), begin))
        tree = ast.Call(ast.Name("at"), [self.node, ast.BinOp(begin, ast.Add(), way)], [])
        outside = {**self.asked.outside, BEGIN: Bound(False), END: Bound(True)}
        asked = replace(self.asked, expression=self.asked.expression._replace(tree=tree), outside=outside)
        bounds = (-math.inf, 0.0) if self.sign > 0 else (0.0, math.inf)
        return Relation(text, asked, self.other, *bounds, mark)


def peaks_of(relation: Relation) -> tuple[Peak, ...]:
    """Of a relation that is to hold all along: of `max(abs(F)) <= 3` those of F and of -F."""
    if relation.least == relation.most:
        return ()
    for turn, own, other in ((1.0, relation.left, relation.right), (-1.0, relation.right, relation.left)):
        sign = SIGNS.get(function_of(own.expression.tree) or "")
        if sign == turn * relation.sense:
            (node,) = operands_of(own.expression.tree)
            both = _sides_of(node) if sign > 0 else [node]
            return tuple(Peak(sign, each, own, other) for each in both)
    return ()


def _sides_of(node: ast.expr) -> list[ast.expr]:
    """What `abs(F)` is the larger of, or it itself if it is no such."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "abs":
        (inner,) = operands_of(node)
        return [inner, ast.UnaryOp(ast.USub(), inner)]
    return [node]


@frozen(eq=False)
class Kept:
    """What is held of a relation: a peak of it at shares of the motion, or it as it is written, or nothing."""

    number: int
    peak: Peak | None = None
    shares: tuple[float, ...] = ()
    dropped: bool = False

    def missed(self, course: Course, met: float, just: float) -> Array:
        return np.zeros(0) if self.peak is None else self.peak.missed(course, met, just)

    def held_at(self, found: Array, intervals: int) -> Kept:
        """A time that was held next to one that is found comes to that: so it moves with the peak. Both sides of where
        intervals meet stay."""
        kept = [own for own in self.shares if np.abs(found - own).min(initial=np.inf) > self._near(own, intervals)]
        return replace(self, shares=tuple(sorted([*kept, *found.tolist()])))

    def _near(self, share: float, intervals: int) -> float:
        meets = abs(share * intervals - round(share * intervals)) <= 2 * JUST
        return (0.5 * JUST if meets else SAME) / intervals

    def relations(self, written: Relation) -> list[Relation]:
        if self.peak is None:
            return [] if self.dropped else [written]
        return [self.peak.at(share, written.text, written.mark) for share in self.shares]


@frozen(slots=False, eq=False)
class Along:
    """Relations as they are written, and what is held of them over so many intervals."""

    written: tuple[Relation, ...]
    kept: tuple[Kept, ...]
    intervals: int

    @classmethod
    def of(cls, written: tuple[Relation, ...], intervals: int) -> Along:
        inner = tuple(k / intervals for k in range(1, intervals))
        kept: list[Kept] = []
        for number, relation in enumerate(written):
            peaks = peaks_of(relation) if intervals > 1 else ()
            kept += [Kept(number, peak, inner) for peak in peaks] or [Kept(number)]
        return cls(written, tuple(kept), intervals)

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """As they are held."""
        return tuple(relation for each in self.kept for relation in each.relations(self.written[each.number]))

    @cached_property
    def _numbers(self) -> list[int]:
        """Whose part each relation is that is held, of those that were written."""
        return [each.number for each in self.kept for _ in each.relations(self.written[each.number])]

    def without(self, held: Sequence[int]) -> Along:
        """The same without some of those that are held, by number."""
        numbers = {self._numbers[k] for k in held}
        return replace(self, kept=tuple(replace(each, dropped=each.number in numbers) for each in self.kept))

    @property
    def dropped(self) -> list[int]:
        """Which of those that were written are not held."""
        return [each.number for each in self.kept if each.dropped]

    def prices(self, multipliers: Array) -> Array:
        """Of those that were written: by how much the goal would fall if they gave way by one at all times."""
        senses = np.array([each.sense for each in self.relations])
        numbers = np.array(self._numbers, dtype=np.intp)
        return np.asarray(np.bincount(numbers, senses * multipliers, len(self.written)), dtype=float)

    def exchanged(self, course: Course, met: Array) -> Along | None:
        """The same held also where they are missed by more between the times at which they are; None if nowhere."""
        missed = [each.missed(course, float(met[each.number]), JUST / self.intervals) for each in self.kept]
        if not any(len(each) for each in missed):
            return None
        pairs = zip(self.kept, missed, strict=True)
        return replace(self, kept=tuple(each.held_at(own, self.intervals) for each, own in pairs))
