"""What a search came to, as a person is told of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mechsim.design.along import peaks_of
from mechsim.design.asking import limits_of, missed_of
from mechsim.design.course import Course
from mechsim.design.fitting import Fit, Quality, quality_of
from mechsim.design.goals import Least, Squares
from mechsim.design.hamiltonian import Hamiltonian, hamiltonian
from mechsim.design.optimum import FOUND, Chosen, Held, InputCourse, Optimum
from mechsim.design.polish import polished
from mechsim.design.posed import MET
from mechsim.design.running import AMISS, ELSEWHERE, TOLERANCE, WORDS, Running
from mechsim.design.shown import shown_of
from mechsim.design.standing import Evaluated
from mechsim.errors import Fault
from mechsim.nonlinear import NoValue, Solved
from mechsim.result.layout import Array

FREE = 1e-9  # of the size of the goal: what costs less holds nothing back
AT_BOUND = 1e-6  # of the range of a number, or of its size: nearer to a bound it is there
APART = 1e-5  # of the size: stretches of one motion are no further from each other
HARDLY = 1e-5  # of the largest: in a direction in which residuals change by less, numbers are told by their last digits
ALONG = 0.3  # of the largest share of a number in such a direction: those with more are named
BEYOND = 1e-3  # of the range of an input: further beyond its bounds between its points is told
LOOKS = 50  # places of each interval that are looked at for it
BEATEN = "the search settled at numbers that are worse than these, the best that it saw: to go on, begin here"
DOUBTFUL = (
    "derivatives do not bear out: over {} of {} steps of the search the goal changed by far more or less than they "
    "say. Where it jumps or bends sharply that may be; hold what was found against motions beside it"
)
ALL_ALONG = "{} has kinks where its peaks last: a relation of one peak by itself, as {}, is kept all along"
PEAK = re.compile(r"\b(?:min|max)\(.*?\)(?=[-+*/ <>=]|$)")  # in the text of a relation
INVALID = -13  # what IPOPT says where something has no value that it cannot step back from
REASONS = {
    2: "derivatives lead no nearer to what must hold, but kinks of it may hide a way: begin elsewhere",
    3: "steps became too small to go on",
    4: "numbers grow without end: give them bounds",
    -2: "no step brings it nearer to what must hold",
    -3: "no step could be computed from here",
    ELSEWHERE: "what is to be kept all along was missed elsewhere again and again: more intervals may do",
    AMISS: "relations that followed from others where the search once stood do not do so any more: begin elsewhere",
    INVALID: "there is no motion, or none with derivatives, where the search had to look",
}
MESSAGES = {
    "unfinished": "as many iterations as were allowed came to no end",
    "interrupted": "the search was ended: this is the best so far",
}


class Telling:
    """Of what a search came to. `notes` are what should be known of it."""

    def __init__(self, running: Running, found: Solved):
        self.running, self.found = running, found
        self.search, self.shooting, self.task = running.search, running.shooting, running.task
        self.notes = list(running.notes)
        self.beaten = False  # whether it settled where it is worse than what it saw
        self.missed: list[str] = []  # relations that do not hold

    def optimum(self, seconds: float) -> Optimum:
        search, shooting = self.search, self.shooting
        status = WORDS.get(self.found.status, "stopped")
        if search.ended and status not in FOUND:
            status = "interrupted" if search.interrupted else "stopped"
        if status == "infeasible" and self._kinked:
            status = "stopped"
        numbers, at = self.running.at(self._last_digits() if status in FOUND else search.best.numbers)
        beaten = self.running.worse(self.found, at.goal) if status in FOUND else 0.0
        if beaten > 0.0:  # what is told is never worse than what was seen
            numbers, at = self.running.at(search.best.numbers)
        if beaten > TOLERANCE * self.running.asking.size:
            status, self.beaten = "stopped", True
        gaps = missed_of(at.constraints, self.running.asking.limits)[len(at.relations) :]
        if status in FOUND and (apart := shooting.apart(at.course)) > APART:
            status = "stopped"
            search.edge.fault = Fault(f"stretches are on different branches, {apart:.2g} of the size apart")
        held = self._held(at, status)
        chosen = self._all_chosen(numbers, status)
        quality = self._quality(at, numbers, chosen)
        self._tell_beyond(numbers)
        if status not in FOUND and any(control.count > 1 for control in shooting.controls):
            self.notes += [ALL_ALONG.format(text, f"{peak} {sign} 1") for text, peak, sign in self._kinked]
        if search.trail.doubtful:
            self.notes.append(DOUBTFUL.format(search.trail.off, search.trail.told))
        self.notes += [*at.course.doubts, *at.course.coinciding]
        first, shot = self.running.start, self.shooting

        def course(after: bool) -> Course:
            return shot.course(search.split(numbers if after else first)[0], sloped=False)

        return Optimum(
            status=status,
            message=self._message(status, held, gaps),
            label=self.task.label,
            before=self.running.first.goal,
            goal=at.goal,
            chosen=chosen if quality is None else _with_errors(chosen, quality),
            held=held,
            history=tuple(search.history),
            numbers=numbers,
            told=tuple(self.notes),
            evaluations=search.evaluations,
            seconds=seconds,
            courses=course,
            inputs=self._inputs(numbers),
            shown=shown_of(
                self.task.goal,
                self.task.relations,
                shooting,
                (self.running.first.course, search.split(first)[0]),
                (at.course, search.split(numbers)[0]),
            ),
            hamiltonian=self._hamiltonian(numbers, status, held),
            quality=quality,
        )

    def _last_digits(self) -> Array:
        """IPOPT's numbers; of squares that nothing holds back those to which steps of the residuals lead from there."""
        goal, search, scales = self.task.goal, self.search, self.running.scales
        if not isinstance(goal, Squares) or self.shooting.count > 1 or search.ended:
            return self.found.x
        at, limits = self.running.at(self.found.x)[1], self.running.asking.limits
        if (np.minimum(at.relations - limits[0], limits[1] - at.relations) <= MET).any():
            return self.found.x

        def residuals(x: Array, sloped: bool) -> tuple[Array, Array]:
            there = search.at(x, sloped)
            if missed_of(there.constraints, limits).any():
                raise NoValue("what must hold would not")
            extras = search.split(x * scales)[1]
            slopes = goal.jacobian(there.course, extras) * scales if sloped else np.zeros((0, 0))
            return goal.residuals(there.course, extras), slopes

        bounds = self.running.least / scales, self.running.most / scales
        best = polished(residuals, self.found.x / scales, bounds)
        if not isinstance(goal, Fit):  # which has standard errors
            self._tell_hardly(best.jacobian)
        return best.x * scales if best.squares < at.goal else self.found.x

    def _held(self, at: Evaluated, status: str) -> tuple[Held, ...]:
        """What is kept all along has the prices of all times at which it is held."""
        written = self.task.relations
        values = np.array([at.course.value(each.left) - at.course.value(each.right) for each in written])
        missed = missed_of(values, limits_of(written, 0))
        prices = self.running.along.prices(self.found.multipliers[: len(at.relations)])
        sizes = self.running.written_sizes(at)
        self.missed = [each.text for each, off, size in zip(written, missed, sizes, strict=True) if off > MET * size]
        return tuple(
            Held(each.text, float(value), float(off), self._price(price, size, status))
            for each, value, off, price, size in zip(written, values, missed, prices, sizes, strict=True)
        )

    @property
    def _kinked(self) -> list[tuple[str, str, str]]:
        """Relations of several peaks, which IPOPT cannot follow where these last: one of the peaks of each, and the
        sign that would do."""
        found = [(each.text, PEAK.search(each.text)) for each in self.task.relations if not peaks_of(each)]
        return [(text, peak[0], "<=" if peak[0].startswith("max") else ">=") for text, peak in found if peak]

    def _tell_hardly(self, jacobian: Array) -> None:
        """Numbers that the residuals hardly tell: others far from them are nearly as good."""
        _, sizes, directions = np.linalg.svd(jacobian, full_matrices=False)
        if len(jacobian) < len(self.running.scales) or sizes[-1] >= HARDLY * sizes[0]:
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
            least, most = self.running.least[control.first], self.running.most[control.first]
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

    def _hamiltonian(self, numbers: Array, status: str, held: Sequence[Held]) -> Hamiltonian | None:
        goal, count = self.task.goal, len(self.search.relations)
        if self.shooting.count == 1 or not isinstance(goal, Least) or status not in FOUND or self.search.nothing_less:
            return None
        if any(each.price for each, own in zip(held, self.task.relations, strict=True) if peaks_of(own)):
            return None  # costates jump at the times at which it is held
        relations = zip(self.search.relations, self.found.multipliers[:count].tolist(), strict=True)
        sides = [
            (weight, side) for each, size in relations for weight, side in ((size, each.left), (-size, each.right))
        ]
        x = self.search.split(numbers)[0]
        return hamiltonian(self.shooting, x, goal.asked, self.found.multipliers[count:], sides)

    def _inputs(self, numbers: Array) -> tuple[InputCourse, ...]:
        """Those over intervals."""
        grid = self.shooting.grid(numbers)
        return tuple(
            InputCourse(each.name, each.times(grid), numbers[each.first : each.first + each.count], each.degree)
            for each in self.shooting.controls
            if each.count > 1
        )

    def _all_chosen(self, numbers: Array, status: str) -> tuple[Chosen, ...]:
        """All that a person knows: not states between intervals."""
        shooting, own = self.shooting, self.shooting.own
        names = [*shooting.names[:own], *(each.name for each in self.task.goal.extras)]
        places = [*range(own), *range(len(shooting.names), len(numbers))]
        return tuple(self._chosen(name, k, numbers, status) for name, k in zip(names, places, strict=True))

    def _chosen(self, name: str, k: int, numbers: Array, status: str) -> Chosen:
        least, most, value = self.running.least[k], self.running.most[k], float(numbers[k])
        size = AT_BOUND * (most - least if np.isfinite(most - least) else self.running.scales[k])
        held = "least" if value - least <= size else "most" if most - value <= size else ""
        price = self.found.below[k] if held == "least" else self.found.above[k] if held else 0.0
        price = self._price(price, self.running.scales[k], status)
        return Chosen(name, float(self.running.start[k]), value, least, most, price, held)

    def _price(self, price: float, size: float, status: str) -> float:
        """One that is of no account beside the goal, as what holds back gives way by its size, is none."""
        return float(price) if status in FOUND and abs(price) * size > FREE * self.running.asking.size else 0.0

    def _message(self, status: str, held: Sequence[Held], gaps: Array) -> str:
        if status in FOUND or status == "interrupted":
            return MESSAGES.get(status, "")
        missed = [f"{each.text}, by {each.missed:.3g}" for each in held if each.text in self.missed]
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
        if edge.reached or (self.found.status == INVALID and edge.beyond is not None):
            return edge.words(self.shooting.names, self.search.best.numbers, self.running.scales) + left
        why = f"; where it looked last: {edge.why}" if edge.why else ""
        reason = REASONS.get(self.found.status) or MESSAGES.get(status, "the search ended where it should not")
        return reason + left + why


def _with_errors(chosen: Sequence[Chosen], quality: Quality) -> tuple[Chosen, ...]:
    errors = [None if np.isnan(error) else error for error in quality.errors.tolist()]
    return tuple(replace(each, error=error) for each, error in zip(chosen, errors, strict=True))
