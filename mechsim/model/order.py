"""An order of points that depends on what they are, not on what they are called or where they stand in the file.

Points are told apart by where they are fixed or guessed, then by the elements they share with others, round by round
(Weisfeiler and Lehman): what is chosen without a guess is then the same however a mechanism is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from mechsim.model.mechanism import Element, Mechanism
from mechsim.spec.document import Problem
from mechsim.spec.living import told_for_choice

Key = TypeVar("Key")
Look = TypeVar("Look", bound=tuple[object, ...])
Told = tuple[str, tuple[str, ...], str]  # of an element: kind, parameters, how its part is turned

ROUNDS = 8  # tell apart what differs within so many parts; farther differences do not matter to a choice here
DIGITS = 9  # of lengths that are compared: beyond are roundings


def canonical_order(mechanism: Mechanism, problem: Problem) -> list[str]:
    """All points; equals (of a symmetric mechanism, say) as they stand in the mechanism."""
    ranks = _ranked({name: _looks(name, mechanism, problem) for name in mechanism.points})
    named = {slot: name for name, slots in mechanism.points.items() for slot in slots[:1]}
    kinds = _ranked({number: _told(each, problem) for number, each in enumerate(mechanism.elements)})
    ties = [
        (kinds[number], [named[slot] for slot in element.slots if slot in named])
        for number, element in enumerate(mechanism.elements)
    ]
    for _ in range(ROUNDS):
        seen: dict[str, list[tuple[int, ...]]] = {name: [] for name in ranks}
        for kind, points in ties:
            around = tuple(ranks[name] for name in points)
            for place, name in enumerate(points):
                seen[name].append((kind, place, *around))
        finer = _ranked({name: (rank, tuple(sorted(seen[name]))) for name, rank in ranks.items()})
        if max(finer.values()) == max(ranks.values()):
            break
        ranks = finer
    return sorted(ranks, key=ranks.__getitem__)


def canonical_coordinates(mechanism: Mechanism, problem: Problem) -> tuple[list[int], list[int]]:
    """Coordinates and constraints in the order of the points they belong to: arithmetic in this order rounds alike
    however a mechanism is told."""
    order = canonical_order(mechanism, problem)
    rank = {name: number for number, name in enumerate(order)}
    named = {slot: name for name, slots in mechanism.points.items() for slot in slots}
    points = {part.name: [rank[name] for name in part.points] for part in mechanism.parts}

    def owner(index: int) -> tuple[str, list[int], int, int]:
        variable = mechanism.variables[index]
        return (variable.kind, points.get(variable.owner, []), rank.get(variable.owner, len(rank)), index)

    slots = [slot for name in order for slot in mechanism.points[name] if slot >= 0]
    others = sorted(set(range(len(mechanism.variables))) - set(slots), key=owner)
    rows: list[tuple[tuple[list[int], Told, int], int]] = []
    for element in mechanism.elements:
        around = [rank[named[slot]] for slot in element.slots if slot in named]
        rows += [
            ((around, _told(element, problem), local), len(rows) + local) for local in range(len(element.multipliers))
        ]
    return [*slots, *others], [row for _, row in sorted(rows)]


def _ranked(looks: dict[Key, Look]) -> dict[Key, int]:
    places = {look: rank for rank, look in enumerate(sorted(set(looks.values())))}
    return {name: places[look] for name, look in looks.items()}


def _looks(name: str, mechanism: Mechanism, problem: Problem) -> tuple[int, tuple[str, ...]]:
    slots = mechanism.points[name]
    if all(slot < 0 for slot in slots):
        return (0, _rounded([mechanism.constants[-1 - slot] for slot in slots]))
    given = problem.positions.get(name, ())
    return (1, tuple(f"{_shown(value.number.value)} {value.fixed}" if value else "" for value in given))


def _told(element: Element, problem: Problem) -> Told:
    angle = problem.angles.get(element.owner)
    turned = f"{_shown(angle.number.value)} {angle.fixed}" if angle else ""
    return element.kind, _rounded(element.parameters.values()), turned


def _rounded(values: Iterable[float]) -> tuple[str, ...]:
    return tuple(map(_shown, values))


def _shown(value: float) -> str:
    return told_for_choice(value, f".{DIGITS}g")
