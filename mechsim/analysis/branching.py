"""Branches of periodic motions: how one is followed, and those that leave it on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from mechsim.analysis.branch import Branch, Marked, Sample
from mechsim.analysis.continuation import BRANCHES, DOUBLES, FOLD, Ended, Point, Special, Tracer
from mechsim.analysis.ring import TURN, Change, Linear, Ring
from mechsim.errors import AssemblyError, IntegrationError
from mechsim.result import Motion
from mechsim.result.layout import Array

BESIDE = 0.02  # in scales: how far from a branch the first motion of another one is looked for
INTERRUPTED = "it was interrupted"
COLLAPSED = 1e-3  # in scales: a motion that is back so near after half its period has half that period
SHRUNK = 1e-5  # in scales: a motion where a branch turns back that goes no farther is born from a rest there

Measured = Callable[[Motion, Mapping[str, float]], Array]  # what is told of a motion with these parameters
Observer = Callable[[float], None]  # of values that are reached


class Follower:
    """Follows a branch and those that leave it, as far as it comes if it is interrupted."""

    def __init__(self, tracer: Tracer, measured: Measured, depth: int, observer: Observer | None = None):
        self.tracer, self.measured, self.depth = tracer, measured, depth
        self.observer = observer or (lambda value: None)
        self.interrupted = False

    def all(self, ring: Ring) -> tuple[Branch, ...]:
        """The branch from a ring on, then those that leave it, those that leave these, and so on `depth` times."""
        self.found = [self._branch(self.tracer, self.tracer.begin(ring))]
        try:
            self._leave([(0, self.tracer, special) for special in self._leaving])
        except KeyboardInterrupt:
            self.interrupted = True
        return tuple(self.found)

    def _leave(self, level: list[tuple[int, Tracer, Special]]) -> None:
        """Follow what leaves branches, by their numbers, at points."""
        for _ in range(self.depth):
            below = []
            for parent, tracer, special in level:
                for doubles, own, first in _leaving(tracer, special):
                    if self.interrupted:
                        return
                    mark = Marked(special.kind, self._sample(special.point), 0)
                    branch = self._branch(own, first)
                    number, doubled = len(self.found), self.found[parent].doubled + int(doubles)
                    self.found.append(replace(branch, left=(parent, mark), doubled=doubled))
                    below += [(number, own, each) for each in self._leaving]
            level = below

    def _branch(self, tracer: Tracer, first: Point) -> Branch:
        samples: list[Sample] = [self._sample(first)]
        marks: list[Marked] = []
        self._leaving: list[Special] = []
        try:
            why = self._along(tracer, first, samples, marks)
        except KeyboardInterrupt:
            self.interrupted, why = True, INTERRUPTED
        return Branch(tuple(samples), tuple(marks), why)

    def _along(self, tracer: Tracer, first: Point, samples: list[Sample], marks: list[Marked]) -> str:
        """Take what is met on a branch behind its first motion; why it ends, if not at an end of the range."""
        for each in tracer.follow(first):
            if isinstance(each, Ended):
                return each.why
            if isinstance(each, Point):
                self.observer(each.value)
                samples.append(self._sample(each))
            elif each.kind == FOLD and tracer.followed.autonomous and each.point.linear.extent <= SHRUNK:
                samples.append(self._sample(each.point))
                name, value = tracer.followed.name, each.point.value
                return f"its motions shrink to a rest at {name} = {value:.10g}, where they are born (Hopf)"
            elif each.kind == FOLD and _is_half(each.point.linear):
                samples.append(self._sample(each.point))
                return "it ends where its motions have half their period"
            else:
                marks.append(Marked(each.kind, self._sample(each.point), len(samples)))
                self._leaving += [each] if each.kind in (BRANCHES, DOUBLES) else []
        return ""

    def _sample(self, point: Point) -> Sample:
        found = point.linear
        case, ring = found.arcs[0].case, found.ring
        solution = case.starting(ring.state(0)).solution(ring.t + ring.period, tolerance=self.tracer.tolerance)
        measures = self.measured(case.motion(solution), ring.parameters)
        return Sample(point.value, ring, point.floquet, found.arcs[0].energy, measures)


def _leaving(tracer: Tracer, special: Special) -> Iterator[tuple[bool, Tracer, Point]]:
    """The first motions of branches that leave another one at a point, if they are found: whether the period doubles,
    what follows them, and where they begin."""
    doubles = special.kind == DOUBLES
    own = Tracer(tracer.followed.doubled(), tracer.bounds, tracer.tolerance) if doubles else tracer
    ring = _twice(special.point.linear.ring) if doubles else special.point.linear.ring
    unit = _turned_over(special.point.linear, ring.nodes) if doubles else _across(special)
    for length in (BESIDE,) if doubles else (BESIDE, -BESIDE):  # twice the period: half of it later it is the other one
        try:
            yield doubles, own, own.beside(ring, unit if length > 0 else unit.times(-1.0), BESIDE)
        except (AssemblyError, IntegrationError):
            continue


def _twice(ring: Ring) -> Ring:
    """The same motions two times over."""
    if ring.nodes == 1:
        return replace(ring, period=2 * ring.period, turns=2 * ring.turns)
    q = np.concatenate([ring.positions, ring.positions + TURN * ring.turns])
    v = np.concatenate([ring.velocities, ring.velocities])
    twice = replace(ring, period=2 * ring.period, turns=2 * ring.turns, positions=q, velocities=v)
    return replace(twice, left=2 * ring.left)


def _turned_over(found: Linear, nodes: int) -> Change:
    """The change that comes back as its opposite after a period, along the states of two."""
    values, vectors = np.linalg.eig(found.monodromy)
    along = np.real(vectors[:, int(np.argmin(np.abs(values + 1)))])
    states = []
    transfers = found.transfers
    for node in range(nodes):
        states.append(found.arcs[node % len(found.arcs)].ways[0] @ along)
        along = transfers[node % len(transfers)] @ along
    change = Change(np.array(states), 0.0, 0.0)
    return change.times(1 / found.length(change))


def _across(special: Special) -> Change:
    """Where a branch is left: the other way in which there are motions beside this one."""
    found = special.point.linear
    _, _, right = np.linalg.svd(found.matrix)
    row = found.row(special.tangent)
    least = right[-2:]
    along = least @ row
    other = found.change(least[0] * along[1] - least[1] * along[0])
    return other.times(1 / found.length(other))


def _is_half(found: Linear) -> bool:
    """Whether the motion is back after half its period, and so is one of those that it was doubled from."""
    ring, first = found.ring, found.arcs[0]
    solution = first.case.starting(ring.state(0)).solution(ring.t + ring.period / 2, tolerance=first.solution.tolerance)
    end = np.concatenate([solution.q[-1] - TURN * ring.turns / 2, solution.v[-1]])
    return bool(found.norm.length(end - first.begin) <= COLLAPSED)
