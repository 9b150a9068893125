"""The language of measures: expressions of numbers, among which are functions of the motion."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Protocol

from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.measure.quantities import Bound, Column, Happening, Held, Meaning, Meanings, Quantity, Unknown, Written
from mechsim.spec.expression import Expression, name_of, operands_of, parse_expression
from mechsim.spec.suggest import did_you_mean, listed

FINAL = "final"
BOUNDS = {"t0": Bound(False), "tend": Bound(True)}  # known outside functions of the motion too; a parameter wins
OF_EVENTS = ("events", "first_event", "last_event")
FUNCTIONS: Mapping[str, int] = {
    **dict.fromkeys(OF_EVENTS, 1),
    **dict.fromkeys("max min mean rms integral start final period count first time_of_max time_of_min".split(), 1),
    "at": 2,
    "digits": 3,
}
SAME_UNIT = ("max", "min", "mean", "rms", "start", "final", "at")
SECONDS = ("period", "first", "time_of_max", "time_of_min", "first_event", "last_event")


@frozen(eq=False)
class Asked:
    """One measure: its expression, and the meanings of names within functions of the motion and outside of them."""

    label: str
    unit: str
    expression: Expression
    inside: Meanings
    outside: Meanings

    @property
    def is_final(self) -> bool:
        """Whether all that it takes is known where the motion ended."""
        functions = {function_of(node) for node in ast.walk(self.expression.tree)} - {None}
        begins = any(isinstance(meaning, Bound) and not meaning.is_end for meaning in self.outside.values())
        return functions <= {FINAL} and not begins and all(map(_is_of_state, self.inside.values()))


def function_of(node: ast.AST) -> str | None:
    """The function of the motion that a node calls."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        return node.func.id
    return None


def happening_key(node: ast.expr) -> str:
    """Of an event among the meanings of names: a column may have the same name."""
    return f"event {name_of(node)}"


def _is_of_state(meaning: Meaning) -> bool:
    if isinstance(meaning, Written):
        return all(map(_is_of_state, meaning.meanings.values()))
    if isinstance(meaning, Unknown):
        return meaning.order < 2
    return not isinstance(meaning, Column | Held) and meaning != Bound(False)


class Vocabulary(Protocol):
    """What names mean. `changing`: constants of the mechanism change along a motion; `happenings` are events and
    contacts by what they are called here; `times` those of the motion, where they are known."""

    @property
    def changing(self) -> bool: ...
    @property
    def states(self) -> tuple[str, ...]: ...
    @property
    def happenings(self) -> Mapping[str, str]: ...
    @property
    def times(self) -> tuple[float, float] | None: ...
    def meaning(self, name: str) -> Meaning | None: ...
    def number(self, name: str) -> Meaning | None: ...
    def unit(self, name: str) -> str | None: ...
    def hint(self, name: str) -> str: ...


