"""Forces, torques, potentials, springs, dampers, drag and friction as drafts of laws."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import add

from mechsim.errors import Fault, SpecError
from mechsim.lagrangian.formula import (
    Formula,
    coordinate,
    derivative,
    formula,
    multiplier,
    number,
    parameter,
    sqrt,
    tanh,
    velocity,
)
from mechsim.lagrangian.planar_body import centroid
from mechsim.lagrangian.vector import (
    AXES,
    SPACE,
    Vector,
    components,
    dot,
    square,
    turned,
    vector,
    vector_product,
)
from mechsim.model import rigid
from mechsim.model.book import Draft, moves
from mechsim.model.friction import Rubbing
from mechsim.model.grip import Place
from mechsim.model.joints import on_line, slot_origin
from mechsim.model.origin import Origin
from mechsim.model.pivots import pivot_force
from mechsim.model.quantities import Arrow, Quantities
from mechsim.model.spatial import Space
from mechsim.spec.actions import (
    CentralGravity,
    Damper,
    Drag,
    Friction,
    PartTorque,
    SpringLaw,
    StateForce,
    StateTorque,
    Term,
    TorsionSpring,
)
from mechsim.spec.document import Number, PointForce, Rigid, Torque
from mechsim.spec.expression import MATH, Expression
from mechsim.spec.living import hypot
from mechsim.spec.names import Distance
from mechsim.spec.number import values_of

# A load taken from a reaction may pass through zero, where its size has a corner: rounded over this share of weights.
LOAD_ROUNDING = 1e-6
# The size of a velocity has a corner at rest: rounded over this share of a typical speed, which changes the force at
# that speed by 5e-11 of itself. Sharper corners cost more digits in the short steps past them than they gain.
SPEED_ROUNDING = 1e-5


def drafts(quantities: Quantities) -> Iterator[Draft]:
    actions = quantities.spec.actions
    yield from (_force(force, quantities) for force in actions.forces)
    yield from (_torque(torque, quantities) for torque in actions.torques)
    yield from (_part_torque(torque, quantities) for torque in actions.part_torques)
    yield from (_potential(term, quantities) for term in actions.potentials)
    yield from (_dissipation(term, quantities) for term in actions.dissipations)
    yield from (_spring(spring, quantities) for spring in actions.spring_laws)
    yield from (_torsion_spring(spring, quantities) for spring in actions.torsion_springs)
    yield from (_damper(damper, quantities) for damper in actions.dampers)
    yield from (_drag(drag, quantities) for drag in actions.drags)
    smooth = [each for each in actions.frictions if each.slow is not None]
    yield from (_sliding_friction(each, quantities) for each in smooth if each.part is None)
    if actions.central_gravity:
        yield from _central_gravity(actions.central_gravity, quantities)
    # Last, for the load of a pivot is what all else leaves to it.
    yield from (_pivot_friction(each, quantities) for each in smooth if each.part is not None)


def joint_frictions(quantities: Quantities) -> Iterator[Rubbing]:
    """Those that stick and slide."""
    for friction in quantities.spec.actions.frictions:
        if friction.slow is not None:
            continue
        load = quantities.of(friction.load) if friction.load else _reaction(friction, quantities)
        limit = quantities.of(friction.coefficient) * load
        name, mark = f"{friction.name}", friction.mark
        if friction.part is not None:
            turning = quantities.relative_angular_velocity(friction.part, friction.against)
            limit = limit * parameter("r", friction.radius.value)
            origin = Origin("friction", friction.name, friction.part)
            yield Rubbing(name, turning, mark, static=friction.static, limit=formula(limit), origin=origin)
            continue
        speed, _ = _speed_along(friction, quantities)
        assert friction.line and friction.point
        yield Rubbing(
            name,
            speed - quantities.of(friction.belt) if friction.belt else speed,
            mark,
            static=friction.static,
            limit=formula(limit),
            origin=Origin("friction", friction.name),
            grips=tuple(on_line(friction.line, Place(friction.point), quantities)),
            on_parts=bool(quantities.carrier(*friction.line)),
        )


def constant(quantities: Quantities) -> Iterator[Draft]:
    """Forces and torques that never change. A point that stands still, and a part that cannot turn, take them silently:
    they do no work there."""
    for force in quantities.spec.forces:
        push = vector(parameter(*each) for each in components("f", values_of(force.force)).items())
        yield _constant_force(force, push, quantities)
    for torque in quantities.spec.torques:
        if quantities.spec.dimension == SPACE:
            yield _about_axis(torque, quantities)
            continue
        sides = ((torque.part, torque.torque.value), (torque.against or "", -torque.torque.value))
        yield from (_constant_torque(part, value, torque, quantities) for part, value in sides)


def resting(quantities: Quantities) -> Iterator[Draft]:
    """The weight of parts and particles that stand still: nothing moves by it, but the ground bears it, so that its
    reactions have it. By virtual power it acts at fixed points; it has no potential, which would be a constant."""
    spec = quantities.spec
    gravity = values_of(spec.gravity or ())
    marks = {part.name: part.mark for part in spec.rigids} | {each.point: each.mark for each in spec.particles}
    for name, mass, place in _masses(quantities) if any(gravity) else ():
        if mass and name in marks and not any(map(moves, place)):
            pull = components("w", [mass * each for each in gravity])
            power = dot(vector(parameter(*each) for each in pull.items()), place)
            slots = dict.fromkeys(leaf.operands[0] for leaf in power.leaves() if leaf.operation == "x")
            forces = [(slot, derivative(power, coordinate(slot))) for slot in slots]
            yield Draft(name, marks[name], forces=forces, on_parts=True, origin=Origin("gravity", name, name))


def _constant_force(force: PointForce, push: Arrow, quantities: Quantities) -> Draft:
    """V = -f . p; one that turns with a part has no potential, and its work is integrated."""
    if force.part is not None:
        draft = _pushed(force, push, quantities)
        draft.scale = hypot(*values_of(force.force)) * quantities.layout.chains.at([force.point]).size
        return draft
    potential = -dot(push, quantities.point(force.point))
    return Draft(force.point, force.mark, potential=potential, origin=Origin("force", force.point))


def _about_axis(torque: Torque, quantities: Quantities) -> Draft:
    """V = -torque theta, of one half-plane against another."""
    name = _between(torque.part, torque.against)
    potential = -parameter("torque", torque.torque.value) * quantities.relative_angle(torque.part, torque.against)
    return Draft(name, torque.mark, potential=potential, origin=Origin("torque", name))


def _constant_torque(part: str, value: float, torque: Torque, quantities: Quantities) -> Draft:
    """V = -torque theta, seed 001 (4.5), and for the reaction with the other sign."""
    draft = Draft(part, torque.mark, origin=Origin("torque", part, part))
    if part in quantities.layout.angles:
        draft.potential = -parameter("torque", value) * quantities.angle(part)
    return draft


def _force(force: StateForce, quantities: Quantities) -> Draft:
    dimension = quantities.spec.dimension
    given = [quantities.of(component) for component in force.force]
    return _pushed(force, vector([*given, *[number(0)] * dimension][:dimension]), quantities)


def _pushed(force: StateForce | PointForce, push: Arrow, quantities: Quantities) -> Draft:
    """A force at a point, in the world or in the frame of a part."""
    name = force.point
    if force.part is not None:
        push = in_world(push, force.part, quantities)
        name = f"{force.part}_{force.point}"
    origin = Origin("force", name, force.part or "")
    return Draft(
        name, force.mark, forces=quantities.point_force(force.point, push), account=f"work_{name}", origin=origin
    )


def in_world(push: Arrow, part: str, quantities: Quantities) -> Arrow:
    """A vector that is given in the frame of a part."""
    if quantities.spec.dimension == SPACE:
        return Space(quantities).frame(part).world(push)
    return turned(push, quantities.frame(part))


def _part_torque(torque: PartTorque, quantities: Quantities) -> Draft:
    """A torque vector m on a body by forces at its reference points: with d = b - a, e = c - a and n = d x e

    n (m . d) / |n|^2   at c,   (m - e x that) x d / |d|^2   at b,   and their opposite at a.
    """
    part = quantities.rigids[torque.part]
    given = [
        parameter(f"m_{axis}", each.value) if isinstance(each, Number) else quantities.of(each)
        for axis, each in zip(AXES, torque.torque, strict=True)
    ]
    moment = vector(given) if torque.frame is None else in_world(vector(given), torque.frame, quantities)
    a, b, c = (quantities.point(name, part.name) for name in part.points[:3])
    d, e, triangle = b - a, c - a, Space(quantities).frame(part.name).triangle
    normal = vector_product(d, e)
    at_third = normal * (dot(moment, d) / parameter("n2", (triangle.length * triangle.y) ** 2))
    at_second = vector_product(moment - vector_product(e, at_third), d) / parameter("d2", triangle.length**2)
    pushes = zip(part.points[:3], (-(at_second + at_third), at_second, at_third), strict=True)
    forces = [pair for name, push in pushes for pair in quantities.point_force(name, push)]
    name = f"torque_{part.name}" if torque.frame is None else f"torque_{torque.frame}_{part.name}"
    origin = Origin("torque", name, part.name)
    return Draft(part.name, torque.mark, forces=forces, account=f"work_{name}", origin=origin, on_parts=True)


def _torque(torque: StateTorque, quantities: Quantities) -> Draft:
    forces = quantities.torque(torque.part, torque.against, quantities.of(torque.torque))
    name = _between(torque.part, torque.against)
    origin = Origin("torque", name, torque.part)
    return Draft(torque.part, torque.mark, forces=forces, account=f"work_{name}", origin=origin)


def _between(part: str, against: str | None) -> str:
    return f"{part}_{against}" if against else part


def _potential(term: Term, quantities: Quantities) -> Draft:
    """One that depends on time does not keep the energy: the balance needs what time puts in."""
    potential = quantities.of(term.expression)
    account = f"work_{term.name}" if quantities.book.changes_with_time(potential) else ""
    origin = Origin("potential", term.name)
    return Draft(term.name, term.mark, potential=potential, account=account, origin=origin)


def _dissipation(term: Term, quantities: Quantities) -> Draft:
    dissipation, origin = quantities.of(term.expression), Origin("dissipation", term.name)
    return Draft(term.name, term.mark, dissipation=dissipation, account=f"work_{term.name}", origin=origin)


def _energy(
    stretch: Formula, linear: Formula | None, further: Expression | None, quantities: Quantities
) -> Formula | None:
    parts = [] if linear is None else [linear]
    parts += [] if further is None else [quantities.of(further, {"s": stretch})]
    return parts[0] + parts[1] if len(parts) == 2 else parts[0] if parts else None


def _spring(spring: SpringLaw, quantities: Quantities) -> Draft:
    """What the element kind `spring` has not: damping and further laws of the stretch."""
    a, b = spring.points
    stretch = quantities.distance(a, b) - parameter("l", spring.length.value)
    rate = quantities.distance_rate(a, b)
    draft = Draft(f"{a}{b}", spring.mark, potential=_energy(stretch, None, spring.energy, quantities))
    draft.origin = Origin("spring", f"{a}{b}", f"{a}{b}")
    if spring.damping.value:
        draft.dissipation = parameter("c", spring.damping.value) / 2 * rate**2
    if spring.law is not None:
        draft.forces = quantities.generalised_force(
            Distance(spring.points), -quantities.of(spring.law, {"s": stretch, "v": rate})
        )
    if _needs_account(draft, quantities):
        draft.account = f"work_spring_{a}{b}"
    return draft


def _torsion_spring(spring: TorsionSpring, quantities: Quantities) -> Draft:
    deflection = quantities.relative_angle(spring.part, spring.against) - parameter("rest", spring.rest.value)
    turning = quantities.relative_angular_velocity(spring.part, spring.against)
    linear = parameter("k", spring.stiffness.value) / 2 * deflection**2 if spring.stiffness.value else None
    draft = Draft(spring.part, spring.mark, potential=_energy(deflection, linear, spring.energy, quantities))
    damps = linear is None and spring.energy is None and spring.law is None
    draft.origin = Origin("damper" if damps else "torsion spring", _between(spring.part, spring.against), spring.part)
    if spring.damping.value:
        draft.dissipation = parameter("c", spring.damping.value) / 2 * turning**2
    if spring.law is not None:
        torque = -quantities.of(spring.law, {"s": deflection, "v": turning})
        draft.forces = quantities.torque(spring.part, spring.against, torque)
    if _needs_account(draft, quantities):
        name = "damper" if draft.potential is None and not draft.forces else "torsion"
        draft.account = f"work_{name}_{_between(spring.part, spring.against)}"
    return draft


def _needs_account(draft: Draft, quantities: Quantities) -> bool:
    """Whether energy is not kept without one."""
    timed = draft.potential is not None and quantities.book.changes_with_time(draft.potential)
    return timed or draft.dissipation is not None or bool(draft.forces)


def _damper(damper: Damper, quantities: Quantities) -> Draft:
    a, b = damper.points
    dissipation = parameter("c", damper.damping.value) / 2 * quantities.distance_rate(a, b) ** 2
    # It pulls at the ends of a spring between them as if it were the spring's own.
    origin = Origin("damper", f"{a}{b}", f"{a}{b}")
    return Draft(f"{a}{b}", damper.mark, dissipation=dissipation, account=f"work_damper_{a}{b}", origin=origin)


def _drag(drag: Drag, quantities: Quantities) -> Draft:
    speed = quantities.velocity(drag.point)
    resistance = parameter("c", drag.linear.value)
    if drag.quadratic.value:
        slow = parameter("v0", drag.slow.value or SPEED_ROUNDING * _typical_speed(drag.point, quantities)) ** 2
        resistance = resistance + parameter("k", drag.quadratic.value) * sqrt(square(speed) + slow)
    forces = quantities.point_force(drag.point, -resistance * speed)
    origin = Origin("drag", drag.point)
    return Draft(drag.point, drag.mark, forces=forces, account=f"work_drag_{drag.point}", origin=origin)


def _typical_speed(point: str, quantities: Quantities) -> float:
    typical = quantities.layout.chains.at([point])
    return MATH["sqrt"](typical.energy / (typical.mass or 1.0))


def _pivot_friction(friction: Friction, quantities: Quantities) -> Draft:
    """mu N r tanh(w/w0) against the turning."""
    assert friction.part
    turning = quantities.relative_angular_velocity(friction.part, friction.against)
    torque = -_friction(friction, turning, quantities) * parameter("r", friction.radius.value)
    forces = quantities.torque(friction.part, friction.against, torque)
    origin = Origin("friction", friction.name, friction.part)
    return Draft(friction.part, friction.mark, forces=forces, account=_friction_account(friction), origin=origin)


def _sliding_friction(friction: Friction, quantities: Quantities) -> Draft:
    """mu N tanh(v/v0) against the way s along the line: by virtual power on all that moves s, so that point and line
    push each other at one place."""
    assert friction.point and friction.line
    speed, slopes = _speed_along(friction, quantities)
    force = -_friction(friction, speed, quantities)
    return Draft(
        friction.point,
        friction.mark,
        forces=[(slot, force * slope) for slot, slope in slopes.items()],
        account=_friction_account(friction),
        grips=on_line(friction.line, Place(friction.point), quantities),
        on_parts=bool(quantities.carrier(*friction.line)),
        origin=Origin("friction", friction.name),
    )


def _speed_along(friction: Friction, quantities: Quantities) -> tuple[Formula, dict[int, Formula]]:
    """How fast a point slides along its line, and the derivatives by velocities."""
    assert friction.point and friction.line
    start, end = friction.line
    way = dot(quantities.direction(start, end), quantities.difference(start, friction.point))
    slots = dict.fromkeys(slot for name in (friction.point, start, end) for slot in quantities.layout.points[name])
    slopes = {slot: derivative(way, coordinate(slot)) for slot in slots}
    speed = number(0)
    for slot, slope in slopes.items():
        speed = speed + slope * velocity(slot)
    return speed, slopes


def _friction(friction: Friction, speed: Formula, quantities: Quantities) -> Formula:
    assert friction.slow is not None
    coefficient = quantities.of(friction.coefficient)
    load = quantities.of(friction.load) if friction.load else _reaction(friction, quantities)
    return formula(coefficient * load * tanh(speed / parameter("v0", friction.slow.value)))


def _friction_account(friction: Friction) -> str:
    return f"work_friction_{friction.name.replace(' ', '').replace('-', '_')}"


def _reaction(friction: Friction, quantities: Quantities) -> Formula:
    """The size of the force in the pivot, or of the slot's normal force, a multiplier; without a corner at zero."""
    names = (friction.part, friction.against, friction.point, *(friction.line or ()))
    typical = quantities.layout.chains.at(name for name in names if name)
    rounding = parameter("rounding", LOAD_ROUNDING * typical.energy / typical.size)
    if friction.part is not None and quantities.spec.dimension == SPACE:
        message = f"Friction.{friction.name} has no load N, and in space a joint gives none"
        hint = "write N, the load in newtons, a number or an expression of time and state: N: 20"
        raise SpecError(Fault(message, friction.mark, hint))
    if friction.part is not None:
        return formula(sqrt(square(pivot_force(friction, quantities)) + rounding**2))
    assert friction.point and friction.line
    slot = slot_origin(friction.point, friction.line)
    for element in quantities.book.elements:
        if element.origin == slot:
            load = [multiplier(label) ** 2 for label in element.multipliers]
            return formula(sqrt(reduce(add, load) + rounding**2))
    line = "".join(friction.line)
    message = f"Friction.{friction.name} has no load N, and no slot or piston {friction.point}-{line} gives one"
    raise SpecError(Fault(message, friction.mark, "write N, or hold the point by Joints.Slots"))


