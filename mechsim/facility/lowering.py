"""A user's Lagrangian as a mechanism of one element, and what is asked of its start: the form that files take too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mechsim.errors import Fault, Mark, MechsimError
from mechsim.lagrangian.kind import Kind
from mechsim.model.mechanism import Element, Mechanism, Variable
from mechsim.spec.document import Number, Problem, StartValue
from mechsim.spec.number import LARGEST

NOWHERE = Mark("", 0, 0)


def mechanism_of(
    kind: Kind, parameters: Mapping[str, float], title: str, scales: Sequence[float], drawn: tuple[str, ...] = ()
) -> Mechanism:
    """The mechanism whose coordinates have these scales; `C_0` and so on label its constraints, `psi_0` those of
    velocities. `drawn` are columns of points that are only drawn."""
    n = len(kind.variables) - kind.account
    labels = tuple(f"C_{i}" for i in range(kind.constraint_count))
    labels += tuple(f"psi_{i}" for i in range(kind.nonholonomic_count))
    slots = tuple(range(len(kind.variables)))
    element = Element(kind.name, title, slots, dict(parameters), labels, account=kind.account)
    variables = tuple(
        Variable(name, name, "position" if i < n else "state", float(scale), ("", "") if i < n else None)
        for i, (name, scale) in enumerate(zip(kind.variables, scales, strict=True))
    )
    points = points_of(kind.variables[:n])
    dimension = max(map(len, points.values()))
    return Mechanism(title, dimension, variables, (), (element,), points, (), float(max(scales[:n])), drawn=drawn)


def points_of(names: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Coordinates A_x, A_y (and A_z) as the point A; any other coordinate as a point of its own."""
    points: dict[str, tuple[int, ...]] = {}
    for name in names:
        stem = name[:-2]
        axes = [f"{stem}_{axis}" for axis in "xyz" if f"{stem}_{axis}" in names]
        grouped = name in axes and len(axes) > 1
        points[stem if grouped else name] = tuple(names.index(n) for n in (axes if grouped else [name]))
    return points


def problem_of(
    mechanism: Mechanism,
    positions: Mapping[str, float],
    velocities: Mapping[str, float],
    fixed: set[str],
    times: tuple[float, float],
) -> Problem:
    """The initial-value problem: guesses, and what is fixed."""
    names = [variable.label for variable in mechanism.variables]

    def values(given: Mapping[str, float]) -> dict[str, tuple[StartValue | None, ...]]:
        def one(name: str) -> StartValue | None:
            return StartValue(_text(name, given[name]), name in fixed) if name in given else None

        return {point: tuple(one(names[slot]) for slot in slots) for point, slots in mechanism.points.items()}

    t0, tend = times
    return Problem(_text("t0", t0), _text("tend", tend), values(positions), values(velocities), {}, {})


def _text(name: str, value: float) -> Number:
    return Number(value, repr(value), NOWHERE)


def without_place(fault: Fault) -> Fault:
    """The same fault of a start that stands in no file."""
    return Fault(fault.message.replace(f" (line {NOWHERE.line})", ""), None, fault.hint)


def numbers(given: Mapping[str, Any], known: Sequence[str], what: str) -> dict[str, float]:
    """These values by name. Raises unless all are numbers, and of things that are there."""
    result = {}
    for name, value in given.items():
        if name not in known:
            raise MechsimError(Fault(f"{what} names {name!r}, but there are only {', '.join(known) or 'none'}"))
        result[name] = number(value, f"{what} of {name}")
    return result


def number(value: Any, what: str) -> float:
    try:
        found = float(value) if np.shape(value) == () else None
    except (TypeError, ValueError):
        found = None
    if found is None or not abs(found) <= LARGEST:
        raise MechsimError(Fault(f"{what} must be a number up to {LARGEST:g}, but is {str(value)[:60]}"))
    return found
