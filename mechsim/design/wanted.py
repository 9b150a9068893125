"""What a person wants to be optimised, read: bounds, goals and relations as they are written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from mechsim.analysis.flow import Flow
from mechsim.analysis.subject import Case
from mechsim.design.course import Measurable, Settings
from mechsim.design.fitting import fit_of
from mechsim.design.goals import Goal, Least, Measures, Several, Squares, through
from mechsim.design.optimize import ITERATIONS, optimize
from mechsim.design.optimum import Optimum
from mechsim.design.posed import Task
from mechsim.design.running import Watched
from mechsim.design.shooting import Shooting
from mechsim.design.standing import Iteration
from mechsim.design.task import PERIODIC, Bounds, Text, Variable, relations_of, strings_of, variables_of
from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.measure.reading import Reader
from mechsim.result.layout import Array

Places = Sequence[Sequence[float]]
THROUGH, FIT, GOAL = "through", "fit", ""  # in the names of marks: `through P`


@frozen(eq=False)
class Wanted:
    """One goal: a measure to `minimise`, or `squares` to be added up, of measures, of distances of points from places
    they are to come `through`, of columns of a file to `fit`. `marks` are places of what may vary, and of these."""

    vary: Mapping[str, Bounds]
    minimise: Text | None = None
    squares: tuple[Text, ...] = ()
    through: Mapping[str, Places] | None = None
    fit: str | Path | None = None
    subject: tuple[Text, ...] = ()
    marks: Mapping[str, Mark] | None = None


def wanted_of(
    vary: Mapping[str, Bounds],
    minimise: str | None,
    squares: str | Sequence[str],
    through: Mapping[str, Places] | None,
    fit: str | Path | None,
    subject: str | Sequence[str],
    marks: Mapping[str, Mark] | None = None,
) -> Wanted:
    """What is given in words that stand in no file."""
    check_vary(vary)
    return Wanted(
        vary, least_of(minimise), texts(squares, "--squares"), through, fit, texts(subject, "--subject"), marks
    )


def least_of(minimise: str | None) -> Text | None:
    if minimise is None:
        return None
    strings_of(minimise, "what is to be least")
    return Text(minimise, Mark("--minimise", 1, 1))


def check_vary(vary: object) -> None:
    if not isinstance(vary, Mapping):
        raise SpecError(Fault(f"vary is {vary!r}, but must give bounds by name", hint='as in {"l": (0.5, 2)}'))
    strings_of(vary, "what may vary is given by names, which")


def texts(given: str | Sequence[str], words: str) -> tuple[Text, ...]:
    several = enumerate(strings_of(given, words), 1)
    return tuple(Text(text, Mark(f"{words} {number}", 1, 1)) for number, text in several)


def optimum_of(
    wanted: Wanted,
    subject: Measurable,
    settings: Settings,
    *,
    iterations: int | None = None,
    begin: Array | None = None,
    observer: Callable[[Iteration], None] | None = None,
    keeper: Callable[[Shooting], Watched] | None = None,
) -> Optimum:
    """The optimum of what is wanted. `observer` hears how the search goes; what `keeper` makes hears of the best
    numbers so far too."""
    tend = subject.tend({}) if settings.tend is None else settings.tend
    case = subject.case({}, tend=tend)
    task = task_of(wanted, subject, case, (float(case.start.t), tend))
    shooting = Shooting(subject, task.variables, settings, {})
    keep = None if keeper is None else keeper(shooting)

    def watch(iteration: Iteration, best: Array) -> None:
        if keep is not None:
            keep(iteration, best)
        if observer is not None:
            observer(iteration)

    return optimize(shooting, task, begin=begin, iterations=iterations or ITERATIONS, observer=watch)


def task_of(wanted: Wanted, subject: Measurable, case: Case, span: tuple[float, float]) -> Task:
    """Raises SpecError with all that is wrong."""
    periodic = _chart(case) if any(each.text.strip() == PERIODIC for each in wanted.subject) else ()
    return read_task(wanted, subject, case.system.mechanism.inputs, span, periodic)


def read_task(
    wanted: Wanted,
    subject: Measurable,
    inputs: Collection[str],
    span: tuple[float, float],
    periodic: Sequence[str],
) -> Task:
    """The same by names alone; `periodic` are the coordinates and rates that make up the state."""
    reader = Reader(subject.names)
    faults: list[Fault] = []
    variables: tuple[Variable, ...] = ()
    goal, label = None, ""
    try:
        variables = variables_of(wanted.vary, subject, inputs, wanted.marks)
    except SpecError as error:
        faults += error.faults
    try:
        goal, label = _goal(wanted, subject, span, reader)
    except SpecError as error:
        faults += error.faults
    relations = relations_of(wanted.subject, reader, periodic)
    if reader.faults or faults:
        raise SpecError(*faults, *reader.faults)
    assert goal is not None
    return Task(variables, goal, label, relations, wanted.minimise.mark if wanted.minimise else None)


def _goal(wanted: Wanted, subject: Measurable, span: tuple[float, float], reader: Reader) -> tuple[Goal | None, str]:
    squared = bool(wanted.squares) + bool(wanted.through) + (wanted.fit is not None)
    if (wanted.minimise is not None) + bool(squared) != 1:
        message = "it is not said what is to be least" if not squared else "two things cannot both be least"
        hint = "give one goal: minimise a measure, or squares of measures, places to come through, columns to fit"
        raise SpecError(Fault(message, (wanted.marks or {}).get(GOAL), hint))
    if wanted.minimise is not None:
        asked = reader.measure(wanted.minimise.text, wanted.minimise.mark)
        return (None, "") if asked is None else (Least(asked), asked.label)
    parts: list[Squares] = []
    words = []
    if wanted.squares:
        measures = [reader.measure(each.text, each.mark) for each in wanted.squares]
        parts.append(Measures(tuple(each for each in measures if each is not None)))
        words.append("the square of a measure" if len(measures) == 1 else f"the squares of {len(measures)} measures")
    strings_of(wanted.through or (), "the name of a point")
    for point, places in (wanted.through or {}).items():
        with _placed(wanted, f"{THROUGH} {point}"):
            parts.append(through(point, places, subject, span, reader))
        words.append(f"the squares of the distances of {point} from {len(places)} places")
    if wanted.fit is not None:
        with _placed(wanted, FIT):
            parts.append(fit_of(wanted.fit, subject, span, reader))
        words.append(f"the squares of what is left of {Path(wanted.fit).name}")
    return parts[0] if len(parts) == 1 else Several(parts), " and ".join(words)


@contextmanager
def _placed(wanted: Wanted, name: str) -> Iterator[None]:
    """Give what is wrong the place in a file that it has there."""
    try:
        yield
    except SpecError as error:
        own = (wanted.marks or {}).get(name)
        here = (THROUGH, FIT)
        faults = [
            replace(each, mark=own) if own and (each.mark is None or each.mark.file in here) else each
            for each in error.faults
        ]
        raise SpecError(*faults) from None


def _chart(case: Case) -> tuple[str, ...]:
    """Coordinates and rates that make up the state."""
    start = case.start
    flow = Flow(case.system, start.t, start.positions)
    return flow.at(start.t, start.positions, start.velocities).chart().names
