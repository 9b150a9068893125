"""Which parts share which degrees of freedom, in the words of the mechanism (wished for in seed 001 section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechsim.model.mechanism import Mechanism, Part
from mechsim.structure.positions import Array, Constrained, nearby, null_space, scaled_jacobian

# Dense singular values and one pass per part: beyond this many coordinates nobody waits for it.
MOST_COORDINATES = 500
# Motions are orthonormal, so a part that moves at all moves by much more than this (singular values).
NEGLIGIBLE = 1e-6
# A rigid part is named before a spring, a spring before a particle, for the later ones ride on the former.
PRECEDENCE = ("rigid", "spring", "particle")


@dataclass(frozen=True, slots=True)
class Group:
    """Parts whose positions determine one another once the groups before them stand still."""

    parts: tuple[str, ...]
    freedom: int  # 0: these parts cannot move at all


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
