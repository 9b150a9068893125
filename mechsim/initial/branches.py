"""The different ways a mechanism closes, as far as a search finds them.

From every configuration found, points are reflected across the line of two neighbours and the mechanism is closed
again; random starts look for what reflections cannot reach. Seeded, so the same file gives the same list. The search
has an end, also where configurations form a continuum: it counts them, its trials and the seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from mechsim.errors import AssemblyError, Note
from mechsim.initial.assembly import all_positions, close_positions, complete, wound
from mechsim.initial.closure import Closure
from mechsim.initial.freedom import holding_coordinates, joined, motions
from mechsim.initial.levenberg import approach_all
from mechsim.initial.newton import is_closed, polish
from mechsim.initial.poses import SAME, angles_followed, difference, joined_points, place, reflections, turn_angles
from mechsim.initial.start import Array, Start, wishes
from mechsim.model.mechanism import Mechanism
from mechsim.spec.document import Problem

if TYPE_CHECKING:
    from mechsim.kernel.system import System

RANDOM_STARTS = 200
ITERATIONS = 50
AT_ONCE = 500  # trials between two looks at the clock; fewer of many coordinates
WORK = 200_000
MOST_FOUND = 100  # configurations; nobody chooses among more
MOST_TRIALS = 20_000
MOST_SECONDS = 30.0

Told = Callable[[int, int], None]  # how many configurations were found, in how many trials


def untold(found: int, tried: int) -> None:
    """Nobody waits."""


def configurations(
    mechanism: Mechanism,
    system: System,
    problem: Problem,
    *,
    random_starts: int = RANDOM_STARTS,
    told: Told = untold,
) -> list[Start]:
    """The configurations found, the one `assemble` finds by itself first, then by distance from it.

    Those found: no proof that there are no others. Degrees of freedom that no value fixes are held as `assemble`
    found them (a note says which coordinates), because configurations would otherwise form continua.
    """
    positions, velocities = wishes(mechanism, problem)
    first, notes = close_positions(mechanism, system, problem, positions, velocities)
    everything = all_positions(mechanism, system, problem, first).holding(positions.fixed)
    held = holding_coordinates(everything, first, np.array(turn_angles(mechanism), dtype=np.intp))
    search = Search(mechanism, everything.holding(held), first, told)
    found = search.run(random_starts)
    found[1:] = [wound(mechanism, search.closure, positions, q) for q in found[1:]]
    found[1:] = sorted(found[1:], key=search.rank)
    return _starts(mechanism, system, problem, found, (*notes, *_notes(mechanism, held, search)))


def _notes(mechanism: Mechanism, held: list[int], search: Search) -> tuple[Note, ...]:
    notes = ["these are the configurations a search found; it does not prove that there are no others"]
    if search.stopped:
        notes = [f"the search was stopped after {search.stopped}: there may be many more configurations"]
    if search.continuum:
        notes.append("some configurations can move though all that was asked is held: they are samples of a continuum")
    if held:
        names = joined([mechanism.variables[index].label for index in held])
        notes.append(f"the mechanism can move with all that is fixed, so {names} kept the value of configuration 1")
    return tuple(map(Note, notes))


def _starts(
    mechanism: Mechanism, system: System, problem: Problem, found: list[Array], notes: tuple[Note, ...]
) -> list[Start]:
    """A start for each; one whose velocities contradict the fixed ones is no start, unless it is the only one."""
    starts, failure = [], None
    for q in found:
        try:
            starts.append(complete(mechanism, system, problem, q, notes))
        except AssemblyError as error:
            failure = failure or error
    if failure and not starts:
        raise failure
    return starts


class Search:
    """All configurations met, generation by generation: reflections of the new ones until nothing new appears."""

    def __init__(self, mechanism: Mechanism, closure: Closure, first: Array, told: Told):
        self.mechanism = mechanism
        self.closure = closure
        self.found = [first]
        self.told = told
        self.tried = 0
        self.began = perf_counter()
        self.continuum = False  # whether a configuration was met that is none of its own

    @property
    def stopped(self) -> str:
        """Why the search ended before nothing new appeared, if so."""
        if len(self.found) >= MOST_FOUND:
            return f"{len(self.found)} configurations"
        if self.tried >= MOST_TRIALS:
            return f"{self.tried} trials"
        return f"{MOST_SECONDS:g} seconds" if perf_counter() - self.began > MOST_SECONDS else ""

    def run(self, random_starts: int) -> list[Array]:
        generator = np.random.default_rng(7)
        trials = [self._random_start(generator) for _ in range(random_starts)]
        fresh = list(self.found)
        while fresh and not self.stopped:
            trials += [image for q in fresh for image in reflections(self.mechanism, self.closure, q)]
            fresh = self._new_from(trials)
            trials = []
        return self.found

    def _new_from(self, trials: list[Array]) -> list[Array]:
        """Configurations not met before that these trials lead to, and that are worth reflecting."""
        fresh: list[Array] = []
        at_once = max(4, min(AT_ONCE, WORK // len(self.closure.scales) ** 2))
        for begin in range(0, len(trials), at_once):
            if self.stopped:
                break
            chosen = [angles_followed(self.mechanism, self.closure, q) for q in trials[begin : begin + at_once]]
            fresh += self._new_among(approach_all(self.closure, chosen, ITERATIONS))
            self.tried += len(chosen)
            self.told(len(self.found), self.tried)
        return fresh

    def _new_among(self, ends: list[Array]) -> list[Array]:
        """Those that close and were not met before, polished; they are added to `found`."""
        fresh = []
        for q in ends:
            if len(self.found) >= MOST_FOUND:
                break
            if self._is_known(q):
                continue
            scaled = self.closure.rescaled(q)
            q = polish(scaled, q)
            if is_closed(scaled, q) and not self._is_known(q):
                self.found.append(q)
                if motions(scaled, q).shape[1]:
                    self.continuum = True  # its images would be as many again
                else:
                    fresh.append(q)
        return fresh

    def _is_known(self, q: Array) -> bool:
        return any(difference(self.mechanism, self.closure, q, other) <= SAME for other in self.found)

    def rank(self, q: Array) -> tuple[float, list[float]]:
        """By distance from the first; mirror images, equally far, by coordinates, so that rounding decides nothing."""
        apart = difference(self.mechanism, self.closure, self.found[0], q)
        return round(apart, 6), np.round((q / self.closure.scales)[self.closure.free], 6).tolist()

    def _random_start(self, generator: np.random.Generator) -> Array:
        """Points anywhere within twice the extent of what they are joined to, about its middle."""
        result, free = self.found[0].copy(), self.closure.free
        middles, reaches = self._surroundings()
        noise = 2 * generator.random(len(free)) - 1
        result[free] = middles[free] + reaches[free] * noise
        return result

    def _surroundings(self) -> tuple[Array, Array]:
        first, points = self.found[0], self.mechanism.points
        middles, reaches = first.copy(), np.zeros(len(first))
        for names in joined_points(self.mechanism):
            places = np.array([list(place(self.mechanism, first, points[name])) for name in names])
            middle = places.mean(axis=0)
            for name in names:
                if points[name][0] >= 0:
                    middles[list(points[name])] = middle
                    reaches[list(points[name])] = 2 * np.max(np.linalg.norm(places - middle, axis=1))
        turns = turn_angles(self.mechanism)
        middles[turns], reaches[turns] = 0.0, pi
        return middles, reaches
