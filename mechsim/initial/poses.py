"""Poses compared and varied: how far apart two are, which is the lower, points reflected, scattered or followed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import pi

import numpy as np

from mechsim.initial.closure import Closure
from mechsim.initial.start import Array
from mechsim.lagrangian.vector import dot, square, vector
from mechsim.model.chains import DisjointSets
from mechsim.model.geometry import Place, turn_angle, upright_frame
from mechsim.model.mechanism import Mechanism
from mechsim.model.placement import down_direction

DIGITS = 6  # of heights that are compared
SAME = 1e-5  # poses closer than this (largest difference, relative to size) are one


def place(mechanism: Mechanism, q: Array, slots: Sequence[int]) -> Place:
    return vector(float(q[s]) if s >= 0 else float(mechanism.constants[-1 - s]) for s in slots)


def whole_points(mechanism: Mechanism) -> dict[str, tuple[int, ...]]:
    """Points that have all coordinates; those of a user's Lagrangian may have fewer."""
    return {name: slots for name, slots in mechanism.points.items() if len(slots) == mechanism.dimension > 1}


def joined_points(mechanism: Mechanism) -> list[list[str]]:
    """Points that constraints join, directly or through others, with the fixed points each group uses."""
    whole = whole_points(mechanism)
    named = {slot: name for name, slots in whole.items() for slot in slots}
    bonds = [{named[slot] for slot in each.slots if slot in named} for each in mechanism.elements if each.multipliers]
    sets = DisjointSets(name for name, slots in whole.items() if slots[0] >= 0)
    for bond in bonds:
        sets.join(bond)
    groups: dict[str, dict[str, None]] = {sets.root(name): {} for name in sets.parents}
    for bond in bonds:
        for root in {sets.root(name) for name in bond if name in sets.parents}:
            groups[root].update(dict.fromkeys(sorted(bond)))
    return [list(group) for group in groups.values() if group]


def turn_angles(mechanism: Mechanism) -> list[int]:
    return [index for index, variable in enumerate(mechanism.variables) if variable.kind == "angle"]


def difference(mechanism: Mechanism, closure: Closure, q: Array, other: Array) -> float:
    """The largest difference relative to scale; of turn angles, the chord, for whole turns make no difference."""
    apart = (q - other) / closure.scales
    turns = turn_angles(mechanism)
    apart[turns] = 2 * np.sin(0.5 * apart[turns])
    return float(np.max(np.abs(apart[closure.free]), initial=0.0))


def heights(mechanism: Mechanism, closure: Closure, q: Array) -> list[float]:
    """How high all points stand together, against gravity (against the last axis without it), then each of them; then
    how far to each side. The lower of two poses has the smaller list."""
    number = {int(slot): place for place, slot in enumerate(closure.free)}
    moving = [slots for slots in whole_points(mechanism).values() if set(slots) & number.keys()]
    moving.sort(key=lambda slots: min(number[slot] for slot in slots if slot in number))
    places, found = [place(mechanism, q, slots) for slots in moving], []
    for direction in upright_frame(down_direction(mechanism)) if moving else ():
        along = [-dot(here, direction) / mechanism.size for here in places]
        found += [sum(along), *along]
    return [round(height, DIGITS) for height in found]


def on_one_line(mechanism: Mechanism, q: Array) -> bool:
    """Whether all points stand on one line, to rounding."""
    places = np.array([list(place(mechanism, q, slots)) for slots in whole_points(mechanism).values()])
    if len(places) < 3:
        return False
    widths = np.linalg.svd(places - places.mean(axis=0), compute_uv=False)
    return bool(widths[1] <= SAME * widths[0])


def nearer_turn(angle: float, wanted: float) -> float:
    """The angle, with as many whole turns as bring it nearest to the one wanted."""
    return angle + 2 * pi * round((wanted - angle) / (2 * pi))


def angles_followed(mechanism: Mechanism, closure: Closure, q: Array) -> Array:
    """Turn angles that may move set to the direction of their part, so that they do not pull a moved point back."""
    movable, result = set(closure.free.tolist()), q.copy()
    for element in mechanism.elements:
        if element.kind == "turned_length" and element.slots[-1] in movable:
            *ends, angle = element.slots
            a, b = place(mechanism, q, ends[: len(ends) // 2]), place(mechanism, q, ends[len(ends) // 2 :])
            if a != b:
                result[angle] = nearer_turn(turn_angle(b - a), float(q[angle]))
    return result


def reflections(mechanism: Mechanism, closure: Closure, q: Array) -> Iterator[Array]:
    """Each moving point on the other side of its neighbours, in the closure's order: names decide nothing."""
    number = {int(slot): place for place, slot in enumerate(closure.free)}
    points = {
        point: min(number[slot] for slot in slots if slot in number)
        for point, slots in whole_points(mechanism).items()
        if set(slots) & number.keys()
    }
    for point in sorted(points, key=points.__getitem__):
        yield from images(mechanism, closure, q, point)


def images(mechanism: Mechanism, closure: Closure, q: Array, point: str) -> Iterator[Array]:
    """A point across the line of each pair of neighbours; where a coordinate is held, the others mirrored at each
    neighbour. A pair of points beyond is left to combinations of these moves."""
    slots, movable = mechanism.points[point], set(closure.free.tolist())
    here = place(mechanism, q, slots)
    places = [place(mechanism, q, mechanism.points[name]) for name in _neighbours(mechanism, point)]
    around = sorted(places, key=list)
    mirrored = [_mirror(here, a, b) for a, b in combinations(around, 2) if a != b]
    for image in [*mirrored, *(2 * centre - here for centre in around)]:
        result = q.copy()
        for slot, value in zip(slots, image, strict=True):
            if slot in movable:
                result[slot] = value
        yield result


def _mirror(point: Place, a: Place, b: Place) -> Place:
    """As far on the other side of the line."""
    line = b - a
    foot = a + line * (dot(point - a, line) / square(line))
    return 2 * foot - point


def _neighbours(mechanism: Mechanism, point: str) -> list[str]:
    rigid = [part.points for part in mechanism.parts if part.kind == "rigid" and point in part.points]
    return list(dict.fromkeys(name for points in rigid for name in points if name != point))
