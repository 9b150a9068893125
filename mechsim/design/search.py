"""An optimisation as IPOPT sees it: all numbers in their scales, the goal, relations of measures, and gaps between
stretches of the motion, with first derivatives, and second ones as far as formulas tell them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np

from mechsim.design.asking import Asking, missed_of
from mechsim.design.course import refuse_other_end
from mechsim.design.curvature import Curvature, spread
from mechsim.design.edge import Edge
from mechsim.design.goals import Goal, Squares
from mechsim.design.kink import Kink
from mechsim.design.remainder import MOST, Remainder
from mechsim.design.shooting import Shooting
from mechsim.design.standing import Best, Evaluated, Iteration, Told
from mechsim.design.task import Relation
from mechsim.design.trail import Trail
from mechsim.errors import BranchWarning, MechsimError
from mechsim.nonlinear import Indices, NoValue
from mechsim.result.layout import Array

ROUND = 1e-12  # of the largest: second derivatives that are downhill by less are roundings
# As far a step by least squares goes, of scales, where they leave it open how far (Levenberg, Marquardt): farther after
# steps that were taken whole, less far after such that were cut.
REACH, LONGER, SHORTER, NEAREST = 0.5, 2.0, 0.25, 0.02
KEPT = 4  # evaluations that are remembered: IPOPT asks for parts of one after the other


@dataclass(slots=True, eq=False)
class Search:
    """A Program of `mechsim.nonlinear`, in numbers divided by their scales: those of the motion, then the goal's own.
    The goal and relations are divided by their sizes; `interrupted` has signals that came."""

    shooting: Shooting
    goal: Goal
    asking: Asking
    interrupted: list[int]
    best: Best
    trail: Trail
    told: Told | None = None
    history: list[Iteration] = field(default_factory=list)
    edge: Edge = field(default_factory=Edge)  # beyond which there is no value
    ended_by: str | None = None  # the event that ends all motions
    kink: Kink = field(default_factory=Kink)
    nothing_less: bool = False  # whether the goal is as small as it can ever be, where all holds that must
    evaluations: int = 0
    reach: float = REACH
    curvature: Curvature = field(default_factory=Curvature)
    remainder: Remainder | None = None
    pattern: tuple[Indices, Indices] | None = None  # of second derivatives, lower triangle
    _plain: dict[bytes, Evaluated] = field(default_factory=dict)
    _sloped: dict[bytes, Evaluated] = field(default_factory=dict)
    _last: Array | None = None

    @property
    def ended(self) -> bool:
        """Whether it is not to go on: somebody interrupted it, it came to an edge, a kink, or to what nothing
        is less than, or there is no end to it."""
        known = self.edge.reached or self.kink.reached or self.nothing_less
        return bool(self.interrupted) or known or self.trail.without_end

    @property
    def relations(self) -> tuple[Relation, ...]:
        return self.asking.relations

    @property
    def scales(self) -> Array:
        return self.asking.scales

    def ask(self, asking: Asking) -> None:
        """Ask for something else from here on: what was the best need not meet it. Where all is as large as it was, how
        it bends is known."""
        if asking.size != self.asking.size or not np.array_equal(asking.scales, self.asking.scales):
            self.curvature = Curvature()
            self.remainder = self.remainder and Remainder(np.zeros_like(self.remainder.matrix))
        elif self.remainder is not None:
            self.remainder.last = None  # there may be more relations now
        self.asking = asking
        self._plain.clear()
        self._sloped.clear()
        self.best.goal = self.best.missed = np.inf

    # --- values

    def at(self, x: Array, sloped: bool) -> Evaluated:
        """All that is known at scaled numbers. Raises NoValue."""
        key = np.asarray(x).tobytes()
        if key in self._sloped:
            return self._sloped[key]
        if not sloped and key in self._plain:
            return self._plain[key]
        if self.ended:
            raise NoValue(self.edge.why)  # so it ends at once
        kept = self._sloped if sloped else self._plain
        try:
            kept[key] = self.evaluated(np.asarray(x) * self.scales, sloped)
        except (MechsimError, BranchWarning, ArithmeticError, np.linalg.LinAlgError) as error:
            self.edge.hear(x, self._last, error)
            raise NoValue(self.edge.why) from error
        self.hear(kept[key], np.asarray(x) * self.scales)
        while len(kept) > KEPT:
            kept.pop(next(iter(kept)))
        return kept[key]

    def evaluated(self, numbers: Array, sloped: bool, asking: Asking | None = None) -> Evaluated:
        """The same at plain numbers, or of what is to be asked. Raises MechsimError, or BranchWarning where a start is
        on another branch."""
        asking = asking or self.asking
        own, extras = self.split(numbers)
        self.evaluations += 1
        with warnings.catch_warnings():
            warnings.simplefilter("error", BranchWarning)
            course = self.shooting.course(own, sloped)
        refuse_other_end(course, self.ended_by)
        gaps, sizes, relations = self.shooting.gaps(course, own), asking.sizes, asking.relations
        if not sloped:
            values = [course.value(each.left) - course.value(each.right) for each in relations]
            return Evaluated(numbers, course, self.goal.value(course, extras), np.array(values) / sizes, gaps)
        goal = self.goal.sloped(course, extras)
        found = [[course.gradients.of(side) for side in (each.left, each.right)] for each in relations]
        values = [left[0] - right[0] for left, right in found]
        slopes = np.zeros((len(found), len(numbers)))
        for row, (left, right) in enumerate(found):
            slopes[row, : len(own)] = left[1] - right[1]
        return Evaluated(numbers, course, goal.value, np.array(values) / sizes, gaps, goal, slopes / sizes[:, None])

    def hear(self, found: Evaluated, numbers: Array) -> float:
        """Remember what is best of all that was seen; by how much constraints are missed there."""
        missed = float(missed_of(found.constraints, self.asking.limits).max(initial=0.0))
        self.best.hear(numbers, found.goal, missed)
        self.nothing_less |= missed <= self.best.met and self.goal.is_least(found.course)
        return missed

    def split(self, numbers: Array) -> tuple[Array, Array]:
        count = len(self.shooting.names)
        return numbers[:count], numbers[count:]

    # --- for IPOPT

    def objective(self, x: Array) -> float:
        return self.at(x, sloped=False).goal / self.asking.size

    def gradient(self, x: Array) -> Array:
        found = self.at(x, sloped=True)
        self._last = np.array(x)
        return self._slope(found) / self.asking.size

    def _slope(self, found: Evaluated) -> Array:
        """Of the goal itself, by numbers in their scales."""
        assert found.sloped is not None
        gradient = found.sloped.gradient  # zero for what the goal does not know
        return np.concatenate([gradient, np.zeros(len(self.scales) - len(gradient))]) * self.scales

    def constraints(self, x: Array) -> Array:
        return self.at(x, sloped=False).constraints

    def jacobianstructure(self) -> tuple[Indices, Indices]:
        count, wide = len(self.relations), len(self.scales)
        rows, columns = self.shooting.gap_places
        own = np.repeat(np.arange(count), wide), np.tile(np.arange(wide), count)
        return np.concatenate([own[0], count + rows]), np.concatenate([own[1], columns])

    def jacobian(self, x: Array) -> Array:
        found = self.at(x, sloped=True)
        assert found.slopes is not None
        _, columns = self.shooting.gap_places
        gaps = self.shooting.gap_slopes(found.course) * self.scales[columns]
        return np.concatenate([(found.slopes * self.scales).ravel(), gaps])

    def know_pattern(self, first: Evaluated) -> None:
        """Which second derivatives there may be: of numbers that act in one stretch, or else all."""
        assert first.sloped is not None
        wide, bent = len(self.scales), first.sloped.bent
        together = np.zeros((wide, wide), dtype=bool)
        count = len(self.shooting.names)
        together[count:] = together[:, count:] = True
        for piece in range(self.shooting.count):
            acting = self.shooting.acting(piece)
            together[np.ix_(acting, acting)] = True
        np.fill_diagonal(together, True)
        gathers = not isinstance(self.goal, Squares) and wide <= MOST
        if gathers or bent[~together[: len(bent), : len(bent)]].any():
            together[:] = True
        self.remainder = Remainder(np.zeros((wide, wide))) if gathers else None
        rows, columns = np.nonzero(np.tril(together))
        self.pattern = rows, columns

    def is_bowl(self, first: Evaluated) -> bool:
        """Whether second derivatives by formulas alone are worth something: not zero, and nowhere downhill."""
        full = self._bent(first)
        size = np.abs(full).max(initial=0.0)
        try:
            np.linalg.cholesky(full + ROUND * size * len(full) * np.eye(len(full)))
        except np.linalg.LinAlgError:
            return False
        return bool(size > 0)

    def _bent(self, found: Evaluated) -> Array:
        """Of the goal itself, by numbers in their scales."""
        assert found.sloped is not None
        return self._spread(found.sloped.bent)

    def _spread(self, bent: Array) -> Array:
        full = np.zeros((len(self.scales), len(self.scales)))
        full[: len(bent), : len(bent)] = bent
        return full * self.scales * self.scales[:, None]

    def hessianstructure(self) -> tuple[Indices, Indices]:
        assert self.pattern is not None
        return self.pattern

    def hessian(self, x: Array, multipliers: Array, factor: float) -> Array:
        """Of the goal and relations by formulas, with what these leave out as gathered so far, unless it is a sum of
        squares; of joints between stretches as gathered so far."""
        found = self.at(x, sloped=True)
        full = factor * self._bent(found) / self.asking.size
        if isinstance(self.goal, Squares):
            full += factor * np.linalg.norm(self.gradient(x)) / self.reach * np.eye(len(full))
        elif self.remainder is not None:
            full += self._left(np.array(x), found, multipliers, factor, full)
        shooting, first = self.shooting, len(self.relations)
        for piece in range(shooting.count - 1):
            acting = shooting.acting(piece)
            sizes = shooting.state_scales(piece + 1)
            slopes = shooting.end_slopes(found.course, piece) / sizes[:, None] * self.scales[acting]
            own = multipliers[first + piece * len(sizes) : first + (piece + 1) * len(sizes)]
            spread(self.curvature.learn(piece, np.array(x)[acting], slopes, own), acting, full)
        return full[self.pattern]

    def _left(self, x: Array, found: Evaluated, multipliers: Array, factor: float, told: Array) -> Array:
        """Of relations by formulas, and of the goal and these what formulas leave out."""
        assert self.remainder is not None and found.slopes is not None
        count, gradients = len(self.relations), found.course.gradients
        weights = np.append(factor, multipliers[:count])
        bent = np.zeros_like(told)
        for each, size, weight in zip(self.relations, self.asking.sizes, multipliers[:count], strict=True):
            if weight:
                bent += weight / size * self._spread(gradients.bent(each.left) - gradients.bent(each.right))
        if not factor:  # IPOPT looks for what holds alone, with multipliers of its own
            return bent + self.remainder.matrix
        slopes = np.vstack([self._slope(found) / self.asking.size, found.slopes * self.scales])
        return bent + self.remainder.learn(x, slopes, weights, told + bent)

    def intermediate(self, *told: float) -> bool:
        """After each iteration; where its gradient was asked for last is where it stands. Last come the share of the
        step that was taken, and how often it was cut."""
        share, trials = told[-2:]
        if trials == 1 and share > 0.9:
            self.reach *= LONGER
        elif trials > 2:
            self.reach = max(SHORTER * self.reach, NEAREST)
        if self._last is not None:
            found = self.at(self._last, sloped=True)
            assert found.slopes is not None
            missed = self.hear(found, self._last * self.scales)
            self.history.append(Iteration(len(self.history), found.goal, missed))
            gradient = self._slope(found)
            self.trail.hear(self._last, found.goal, gradient, found.slopes * self.scales)
            if self.shooting.count == 1 and not isinstance(self.goal, Squares):
                self.kink.hear(self._last, found.goal, gradient, trials)
        if self.told is not None and self.history:
            self.told(self.history[-1], self.best)
        return not self.ended
