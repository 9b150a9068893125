"""How large the numbers of an optimisation are, so that no unit matters to what is small and what is met.

A measure is as large as what it may be off by if all that it is made of is off by as much as it moves along the motion:
`final(P_x) - d` as P_x moves, wherever the origin is, and its square as the square of that.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from itertools import product

import numpy as np

from mechsim.design.course import Course
from mechsim.measure.formulas import Look, Term, applied
from mechsim.measure.quantities import Bound, Given, Inside, Quantity
from mechsim.measure.reading import SECONDS, Asked, function_of
from mechsim.measure.scalars import Evaluation
from mechsim.result.layout import Array
from mechsim.spec.expression import name_of, operands_of

LOOKS = np.linspace(0.0, 1.0, 5)[:, None]  # shares of each step at which it is looked how far a quantity moves
WHOLE = ("count", "events")  # measures that are numbers of things
ABSOLUTE = ("integral", "rms")  # of these the value counts, not how it moves


class Sizes:
    """Of measures of one motion; parameters that are `varied` may be off by as much as they are."""

    def __init__(self, course: Course, varied: Collection[str]):
        self.course, self.varied = course, varied

    def of(self, asked: Asked) -> float:
        """Zero where nothing moves."""
        found = _Size(self, asked).of(asked.expression.tree)[1]
        return found if np.isfinite(found) else 0.0

    def moves(self, quantity: Quantity) -> tuple[float, float]:
        """The largest value of a quantity along the motion, and how far it moves."""
        steps = np.arange(len(self.course.steps.begins))
        shares = np.broadcast_to(LOOKS, (len(LOOKS), len(steps)))
        values = quantity.at(Inside(self.course.steps, steps, shares))
        known = values[np.isfinite(values)]
        return (float(np.abs(known).max()), float(np.ptp(known))) if known.size else (0.0, 0.0)


class _Size:
    """Of one measure."""

    def __init__(self, sizes: Sizes, asked: Asked):
        self.sizes, self.asked, self.course = sizes, asked, sizes.course
        self.evaluation = Evaluation(sizes.course.scalars, asked)

    def of(self, node: ast.expr) -> tuple[float, float]:
        """The value of a number, and by how much it may be off."""
        value = float(np.ravel(self.evaluation.value(node))[0])
        if isinstance(node, ast.Constant):
            return value, 0.0
        if (name := name_of(node)) is not None:
            return value, self._of_number(name, value)
        if (function := function_of(node)) is not None:
            return value, self._of_function(function, operands_of(node)[0])
        return value, self._of_operation(node, value)

    def _of_number(self, name: str, value: float) -> float:
        match self.asked.outside[name]:
            case Given() if name in self.sizes.varied:
                return abs(value)
            case Bound(is_end) if is_end:
                return self._duration
        return 0.0

    def _of_function(self, function: str, quantity: ast.expr) -> float:
        if function in SECONDS:
            return self._duration
        if function in WHOLE:
            return 1.0
        largest, moves = self.sizes.moves(Quantity(quantity, self.asked.inside))
        if function not in ABSOLUTE:
            return moves
        return largest * (self._duration if function == "integral" else 1.0)

    def _of_operation(self, node: ast.expr, value: float) -> float:
        """The most it changes if all operands are off, to either side."""
        operands = [self.of(child) for child in operands_of(node)]
        sides = [(number - off, number + off) if off else (number,) for number, off in operands]
        corners = [applied(node, Look(), *map(_term, corner)).values for corner in product(*sides)]
        changes = np.abs(np.array(corners, dtype=float) - value)
        return float(changes[np.isfinite(changes)].max(initial=0.0))

    @property
    def _duration(self) -> float:
        return self.course.end - self.course.begin


def _term(value: float) -> Term:
    return Term(np.asarray(value), np.asarray(abs(value)))


def by_slopes(slopes: Array, bent: Array | None = None) -> float:
    """How large something is that does not move yet: how much it changes as its numbers go through their scales."""
    size = float(np.abs(slopes).max(initial=0.0))
    if size == 0.0 and bent is not None:
        size = 0.5 * float(np.abs(bent).max(initial=0.0))
    return size
