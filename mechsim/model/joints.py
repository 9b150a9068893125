"""Sliders, slots, curves, ropes, gears, racks, wheels, skates and a user's own constraints as drafts of laws."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from mechsim.lagrangian.formula import Formula, coordinate, formula, number, parameter
from mechsim.lagrangian.vector import AXES, SPACE, cross, dot, labels
from mechsim.model import spatial_joints
from mechsim.model.book import Book, Draft
from mechsim.model.grip import Grip, Place
from mechsim.model.origin import Origin
from mechsim.model.quantities import Quantities
from mechsim.spec.actions import Curve, Gear, Rolling, Rope, Skate, Slider, Slot, Term, Weld
from mechsim.spec.expression import MATH

# The parameter of a gear or rack that its first guess decides (see `builder`).
PHASE = "phase"


def drafts(quantities: Quantities) -> Iterator[Draft]:
    actions = quantities.spec.actions
    yield from spatial_joints.drafts(quantities) if quantities.spec.dimension == SPACE else _planar(quantities)
    yield from (_rope(rope, quantities) for rope in actions.ropes)
    yield from (_holonomic(term, quantities) for term in actions.holonomic)
    yield from (_nonholonomic(term, quantities) for term in actions.nonholonomic)


def _planar(quantities: Quantities) -> Iterator[Draft]:
    actions = quantities.spec.actions
    yield from (_slider(slider, quantities) for slider in actions.sliders)
    yield from (_slot(slot, quantities) for slot in actions.slots)
    yield from (_gear(gear, quantities) for gear in actions.gears)
    yield from (_rack(each, quantities) if each.rack else _wheel(each, quantities) for each in actions.rollings)
    yield from (_skate(skate, quantities) for skate in actions.skates)
    yield from (_weld(weld, quantities) for weld in actions.welds)


def _height(point: str, line: tuple[str, str], quantities: Quantities) -> Formula:
    """The distance of a point to the left of a line: in metres, so that the multiplier is the normal force."""
    return cross(quantities.direction(*line), quantities.difference(line[0], point))


def on_line(line: tuple[str, str], place: Place, quantities: Quantities, directs: bool = False) -> list[Grip]:
    """The part whose line it is feels what acts on the line; without such a part, the two points feel it."""
    part = quantities.carrier(*line)
    return [Grip(part, line, place, directs)] if part else []


def slot_origin(point: str, line: tuple[str, str]) -> Origin:
    return Origin("slot", f"{point}-{''.join(line)}")


def _slot(slot: Slot, quantities: Quantities) -> Draft:
    name = f"{slot.point},{''.join(slot.line)}"
    row = _height(slot.point, slot.line, quantities) - parameter("offset", slot.offset.value)
    grips = on_line(slot.line, Place(slot.point), quantities)
    origin = slot_origin(slot.point, slot.line)
    return Draft(name, slot.mark, constraints=[(f"slot_{name}", row)], grips=grips, origin=origin)


def _slider(slider: Slider, quantities: Quantities) -> Draft:
    """The part's first point on the line, and its direction along it."""
    name = f"{slider.part},{''.join(slider.line)}"
    first, second = quantities.rigids[slider.part].points[:2]
    row = _height(first, slider.line, quantities) - parameter("offset", slider.offset.value)
    parallel = cross(quantities.direction(*slider.line), quantities.frame(slider.part, -slider.angle.value))
    constraints = [(f"slider_{name}", row), (f"parallel_{name}", parallel)]
    grips = [Grip(slider.part, (first, second), Place(first), directs=True)]
    grips += on_line(slider.line, Place(first), quantities, directs=True)
    return Draft(name, slider.mark, constraints=constraints, grips=grips, origin=Origin("slider", name))


def _rope(rope: Rope, quantities: Quantities) -> Draft:
    name = "".join(rope.points)
    total = number(0)
    for a, b in pairwise(rope.points):
        total = total + quantities.distance(a, b)
    row = total - parameter("length", rope.length.value)
    return Draft(name, rope.mark, constraints=[(f"rope_{name}", row)], origin=Origin("rope", name))


