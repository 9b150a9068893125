"""Names of the expression language as formulas over slots: points, angles, distances, signals, functions of time."""

from __future__ import annotations

from collections.abc import Mapping

from mechsim.model.book import Book, Forces, refuse_large
from mechsim.model.extent import distance
from mechsim.model.formula import (
    FUNCTIONS,
    TIME,
    Formula,
    coordinate,
    cos,
    formula,
    number,
    parameter,
    sin,
    sqrt,
    velocity,
)
from mechsim.model.layout import Layout
from mechsim.model.mechanism import Port
from mechsim.model.tables import piecewise, table
from mechsim.spec.actions import Input, Term
from mechsim.spec.document import MechSpec, Number, Rigid
from mechsim.spec.expression import CONSTANTS, MATH, Expression
from mechsim.spec.number import values_of

Pair = tuple[Formula, Formula]


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

    def add_inputs(self) -> None:
        """Every input is there to be set, also one that nothing uses."""
        for each in self.spec.actions.inputs:
            self.known[each.name] = self._input(each)

    def _input(self, given: Input) -> Formula:
        slots = [self.book.constant(given.start.value)]
        if given.linear:
            slots += [self.book.constant(0.0), self.book.constant(self.spec.problem.t0.value)]
        self.book.inputs[given.name] = Port(*(-1 - slot for slot in slots))
        value, *slope = map(coordinate, slots)
        return value + slope[0] * (TIME - slope[1]) if slope else value

    def of(self, expression: Expression, local: Mapping[str, Formula] = {}) -> Formula:
        """A user's expression as a formula; `local` are further names."""
        environment = {name: local[name] if name in local else self.named(name) for name in expression.names}
        return formula(expression.evaluate(environment, FUNCTIONS))

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
        if "." in name:
            point, attribute = name.split(".")
            pair = self.velocity(point) if attribute.startswith("v") else self.point(point)
            return pair["xy".index(attribute[-1])]
        if "(" in name:
            a, b = name[5:-1].split(",")
            return self.distance(a, b) if name.startswith("dist") else self.distance_rate(a, b)
        if name[:6] in ("theta_", "omega_"):
            return self.angle(name[6:]) if name.startswith("theta_") else self.turning(name[6:])
        return number(CONSTANTS[name])

    def _signal(self, signal: Term) -> Formula:
        tree = self.of(signal.expression)
        refuse_large(tree, f"signal {signal.name}", signal.mark)
        return tree

    def value(self, name: str, entry: Number) -> Formula:
        """A number of the file as a parameter of the element."""
        return parameter(name, entry.value)

    def point(self, name: str) -> Pair:
        x, y = (coordinate(slot) for slot in self.layout.points[name])
        return x, y

    def velocity(self, name: str) -> Pair:
        x, y = (velocity(slot) for slot in self.layout.points[name])
        return x, y

    def virtual_velocity(self, name: str) -> Pair:
        """The velocity of a point of a part that moves, as if no ground held it: rows then say what the part feels."""
        x, y = (Formula("v", (slot,)) for slot in self.layout.points[name])
        return x, y

    def carrier(self, *points: str) -> str:
        """The moving rigid part that has all these points; "" if none has, or the ground does."""
        if self.layout.is_fixed(*points):
            return ""
        holders = (part.name for part in self.holders[points[0]] if set(points) <= set(part.points))
        return next(holders, "")

    def difference(self, a: str, b: str) -> Pair:
        """From a to b."""
        (a_x, a_y), (b_x, b_y) = self.point(a), self.point(b)
        return b_x - a_x, b_y - a_y

    def velocity_difference(self, a: str, b: str) -> Pair:
        (a_x, a_y), (b_x, b_y) = self.velocity(a), self.velocity(b)
        return b_x - a_x, b_y - a_y

    def distance(self, a: str, b: str) -> Formula:
        length = self.fixed_distance(a, b)
        if length is not None:
            return parameter(f"dist({a},{b})", length)
        x, y = self.difference(a, b)
        return formula(sqrt(x**2 + y**2))

    def fixed_distance(self, a: str, b: str) -> float | None:
        """The distance of two points that cannot change it, if so: both fixed, or on one rigid part."""
        if self.layout.is_fixed(a, b):
            return distance(self.layout.fixed_position(a), self.layout.fixed_position(b))
        for part in self.holders[a]:
            if b in part.points:
                return distance(*(values_of(part.geometry[part.points.index(name)]) for name in (a, b)))
        return None

    def distance_rate(self, a: str, b: str) -> Formula:
        (x, y), (v_x, v_y) = self.difference(a, b), self.velocity_difference(a, b)
        if self.fixed_distance(a, b) is not None:
            return number(0)
        return (x * v_x + y * v_y) / self.distance(a, b)

    def direction(self, a: str, b: str) -> Pair:
        """The unit vector from a to b."""
        x, y = self.difference(a, b)
        length = self.distance(a, b)
        return x / length, y / length

    def frame(self, part: str, turn: float = 0.0) -> Pair:
        """The direction of a part's x axis, turned by a constant angle."""
        x, y = self.direction(*self.rigids[part].points[:2])
        if turn == 0:
            return x, y
        angle = parameter("turn", turn)
        return x * cos(angle) - y * sin(angle), x * sin(angle) + y * cos(angle)

    def angle(self, part: str) -> Formula:
        """The turn angle of a part; of one that cannot turn, its direction."""
        if part in self.layout.angles:
            return coordinate(self.layout.angles[part])
        a, b = (self.layout.fixed_position(name) for name in self.rigids[part].points[:2])
        return parameter(f"theta_{part}", MATH["atan2"](b[1] - a[1], b[0] - a[0]))

    def turning(self, part: str) -> Formula:
        return velocity(self.layout.angles[part]) if part in self.layout.angles else number(0)

    def relative_angle(self, part: str, against: str | None) -> Formula:
        return self.angle(part) - self.angle(against) if against else self.angle(part)

    def relative_turning(self, part: str, against: str | None) -> Formula:
        return self.turning(part) - self.turning(against) if against else self.turning(part)

    def torque(self, part: str, against: str | None, torque: Formula) -> Forces:
        """On one part, and back on the other. A part that cannot turn takes it silently."""
        sides = [(part, torque), (against or "", -torque)]
        return [(self.layout.angles[name], value) for name, value in sides if name in self.layout.angles]

    def acting(self, name: str, force: Formula) -> Forces:
        """The force of equal virtual power that acts on a quantity: theta_OA, A.x or dist(A,B)."""
        if name.startswith("theta_"):
            return self.torque(name[6:], None, force)
        if "." in name:
            point, axis = name.split(".")
            return [(self.layout.points[point]["xy".index(axis)], force)]
        a, b = name[5:-1].split(",")
        x, y = self.direction(a, b)
        slots = (*self.layout.points[b], *self.layout.points[a])
        return list(zip(slots, (force * x, force * y, -force * x, -force * y), strict=True))

    def rate_of(self, name: str) -> Formula:
        """The rate of a quantity."""
        if name.startswith("theta_"):
            return self.turning(name[6:])
        if "." in name:
            point, axis = name.split(".")
            return self.velocity(point)["xy".index(axis)]
        a, b = name[5:-1].split(",")
        return self.distance_rate(a, b)
