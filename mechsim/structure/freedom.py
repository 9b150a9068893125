"""Which parts share which degrees of freedom, in the words of the mechanism (wished for in seed 001 section 7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mechsim.kernel import linear
from mechsim.model.mechanism import Mechanism, Part
from mechsim.structure.positions import Array, Constrained, nearby, null_space, scaled_jacobian

# Dense singular values and one pass per part: beyond this many coordinates nobody waits for it.
MOST_COORDINATES = 500
# Motions are orthonormal, so a part that moves at all moves by much more than this (singular values).
NEGLIGIBLE = 1e-6
Triplets = tuple[NDArray[np.int64], NDArray[np.int64], Array]
# A coordinate that moves by less than this share of what moves most is a poor one to fix: it is near an extreme.
CLEARLY = 0.02
# Sets of more than so many freedoms are too many to look at: then one set is named.
MOST_INTERCHANGED = 3
# A rigid part is named before a spring, a spring before a particle, for the later ones ride on the former.
PRECEDENCE = ("rigid", "spring", "particle")


@dataclass(frozen=True, slots=True)
class Group:
    """Parts whose positions determine one another once the groups before them stand still."""

    parts: tuple[str, ...]
    freedom: int  # 0: these parts cannot move at all


class Complete(Constrained, Protocol):
    """What is asked of a system with all its constraints."""

    @property
    def levels(self) -> NDArray[np.int64]: ...
    @property
    def bilateral(self) -> Complete: ...
    def without(self, constraints: Iterable[int]) -> Complete: ...
    def constraint_jacobian(self, t: float, q: Array) -> Triplets: ...


@dataclass(frozen=True, slots=True)
class Choice:
    """Any `count` of these coordinates (or of their velocities) may be fixed at the start, together with what the
    choices before this one fix."""

    count: int
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Freedom:
    """Degrees of freedom at a start. Positions and velocities that may be chosen differ where something rolls, or where
    a drive prescribes a speed."""

    own: int  # of the mechanism, if nothing drove it
    positions: int
    velocities: int
    drives: tuple[str, ...]  # what prescribes motion
    rolling: tuple[str, ...]  # constraints that bind velocities only, drives excepted
    groups: tuple[Group, ...]  # who shares the mechanism's own freedom
    position_choices: tuple[Choice, ...]
    velocity_choices: tuple[Choice, ...]


def freedom(system: Complete, t: float, q: Array, v: Array) -> Freedom | None:
    """The freedom of a complete system at a consistent start; None if it is too large for this to be quick."""
    if system.n > MOST_COORDINATES:
        return None
    system = system.bilateral
    mechanism, prescribed = system.mechanism, system.mechanism.prescribed
    undriven = system.without(prescribed)
    groups = tuple(sharing(undriven, t, q))
    positions = _motions(system, system.constraint_jacobian(t, q))
    velocities = _motions(system, system.rate_jacobian(t, q, v))
    bound = [row for row in range(system.m) if system.levels[row] == 1 and row not in prescribed]
    return Freedom(
        own=_motions(undriven, undriven.rate_jacobian(t, q, v)).shape[1],
        positions=positions.shape[1],
        velocities=velocities.shape[1],
        drives=tuple(dict.fromkeys(each.origin.name if each.is_drive else each.owner for each in prescribed.values())),
        rolling=tuple(system.labels[system.n + row] for row in bound),
        groups=groups,
        position_choices=tuple(_choices(mechanism, positions, groups)),
        velocity_choices=tuple(_choices(mechanism, velocities, groups)),
    )


def _motions(system: Constrained, jacobian: Triplets) -> Array:
    """Motions that these constraints allow, one per column, in scales of the coordinates; states take no part."""
    moving = np.array([variable.kind != "state" for variable in system.mechanism.variables], dtype=bool)
    allowed = null_space(linear.scaled_jacobian(system, jacobian)[0][:, moving])
    motions: Array = np.zeros((system.n, allowed.shape[1]))
    motions[moving] = allowed
    return motions


def _choices(mechanism: Mechanism, motions: Array, groups: Sequence[Group]) -> Iterator[Choice]:
    """Group by group, so many of so many coordinates that decide where the group stands or how it moves."""
    points = {part.name: part.points for part in mechanism.parts}
    owners = [{*group.parts, *(name for part in group.parts for name in points[part])} for group in groups]
    everything = {variable.owner for variable in mechanism.variables}
    for members in [*owners, everything]:
        rows = [
            index
            for index, variable in enumerate(mechanism.variables)
            if variable.owner in members and variable.kind in ("angle", "position")
        ]
        rows.sort(key=lambda index: mechanism.variables[index].kind)  # turn angles say it best
        count = int(np.sum(np.linalg.svd(motions[rows], compute_uv=False) > NEGLIGIBLE)) if rows else 0
        if count:
            chosen = sorted(rows[k] for k in _interchangeable(motions[rows], count))
            yield Choice(count, tuple(mechanism.variables[index].label for index in chosen))
            motions = _orthonormal(_hold(rows, motions))


def _interchangeable(rows: Array, count: int) -> list[int]:
    """Rows of which any `count` are clearly independent, so that any choice among them will do."""
    clear = CLEARLY * np.max(np.linalg.norm(rows, axis=1))
    chosen: list[int] = []
    for row in range(len(rows)):
        if len(chosen) >= count > MOST_INTERCHANGED:
            break
        others = combinations(chosen, min(count - 1, len(chosen)))
        if all(np.linalg.svd(rows[[*few, row]], compute_uv=False)[-1] > clear for few in others):
            chosen.append(row)
    return chosen


def _orthonormal(motions: Array) -> Array:
    left, values, _ = np.linalg.svd(motions, full_matrices=False)
    basis: Array = left[:, values > NEGLIGIBLE]
    return basis


def sharing(system: Constrained, t: float, q: Array) -> list[Group]:
    """Groups of parts and the degrees of freedom each adds, from ranks of the null space of C_q over sets of parts.

    Take the part with the fewest freedoms; parts that cannot move while it stands still share them; hold the group
    and repeat. Springs and particles are named only for freedoms no rigid part has. An empty list if the mechanism
    is too large for this to be quick.
    """
    if system.n > MOST_COORDINATES:
        return []
    mechanism = system.mechanism
    # The start may be special; the position nearby where the most parts move shows what they can do.
    candidates = [null_space(scaled_jacobian(system, t, near)[0]) for near in nearby(system, t, q) or [q]]
    motions = max(candidates, key=lambda motions: sum(_ranks(mechanism.parts, mechanism, motions)))
    ranks = dict(zip(mechanism.parts, _ranks(mechanism.parts, mechanism, motions), strict=True))
    groups: list[Group] = []
    for kind in PRECEDENCE:
        waiting = [part for part in mechanism.parts if part.kind == kind]
        motions = _hold_group_by_group(waiting, mechanism, motions, groups)
    still = tuple(part.name for part, rank in ranks.items() if rank == 0 and part.kind == "rigid")
    return groups + ([Group(still, 0)] if still else [])


def describe_sharing(groups: Sequence[Group]) -> str:
    """The groups as a sentence: "AC, BD and CDE share 1 degree of freedom; EF has 1"."""
    phrases: list[str] = []
    for group in groups:
        names = _list(group.parts)
        unit = "" if phrases else " degree of freedom" if group.freedom == 1 else " degrees of freedom"
        if group.freedom == 0:
            phrases.append(f"{names} cannot move")
        elif len(group.parts) == 1:
            phrases.append(f"{names} has {group.freedom}{unit}")
        else:
            phrases.append(f"{names} share {group.freedom}{unit}")
    return "; ".join(phrases)


def _hold_group_by_group(waiting: list[Part], mechanism: Mechanism, motions: Array, groups: list[Group]) -> Array:
    """Append the groups among `waiting`; returns the motions left when all of them stand still."""
    while waiting:
        ranks = _ranks(waiting, mechanism, motions)
        moving = [k for k, rank in enumerate(ranks) if rank > 0]
        if not moving:
            break
        first = min(moving, key=lambda k: (ranks[k], k))
        motions = _hold(_rows(waiting[first], mechanism), motions)
        held = [rank == 0 for rank in _ranks(waiting, mechanism, motions)]
        members = tuple(waiting[k].name for k in moving if held[k])
        groups.append(Group(members, int(ranks[first])))
        waiting = [part for part, done in zip(waiting, held, strict=True) if not done]
    return motions


def _hold(rows: list[int], motions: Array) -> Array:
    """The motions in which these coordinates stand still: the others are projected out."""
    _, singular_values, combinations = np.linalg.svd(motions[rows], full_matrices=False)
    used = combinations[singular_values > NEGLIGIBLE]
    left: Array = motions - (motions @ used.T) @ used
    return left


def _ranks(parts: Sequence[Part], mechanism: Mechanism, motions: Array) -> list[int]:
    """Degrees of freedom of each part alone: the rank of its rows of the motions, all parts in one batch."""
    rows = [_rows(part, mechanism) for part in parts]
    longest = max(map(len, rows), default=0)
    padded = np.vstack([motions, np.zeros((1, motions.shape[1]))])
    table = np.array([indices + [len(motions)] * (longest - len(indices)) for indices in rows], np.int64)
    blocks = padded[table.reshape(len(parts), longest)]
    gram = blocks @ blocks.transpose(0, 2, 1)
    counts = (np.linalg.eigvalsh(gram) > NEGLIGIBLE**2).sum(axis=1)
    return [int(count) for count in counts]


def _rows(part: Part, mechanism: Mechanism) -> list[int]:
    return [slot for name in part.points for slot in mechanism.points[name] if slot >= 0]


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