def _central_gravity(gravity: CentralGravity, quantities: Quantities) -> Iterator[Draft]:
    """V = -mu m / r at every particle, at the centroid of every body, at the middle of every spring with mass."""
    for name, mass, place in _masses(quantities):
        if name != gravity.centre and mass:
            distance = sqrt(square(place - quantities.point(gravity.centre)))
            potential = -(parameter("mu", gravity.mu.value) * parameter("m", mass)) / distance
            yield Draft(name, gravity.mark, potential=potential, origin=Origin("gravity", name, name))


def _masses(quantities: Quantities) -> Iterator[tuple[str, float, Arrow]]:
    spec = quantities.spec
    for particle in spec.particles:
        yield particle.point, particle.mass.value, quantities.point(particle.point)
    for part in spec.rigids:
        yield part.name, part.mass.value, _centroid(part, quantities)
    for spring in spec.springs:
        a, b = (quantities.point(name) for name in spring.points)
        yield spring.name, spring.mass.value, (a + b) / 2


def _centroid(part: Rigid, quantities: Quantities) -> Arrow:
    """Where the centre of mass of a rigid part is."""
    a, b = (quantities.point(name) for name in part.points[:2])
    place = values_of(part.centroid)
    if quantities.spec.dimension == SPACE:
        if part.is_rod:
            return a + (b - a) * parameter("xi", place[0] / values_of(part.geometry[1])[0])
        shares = Space(quantities).frame(part.name).triangle.shares(place)
        xi, eta, zeta = (parameter(name, value) for name, value in zip(("xi", "eta", "zeta"), shares, strict=True))
        d, e = b - a, quantities.point(part.points[2]) - a
        return a + d * xi + e * eta + vector_product(d, e) * zeta
    first, second = map(values_of, part.geometry[:2])
    ratio = rigid.placement_ratio(first, second, place)
    return centroid(a, b, Vector((parameter("xi_x", ratio[0]), parameter("xi_y", ratio[1]))))
