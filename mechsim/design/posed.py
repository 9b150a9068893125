"""What is asked of an optimisation, and what is refused, or told, before a search begins."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from mechsim.design.asking import missed_of
from mechsim.design.course import TEND, Course
from mechsim.design.goals import Goal
from mechsim.design.search import Search
from mechsim.design.shooting import Shooting
from mechsim.design.standing import Evaluated
from mechsim.design.task import Relation, Variable
from mechsim.errors import BranchWarning, Fault, Mark, MechsimError, SpecError
from mechsim.frozen import frozen
from mechsim.result.layout import Array

MET = 1e-7  # by which relations may be missed
NOTHING = 1e-12  # of the goal: less is no change
BESIDE = 0.01  # of scales: how far beside the start it is looked whether the goal changes at all
STILL = "vary what it depends on, or leave it out"


@frozen(eq=False)
class Task:
    """What is to be optimised."""

    variables: tuple[Variable, ...]
    goal: Goal
    label: str
    relations: tuple[Relation, ...]
    mark: Mark | None = None  # of the goal


def refuse_outside(shooting: Shooting, begin: Array | None) -> None:
    """Raise where a search would begin outside of its bounds."""
    own = shooting.own
    first = shooting.first if begin is None else np.asarray(begin)[:own]
    least, most = (each[:own] for each in shooting.bounds)
    inputs, faults = {control.name for control in shooting.controls}, {}
    marks = {each.name: each.mark for each in shooting.variables}
    for k in np.flatnonzero((first < least) | (first > most)).tolist():
        name = shooting.names[k].split("[")[0]  # of an input over intervals all
        message = f"{name} begins at {first[k]:.6g}, outside of its bounds {least[k]:g} to {most[k]:g}"
        inside = f"by its start in Inputs, {name}: {{start: ...}}" if name in inputs else f"by --set {name}=..."
        inside = "by --tend" if any(each.name == name for each in shooting.ends) else inside
        faults[name] = Fault(message, marks.get(name), f"begin inside, {inside}, or widen the bounds")
    for each in shooting.ends:
        if -np.inf < each.least < shooting.t0:
            message = f"{TEND} may be as small as {each.least:g}, but the motion begins at t0 = {shooting.t0:g}"
            hint = f"its least must be above t0, or t0 itself: {TEND}={shooting.t0:g}:..."
            faults[TEND] = Fault(message, each.mark, hint)
    if faults:
        raise SpecError(*faults.values())


def refuse_overdetermined(shooting: Shooting, task: Task) -> None:
    """Raise where more must hold than there is to choose."""
    equations = sum(each.least == each.most for each in task.relations)
    count = shooting.own + len(task.goal.extras)
    if equations > count:
        numbers = "is 1 number" if count == 1 else f"are {count} numbers"
        message = f"{equations} equations must hold, and there {numbers} to choose"
        marks = [each.mark for each in task.relations if each.least == each.most]
        hint = "vary more (an input over intervals, u=-5:5:20), or let squares be least instead"
        raise SpecError(Fault(message, marks[0], hint))


def refuse_no_end(shooting: Shooting, first: Course) -> None:
    """Raise where the end is to be chosen, and it is an event that ends the motion."""
    if shooting.ends and first.ended_by is not None:
        hint = f"leave {TEND} out of what varies, or do not let that event end the motion"
        raise SpecError(Fault(f"{TEND} is to be chosen, but {first.ending}: {TEND} has no part in it", hint=hint))


def told_of(first: Evaluated, search: Search, start: Array, task: Task) -> list[str]:
    """What should be known of the problem. Raises SpecError where nothing can be done for the goal."""
    assert first.sloped is not None and first.slopes is not None
    shooting = search.shooting
    changes = np.abs(first.sloped.gradient) + np.abs(first.sloped.bent).max(axis=0, initial=0.0)
    names = ", ".join(each.name for each in task.variables)
    if (changes * search.scales[: len(changes)]).max(initial=0.0) <= NOTHING * abs(first.goal):
        for side in (BESIDE, -BESIDE):
            with suppress(MechsimError, BranchWarning):
                beside = search.evaluated(start + side * search.scales, sloped=False)
                if abs(beside.goal - first.goal) > NOTHING * max(abs(beside.goal), abs(first.goal)):
                    return ["all derivatives of the goal are zero at the start: to leave it, begin elsewhere by --set"]
        message = f"{task.label} never changes with {names}"
        raise SpecError(Fault(message, task.mark, "vary what the motion depends on, or measure what it changes"))
    if shooting.count > 1:
        return []
    still = [shooting.names[k] for k in range(shooting.own) if not changes[k] and not first.slopes[:, k].any()]
    return [f"nothing changes with {', '.join(still)} at the start"] if still else []


def told_of_still(first: Evaluated, search: Search, start: Array) -> list[str]:
    """What should be known of relations that no number changes. Raises SpecError where such a one does not hold."""
    assert first.slopes is not None
    asking, course = search.asking, first.course
    own = [max(abs(course.value(side)) for side in (each.left, each.right)) for each in asking.relations]
    least = NOTHING * np.array(own) / asking.sizes
    still = np.abs(first.slopes * search.scales).max(axis=1, initial=0.0) <= least
    for side in (BESIDE, -BESIDE) if still.any() else ():
        try:
            beside = search.evaluated(start + side * search.scales, sloped=False)
        except (MechsimError, BranchWarning):  # nobody knows
            still[:] = False
        else:
            still &= np.abs(beside.relations - first.relations) <= least
    missed = missed_of(first.constraints, asking.limits)[: len(own)]
    texts = [each.text for each in asking.relations]  # of one that is held at many times the same
    moving = {text for text, is_still in zip(texts, still, strict=True) if not is_still}
    found = {text: k for k, text in enumerate(texts) if text not in moving}
    faults = [
        Fault(
            f"{text} does not change with what is varied, and is missed by {missed[k] * asking.sizes[k]:.3g}",
            asking.relations[k].mark,
            STILL,
        )
        for text, k in found.items()
        if missed[k] > MET
    ]
    if faults:
        raise SpecError(*faults)
    return [f"{text} does not change with what is varied: it holds at the start" for text in found]
