"""Groups: the elements of a mechanism by the program that is theirs, and where each finds its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mechsim.derive.program import Program
from mechsim.frozen import frozen
from mechsim.lagrangian.kind import Kind
from mechsim.model.mechanism import Element, Mechanism

ProgramKey = tuple[str, frozenset[int]]  # a kind's name, and which of its parameters are zero


@frozen(slots=False)
class Group:
    """All instances of one program. An index below 0 marks what is not there: a constant, or a dropped constraint."""

    kind: Kind
    zero_parameters: frozenset[int]
    elements: tuple[int, ...]  # which elements of the mechanism, one per lane
    program: Program
    parameters: np.ndarray  # (parameters, lanes)
    variables: np.ndarray  # (local variables, lanes): global coordinate, or -1 - k for constant k
    multipliers: np.ndarray  # (own constraints, then observed ones; lanes): global constraint, or -1 when dropped

    @cached_property
    def constants(self) -> np.ndarray:
        return self.program.constant_table(self.parameters)

    @property
    def lanes(self) -> int:
        return len(self.elements)

    def row(self, local: int, n: int) -> np.ndarray:
        """Global equation of each lane's local row, below 0 where there is none."""
        count = len(self.kind.variables)
        if local < count:
            return self.variables[local]
        constraint = self.multipliers[local - count]
        return np.where(constraint < 0, -1, constraint + n)


class Member(NamedTuple):
    """One element of a group."""

    number: int  # of the element
    first: int  # number of its first constraint, in the mechanism
    element: Element


def members_by_program(mechanism: Mechanism, kind_of: Callable[[str], Kind]) -> dict[ProgramKey, list[Member]]:
    """Elements that share a program: of one kind, with the same parameters at zero."""
    found: dict[ProgramKey, list[Member]] = {}
    first = 0
    for number, element in enumerate(mechanism.elements):
        kind = kind_of(element.kind)
        zeros = frozenset(i for i, p in enumerate(kind.parameters) if element.parameters[p] == 0.0)
        found.setdefault((element.kind, zeros), []).append(Member(number, first, element))
        first += len(element.multipliers)
    return found


def levels_of(mechanism: Mechanism, kind_of: Callable[[str], Kind]) -> np.ndarray:
    """How often each constraint is differentiated: 2 holonomic, 1 nonholonomic."""
    kinds = [kind_of(element.kind) for element in mechanism.elements]
    levels = [[2] * kind.constraint_count + [1] * kind.nonholonomic_count for kind in kinds]
    return np.array([level for own in levels for level in own], dtype=int)


def group_of(
    kind: Kind,
    zeros: frozenset[int],
    members: list[Member],
    program: Program,
    constraint_number: np.ndarray,
    places: Mapping[str, int],
) -> Group:
    """The group of these members; `constraint_number` tells which constraints are left, `places` finds labels."""
    parameters = [[member.element.parameters[p] for member in members] for p in kind.parameters]
    starts = np.array([member.first for member in members])
    own = constraint_number[starts + np.arange(kind.multiplier_count)[:, None]]
    observed = [[places[member.element.observed[i]] for member in members] for i in range(kind.observed_count)]
    observed_numbers = constraint_number[np.array(observed, dtype=int).reshape(-1, len(members))]
    return Group(
        kind=kind,
        zero_parameters=zeros,
        elements=tuple(member.number for member in members),
        program=program,
        parameters=np.array(parameters, dtype=float).reshape(len(kind.parameters), len(members)),
        variables=np.array([member.element.slots for member in members]).T.reshape(len(kind.variables), len(members)),
        multipliers=np.concatenate([own.reshape(-1, len(members)), observed_numbers]),
    )
