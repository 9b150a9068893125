"""Bonds: constraints that events let go and take hold of; their rows are gaps that hold both ways (mechanism.Gap)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from mechsim.errors import Fault
from mechsim.lagrangian.formula import Formula, coordinate, evaluated, symbol
from mechsim.lagrangian.vector import cross, dot, labels
from mechsim.model.book import Book, Draft, Labelled, moves
from mechsim.model.grip import Grip, Place
from mechsim.model.joints import on_line
from mechsim.model.mechanism import Gap, Mechanism
from mechsim.model.origin import Origin
from mechsim.model.placement import placed
from mechsim.model.quantities import Quantities
from mechsim.spec.actions import Actions, Bond
from mechsim.spec.document import Problem
from mechsim.spec.expression import MATH
from mechsim.spec.motion import plain_name


class LetGo:
    """Joints that are let go: their drafts wait until all that always holds has been written down."""

    def __init__(self, actions: Actions):
        self.names = {bond.name for bond in actions.bonds if bond.joint}
        self.drafts: dict[str, Draft] = {}

    def others(self, drafts: Iterable[Draft]) -> Iterator[Draft]:
        """All drafts but those."""
        for draft in drafts:
            name = draft.origin.name.replace(",", "-")
            if name in self.names and draft.constraints and name not in self.drafts:
                self.drafts[name] = draft
            else:
                yield draft


def add_bonds(quantities: Quantities, book: Book, let_go: LetGo) -> tuple[Gap, ...]:
    """Those that hold at the start come first, for its constraints are the first ones of all."""
    gaps: list[Gap] = []
    for bond in sorted(quantities.spec.actions.bonds, key=lambda each: not each.attached):
        draft = let_go.drafts.get(bond.name) if bond.joint else _draft(bond, quantities)
        if draft is None:
            hint = "an event can let go of pins, rods, ropes, and joints that are equations of positions"
            book.faults.append(Fault(f"{bond.joint}.{bond.name} cannot be released", bond.mark, hint))
        else:
            gaps += _gaps(bond, draft, quantities, book)
    return tuple(gaps)


def _gaps(bond: Bond, draft: Draft, quantities: Quantities, book: Book) -> Iterator[Gap]:
    if not all(moves(row) for _, row in draft.constraints):
        hint = "its points are on one part, or fixed in the world: remove it"
        book.faults.append(Fault(f"bond {bond.name}: nothing in it can move", bond.mark, hint))
        return
    floats = bool(bond.quantities or bond.parts or draft.phased)  # it keeps what it finds
    held: dict[str, int] = {}
    for place, (label, row) in enumerate(draft.constraints):
        if floats:
            slot = book.constant(0.0)
            held[label] = -1 - slot
            draft.constraints[place] = (label, row - coordinate(slot))
    attached = any(bond.name in event.attaches for event in quantities.spec.actions.events)
    if attached or any(row.uses("t") for _, row in draft.constraints):
        draft.account = draft.account or f"work_bond_{plain_name(bond.name)}"
    number = book.add(draft)
    assert number is not None  # something in it moves
    account = book.elements[number].slots[-1] if draft.account else -1
    mode = -1 - book.constant(float(bond.attached))
    for place, (label, _) in enumerate(draft.constraints):
        yield Gap(bond.name, number, mode, account, 0.0, bond.mark, bond=True, place=place, held=held.get(label))


def _draft(bond: Bond, quantities: Quantities) -> Draft:
    label = f"bond_{plain_name(bond.name)}"
    draft = Draft(f"bond {bond.name}", bond.mark, origin=Origin("bond", bond.name))
    if bond.quantities:
        rows = [quantities.of(each) for each in bond.quantities]
        draft.constraints = _labelled(label, rows)
    elif len(bond.points) == 2:
        first, second = bond.points
        names = labels(label, quantities.spec.dimension)
        draft.constraints = list(zip(names, quantities.difference(first, second), strict=True))
    else:
        *others, part = bond.parts
        point = bond.points[0] if bond.points else quantities.rigids[others[0]].points[0]
        draft.constraints = _placed(label, point, part, quantities)
        draft.grips = _grips(point, part, quantities)
        if others:
            draft.constraints.append((f"{label}_turn", quantities.relative_angle(others[0], part)))
    return draft


def _labelled(label: str, rows: list[Formula]) -> Labelled:
    return [(label, rows[0])] if len(rows) == 1 else [(f"{label}_{k + 1}", row) for k, row in enumerate(rows)]


def _placed(label: str, point: str, part: str, quantities: Quantities) -> Labelled:
    """Where a point is in the frame of a part."""
    along, way = quantities.frame(part), quantities.difference(quantities.rigids[part].points[0], point)
    return [(f"{label}_along", dot(along, way)), (f"{label}_across", cross(along, way))]


def _grips(point: str, part: str, quantities: Quantities) -> list[Grip]:
    first, second = quantities.rigids[part].points[:2]
    return on_line((first, second), Place(point), quantities)


def holding(mechanism: Mechanism, problem: Problem) -> Mechanism:
    """With bonds that hold at the start as they are first placed, if they keep what they find."""
    kept = [gap for gap in mechanism.gaps if gap.held is not None and mechanism.constants[gap.mode]]
    if not kept:
        return mechanism
    guess, constants = placed(mechanism, problem).numbers(), list(mechanism.constants)
    for gap in kept:
        assert gap.held is not None
        constants[gap.held] += _value(gap, mechanism, [*guess, *reversed(constants)], problem.t0.value)
    return replace(mechanism, constants=tuple(constants))


def _value(gap: Gap, mechanism: Mechanism, values: list[float], t: float) -> float:
    """Of a gap's row; `values` of coordinates by their slots, and of constants by theirs from the end on."""
    element = mechanism.elements[gap.element]

    def value(leaf: Formula) -> float:
        if leaf.operation == "p":
            return element.parameters[symbol(leaf)]
        return t if leaf.operation == "t" else values[element.slots[leaf.operands[0]]]

    found: float = evaluated(mechanism.laws[element.kind].constraints[gap.place], value, MATH)  # living if they are
    return found
