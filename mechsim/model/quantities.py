"""Names of the expression language as formulas over slots: points, angles, distances, signals, functions of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mechsim.lagrangian.formula import (
    FUNCTIONS,
    TIME,
    Formula,
    constant,
    coordinate,
    cos,
    formula,
    number,
    parameter,
    sin,
    sqrt,
    velocity,
)
from mechsim.lagrangian.vector import SPACE, Vector, dot, square, turned, vector
from mechsim.model.book import Book, Forces, refuse_large
from mechsim.model.extent import distance
from mechsim.model.layout import Layout
from mechsim.model.mechanism import Port
from mechsim.model.tables import piecewise, table
from mechsim.spec.actions import Input, Term
from mechsim.spec.document import MechSpec, Number, Rigid
from mechsim.spec.expression import CONSTANTS, IF, MATH, Expression
from mechsim.spec.names import AXES, Coordinate, Distance, Reference, TurnAngle, reference
from mechsim.spec.number import values_of
from mechsim.spec.turning import angle_key

Arrow = Vector[Formula]  # a place, a velocity, a force


class Quantities:
    """The values of all names of one mechanism. A function of time becomes constants and switches when first used."""

    def __init__(self, spec: MechSpec, layout: Layout, book: Book):
        self.spec = spec
        self.layout = layout
        self.book = book
        self.rigids: Mapping[str, Rigid] = {part.name: part for part in spec.rigids}
        self.holders: dict[str, list[Rigid]] = {name: [] for name in layout.points}  # the rigid parts at each point
        for part in spec.rigids:
            for name in part.points:
                self.holders[name].append(part)
        actions = spec.actions
        self.signals = {signal.name: signal for signal in actions.signals}
        self.tables = {each.name: each for each in actions.tables}
        self.pieces = {each.name: each for each in actions.piecewise}
        self.known: dict[str, Formula] = {}
        self.switches: dict[Formula, Formula] = {}  # what switches by its sign, and the constant that is its sign
        self._functions: dict[str, Callable[..., Formula]] = {**FUNCTIONS, "abs": self._size, "sign": self.sign}
        self._functions |= {"min": self._least, "max": self._most, IF: self._chosen}

    def add_inputs(self) -> None:
        """Every input is there to be set, also one that nothing uses."""
        for each in self.spec.actions.inputs:
            self.known[each.name] = self._input(each)

    def _input(self, given: Input) -> Formula:
        value = self.book.constant(given.start.value)
        if not given.degree:
            self.book.inputs[given.name] = Port(-1 - value)
            return coordinate(value)
        slopes = [self.book.constant(0.0) for _ in range(given.degree)]
        since = self.book.constant(self.spec.problem.t0.value)
        self.book.inputs[given.name] = Port(-1 - value, -1 - since, tuple(-1 - slope for slope in slopes))
        gone, total = TIME - coordinate(since), coordinate(slopes[-1])
        for slope in reversed(slopes[:-1]):
            total = coordinate(slope) + gone * total
        return coordinate(value) + total * gone

    def of(self, expression: Expression, local: Mapping[str, Formula] = {}) -> Formula:
        """A user's expression as a formula; `local` are further names."""
        environment = {name: local[name] if name in local else self.named(name) for name in expression.names}
        return formula(expression.evaluate(environment, self._functions))

    def sign(self, value: Formula | float, at_first: float = 1.0) -> Formula:
        """A constant that changes where the value crosses zero; of what never changes, its sign. `at_first` is what it
        is before anybody has looked at the start."""
        tree = formula(value)
        if not any(leaf.operation in "xvamt" for leaf in tree.leaves()):
            return parameter(f"sign {tree}", MATH["sign"](constant(tree)))
        if tree not in self.switches:
            self.switches[tree] = coordinate(self.book.constant(at_first))
        return self.switches[tree]

    def _size(self, value: Formula | float) -> Formula:
        tree = formula(value)
        return self.sign(tree) * tree

    def _chosen(self, condition: Formula | float, one: Formula | float, other: Formula | float) -> Formula:
        """The one where the condition is above zero, else the other: exactly, as its weight is 1 or 0."""
        weight = (1 + self.sign(condition)) / 2
        return weight * formula(one) + (1 - weight) * formula(other)

    def _most(self, one: Formula | float, other: Formula | float) -> Formula:
        return self._chosen(formula(one) - other, one, other)

    def _least(self, one: Formula | float, other: Formula | float) -> Formula:
        return self._chosen(formula(other) - one, one, other)

    def named(self, name: str) -> Formula:
        """The formula of a name. Signals that it needs come first, one by one: a chain of them may be long."""
        waiting = [name]
        while waiting:
            needed = [each for each in self._signals_within(waiting[-1]) if each not in self.known]
            if needed:
                waiting += needed
            elif (found := waiting.pop()) not in self.known:
                self.known[found] = self._named(found)
        return self.known[name]

    def _signals_within(self, name: str) -> list[str]:
        names = self.signals[name].expression.names if name in self.signals else ()
        return [used for used in names if used in self.signals]

    def _named(self, name: str) -> Formula:
        if name in self.spec.parameters:
            return parameter(name, self.spec.parameters[name].value)
        if name in self.signals:
            return self._signal(self.signals[name])
        if name in self.tables:
            return table(self.tables[name], self.spec.problem, self.book)
        if name in self.pieces:
            trees = [self.of(piece) for piece in self.pieces[name].pieces]
            return piecewise(self.pieces[name], trees, self.spec.problem, self.book)
        if name == "t":
            return TIME
        referred = reference(name)
        return number(CONSTANTS[name]) if referred is None else self.referred(referred)

    def referred(self, to: Reference) -> Formula:
        """A coordinate, distance or turn angle, or the rate of one."""
        match to:
            case Coordinate(point, axis, is_rate):
                return (self.velocity(point) if is_rate else self.point(point))[AXES.index(axis)]
            case Distance((a, b), is_rate):
                return self.distance_rate(a, b) if is_rate else self.distance(a, b)
            case TurnAngle(part, is_rate):
                return self.angular_velocity(part) if is_rate else self.angle(part)

    def _signal(self, signal: Term) -> Formula:
        tree = self.of(signal.expression)
        refuse_large(tree, f"signal {signal.name}", signal.mark)
        return tree

    def value(self, name: str, entry: Number) -> Formula:
        """A number of the file as a parameter of the element."""
        return parameter(name, entry.value)

    def point(self, name: str, side: str = "") -> Arrow:
        """`side`: as a point of this part, where a joint holds two that share it."""
        return vector(coordinate(slot, side) for slot in self.layout.points[name])

    def velocity(self, name: str, side: str = "") -> Arrow:
        return vector(velocity(slot, side) for slot in self.layout.points[name])

    def virtual_velocity(self, name: str) -> Arrow:
        """The velocity of a point of a part that moves, as if no ground held it: rows then say what the part feels."""
        return vector(Formula("v", (slot,)) for slot in self.layout.points[name])

    def carrier(self, *points: str) -> str:
        """The moving rigid part that has all these points; "" if none has, or the ground does."""
        if self.layout.is_fixed(*points):
            return ""
        holders = (part.name for part in self.holders[points[0]] if set(points) <= set(part.points))
        return next(holders, "")

    def difference(self, a: str, b: str) -> Arrow:
        """From a to b."""
        return self.point(b) - self.point(a)

    def velocity_difference(self, a: str, b: str) -> Arrow:
        return self.velocity(b) - self.velocity(a)

    def distance(self, a: str, b: str) -> Formula:
        length = self.fixed_distance(a, b)
        if length is not None:
            return parameter(f"dist({a},{b})", length)
        return formula(sqrt(square(self.difference(a, b))))

    def fixed_distance(self, a: str, b: str) -> float | None:
        """The distance of two points that cannot change it, if so: both fixed, or on one rigid part."""
        if self.layout.is_fixed(a, b):
            return distance(self.layout.fixed_position(a), self.layout.fixed_position(b))
        for part in self.holders[a]:
            if b in part.points:
                return distance(*(values_of(part.geometry[part.points.index(name)]) for name in (a, b)))
        return None

    def distance_rate(self, a: str, b: str) -> Formula:
        if self.fixed_distance(a, b) is not None:
            return number(0)
        return dot(self.difference(a, b), self.velocity_difference(a, b)) / self.distance(a, b)

    def direction(self, a: str, b: str) -> Arrow:
        """The unit vector from a to b."""
        return self.difference(a, b) / self.distance(a, b)

    def frame(self, part: str, turn: float = 0.0) -> Arrow:
        """The direction of a part's x axis, turned by a constant angle."""
        along = self.direction(*self.rigids[part].points[:2])
        if turn == 0:
            return along
        angle = parameter("turn", turn)
        return turned(along, Vector((cos(angle), sin(angle))))

    def angle(self, part: str) -> Formula:
        """The turn angle of a part; of one that cannot turn, its direction."""
        if part in self.layout.angles:
            return coordinate(self.layout.angles[part])
        a, b = (self.layout.fixed_position(name) for name in self.rigids[part].points[:2])
        return parameter(f"theta_{part}", MATH["atan2"](b[1] - a[1], b[0] - a[0]))

    def angular_velocity(self, part: str) -> Formula:
        return velocity(self.layout.angles[part]) if part in self.layout.angles else number(0)

    def relative_angle(self, part: str, against: str | None) -> Formula:
        """Of a part against another; in space of one half-plane against another, a coordinate of its own."""
        if self.spec.dimension == SPACE:
            return coordinate(self.layout.angles[angle_key(part, against)])
        return self.angle(part) - self.angle(against) if against else self.angle(part)

    def relative_angular_velocity(self, part: str, against: str | None) -> Formula:
        if self.spec.dimension == SPACE:
            return velocity(self.layout.angles[angle_key(part, against)])
        return self.angular_velocity(part) - self.angular_velocity(against) if against else self.angular_velocity(part)

    def torque(self, part: str, against: str | None, torque: Formula) -> Forces:
        """On one part, and back on the other. A part that cannot turn takes it silently."""
        if self.spec.dimension == SPACE:
            return [(self.layout.angles[angle_key(part, against)], torque)]
        sides = [(part, torque), (against or "", -torque)]
        return [(self.layout.angles[name], value) for name, value in sides if name in self.layout.angles]

    def generalised_force(self, on: Reference, force: Formula) -> Forces:
        """The force of equal virtual power that acts on a quantity."""
        match on:
            case TurnAngle(part):
                return self.torque(part, None, force)
            case Coordinate(point, axis):
                return [(self.layout.points[point][AXES.index(axis)], force)]
            case Distance((a, b)):
                along = self.direction(a, b)
                return [*self.point_force(b, force * along), *self.point_force(a, -force * along)]

    def point_force(self, point: str, force: Arrow) -> Forces:
        """A force at a point."""
        return list(zip(self.layout.points[point], force, strict=True))
