"""Rows beside those of a user's Lagrangian, written as expressions of its coordinates, parameters and time: drives, and
what is asked of a pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.lagrangian.formula import FUNCTIONS, TIME, Formula, coordinate, formula, number, parameter
from mechsim.model.book import Book, Draft, moves
from mechsim.model.chains import Chains
from mechsim.model.layout import Layout
from mechsim.model.mechanism import Mechanism
from mechsim.model.origin import Origin
from mechsim.model.tables import table
from mechsim.spec.actions import Table
from mechsim.spec.document import Problem
from mechsim.spec.expression import CONSTANTS, parse_expression
from mechsim.spec.motion import plain_name
from mechsim.spec.suggest import did_you_mean, listed


class Written:
    """Expressions of one mechanism as formulas."""

    def __init__(self, mechanism: Mechanism, parameters: Mapping[str, float]):
        layout = Layout(mechanism.dimension, mechanism.variables, mechanism.constants, mechanism.points, {}, Chains({}))
        self.mechanism, self.book = mechanism, Book(layout, mechanism.elements)
        self._known: dict[str, Formula] = {name: number(value) for name, value in CONSTANTS.items()}
        self._known |= {name: parameter(name, value) for name, value in parameters.items()}
        moving = [variable.label for variable in mechanism.variables if variable.kind != "state"]
        self._known |= {label: coordinate(slot) for slot, label in enumerate(moving)} | {"t": TIME}

    def formula(self, text: str, what: str) -> Formula:
        """Raises SpecError."""
        expression = parse_expression(text, Mark(what, 1, 1))
        if unknown := [name for name in expression.names if name not in self._known]:
            hint = did_you_mean(unknown[0], list(self._known)) or f"known are {listed(list(self._known))}"
            raise SpecError(Fault(f"{what} uses {unknown[0]}, which is neither coordinate nor parameter", hint=hint))
        return formula(expression.evaluate({name: self._known[name] for name in expression.names}, FUNCTIONS))

    def together(self) -> Mechanism:
        """The mechanism with all that was added."""
        book = self.book
        return replace(
            self.mechanism,
            variables=tuple(book.variables),
            constants=tuple(book.constants),
            elements=tuple(book.elements),
            laws={**self.mechanism.laws, **book.laws},
            switches=book.switches,
        )


@frozen(eq=False)
class Drives:
    """Motions of quantities: formulas of time, or tables."""

    motions: Mapping[str, str | Table]
    problem: Problem

    @property
    def accounts(self) -> tuple[str, ...]:
        """Variables that integrate the work of each."""
        return tuple(f"work_drive_{plain_name(name)}" for name in self.motions)

    def added(self, mechanism: Mechanism, parameters: Mapping[str, float], scales: Sequence[float]) -> Mechanism:
        """Raises SpecError."""
        written = Written(mechanism, parameters)
        for (name, motion), account, scale in zip(self.motions.items(), self.accounts, scales, strict=True):
            what = f"the motion of {name}"
            if isinstance(motion, Table):
                moved = table(motion, self.problem, written.book)
            elif moves(moved := written.formula(motion, what)):
                raise SpecError(Fault(f"{what} must be a function of time", hint='"0.5*sin(3*t)"'))
            quantity = written.formula(name, "what moves")
            if not moves(quantity):
                raise SpecError(Fault(f"{name} has nothing to move: it is no function of coordinates"))
            draft = Draft(f"drive of {name}", None, account=account, scale=scale, origin=Origin("drive", name))
            draft.constraints = [(f"drive_{plain_name(name)}", quantity - moved)]
            written.book.add(draft)
        return written.together()


@frozen(eq=False)
class Asked:
    """A mechanism with further constraints, and the labels of these, one group after the other."""

    mechanism: Mechanism
    labels: tuple[tuple[str, ...], ...]


def asked_rows(mechanism: Mechanism, parameters: Mapping[str, float], groups: Sequence[Mapping[str, str]]) -> Asked:
    """Constraints by their names, in groups. Raises SpecError."""
    written, labels = Written(mechanism, parameters), []
    for group, rows in enumerate(groups):
        own = [f"asked_{group}_{k}" for k in range(len(rows))]
        for label, (name, text) in zip(own, rows.items(), strict=True):
            row = written.formula(text, name)
            if not moves(row):
                raise SpecError(Fault(f"{name} is no function of coordinates: {text}"))
            written.book.add(Draft(name, None, constraints=[(label, row)], origin=Origin("constraint", name)))
        labels.append(tuple(own))
    return Asked(written.together(), tuple(labels))
