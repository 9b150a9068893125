"""Shapes: what may stand at a place of the file. A shape reads a node, and says the same as JSON Schema.

One table of shapes (`language.py`) is both the parser and the schema, so the two cannot disagree. This is done by
hand, not by pydantic, whose import alone (0.17 s measured) costs more than a whole run, and which knows no columns.

A shape raises SpecError; a collection records the faults of its items and reads on, then raises an EMPTY
SpecError ("already recorded") if it cannot be used without the faulty item.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.document import Number
from mechsim.spec.expression import NUMERAL, Expression, parse_expression, undefined
from mechsim.spec.living import Tape
from mechsim.spec.nodes import ListNode, Node, TextNode, describe
from mechsim.spec.number import within_bounds
from mechsim.spec.suggest import did_you_mean
from mechsim.spec.tablefile import TableFiles

MOST_FAULTS = 300  # found; each costs a search for what was meant

REPEATED = r"\{[^{}]*\}"  # in a name that stands for several: see repeat.py

Value = TypeVar("Value")
Schema = dict[str, Any]


class Hopeless(Exception):
    """There are more faults than anybody reads."""


@dataclass(slots=True)
class Reading:
    """What is known while a file is read: the values of parameters, and the faults found so far."""

    dimension: int = 2
    environment: dict[str, float] = field(default_factory=dict)
    values: dict[tuple[Any, ...], float] = field(default_factory=dict)  # of expressions: large files repeat them
    repeated: dict[tuple[str, Mark], Expression] = field(default_factory=dict)  # expressions with indices in them
    broken: set[str] = field(default_factory=set)  # parameters whose own fault is recorded already
    faults: list[Fault] = field(default_factory=list)
    lost_names: set[str] = field(default_factory=set)  # sections with unreadable names: what they define is not known
    files: TableFiles = field(default_factory=TableFiles)
    used: set[str] = field(default_factory=set)  # names that stand in expressions beside PhysicalParams
    needs: dict[str, tuple[str, ...]] = field(default_factory=dict)  # names in the expression of each parameter
    changed: bool = False  # parameters may have other values than the file's
    tape: Tape | None = None  # where it is written down what follows from some of the parameters

    def attempt(self, function: Callable[..., Value], *arguments: Any) -> Value | None:
        """The function's value, or None when it failed; its faults are recorded."""
        try:
            return function(*arguments)
        except SpecError as error:
            self.record(error.faults)
            return None

    def parsed(self, node: TextNode) -> Expression:
        """The expression of a node; one that is repeated with other numbers is parsed once."""
        if not node.bindings:
            return parse_expression(node.text, node.at(0))
        key = node.text, node.at(0)
        if key not in self.repeated:
            self.repeated[key] = parse_expression(*key)
        return self.repeated[key]

    def fault(self, message: str, mark: Mark | None, hint: str = "") -> None:
        self.record([Fault(message, mark, hint)])

    def record(self, faults: Iterable[Fault]) -> None:
        """Remember these faults. Raises Hopeless when there are so many that finding more only takes time."""
        self.faults.extend(faults)
        if len(self.faults) > MOST_FAULTS:
            raise Hopeless


class Shape(Protocol):
    def read(self, node: Node, reading: Reading, label: str) -> Any: ...

    def schema(self) -> Schema: ...


class Quantity(NamedTuple):
    """An expression with a finite value, not below `least`; `bounded`: small and large enough to compute with."""

    least: float | None = None
    bounded: bool = True

    def read(self, node: Node, reading: Reading, label: str) -> Number:
        if not isinstance(node, TextNode) or node.empty:
            raise SpecError(Fault(f"{label} must be a number or expression, not {describe(node)}", node.mark))
        number = Number(evaluate(node, reading), node.text, node.mark)
        if self.bounded:
            within_bounds(number.value, label, lambda: shown(number), node.mark)
        if self.least is not None and number.value < self.least:
            wanted = "not be negative" if self.least == 0 else f"be at least {self.least:g}"
            raise SpecError(Fault(f"{label} is {shown(number)}, but must {wanted}", node.mark))
        return number

    def schema(self) -> Schema:
        return {"$ref": "#/$defs/expression"}


def shown(number: Number) -> str:
    """The number as written, and its value if that is not plain to see."""
    return number.text if NUMERAL.fullmatch(number.text) else f"{number.text} = {number.value:g}"


def evaluate(node: TextNode, reading: Reading) -> float:
    """The value of an expression of parameters. Raises SpecError, empty if a parameter it needs is broken."""
    if NUMERAL.fullmatch(node.text):  # most values; thirty times faster than the parser
        value = float(node.text)
        if abs(value) != float("inf"):
            return value
    key = (node.text, *node.bindings.items())
    if key in reading.values:
        return reading.values[key]
    expression = reading.parsed(node)
    reading.used.update(expression.names)
    bound: dict[str, float] = {**node.bindings}
    known = ChainMap(bound, reading.environment) if bound else reading.environment
    unknown = [name for name in expression.names if name not in known and name not in reading.broken]
    faults = undefined(expression, known.keys() | reading.broken) if unknown else []
    if faults and "PhysicalParams" in reading.lost_names:
        raise SpecError()
    if faults or any(name in reading.broken for name in expression.names):
        raise SpecError(*faults)
    value = reading.values[key] = expression.evaluate(known)
    return value


