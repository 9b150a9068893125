"""What an optimum changes, to be drawn: curves before and after, with what they are to come near."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mechsim.design.course import Course
from mechsim.design.fitting import Fit
from mechsim.design.goals import Goal, Least, Measures, Several, Through, place_of
from mechsim.design.shooting import Shooting
from mechsim.design.task import Relation
from mechsim.frozen import frozen
from mechsim.measure.quantities import Quantity
from mechsim.measure.reading import OF_EVENTS, Asked, function_of
from mechsim.result.layout import Array
from mechsim.spec.expression import operands_of

TIMES = 600
MOST = 4  # quantities
PLACES = {0: 2, 1: 2, 3: 12}  # of an input in each interval, by its degree


@frozen(eq=False)
class Shown:
    """A curve, (2, places): time and value, or the two coordinates of a `path`; `marks` are what it is to come near."""

    label: str
    before: Array
    after: Array
    marks: Array | None = None
    path: bool = False
    unit: str = ""  # of the values, where it is known


Numbered = tuple[Course, Array]  # a motion, and the numbers that give it


def shown_of(
    goal: Goal, relations: Sequence[Relation], shooting: Shooting, before: Numbered, after: Numbered
) -> tuple[Shown, ...]:
    """Inputs, what the goal is made of, and what must hold."""
    found = list(_inputs(shooting, before[1], after[1]))
    unit = shooting.subject.names.unit
    for part in goal.parts if isinstance(goal, Several) else (goal,):
        found += _of_goal(part, before[0], after[0])
    measured = [*_measures(goal), *(side for each in relations for side in (each.left, each.right))]
    quantities = {label: quantity for asked in measured for label, quantity in _quantities(asked)}
    taken = {each.label for each in found}
    for label, quantity in list(quantities.items())[:MOST]:
        if label not in taken:
            found.append(Shown(label, _curve(before[0], quantity), _curve(after[0], quantity)))
    return tuple(each if each.path else replace(each, unit=unit(each.label) or "") for each in found)


def _of_goal(goal: Goal, before: Course, after: Course) -> list[Shown]:
    if isinstance(goal, Through) and len(goal.coordinates) > 1:
        plane = goal.coordinates[:2]
        ways = [np.stack([_curve(course, each)[1] for each in plane]) for course in (before, after)]
        return [Shown(f"path of {goal.point}", ways[0], ways[1], goal.places.T[:2], path=True)]
    if isinstance(goal, Fit):
        columns = zip(goal.names, goal.quantities, goal.wanted, strict=True)
        return [
            Shown(name, _curve(before, each), _curve(after, each), np.stack([goal.times, wanted]))
            for name, each, wanted in columns
        ]
    return []


def _measures(goal: Goal) -> Iterator[Asked]:
    if isinstance(goal, Least):
        yield goal.asked
    elif isinstance(goal, Measures):
        yield from goal.asked
    elif isinstance(goal, Several):
        for part in goal.parts:
            yield from _measures(part)


def _quantities(asked: Asked) -> Iterator[tuple[str, Quantity]]:
    """What stands in functions of the motion."""
    for node in ast.walk(asked.expression.tree):
        function = function_of(node)
        if function is not None and function not in OF_EVENTS and isinstance(node, ast.Call):
            quantity = operands_of(node)[0]
            yield asked.expression.shown(quantity).strip("`"), Quantity(quantity, asked.inside)


def _curve(course: Course, quantity: Quantity) -> Array:
    """(2, times)"""
    times = np.linspace(float(course.solution.t[0]), float(course.solution.t[-1]), TIMES)
    return np.stack([times, quantity.at(place_of(course, times))[0]])


def _inputs(shooting: Shooting, before: Array, after: Array) -> Iterator[Shown]:
    for control in shooting.controls:
        curves = []
        for x in (before, after):
            grid, shares = shooting.grid(x), np.linspace(0.0, 1.0, PLACES[control.degree])
            values = [control.at(x, piece, shares) for piece in range(shooting.count)]
            times = grid[:-1, None] + np.diff(grid)[:, None] * shares
            curves.append(np.stack([times.ravel(), np.ravel(values)]))
        yield Shown(control.name, curves[0], curves[1])
