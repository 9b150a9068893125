"""Joints and parts that fit in a way that is not meant: half a turn away, or flipped. Their equations cannot tell, so
positions are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi

import numpy as np

from mechsim.errors import AssemblyError, Fault
from mechsim.initial.poses import place
from mechsim.initial.start import Array
from mechsim.lagrangian.vector import SPACE, dot, vector
from mechsim.model.chains import DisjointSets
from mechsim.model.geometry import Place, collinear, frame_along, moved, norm, swung, triad, turned_about, unit
from mechsim.model.mechanism import Element, Facing, Mechanism, Part, Variable
from mechsim.model.placement import angle_row, frame_of
from mechsim.spec.turning import half_planes

HALF_PI = pi / 2
HINT = "give guesses of its points, or of its angle, that are nearer to what is meant"
ASTRAY = 1e-6  # of a part's size: a point that is farther from where its part has it is on the wrong side
Places = Mapping[str, Place]


def check_turned(mechanism: Mechanism, q: Array) -> None:
    """Raise for joints that hold half a turn away from what is meant, and for parts that are not as the file says."""
    faults = turned(mechanism, q)
    if faults:
        raise AssemblyError(*faults)


def turned(mechanism: Mechanism, q: Array) -> list[Fault]:
    """What closed positions have on the wrong side."""
    angles = any(element.origin.sort == "angle" for element in mechanism.elements)
    bodies = mechanism.dimension == SPACE and any(len(part.geometry) > SPACE for part in mechanism.parts)
    if not (mechanism.welds or mechanism.facings or angles or bodies):
        return []
    places = {
        name: vector(float(q[slot]) if slot >= 0 else float(mechanism.constants[-1 - slot]) for slot in slots)
        for name, slots in mechanism.points.items()
    }
    return [
        *_welds(mechanism, places),
        *_facings(mechanism, places),
        *_bodies(mechanism, places),
        *_angles(mechanism, q),
    ]


def _welds(mechanism: Mechanism, places: Places) -> list[Fault]:
    parts, faults = {part.name: part for part in mechanism.parts}, []
    for weld in mechanism.welds:
        own, other = (frame_of(parts[name], places) for name in (weld.part, weld.other))
        wanted = other if len(other) == SPACE else frame_along(swung(other[0], weld.angle))
        if any(dot(one, axis) < 0.5 for one, axis in zip(own, wanted, strict=True)):
            message = (
                f"weld {weld.part}-{weld.other}: the start found has {weld.part} turned about against {weld.other}"
            )
            faults.append(Fault(message, weld.mark, HINT))
    return faults


def _facings(mechanism: Mechanism, places: Places) -> list[Fault]:
    return [_faces_away(each) for each in mechanism.facings if WAYS[each.sort](each, places) < 0]


def _along_slider(facing: Facing, places: Places) -> float:
    """The cosine of how far E is from its half-plane about AB."""
    a, b, f = (places[name] for name in facing.second)
    beside = places[facing.first[2]]
    along, zero, _ = triad(a, b, f)
    arm = beside - a
    return float(dot(arm - along * dot(arm, along), turned_about(along, zero, facing.angle)))


def _along_coupling(facing: Facing, places: Places) -> float:
    """Of shafts bent by an angle it is 1 + cos(angle), and the opposite half a turn away."""
    one = triad(*(places[name] for name in facing.first))
    shaft, side, across = triad(*(places[name] for name in facing.second))
    other = (-shaft, side, -across)  # OB goes on where OA ends
    return float(dot(one[1], other[1]) + dot(one[2], other[2]))


WAYS = {"prism": _along_slider, "coupling": _along_coupling}


def _faces_away(facing: Facing) -> Fault:
    sides = f"{''.join(facing.first)}-{''.join(facing.second)}"
    point, other, line = facing.first[2], facing.second[2], "".join(facing.second[:2])
    if facing.sort == "prism":
        message = (
            f"slider {sides}: the start found has {point} half a turn away, at {facing.angle:.6g} + pi from the "
            f"half-plane of {other} about {line}"
        )
        hint = f"guess positions of {', '.join(facing.first)} with {point} on the side that is meant, or add pi to the "
        return Fault(message, facing.mark, hint + f"angle: {{{sides}: {{angle: {facing.angle + pi:.6g}}}}}")
    message = (
        f"coupling {sides}: the start found has {point} and {other} on opposite sides of the shafts, half a turn off"
    )
    hint = f"guess a position of {point} or {other} on the side that is meant, or name a point on the other side"
    return Fault(message, facing.mark, hint)


def _bodies(mechanism: Mechanism, places: Places) -> list[Fault]:
    """Points of a body that other parts keep too are held by fewer rows, which hold for some mirror images as well."""
    marks = {element.owner: element.mark for element in mechanism.elements if element.origin.sort == "rigid"}
    faults = []
    for part in mechanism.parts if mechanism.dimension == SPACE else ():
        if point := _astray(part, places):
            message = f"part {part.name}: the start found has its point {point} on the wrong side, as a mirror image"
            hint = f"give guesses of {', '.join(part.points)} that are nearer to what is meant"
            faults.append(Fault(message, marks.get(part.name), hint))
    return faults


def _astray(part: Part, places: Places) -> str | None:
    """A point that is not where the others of its part say, if there is one."""
    if len(part.geometry) <= SPACE or collinear(*map(vector, part.geometry[:SPACE])):
        return None
    start, frame = places[part.points[0]], frame_of(part, places)
    limit = ASTRAY * float(np.max(np.abs(part.geometry)))
    for name, local in zip(part.points[SPACE:], part.geometry[SPACE:], strict=True):
        if norm(places[name] - start - moved(frame, vector(local))) > limit:
            return name
    return None


def _angles(mechanism: Mechanism, q: Array) -> list[Fault]:
    return [
        Fault(f"the start found has {variable.label} half a turn off", element.mark, HINT)
        for element, variable in _angles_off(mechanism, q)
    ]


def _angles_off(mechanism: Mechanism, q: Array) -> list[tuple[Element, Variable]]:
    """Turn angles that are half a turn off. The row of one is r sin(true angle - angle): a quarter turn on it must be
    -r."""
    found, numbers = [], [float(each) for each in q]
    for element in mechanism.elements:
        if element.origin.sort == "angle":
            index = next(slot for slot in element.slots if slot >= 0 and mechanism.variables[slot].kind == "angle")
            if angle_row(index, element, mechanism, numbers, numbers[index] + HALF_PI) > 0:
                found.append((element, mechanism.variables[index]))
    return found


def turned_back(mechanism: Mechanism, q: Array) -> Array:
    """Closed positions where for each turn angle that is half a turn off, what hangs on its side is turned by as much
    about its axis: no distance on that side changes, and no other angle of an open chain does."""
    result = q.copy()
    for element, variable in _angles_off(mechanism, q):
        if element.origin.name == variable.owner:  # not of a gear, whose turn is counted from where it starts
            (start, end, point), _ = half_planes(variable.owner)
            origin, tip = (place(mechanism, result, mechanism.points[name]) for name in (start, end))
            along = unit(tip - origin)
            for name in _hanging(mechanism, point, {start, end}):
                slots = mechanism.points[name]
                arm = place(mechanism, result, slots) - origin
                result[list(slots)] = list(origin + along * (2 * dot(along, arm)) - arm)
    return result


def _hanging(mechanism: Mechanism, point: str, axis: set[str]) -> list[str]:
    """The moving points that parts join to this one, but not across the axis."""
    beside = {name for name, slots in mechanism.points.items() if slots[0] >= 0} - axis
    sets = DisjointSets(beside)
    for part in mechanism.parts:
        sets.join(name for name in part.points if name in beside)
    return [name for name in beside if point in beside and sets.root(name) == sets.root(point)]
