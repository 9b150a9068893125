"""What is to be optimised: what may be chosen between which bounds, what is to be least, and what must hold."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from mechsim.design.course import TEND, Measurable
from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.measure.reading import Asked, Reader
from mechsim.spec.expression import parse_expression, undefined
from mechsim.spec.suggest import did_you_mean, listed

Bounds = str | Sequence[float | None]  # "0.5:2", (0.5, 2); of an input also "-5:5:20"
SIGNS = re.compile(r"(<=|>=|==|=|<|>)")
MOST_INTERVALS = 10_000
EXAMPLE = "for example l=0.5:2; l=0.5: has no upper bound; an input over 20 intervals: u=-5:5:20"
PERIODIC = "periodic"  # stands for: the state at the end is that at the start


@frozen
class Variable:
    """A parameter, the end of the motion, or an input (over `intervals`, if these are given), between two bounds."""

    name: str
    least: float
    most: float
    intervals: int | None = None
    mark: Mark | None = None


@frozen(eq=False)
class Relation:
    """The difference of two measures must be between two numbers."""

    text: str
    left: Asked
    right: Asked
    least: float
    most: float
    mark: Mark | None = None

    @property
    def sense(self) -> float:
        """1 where it gives way if its right side grows, as equations do by convention; -1 where if that falls."""
        return 1.0 if math.isfinite(self.most) else -1.0


@frozen
class Text:
    """Something written, with its place."""

    text: str
    mark: Mark


def strings_of(given: object, what: str) -> tuple[str, ...]:
    """One text or several. Raises SpecError for what is none."""
    several = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    for each in several:
        if not isinstance(each, str):
            raise SpecError(Fault(f"{what} must be text, not {each!r}"))
    return several


def variables_of(
    vary: Mapping[str, Bounds], subject: Measurable, inputs: Collection[str], marks: Mapping[str, Mark] | None = None
) -> tuple[Variable, ...]:
    """Raises SpecError with all that is wrong."""
    known, faults, found = {*subject.parameters, *inputs, TEND}, [], []
    for name, given in vary.items():
        mark = (marks or {}).get(name, Mark("vary", 1, 1))
        if name not in known:
            hint = _hint(name, subject, known)
            faults.append(Fault(f"there is no parameter {name}, and no input", _begin(mark, name), hint))
            continue
        try:
            found.append(_variable(name, given, mark, subject, name in inputs))
        except SpecError as error:
            faults += error.faults
    if faults:
        raise SpecError(*faults)
    if not found:
        raise SpecError(Fault("nothing may vary: name what is to be chosen, with its bounds", hint=EXAMPLE))
    return tuple(found)


def _hint(name: str, subject: Measurable, known: Collection[str]) -> str:
    if name in subject.names.states:
        return f"{name} follows from the start: give it there by a parameter, positions: {{A: [x0]}}, and vary that"
    there = f"there are the parameters {listed(list(subject.parameters))}" if subject.parameters else ""
    return did_you_mean(name, list(known)) or there or "the mechanism has no parameters"


def _begin(mark: Mark, name: str) -> Mark:
    """Where an option begins, whose value stands at the mark."""
    return Mark(mark.file, 1, 1) if mark.file.startswith("--") else mark


def _variable(name: str, given: Bounds, mark: Mark, subject: Measurable, is_input: bool) -> Variable:
    several = given if isinstance(given, Iterable) else (given,)
    parts = given.split(":") if isinstance(given, str) else ["" if each is None else repr(each) for each in several]
    if len(parts) == 1 and not parts[0].strip():
        parts = []
    if len(parts) == 1 or len(parts) > 3:
        raise SpecError(Fault(f"{name} must have a least and a most, not {given}", mark, EXAMPLE))
    if len(parts) == 3 and not is_input:
        hint = "only an input may be another one in each interval"
        raise SpecError(Fault(f"{name} has intervals, but is no input", mark, hint))
    bounds = [_number(part, mark, subject) for part in parts[:2]] or [None, None]
    least = -math.inf if bounds[0] is None else bounds[0]
    most = math.inf if bounds[1] is None else bounds[1]
    if not least < most:
        hint = f"they are turned around: {most:g} to {least:g}" if least > most else ""
        message = f"the bounds of {name} leave nothing to choose: {least:g} is not below {most:g}"
        raise SpecError(Fault(message, mark, hint))
    return Variable(name, least, most, _intervals(name, parts[2], mark) if len(parts) == 3 else None, mark)


def _number(text: str, mark: Mark, subject: Measurable) -> float | None:
    """An expression of parameters; None where nothing is written."""
    if not text.strip():
        return None
    if text.strip() in ("inf", "-inf"):
        return float(text)
    expression = parse_expression(text, mark)
    if faults := undefined(expression, subject.parameters):
        raise SpecError(*faults)
    numbers = subject.numbers({})
    known = {name: float(numbers(name)) for name in expression.names if name in subject.parameters}
    return float(expression.evaluate(known))


def _intervals(name: str, text: str, mark: Mark) -> int:
    try:
        count = int(text)
    except ValueError:
        count = 0
    if not 1 <= count <= MOST_INTERVALS:
        raise SpecError(Fault(f"{name} must have 1 to {MOST_INTERVALS} intervals, not {text.strip()}", mark))
    return count


def relations_of(texts: Sequence[Text], reader: Reader, periodic: Sequence[str]) -> tuple[Relation, ...]:
    """What must hold; `periodic` are the coordinates and rates that make up the state. Faults go to the reader."""
    found: list[Relation] = []
    for each in texts:
        if each.text.strip() == PERIODIC:
            spread = [Text(f"final({name}) = start({name})", each.mark) for name in periodic]
            found += [relation for text in spread for relation in _relations(text, reader)]
        else:
            found += _relations(each, reader)
    return tuple(found)


def _relations(written: Text, reader: Reader) -> list[Relation]:
    """One, or of `0 <= max(A_y) <= 1` two."""
    sides = SIGNS.split(written.text)
    if len(sides) not in (3, 5):
        hint = 'for example "max(A_y) <= 1", "final(A_x) = 0" or "0 <= min(A_y) <= 1"'
        reader.faults.append(Fault(f"{written.text} is no relation of measures", written.mark, hint))
        return []
    if not all(side.strip() for side in sides):
        message = f"{written.text.strip()} lacks a side"
        reader.faults.append(Fault(message, written.mark, 'for example "final(A_x) = 0"'))
        return []
    begins = [sum(map(len, sides[:k])) for k in range(len(sides))]
    marks = [Mark(written.mark.file, written.mark.line, written.mark.column + begin) for begin in begins]
    found = []
    for place in range(0, len(sides) - 2, 2):
        sign, label = sides[place + 1], "".join(sides[place : place + 3]).strip()
        left, right = (reader.measure(sides[k], marks[k]) for k in (place, place + 2))
        if left is not None and right is not None:
            least, most = -math.inf if "<" in sign else 0.0, math.inf if ">" in sign else 0.0
            found.append(Relation(label, left, right, least, most, written.mark))
    return found
