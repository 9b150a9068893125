"""A number of the file."""

from __future__ import annotations

from dataclasses import dataclass

from mechsim.errors import Mark


@dataclass(frozen=True, slots=True)
class Number:
    """An expression of the file: its value, its text as written, and its place."""

    value: float
    text: str
    mark: Mark

    def __float__(self) -> float:
        return self.value
