"""Frozen records are dataclasses to whoever uses them: the same class is made both ways and compared."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path

import pytest

import mechsim
from mechsim.frozen import frozen

Decorator = Callable[[type], type]


def circle(decorate: Decorator) -> type:
    @decorate
    class Circle:
        """Something with every sort of field."""

        name: str
        radius: float
        colours: list[str] = field(default_factory=list)
        mark: int | None = None
        size: float = field(init=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "size", 2 * self.radius)

    return Circle


def lone(decorate: Decorator) -> type:
    @decorate
    class Lone:
        """One field."""

        value: float

    return Lone


OURS, THEIRS = circle(frozen), circle(dataclass(frozen=True, slots=True))
OURS.__qualname__ = "OURS"  # so that pickle finds it


def test_every_frozen_record_is_made_by_us():
    """A frozen class of `dataclasses` takes most of a millisecond of every start."""
    rooms = Path(mechsim.__file__).parent
    assert [path.name for path in rooms.rglob("*.py") if "@dataclass(frozen" in path.read_text()] == []


def test_a_record_is_made_as_a_dataclass_is():
    assert is_dataclass(OURS)
    assert [each.name for each in fields(OURS)] == [each.name for each in fields(THEIRS)]
    assert list(inspect.signature(OURS).parameters) == list(inspect.signature(THEIRS).parameters)
    for ours, theirs in [
        (OURS("a", 2.0), THEIRS("a", 2.0)),
        (OURS("a", 2.0, ["red"], mark=3), THEIRS("a", 2.0, ["red"], 3)),
    ]:
        assert asdict(ours) == asdict(theirs)
        assert repr(ours).partition("(")[2] == repr(theirs).partition("(")[2]
    assert OURS("a", 1.0).colours is not OURS("a", 1.0).colours
    with pytest.raises(TypeError, match="radius"):
        OURS("a")


def test_a_field_without_a_default_cannot_follow_one_with():
    with pytest.raises(SyntaxError):

        @frozen
        class Wrong:
            first: int = 0
            second: int


def test_nothing_can_be_changed():
    record = OURS("a", 1.0)
    with pytest.raises(FrozenInstanceError, match="name"):
        record.name = "b"
    with pytest.raises(FrozenInstanceError, match="name"):
        del record.name
    with pytest.raises(FrozenInstanceError):
        record.other = 1
    assert not hasattr(record, "__dict__")
    assert replace(record, name="b").name == "b"


@pytest.mark.parametrize("made", [lone(frozen), lone(dataclass(frozen=True, slots=True))])
def test_equal_records_have_equal_values_and_hashes(made: type):
    not_a_number = float("nan")
    assert made(1.0) == made(1)
    assert hash(made(1.0)) == hash(made(1))
    assert made(1.0) != made(2.0)
    assert made(not_a_number) == made(not_a_number)  # as in tuples
    assert made(1.0) != lone(frozen)(1.0)


def test_a_record_may_equal_only_itself():
    class_of = lone(frozen(eq=False))
    record = class_of(1.0)
    assert record == record
    assert record != class_of(1.0)
    assert len({record, class_of(1.0)}) == 2


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda record: pickle.loads(pickle.dumps(record))])
def test_copies_are_equal(again: Callable[[object], object]):
    record = OURS("a", 2.0, ["red"])
    assert again(record) == record
    assert again(record).size == 4.0


def test_methods_of_a_class_are_its_own():
    @frozen
    class Even:
        number: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Even) and (self.number - other.number) % 2 == 0

        def __repr__(self) -> str:
            return "even"

    assert Even(1) == Even(3)
    assert repr(Even(1)) == "even"
    assert hash(Even(1)) == hash(Even(1))


def test_without_slots_properties_may_be_cached():
    @frozen(slots=False)
    class Square:
        side: float

        @cached_property
        def area(self) -> float:
            return self.side**2

    square = Square(3.0)
    assert square.area == square.area == 9.0
    with pytest.raises(FrozenInstanceError):
        square.side = 1.0