class Whole(NamedTuple):
    """A whole number from `least` to `most`."""

    least: int
    most: int

    def read(self, node: Node, reading: Reading, label: str) -> int:
        number = Quantity(bounded=False).read(node, reading, label)
        if not number.value.is_integer() or not self.least <= number.value <= self.most:
            wanted = f"a whole number from {self.least} to {self.most}"
            raise SpecError(Fault(f"{label} is {shown(number)}, but must be {wanted}", node.mark))
        return int(number.value)

    def schema(self) -> Schema:
        return {"anyOf": [{"type": "integer", "minimum": self.least, "maximum": self.most}, {"type": "string"}]}


class Between(NamedTuple):
    """A number from `low` on and below `high`."""

    low: float
    high: float

    def read(self, node: Node, reading: Reading, label: str) -> float:
        number = Quantity(bounded=False).read(node, reading, label)
        if not self.low <= number.value < self.high:
            message = f"{label} is {shown(number)}, but must be at least {self.low:g} and below {self.high:g}"
            raise SpecError(Fault(message, node.mark))
        return number.value

    def schema(self) -> Schema:
        limits = {"type": "number", "minimum": self.low, "exclusiveMaximum": self.high}
        return {"anyOf": [limits, {"type": "string"}]}


class Text(NamedTuple):
    """Text as it stands."""

    pattern: str | None = None
    meaning: str = ""  # what text of this pattern is, in words

    def read(self, node: Node, reading: Reading, label: str) -> str:
        if not isinstance(node, TextNode):
            raise SpecError(Fault(f"{label} must be text, not {describe(node)}", node.mark))
        if self.pattern is not None and ("\n" in node.text or not re.search(self.pattern, node.text)):  # $ allows one
            raise SpecError(Fault(f"{label} is {describe(node)}, but must be {self.meaning}", node.mark))
        return node.text

    def schema(self) -> Schema:
        return (
            {"type": ["string", "number"]}
            if self.pattern is None
            else {"type": "string", "pattern": f"{self.pattern}|{REPEATED}"}
        )


class Word(NamedTuple):
    """One of a few words; `alike` are others for the same things, which people expect and a hint explains."""

    meanings: Mapping[str, Any]
    alike: Mapping[str, str] = {}

    def read(self, node: Node, reading: Reading, label: str) -> Any:
        if not isinstance(node, TextNode) or node.text.lower() not in self.meanings:
            wanted = " or ".join(self.meanings)
            word = node.text.lower() if isinstance(node, TextNode) else ""
            hint = did_you_mean(self.alike.get(word, word), self.meanings)
            raise SpecError(Fault(f"{label} is {describe(node)}, but must be {wanted}", node.mark, hint))
        return self.meanings[node.text.lower()]

    def schema(self) -> Schema:
        # a YAML tool hands yes and no to a schema validator as booleans
        words: list[Any] = list(self.meanings)
        return {"enum": words + ([True, False] if True in self.meanings.values() else [])}


FLAG = Word({"yes": True, "no": False, "true": True, "false": False, "on": True, "off": False})


class Vector:
    """Coordinates, padded with zeros to the dimension (seed 001, section 4.2)."""

    def read(self, node: Node, reading: Reading, label: str) -> tuple[Number, ...]:
        return coordinates(node, reading, label, Quantity().read, lambda zero: zero)

    def schema(self) -> Schema:
        return {"type": "array", "items": {"$ref": "#/$defs/expression"}, "maxItems": 3}


def coordinates(
    node: Node,
    reading: Reading,
    label: str,
    read: Callable[[Node, Reading, str], Value],
    pad: Callable[[Number], Value],
) -> tuple[Value, ...]:
    """The items of a list of coordinates, each read by `read`; missing ones are `pad(zero)`."""
    if not isinstance(node, ListNode):
        hint = f"write [{node.text}]" if isinstance(node, TextNode) and not node.empty else ""
        raise SpecError(Fault(f"{label} must be a list of coordinates, not {describe(node)}", node.mark, hint))
    if len(node.items) > reading.dimension:
        message = f"{label} has {len(node.items)} coordinates, but the dimension is {reading.dimension}"
        raise SpecError(Fault(message, node.items[reading.dimension].mark))
    values = read_items(node.items, reading, label, read)
    zero = Number(0.0, "0", node.mark)
    return (*values, *(pad(zero) for _ in range(reading.dimension - len(values))))


def read_items(
    items: list[Node], reading: Reading, label: str, read: Callable[[Node, Reading, str], Value]
) -> list[Value]:
    """Every item, or an empty SpecError after the faults of all items are recorded."""
    values = [reading.attempt(read, item, reading, label) for item in items]
    if any(value is None for value in values):
        raise SpecError()
    return [value for value in values if value is not None]