def _gear(gear: Gear, quantities: Quantities) -> Draft:
    """r (theta_1 - phi) + R (theta_2 - phi) stays as it starts; phi is the angle of the line of centres."""
    name = f"{gear.part},{gear.other}"
    r, other = parameter("r", gear.radius.value), parameter("R", gear.other_radius.value)
    turned = r * quantities.relative_angle(gear.part, gear.carrier)
    turned = turned + other * quantities.relative_angle(gear.other, gear.carrier)
    constraints = [(f"gear_{name}", turned - parameter(PHASE, 0.0))]
    origin = Origin("gear", name)
    return Draft(name, gear.mark, constraints=constraints, grips=_teeth(gear, quantities), phased=True, origin=origin)


def _teeth(gear: Gear, quantities: Quantities) -> list[Grip]:
    """Wheels touch on the line of centres, if something keeps that: the ground, or the carrier. Else only torques are
    known, and the parts feel those."""
    first, second = (quantities.rigids[part].points[0] for part in (gear.part, gear.other))
    carrier = gear.carrier or ""
    if not (quantities.layout.is_fixed(first, second) or (carrier and quantities.carrier(first, second) == carrier)):
        return []
    side = 1.0 if gear.radius.value + gear.other_radius.value > 0 else -1.0
    wheels = ((gear.part, first, side * gear.radius.value), (gear.other, second, -side * gear.other_radius.value))
    turning = quantities.layout.angles
    held = next((centre for part, centre, _ in wheels if part not in turning), "")
    return [
        Grip(part, (), Place(centre, (first, second), along), bearing=centre, carrier=carrier, held=held)
        for part, centre, along in wheels
        if part in turning
    ]


def _rack(rack: Rolling, quantities: Quantities) -> Draft:
    """The pinion's way along the rack and its turning against it go together; its distance is the joints' affair."""
    name = f"{rack.part},{rack.rack}"
    centre = quantities.rigids[rack.part].points[0]
    way = dot(quantities.direction(*rack.line), quantities.difference(rack.line[0], centre))
    turned = parameter("r", rack.radius.value) * quantities.relative_angle(rack.part, rack.rack)
    constraints = [(f"rack_{name}", way + turned - parameter(PHASE, 0.0))]
    grips = _below(centre, rack, quantities)
    return Draft(name, rack.mark, constraints=constraints, grips=grips, phased=True, origin=Origin("rack", name))


def _below(centre: str, wheel: Rolling, quantities: Quantities) -> list[Grip]:
    """A wheel touches its line where that is nearest to the centre."""
    place = Place(centre, wheel.line, across=-wheel.radius.value)
    return [Grip(wheel.part, (centre,), place), *on_line(wheel.line, place, quantities)]


def _wheel(wheel: Rolling, quantities: Quantities) -> Draft:
    """The centre stays at its radius from the line, and the point of contact has the line's velocity along it."""
    name = f"{wheel.part},{''.join(wheel.line)}"
    centre = quantities.rigids[wheel.part].points[0]
    radius = parameter("r", wheel.radius.value)
    height = _height(centre, wheel.line, quantities) - radius
    carried = quantities.carrier(*wheel.line)
    ground = quantities.virtual_velocity(wheel.line[0]) if carried else quantities.velocity(wheel.line[0])
    speed = dot(quantities.direction(*wheel.line), quantities.velocity(centre) - ground)
    rolling = speed + radius * quantities.angular_velocity(wheel.part)
    rows = [(f"wheel_{name}", height)], [(f"roll_{name}", rolling)]
    grips, origin = _below(centre, wheel, quantities), Origin("wheel", name)
    return Draft(name, wheel.mark, constraints=rows[0], nonholonomic=rows[1], grips=grips, origin=origin)


