"""Directions in the frame of a part in space, as vectors of numbers that may follow from the parameters of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mechsim.frozen import frozen
from mechsim.lagrangian.vector import SPACE, dot, vector
from mechsim.model.geometry import Place, axis, norm, unit
from mechsim.spec.living import plain

# Directions that differ by less are one: people type coordinates with ten digits or so.
SAME_DIRECTION = 1e-9


@frozen
class Directions:
    """What keeps a useful point besides its own part: groups of points, those of one group kept among themselves."""

    corners: Mapping[str, Sequence[float]]
    groups: Sequence[Sequence[str]]

    @property
    def kept(self) -> bool:
        return bool(self.groups)

    def open(self, name: str) -> list[Place]:
        """Unit vectors in which nothing keeps the point yet. A group that spans the point keeps it altogether."""
        here = vector(self.corners[name])
        taken: list[Place] = []
        for group in self.groups:
            arms = [here - vector(self.corners[each]) for each in group]
            if _spans(arms):
                return []
            taken = _independent([*taken, *arms])
        return across(taken)


def across(taken: Sequence[Place]) -> list[Place]:
    """Orthogonal unit vectors across those given, which are such: from the axes that are least along them."""
    found = list(taken)
    while len(found) < SPACE:
        rests = [_rest(axis(number, SPACE), found) for number in range(SPACE)]
        found.append(unit(max(rests, key=lambda rest: plain(norm(rest)))))
    return found[len(taken) :]


def _spans(arms: Sequence[Place]) -> bool:
    """Whether points whose arms to here are these have this place on their line, plane or in their space."""
    edges = _independent([arm - arms[0] for arm in arms[1:]])
    return len(_independent([*edges, arms[0]])) == len(edges)


def _independent(vectors: Sequence[Place]) -> list[Place]:
    """Orthogonal unit vectors that span the same, in the order in which they come."""
    found: list[Place] = []
    for each in vectors:
        rest = _rest(each, found)
        if plain(norm(rest)) > SAME_DIRECTION * plain(norm(each)):
            found.append(unit(rest))
    return found


def _rest(each: Place, directions: Sequence[Place]) -> Place:
    """What of a vector is across all of these, which are so to each other."""
    for direction in directions:
        each = each - direction * dot(direction, each)
    return each
