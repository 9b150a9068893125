"""Numbers that a person writes as an expression of parameters, with their exact derivatives by one of these."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mechsim.analysis.subject import Subject
from mechsim.errors import Mark, SpecError
from mechsim.frozen import frozen
from mechsim.kernel import _kernel
from mechsim.kernel.numbers import program_of
from mechsim.spec.expression import parse_expression, undefined
from mechsim.spec.living import Tape


@frozen(slots=False, eq=False)
class Formula:
    """A number as a function of one parameter."""

    program: _kernel.Constants
    node: int

    def __call__(self, parameter: float) -> tuple[float, float]:
        """Its value, and its slope."""
        values = self.program.values(np.array([[parameter]]))[:, 0]
        slopes = self.program.changes(np.ascontiguousarray(values), np.ones((1, 1)))
        return float(values[self.node]), float(slopes[self.node, 0])


def value_of(text: str | float, parameters: Mapping[str, float], name: str) -> float:
    """The value of an expression, which is called `name` where something is wrong with it. Raises SpecError."""
    if not isinstance(text, str):
        return float(text)
    expression = parse_expression(text, Mark(name, 1, 1))
    if faults := undefined(expression, parameters):
        raise SpecError(*faults)
    found: float = expression.evaluate(parameters)
    return found


def settled_value(text: str | float, subject: Subject, at: Mapping[str, float], name: str) -> float:
    """Its value with some parameters `at` other values."""
    numbers = subject.numbers(at)
    return value_of(text, {each: float(numbers(each)) for each in subject.parameters}, name)


def formula_of(text: str | float, tape: Tape, living: Mapping[str, float], name: str) -> Formula:
    """The same as a function of the one parameter of a tape; `living` are the values of all. Raises SpecError."""
    found = value_of(text, living, name)
    node = tape.number_of(found)
    return Formula(program_of(tape.nodes, len(tape.varied)), node)
