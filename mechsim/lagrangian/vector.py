"""Vectors of any dimension: components that are numbers, formulas or JAX values. Kinds and laws are written with them.

What only the plane has stands at the end: a left, and a product of two vectors that is a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any, Generic, TypeVar

from mechsim.frozen import frozen
from mechsim.spec.names import AXES, PLANE, SPACE

__all__ = ["AXES", "PLANE", "SPACE", "Vector"]
__all__ += ["components", "cross", "dot", "labels", "left", "square", "turned", "vector", "vector_product"]

Scalar = TypeVar("Scalar")


@frozen
class Vector(Generic[Scalar]):
    components: tuple[Scalar, ...]

    def __iter__(self) -> Iterator[Scalar]:
        return iter(self.components)

    def __len__(self) -> int:
        return len(self.components)

    def __getitem__(self, axis: int) -> Scalar:
        return self.components[axis]

    def __add__(self, other: Vector[Scalar]) -> Vector[Scalar]:
        return vector(a + b for a, b in self._beside(other))

    def __sub__(self, other: Vector[Scalar]) -> Vector[Scalar]:
        return vector(a - b for a, b in self._beside(other))

    def __neg__(self) -> Vector[Scalar]:
        return vector(-a for a in self._components)

    def __mul__(self, factor: Any) -> Vector[Scalar]:
        return vector(a * factor for a in self._components)

    def __rmul__(self, factor: Any) -> Vector[Scalar]:
        return vector(factor * a for a in self._components)

    def __truediv__(self, divisor: Any) -> Vector[Scalar]:
        return vector(a / divisor for a in self._components)

    @property
    def _components(self) -> tuple[Any, ...]:
        return self.components

    def _beside(self, other: Vector[Scalar]) -> Iterable[tuple[Any, Any]]:
        return zip(self.components, other.components, strict=True)


def vector(components: Iterable[Scalar]) -> Vector[Scalar]:
    return Vector(tuple(components))


def labels(name: str, dimension: int) -> tuple[str, ...]:
    """What the components of a vector are called: `A_x`, `A_y`."""
    return tuple(f"{name}_{axis}" for axis in AXES[:dimension])


def components(name: str, values: Sequence[Scalar]) -> dict[str, Scalar]:
    """The components of a vector by their labels, as parameters of an element are given."""
    return dict(zip(labels(name, len(values)), values, strict=True))


def dot(a: Vector[Scalar], b: Vector[Scalar]) -> Scalar:
    found: Scalar = _total(x * y for x, y in a._beside(b))
    return found


def square(a: Vector[Scalar]) -> Scalar:
    """dot(a, a), in squares, which cost less than products."""
    found: Scalar = _total(x**2 for x in a._components)
    return found


def _total(terms: Iterable[Any]) -> Any:
    """The sum, from the first to the last and without a zero: formulas are written down as they are added."""
    return reduce(add, terms)


def vector_product(a: Vector[Scalar], b: Vector[Scalar]) -> Vector[Scalar]:
    """In space: across both, as long as the area that they span."""
    (x, y, z), (u, v, w) = a._components, b._components
    return Vector((y * w - z * v, z * u - x * w, x * v - y * u))


# --- the plane


def left(a: Vector[Scalar]) -> Vector[Scalar]:
    """The vector turned by a right angle about the normal of the plane."""
    x, y = a._components
    return Vector((-y, x))


def cross(a: Vector[Scalar], b: Vector[Scalar]) -> Scalar:
    """The component along the normal of the plane: left(a) . b."""
    (x, y), (u, v) = a._components, b._components
    found: Scalar = x * v - y * u
    return found


def turned(a: Vector[Any], b: Vector[Scalar]) -> Vector[Scalar]:
    """The product of two vectors read as complex numbers: one turned and stretched by the other."""
    (along, across), (x, y) = a, b._components
    return Vector((along * x - across * y, along * y + across * x))
