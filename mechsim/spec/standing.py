"""Orientations and spins of parts as start values of their points.

A part that stands as asked has all its points where they are relative to one of them, its base. To hold it so, two
coordinates of a second point and one of a third are held: those that the rigidity of the part decides least; it then
decides the others. So nothing after this knows of orientations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mechsim.errors import Mark
from mechsim.spec.document import FixedPoint, Rigid, StartValue
from mechsim.spec.living import plain
from mechsim.spec.names import SPACE
from mechsim.spec.number import Number, values_of
from mechsim.spec.orientation import Matrix, Orientation, Spin
from mechsim.spec.parts import Parts
from mechsim.spec.records import Entry
from mechsim.spec.shapes import Reading

Triple = tuple[float, ...]
Given = dict[str, tuple[StartValue | None, ...]]
AXES = range(SPACE)


@dataclass(slots=True)
class Standing:
    """What is asked of the parts of a file; `positions` and `velocities` of points are added to."""

    parts: Parts
    reading: Reading
    positions: Given
    velocities: Given
    rotations: dict[str, Matrix]

    def stand(self, entry: Entry) -> None:
        """An orientation: where points of the part are, as far as one of them is known."""
        user, asked = f"orientations.{entry.name}", entry.value
        part = self._body(entry, entry.name, user)
        if part is None or not isinstance(asked, Orientation):
            return
        self.rotations[part.name] = asked.rotation
        base = self._base(part, self.positions, asked.fixed)
        if base is None:
            if asked.fixed:
                hint = (
                    f"fix one of its points too: positions: {{{part.points[0]}: [[0, fixed], [0, fixed], [0, fixed]]}}"
                )
                self.reading.fault(f"{user} is fixed, but no point of {part.name} is", asked.mark, hint)
            return
        there = {name: _sum(self._place(base), arm) for name, arm in self._arms(part, base).items()}
        self._give(part, base, there, self.positions, asked.fixed, asked.mark, user)

    def spin(self, entry: Entry) -> None:
        """An angular velocity: velocities of points about one that is known."""
        name = entry.name.rpartition(".")[2].strip()
        user, asked = f"spins.{entry.name}", entry.value
        part = self._body(entry, name, user)
        if part is None or not isinstance(asked, Spin):
            return
        if part.name not in self.rotations:
            first, second, third = part.points[:3]
            hint = (
                f"write orientations: {{{part.name}: {{quaternion: [1, 0, 0, 0]}}}} if {first}{second} is along x and "
                f"{third} beside it towards y; else how it is turned, or velocities of its points instead of the spin"
            )
            message = f"{user} says how {part.name} turns, but no orientation says how it stands"
            self.reading.fault(message, asked.mark, hint)
            return
        rates = _product(self.rotations[part.name], asked.rates) if "." in entry.name else asked.rates
        base = self._base(part, self.velocities, asked.fixed)
        if base is None:
            hint = (
                f"fix one of its velocities too: velocities: {{{part.points[0]}: [[0, fixed], [0, fixed], [0, fixed]]}}"
            )
            self.reading.fault(f"{user}: the velocity of no point of {part.name} is known", asked.mark, hint)
            return
        start = self._velocity(base)
        moving = {name: _sum(start, _cross(rates, arm)) for name, arm in self._arms(part, base).items()}
        self._give(part, base, moving, self.velocities, asked.fixed, asked.mark, user)

    def _body(self, entry: Entry, name: str, user: str) -> Rigid | None:
        if self.reading.dimension != SPACE:
            hint = "a part of the plane has one turn angle: write it under angles, or rates"
            self.reading.fault(f"{user} is about space, but the dimension is 2", entry.mark, hint)
            return None
        if not self.parts.known_rigid(name, entry.mark, user, self.reading):
            return None
        part = next((each for each in self.parts.rigids if each.name == name), None)
        if part and part.is_rod:
            hint = "its points are on one line: give positions or velocities of its ends"
            self.reading.fault(f"{user}: {name} is a rod", entry.mark, hint)
            return None
        return part

    def _base(self, part: Rigid, given: Given, held: bool) -> str | None:
        """A point that is known: fixed in the world, or else given; `held`: and not only guessed."""
        fixed = [name for name in part.points if name in self.parts.fixed_names]
        whole = [name for name in part.points if all(given.get(name, (None,)))]
        firm = [name for name in whole if all(value and value.fixed for value in given[name])]
        return next(iter([*fixed, *firm, *([] if held else whole)]), None)

    def _place(self, base: str) -> Triple:
        known: Mapping[str, FixedPoint] = self.parts.fixed
        if base in known:
            return values_of(known[base].coordinates)
        return tuple(value.number.value if value else 0.0 for value in self.positions[base])

    def _velocity(self, base: str) -> Triple:
        if base in self.parts.fixed_names:
            return (0.0,) * SPACE
        return tuple(value.number.value if value else 0.0 for value in self.velocities[base])

    def _arms(self, part: Rigid, base: str) -> dict[str, Triple]:
        """From the base to each other point, in the world."""
        corners = dict(zip(part.points, map(values_of, part.geometry), strict=True))
        start = corners.pop(base)
        rotation = self.rotations[part.name]
        return {name: _product(rotation, _difference(place, start)) for name, place in corners.items()}

    def _give(
        self, part: Rigid, base: str, values: Mapping[str, Triple], given: Given, held: bool, mark: Mark, user: str
    ) -> None:
        """Start values of all points but the base, held where that holds the part."""
        fixed = _holding(self._arms(part, base)) if held else set()
        for name, triple in values.items():
            if name in self.parts.fixed_names:
                continue
            if name in given and held:
                hint = "leave one of them out: the part carries the point"
                self.reading.fault(f"{user} is fixed, and the point {name} of {part.name} is given too", mark, hint)
            elif name not in given:
                numbers = [Number(value, f"{plain(value):g}", mark) for value in triple]
                given[name] = tuple(
                    StartValue(each, (name, axis) in fixed) for axis, each in zip(AXES, numbers, strict=True)
                )


def _holding(arms: Mapping[str, Triple]) -> set[tuple[str, int]]:
    """Which coordinates hold a part at its base: of one point all but the one that its length decides best, of a second
    one that its distances to both do not decide."""
    names = sorted(arms, key=lambda name: -_size(arms[name]))
    second = names[0]
    d = arms[second]
    third = max(names[1:], key=lambda name: _size(_cross(d, arms[name])))
    along = max(AXES, key=lambda axis: abs(plain(d[axis])))
    across = _cross(d, arms[third])
    beside = max(AXES, key=lambda axis: abs(plain(across[axis])))
    return {(second, axis) for axis in AXES if axis != along} | {(third, beside)}


def _size(a: Triple) -> float:
    return sum(plain(each) ** 2 for each in a)


def _sum(a: Triple, b: Triple) -> Triple:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _difference(a: Triple, b: Triple) -> Triple:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def _cross(a: Triple, b: Triple) -> Triple:
    (x, y, z), (u, v, w) = a, b
    return y * w - z * v, z * u - x * w, x * v - y * u


def _product(matrix: Matrix, a: Triple) -> Triple:
    return tuple(sum(x * y for x, y in zip(row, a, strict=True)) for row in matrix)
