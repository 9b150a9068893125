"""Sums of energy, momenta and angular momenta in the words of a mechanics book: about a point, along a screw, in a
frame that turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mechsim.frozen import frozen
from mechsim.lagrangian.vector import AXES, PLANE
from mechsim.result.layout import Array

ROUNDED = 1e-9  # of the largest number that is told with it
ENERGY, HAMILTONIAN = "E", "H"


@frozen
class Named:
    """What a sum is called, and what it is, in words."""

    name: str
    words: str


def told(value: float) -> str:
    return f"{value + 0.0:.9g}"


def vector_told(values: Sequence[float] | Array, least: float = 0.0) -> str:
    largest = max(least, float(np.abs(values).max(initial=0.0)))
    return f"({', '.join(told(0.0 if abs(each) <= ROUNDED * largest else float(each)) for each in values)})"


def written(factors: Array, names: Sequence[str]) -> str:
    """`E - 2*L_z + 0.5*p_x`."""
    text = ""
    for factor, name in zip(factors, names, strict=True):
        if factor:
            size = "" if abs(abs(factor) - 1) <= ROUNDED else f"{told(abs(factor))}*"
            sign = (" - " if factor < 0 else " + ") if text else ("-" if factor < 0 else "")
            text += f"{sign}{size}{name}"
    return text


class Frame:
    """A sum of momenta as a motion of all points: a turn w and a shift s at the origin, about an axis through a place
    and on along it. In the plane turns are about its normal."""

    def __init__(self, shift: Array, turn: Array):
        dimension = len(shift)
        if dimension == PLANE:
            shift, turn = np.array([*shift, 0.0]), np.array([0.0, 0.0, *turn])
        self.speed = float(np.linalg.norm(turn))
        self.turns = self.speed > 0
        self.direction = (turn if self.turns else shift) / (self.speed or float(np.linalg.norm(shift)) or 1.0)
        self.place = (np.cross(turn, shift) / self.speed**2 if self.turns else np.zeros(3))[:dimension]
        self._along = self.direction[:dimension]
        # So far it goes on for each radian; of one that does not turn, how fast.
        self.advance = float(shift @ self.direction) / (self.speed or 1.0)

    def through(self, points: Mapping[str, Array]) -> str:
        """Where its axis is: a point by its name, if one is on it."""
        for name, where in points.items():
            off = where - self.place
            off = off - (off @ self._along) * self._along
            if np.abs(off).max() <= ROUNDED * max(1.0, float(np.abs(where).max())):
                return name
        return vector_told(self.place, 1.0)


def of_mechanism(factors: Array, names: Sequence[str], points: Mapping[str, Array], dimension: int) -> Named:
    """Of a sum of the energy, momenta along and angular momenta about axes; `points` are fixed, with their places."""
    energy, shift, turn = factors[0], factors[1 : 1 + dimension], factors[1 + dimension :]
    order = [0, *range(1 + dimension, len(factors)), *range(1, 1 + dimension)]  # as one says it
    text = written(factors[order], [names[k] for k in order])
    if energy:
        return Named(text, _frame_of_energy(-shift, -turn, points))
    frame = Frame(shift, turn)
    axis = _axis(frame.direction[:dimension]) if not frame.turns or dimension != PLANE else ""
    along = axis or vector_told(frame.direction[:dimension])
    if not frame.turns:
        return Named(text if axis else f"p along {along}", f"momentum along {along}")
    about = "" if dimension == PLANE else f" about {along}"
    place = frame.through(points)
    if abs(frame.advance) > ROUNDED * max(1.0, float(np.abs(frame.place).max())):
        return Named(text, f"momentum along a screw{about} through {place}, {told(frame.advance)} m per radian")
    if not shift.any():
        return Named(text, f"angular momentum{about or ' about the origin'}{' through the origin' if about else ''}")
    words = f"angular momentum{about} through {place}" if about else f"angular momentum about {place}"
    return Named(f"{written(turn, names[1 + dimension :])} about {place}", words)


def _frame_of_energy(shift: Array, turn: Array, points: Mapping[str, Array]) -> str:
    if not (shift.any() or turn.any()):
        return "energy T + V"
    frame = Frame(shift, turn)
    if not frame.turns:
        return f"Hamiltonian in a frame that moves at {vector_told(shift)} m/s"
    plane = len(shift) == PLANE
    speed = told(float(turn[0]) if plane else frame.speed)
    axis = "" if plane else f" along {_axis(frame.direction) or vector_told(frame.direction)}"
    on = f", and moves on {told(frame.advance)} m per radian" if abs(frame.advance) > ROUNDED else ""
    return f"Hamiltonian in a frame that turns at {speed} rad/s about {frame.through(points)}{axis}{on}"


def _axis(direction: Array) -> str:
    """The axis that it is along, if it is along one."""
    for axis, entry in zip(AXES, np.abs(direction), strict=False):
        if abs(entry - 1) <= ROUNDED:
            return axis
    return ""


def of_part(factors: Array, part: str, dimension: int) -> Named:
    """Of a sum along and about axes that are fixed to a part, in its own frame."""
    shift, turn = factors[1 : 1 + dimension], factors[1 + dimension :]
    frame = Frame(shift, turn)
    if not frame.turns:
        return Named(f"p of {part}", f"momentum of {part} by itself along its own {vector_told(frame.direction)}")
    axis = _axis(frame.direction) or vector_told(frame.direction)
    about = "" if dimension == PLANE else f" about its own axis {axis}"
    through = f" through {vector_told(frame.place, 1.0)} of its frame" if np.abs(frame.place).max() > ROUNDED else ""
    on = f", {told(frame.advance)} m per radian" if abs(frame.advance) > ROUNDED else ""
    name = f"L of {part}" if dimension == PLANE else f"L of {part} about {axis}"
    return Named(name, f"angular momentum of {part} by itself{about}{through}{on}")


def in_place(factors: Array, part: str, names: Sequence[str]) -> Named:
    """Of a part about its first point, by axes of the world."""
    axis = _axis(factors[1:] / np.linalg.norm(factors[1:])) or vector_told(factors[1:])
    name = f"{written(factors[1:], names)} of {part}"
    return Named(name, f"angular momentum of {part} by itself about {axis}, through its first point")


def of_motion(factors: Array, dimension: int, part: str, points: Mapping[str, Array]) -> str:
    """A motion of the whole, or of a part by itself in its own frame: shifts along axes and turns about them, with how
    fast they are."""
    frame = Frame(factors[:dimension], factors[dimension:])
    who, own = (f"{part} by itself", " of its own") if part else ("all", "")
    if not frame.turns:
        return f"{who} moves at {vector_told(factors[:dimension])} m/s{own and ' in its own frame'}"
    speed = told(float(factors[dimension]) if dimension == PLANE else frame.speed)
    axis = "" if dimension == PLANE else f" about {_axis(frame.direction) or vector_told(frame.direction)}{own}"
    off = np.abs(frame.place).max() > ROUNDED
    where = f" through {frame.through(points)}" if not part or off else ""
    where = where.replace(" through", " about") if dimension == PLANE else where
    on = f", and moves on {told(frame.advance * frame.speed)} m/s" if abs(frame.advance) > ROUNDED else ""
    return f"{who} turns at {speed} rad/s{axis}{where}{on}"
