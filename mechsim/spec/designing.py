"""The sections Tolerances and Optimize: by how much parameters may be off, and what is to be chosen for the best. What
they say stays text with its place; who uses it reads it, as that of the command line."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.document import Optimize, Written
from mechsim.spec.nodes import ListNode, Node, describe
from mechsim.spec.parameters import check_parameter_name
from mechsim.spec.records import Entry, Field, Named, Record
from mechsim.spec.shapes import Quantity, Reading, Schema, read_items
from mechsim.spec.suggest import did_you_mean, listed
from mechsim.spec.sweeping import Measured, written

NAME = r"[^\W\d]\w*"
TEND = "tend"  # may vary too


class Allowance:
    """`0.01`, `0.01*l` or `5%`. Reads to Written."""

    def read(self, node: Node, reading: Reading, label: str) -> Written:
        return written(node, f"{label} must be a tolerance", "for example 0.01, 0.01*l or 5%")

    def schema(self) -> Schema:
        return {"type": ["number", "string"]}


class Bounds:
    """`0.5:2`, `[0.5, 2]`, of an input with a number of intervals too: `-5:5:20`. Reads to Written."""

    def read(self, node: Node, reading: Reading, label: str) -> Written:
        hint = "for example [0.5, 2] or 0.5:2; an input over 20 intervals: [-5, 5, 20]; without bounds: []"
        if not isinstance(node, ListNode):
            return written(node, f"{label} must have bounds", hint)
        items = read_items(node.items, reading, label, lambda item, *_: written(item, f"{label} must be bounds", hint))
        return Written(":".join(item.text for item in items) or ":", items[0].mark if items else node.mark)

    def schema(self) -> Schema:
        one = {"type": ["number", "string"]}
        return {"anyOf": [one, {"type": "array", "items": one, "maxItems": 3}]}


class Places:
    """A list of places. Reads to tuples of numbers."""

    def read(self, node: Node, reading: Reading, label: str) -> tuple[tuple[float, ...], ...]:
        if not isinstance(node, ListNode) or not node.items:
            hint = "for example {P: [[0.5, 1.1], [0.7, 1.2]]}"
            raise SpecError(Fault(f"{label} must be a list of places, not {describe(node)}", node.mark, hint))
        return tuple(read_items(node.items, reading, label, self._place))

    def _place(self, node: Node, reading: Reading, label: str) -> tuple[float, ...]:
        if not isinstance(node, ListNode) or len(node.items) != reading.dimension:
            message = f"{label} must have {reading.dimension} coordinates for each place"
            raise SpecError(Fault(message, node.mark))
        return tuple(float(number) for number in read_items(node.items, reading, label, Quantity().read))

    def schema(self) -> Schema:
        place = {"type": "array", "items": {"$ref": "#/$defs/expression"}}
        return {"type": "array", "items": place, "minItems": 1}


class File:
    """A file's name. Reads to Written."""

    def read(self, node: Node, reading: Reading, label: str) -> Written:
        return written(node, f"{label} must be the name of a file", "for example measured.csv")

    def schema(self) -> Schema:
        return {"type": "string"}


class Goal:
    """An expression of measures. Reads to Written."""

    def read(self, node: Node, reading: Reading, label: str) -> Written:
        return written(node, f"{label} must be an expression", "for example max(A_y) - 0.1*l")

    def schema(self) -> Schema:
        return {"type": ["number", "string"]}


def _point(name: str, mark: Mark) -> None:
    """Any name: whether there is such a point is seen by who measures it."""


SECTIONS = {
    "Tolerances": Field(
        Named(Allowance(), check_parameter_name, NAME),
        "by how much parameters may be off, for `mechsim sensitivity`: {l: 0.01, k: 5%}",
        may_be_empty=True,
    ),
    "Optimize": Field(
        Record(
            {
                "vary": Field(
                    Named(Bounds(), check_parameter_name, NAME),
                    "what is chosen, with its bounds: {l: [0.5, 2]}; an input over intervals: {u: [-5, 5, 20]}",
                    may_be_empty=True,
                ),
                "minimise": Field(Goal(), "the measure that is to be least: integral(u**2)"),
                "squares": Field(Measured(), "measures whose squares, added up, are to be least", may_be_empty=True),
                "through": Field(
                    Named(Places(), _point, r"\w+"), "places that points are to come near: {P: [[1, 2], [2, 3]]}"
                ),
                "fit": Field(File(), "a CSV file of measured columns that the motion is to come near"),
                "subject": Field(Measured(), "what must hold: [max(A_y) <= 1, final(A_x) = 0]", may_be_empty=True),
            }
        ),
        "what `mechsim optimize` chooses, and what for",
        may_be_empty=True,
    ),
}


def build_tolerances(values: Mapping[str, Any], reading: Reading) -> dict[str, Written]:
    """By parameter."""
    entries: Mapping[str, Entry] = values.get("Tolerances", {})
    _refuse_unknown("Tolerances has", entries, reading.environment, reading)
    return {entry.name: entry.value for entry in entries.values() if entry.value is not None}


def build_optimize(values: Mapping[str, Any], mark: Mark, reading: Reading) -> Optimize | None:
    """The section; None without one. Parameters that only its measures use are used."""
    given: Mapping[str, Any] | None = values.get("Optimize")
    if given is None:
        return None
    vary: Mapping[str, Entry] = given.get("vary", {})
    _refuse_unknown("Optimize varies", vary, [*reading.environment, *values.get("Inputs", {}), TEND], reading)
    through: Mapping[str, Entry] = given.get("through", {})
    goal: Written | None = given.get("minimise")
    squares, subject = tuple(given.get("squares", ())), tuple(given.get("subject", ()))
    for each in (*([goal] if goal else []), *squares, *subject):
        reading.used.update(re.findall(NAME, each.text))
    return Optimize(
        vary={entry.name: entry.value for entry in vary.values() if entry.value is not None},
        minimise=goal,
        squares=squares,
        through={entry.name: entry.value for entry in through.values() if entry.value},
        fit=given.get("fit"),
        subject=subject,
        mark=mark,
        marks={entry.name: entry.mark for entry in through.values()},
    )


def _refuse_unknown(words: str, entries: Mapping[str, Entry], known: Collection[str], reading: Reading) -> None:
    for entry in entries.values():
        if entry.name not in known and entry.name not in reading.broken:
            there = f"the file has the parameters {listed(list(reading.environment))}"
            hint = did_you_mean(entry.name, list(known)) or (there if reading.environment else "define PhysicalParams")
            reading.fault(f"{words} {entry.name}, which is no parameter", entry.mark, hint)
