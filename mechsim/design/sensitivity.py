"""Sensitivities: how measures of a motion, and its quantities along the way, change with parameters and with the start.

They are derivatives of the flow itself (engine/tangents.py), through the consistent start, and exact but for the
tolerance of the motion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from mechsim.design.course import TEND, Course, Measurable, Settings, asked_of, course_of
from mechsim.design.sensitivities import Curve, Sensitivity
from mechsim.design.task import strings_of
from mechsim.design.tolerances import Tolerance, budget_of, sizes_of
from mechsim.engine.tangents import END
from mechsim.errors import Fault, Mark, SpecError
from mechsim.measure.quantities import Inside, Quantity
from mechsim.measure.reading import Reader
from mechsim.result.layout import Array

DEFAULT = ("final",)  # what is measured if nobody says it
FINER = 3  # as many times of curves for each row: derivatives may bend more than the motion does
SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")  # of a time at which steps meet: before, after
CURVES = Mark("curves", 1, 1)


def sensitivity(
    subject: Measurable,
    measures: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    *,
    curves: str | Sequence[str] = (),
    tolerances: Mapping[str, Tolerance] | None = None,
    parameters: Mapping[str, float] | None = None,
    settings: Settings | None = None,
    marks: Sequence[Mark] | None = None,
) -> Sensitivity:
    """Derivatives of `measures`, and of the quantities `curves` along the motion, `by` what is named; without names by
    what has `tolerances`, or by all parameters. Raises SpecError, AssemblyError, IntegrationError, and MechsimError
    where something has no derivative."""
    given, settings = dict(parameters or {}), settings or Settings()
    tolerances = tolerances or {}
    wanted = tuple(dict.fromkeys([*strings_of(by, "what it is by"), *strings_of(tolerances, "names of tolerances")]))
    asked = asked_of(strings_of(measures, "a measure") or (() if curves else DEFAULT), subject.names, marks)
    reader = Reader(subject.names)
    quantities = {text: reader.quantity(text, CURVES) for text in strings_of(curves, "a curve")}
    allowed = sizes_of(subject, tolerances, given)
    left_out: tuple[str, ...] = ()
    if not wanted:
        wanted, left_out = _all(subject, given)
    course = course_of(subject, given, wanted, settings)
    found = [course.gradients.of(each) for each in asked]
    values = np.array([value for value, _ in found])
    derivatives = np.array([gradient for _, gradient in found]).reshape(len(found), len(course.names))
    times = _times(course) if quantities else np.zeros(0)
    budget = None
    if tolerances:
        own = derivatives[:, [course.names.index(name) for name in allowed]]
        budget = budget_of(subject, asked, course, values, own, allowed, given, settings)
    return Sensitivity(
        by=course.names,
        given=_given(subject, given, course),
        labels=tuple(each.label for each in asked),
        units=tuple(each.unit for each in asked),
        values=values,
        derivatives=derivatives,
        times=times,
        curves=tuple(_curve(course, text, reader.unit(each), each, times) for text, each in quantities.items()),
        budget=budget,
        told=(
            *left_out,
            *course.doubts,
            *course.coinciding,
            *course.gradients.notes,
            *_told_of_end(course, bool(quantities)),
        ),
        statistics=dict(course.solution.statistics),
    )


def _all(subject: Measurable, given: Mapping[str, float]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All parameters that it can be differentiated by, and what is said of the others."""
    if not subject.parameters:
        raise SpecError(Fault("there are no parameters: name coordinates of the start to differentiate by"))
    names, case = tuple(subject.parameters), subject.case(given)
    try:
        case.directed(names)
    except SpecError as whole:
        known, told = [], []
        for name in names:
            try:
                case.directed([name])
                known.append(name)
            except SpecError as error:
                told += [fault.message for fault in error.faults]
        if not known:
            raise whole from None
        return tuple(known), tuple(told)
    return names, ()


def _times(course: Course) -> Array:
    """Those of the motion's rows, and some between them; twice where an event makes it jump."""
    rows = course.solution.rows.t
    inner = rows[:-1, None] + np.diff(rows)[:, None] * np.arange(FINER) / FINER
    wanted = (np.diff(rows)[:, None] > 0) | (np.arange(FINER) == 0)
    return np.append(inner[wanted], rows[-1])


def _curve(course: Course, label: str, unit: str, quantity: Quantity, times: Array) -> Curve:
    begins = course.steps.begins
    # Of two equal times, at an event, the first is the one before it.
    sides = np.where(np.append(times[1:] == times[:-1], False), *(np.searchsorted(begins, times, s) for s in SIDES))
    step = np.maximum(sides - 1, 0)
    share = ((times - begins[step]) / course.steps.durations[step])[None]
    values, changes = quantity.at(Inside(course.steps, step, share)), course.changes.at(quantity, step, share)
    return Curve(label, unit, values[0], changes[0])


def _told_of_end(course: Course, curved: bool) -> list[str]:
    """What should be known where an event ends the motion."""
    if course.ended_by is None:
        return []
    told = [f"{course.ending}: {TEND} has no part in it"] if TEND in course.names else []
    if curved and course.changes.number(END).any():
        where = f"curves are changes at fixed times, until the event {course.ended_by} ends the motion"
        told.append(f"{where}: what is at the end moves with it, see final(...)")
    return told


def _given(subject: Measurable, parameters: Mapping[str, float], course: Course) -> Array:
    """The values of what it is differentiated by; NaN for what has none."""
    numbers, system = subject.numbers(parameters), course.solution.system
    inputs, labels = system.mechanism.inputs, list(system.labels[: system.n])
    found = []
    for name in course.names:
        label = name.removesuffix("_dot")
        if name in subject.parameters:
            found.append(float(numbers(name)))
        elif name in inputs:
            found.append(float(system.constants[inputs[name].value]))
        elif label in labels:
            state = course.solution.q if label == name else course.solution.v
            found.append(float(state[0, labels.index(label)]))
        else:
            found.append(course.end if name == TEND and course.ended_by is None else np.nan)
    return np.array(found)
