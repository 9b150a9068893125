"""What the user asked of the start, and what the start became."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mechsim.errors import AssemblyError, Fault, Note
from mechsim.frozen import frozen
from mechsim.model.mechanism import Mechanism
from mechsim.spec.document import Problem, StartValue
from mechsim.structure import Redundancy

if TYPE_CHECKING:
    from mechsim.kernel.system import System

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@frozen
class Row:
    """One line of the report: a coordinate or its rate, what was asked of it and what it became."""

    label: str
    quantity: str  # "position" or "velocity"
    role: str  # "fixed", "guess" or "free"
    requested: float | None  # None when free
    obtained: float


@frozen
class Start:
    """A consistent start of `system`; `notes` are for the user to read."""

    t: float
    positions: Array
    velocities: Array
    rows: tuple[Row, ...]
    redundancy: Redundancy
    system: System
    notes: tuple[Note, ...] = ()
    singular: bool = False  # on a singular pose, or so near that its equations are of no use
    fixed: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  # coordinates: of positions, of velocities


@frozen
class Wishes:
    """The start values of one level (positions or velocities), one entry per coordinate; None is free.

    `labels` name them: `A_x`, or `A_x_dot` for its rate.
    """

    quantity: str
    labels: tuple[str, ...]
    values: tuple[StartValue | None, ...]

    @property
    def fixed(self) -> tuple[int, ...]:
        return tuple(i for i, value in enumerate(self.values) if value is not None and value.fixed)

    @property
    def guessed(self) -> tuple[int, ...]:
        return tuple(i for i, value in enumerate(self.values) if value is not None and not value.fixed)

    def named(self, index: int) -> str:
        """`A_x = 0.5 (line 12)`, for messages."""
        value = self.values[index]
        assert value is not None
        return f"{self.labels[index]} = {value.number.value:.6g} (line {value.number.mark.line})"

    def written_into(self, target: Array) -> Array:
        result = target.copy()
        for index, value in enumerate(self.values):
            if value is not None:
                result[index] = value.number.value
        return result

    def rows(self, obtained: Array, skipped: frozenset[int]) -> Iterator[Row]:
        for index, (label, value) in enumerate(zip(self.labels, self.values, strict=True)):
            role = "free" if value is None else "fixed" if value.fixed else "guess"
            requested = None if value is None else value.number.value
            if index not in skipped:
                yield Row(label, self.quantity, role, requested, float(obtained[index]))


def wishes(mechanism: Mechanism, problem: Problem) -> tuple[Wishes, Wishes]:
    """The wishes for positions and for velocities. A turn angle nobody computes is the user's fault to hear of."""
    labels = tuple(variable.label for variable in mechanism.variables)
    positions = _per_coordinate(mechanism, problem.positions, problem.angles, "angle")
    velocities = _per_coordinate(mechanism, problem.velocities, problem.rates, "rate")
    rate_labels = tuple(f"{label}_dot" for label in labels)
    return Wishes("position", labels, positions), Wishes("velocity", rate_labels, velocities)


def _per_coordinate(
    mechanism: Mechanism,
    points: Mapping[str, tuple[StartValue | None, ...]],
    parts: Mapping[str, StartValue],
    what: str,
) -> tuple[StartValue | None, ...]:
    result: list[StartValue | None] = [None] * len(mechanism.variables)
    for point, values in points.items():
        for slot, value in zip(mechanism.points.get(point, ()), values, strict=False):
            if slot >= 0:
                result[slot] = value
    angles = {variable.owner: i for i, variable in enumerate(mechanism.variables) if variable.kind == "angle"}
    unknown = [
        Fault(f"part {part} has no turn angle, so its {what} cannot be given", value.number.mark)
        for part, value in parts.items()
        if part not in angles
    ]
    if unknown:
        raise AssemblyError(*unknown)
    for part, value in parts.items():
        result[angles[part]] = value
    return tuple(result)
