"""Joints that hold half a turn away too: their equations cannot tell, so the start is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi

from mechsim.errors import AssemblyError, Fault
from mechsim.initial.start import Array
from mechsim.lagrangian.vector import SPACE, dot, vector
from mechsim.model.geometry import Place, frame_along, swung
from mechsim.model.mechanism import Mechanism
from mechsim.model.placement import angle_row, frame_of

HALF_PI = pi / 2
HINT = "give guesses of its points, or of its angle, that are nearer to what is meant"


def check_turned(mechanism: Mechanism, q: Array) -> None:
    """Raise for welds that hold parts turned about, and for turn angles that are half a turn off."""
    if not mechanism.welds and all(element.origin.sort != "angle" for element in mechanism.elements):
        return
    places = {
        name: vector(float(q[slot]) if slot >= 0 else float(mechanism.constants[-1 - slot]) for slot in slots)
        for name, slots in mechanism.points.items()
    }
    faults = [*_welds(mechanism, places), *_angles(mechanism, q)]
    if faults:
        raise AssemblyError(*faults)


def _welds(mechanism: Mechanism, places: Mapping[str, Place]) -> list[Fault]:
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


def _angles(mechanism: Mechanism, q: Array) -> list[Fault]:
    """The row of an angle is r sin(true angle - angle): a quarter turn on it must be -r."""
    faults = []
    numbers = [float(each) for each in q]
    for element in mechanism.elements:
        if element.origin.sort == "angle":
            index = next(slot for slot in element.slots if slot >= 0 and mechanism.variables[slot].kind == "angle")
            if angle_row(index, element, mechanism, numbers, numbers[index] + HALF_PI) > 0:
                message = f"the start found has {mechanism.variables[index].label} half a turn off"
                faults.append(Fault(message, element.mark, HINT))
    return faults
