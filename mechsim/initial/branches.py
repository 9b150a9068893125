"""The different ways a mechanism closes, as far as a search finds them.

From every configuration found, points are reflected across the line of two neighbours and the mechanism is closed
again; random starts look for what reflections cannot reach. Seeded, so the same file gives the same list.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import pi
from typing import TYPE_CHECKING

import numpy as np

from mechsim.errors import AssemblyError
from mechsim.initial.assembly import close_positions, complete, moving_coordinates, wound
from mechsim.initial.closure import Closure, position_closure, scales_of
from mechsim.initial.freedom import holding_coordinates, joined
from mechsim.initial.many import approach_all
from mechsim.initial.newton import is_closed, polish
from mechsim.initial.start import Array, Start, wishes
from mechsim.model.mechanism import Mechanism
from mechsim.spec.document import Problem

if TYPE_CHECKING:
    from mechsim.kernel.system import System

RANDOM_STARTS = 200
ITERATIONS = 50
SAME = 1e-5  # configurations closer than this (largest difference, relative to size) are one


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
        ends = approach_all(closure, [_angles_followed(mechanism, closure, trial) for trial in trials], ITERATIONS)
        fresh = _new_among(mechanism, closure, ends, found)
        trials = []
    return found


def _new_among(mechanism: Mechanism, closure: Closure, ends: list[Array], found: list[Array]) -> list[Array]:
    """Those that close and were not met before, polished; they are added to `found`."""
    fresh = []
    for q in ends:
        if any(_distance(mechanism, closure, q, other) < SAME for other in found):
            continue
        scaled = closure.rescaled(q)
        q = polish(scaled, q)
        if is_closed(scaled, q) and all(_distance(mechanism, closure, q, other) > SAME for other in found):
            found.append(q)
            fresh.append(q)
    return fresh


def _distance(mechanism: Mechanism, closure: Closure, q: Array, other: Array) -> float:
    """The largest difference relative to scale; of turn angles, the chord, for whole turns make no difference."""
    difference = (q - other) / closure.scales
    turns = [index for index, variable in enumerate(mechanism.variables) if variable.kind == "angle"]
    difference[turns] = 2 * np.sin(0.5 * difference[turns])
    return float(np.max(np.abs(difference[closure.free]), initial=0.0))


def _rank(mechanism: Mechanism, closure: Closure, first: Array, q: Array) -> tuple[float, list[float]]:
    """By distance from the first; mirror images, equally far, by coordinates, so that rounding decides nothing."""
    return round(_distance(mechanism, closure, first, q), 6), np.round(q / closure.scales, 6).tolist()


def reflections(mechanism: Mechanism, closure: Closure, q: Array) -> Iterator[Array]:
    """Each moving point across the line of each pair of neighbours; where a coordinate is held, the other one mirrored
    at each neighbour. A pair of points beyond is left to combinations of these moves."""
    movable = set(closure.free.tolist())
    for point, slots in mechanism.points.items():
        if not movable & set(slots) or len(slots) != 2:
            continue
        place = _place(mechanism, q, slots)
        around = [_place(mechanism, q, mechanism.points[name]) for name in _neighbours(mechanism, point)]
        images = [_mirror(place, a, b) for a, b in combinations(around, 2) if a != b]
        images += [2 * centre - place for centre in around]
        for image in images:
            result = q.copy()
            for slot, value in zip(slots, (image.real, image.imag), strict=True):
                if slot in movable:
                    result[slot] = value
            yield result


def _mirror(place: complex, a: complex, b: complex) -> complex:
    return a + (b - a) * ((place - a) / (b - a)).conjugate()


def _place(mechanism: Mechanism, q: Array, slots: tuple[int, ...]) -> complex:
    return complex(*(float(q[s]) if s >= 0 else mechanism.constants[-1 - s] for s in slots))


def _neighbours(mechanism: Mechanism, point: str) -> list[str]:
    rigid = [part.points for part in mechanism.parts if part.kind == "rigid" and point in part.points]
    return list(dict.fromkeys(name for points in rigid for name in points if name != point))


def _angles_followed(mechanism: Mechanism, closure: Closure, q: Array) -> Array:
    """Turn angles that may move set to the direction of their part, so that they do not pull a moved point back."""
    movable, result = set(closure.free.tolist()), q.copy()
    for element in mechanism.elements:
        if element.kind == "turned_length" and element.slots[-1] in movable:
            a, b = _place(mechanism, q, element.slots[0:2]), _place(mechanism, q, element.slots[2:4])
            result[element.slots[-1]] = np.angle(b - a)
    return result


def _random_start(mechanism: Mechanism, closure: Closure, first: Array, generator: np.random.Generator) -> Array:
    """Points anywhere within twice the mechanism's extent about its middle."""
    places = np.array([_place(mechanism, first, slots) for slots in mechanism.points.values()])
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
