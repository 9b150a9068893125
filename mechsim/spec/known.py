"""Reference: what is known of the motion from elsewhere, and how well a run must agree with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.document import Known, Number, Problem, Reference
from mechsim.spec.expression import parse_expression
from mechsim.spec.living import plain
from mechsim.spec.names import ANGLES, POINT
from mechsim.spec.nodes import DictNode, Node, TextNode
from mechsim.spec.parts import Parts
from mechsim.spec.records import Entry, Field, Named, Record, ShortOrLong
from mechsim.spec.shapes import Quantity, Reading, Schema, Whole, evaluate, shown
from mechsim.spec.suggest import did_you_mean

MOST_DIGITS = 16  # a double holds no more
MOST_STEPS = 10**9
COORDINATE = re.compile(rf"({POINT})_([xyz])(_dot)?")
TURN_ANGLE = re.compile(rf"theta_(({POINT})+?)(_dot)?")


class Digits:
    """How many digits must agree."""

    def read(self, node: Node, reading: Reading, label: str) -> float:
        number = Quantity(bounded=False).read(node, reading, label)
        if not 0 < number.value <= MOST_DIGITS:
            hint = f"write [value, digits, size]; a double holds {MOST_DIGITS} digits"
            message = f"{label} is {shown(number)}, but must be above 0 and at most {MOST_DIGITS}"
            raise SpecError(Fault(message, node.mark, hint))
        return number.value

    def schema(self) -> Schema:
        limits = {"type": "number", "exclusiveMinimum": 0, "maximum": MOST_DIGITS}
        return {"anyOf": [limits, {"type": "string"}]}


class Size:
    """What an error is relative to, where the quantity itself does not tell: above zero."""

    def read(self, node: Node, reading: Reading, label: str) -> Number:
        number = Quantity().read(node, reading, label)
        if not number.value > 0:
            raise SpecError(Fault(f"{label} is {shown(number)}, but must be above zero", node.mark))
        return number

    def schema(self) -> Schema:
        return Quantity().schema()


def _column_name(name: str, mark: Mark) -> None:
    if re.fullmatch(r"[^\W\d]\w*", name):
        return
    spelled = re.fullmatch(rf"({POINT})\.(v?)([xyz])", name)
    dot = "_dot" if spelled and spelled[2] else ""
    hint = f"write {spelled[1]}_{spelled[3]}{dot}" if spelled else "columns are A_x, A_x_dot, theta_OA, T, V, ..."
    raise SpecError(Fault(f"`{name}` is not the name of a column", mark, hint))


def _time(name: str, mark: Mark) -> None:
    parse_expression(name, mark)


KNOWN = ShortOrLong(
    {
        "value": Field(Quantity(), "the value, as it is known from elsewhere", required=True),
        "digits": Field(Digits(), "digits of it that must agree", required=True),
        "size": Field(Size(), "what an error is relative to; the largest that the quantity was so far, if omitted"),
    }
)


class Times:
    """`{0.03: {theta_OF: [15.81, 9]}}`: columns at times. Reads to a list of (time, {column: Entry})."""

    shape = Named(Named(KNOWN, _column_name, r"[^\W\d]\w*"), _time, r"[^,]+")

    def read(self, node: Node, reading: Reading, label: str) -> list[tuple[Number, dict[str, Entry]]]:
        found = []
        for entry in self.shape.read(node, reading, label).values():
            written = TextNode(entry.name, entry.mark)
            time = reading.attempt(evaluate, written, reading)
            if time is not None and entry.value is not None:
                found.append((Number(time, entry.name, entry.mark), entry.value))
        return found

    def schema(self) -> Schema:
        return self.shape.schema()


FIELDS = Record(
    {
        "at": Field(Times(), "values at times: {time: {column: [value, digits, size]}}", may_be_empty=True),
        "energy": Field(Quantity(least=0, bounded=False), "the most that the certificate's energy may drift"),
        "constraints": Field(Quantity(least=0, bounded=False), "the most by which constraints and rates may be missed"),
        "steps": Field(Whole(1, MOST_STEPS), "the most steps that a run may take"),
    }
)


class Section:
    """The section. A tape is about the mechanism, which answers are no part of, so its numbers are plain here. With
    other parameters than the file's they are about another motion: then they are read only to know what they use."""

    def read(self, node: Node, reading: Reading, label: str) -> dict[str, Any]:
        if isinstance(node, DictNode) and not node.entries:
            raise SpecError(Fault(f"{label} says nothing", node.mark, f"it has the keys {', '.join(FIELDS.fields)}"))
        numbers = {name: plain(value) for name, value in reading.environment.items()}
        own = replace(reading, environment=numbers, values={}, tape=None)
        if not reading.changed:
            return FIELDS.read(node, own, label)
        lenient = replace(own, faults=[])
        return lenient.attempt(FIELDS.read, node, lenient, label) or {}

    def schema(self) -> Schema:
        return FIELDS.schema()


