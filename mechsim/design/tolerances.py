"""Tolerances: what parameters that are off by a little do to measures, and which of them matters most.

To first order a measure is off by the sum of its derivatives times what each parameter is off by: at worst by the sum
of sizes, and if all are independent by the root of the sum of squares. How far that holds is tried at the two worst
corners.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np

from mechsim.design.course import Course, Measurable, Settings, plain_course, refuse_other_end
from mechsim.errors import BranchWarning, Fault, Mark, MechsimError, SpecError
from mechsim.frozen import frozen
from mechsim.measure.reading import Asked
from mechsim.result.layout import Array
from mechsim.spec.document import Written
from mechsim.spec.expression import parse_expression, undefined
from mechsim.spec.suggest import did_you_mean

Tolerance = float | str | Written  # a number, an expression of the parameters, or a share: "5%"
CROOKED = 0.1  # of what the first order says: where a corner is off by more, that is told
PLACE = Mark("tolerance", 1, 1)


@frozen(slots=False, eq=False)
class Budget:
    """What tolerances do to measures: `contributions` (measures, names) are |derivative| times tolerance; `corners`
    (measures, 2) are the least and the most that measures come to where all parameters are off as badly as they may
    be, by motions of their own; NaN where there is none."""

    names: tuple[str, ...]
    tolerances: Array
    labels: tuple[str, ...]
    values: Array
    contributions: Array
    corners: Array

    @property
    def worst(self) -> Array:
        """Of each measure, the sum of all contributions."""
        return np.asarray(self.contributions.sum(axis=1))

    @property
    def likely(self) -> Array:
        """The root of the sum of their squares: of independent parameters, and of standard deviations."""
        return np.asarray(np.sqrt((self.contributions**2).sum(axis=1)))

    @property
    def shares(self) -> Array:
        """Of the variance of each measure, (measures, names)."""
        total = self.likely[:, None] ** 2
        return np.asarray(
            np.divide(self.contributions**2, total, out=np.zeros_like(self.contributions), where=total > 0)
        )

    def ranked(self, measure: int) -> list[int]:
        """The names of a measure by what they contribute, the largest first."""
        return np.argsort(-self.contributions[measure], kind="stable").tolist()

    @property
    def notes(self) -> tuple[str, ...]:
        found = []
        for place, label in enumerate(self.labels):
            off = np.array([self.values[place] - self.corners[place, 0], self.corners[place, 1] - self.values[place]])
            if np.isnan(off).any():
                found.append(f"{label}: at a corner of the tolerances there is no such motion, or no value")
            elif np.abs(off - self.worst[place]).max() > CROOKED * self.worst[place]:
                told = f"{label} is bent within the tolerances: at worst it is off by -{off[0]:.3g} and +{off[1]:.3g}"
                found.append(f"{told}, not by {self.worst[place]:.3g} as derivatives say")
        return tuple(found)

    def as_dict(self) -> dict[str, object]:
        return {
            "tolerances": dict(zip(self.names, self.tolerances.tolist(), strict=True)),
            "measures": [
                {
                    "measure": label,
                    "worst_case": float(self.worst[k]),
                    "root_sum_square": float(self.likely[k]),
                    "corners": [None if np.isnan(value) else value for value in self.corners[k].tolist()],
                    "contributions": {self.names[j]: float(self.contributions[k, j]) for j in self.ranked(k)},
                    "shares": {self.names[j]: float(self.shares[k, j]) for j in self.ranked(k)},
                }
                for k, label in enumerate(self.labels)
            ],
        }


def sizes_of(subject: Measurable, tolerances: Mapping[str, Tolerance], given: Mapping[str, float]) -> dict[str, float]:
    """The tolerances as numbers. Raises SpecError for what is none, and for names that are no parameters."""
    numbers, faults = subject.numbers(given), []
    found: dict[str, float] = {}
    for name, tolerance in tolerances.items():
        if name not in subject.parameters:
            hint = did_you_mean(name, subject.parameters) or "tolerances are those of parameters"
            faults.append(Fault(f"there is no parameter {name} that could have a tolerance", hint=hint))
            continue
        try:
            found[name] = _size(name, tolerance, subject, given, float(numbers(name)))
        except SpecError as error:
            faults += error.faults
    if faults:
        raise SpecError(*faults)
    return found


def _size(name: str, tolerance: Tolerance, subject: Measurable, given: Mapping[str, float], value: float) -> float:
    written = tolerance if isinstance(tolerance, Written) else Written(str(tolerance), PLACE)
    text, mark = written.text.strip(), written.mark
    share = text.endswith("%")
    expression = parse_expression(text.removesuffix("%"), mark)
    if faults := undefined(expression, subject.parameters):
        raise SpecError(*faults)
    numbers = subject.numbers(given)
    known = {each: float(numbers(each)) for each in expression.names if each in subject.parameters}
    size = float(expression.evaluate(known))
    if share and value == 0:
        raise SpecError(Fault(f"{name} is 0, and has no share of it as a tolerance", mark, hint="give it as a number"))
    if not size > 0:
        raise SpecError(Fault(f"the tolerance of {name} must be above 0, but is {text}", mark))
    return size / 100 * abs(value) if share else size


def budget_of(
    subject: Measurable,
    asked: Sequence[Asked],
    course: Course,
    values: Array,
    derivatives: Array,
    sizes: Mapping[str, float],
    given: Mapping[str, float],
    settings: Settings,
) -> Budget:
    """What tolerances make of the values of a motion and of its derivatives, (measures, names of `sizes`)."""
    size = np.array(list(sizes.values()))
    numbers = subject.numbers(given)
    here = {name: float(numbers(name)) for name in sizes}
    corners = np.full((len(asked), 2), np.nan)
    for place, measure in enumerate(asked):
        for side, sign in enumerate((-1.0, 1.0)):
            off = dict(zip(sizes, (sign * np.sign(derivatives[place]) * size).tolist(), strict=True))
            there = {**given, **{name: here[name] + off[name] for name in sizes}}
            with suppress(MechsimError, BranchWarning), warnings.catch_warnings():
                warnings.simplefilter("error", BranchWarning)  # a motion of another branch is another one
                corner = plain_course(subject, there, settings)
                refuse_other_end(corner, course.ended_by)
                corners[place, side] = corner.value(measure)
    labels = tuple(each.label for each in asked)
    return Budget(tuple(sizes), size, labels, values, np.abs(derivatives) * size, corners)
