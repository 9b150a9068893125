"""A first guess for every coordinate, from what the user gave and from the shape of the parts.

`initial/` starts its search here, so the guess need not satisfy the constraints, but it decides which way a mechanism
closes: points the user placed stay, the others follow from parts that have enough points placed already.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from functools import reduce
from heapq import heappop, heappush
from itertools import combinations
from math import cos, pi, sin
from operator import add

import numpy as np
from numpy.typing import NDArray

from mechsim.lagrangian.formula import Formula, evaluated, symbol
from mechsim.lagrangian.vector import PLANE, dot, labels, left, vector, vector_product
from mechsim.model.chains import DisjointSets
from mechsim.model.geometry import (
    Frame,
    Place,
    atan2,
    axis,
    beside,
    collinear,
    direction_at,
    frame_along,
    frame_between,
    frame_towards,
    line_meets_sphere,
    moved,
    norm,
    spheres_meet,
    swung,
    triad,
    turn_angle,
    turned_about,
    unit,
)
from mechsim.model.mechanism import Element, Mechanism, Part
from mechsim.model.order import canonical_order
from mechsim.spec.document import Problem, StartValue
from mechsim.spec.expression import MATH
from mechsim.spec.turning import HalfPlane, half_planes

# Parts hanging freely from one point fan out by this angle, so that their free ends do not coincide.
FAN = 0.35


def guess_positions(mechanism: Mechanism, problem: Problem) -> NDArray[np.float64]:
    """A value for every coordinate: the user's where given, else the rigid placement, else something near; always
    the same for the same mechanism, however it is told. Turn angles without a guess are their part's direction, in
    (-pi, pi]."""
    return placed(mechanism, problem).coordinates()


def placed(mechanism: Mechanism, problem: Problem) -> Placing:
    """All points placed; `choices` tells which of them could as well stand elsewhere."""
    placing = Placing(mechanism, problem)
    if mechanism.parts:  # nothing places the coordinates of a user's Lagrangian but their guesses
        placing.place_all()
    return placing


class Placing:
    """The work of placing points one after the other; a list of points just placed drives it, so it takes O(parts)."""

    def __init__(self, mechanism: Mechanism, problem: Problem):
        self.mechanism = mechanism
        self.problem = problem
        self.places: dict[str, Place] = {}
        self.choices: list[str] = []  # points with two places, and nothing that told which to take
        self.fresh: deque[str] = deque()  # placed, their parts not looked at yet
        self.held: deque[Part] = deque()  # parts with a placed point, first come first served
        self.down = down_direction(mechanism)
        self.local: Mapping[str, dict[str, Place]] = {
            part.name: {
                name: vector(map(_number, corner)) for name, corner in zip(part.points, part.geometry, strict=True)
            }
            for part in mechanism.parts
            if part.kind == "rigid"
        }
        parts = {part.name: part for part in mechanism.parts}
        self.welded: dict[str, list[tuple[Part, float]]] = {}  # what each part is welded to, and at which angle
        for weld in mechanism.welds:
            self.welded.setdefault(weld.part, []).append((parts[weld.other], weld.angle))
            self.welded.setdefault(weld.other, []).append((parts[weld.part], -weld.angle))
        self.rest = {
            element.owner: element.parameters["length"] for element in mechanism.elements if element.kind == "spring"
        }
        # Turn angles that are known: driven, or given, which counts more.
        known = {mechanism.variables[slot]: value for slot, value in mechanism.guesses.items()}
        self.angles = {variable.owner: value for variable, value in known.items() if variable.kind == "angle"}
        self.angles |= {part: value.number.value for part, value in problem.angles.items()}
        # Circles (spheres, in space) an unplaced point lies on: centre and radius.
        self.circles: dict[str, list[tuple[Place, float]]] = {}
        self.noted: dict[str, int] = {}  # which point had its first circle how early
        self.meeting: list[tuple[int, str]] = []  # points on two circles, a heap: the one noted first comes first

    def place_all(self) -> None:
        """Apply the surest rule that still places a point, until none is left."""
        given = self._given()
        if len(given) == len(self.mechanism.points):
            self.places = given
            return
        self._put_in_order()
        for name in self.order:
            if name in given:
                self._set(name, given[name])
        while len(self.places) < len(self.mechanism.points):
            self._follow_parts()
            if not (self._reach_line() or self._close_triangle() or self._hang() or self._slide() or self._scatter()):
                break

    def _put_in_order(self) -> None:
        """Points, parts and guides in an order that no name decides."""
        self.order = canonical_order(self.mechanism, self.problem)
        self.unplaced = iter(self.order)
        rank = {name: number for number, name in enumerate(self.order)}
        self.parts_at: dict[str, list[Part]] = {name: [] for name in self.order}
        for part in sorted(self.mechanism.parts, key=lambda part: sorted(rank[name] for name in part.points)):
            for name in part.points:
                self.parts_at[name].append(part)
        self.guides = sorted(self.mechanism.guides, key=lambda guide: [rank[n] for n in (guide.point, *guide.line)])
        self.turns = {guide.part: guide for guide in self.guides if guide.part}
        chains = DisjointSets(self.order)
        for part in self.mechanism.parts:
            chains.join(part.points)
        self.chain_of = {name: chains.root(name) for name in self.order}
        self.count_of: Counter[str] = Counter()

    def coordinates(self) -> NDArray[np.float64]:
        return np.array([float(number) for number in self.numbers()])

    def numbers(self) -> list[float]:
        """The same, living where numbers of the mechanism are."""
        mechanism, problem = self.mechanism, self.problem
        q = [0.0] * len(mechanism.variables)
        for name, slots in mechanism.points.items():
            if slots[0] >= 0:
                for slot, number in zip(slots, self.places.get(name, ()), strict=False):
                    q[slot] = number
                for slot, value in zip(slots, problem.positions.get(name, ()), strict=False):
                    q[slot] = value.number.value if value else q[slot]
        parts = {part.name: part for part in mechanism.parts}
        defining = defining_elements(mechanism)
        for index, variable in enumerate(mechanism.variables):
            if variable.kind == "coordinate":
                q[index] = mechanism.guesses.get(index, 0.0)
            elif variable.kind == "angle":
                known = self.angles.get(variable.owner)
                if known is not None:
                    q[index] = known
                elif index in defining:
                    q[index] = defined_angle(index, defining[index], mechanism, q)
                else:
                    q[index] = _direction(parts[variable.owner], mechanism, q)
        return q

    def _set(self, name: str, place: Place) -> None:
        if name not in self.places:
            self.places[name] = place
            self.fresh.append(name)
            self.circles.pop(name, None)
            self.count_of[self.chain_of[name]] += 1

    def _given(self) -> dict[str, Place]:
        """Fixed points, and points with a guess for each coordinate."""
        given = {}
        for name, slots in self.mechanism.points.items():
            guess = self.problem.positions.get(name, ())
            if slots[0] < 0:
                given[name] = vector(_number(self.mechanism.constants[-1 - slot]) for slot in slots)
            elif len(known := [value for value in guess if value]) == len(slots):
                given[name] = vector(_number(value.number.value) for value in known)
            elif all(slot in self.mechanism.guesses for slot in slots):
                given[name] = vector(_number(self.mechanism.guesses[slot]) for slot in slots)
        return given

    def _follow_parts(self) -> None:
        """Rigid parts with two points placed, or with one and a known direction, place all their points."""
        while self.fresh:
            new = self.fresh.popleft()
            for part in self.parts_at[new]:
                known = [name for name in part.points if name in self.places]
                if len(known) == len(part.points):
                    continue
                self.held.append(part)
                if part.kind == "rigid" and not self._place_rigid(part, known):
                    self._note_circles(part, new)

    def _place_rigid(self, part: Part, known: list[str]) -> bool:
        if (welded := self._welded(part)) is not None:
            self._put(part, known[0], welded)
            return True
        return self._place_planar(part, known) if len(self.down) == PLANE else self._place_spatial(part, known)

    def _welded(self, part: Part) -> Frame | None:
        """The frame of a part that is welded to one that is placed."""
        for other, turn in self.welded.get(part.name, ()):
            points = other.points[: len(self.down)]
            if all(name in self.places for name in points):
                frame = frame_of(other, self.places)
                return frame if len(frame) > PLANE else frame_along(swung(frame[0], turn))
        return None

    def _place_spatial(self, part: Part, known: list[str]) -> bool:
        """By three points that are placed; by two, turned about them as an angle tells, or as little as can be."""
        local = self.local[part.name]
        if part.name in self.problem.orientations:
            rotation = self.problem.orientations[part.name]
            self._put(part, known[0], tuple(vector(column) for column in zip(*rotation, strict=True)))
            return True
        p, q = max(combinations([*known, known[0]], 2), key=lambda pair: norm(local[pair[1]] - local[pair[0]]))
        if local[p] == local[q] or self.places[p] == self.places[q]:
            return False
        beside = next(
            (
                name
                for name in known
                if not collinear(*(self.places[each] for each in (p, q, name)))
                and not collinear(*(local[each] for each in (p, q, name)))
            ),
            None,
        )
        if beside:
            own, there = (triad(*(where[each] for each in (p, q, beside))) for where in (local, self.places))
            self._put(part, p, frame_between(own, there))
        elif (turned := self._turned_about(part, (p, q))) is not None:
            self._put(part, p, turned)
        else:
            self._put(part, p, frame_towards(local[q] - local[p], self.places[q] - self.places[p]))
        return True

    def _turned_about(self, part: Part, line: tuple[str, str]) -> Frame | None:
        """The frame of a part on an axis that is placed, by an angle that is given against what is placed too."""
        local = self.local[part.name]
        between = {key: angle for key, angle in self.angles.items() if "_" in key}
        for key, angle in between.items():
            for (start, end, moved_point), (_, _, still), turn in _both_ways(half_planes(key), angle):
                if {start, end} != set(line) or moved_point not in local or still not in self.places:
                    continue
                if collinear(local[start], local[end], local[moved_point]):
                    continue
                along, zero, _ = triad(self.places[start], self.places[end], self.places[still])
                side = turned_about(along, zero, turn)
                own = triad(local[start], local[end], local[moved_point])
                return frame_between(own, (along, side, vector_product(along, side)))
        return None

    def _place_planar(self, part: Part, known: list[str]) -> bool:
        local = self.local[part.name]
        p, q = max(combinations([*known, known[0]], 2), key=lambda pair: norm(local[pair[1]] - local[pair[0]]))
        if local[p] != local[q]:
            # Guesses may be off the part's true length; keep the length, take the direction.
            self._put(part, p, frame_towards(local[q] - local[p], self.places[q] - self.places[p]))
        elif part.name in self.angles:
            self._put(part, p, frame_along(direction_at(self.angles[part.name])))
        elif (along := self._direction_on_guide(part)) is not None:
            self._put(part, p, frame_along(along))
        else:
            return False
        return True

    def _direction_on_guide(self, part: Part) -> Place | None:
        """Of a part that slides on a line that is placed: as its angle says, not turned about."""
        guide = self.turns.get(part.name)
        if guide is None or not all(name in self.places for name in guide.line):
            return None
        line = self.places[guide.line[1]] - self.places[guide.line[0]]
        return swung(unit(line), guide.angle) if any(line) else None

    def _put(self, part: Part, anchor: str, frame: Frame) -> None:
        local = self.local[part.name]
        for name in part.points:
            self._set(name, self.places[anchor] + moved(frame, local[name] - local[anchor]))

    def _note_circles(self, part: Part, centre: str) -> None:
        local = self.local[part.name]
        for name in part.points:
            if name not in self.places:
                circles = self.circles.setdefault(name, [])
                circles.append((self.places[centre], norm(local[name] - local[centre])))
                if circles[-1][0] != circles[0][0]:
                    heappush(self.meeting, (self.noted.setdefault(name, len(self.noted)), name))
                self.noted.setdefault(name, len(self.noted))

    def _close_triangle(self) -> bool:
        """A point at known distances from two placed points stands where two circles meet: on the side of a given
        coordinate, else on the lower one."""
        while self.meeting:
            _, name = heappop(self.meeting)
            if name in self.circles:
                first, *others = self.circles[name]
                second = next(circle for circle in others if circle[0] != first[0])
                self._choose(name, spheres_meet(*first, *second, self.down))
                return True
        return False

    def _choose(self, name: str, choices: tuple[Place, Place]) -> None:
        guess = self.problem.positions.get(name, ())
        if choices[0] != choices[1] and not any(guess):
            self.choices.append(name)
        self._set(name, min(choices, key=lambda place: _unlikeness(place, guess, self.down)))

    def _open_lines(self) -> Iterator[tuple[str, Place, Place]]:
        """Points to be placed on a line that two placed points span: name, a point of the line, its direction."""
        for guide in self.guides:
            line = (*guide.line, guide.point)
            unplaced = [name for name in line if name not in self.places]
            if len(unplaced) == 1:
                first, second = (self.places[name] for name in line if name in self.places)
                if first != second:
                    way = second - first
                    aside = unplaced[0] == guide.point and guide.offset  # only lines of the plane have a left
                    yield unplaced[0], first + left(way) * aside / norm(way) if aside else first, way

    def _reach_line(self) -> bool:
        """A point of a line at a known distance from a placed point stands where line and circle meet."""
        for name, start, direction in self._open_lines():
            if name in self.circles:
                self._choose(name, line_meets_sphere(start, direction, *self.circles[name][0]))
                return True
        return False

    def _slide(self) -> bool:
        """A point that only a line holds stands on it, each next one a little further."""
        for name, start, direction in self._open_lines():
            self._set(name, start + direction * (0.5 + FAN * self._placed_beside(name)))
            return True
        return False

    def _placed_beside(self, name: str) -> int:
        """How many points that parts join to this one are placed: what stands elsewhere must not matter."""
        return self.count_of[self.chain_of[name]]

    def _hang(self) -> bool:
        """A part held at one point hangs down from it, a little aside; a spring at its rest length."""
        while self.held:
            part = self.held.popleft()
            known = [name for name in part.points if name in self.places]
            if len(known) == len(part.points):
                continue
            anchor = known[0]
            free = next(name for name in part.points if name not in self.places)
            if part.kind == "rigid":
                local, angle = self.local[part.name], FAN * (self._placed_beside(anchor) % 7 - 3)
                middle = reduce(add, local.values()) / len(local)
                arms = (middle - local[anchor], local[free] - local[anchor], axis(0, len(middle)))
                aside = self.down * cos(angle) + beside(self.down, self.down) * sin(angle)
                self._put(part, anchor, frame_towards(next(arm for arm in arms if any(arm)), aside))
            else:
                self._set(free, self.places[anchor] + self.down * (self.rest[part.name] or FAN * self.mechanism.size))
            return True
        return False

    def _scatter(self) -> bool:
        """Nothing holds the next point: put it on a spiral about the origin, where no other point is."""
        name = next((name for name in self.unplaced if name not in self.places), None)
        if name is not None:
            count, rest = len(self.places) + 1, len(self.down) - 2
            spiral = direction_at(count * pi * (3 - 5**0.5)) * (self.mechanism.size * count**0.5 / 2)
            self._set(name, vector([*spiral, *[0.0] * rest]))
        return name is not None


def frame_of(part: Part, places: Mapping[str, Place]) -> Frame:
    """Where the axes of a rigid part point, as its first points stand."""
    points = [places[name] for name in part.points[: len(places[part.points[0]])]]
    if len(points) == PLANE:
        return frame_along(unit(points[1] - points[0]))
    return triad(*points)


def _both_ways(planes: tuple[HalfPlane, HalfPlane], angle: float) -> list[tuple[HalfPlane, HalfPlane, float]]:
    """An angle as that of either side against the other."""
    turning, still = planes
    return [(turning, still, angle), (still, turning, -angle)]


def _number(value: float) -> float:
    """A float, living if it is."""
    return value if isinstance(value, float) else float(value)


def defining_elements(mechanism: Mechanism) -> dict[int, Element]:
    """Of turn angles about axes the element whose row is what they are."""
    return {
        slot: element
        for element in mechanism.elements
        if element.origin.sort == "angle"
        for slot in element.slots
        if slot >= 0 and mechanism.variables[slot].kind == "angle"
    }


def defined_angle(index: int, element: Element, mechanism: Mechanism, q: list[float]) -> float:
    """The turn angle that the points have, the variable of this index: its row is sine cos(angle) - cosine
    sin(angle)."""
    sine, cosine = (angle_row(index, element, mechanism, q, angle) for angle in (0.0, pi / 2))
    return atan2(sine, -cosine)


def angle_row(index: int, element: Element, mechanism: Mechanism, q: list[float], angle: float) -> float:
    """The row that defines a turn angle, with another value of the angle."""

    def value(leaf: Formula) -> float:
        if leaf.operation == "p":
            return element.parameters[symbol(leaf)]
        slot = element.slots[leaf.operands[0]]
        return angle if slot == index else q[slot] if slot >= 0 else mechanism.constants[-1 - slot]

    found: float = evaluated(mechanism.laws[element.kind].constraints[0], value, MATH)
    return found


def _direction(part: Part, mechanism: Mechanism, q: list[float]) -> float:
    """The turn angle of a part as its points stand."""
    slots = [mechanism.points[name] for name in part.points[:2]]
    first, second = (vector(q[s] if s >= 0 else mechanism.constants[-1 - s] for s in each) for each in slots)
    return turn_angle(second - first)


def _unlikeness(place: Place, guess: tuple[StartValue | None, ...], down: Place) -> tuple[float, float]:
    given = [(x, value.number.value) for x, value in zip(place, guess, strict=False) if value]
    return sum(abs(x - wanted) for x, wanted in given), -dot(place, down)


def down_direction(mechanism: Mechanism) -> Place:
    """The direction of gravity; without gravity, against the last axis, as drawings have it."""
    names = labels("g", mechanism.dimension)
    for element in mechanism.elements:
        gravity = vector(_number(element.parameters.get(name, 0.0)) for name in names)
        if any(gravity):
            return unit(gravity)
    return -axis(mechanism.dimension - 1, mechanism.dimension)
