"""What a file says that may not be meant: one function per note, each silent unless it applies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import hypot, isclose, pi

from mechsim.errors import Note
from mechsim.lagrangian.formula import Formula, constant
from mechsim.model.extent import distance, extent
from mechsim.model.quantities import Quantities
from mechsim.spec.actions import written
from mechsim.spec.document import MechSpec, Rigid
from mechsim.spec.expression import Expression
from mechsim.spec.names import POINT, SPACE, TurnAngle, reference
from mechsim.spec.number import values_of
from mechsim.spec.scope import POSITION

# A machine drawn in millimetres: parts of 20 mm to 5 m, of less than 100 g for what would be a metre.
MILLIMETRES = (20.0, 5000.0)
LIGHTEST = 0.1  # kg/m
# Gravity in mm/s^2 is 9810: then all is told in millimetres, and rightly so.
EARTH = 100.0
TURN = 2 * pi
MANY_TURNS = 20.0  # rad: no swing goes so far to and fro
ROUND_DEGREES = 45.0  # speeds that are whole multiples of this many rad/s are rare
SAMPLES = 200
WIDEST = 10.0  # a part with more than this many times the radius of its points is perhaps told in other units
APART = 1e-3  # gears whose centres are off by a larger share are not drawn as they mesh


def notes_of(spec: MechSpec, quantities: Quantities) -> tuple[Note, ...]:
    """All that apply, in a fixed order."""
    return (
        *like_millimetres(spec),
        *attached_to_nothing(spec),
        *angles_like_degrees(spec),
        *motions_like_degrees(quantities),
        *never_used(spec),
        *gears_apart(spec),
        *gravity_upwards(spec),
        *gravity_of_the_plane(spec),
        *large_inertia(spec),
    )


def gravity_upwards(spec: MechSpec) -> Iterator[Note]:
    """Straight up, as when a sign is missing."""
    *aside, up = spec.gravity or (0.0,)
    if float(up) > 0 and not any(map(float, aside)):
        down = ", ".join(["0"] * len(aside) + [f"{-float(up):g}"])
        yield Note(f"gravity points up: down is [{down}]", getattr(up, "mark", None))


def gravity_of_the_plane(spec: MechSpec) -> Iterator[Note]:
    """A list of two in space, whose second is downward in the plane; what is left out stands where its list begins."""
    if len(spec.gravity or ()) != SPACE:
        return
    first, second, third = spec.gravity or ()
    if float(second) and (third.mark.line, third.mark.column) < (first.mark.line, first.mark.column):
        down = f"{float(second):g}"
        words = f"write [0, 0, {down}], or [{float(first):g}, {down}, 0] if that is meant"
        yield Note(f"gravity acts along y, which is level where +z is upward: {words}", second.mark)


def large_inertia(spec: MechSpec) -> Iterator[Note]:
    """A body within a distance r of its centroid has at most m r^2, but may be wider than its points, as a wheel is."""
    for part in spec.rigids:
        centroid = values_of(part.centroid)
        reach = max(distance(values_of(place), centroid) for place in part.geometry)
        mass, inertia = float(part.mass), max(map(float, part.inertia[:3]))
        if mass > 0 and inertia > WIDEST**2 * mass * reach**2:
            radius = (inertia / mass) ** 0.5
            yield Note(
                f"{part.name} has {inertia:g} kg m^2 about its centroid: {mass:g} kg at a distance of {radius:.4g} m, "
                f"but its points are within {reach:.4g} m",
                part.inertia[0].mark,
            )


def like_millimetres(spec: MechSpec) -> Iterator[Note]:
    lengths = {part.name: extent(map(values_of, part.geometry)) for part in spec.rigids}
    masses = [part.mass for part in spec.rigids] + [particle.mass for particle in spec.particles]
    mass = sum(map(float, [*masses, *(spring.mass for spring in spec.springs)]))
    gravity = hypot(*map(float, spec.gravity)) if spec.gravity else 0.0
    longest = max(lengths, key=lengths.__getitem__, default="")
    if not longest or not MILLIMETRES[0] <= lengths[longest] <= MILLIMETRES[1]:
        return
    if 0 < mass < LIGHTEST * sum(lengths.values()) and gravity < EARTH:
        mark = next(part.mark for part in spec.rigids if part.name == longest)
        yield Note(
            f"{longest} is {lengths[longest]:g} m long, and all parts together have {mass:g} kg: "
            "if these are millimetres, write metres (300 mm is 0.3)",
            mark,
        )


def attached_to_nothing(spec: MechSpec) -> Iterator[Note]:
    """Parts that nothing holds or moves, beside others that something does: perhaps a point has the wrong name."""
    parts = [(part.name, set(part.points), part.mark) for part in spec.rigids]
    parts += [(spring.name, set(spring.points), spring.mark) for spring in spec.springs]
    on_parts = set().union(*(points for _, points, _ in parts))
    parts += [
        (f"particle {each.point}", {each.point}, each.mark) for each in spec.particles if each.point not in on_parts
    ]
    held = set(spec.fixed) | set(_mentioned((spec.actions, spec.collinear, spec.forces, spec.torques)))
    held |= {name for name, count in Counter(name for _, points, _ in parts for name in points).items() if count > 1}
    loose = [(name, mark) for name, points, mark in parts if not points & held]
    if len(loose) < len(parts) and spec.actions.central_gravity is None:
        for name, mark in loose:
            yield Note(
                f"{name} is attached to nothing: it has no point in common with a part, a joint or the ground", mark
            )


def _mentioned(records: object) -> Iterator[str]:
    """Points whose names stand anywhere in these records."""
    for each in written(records):
        for name in (each,) if isinstance(each, str) else each.names:
            yield from re.findall(POINT, name.removeprefix("theta_").removeprefix("omega_"))


def angles_like_degrees(spec: MechSpec) -> Iterator[Note]:
    """Constant angles of more than a turn."""
    actions = spec.actions
    angles = [(f"angles.{part}", value.number) for part, value in spec.problem.angles.items()]
    angles += [(f"Sliders.{each.part}-{''.join(each.line)}", each.angle) for each in actions.sliders]
    angles += [(f"Skates.{each.part}.{each.point}", each.angle) for each in actions.skates]
    angles += [(f"TorsionSprings.{each.part}", each.rest) for each in actions.torsion_springs]
    for user, angle in angles:
        if abs(angle.value) > TURN:
            yield Note(
                f"{user} is {angle.value:g}, more than a turn: angles are in radians, 90 degrees are pi/2", angle.mark
            )


def motions_like_degrees(quantities: Quantities) -> Iterator[Note]:
    """Prescribed angles that start beyond a turn, swing over many turns, or turn at a round number of degrees."""
    problem, actions = quantities.spec.problem, quantities.spec.actions
    times = [problem.t0.value + (problem.tend.value - problem.t0.value) * k / SAMPLES for k in range(SAMPLES + 1)]
    for drive in actions.drives:
        if _is_angle(drive.quantity):
            values = _values(quantities.of(drive.motion), times, quantities.book.constants)
            if words := _like_degrees(values, times, drive.level == POSITION):
                yield Note(f"Drives.{drive.name} {words}: angles are in radians, 90 degrees are pi/2", drive.mark)
    for controller in actions.controllers:
        if all(isinstance(reference(name), TurnAngle) for _, name in controller.actuated):
            values = _values(quantities.of(controller.target), times, quantities.book.constants)
            if values and abs(values[0]) > TURN:
                message = f"the target of Controllers.{controller.name} starts at {values[0]:g}, more than a turn"
                yield Note(f"{message}: angles are in radians, 90 degrees are pi/2", controller.mark)


def _is_angle(quantity: Expression) -> bool:
    named = [type(referred) for referred in map(reference, quantity.names) if referred is not None]
    return bool(named) and set(named) == {TurnAngle}


def _values(motion: Formula, times: list[float], constants: list[float]) -> list[float]:
    """A function of time at these times; none where it depends on the state."""
    if any(leaf.operation in "vam" or (leaf.operation == "x" and leaf.operands[0] >= 0) for leaf in motion.leaves()):
        return []
    try:
        return [constant(motion, time, constants) for time in times]
    except (ValueError, ZeroDivisionError, OverflowError):  # the run will say where it has no value
        return []


def _like_degrees(values: list[float], times: list[float], is_position: bool) -> str:
    if not values:
        return ""
    if not is_position:
        speeds = values
    elif abs(values[0]) > TURN:
        return f"starts at {values[0]:g} rad, more than a turn"
    else:
        span = times[1] - times[0]
        speeds = [(after - before) / span for before, after in pairwise(values)]
        if max(values) - min(values) > MANY_TURNS and min(speeds) < 0 < max(speeds):
            return f"swings between {min(values):.4g} and {max(values):.4g} rad"
    turns = speeds[0] / ROUND_DEGREES
    steady = all(isclose(speed, speeds[0], rel_tol=1e-6) for speed in speeds)
    if steady and abs(turns) > 0.5 and isclose(turns, round(turns), rel_tol=1e-9):
        return f"turns at {speeds[0]:g} rad/s"
    return ""


def never_used(spec: MechSpec) -> Iterator[Note]:
    for name in spec.unused:
        no_gravity = spec.gravity is None and spec.actions.central_gravity is None
        why = ", and there is no gravity: AppliedForces.Gravity is missing" if name == "g" and no_gravity else ""
        yield Note(f"the parameter {name} is never used{why}", spec.parameters[name].mark)


def gears_apart(spec: MechSpec) -> Iterator[Note]:
    """Gears turn by the ratio of their radii wherever they stand, but wheels that touch stand at a certain distance; in
    space axes may cross."""
    if spec.dimension == SPACE:
        return
    rigids = {part.name: part for part in spec.rigids}
    for gear in spec.actions.gears:
        centres = [rigids[part].points[0] for part in (gear.part, gear.other)]
        apart = _distance(centres[0], centres[1], rigids.get(gear.carrier or ""), spec)
        wanted = abs(gear.radius.value + gear.other_radius.value)
        if apart is not None and abs(apart - wanted) > APART * max(apart, wanted):
            ring = gear.radius.value * gear.other_radius.value < 0
            words = f"the radii differ by {wanted:.6g}" if ring else f"the radii add up to {wanted:.6g}"
            name = f"Gears.{gear.part}-{gear.other}"
            yield Note(f"{name}: {words}, but the centres are {apart:.6g} apart; a chain or belt may be so", gear.mark)


def _distance(a: str, b: str, carrier: Rigid | None, spec: MechSpec) -> float | None:
    if carrier is not None and {a, b} <= set(carrier.points):
        places = [carrier.geometry[carrier.points.index(name)] for name in (a, b)]
    elif {a, b} <= set(spec.fixed):
        places = [spec.fixed[name].coordinates for name in (a, b)]
    else:
        return None
    return distance(*map(values_of, places))
