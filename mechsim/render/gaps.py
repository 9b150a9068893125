"""What meets at each gap of a mechanism, and how wide it is along a motion, by the formula that the gap has there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Literal

import numpy as np

from mechsim.frozen import frozen
from mechsim.lagrangian.formula import Formula, derivative, evaluated, symbol
from mechsim.model.mechanism import Element, Gap
from mechsim.render.curves import FUNCTIONS
from mechsim.render.frames import Frames
from mechsim.render.scene import Scene
from mechsim.result.layout import Array
from mechsim.spec.actions import Contact, Stop
from mechsim.spec.names import Distance, reference

Sort = Literal[
    "line",  # a point and the line through two others
    "pair",  # two points that stay apart, or together
    "level",  # a point and where an expression of its coordinates is zero
    "turn",  # the angle of a part
    "",  # anything else
]
NOWHERE = -1  # what gives way has no mode and no account of its own
ARM = 6.5  # widths of a part's skin
NEAR = 1e-6  # of the size of a coordinate: the step of a difference that stands for a derivative


@frozen(slots=False)
class Meeting:
    """A gap with what meets there. `points`: of a line the point that meets it and the two it goes through; of a pair
    both; of a level its point; of a turn the point at which the part turns."""

    scene: Scene
    gap: Gap
    sort: Sort
    points: tuple[str, ...]
    inside: bool = False  # of a pair: they stay together
    part: str = ""  # of a turn

    @property
    def element(self) -> Element:
        return self.scene.mechanism.elements[self.gap.element]

    @property
    def rows(self) -> tuple[Formula, ...]:
        law = self.scene.mechanism.laws[self.element.kind]
        return law.constraints or law.signals

    @cached_property
    def _row(self) -> Formula:
        return self.rows[0]

    @property
    def uses_time(self) -> bool:
        return self._row.uses("t")

    def moves(self, point: str) -> bool:
        return point not in self.scene.ground

    def width(self, frames: Frames, shifts: Mapping[int, Array] | None = None) -> Array:
        """How wide the gap is, (k,), also where it is closed; `shifts` move coordinates by their slots."""
        return self._value(self._row, frames, shifts or {})

    def _value(self, row: Formula, frames: Frames, shifts: Mapping[int, Array]) -> Array:
        mechanism, segments = self.scene.mechanism, self.scene.segments
        held = segments.constants(mechanism.constants, segments.at(frames.t))
        given: dict[str, Array] = {name: np.full(len(frames), value) for name, value in self.element.parameters.items()}
        for local, slot in enumerate(self.element.slots):
            own = frames.coordinates[:, slot] if slot >= 0 else held[:, -1 - slot]
            given[f"x{local}"] = own + shifts[slot] if slot in shifts else own
        given["t"] = frames.t
        with np.errstate(all="ignore"):
            value = evaluated(row, lambda leaf: given[symbol(leaf)], FUNCTIONS)
        return np.broadcast_to(np.asarray(value, float), frames.t.shape)

    def slope(self, frames: Frames, slot: int) -> Array:
        """By how much it widens with a coordinate, (k,): by its formula, or by a difference where that has functions
        whose derivatives are not known here."""
        names = {f"x{local}" for local, each in enumerate(self.element.slots) if each == slot}
        leaves = {leaf for leaf in self._row.leaves() if not leaf.is_number and symbol(leaf) in names}
        try:
            rows = [derivative(self._row, leaf) for leaf in leaves]
            return np.sum([np.zeros(len(frames)), *(self._value(row, frames, {}) for row in rows)], axis=0)
        except NotImplementedError:
            step = np.full(len(frames), NEAR * self.scene.mechanism.variables[slot].scale)
            wide, narrow = (self.width(frames, {slot: sign * step}) for sign in (1.0, -1.0))
            return np.asarray((wide - narrow) / (2 * step))

    def slopes(self, frames: Frames, point: str) -> Array:
        """The same of all coordinates of a point, (k, dimension): where a push of the contact drives it to."""
        slots = self.scene.mechanism.points[point]
        return np.stack([self.slope(frames, slot) if slot >= 0 else np.zeros(len(frames)) for slot in slots], axis=1)

    @property
    def pushed(self) -> str:
        """The point on which its force is drawn: the first that moves."""
        return next((point for point in self.points if self.moves(point)), "")

    def places(self, frames: Frames) -> Array:
        """Where it meets, (k, dimension); NaN where that is nowhere in particular."""
        if not self.points:
            return np.full((len(frames), self.scene.dimension), np.nan)
        first = frames.points[self.points[0]]
        if self.sort == "line":
            start, end = (frames.points[point] for point in self.points[1:])
            along = (end - start) / np.maximum(np.linalg.norm(end - start, axis=1, keepdims=True), 1e-300)
            left = np.column_stack([-along[:, 1], along[:, 0]])
            return first - ((first - start) * left).sum(axis=1, keepdims=True) * left
        if self.sort == "pair" and all(map(self.moves, self.points)):
            return np.asarray((first + frames.points[self.points[1]]) / 2)
        if self.sort == "turn":
            turned = self.closed_at(frames)
            along, edge = np.column_stack([np.cos(turned), np.sin(turned)]), self.side(frames) * self.scene.fleshoutwid
            return np.asarray(first + self.arm * along + edge * np.column_stack([-along[:, 1], along[:, 0]]))
        return frames.points[self.pushed or self.points[0]]

    def closed_at(self, frames: Frames) -> Array:
        """Of a turn in the plane: the direction from the joint that the part has when the gap is closed, (k,)."""
        slope = self.slope(frames, self.turned)
        way = frames.points[self._tip] - frames.points[self.points[0]]
        closed = np.arctan2(way[:, 1], way[:, 0]) - self.width(frames) / np.where(slope == 0, 1.0, slope)
        variables = self.scene.mechanism.variables
        angles = [slot for slot in set(self.element.slots) if slot >= 0 and variables[slot].kind == "angle"]
        alone = not self.uses_time and len(angles) == 1  # then it stands still, but for rounding
        return np.full_like(closed, closed[0]) if alone else closed

    def side(self, frames: Frames) -> float:
        """Of a turn: on which side of the part its stop is, 1 for the left one."""
        return -1.0 if self.slope(frames, self.turned)[0] > 0 else 1.0

    @property
    def turned(self) -> int:
        """Of a turn: the slot of its part's angle."""
        variables = self.scene.mechanism.variables
        return next(k for k, each in enumerate(variables) if (each.owner, each.kind) == (self.part, "angle"))

    @property
    def arm(self) -> float:
        """Of a turn: how far from the joint its stop is drawn."""
        body = next(body for body in self.scene.parts if body.name == self.part)
        local = dict(zip(body.points, body.local, strict=True))
        return min(0.45 * float(np.linalg.norm(local[self._tip] - local[self.points[0]])), ARM * self.scene.fleshoutwid)

    @property
    def _tip(self) -> str:
        """Of a turn: another point of the part than the joint."""
        body = next(body for body in self.scene.parts if body.name == self.part)
        return next((point for point in body.points if point != self.points[0]), body.points[0])