def build_reference(
    document: Mapping[str, Any], mark: Mark, problem: Problem, parts: Parts, reading: Reading
) -> Reference | None:
    """The section after reading, checked against the parts and the times of the problem; None where there is none, or
    where other parameters make it one about another motion."""
    values = document.get("Reference")
    if values is None or reading.changed:
        return None
    known = [
        Known(float(time), entry.name, float(value["value"]), value["digits"], _float(value.get("size")), entry.mark)
        for time, columns in values.get("at", ())
        for entry in columns.values()
        if (value := entry.value) is not None
    ]
    _refuse_equal_times([time for time, _ in values.get("at", ())], reading)
    _refuse_times_outside([time for time, _ in values.get("at", ())], problem, reading)
    signals = document.get("Output", {}).get("signals", ())
    for each in known:
        if each.column not in signals:
            _check_column(each, parts, reading)
    known.sort(key=lambda each: (each.time, each.column))
    energy, constraints = (_float(values.get(name)) for name in ("energy", "constraints"))
    return Reference(tuple(known), energy, constraints, values.get("steps"), mark)


def _refuse_equal_times(times: Iterable[Number], reading: Reading) -> None:
    first: dict[float, Number] = {}
    for time in times:
        if first.setdefault(time.value, time) is not time:
            message = f"Reference.at has the time {time.value:g} twice: {first[time.value].text} and {time.text}"
            reading.fault(message, time.mark, "put its columns together")


def _refuse_times_outside(times: Iterable[Number], problem: Problem, reading: Reading) -> None:
    t0, tend = plain(problem.t0.value), plain(problem.tend.value)
    for time in times:
        if not t0 <= time.value <= tend:
            message = f"Reference.at is about the time {shown(time)}, but the motion goes from {t0:g} to {tend:g}"
            reading.fault(message, time.mark, "change tend in ProblemData, or the time")


def _check_column(known: Known, parts: Parts, reading: Reading) -> None:
    """As far as points and parts tell; which further columns there are is known with the mechanism."""
    user = f"Reference.at.{known.column}"
    coordinate, angle = COORDINATE.fullmatch(known.column), TURN_ANGLE.fullmatch(known.column)
    if coordinate and parts.known_point(coordinate[1], known.mark, user, reading):
        if coordinate[1] in parts.fixed_names:
            reading.fault(f"{user}: the point {coordinate[1]} is fixed, so it has no column", known.mark)
    elif angle:
        parts.known_rigid(angle[1], known.mark, user, reading)
    elif known.column[:6] in ANGLES and known.column[6:] in parts.rigid_points:
        hint = f"the rate of a turn angle is the column theta_{known.column[6:]}_dot"
        reading.fault(f"{user} is no column", known.mark, hint)


def unknown_column(known: Known, labels: Iterable[str]) -> Fault:
    """That a run has no such column."""
    names = list(labels)
    hint = did_you_mean(known.column, names) or f"columns are {', '.join(names)}"
    return Fault(f"Reference.at names {known.column}, which is no column of this run", known.mark, hint)


def _float(number: Number | None) -> float | None:
    return None if number is None else float(number)
