"""A number of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.spec.living import plain

# Squares and products of a few numbers within these bounds are numbers still; nothing that anybody built is beyond.
LARGEST = 1e75
SMALLEST = 1e-100


@frozen
class Number:
    """An expression of the file: its value, its text as written, and its place."""

    value: float
    text: str
    mark: Mark

    def __float__(self) -> float:
        return float(self.value)


def values_of(numbers: Iterable[Number]) -> tuple[float, ...]:
    """Their values, with the formulas of those that are Living (see living.py)."""
    return tuple(number.value for number in numbers)


def within_bounds(value: float, label: str, text: Callable[[], str], mark: Mark | None) -> float:
    """The value; raises SpecError if it is too large or too small to compute with. `text` shows it to a person."""
    square = value * value  # not its sign, which another value of a parameter may change: see living.py
    if square > LARGEST**2:
        raise SpecError(Fault(f"{label} is {text()}, too large to compute with: {LARGEST:g} is the most", mark))
    if 0 < square < SMALLEST**2 or plain(value) != 0 == plain(square):
        raise SpecError(
            Fault(f"{label} is {text()}, too small to compute with", mark, f"{SMALLEST:g} is the least, or 0")
        )
    return value
