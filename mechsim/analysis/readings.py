"""Expressions of a motion at states of it: coordinates, rates, energies, parameters, signals, and the time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mechsim.analysis.subject import Subject
from mechsim.engine.points import Points
from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.measure.formulas import Formula, Look, Term
from mechsim.measure.quantities import Energy, Given, Held, Instant, Meaning, Meanings, Quantity, Unknown, Written
from mechsim.measure.reading import Reader
from mechsim.result.layout import Array

Numbers = Callable[[str], Array]


@frozen(slots=False, eq=False)
class Reading:
    """A column: an expression, and what its names mean."""

    label: str
    unit: str
    quantity: Quantity

    def at(self, points: Points, numbers: Numbers) -> Array:
        """Its values at states of one motion; `numbers` are the parameters of that."""
        return np.array(np.broadcast_to(_value(self.quantity, points, numbers), len(points)), dtype=float)


def readings(subject: Subject, texts: Sequence[str]) -> tuple[Reading, ...]:
    """Columns as they are written. Raises SpecError with all that is wrong."""
    found: list[Reading] = []
    faults: list[Fault] = []
    for number, text in enumerate(texts, 1):
        try:
            quantity = quantity_of(subject, text, f"column {number}")
            _check(quantity.meanings, text)
            found.append(Reading(text, subject.names.unit(text) or "", quantity))
        except SpecError as error:
            faults += error.faults
    if faults:
        raise SpecError(*faults)
    return tuple(found)


def quantity_of(subject: Subject, text: str, name: str) -> Quantity:
    return Reader(subject.names).quantity(text, Mark(name, 1, 1))


def _check(meanings: Meanings, text: str) -> None:
    for name, meaning in meanings.items():
        if isinstance(meaning, Written):
            _check(meaning.meanings, text)
        elif not _is_of_state(meaning):
            message = f"{text} cannot be a column of a section: {name} is not known from positions and velocities alone"
            raise SpecError(Fault(message, hint="take coordinates, their rates, energies, signals or t"))


def _is_of_state(meaning: Meaning) -> bool:
    if isinstance(meaning, Unknown):
        return meaning.order < 2
    if isinstance(meaning, Held):
        return not meaning.slopes
    return isinstance(meaning, Instant | Given | Energy | float | int)


def _value(quantity: Quantity, points: Points, numbers: Numbers) -> Array:
    labels = list(points.system.labels)

    def leaf(meaning: Meaning) -> Array:
        match meaning:
            case Unknown(label, order):
                return np.asarray((points.v if order else points.q)[:, labels.index(label)])
            case Instant():
                return points.t
            case Given(name):
                return np.asarray(numbers(name), dtype=float)
            case Energy(which):
                return np.asarray(points.system.energies(*points.state)[which])
            case Held(constant):
                return np.asarray(points.system.constants[..., constant])
            case Written(expression, meanings):
                return _value(Quantity(expression.tree, meanings), points, numbers)
            case number:
                return np.asarray(number, dtype=float)

    def term(name: str) -> Term:
        value = leaf(quantity.meanings[name])
        return Term(value, np.abs(value))

    return Formula(term, Look()).value(quantity.node).values
