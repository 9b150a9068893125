"""Numbers that remember how they were computed from the parameters of a file.

A file is read and its mechanism built as ever, only that some parameters are Living: then every number that follows
from them is Living too, and the tape knows its formula. Whatever the way depends on is written down as well: each
comparison with its outcome, and each value that was turned into something without a formula (text, a literal, a whole
number). Other values of the parameters give the numbers of the tape as long as all this stays as it was; if not, the
file must be read again, for it may describe another structure, or be a mistake.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import reduce
from typing import Any, Generic, TypeVar

PLAIN = {"plain": True}  # metadata of a record's field in which no number is ever living
Record = TypeVar("Record")
Node = tuple[Any, ...]  # ("value", x), ("parameter", i), or an operation on earlier nodes: as in derive/program.py


@dataclass(slots=True)
class Tape:
    """All that was computed, as `nodes`, and `guards`: comparisons of nodes, with the outcome that they must keep."""

    varied: tuple[str, ...]  # the parameters that may take other values
    # Whether a varied parameter that the file gives by a formula follows it too, its own change being added: so it is
    # with derivatives. Else its value is given, and the formula does not matter.
    follows: bool = False
    nodes: list[Node] = field(default_factory=list)
    guards: dict[tuple[str, int, int], bool] = field(default_factory=dict)
    choices: dict[tuple[str, int, int], bool] = field(default_factory=dict)  # as guards, but no derivative sees them
    _known: dict[Node, int] = field(default_factory=dict)

    def value_of(self, name: str, value: float) -> float:
        """The value of a parameter, living if it may take others."""
        if name not in self.varied:
            return value
        own = Living(plain(value), self, self.node("parameter", self.varied.index(name)))
        return value + (own - plain(value)) if self.follows and isinstance(value, Living) else own

    def node(self, *node: Any) -> int:
        """The number of a node; one that is known is not computed twice."""
        if node not in self._known:
            self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return self._known[node]

    def number_of(self, value: float) -> int:
        """The node of a number, living or not."""
        return value.number if isinstance(value, Living) else self.node("value", value + 0.0)

    def guard(self, comparison: str, a: float, b: float, outcome: bool) -> bool:
        self.guards[comparison, self.number_of(a), self.number_of(b)] = outcome
        return outcome


def _binary(name: str, function: Callable[[float, float], float], turned: bool = False) -> Any:
    def operation(self: Living, other: Any) -> Any:
        if not isinstance(other, float | int):
            return NotImplemented
        return living(name, function, other, self) if turned else living(name, function, self, other)

    return operation


def _comparison(name: str, function: Callable[[float, float], bool], turned: bool = False, wanted: bool = True) -> Any:
    """`name` is "less" or "equal"; `turned` exchanges the two, `wanted` False negates the outcome."""

    def compare(self: Living, other: Any) -> Any:
        if not isinstance(other, float | int):
            return NotImplemented
        outcome = function(plain(self), plain(other))
        a, b = (other, self) if turned else (self, other)
        self.tape.guard(name, a, b, outcome is wanted)
        return outcome

    return compare


class Living(float):
    """A number with its formula. It is a float to whoever only looks at it."""

    __slots__ = ("number", "tape")
    tape: Tape
    number: int

    def __new__(cls, value: float, tape: Tape, number: int) -> Living:
        self = super().__new__(cls, value)
        self.tape, self.number = tape, number
        return self

    __add__, __radd__ = _binary("add", operator.add), _binary("add", operator.add, turned=True)
    __sub__, __rsub__ = _binary("subtract", operator.sub), _binary("subtract", operator.sub, turned=True)
    __mul__, __rmul__ = _binary("multiply", operator.mul), _binary("multiply", operator.mul, turned=True)
    __truediv__ = _binary("divide", operator.truediv)
    __rtruediv__ = _binary("divide", operator.truediv, turned=True)
    __pow__, __rpow__ = _binary("power", math.pow), _binary("power", math.pow, turned=True)
    __lt__ = _comparison("less", operator.lt)
    __gt__ = _comparison("less", operator.gt, turned=True)
    __ge__ = _comparison("less", operator.ge, wanted=False)
    __le__ = _comparison("less", operator.le, turned=True, wanted=False)
    __eq__ = _comparison("equal", operator.eq)
    __ne__ = _comparison("equal", operator.ne, wanted=False)
    __hash__ = float.__hash__

    def __neg__(self) -> float:
        return living("multiply", operator.mul, -1.0, self)

    def __pos__(self) -> Living:
        return self

    def __abs__(self) -> float:
        return -self if self < 0 else self

    def __bool__(self) -> bool:
        return bool(self != 0)

    def is_integer(self) -> bool:
        return self._pinned().is_integer()

    def _pinned(self) -> float:
        """The value, for good: what is made of it has no formula."""
        value = plain(self)
        self.tape.guard("equal", self, value, True)
        return value

    def __float__(self) -> float:
        return self._pinned()

    def __int__(self) -> int:
        return int(self._pinned())

    def __repr__(self) -> str:
        return repr(self._pinned())

    def __str__(self) -> str:
        return str(self._pinned())

    def __format__(self, form: str) -> str:
        return format(self._pinned(), form)

    def __reduce__(self) -> Any:
        return float, (plain(self),)


def told_for_choice(value: float, form: str) -> str:
    """The value as text by which one of several is chosen: another value may choose another, one just beside does not
    matter."""
    if isinstance(value, Living):
        tape = value.tape
        tape.choices["equal", value.number, tape.number_of(plain(value))] = True
    return format(plain(value), form)


def plain(value: float) -> float:
    """Without its formula, and without a note of that."""
    return float.__add__(value, 0.0) if isinstance(value, Living) else value


def settled(record: Record, value_of: Callable[[Living], float] = plain) -> Record:
    """The record with plain numbers in the places of living ones."""
    return Settling(record)(value_of)


class Settling(Generic[Record]):
    """A record that is to be settled, often: what has no living numbers in it is looked at once."""

    def __init__(self, record: Record):
        self.record = record
        self._made = _maker(record)

    def __call__(self, value_of: Callable[[Living], float] = plain) -> Record:
        if self._made is None:
            return self.record
        found: Record = self._made(value_of)
        return found


_Maker = Callable[[Callable[[Living], float]], Any]


def _maker(record: Any) -> _Maker | None:
    """What makes the record with other numbers; None where it has none that live."""
    if isinstance(record, Living):
        return lambda value_of: value_of(record)
    if isinstance(record, tuple | list):
        form = type(record)
        plain = form in (tuple, list)
        return _joined(list(record), lambda items: form(items) if plain else form(*items))
    if isinstance(record, Mapping):
        keys = list(record)
        return _joined(list(record.values()), lambda items: dict(zip(keys, items, strict=True)))
    if is_dataclass(record) and not isinstance(record, type):
        names = [each.name for each in fields(record) if not each.metadata.get("plain")]
        items = [getattr(record, name) for name in names]
        return _joined(items, lambda found: replace(record, **dict(zip(names, found, strict=True))))
    return None


def _joined(items: list[Any], made: Callable[[list[Any]], Any]) -> _Maker | None:
    makers = {place: maker for place, item in enumerate(items) if (maker := _maker(item)) is not None}
    if not makers:
        return None

    def make(value_of: Callable[[Living], float]) -> Any:
        found = items.copy()
        for place, maker in makers.items():
            found[place] = maker(value_of)
        return made(found)

    return make


def nodes_in(record: Any) -> set[int]:
    """The nodes of all living numbers in a record."""
    found: list[int] = []

    def note(number: Living) -> float:
        found.append(number.number)
        return 0.0

    settled(record, note)
    return set(found)


def living(name: str, function: Callable[..., float], *operands: float) -> float:
    """The value of an operation of the tape; Living if an operand is."""
    tape = next((operand.tape for operand in operands if isinstance(operand, Living)), None)
    value = function(*map(plain, operands))
    return value if tape is None else Living(value, tape, tape.node(name, *map(tape.number_of, operands)))


NAMES: Mapping[str, str] = {
    "sqrt": "root",
    "pow": "power",
}  # of functions, where the tape's differ from those of `math`


def aware(name: str) -> Callable[..., float]:
    """A function of `math` that keeps formulas."""
    function = getattr(math, name)
    operation = NAMES.get(name, name)

    def apply(*operands: float) -> float:
        if any(isinstance(operand, Living) for operand in operands):
            return living(operation, function, *operands)
        return float(function(*operands))

    apply.__name__ = name
    return apply


_hypotenuse = aware("hypot")


def hypot(*values: float) -> float:
    """The length of a vector."""
    return reduce(_hypotenuse, values) if len(values) > 1 else abs(values[0])
