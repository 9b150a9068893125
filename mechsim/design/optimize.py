"""Optimisation: parameters, starts and inputs chosen so that a measure of the motion is least and others hold.

IPOPT with exact first derivatives. Second ones are those of formulas, where these are sums of squares or alike (Gauss
and Newton), else IPOPT gathers them on its way (limited memory).
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from mechsim.design.course import Course
from mechsim.design.fitting import Fit, Quality, quality_of
from mechsim.design.goals import Least, Squares
from mechsim.design.hamiltonian import Hamiltonian, hamiltonian
from mechsim.design.kink import pulls_of
from mechsim.design.optimum import FOUND, Chosen, Held, InputCourse, Optimum
from mechsim.design.polish import polished
from mechsim.design.posed import MET, Task, refuse_no_end, refuse_outside, refuse_overdetermined, told_of, told_of_still
from mechsim.design.search import Best, Evaluated, Iteration, Search, limits_of, missed_of
from mechsim.design.shooting import Shooting
from mechsim.design.shown import shown_of
from mechsim.design.trail import Trail
from mechsim.errors import Fault, SpecError
from mechsim.nonlinear import NoValue, Solved, signals_kept_back, solve
from mechsim.result.layout import Array

ITERATIONS = 500
TOLERANCE = 1e-8
AT_BOUND = 1e-6  # of the range of a number, or of its size: nearer to a bound it is there
APART = 1e-5  # of the size: stretches of one motion are no further from each other
HARDLY = 1e-5  # of the largest: in a direction in which residuals change by less, numbers are told by their last digits
ALONG = 0.3  # of the largest share of a number in such a direction: those with more are named
BEYOND = 1e-3  # of the range of an input: further beyond its bounds between its points is told
LOOKS = 50  # places of each interval that are looked at for it
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
BEATEN = "the search settled at numbers that are worse than these, the best that it saw: to go on, begin here"
DEPENDENT = 1e-8  # of their size: equations whose derivatives are as nearly the same follow from each other
LOOSE = 1e-8  # by which these may be missed
GATHERED: Options = {"hessian_approximation": "limited-memory"}
BACK: Options = {"bound_push": 1e-8, "bound_frac": 1e-8}  # a start at a bound stays there
DIGITS = 1e-7  # of the goal: IPOPT's optimum has so many
DOUBTFUL = (
    "derivatives do not bear out: over {} of {} steps of the search the goal changed by far more or less than they "
    "say. Where it jumps or bends sharply that may be; hold what was found against motions beside it"
)
ALL_ALONG = (
    "{} holds all along the motion, and has kinks where that is so for a while: relations at many times do not, as "
    "{} and so on"
)
PEAKS = re.compile(r"\b(?:min|max)\(([^()]+)\)")  # in the text of a relation
KINK = "the goal has a kink here: it rises to all sides by the derivatives that were seen there, which differ"
GAUSS_NEWTON = 100  # iterations with second derivatives by formulas: what they are good for is found in fewer
SETTLED = ("optimal", "acceptable", "infeasible", "interrupted")
WORDS = {0: "optimal", 1: "acceptable", 2: "infeasible", 5: "interrupted", -1: "unfinished"}  # by IPOPT's status
INVALID = -13  # what IPOPT says where something has no value that it cannot step back from
REASONS = {
    3: "steps became too small to go on",
    4: "numbers grow without end: give them bounds",
    -2: "no step brings it nearer to what must hold",
    -3: "no step could be computed from here",
    INVALID: "there is no motion, or none with derivatives, where the search had to look",
}
MESSAGES = {
    "unfinished": "as many iterations as were allowed came to no end",
    "interrupted": "the search was ended: this is the best so far",
}


Watched = Callable[[Iteration, Array], None]  # after each iteration, with the best numbers so far


def optimize(
    shooting: Shooting,
    task: Task,
    *,
    begin: Array | None = None,
    iterations: int = ITERATIONS,
    observer: Watched | None = None,
) -> Optimum:
    """The numbers that make the goal least, from the subject's own values, or from those that another search came to
    (`begin`). Raises SpecError, and what else hinders the first motion; later ones that fail are stepped back from."""
    began = time.perf_counter()
    refuse_outside(shooting, begin)
    refuse_overdetermined(shooting, task)
    first = shooting.course(shooting.start, sloped=True)
    refuse_no_end(shooting, first)
    start = np.concatenate([shooting.start, task.goal.begin(first)])
    if begin is not None:
        start = _resumed(begin, start)
    with signals_kept_back(heeded=(signal.SIGINT,)) as interrupted:  # the best so far is told
        running = _Running(shooting, task, start, first.ended_by, interrupted, observer)
        found = running.solved(iterations)
        return running.optimum(found, time.perf_counter() - began)


def _resumed(begin: Array, start: Array) -> Array:
    if len(begin) != len(start) or not np.isfinite(begin).all():
        message = f"what the search is to go on from has {len(begin)} numbers, and there are {len(start)} to choose"
        raise SpecError(Fault(message, hint="it is of another problem: begin anew, without --resume"))
    return np.asarray(begin, dtype=float)


class _Running:
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
        ranges = [each.most - each.least for each in extras]
        self.scales = np.concatenate([shooting.scales, ranges])
        self.least, self.most = (
            np.concatenate([own, [getattr(each, key) for each in extras]])
            for own, key in zip(shooting.bounds, ("least", "most"), strict=True)
        )
        self.limits = limits_of(task.relations, (shooting.count - 1) * shooting.width)
        told = None if observer is None else lambda iteration, best: observer(iteration, best.numbers)
        trail = Trail(np.isinf(self.least), np.isinf(self.most))
        trail.below[shooting.own :] = trail.above[shooting.own :] = False  # states are bounded by what they belong to
        best = Best(MET, start.copy())
        self.search = Search(
            shooting, task.goal, task.relations, self.scales, self.limits, interrupted, best, trail, told
        )
        self.search.ended_by = ended_by
        self.first = self.search.evaluated(start, sloped=True)
        self.search.hear(self.first, start)
        self.notes = [*told_of(self.first, self.search, start, task), *told_of_still(self.first, self.search, start)]
        self._loosen()
        self.search.know_pattern(self.first)
        self.beaten = False  # whether it settled where it is worse than what it saw

    def _loosen(self) -> None:
        """As many equations as numbers IPOPT solves without a look at the goal, though some may follow from others and
        leave something to choose: then they hold as nearly as all must."""
        assert self.first.slopes is not None
        least, most = self.limits
        equations = np.flatnonzero(least == most)
        if self.shooting.count > 1 or len(equations) < len(self.scales):
            return
        slopes = self.first.slopes[equations] * self.scales
        sizes = np.linalg.norm(slopes, axis=1, keepdims=True)
        if np.linalg.matrix_rank(slopes / np.where(sizes > 0, sizes, 1.0), tol=DEPENDENT) < len(equations):
            least[equations] -= LOOSE
            most[equations] += LOOSE

    def solved(self, iterations: int) -> Solved:
        """A search that settles where it is worse than it was, as it may where it began at a bound or passed a kink, is
        sent back to the best so far once."""
        found = self._settled(iterations)
        if self.search.nothing_less and not self.search.interrupted:
            return self._at_zero(found)
        if self.search.kink.reached:
            return self._at_kink(found)
        left = iterations - len(self.search.history)
        if WORDS.get(found.status) not in FOUND or left <= 0 or self.search.ended:
            return found
        if self._worse(found, self.search.at(found.x, sloped=False).goal) <= TOLERANCE:
            return found
        return self._searched(self.search.best.numbers, left, {**GATHERED, **BACK})

    def _at_zero(self, found: Solved) -> Solved:
        """What cannot be less is an optimum, though it may have a kink there; nothing has a price."""
        self.notes.append(f"{self.task.label} has come to zero but for roundings: nothing is less, whatever gives way")
        multipliers, below, above = (np.zeros_like(each) for each in (found.multipliers, found.below, found.above))
        return Solved(self.search.best.numbers / self.scales, multipliers, below, above, 0, "")

    def _at_kink(self, found: Solved) -> Solved:
        """Where a mean of the derivatives of all sides is zero, it is an optimum, known to fewer digits."""
        search, x = self.search, self.search.best.numbers / self.scales
        at = search.evaluated(search.best.numbers, sloped=True)
        assert at.slopes is not None
        bounds = self.least / self.scales, self.most / self.scales
        pulls = pulls_of(at.relations, at.slopes * self.scales, self.limits, x, bounds)
        shares = search.kink.balance(x, pulls)
        if shares is None or search.best.missed > MET:
            return found
        self.notes += [KINK] if search.kink.sharp else []
        multipliers, below, above = pulls.multipliers(shares, (len(at.relations), len(x)))
        return Solved(x, multipliers, below, above, 1, "")

    def _settled(self, iterations: int) -> Solved:
        """With second derivatives by formulas where these are worth something; where that comes to no end, from the
        best so far without them."""
        if not self.search.is_bowl(self.first):
            return self._searched(self.start, iterations, GATHERED)
        found = self._searched(self.start, min(iterations, GAUSS_NEWTON), {})
        left = iterations - len(self.search.history)
        if WORDS.get(found.status) in SETTLED or left <= 0 or self.search.ended:
            return found
        return self._searched(self.search.best.numbers, left, GATHERED)

    def _worse(self, found: Solved, goal: float) -> float:
        """By how much a goal is worse than the best of all that was seen, beyond what it is worth that this may miss
        constraints by a little."""
        best = self.search.best
        if best.missed > MET:
            return 0.0
        digits = MET * np.abs(found.multipliers).sum() + DIGITS * max(abs(goal), abs(best.goal))
        return max(goal - best.goal - digits, 0.0)

    def _searched(self, start: Array, iterations: int, options: Options) -> Solved:
        bounds = self.least / self.scales, self.most / self.scales
        given = {**OPTIONS, **options, "max_iter": iterations}
        return solve(self.search, start / self.scales, bounds, self.limits, given)

    def optimum(self, found: Solved, seconds: float) -> Optimum:
        search, shooting = self.search, self.shooting
        status = WORDS.get(found.status, "stopped")
        if search.ended and status not in FOUND:
            status = "interrupted" if search.interrupted else "stopped"
        numbers, at = self._at(self._last_digits(found) if status in FOUND else search.best.numbers)
        beaten = self._worse(found, at.goal) if status in FOUND else 0.0
        if beaten > 0.0:  # what is told is never worse than what was seen
            numbers, at = self._at(search.best.numbers)
        if beaten > TOLERANCE:
            status, self.beaten = "stopped", True
        missed = missed_of(at.constraints, self.limits)
        if status in FOUND and (apart := shooting.apart(at.course)) > APART:
            status = "stopped"
            search.edge.fault = Fault(f"stretches are on different branches, {apart:.2g} of the size apart")
        own = shooting.own
        held = tuple(
            Held(each.text, float(at.relations[k]), float(missed[k]), _price(each.sense * found.multipliers[k], status))
            for k, each in enumerate(self.task.relations)
        )
        extras = [each.name for each in self.task.goal.extras]
        places = [*range(own), *range(len(shooting.names), len(self.scales))]
        names = [*shooting.names[:own], *extras]
        chosen = [self._chosen(name, k, numbers, found, status) for name, k in zip(names, places, strict=True)]
        quality = self._quality(at, numbers, chosen)
        self._tell_beyond(numbers)
        if status not in FOUND and any(control.count > 1 for control in shooting.controls):
            self._tell_all_along()
        if search.trail.doubtful:
            self.notes.append(DOUBTFUL.format(search.trail.off, search.trail.told))
        joined = bool((missed[len(held) :] <= MET).all())  # else energy jumps where stretches do not meet
        self.notes += [*(at.course.doubts if joined else ()), *at.course.coinciding]
        if quality is not None:
            pairs = zip(chosen, quality.errors.tolist(), strict=False)
            chosen = [replace(each, error=None if np.isnan(error) else error) for each, error in pairs]
        first, shot = self.start, self.shooting

        def course(after: bool) -> Course:
            return shot.course(search.split(numbers if after else first)[0], sloped=False)

        return Optimum(
            status=status,
            message=self._message(status, found.status, held, missed[len(held) :]),
            label=self.task.label,
            before=self.first.goal,
            goal=at.goal,
            chosen=tuple(chosen),
            held=held,
            history=tuple(search.history),
            numbers=numbers,
            told=tuple(self.notes),
            evaluations=search.evaluations,
            seconds=seconds,
            courses=course,
            inputs=tuple(
                InputCourse(
                    control.name,
                    control.times(shooting.grid(numbers)),
                    numbers[control.first : control.first + control.count],
                    control.degree,
                )
                for control in shooting.controls
                if control.count > 1
            ),
            shown=shown_of(
                self.task.goal,
                self.task.relations,
                shooting,
                (self.first.course, search.split(first)[0]),
                (at.course, search.split(numbers)[0]),
            ),
            hamiltonian=self._hamiltonian(numbers, found, status),
            quality=quality,
        )

    def _tell_all_along(self) -> None:
        """A relation of peaks that is met for a while is none that IPOPT can follow."""
        for each in self.task.relations:
            if PEAKS.search(each.text):
                example = PEAKS.sub(r"at(\1, 0.1)", each.text)
                self.notes.append(ALL_ALONG.format(each.text, example))

    def _at(self, numbers: Array) -> tuple[Array, Evaluated]:
        """Numbers within their bounds, and what is there."""
        inside = np.clip(numbers, self.least, self.most)
        return inside, self.search.evaluated(inside, sloped=not self.search.nothing_less)

    def _last_digits(self, found: Solved) -> Array:
        """IPOPT's numbers; of squares that nothing holds back those to which steps of the residuals lead from there."""
        goal, search = self.task.goal, self.search
        if not isinstance(goal, Squares) or self.shooting.count > 1 or search.ended:
            return found.x * self.scales
        at = search.at(found.x, sloped=True)
        if (np.minimum(at.relations - self.limits[0], self.limits[1] - at.relations) <= MET).any():
            return found.x * self.scales

        def residuals(x: Array, sloped: bool) -> tuple[Array, Array]:
            there = search.at(x, sloped)
            if missed_of(there.constraints, self.limits).any():
                raise NoValue("what must hold would not")
            extras = search.split(x * self.scales)[1]
            slopes = goal.jacobian(there.course, extras) * self.scales if sloped else np.zeros((0, 0))
            return goal.residuals(there.course, extras), slopes

        best = polished(residuals, found.x, (self.least / self.scales, self.most / self.scales))
        if not isinstance(goal, Fit):  # which has standard errors
            self._tell_hardly(best.jacobian)
        return best.x * self.scales if best.squares < at.goal else found.x * self.scales

    def _tell_hardly(self, jacobian: Array) -> None:
        """Numbers that the residuals hardly tell: others far from them are nearly as good."""
        _, sizes, directions = np.linalg.svd(jacobian, full_matrices=False)
        if len(jacobian) < len(self.scales) or sizes[-1] >= HARDLY * sizes[0]:
            return
        shares = np.abs(directions[-1])
        names = [*self.shooting.names, *(each.name for each in self.task.goal.extras)]
        lost = [names[k] for k in np.flatnonzero(shares > ALONG * shares.max())]
        less = f"{sizes[0] / sizes[-1]:.0e} times less than others do" if sizes[-1] > 0 else "nothing"
        self.notes.append(f"{self.task.label} hardly tell {', '.join(lost)} apart: changed together these do {less}")

    def _tell_beyond(self, numbers: Array) -> None:
        """Bounds hold at the points of an input only: between these a cubic may go beyond them."""
        shares = np.linspace(0.0, 1.0, LOOKS)
        for control in self.shooting.controls:
            least, most = self.least[control.first], self.most[control.first]
            values = np.array([control.at(numbers, piece, shares) for piece in range(self.shooting.count)])
            below, above = least - values.min(), values.max() - most
            if max(below, above) > BEYOND * (most - least):
                side = (
                    f"{values.max():.6g}, above {most:g}" if above > below else f"{values.min():.6g}, below {least:g}"
                )
                told = f"between its points {control.name} is as far as {side}"
                self.notes.append(f"{told}: more intervals, or hold: linear, keep it nearer")

    def _quality(self, at: Evaluated, numbers: Array, chosen: Sequence[Chosen]) -> Quality | None:
        goal = self.task.goal
        if not isinstance(goal, Fit) or self.shooting.count > 1:
            return None
        extras = self.search.split(numbers)[1]
        free = np.array([not each.held for each in chosen])
        found = quality_of(goal, goal.residuals(at.course, extras), goal.jacobian(at.course, extras), free)
        lost = [each.name for each, error in zip(chosen, found.errors, strict=True) if np.isinf(error)]
        if lost:
            self.notes.append(f"the data do not tell {', '.join(lost)} apart: other values fit as well")
        return found

    def _hamiltonian(self, numbers: Array, found: Solved, status: str) -> Hamiltonian | None:
        goal, count = self.task.goal, len(self.task.relations)
        if self.shooting.count == 1 or not isinstance(goal, Least) or status not in FOUND or self.search.nothing_less:
            return None
        relations = zip(self.task.relations, found.multipliers[:count].tolist(), strict=True)
        sides = [
            (weight, side) for each, size in relations for weight, side in ((size, each.left), (-size, each.right))
        ]
        x = self.search.split(numbers)[0]
        return hamiltonian(self.shooting, x, goal.asked, found.multipliers[count:], sides)

    def _chosen(self, name: str, k: int, numbers: Array, found: Solved, status: str) -> Chosen:
        least, most, value = self.least[k], self.most[k], float(numbers[k])
        size = AT_BOUND * (most - least if np.isfinite(most - least) else self.scales[k])
        held = "least" if value - least <= size else "most" if most - value <= size else ""
        price = (found.below[k] if held == "least" else found.above[k] if held else 0.0) / self.scales[k]
        return Chosen(name, float(self.start[k]), value, least, most, _price(price, status), held)

    def _message(self, status: str, number: int, held: Sequence[Held], gaps: Array) -> str:
        if status in FOUND or status == "interrupted":
            return MESSAGES.get(status, "")
        missed = [f"{each.text}, by {each.missed:.3g}" for each in held if each.missed > MET]
        if gaps.max(initial=0.0) > MET:
            missed.append(f"that stretches make one motion, by {gaps.max():.3g} of its size")
        left = f"; missed: {'; '.join(missed)}" if missed else ""
        if status == "infeasible":
            return f"no numbers near here meet all that must hold{left}"
        edge = self.search.edge
        if self.search.kink.reached:
            return f"{REASONS[3]}: the goal has a kink here, and derivatives do not tell whether it is least{left}"
        if self.beaten:
            return BEATEN + left
        if self.search.trail.without_end:
            return self.search.trail.endless(self.shooting.names) + left
        if edge.reached or (number == INVALID and edge.beyond is not None):
            return edge.words(self.shooting.names, self.search.best.numbers, self.scales) + left
        why = f"; where it looked last: {edge.why}" if edge.why else ""
        reason = REASONS.get(number, "the search ended where it should not")
        return MESSAGES.get(status, reason) + left + why


def _price(multiplier: float, status: str) -> float:
    return float(multiplier) if status in FOUND and abs(multiplier) > 1e-9 else 0.0
