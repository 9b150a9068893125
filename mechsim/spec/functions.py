"""Inputs, Signals, Tables and Piecewise: functions with a name that every expression may use."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.actions import Input, Piecewise, Table, Term
from mechsim.spec.circles import ordered, shown
from mechsim.spec.expression import Expression
from mechsim.spec.nodes import DictNode, ListNode, Node, describe
from mechsim.spec.number import Number
from mechsim.spec.parameters import check_parameter_name
from mechsim.spec.records import Entry, Field, Named, Record
from mechsim.spec.scope import TIME, VELOCITY, Scope, StateExpression
from mechsim.spec.shapes import Quantity, Reading, Schema, Text, Word, read_items

NAME = r"[^\W\d]\w*"


class Rows:
    """`[[t, value], ...]`. Reads to a list of (time, value) pairs; the second is read by `shape`."""

    def __init__(self, shape: Any):
        self.shape = shape

    def read(self, node: Node, reading: Reading, label: str) -> list[tuple[Any, Any]]:
        if not isinstance(node, ListNode) or not node.items:
            raise SpecError(Fault(f"{label} must be a list [[t, value], ...], not {describe(node)}", node.mark))
        rows = read_items(node.items, reading, label, self._row)
        _check_sorted([(time.value, time.mark) for time, _ in rows], label, reading)
        return rows

    def _row(self, node: Node, reading: Reading, label: str) -> tuple[Any, Any]:
        if not isinstance(node, ListNode) or len(node.items) != 2:
            raise SpecError(Fault(f"{label}: each item must be a pair [t, value]", node.mark))
        time = reading.attempt(Quantity().read, node.items[0], reading, label)
        value = reading.attempt(self.shape.read, node.items[1], reading, label)
        if time is None or value is None:
            raise SpecError()
        return time, value

    def schema(self) -> Schema:
        pair = {"type": "array", "prefixItems": [Quantity().schema(), self.shape.schema()], "minItems": 2}
        return {"type": "array", "items": pair, "minItems": 1}


def _check_name(name: str, mark: Mark) -> None:
    check_parameter_name(name, mark)
    if name == "t":
        raise SpecError(Fault("t is the time", mark, "choose another name"))


KINDS = ("step", "linear", "cubic", "pchip", "quintic")
ENDS = ("not-a-knot", "natural", "clamped")  # of a cubic table; the first if left out
FEWEST = {"step": 1, "linear": 2, "pchip": 2, "natural": 2, "clamped": 2, "not-a-knot": 4, "quintic": 6}  # points


class TableShape:
    """A record that needs points or a file."""

    def read(self, node: Node, reading: Reading, label: str) -> dict[str, Any]:
        values = TABLE.read(node, reading, label)
        if isinstance(node, DictNode) and not {key.text for key, _ in node.entries} & {"points", "file"}:
            hint = "write points: [[t, value], ...] or file: name.csv"
            raise SpecError(Fault(f"{label} has no values", node.mark, hint))
        return values

    def schema(self) -> Schema:
        return TABLE.schema()


ALIKE = {"spline": "cubic", "smooth": "cubic", "constant": "step", "hold": "step", "monotone": "pchip"}
TABLE = Record(
    {
        "points": Field(Rows(Quantity()), "values by time: [[t, value], ...]"),
        "file": Field(Text(), "a CSV file with columns time and value, beside the mechanism file"),
        "kind": Field(
            Word({kind: kind for kind in KINDS}, ALIKE), "step, linear (if omitted), cubic, pchip or quintic"
        ),
        "ends": Field(
            Word({end: end for end in ENDS}), "of a cubic table: not-a-knot (if omitted), natural or clamped (level)"
        ),
        "outside": Field(Word({"hold": True, "error": False}), "before and after: hold (if omitted) or error"),
    }
)
INPUT = Record(
    {
        "start": Field(Quantity(), "its value until it is set; 0 if omitted"),
        "hold": Field(
            Word({"constant": 0, "linear": 1, "cubic": 3}),
            "between two times: constant (if omitted), linear from one value to the next, or, as `mechsim optimize` "
            "chooses it, cubic",
        ),
    }
)


class InputShape:
    """A start value, or a record with one. Reads to (start, degree)."""

    def read(self, node: Node, reading: Reading, label: str) -> tuple[Number, int]:
        if isinstance(node, DictNode):
            values = INPUT.read(node, reading, label)
            return values.get("start") or Number(0.0, "0", node.mark), values.get("hold", 0)
        start: Number = Quantity().read(node, reading, label)
        return start, 0

    def schema(self) -> Schema:
        return {"anyOf": [Quantity().schema(), INPUT.schema()]}


SECTIONS = {
    "Inputs": Field(
        Named(InputShape(), _check_name, NAME), "values that are set from outside while it moves", may_be_empty=True
    ),
    "Signals": Field(
        Named(StateExpression(), _check_name, NAME), "names for expressions of time and state", may_be_empty=True
    ),
    "Tables": Field(
        Named(TableShape(), _check_name, NAME), "functions of time through given values", may_be_empty=True
    ),
    "Piecewise": Field(
        Named(Rows(StateExpression()), _check_name, NAME),
        "functions of time in pieces: {name: [[t, expression from t on], ...]}",
        may_be_empty=True,
    ),
}


def build_functions(values: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """Inputs, signals (each after those it uses), tables and piecewise functions; `scope` knows their names then."""
    seen: dict[str, str] = {}
    for section in SECTIONS:
        for entry in values.get(section, {}).values():
            _check_new(entry, section, seen, scope)
    inputs = [
        Input(each.name, each.value[0], each.value[1], each.mark)
        for each in values.get("Inputs", {}).values()
        if each.value is not None
    ]
    scope.functions.update((name, TIME) for name in values.get("Inputs", {}))
    tables = [_table(entry, scope) for entry in values.get("Tables", {}).values()]
    scope.functions.update((name, TIME) for name in values.get("Tables", {}))
    pieces = [_piecewise(entry, scope) for entry in values.get("Piecewise", {}).values()]
    scope.functions.update((name, TIME) for name in values.get("Piecewise", {}))
    signals = _signals(values.get("Signals", {}), scope)
    return {
        "inputs": tuple(inputs),
        "signals": tuple(signals),
        "tables": tuple(table for table in tables if table),
        "piecewise": tuple(piece for piece in pieces if piece),
    }


def _check_new(entry: Entry, section: str, seen: dict[str, str], scope: Scope) -> None:
    if entry.name in scope.reading.environment:
        scope.reading.fault(f"{section} defines {entry.name}, which is a parameter already", entry.mark)
    elif entry.name in seen:
        scope.reading.fault(f"{section} defines {entry.name}, which is in {seen[entry.name]} already", entry.mark)
    seen.setdefault(entry.name, section)


def _signals(entries: Mapping[str, Entry], scope: Scope) -> list[Term]:
    terms = {e.name: Term(e.name, e.value, e.mark) for e in entries.values() if e.value is not None}
    scope.broken.update(name for name in entries if name not in terms)
    order, circles = ordered({name: [n for n in term.expression.names if n in terms] for name, term in terms.items()})
    for circle in circles:
        hint = "a signal that depends on its own past is a state, as the integral of a controller"
        scope.reading.fault(f"signals depend on each other in a circle: {shown(circle)}", terms[circle[0]].mark, hint)
    scope.broken.update(terms.keys() - set(order))
    for name in order:
        if scope.allows(terms[name].expression, VELOCITY, f"Signals.{name}", switches=True):
            scope.functions[name] = scope.furthest(terms[name].expression)
        else:
            scope.broken.add(name)
    return [terms[name] for name in order if name not in scope.broken]


def _piecewise(entry: Entry, scope: Scope) -> Piecewise | None:
    if entry.value is None:
        return None
    pieces: tuple[Expression, ...] = tuple(expression for _, expression in entry.value)
    allowed = [scope.allows(piece, TIME, f"Piecewise.{entry.name}") for piece in pieces]
    if not all(allowed):
        return None
    return Piecewise(entry.name, tuple(time.value for time, _ in entry.value), pieces, entry.mark)


def _table(entry: Entry, scope: Scope) -> Table | None:
    values = entry.value
    if values is None or not ("points" in values or "file" in values):
        return None
    if "file" in values:
        rows = scope.reading.attempt(scope.reading.files.rows, values["file"], entry.mark)
        if rows is None:
            return None
        _check_sorted([(row[0], mark) for row, mark in rows], f"Tables.{entry.name}", scope.reading)
        pairs = [row for row, _ in rows]
    else:
        pairs = [(time.value, value.value) for time, value in values["points"]]
    kind = values.get("kind", "linear")
    ends = values.get("ends", ENDS[0])
    if "ends" in values and kind != "cubic":
        scope.reading.fault(f"Tables.{entry.name}: ends are for kind: cubic, this one is {kind}", entry.mark)
    needed = FEWEST[ends if kind == "cubic" else kind]
    if len(pairs) < needed:
        scope.reading.fault(f"Tables.{entry.name} has {len(pairs)} points, but {kind} needs {needed}", entry.mark)
        return None
    times, numbers = zip(*pairs, strict=True)
    return Table(entry.name, times, numbers, kind, ends, values.get("outside", True), entry.mark)


def _check_sorted(times: list[tuple[float, Mark]], label: str, reading: Reading) -> None:
    for (before, _), (after, mark) in pairwise(times):
        if after <= before:
            message = f"{label}: times must increase, but {after:g} follows {before:g}"
            reading.fault(message, mark, "sort the rows by time; each time once")
            return
