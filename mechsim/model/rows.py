"""What an element adds to the Euler-Lagrange row of a coordinate, as a formula: the functions of its kind, or the
formulas of its law, differentiated as derive/equations.py lets JAX do it.

    d/dt dT/dv - dT/dx + dV/dx + dR/dv - Q + sum_i lam_i dC_i/dx
"""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace

from mechsim.lagrangian import kind_named
from mechsim.lagrangian.formula import (
    TIME,
    Formula,
    acceleration,
    coordinate,
    derivative,
    formula,
    multiplier,
    number,
    parameter,
)
from mechsim.model.book import Book, Draft
from mechsim.model.mechanism import Element


def row_of(place: int, slot: int, book: Book) -> Formula:
    """Of an element, by its place in the book. Of a fixed coordinate it is what holds it; of one that the element has
    not, zero."""
    element = book.elements[place]
    if slot not in element.slots:
        return number(0)
    draft, total = book.drafts.get(place), number(0)
    if draft is None:
        draft, kinetic = _written(element, place, book.layout.dimension)
        total = _inertia(kinetic, slot, element.slots)
    if draft.potential is not None:
        total = total + derivative(draft.potential, coordinate(slot))
    if draft.dissipation is not None:
        total = total + derivative(draft.dissipation, _rate(slot))
    rows = [(row, coordinate(slot)) for _, row in draft.constraints]
    rows += [(row, _rate(slot)) for _, row in draft.nonholonomic]
    for label, (row, leaf) in zip(element.multipliers, rows, strict=True):
        total = total + multiplier(label) * derivative(row, leaf)
        if draft.push is not None:
            total = total - draft.push * derivative(row, leaf)
    for pushed, force in draft.forces:
        total = total - force if pushed == slot else total
    return total


def _rate(slot: int) -> Formula:
    """A leaf for what is fixed too: its row is a derivative by it."""
    return Formula("v", (slot,))


def _inertia(kinetic: Formula, slot: int, slots: tuple[int, ...]) -> Formula:
    """d/dt dT/dv - dT/dx."""
    momentum = derivative(kinetic, _rate(slot))
    total = -derivative(kinetic, coordinate(slot))
    for each in slots:
        total = total + derivative(momentum, _rate(each)) * acceleration(each)
        total = total + derivative(momentum, coordinate(each)) * _rate(each)
    return total


def _written(element: Element, place: int, dimension: int) -> tuple[Draft, Formula]:
    """The functions of an element's kind written down, and its kinetic energy. A parameter that is zero is left out,
    for formulas become shorter; its name tells elements apart that have equal ones."""
    kind = kind_named(element.kind, dimension)
    values = {name: element.parameters[name] for name in kind.parameters}
    p = SimpleNamespace(
        **{name: parameter(f"{name} {place}", value) if value else number(0) for name, value in values.items()}
    )
    x, v = ([leaf(slot) for slot in element.slots] for leaf in (coordinate, _rate))
    draft = Draft(element.owner, element.mark)
    draft.potential = formula(kind.potential(x, TIME, p)) if kind.potential else None
    draft.constraints = _labelled(element, kind.constraints(x, TIME, p) if kind.constraints else ())
    draft.forces = list(zip(element.slots, map(formula, kind.force(x, v, TIME, p)), strict=True)) if kind.force else []
    return draft, formula(kind.kinetic(x, v, TIME, p)) if kind.kinetic else number(0)


def _labelled(element: Element, rows: Iterable[Formula]) -> list[tuple[str, Formula]]:
    return list(zip(element.multipliers, map(formula, rows), strict=True))