def _skate(skate: Skate, quantities: Quantities) -> Draft:
    along = quantities.frame(skate.part, skate.angle.value)
    row = cross(along, quantities.velocity(skate.point))
    name = f"{skate.point},{skate.part}"
    grips = [Grip(skate.part, (skate.point,), Place(skate.point))]
    return Draft(name, skate.mark, nonholonomic=[(f"skate_{name}", row)], grips=grips, origin=Origin("skate", name))


def _weld(weld: Weld, quantities: Quantities) -> Draft:
    """Both parts have one direction; they meet in a point that they share."""
    name = f"{weld.part},{weld.other}"
    first, second = (quantities.rigids[part].points for part in (weld.part, weld.other))
    shared = next(point for point in first if point in second)
    row = cross(quantities.frame(weld.other), quantities.frame(weld.part, -weld.angle.value))
    ends = ((weld.part, first[:2]), (weld.other, second[:2]))
    grips = [Grip(part, (a, b), Place(shared), directs=True) for part, (a, b) in ends]
    return Draft(name, weld.mark, constraints=[(f"weld_{name}", row)], grips=grips, origin=Origin("weld", name))


def _holonomic(term: Term, quantities: Quantities) -> Draft:
    row = quantities.of(term.expression)
    account = f"work_{term.name}" if row.uses("t") else ""
    origin = Origin("constraint", term.name)
    return Draft(term.name, term.mark, constraints=[(term.name, row)], account=account, origin=origin)


def _nonholonomic(term: Term, quantities: Quantities) -> Draft:
    """Its reaction may do work: when it depends on time, or is not linear in the velocities."""
    row = quantities.of(term.expression)
    origin = Origin("constraint", term.name)
    return Draft(term.name, term.mark, nonholonomic=[(term.name, row)], account=f"work_{term.name}", origin=origin)


def add_lines(quantities: Quantities, book: Book) -> None:
    """What a file in space keeps on lines, and its gears: they may need coordinates of their own."""
    if quantities.spec.dimension == SPACE:
        spatial_joints.add_lines(quantities, book)
        spatial_joints.add_gears(quantities, book)


def add_curves(quantities: Quantities, book: Book) -> None:
    for curve in quantities.spec.actions.curves:
        book.add(_implicit(curve, quantities) if curve.implicit else _parametric(curve, quantities, book))


def _implicit(curve: Curve, quantities: Quantities) -> Draft:
    assert curve.implicit
    row = quantities.of(curve.implicit, dict(zip(AXES, quantities.point(curve.point), strict=False)))
    account = f"work_curve_{curve.point}" if row.uses("t") else ""
    draft = _curve(curve)
    draft.constraints, draft.account = [(f"curve_{curve.point}", row)], account
    return draft


def _curve(curve: Curve) -> Draft:
    return Draft(f"curve of {curve.point}", curve.mark, origin=Origin("curve", curve.point))


def _parametric(curve: Curve, quantities: Quantities, book: Book) -> Draft:
    """The curve's own coordinate s has no mass; the start of s places the point, if nothing else does."""
    assert curve.parametric
    slot = book.variable(f"s_{curve.point}", f"s_{curve.point}", "coordinate", 1.0)
    book.guesses[slot] = curve.start.value
    names = labels(f"curve_{curve.point}", len(curve.parametric))
    draft = _curve(curve)
    for axis, (expression, label) in enumerate(zip(curve.parametric, names, strict=True)):
        place = quantities.of(expression, {"s": coordinate(slot)})
        draft.constraints.append((label, quantities.point(curve.point)[axis] - place))
        here = expression.evaluate({**_numbers(quantities), "s": curve.start.value}, MATH) if _plain(place) else None
        if here is not None:
            book.guesses[quantities.layout.points[curve.point][axis]] = here
    if any(formula(row).uses("t") for _, row in draft.constraints):
        draft.account = f"work_curve_{curve.point}"
    return draft


def _plain(place: Formula) -> bool:
    return sum(leaf.operation in "xvt" for leaf in set(place.leaves())) <= 1 and not place.uses("t")


def _numbers(quantities: Quantities) -> dict[str, float]:
    return {name: value.value for name, value in quantities.spec.parameters.items()}
