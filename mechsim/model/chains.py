"""Kinematic chains: points that parts and joints hold together, each chain with a size, mass and energy of its own.

The ground and springs do not join chains. So a fixed point far away or a heavy body beside changes nothing about what
is small, what is light and what is exact in another chain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from mechsim.frozen import frozen
from mechsim.model.extent import extent
from mechsim.spec.actions import written
from mechsim.spec.document import MechSpec
from mechsim.spec.expression import Expression
from mechsim.spec.living import hypot
from mechsim.spec.names import TurnAngle, reference
from mechsim.spec.number import values_of
from mechsim.spec.scope import points_mentioned


@dataclass(slots=True)
class Chain:
    """The lengths and masses of one chain. Errors are judged relative to its size, work relative to its energy."""

    extents: list[float] = field(default_factory=list)  # of its rigid parts
    lengths: list[float] = field(default_factory=list)  # of springs and ropes
    ground: dict[str, tuple[float, ...]] = field(default_factory=dict)  # fixed points that it touches
    guesses: list[float] = field(default_factory=list)  # distances from the origin
    masses: list[float] = field(default_factory=list)
    stiffnesses: list[float] = field(default_factory=list)
    speeds: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    gravity: float = 0.0

    @property
    def size(self) -> float:
        """The largest length that the data gives, so it scales with the units: within a part, of a spring or rope,
        between fixed points. The sum of the parts bounds what counts: a point farther away only marks a direction.
        Without any length, the farthest guess from the origin."""
        lengths, reach = [*self.lengths, extent(self.ground.values())], sum(self.extents)
        if reach > 0:
            return max([*self.extents, *(length for length in lengths if length <= reach)])
        return max(lengths) or max(self.guesses, default=0.0) or 1.0

    @property
    def mass(self) -> float:
        return sum(self.masses)

    @property
    def energy(self) -> float:
        """Weights lifted by the size, springs stretched by a tenth of it, or the energy of motion."""
        size, mass = self.size, self.mass
        speed = max(map(abs, [*self.speeds, *(rate * size for rate in self.rates)]), default=0.0)
        springs = [stiffness * size**2 / 100 for stiffness in self.stiffnesses]
        return max([mass * self.gravity * size, mass * speed**2, *springs]) or mass * size**2 or 1.0


@frozen
class Typical:
    """What is typical of a chain, or of a whole mechanism."""

    size: float = 1.0
    mass: float = 0.0
    energy: float = 1.0


@frozen
class Chains:
    """What is typical of the chain of each moving point and each part that moves."""

    of: Mapping[str, Typical]

    @property
    def whole(self) -> Typical:
        """The largest of each."""
        return self.at(self.of)

    def at(self, names: Iterable[str]) -> Typical:
        """The largest of each among the chains of these points and parts; of the whole mechanism, if they have none."""
        found = [self.of[name] for name in names if name in self.of] or list(self.of.values())
        if not found:
            return Typical()
        return Typical(*(max(getattr(each, name) for each in found) for name in ("size", "mass", "energy")))


def chains_of(spec: MechSpec, moving: Iterable[str]) -> Chains:
    """The chains of a mechanism with these moving points."""
    sets = DisjointSets(moving)
    bonds = list(_bonds(spec))
    for bond in bonds:
        sets.join(bond)
    gravity = hypot(*values_of(spec.gravity)) if spec.gravity else 0.0
    chains = {root: Chain(gravity=gravity) for root in map(sets.root, sets.parents)}

    def touched(points: Iterable[str]) -> list[Chain]:
        return [chains[root] for root in dict.fromkeys(sets.root(name) for name in points if name in sets.parents)]

    for bond in (*bonds, *(set(spring.points) for spring in spec.springs)):
        fixed = {name: values_of(spec.fixed[name].coordinates) for name in bond if name in spec.fixed}
        for chain in touched(bond):
            chain.ground |= fixed
    _measure_parts(spec, touched)
    _measure_start(spec, touched)
    typical = {root: Typical(chain.size, chain.mass, chain.energy) for root, chain in chains.items()}
    anchors = {name: name for name in sets.parents}
    anchors |= {part.name: name for part in spec.rigids for name in part.points if name in sets.parents}
    return Chains({name: typical[sets.root(point)] for name, point in anchors.items()})


class DisjointSets:
    """Disjoint sets of names, as trees of parents."""

    def __init__(self, names: Iterable[str]):
        self.parents = {name: name for name in names}

    def root(self, name: str) -> str:
        while self.parents[name] != name:
            self.parents[name] = self.parents[self.parents[name]]
            name = self.parents[name]
        return name

    def join(self, names: Iterable[str]) -> None:
        roots = [self.root(name) for name in names if name in self.parents]
        self.parents.update(dict.fromkeys(roots, roots[0]) if roots else {})


def _measure_parts(spec: MechSpec, touched: Callable[[Iterable[str]], list[Chain]]) -> None:
    for part in spec.rigids:
        for chain in touched(part.points):
            chain.extents.append(extent(map(values_of, part.geometry)))
            chain.masses.append(part.mass.value)
    for spring in spec.springs:
        for chain in touched(spring.points):
            chain.lengths.append(spring.length.value)
            chain.masses.append(spring.mass.value)
            chain.stiffnesses.append(spring.stiffness.value)
    for rope in spec.actions.ropes:
        for chain in touched(rope.points):
            chain.lengths.append(rope.length.value)
    for particle in spec.particles:
        for chain in touched([particle.point]):
            chain.masses.append(particle.mass.value)


def _measure_start(spec: MechSpec, touched: Callable[[Iterable[str]], list[Chain]]) -> None:
    problem = spec.problem
    for name, guess in problem.positions.items():
        for chain in touched([name]):
            chain.guesses.append(hypot(*(value.number.value for value in guess if value)))
    for name, speeds in problem.velocities.items():
        for chain in touched([name]):
            chain.speeds += [value.number.value for value in speeds if value]
    points = {part.name: part.points for part in spec.rigids}
    for name, rate in problem.rates.items():
        for chain in touched(points.get(name, ())):
            chain.rates.append(rate.number.value)


def _bonds(spec: MechSpec) -> Iterator[set[str]]:
    """Points that a part or a joint holds together, fixed ones among them."""
    actions = spec.actions
    points = {part.name: set(part.points) for part in spec.rigids}
    yield from points.values()
    yield from (set(joint.points) for joint in spec.collinear)
    yield from (points[each.part] | set(each.line) for each in actions.sliders)
    yield from ({each.point, *each.line} for each in actions.slots)
    yield from (set(each.points) for each in actions.ropes)
    for each in actions.bonds:
        yield _named(each, spec, points).union(each.points, *(points[part] for part in each.parts))
    yield from (
        points[gear.part] | points[gear.other] | points.get(gear.carrier or "", set()) for gear in actions.gears
    )
    yield from (points[each.part] | set(each.line) for each in actions.rollings)
    yield from ({*each.first, *each.second} for each in actions.spatial)
    yield from (points[each.part] | points[each.other] for each in actions.welds)
    yield from ({each.point} | _named(each, spec, points) for each in actions.curves)
    terms = (*actions.holonomic, *actions.nonholonomic, *actions.drives)
    yield from (_named(term, spec, points) for term in terms)


def _named(item: object, spec: MechSpec, points: Mapping[str, set[str]]) -> set[str]:
    """The points that the expressions of a joint or drive name, also through signals and turn angles."""
    signals = {signal.name: signal.expression for signal in spec.actions.signals}
    waiting, seen, found = [each for each in written(item) if isinstance(each, Expression)], set(), set()
    while waiting:
        expression = waiting.pop()
        found |= points_mentioned(expression)
        for name in expression.names:
            if name in signals and name not in seen:
                seen.add(name)
                waiting.append(signals[name])
            elif isinstance(angle := reference(name), TurnAngle):
                found |= points.get(angle.part, set())
    return found