def meetings(scene: Scene) -> tuple[Meeting, ...]:
    """Of all gaps, in their order."""
    given = _given(scene)
    lent = {pair.name for pair in scene.mechanism.pairs}
    return tuple(
        Meeting(scene, gap, "", ()) if gap.name in lent else _meeting(scene, gap, given.get(gap.name))
        for gap in scene.mechanism.gaps
    )


def barriers(scene: Scene) -> tuple[Meeting, ...]:
    """Of all gaps, and of contacts that give way, which have none."""
    soft = [
        Gap(element.origin.name, number, NOWHERE, NOWHERE, 0.0)
        for number, element in enumerate(scene.mechanism.elements)
        if element.origin.sort == "soft contact"
    ]
    given = _given(scene)
    return (*meetings(scene), *(_meeting(scene, gap, given.get(gap.name)) for gap in soft))


def _given(scene: Scene) -> dict[str, Contact | Stop]:
    actions = scene.actions
    given: dict[str, Contact | Stop] = {each.name: each for each in actions.contacts}
    return given | {f"{stop.name} {side}": stop for stop in actions.stops for side in ("min", "max")}


def _meeting(scene: Scene, gap: Gap, given: Contact | Stop | None) -> Meeting:
    if gap.bond:
        own = next((bond.points for bond in scene.actions.bonds if bond.name == gap.name), ())
        return Meeting(scene, gap, "", own or tuple(_points(scene, scene.mechanism.elements[gap.element])))
    if isinstance(given, Contact) and len(given.points) in (2, 3):
        return Meeting(scene, gap, "line" if len(given.points) == 3 else "pair", given.points, given.inside)
    if isinstance(given, Stop) and given.quantity.text.strip() == "".join(given.quantity.names):
        quantity = reference(given.quantity.names[0])
        if isinstance(quantity, Distance):
            return Meeting(scene, gap, "pair", quantity.points, gap.name.endswith("max"))
    element = scene.mechanism.elements[gap.element]
    points, angles = tuple(_points(scene, element)), tuple(_angles(scene, element))
    if len(points) == 1 and not angles:
        return Meeting(scene, gap, "level", points)
    if angles and not points:
        part = next(body for body in scene.parts if body.name == angles[0])
        other = next((body.points for body in scene.parts if body.name in angles[1:]), tuple(scene.ground))
        joint = next((point for point in part.points if point in other), part.points[0])
        return Meeting(scene, gap, "turn", (joint,), part=part.name)
    return Meeting(scene, gap, "", points)


def _points(scene: Scene, element: Element) -> Iterator[str]:
    """Points that move, of whose coordinates a gap is made."""
    used = {slot for slot in element.slots if slot >= 0}
    return (name for name, slots in scene.mechanism.points.items() if used & set(slots))


def _angles(scene: Scene, element: Element) -> Iterator[str]:
    """Parts whose angles are in a gap."""
    bodies = {body.name for body in scene.parts}
    variables = [scene.mechanism.variables[slot] for slot in element.slots if slot >= 0]
    return (each.owner for each in variables if each.kind == "angle" and each.owner in bodies)
