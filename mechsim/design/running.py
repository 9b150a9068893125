"""One search: IPOPT is sent, asked again where what was found does not do yet, sent back to the best so far, and ended
where nothing is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from mechsim.design.along import Along
from mechsim.design.asking import Asking, limits_of, missed_of
from mechsim.design.dependent import dependent
from mechsim.design.kink import pulls_of
from mechsim.design.optimum import FOUND
from mechsim.design.posed import BESIDE, MET, Task, told_of, told_of_still
from mechsim.design.search import Search
from mechsim.design.shooting import Shooting
from mechsim.design.sizes import Sizes, by_slopes
from mechsim.design.standing import Best, Evaluated, Iteration
from mechsim.design.trail import Trail
from mechsim.errors import BranchWarning, MechsimError
from mechsim.kernel.linear import generic
from mechsim.nonlinear import Solved, solve
from mechsim.result.layout import Array

ROUNDS = 30  # times at which something else is asked, in other sizes or of other relations
STILL = 0.1  # of what the ranges of numbers would make: what does not move yet is so large
HARDLY = 1e-6  # of the same: what hardly moves is no smaller
ALIKE = 0.5  # of sizes: what changes by less stays, so that what is gathered of how the goal bends is kept
NEAREST = 0.02  # of sizes: a goal that comes out smaller than it moves is found as well as that at most
NOTHING = 1e-9  # of what states make of it: what numbers make is rounding
FINER = 0.1  # of sizes: where a motion turns out to be smaller than that, it is asked again in its own
NOWHERE = 1e-7  # of scales: a search that ends so near to its start went nowhere
TRIED = 12  # numbers that are moved one by one to leave a start where nothing leads
LESS = 1e-9  # of the size of the goal: less is no gain
TOLERANCE = 1e-8
Options = Mapping[str, str | float | int]
OPTIONS: Options = {
    "tol": TOLERANCE,
    "constr_viol_tol": 1e-8,
    "bound_relax_factor": 0.0,
    "mu_strategy": "adaptive",
    "acceptable_tol": 1e-6,
    "acceptable_constr_viol_tol": 1e-7,
    "limited_memory_max_history": 30,
}
DEPENDENT = 1e-8  # of their size: equations whose derivatives are as nearly the same follow from each other
LOOSE = 1e-8  # by which these may be missed
GATHERED: Options = {"hessian_approximation": "limited-memory"}
BACK: Options = {"bound_push": 1e-8, "bound_frac": 1e-8}  # a start at a bound stays there
NEARLY: Options = {
    **BACK,
    "mu_strategy": "monotone",
    "mu_init": 1e-7,
    "tol": 0.1 * TOLERANCE,
}  # a start that nearly does
DIGITS = 1e-7  # of the goal: IPOPT's optimum has so many
KINK = "the goal has a kink here: it rises to all sides by the derivatives that were seen there, which differ"
FOLLOW = "{} follow from what else must hold where the search ended: nothing is known of their prices"
GAUSS_NEWTON = 100  # iterations with second derivatives by formulas: what they are good for is found in fewer
SETTLED = ("optimal", "acceptable", "infeasible", "interrupted")
UNFINISHED, AMISS, ELSEWHERE = -1, -21, -22  # beside IPOPT's own status
WORDS = {
    0: "optimal",
    1: "acceptable",
    2: "infeasible",
    5: "interrupted",
    UNFINISHED: "unfinished",
    ELSEWHERE: "unfinished",
}  # by that
Watched = Callable[[Iteration, Array], None]  # after each iteration, with the best numbers so far


class Running:
    """One search."""

    def __init__(
        self,
        shooting: Shooting,
        task: Task,
        start: Array,
        ended_by: str | None,
        interrupted: list[int],
        observer: Watched | None,
    ):
        self.shooting, self.task, self.start = shooting, task, start
        extras = task.goal.extras
        self.least, self.most = (
            np.concatenate([own, [getattr(each, key) for each in extras]])
            for own, key in zip(shooting.bounds, ("least", "most"), strict=True)
        )
        self.along = Along.of(task.relations, shooting.count)
        told = None if observer is None else lambda iteration, best: observer(iteration, best.numbers)
        trail = Trail(np.isinf(self.least), np.isinf(self.most))
        trail.below[shooting.own :] = trail.above[shooting.own :] = False  # states are bounded by what they belong to
        self.search = Search(shooting, task.goal, self._plain(), interrupted, Best(MET, start.copy()), trail, told)
        self.search.ended_by = ended_by
        self.search.ask(self._asking(start, STILL))
        self.first = self.search.evaluated(start, sloped=True)
        self.search.hear(self.first, start)
        self.notes = [*told_of(self.first, self.search, start, task), *told_of_still(self.first, self.search, start)]
        self._loosen()
        self.search.know_pattern(self.first)

    @property
    def asking(self) -> Asking:
        return self.search.asking

    @property
    def scales(self) -> Array:
        return self.asking.scales

    # --- what is asked

    def _plain(self) -> Asking:
        """What is to be asked, in no sizes."""
        relations = self.along.relations
        limits = limits_of(relations, (self.shooting.count - 1) * self.shooting.width)
        ranges = [each.most - each.least for each in self.task.goal.extras]
        scales = np.concatenate([self.shooting.scales, ranges])
        return Asking(relations, limits, 1.0, np.ones(len(relations)), scales)

    def _asking(self, numbers: Array, still: float) -> Asking:
        """The same in the sizes of a motion; what hardly moves in it is as large as a share of what the ranges of
        numbers would make of it, of those that a person knows. Where stretches meet these make nothing: there it is
        what the scales of states would."""
        plain, states = self._plain(), slice(self.shooting.own, len(self.shooting.names))
        at = self.search.evaluated(numbers, sloped=True, asking=plain)
        assert at.sloped is not None
        sizes = self._sizes(at)
        ranges = plain.scales.copy()
        ranges[states] = 0.0
        scales = ranges[: len(at.sloped.gradient)]
        ranged = by_slopes(at.sloped.gradient * scales, at.sloped.bent * scales * scales[:, None])
        goal = max(self.task.goal.size(sizes), still * ranged) or 1.0
        if still == HARDLY and self.shooting.count > 1:  # what costates are told to depends on it
            goal = min(goal, max(abs(at.goal), NEAREST * goal))
        return replace(plain, size=goal, sizes=self._held_sizes(plain, at, ranges, still))

    def _held_sizes(self, plain: Asking, at: Evaluated, ranges: Array, still: float) -> Array:
        """Of relations as they are held; of what is the same whatever is chosen, its own."""
        assert at.slopes is not None
        sizes, course = self._sizes(at), at.course
        moves = np.array([sizes.of(each.left) + sizes.of(each.right) for each in plain.relations])
        ranged, stated = (np.array([by_slopes(row) for row in at.slopes * own]) for own in (ranges, plain.scales))
        found = np.maximum(moves, still * np.where(ranged > NOTHING * stated, ranged, stated))
        values = [abs(course.value(each.left)) + abs(course.value(each.right)) for each in plain.relations]
        own = np.array(values, dtype=float)
        return np.where(found > NOTHING * own, found, np.where(own > 0, own, 1.0))

    def _sizes(self, at: Evaluated) -> Sizes:
        return Sizes(at.course, [each.name for each in self.task.variables])

    def written_sizes(self, at: Evaluated) -> Array:
        """Of relations as they were written; of those of which nothing moves as of those that are held."""
        sizes = self._sizes(at)
        own = [sizes.of(each.left) + sizes.of(each.right) for each in self.along.written]
        held = dict(zip((each.text for each in self.asking.relations), self.asking.sizes.tolist(), strict=True))
        return np.array([size or held.get(each.text, 1.0) for each, size in zip(self.along.written, own, strict=True)])

    def _loosen(self) -> None:
        """As many equations as numbers IPOPT solves without a look at the goal, though some may follow from others and
        leave something to choose: then they hold as nearly as all must."""
        assert self.first.slopes is not None
        least, most = self.asking.limits
        equations = np.flatnonzero(least == most)
        if self.shooting.count > 1 or len(equations) < len(self.scales):
            return
        slopes = self.first.slopes[equations] * self.scales
        sizes = np.linalg.norm(slopes, axis=1, keepdims=True)
        if np.linalg.matrix_rank(slopes / np.where(sizes > 0, sizes, 1.0), tol=DEPENDENT) < len(equations):
            least[equations] -= LOOSE
            most[equations] += LOOSE

    def _asks_again(self, found: Solved) -> bool:
        """Whether what was found does not do yet, and something else is asked now."""
        numbers, at = self.at(found.x)
        along = self._more(at) or self.along
        small = self.shooting.smaller(at.course)
        if small.min() < FINER:
            self.shooting.small = self.shooting.small * small
        elif along is self.along:
            own, now = self.asking, self._asking(numbers, HARDLY)
            fine = ALIKE if self.shooting.count > 1 else FINER
            if now.size >= fine * own.size and (now.sizes >= FINER * own.sizes).all():
                return False
        own, self.along = self.asking, along
        now = self._asking(numbers, HARDLY)
        self.search.ask(replace(now, size=own.size) if ALIKE * own.size <= now.size <= own.size / ALIKE else now)
        return True

    def _more(self, at: Evaluated) -> Along | None:
        """What else must be held, or need not be."""
        more = self.along.exchanged(at.course, MET * self.written_sizes(at))
        if more is not None or self.shooting.count > 1 or self.along.dropped:
            return more
        assert at.slopes is not None and self.first.slopes is not None
        least, most = self.asking.limits
        free = (at.numbers > self.least) & (at.numbers < self.most)
        rows = np.flatnonzero(least == most)
        lost = dependent(at.slopes[rows] * self.scales * free, self.first.slopes[rows] * self.scales)
        return self.along.without(rows[lost].tolist()) if len(lost) else None

    # --- the search

    def solved(self, iterations: int) -> Solved:
        """Where something else is to be asked, in other sizes or of other relations, it goes on from there."""
        found = self._solved(self.start, iterations, {})
        for _ in range(ROUNDS):
            if self.search.ended:
                return found
            begin, options = None, BACK
            if WORDS.get(found.status) in FOUND and self._asks_again(found):
                begin, options = found.x, NEARLY
            elif np.abs((found.x - self.start) / self.scales).max(initial=0.0) <= NOWHERE:
                begin, options = self._beside(), {}
            if begin is None:
                return self._with_dropped(found)
            left = iterations - len(self.search.history)
            if left <= 0:
                return replace(found, status=UNFINISHED)
            found = self._solved(begin, left, options)
        return replace(found, status=ELSEWHERE)

    def _with_dropped(self, found: Solved) -> Solved:
        """What followed from the rest where the search once stood must do so where it ended."""
        dropped = [self.along.written[k] for k in self.along.dropped]
        if not dropped or WORDS.get(found.status) not in FOUND:
            return found
        _, at = self.at(found.x)
        off = [abs(at.course.value(each.left) - at.course.value(each.right)) for each in dropped]
        if (np.array(off) > MET * self.written_sizes(at)[self.along.dropped]).any():
            return replace(found, status=AMISS)
        self.notes.append(FOLLOW.format(", ".join(dict.fromkeys(each.text for each in dropped))))
        return found

    def _beside(self) -> Array | None:
        """Numbers beside a start that nothing leads away from, which may be where the goal is largest, and that are
        better than it; None if none are."""
        self.search.hear(self.first, self.start)
        own, best = self.search.best, None
        for numbers in self._around():
            with suppress(MechsimError, BranchWarning, ArithmeticError):
                at = self.search.evaluated(self.shooting.joined(numbers), sloped=False)
                missed = float(missed_of(at.constraints, self.asking.limits).max(initial=0.0))
                gain = max(own.missed, MET) - max(missed, MET), own.goal - at.goal - LESS * self.asking.size
                if gain[0] > MET or (gain[0] >= 0 and gain[1] > 0):
                    own, best = Best(MET, numbers, at.goal, missed), at.numbers
        return best

    def _around(self) -> list[Array]:
        """A little to both sides of the start, each number by itself and all together."""
        own, states = self.shooting.own, len(self.shooting.names)
        scales = np.where((np.arange(len(self.start)) >= own) & (np.arange(len(self.start)) < states), 0.0, self.scales)
        moved = np.flatnonzero(scales)
        ways = [np.sign(generic(len(scales)))]
        ways += [np.eye(len(scales))[k] for k in moved] if len(moved) <= TRIED else [np.ones(len(scales))]
        around = [self.start + side * BESIDE * way * scales for way in ways for side in (1.0, -1.0)]
        return [np.clip(each, self.least, self.most) for each in around]

    def _solved(self, start: Array, iterations: int, options: Options) -> Solved:
        """A search that settles where it is worse than it was, as it may where it began at a bound or passed a kink, is
        sent back to the best so far once."""
        before = len(self.search.history)
        found = self._settled(start, iterations, options)
        if self.search.nothing_less and not self.search.interrupted:
            return self._at_zero(found)
        if self.search.kink.reached:
            return self._at_kink(found)
        left = iterations - len(self.search.history) + before
        if WORDS.get(found.status) not in FOUND or left <= 0 or self.search.ended:
            return found
        if self.worse(found, self.at(found.x)[1].goal) <= TOLERANCE * self.asking.size:
            return found
        return self._searched(self.search.best.numbers, left, {**GATHERED, **BACK})

    def _at_zero(self, found: Solved) -> Solved:
        """What cannot be less is an optimum, though it may have a kink there; nothing has a price."""
        self.notes.append(f"{self.task.label} has come to zero but for roundings: nothing is less, whatever gives way")
        multipliers, below, above = (np.zeros_like(each) for each in (found.multipliers, found.below, found.above))
        return Solved(self.search.best.numbers, multipliers, below, above, 0, "")

    def _at_kink(self, found: Solved) -> Solved:
        """Where a mean of the derivatives of all sides is zero, it is an optimum, known to fewer digits."""
        search, x = self.search, self.search.best.numbers / self.scales
        at = search.evaluated(search.best.numbers, sloped=True)
        assert at.slopes is not None
        bounds = self.least / self.scales, self.most / self.scales
        pulls = pulls_of(at.relations, at.slopes * self.scales, self.asking.limits, x, bounds)
        shares = search.kink.balance(x, pulls)
        if shares is None or search.best.missed > MET:
            return found
        self.notes += [KINK] if search.kink.sharp else []
        multipliers, below, above = pulls.multipliers(shares, (len(at.relations), len(x)))
        return replace(self.asking, size=1.0).of(Solved(x, multipliers, below, above, 1, ""))

    def _settled(self, start: Array, iterations: int, options: Options) -> Solved:
        """With second derivatives by formulas where these are worth something; where that comes to no end, from the
        best so far without them."""
        if "hessian_approximation" in options or not self.search.is_bowl(self.first):
            return self._searched(start, iterations, {**GATHERED, **options})
        before = len(self.search.history)
        found = self._searched(start, min(iterations, GAUSS_NEWTON), options)
        left = iterations - len(self.search.history) + before
        if WORDS.get(found.status) in SETTLED or left <= 0 or self.search.ended:
            return found
        return self._searched(self.search.best.numbers, left, GATHERED)

    def worse(self, found: Solved, goal: float) -> float:
        """By how much a goal is worse than the best of all that was seen, beyond what it is worth that this may miss
        constraints by a little."""
        best, sizes = self.search.best, self.asking.sizes
        if best.missed > MET:
            return 0.0
        prices = np.abs(found.multipliers)
        missed = MET * (prices[: len(sizes)] @ sizes + prices[len(sizes) :].sum())
        return max(goal - best.goal - missed - DIGITS * max(abs(goal), abs(best.goal)), 0.0)

    def _searched(self, start: Array, iterations: int, options: Options) -> Solved:
        bounds = self.least / self.scales, self.most / self.scales
        given = {**OPTIONS, **options, "max_iter": iterations}
        return self.asking.of(solve(self.search, start / self.scales, bounds, self.asking.limits, given))

    def at(self, numbers: Array) -> tuple[Array, Evaluated]:
        """Numbers within their bounds, and what is there."""
        inside = np.clip(numbers, self.least, self.most)
        return inside, self.search.evaluated(inside, sloped=not self.search.nothing_less)