class Reader:
    """Reads measures; what is wrong with them is gathered in `faults`."""

    def __init__(self, names: Vocabulary):
        self.names = names
        self.faults: list[Fault] = []
        self._labels: set[str] = set()

    def read(self, text: str, mark: Mark) -> list[Asked]:
        """The measures that a text is: one, or for the word `final` all coordinates and velocities at the end."""
        try:
            if text.strip() == FINAL:
                found = [self._read(f"{FINAL}({label})", mark, label) for label in self.names.states]
            else:
                found = [self._read(text, mark, text.strip())]
        except SpecError as error:
            self.faults += error.faults
            return []
        for each in found:
            if each.label in self._labels:
                self.faults.append(Fault(f"{each.label} is measured twice", mark))
            self._labels.add(each.label)
        return found

    def measure(self, text: str, mark: Mark) -> Asked | None:
        """One measure, which may be asked for more than once; None where it is faulty."""
        try:
            return self._read(text, mark, text.strip())
        except SpecError as error:
            self.faults += error.faults
            return None

    def quantity(self, text: str, mark: Mark) -> Quantity:
        """A function of time. Raises SpecError."""
        expression = parse_expression(text, mark, state=True, further=FUNCTIONS, switches=False)
        meanings: dict[str, Meaning] = {}
        if faults := self._of_motion(expression, expression.tree, meanings, "extremes"):
            raise SpecError(*faults)
        return Quantity(expression.tree, meanings)

    def unit(self, quantity: Quantity) -> str:
        """Of a function of time; "" if it has none, or nobody says."""
        return self._unit_of_motion(quantity.node) or ""

    def _read(self, text: str, mark: Mark, label: str) -> Asked:
        expression = parse_expression(text, mark, state=True, further=FUNCTIONS, switches=False)
        inside: dict[str, Meaning] = {}
        outside: dict[str, Meaning] = {}
        faults = [*self._of_number(expression, expression.tree, inside, outside)]
        if faults:
            raise SpecError(*faults)
        return Asked(label, self._unit(expression.tree) or "", expression, inside, outside)

    def _of_number(
        self, expression: Expression, node: ast.expr, inside: dict[str, Meaning], outside: dict[str, Meaning]
    ) -> list[Fault]:
        """What is wrong with a node that is one number for each case."""
        function, name = function_of(node), name_of(node)
        if name is not None:
            meaning = self.names.number(name)
            outside.update({} if meaning is None else {name: meaning})
            return [self._no_number(expression, node, name)] if meaning is None else []
        if function is None:
            below = [self._of_number(expression, child, inside, outside) for child in operands_of(node)]
            return [fault for faults in below for fault in faults] + self._senseless(expression, node)
        quantity, *numbers = operands_of(node)
        if function in OF_EVENTS:
            return self._of_events(expression, quantity, inside)
        faults = self._of_motion(expression, quantity, inside, function)
        for number in numbers:
            faults += self._of_number(expression, number, inside, outside)
        return faults + ([] if faults or not numbers else self._beyond(expression, numbers[0]))

    def _of_events(self, expression: Expression, node: ast.expr, inside: dict[str, Meaning]) -> list[Fault]:
        """What is wrong with a node that names a contact or an event."""
        name, known = name_of(node), self.names.happenings
        if name is not None and name in known:
            inside[happening_key(node)] = Happening(known[name])
            return []
        shown = expression.shown(node)
        hint = did_you_mean(shown, known) or (f"there are {listed(known)}" if known else "the file has none")
        return [Fault(f"there is no contact or event {shown}", expression.at(node), hint)]

    def _of_motion(
        self, expression: Expression, node: ast.expr, inside: dict[str, Meaning], function: str
    ) -> list[Fault]:
        """What is wrong with a node that is a function of time."""
        name, nested = name_of(node), function_of(node)
        if name is not None:
            meaning = self.names.meaning(name)
            inside.update({} if meaning is None else {name: meaning})
            unknown = Fault(f"there is no column {name}", expression.at(node), self.names.hint(name))
            return [unknown] if meaning is None else []
        if nested is not None:
            hint = f"{function} takes what changes along the motion: a column such as {self.names.states[0]}"
            message = (
                f"{expression.shown(node)} is a number of the whole motion and cannot stand inside {function}(...)"
            )
            return [Fault(message, expression.at(node), hint)]
        below = [self._of_motion(expression, child, inside, function) for child in operands_of(node)]
        return [fault for faults in below for fault in faults] + self._senseless(expression, node)

    def _no_number(self, expression: Expression, node: ast.expr, name: str) -> Fault:
        if self.names.meaning(name) is not None:
            hint = f"write final({name}), max({name}), at({name}, 1), ..."
            return Fault(f"{name} alone is a function of time", expression.at(node), hint)
        if name in FUNCTIONS:
            return Fault(f"{name} is a function: {name}(...)", expression.at(node))
        return Fault(f"there is no parameter or column {name}", expression.at(node), self.names.hint(name))

    def _senseless(self, expression: Expression, node: ast.expr) -> list[Fault]:
        """A division by a zero that no case can change, or a function of numbers that has no value."""
        constant = [_constant(expression, child) for child in operands_of(node)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and constant[1] == 0:
            return [Fault(f"division by zero in {expression.shown(node)}", expression.at(node))]
        if any(value is None for value in constant):
            return []
        try:
            expression._replace(tree=node).evaluate({})
        except SpecError as error:
            return list(error.faults)
        return []

    def _beyond(self, expression: Expression, node: ast.expr) -> list[Fault]:
        """A time that is no case's."""
        time = _constant(expression, node)
        if time is None or self.names.times is None:
            return []
        t0, tend = self.names.times
        if t0 <= time <= tend:
            return []
        return [
            Fault(f"the time {time:g} is outside of the motion, which is from {t0:g} to {tend:g}", expression.at(node))
        ]

    def _unit(self, node: ast.expr) -> str | None:
        """The unit of a number; None if nobody says, "" if it has none."""
        function = function_of(node)
        if isinstance(node, ast.Call) and function is not None:
            unit = self._unit_of_motion(node.args[0])
            if function in SECONDS:
                return "s"
            if function == "integral" and unit is not None:
                return f"{unit} s" if unit else "s"
            return unit if function in SAME_UNIT else ""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            left, right = self._unit(node.left), self._unit(node.right)
            return left if left == right else None
        return self._unit(node.operand) if isinstance(node, ast.UnaryOp) else None

    def _unit_of_motion(self, node: ast.expr) -> str | None:
        name = name_of(node)
        if name is not None:
            return self.names.unit(name)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            left, right = self._unit_of_motion(node.left), self._unit_of_motion(node.right)
            return left if left == right else None
        is_same = isinstance(node, ast.UnaryOp) or (isinstance(node, ast.Call) and node.func.id == "abs")  # type: ignore[attr-defined]
        return self._unit_of_motion(operands_of(node)[0]) if is_same else None


def _constant(expression: Expression, node: ast.expr) -> float | None:
    """The value of what is written in numbers alone."""
    parts = [part for part in ast.walk(node) if isinstance(part, ast.expr)]
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    called = {part.func.id for part in parts if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)}
    if any(function_of(part) for part in parts) or names - called or any(isinstance(p, ast.Attribute) for p in parts):
        return None
    try:
        return float(expression._replace(tree=node).evaluate({}))
    except SpecError:
        return None
