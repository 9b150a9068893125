"""Which numbers describe the mechanism: coordinates, turn angles and states, and the constants of fixed points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mechsim.errors import Mark
from mechsim.frozen import frozen
from mechsim.lagrangian.vector import PLANE, SPACE, labels
from mechsim.model.axis import NORMAL
from mechsim.model.chains import Chains, Typical, chains_of
from mechsim.model.mechanism import Variable
from mechsim.spec.actions import Actions, SpatialJoint
from mechsim.spec.document import MechSpec
from mechsim.spec.names import TurnAngle, reference
from mechsim.spec.turning import angle_key


@frozen
class Layout:
    """The coordinate vector of a mechanism and where each point and turn angle stands in it."""

    dimension: int
    variables: tuple[Variable, ...]
    constants: tuple[float, ...]
    points: Mapping[str, tuple[int, ...]]
    angles: Mapping[str, int]  # by part; in space by the two half-planes between which it is (spec/turning.py)
    chains: Chains

    def slots(self, *names: str) -> tuple[int, ...]:
        return tuple(slot for name in names for slot in self.points[name])

    def is_fixed(self, *names: str) -> bool:
        return all(slot < 0 for slot in self.slots(*names))

    @property
    def size(self) -> float:
        """A length typical of the whole mechanism."""
        return self.chains.whole.size

    def typical(self, slots: Iterable[int]) -> Typical:
        """What is typical of the chains that these coordinates belong to."""
        return self.chains.at(self.variables[slot].owner for slot in slots if 0 <= slot < len(self.variables))

    def fixed_position(self, name: str) -> tuple[float, ...]:
        return tuple(self.constants[-1 - slot] for slot in self.points[name])


def lay_out(spec: MechSpec) -> Layout:
    """The seed's order (section 4.2): moving points, then turn angles, each in lexicographic order; then states."""
    moving = sorted(point_names(spec) - set(spec.fixed))
    angles = sorted(turning_parts(spec))
    chains = chains_of(spec, moving)
    variables = [
        Variable(label, point, "position", chains.of[point].size)
        for point in moving
        for label in labels(point, spec.dimension)
    ]
    points = {point: _run(spec.dimension * k, spec.dimension) for k, point in enumerate(moving)}
    for k, point in enumerate(spec.fixed):
        points[point] = tuple(-1 - slot for slot in _run(spec.dimension * k, spec.dimension))
    angle_slots = {part: len(variables) + k for k, part in enumerate(angles)}
    axis = NORMAL if spec.dimension == PLANE else None
    variables += [Variable(f"theta_{part}", part, "angle", 1.0, axis=axis) for part in angles]
    constants = tuple(number.value for point in spec.fixed.values() for number in point.coordinates)
    return Layout(spec.dimension, tuple(variables), constants, points, angle_slots, chains)


def point_names(spec: MechSpec) -> set[str]:
    """Every point of a part."""
    names = {particle.point for particle in spec.particles}
    names.update(*(part.points for part in spec.rigids), *(spring.points for spring in spec.springs))
    return names


def turning_parts(spec: MechSpec) -> set[str]:
    """Parts whose turn angle is a coordinate (seed 001 section 4.3), if they can turn at all; in space pairs of
    half-planes."""
    if spec.dimension == SPACE:
        return _turning_planes(spec)
    named = {name for torque in spec.torques for name in (torque.part, torque.against) if name}
    named |= _turned(spec.actions)
    named |= {*spec.problem.angles, *spec.problem.rates, *(spec.solver.outfile.angles or ())}
    named |= accelerated_angles(spec)
    return {part.name for part in spec.rigids if part.name in named and not set(part.points[:2]) <= set(spec.fixed)}


def _turning_planes(spec: MechSpec) -> set[str]:
    named = {name for expression in spec.actions.expressions() for name in expression.names}
    angles = {angle.part for angle in map(reference, named) if isinstance(angle, TurnAngle)}
    return angles | {*marks_of_angles(spec), *(spec.solver.outfile.angles or ())} | accelerated_angles(spec)


def accelerated_angles(spec: MechSpec) -> set[str]:
    """Turn angles whose accelerations or jerks the file asks for, by part."""
    asked = *spec.output.accelerations, *spec.output.jerks
    return {angle.part for angle in map(reference, asked) if isinstance(angle, TurnAngle)}


def marks_of_angles(spec: MechSpec) -> dict[str, Mark]:
    """In space: turn angles that stand in the file as pairs of half-planes, or are driven, and where: best where their
    value is given."""
    actions, problem = spec.actions, spec.problem
    marks = dict(torques_about_axes(spec))
    marks |= {angle_key(*screw_angle(each)): each.mark for each in actions.spatial if each.sort == "screw"}
    marks |= {key: start.number.mark for key, start in (*problem.rates.items(), *problem.angles.items())}
    for drive in actions.drives:
        named = [angle.part for angle in map(reference, drive.quantity.names) if isinstance(angle, TurnAngle)]
        marks |= dict.fromkeys(named, drive.mark)
    return marks


def torques_about_axes(spec: MechSpec) -> list[tuple[str, Mark]]:
    """In space: the angles on which torques, springs, dampers, friction and controllers act, and where they stand."""
    actions = spec.actions
    found = [(each.part, each.against, each.mark) for each in spec.torques]
    found += [(each.part, each.against, each.mark) for each in actions.torques]
    found += [(each.part, each.against, each.mark) for each in actions.torsion_springs]
    found += [(each.part, each.against, each.mark) for each in actions.frictions if each.part]
    controlled = [(reference(name), each.mark) for each in actions.controllers for _, name in each.actuated]
    moved = [(angle.part, mark) for angle, mark in controlled if isinstance(angle, TurnAngle)]
    return [*((angle_key(part, against), mark) for part, against, mark in found), *moved]


def screw_angle(screw: SpatialJoint) -> tuple[str, str]:
    """The half-planes between which a thread CDE-ABF turns: of E and of F, about AB."""
    axis = "".join(screw.second[:2])
    return axis + screw.first[2], axis + screw.second[2]


def _turned(actions: Actions) -> set[str]:
    """Parts whose angle an expression names, or whose law needs it."""
    pairs: list[tuple[str | None, ...]] = [(each.part, each.against) for each in actions.torques]
    pairs += [(each.part, each.against) for each in actions.torsion_springs]
    pairs += [(each.part, each.against) for each in actions.frictions]
    pairs += [(each.part, each.other, each.carrier) for each in actions.gears]
    pairs += [(each.part, each.rack) for each in actions.rollings]
    pairs += [each.parts for each in actions.bonds if len(each.parts) == 2]
    names = {name for expression in actions.expressions() for name in expression.names}
    named = {angle.part for angle in map(reference, names) if isinstance(angle, TurnAngle)}
    return named | {name for pair in pairs for name in pair if name}


def _run(start: int, count: int) -> tuple[int, ...]:
    return tuple(range(start, start + count))
