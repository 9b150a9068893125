"""Parameters of a file for many cases at once, of which some are given other values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mechsim.errors import Mark
from mechsim.measure.bernstein import Array
from mechsim.measure.formulas import Formula, Look, Term
from mechsim.measure.steps import Value
from mechsim.spec.circles import ordered
from mechsim.spec.document import MechSpec
from mechsim.spec.expression import CONSTANTS, Expression, parse_expression


class Parameters:
    """A parameter that the file defines by others follows those that are given."""

    def __init__(self, spec: MechSpec, given: Mapping[str, Value]):
        self.spec, self.given = spec, given
        self._expressions: dict[str, Expression] = {}
        self._values: dict[str, Array] = {}

    def __call__(self, name: str) -> Array:
        """Its value, or one for each case."""
        for each in self._needed(name):
            if each not in self._values:
                self._values[each] = self._value(each)
        return self._values[name]

    def _value(self, name: str) -> Array:
        if not self._follows(name):
            return np.asarray(float(self.spec.parameters[name]))
        given = self.given.get(name)
        if given is not None and not isinstance(given, str):
            return np.asarray(given, dtype=float)
        return np.asarray(Formula(self._term, Look()).value(self._expression(name).tree).values)

    def _term(self, name: str) -> Term:
        value = self._values[name] if name in self._values else np.asarray(CONSTANTS[name])
        return Term(value, np.abs(value))

    def _follows(self, name: str) -> bool:
        """Whether something that is given changes it."""
        return any(each in self.given for each in self._needed(name))

    def _needed(self, name: str) -> list[str]:
        """It and all that it is made of, these first."""
        uses: dict[str, list[str]] = {}
        waiting = [name]
        while waiting:
            each = waiting.pop()
            if each not in uses:
                uses[each] = [used for used in self._expression(each).names if used in self.spec.parameters]
                waiting += uses[each]
        return ordered(uses)[0]

    def _expression(self, name: str) -> Expression:
        if name not in self._expressions:
            number, given = self.spec.parameters[name], self.given.get(name)
            text = number.text if given is None else given if isinstance(given, str) else "0"
            self._expressions[name] = parse_expression(text, Mark(name, 1, 1))
        return self._expressions[name]
