"""Motions of a whole along which momenta are looked for: how fast each coordinate goes along them.

Translations and rotations of all points; for a user's Lagrangian changes of its coordinates, each by itself or in
proportion to one; of one part by itself, those that are fixed to it; and what a user says, by signals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from mechsim.analysis.ground import Places
from mechsim.analysis.momenta import Balance
from mechsim.frozen import frozen
from mechsim.lagrangian.vector import AXES, PLANE
from mechsim.model.axis import NORMAL, TURNS, Axis, moments
from mechsim.model.mechanism import Mechanism, Part
from mechsim.result.layout import Array
from mechsim.result.orientation import frame_of

MOMENTUM, TURNING = "kg m/s", "kg m^2/s"
MOST_COORDINATES = 6  # of a Lagrangian, whose changes in proportion to coordinates are tried: their number is squared

Moved = tuple[Array, Array]  # generators and their rates along the motion, (states, coordinates, generators)


@frozen(eq=False)
class Family:
    """Generators whose sums are generators too. `names` are those of their momenta; the first `shifts` of them go
    straight on everywhere."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    shifts: int
    moved: Callable[[Places], Moved]
    part: str = ""  # which they are of by itself, if not of the whole


def axes_of_turns(dimension: int) -> tuple[Axis, ...]:
    """The normal of the plane, or the three axes of space."""
    if dimension == PLANE:
        return (NORMAL,)
    return tuple(Axis((float(k == 0), float(k == 1), float(k == 2))) for k in range(len(TURNS)))


def whole(mechanism: Mechanism) -> Family:
    """All points together: along each axis, then about each axis through the origin."""
    dimension = mechanism.dimension
    turns = axes_of_turns(dimension)
    along = tuple(f"p_{axis}" for axis in AXES[:dimension])
    about = ("L",) if dimension == PLANE else tuple(f"L_{axis}" for axis in AXES)
    units = (MOMENTUM,) * dimension + (TURNING,) * len(turns)

    def moved(places: Places) -> Moved:
        found, rates = _nothing(places, dimension + len(turns))
        for slots in places.points.values():
            own = list(slots)
            for axis in range(dimension):
                found[:, own[axis], axis] = 1.0
            for k, turn in enumerate(turns, dimension):
                found[:, own, k] = turn.across(places.q[:, own])
                rates[:, own, k] = turn.across(places.v[:, own])
        return found, rates

    return Family((*along, *about), units, dimension, moved)


def of_part(part: Part, mechanism: Mechanism) -> Family:
    """One part by itself, along and about the axes of its own frame, which has its origin at its first point."""
    dimension = mechanism.dimension
    count = len(axes_of_turns(dimension))

    def moved(places: Places) -> Moved:
        found, rates = _nothing(places, dimension + count)
        frame, spin = _frame(part, places)
        turned = np.stack([_turned(spin, frame[..., k]) for k in range(dimension)], axis=-1)
        first = list(places.points[part.points[0]])
        for name in part.points:
            own = list(places.points[name])
            arm, moving = (values[:, own] - values[:, first] for values in (places.q, places.v))
            found[:, own, :dimension], rates[:, own, :dimension] = frame, turned
            if dimension == PLANE:
                found[:, own, dimension], rates[:, own, dimension] = NORMAL.across(arm), NORMAL.across(moving)
                continue
            axes, turning = (each.swapaxes(1, 2) for each in (frame, turned))
            about = moments(axes, arm[:, None]), moments(turning, arm[:, None]) + moments(axes, moving[:, None])
            found[:, own, dimension:], rates[:, own, dimension:] = (each.swapaxes(1, 2) for each in about)
        return found, rates

    names = tuple(f"{word}{k}" for word, each in (("p", dimension), ("L", count)) for k in range(each))
    return Family(names, (MOMENTUM,) * dimension + (TURNING,) * count, dimension, moved, part.name)


def in_place(part: Part, mechanism: Mechanism) -> Family:
    """One part by itself about its first point, by the axes of the world: in space a ball that rolls keeps a spin."""
    turns = axes_of_turns(mechanism.dimension)

    def moved(places: Places) -> Moved:
        found, rates = _nothing(places, len(turns))
        first = list(places.points[part.points[0]])
        for name in part.points:
            own = list(places.points[name])
            arm, moving = (values[:, own] - values[:, first] for values in (places.q, places.v))
            for k, axis in enumerate(turns):
                found[:, own, k], rates[:, own, k] = axis.across(arm), axis.across(moving)
        return found, rates

    return Family(tuple(f"L_{axis}" for axis in AXES), (TURNING,) * len(turns), 0, moved, part.name)


def has_frame(part: Part, dimension: int) -> bool:
    """Whether axes turn with it: a rod in space has none."""
    if part.kind != "rigid":
        return False
    return dimension == PLANE or any(abs(y) > 0 for _, *others in part.geometry[2:3] for y in others[:1])


def _frame(part: Part, places: Places) -> tuple[Array, Array]:
    """The axes of a part, (states, dimension, axes), and how fast it turns."""
    mechanism = places.mechanism
    if mechanism.dimension != PLANE:
        return frame_of(part, mechanism, places.q, places.v)
    a, b = (list(mechanism.points[name]) for name in part.points[:2])
    length = part.geometry[1][0]
    along, turning = ((values[:, b] - values[:, a]) / length for values in (places.q, places.v))
    side = NORMAL.across(along)
    return np.stack([along, side], axis=-1), (side * turning).sum(axis=1)


def _turned(spin: Array, vector: Array) -> Array:
    """The rate of a vector that turns."""
    return spin[:, None] * NORMAL.across(vector) if spin.ndim == 1 else moments(spin, vector)


def of_coordinates(mechanism: Mechanism) -> Family:
    """Of a user's Lagrangian: each coordinate by itself, and, of few, each in proportion to each."""
    names = tuple(variable.label for variable in mechanism.variables if variable.kind != "state")
    n = len(names)
    pairs = list(product(range(n), repeat=2)) if n <= MOST_COORDINATES else []

    def moved(places: Places) -> Moved:
        found, rates = _nothing(places, n + len(pairs))
        for k in range(n):
            found[:, k, k] = 1.0
        for k, (by, goes) in enumerate(pairs, n):
            found[:, goes, k], rates[:, goes, k] = places.q[:, by], places.v[:, by]
        return found, rates

    products = tuple(f"{names[by]}*p_{names[goes]}" for by, goes in pairs)
    labels = (*(f"p_{name}" for name in names), *products)
    return Family(labels, ("",) * len(labels), n, moved)


@frozen
class Asked:
    """A generator of a user's: of some coordinates (those of fixed points are slots below 0), an element that tells
    how fast they go, and the number of its signal."""

    name: str
    slots: tuple[int, ...]
    readouts: tuple[tuple[int, int], ...]

    @property
    def elements(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(element for element, _ in self.readouts))


def of_user(asked: Sequence[Asked]) -> Family:
    def moved(balance: Places) -> Moved:
        assert isinstance(balance, Balance)  # what is asked for is told by elements
        found, rates = _nothing(balance, len(asked))
        for k, each in enumerate(asked):
            for slot, (element, number) in zip(each.slots, each.readouts, strict=True):
                value, rate = balance.signals(element)
                place = balance.loosened.place(slot)
                found[:, place, k], rates[:, place, k] = value[:, number], rate[:, number]
        return found, rates

    return Family(tuple(each.name for each in asked), ("",) * len(asked), 0, moved)


def _nothing(places: Places, count: int) -> Moved:
    shape = (*places.q.shape, count)
    return np.zeros(shape, places.q.dtype), np.zeros(shape, places.q.dtype)
