"""The different ways a mechanism closes, as far as a search finds them.

From every configuration found, points are reflected across the line of two neighbours and the mechanism is closed
again; random starts look for what reflections cannot reach. Seeded, so the same file gives the same list.
"""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

import numpy as np

from mechsim.errors import AssemblyError
from mechsim.initial.assembly import close_positions, complete, moving_coordinates, wound
from mechsim.initial.closure import Closure, position_closure, scales_of
from mechsim.initial.freedom import holding_coordinates, joined
from mechsim.initial.many import approach_all
from mechsim.initial.newton import is_closed, polish
from mechsim.initial.poses import SAME, angles_followed, difference, place, reflections
from mechsim.initial.start import Array, Start, wishes
from mechsim.model.mechanism import Mechanism
from mechsim.spec.document import Problem

if TYPE_CHECKING:
    from mechsim.kernel.system import System

RANDOM_STARTS = 200
ITERATIONS = 50


def configurations(
    mechanism: Mechanism, system: System, problem: Problem, *, random_starts: int = RANDOM_STARTS
) -> list[Start]:
    """The configurations found, the one `assemble` finds by itself first, then by distance from it.

    Those found: no proof that there are no others. Degrees of freedom that no value fixes are held as `assemble`
    found them (a note says which coordinates), because configurations would otherwise form continua.
    """
    positions, velocities = wishes(mechanism, problem)
    first = close_positions(mechanism, system, problem, positions, velocities)
    everything = position_closure(system, problem.t0.value, first, scales_of(mechanism), moving_coordinates(mechanism))
    free = np.setdiff1d(everything.free, positions.fixed)
    angles = np.array([i for i, v in enumerate(mechanism.variables) if v.kind == "angle"], dtype=np.intp)
    held = holding_coordinates(everything.restricted(free, everything.rows), first, angles)
    closure = everything.restricted(np.setdiff1d(free, held), everything.rows)
    found = search(mechanism, closure, first, random_starts)
    found[1:] = [wound(mechanism, closure, positions, q) for q in found[1:]]
    found[1:] = sorted(found[1:], key=lambda q: _rank(mechanism, closure, first, q))
    return _starts(mechanism, system, problem, found, _notes(mechanism, held))


def _notes(mechanism: Mechanism, held: list[int]) -> tuple[str, ...]:
    notes = ["these are the configurations a search found; it does not prove that there are no others"]
    if held:
        names = joined([mechanism.variables[index].label for index in held])
        notes.append(f"fixed values leave the mechanism free to move, so {names} kept the value of configuration 1")
    return tuple(notes)


def _starts(
    mechanism: Mechanism, system: System, problem: Problem, found: list[Array], notes: tuple[str, ...]
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


def search(mechanism: Mechanism, closure: Closure, first: Array, random_starts: int) -> list[Array]:
    """All configurations met, generation by generation: reflections of the new ones until nothing new appears."""
    generator = np.random.default_rng(7)
    trials = [_random_start(mechanism, closure, first, generator) for _ in range(random_starts)]
    found, fresh = [first], [first]
    while fresh:
        trials += [image for q in fresh for image in reflections(mechanism, closure, q)]
        ends = approach_all(closure, [angles_followed(mechanism, closure, trial) for trial in trials], ITERATIONS)
        fresh = _new_among(mechanism, closure, ends, found)
        trials = []
    return found


def _new_among(mechanism: Mechanism, closure: Closure, ends: list[Array], found: list[Array]) -> list[Array]:
    """Those that close and were not met before, polished; they are added to `found`."""
    fresh = []
    for q in ends:
        if any(difference(mechanism, closure, q, other) < SAME for other in found):
            continue
        scaled = closure.rescaled(q)
        q = polish(scaled, q)
        if is_closed(scaled, q) and all(difference(mechanism, closure, q, other) > SAME for other in found):
            found.append(q)
            fresh.append(q)
    return fresh


def _rank(mechanism: Mechanism, closure: Closure, first: Array, q: Array) -> tuple[float, list[float]]:
    """By distance from the first; mirror images, equally far, by coordinates, so that rounding decides nothing."""
    return round(difference(mechanism, closure, first, q), 6), np.round(q / closure.scales, 6).tolist()


def _random_start(mechanism: Mechanism, closure: Closure, first: Array, generator: np.random.Generator) -> Array:
    """Points anywhere within twice the mechanism's extent about its middle."""
    places = np.array([place(mechanism, first, slots) for slots in mechanism.points.values()])
    middle, reach = np.mean(places), np.max(np.abs(places - np.mean(places)))
    result = first.copy()
    for slots in mechanism.points.values():
        offsets = 2 * reach * (2 * generator.random(len(slots)) - 1)
        for slot, centre, offset in zip(slots, (middle.real, middle.imag), offsets, strict=False):
            if slot in closure.free:
                result[slot] = centre + offset
    for index, variable in enumerate(mechanism.variables):
        if variable.kind == "angle" and index in closure.free:
            result[index] = pi * (2 * generator.random() - 1)
    return result
