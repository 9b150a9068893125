"""The curves that may bound what is reached, as far as poses lead to them: see reach.py."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.analysis.arcs_of_reach import Arc, At, Edge
from mechsim.analysis.pieces_of_arcs import Piece, cut, is_along, nearest
from mechsim.analysis.reach import Reach
from mechsim.result.layout import Array

SAME = 1e-4  # of the size: a curve that is no longer is a point
MISSED = 0.05  # of a chord of a curve, by which a pose on it may miss that


class Search:
    """Curves that were found from some poses, with limits that are met on them."""

    def __init__(self, reach: Reach, sets: Sequence[tuple[int, ...]], size: float):
        self.size = size
        self.edges = [Edge(reach, met) for met in sets]
        self.found: list[list[Arc]] = [[] for _ in sets]

    def look_from(self, poses: Array) -> int:
        """Follow what poses lead to and is not known yet; how many curves that are."""
        before = sum(map(len, self.found))
        for edge, own in zip(self.edges, self.found, strict=True):
            for now in edge.all_solved(edge.first(poses)):
                if not edge.passes(now) and not any(_is_on(arc, now, edge) for arc in own):
                    own += edge.followed(now)
        return sum(map(len, self.found)) - before

    def pieces(self) -> list[Piece]:
        arcs = [arc for own in self.found for arc in own]
        long = sorted((arc for arc in arcs if _extent(arc) > SAME * self.size), key=_extent, reverse=True)
        kept: list[Arc] = []
        for arc in long:  # others may come by the same places; so may limits, as of an arm that cannot be bent back
            if not any(is_along(arc, other, self.size) for other in kept):
                kept.append(arc)
        return _once(cut(kept, self.size), self.size)


def _extent(arc: Arc) -> float:
    return float(np.linalg.norm(np.diff(arc.u, axis=0), axis=1).sum())


def _is_on(arc: Arc, now: At, edge: Edge) -> bool:
    """Whether a pose is on a curve, to what its chords miss."""
    apart = np.linalg.norm(arc.u - now.values[list(edge.reach.wanted)], axis=1)
    steps = np.linalg.norm(np.diff(arc.u, axis=0), axis=1)
    near = np.flatnonzero(apart[:-1] <= 2 * steps + SAME)
    if not len(near):
        return False
    off = now.z[: edge.n] - arc.x[near]
    off = off - edge.whole(off)
    chords = arc.x[near + 1] - arc.x[near]
    chords = chords - edge.whole(chords)
    squares = np.maximum((chords**2).sum(axis=1), 1e-300)
    shares = np.clip((off * chords).sum(axis=1) / squares, 0.0, 1.0)
    apart = np.linalg.norm(off - shares[:, None] * chords, axis=1)
    return bool((apart <= MISSED * np.sqrt(squares) + 1e-9).any())


def _once(pieces: Sequence[Piece], size: float) -> list[Piece]:
    """Without those that lie on others: curves that go along each other are cut at each other's ends."""
    kept: list[Piece] = []
    for one in pieces:
        middle = one.beside(0.0)
        if not any(other.first < place < other.last for other in kept for place in nearest(other.arc, middle, size)):
            kept.append(one)
    return kept
