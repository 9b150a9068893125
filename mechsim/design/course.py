"""A motion with its derivatives, ready to be measured: what sensitivities and optimisation are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from mechsim._version import __version__
from mechsim.analysis.subject import Case, Subject
from mechsim.engine import Solution
from mechsim.engine.tangents import END, Directions
from mechsim.errors import Fault, IntegrationError, Mark, MechsimError, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.changes import NumberChanges
from mechsim.kernel.system import System
from mechsim.measure.changes import Changes
from mechsim.measure.coinciding import told_of_coinciding
from mechsim.measure.gathered import Gathered, steps_of
from mechsim.measure.gradients import Gradients
from mechsim.measure.reading import Asked, Reader, Vocabulary
from mechsim.measure.scalars import Scalars
from mechsim.measure.steps import Steps
from mechsim.measure.stretches import Seam, Stretch, ended_by
from mechsim.result import Motion
from mechsim.result.layout import Array
from mechsim.result.trajectory import Facts

TEND = "tend"  # may be varied too, unless a parameter is called so
Numbers = Callable[[str], Array]


class Measurable(Subject, Protocol):
    """A Subject whose motions can be measured."""

    @property
    def tolerance(self) -> float:
        """Of motions, unless somebody says another."""
        ...

    @property
    def names(self) -> Vocabulary:
        """What names mean in measures."""
        ...

    def tend(self, parameters: Mapping[str, float]) -> float:
        """When motions with these parameters end, unless somebody says it."""
        ...

    def numbers(self, parameters: Mapping[str, float]) -> Numbers:
        """The values of all parameters where some are given, of those too that follow from them by formulas."""
        ...


@frozen
class Settings:
    """How motions are followed; None: as the subject has it."""

    tend: float | None = None
    tolerance: float | None = None
    order: int | None = None


def asked_of(texts: Sequence[str], names: Vocabulary, marks: Sequence[Mark] | None = None) -> tuple[Asked, ...]:
    """Measures as they are written. Raises SpecError with all that is wrong."""
    reader = Reader(names)
    places = marks or [Mark(f"measure {number}", 1, 1) for number in range(1, len(texts) + 1)]
    found = [each for text, mark in zip(texts, places, strict=True) for each in reader.read(text, mark)]
    if reader.faults:
        raise SpecError(*reader.faults)
    return tuple(found)


@frozen(slots=False, eq=False)
class Course:
    """A motion, or several that follow each other, by whose directions it is differentiated: `names` are these."""

    solution: Solution
    stretches: tuple[Stretch, ...]
    names: tuple[str, ...]
    numbers: Numbers
    changing: bool
    seams: tuple[Seam, ...] = ()

    @cached_property
    def steps(self) -> Steps:
        return steps_of(Gathered([Motion(self.solution, _no_facts())], {}), self.numbers, self.changing)

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """What a person should be told before they trust the motion itself, and its derivatives. Where stretches meet
        energy may jump, for they do so only as nearly as a search made them: each is looked at by itself."""
        solutions = [each.solution for each in self.stretches] or [self.solution]
        return next((found for found in map(self._doubts_of, solutions) if found), ())

    def _doubts_of(self, solution: Solution) -> tuple[str, ...]:
        facts = _no_facts()
        facts["settings"]["tol"] = solution.tolerance
        certificate = Motion(solution, facts).certificate
        across = "derivatives do not know what happens at such a place: across it they are wrong"
        return (*certificate.doubts(), *([across] if certificate.drifts_strangely and self.names else []))

    @cached_property
    def coinciding(self) -> list[str]:
        """What is told of things that happen at one time and move apart."""
        return told_of_coinciding(self.changes, self.names) if self.names else []

    @cached_property
    def ended_by(self) -> str | None:
        """The event that ended it, if not its time did."""
        return ended_by(self.solution)

    @cached_property
    def changes(self) -> Changes:
        return Changes(self.steps, self.stretches, len(self.names), self.seams)

    @cached_property
    def scalars(self) -> Scalars:
        return Scalars(self.steps)

    @property
    def begin(self) -> float:
        return float(self.solution.t[0])

    @property
    def end(self) -> float:
        """When it ended."""
        return float(self.solution.t[-1])

    @property
    def ending(self) -> str:
        """The same in words."""
        by = f", by the event {self.ended_by}" if self.ended_by else ""
        return f"the motion ends at t = {self.end:.6g}{by}"

    def value(self, asked: Asked) -> float:
        """Of a measure; raises MechsimError where there is none."""
        value = float(self.scalars.of(asked)[0])
        if np.isnan(value):
            raise MechsimError(Fault(self.scalars.messages.get(0, f"{asked.label} has no value")))
        return value

    @cached_property
    def gradients(self) -> Gradients:
        return Gradients(self.changes)


def course_of(subject: Measurable, parameters: Mapping[str, float], by: Sequence[str], settings: Settings) -> Course:
    """The motion with these parameters, differentiated by what is named: parameters, inputs, coordinates of the start
    and their rates, "start", or "tend"."""
    case, tend = _case(subject, parameters, settings)
    case, directions = directed(case, by, subject.parameters)
    solution = case.solution(tend, tolerance=_tolerance(subject, settings), order=settings.order, tangents=directions)
    stretch = Stretch(solution, directions, np.arange(directions.count))
    return Course(solution, (stretch,), directions.names, subject.numbers(parameters), subject.names.changing)


def plain_course(subject: Measurable, parameters: Mapping[str, float], settings: Settings) -> Course:
    """The same without derivatives."""
    case, tend = _case(subject, parameters, settings)
    solution = case.solution(tend, tolerance=_tolerance(subject, settings), order=settings.order)
    return Course(solution, (), (), subject.numbers(parameters), subject.names.changing)


def _case(subject: Measurable, parameters: Mapping[str, float], settings: Settings) -> tuple[Case, float]:
    tend = subject.tend(parameters) if settings.tend is None else settings.tend
    return subject.case(parameters, tend=tend), tend


def _tolerance(subject: Measurable, settings: Settings) -> float:
    return subject.tolerance if settings.tolerance is None else settings.tolerance


def refuse_other_end(course: Course, ended_by: str | None) -> None:
    """Raise where another event than that one ends the motion, or none does: it then is one of another branch."""
    if course.ended_by != ended_by:
        own = "when its time is over" if ended_by is None else f"by the event {ended_by}"
        raise IntegrationError(Fault(f"{course.ending}, and not {own} as the first one did"))


def directed(case: Case, by: Sequence[str], parameters: Mapping[str, float]) -> tuple[Case, Directions]:
    """The directions that are named, in the order of the names."""
    names = list(dict.fromkeys(by))
    if not names:
        raise SpecError(Fault("nothing is named to differentiate by"))
    ends = TEND in names and TEND not in parameters
    others = [name for name in names if name != TEND or not ends]
    if not others:
        return case, _of_end(case.system)
    case, directions = case.directed(others)
    if not ends:
        return case, directions
    before = case.directed(names[: names.index(TEND)])[1].count if names[0] != TEND else 0
    ordered = [*directions.names[:before], TEND, *directions.names[before:]]
    return case, directions.joined(_of_end(case.system)).ordered(ordered)


def _of_end(system: System) -> Directions:
    """The motion ends later, and is the same otherwise."""
    still = np.zeros((system.n, 1))
    return Directions((TEND,), still, still.copy(), NumberChanges.none(system, 1), given={END: np.ones(1)})


def _no_facts() -> Facts:
    """Of a motion that is measured, and no more."""
    return {
        "title": "",
        "spec_path": "",
        "spec_text": "",
        "version": __version__,
        "settings": {"tol": 0.0, "order": None, "t0": 0.0, "tend": 0.0, "overrides": {}, "branch": None},
    }
