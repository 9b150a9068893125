"""A mechanism with the coordinates of its fixed points beside its own: where all points are, whatever holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np

from mechsim.model.mechanism import Mechanism
from mechsim.result.layout import Array


class Places(Protocol):
    """Where points are and how fast they go, at many states; `points` are places in the vectors q and v."""

    @property
    def q(self) -> Array: ...
    @property
    def v(self) -> Array: ...
    @property
    def points(self) -> Mapping[str, tuple[int, ...]]: ...
    @property
    def mechanism(self) -> Mechanism: ...


class Ground:
    """Numbers of coordinates with those of fixed points after them."""

    def __init__(self, mechanism: Mechanism):
        self.count = len(mechanism.variables)
        self.slots = [slot for slots in mechanism.points.values() for slot in slots if slot < 0]
        self._places = {slot: self.count + k for k, slot in enumerate(self.slots)}
        self._constants = np.array([-1 - slot for slot in self.slots], dtype=int)
        self.points = {name: tuple(map(self.place, slots)) for name, slots in mechanism.points.items()}
        self.mechanism = replace(mechanism, points=self.points)

    def place(self, slot: int) -> int:
        """The number of a coordinate, or of one of a fixed point; other constants stay what they are."""
        return self._places.get(slot, slot)

    def beside(self, q: Array, constants: Array) -> tuple[Array, Array]:
        """Coordinates at states with those of fixed points after them, and the zeros that are their rates."""
        places = np.broadcast_to(constants[..., self._constants], (len(q), len(self._constants)))
        return np.concatenate([q, places], axis=1), np.zeros_like(places)
