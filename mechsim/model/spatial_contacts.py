"""Contacts in space: points, balls and corners over a plane, and balls that keep apart, each a gap of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from mechsim.errors import Fault, SpecError
from mechsim.lagrangian.formula import Formula, formula, parameter, sqrt
from mechsim.lagrangian.vector import dot, square
from mechsim.model.quantities import Arrow, Quantities
from mechsim.model.spatial import Space
from mechsim.spec.actions import Meeting, Side
from mechsim.spec.document import Solid
from mechsim.spec.number import values_of

Ball = tuple[Arrow, float]  # a place, and how far from it things are kept: a corner is a ball without a radius


def spatial_rows(meeting: Meeting, quantities: Quantities) -> Iterator[tuple[str, Formula]]:
    """The gaps of a meeting in space, and their names. Raises SpecError."""
    space = Space(quantities)
    offset = meeting.offset.value if meeting.offset is not None else 0.0
    _refuse_one_part(meeting, quantities)
    own = list(_balls(meeting.first, meeting, space))
    if meeting.second.sort == "plane":
        a, b, c = meeting.second.points
        if not (space.body(a, b, c) or quantities.layout.is_fixed(a, b, c)):
            hint = "a plane is given by three points that are fixed, or on one part"
            raise SpecError(Fault(f"contact {meeting.name}: {a}{b}{c} is no plane", meeting.mark, hint))
        normal, base = space.normal((a, b, c), meeting.mark), quantities.point(a, space.body(a, b, c))
        rows = [_less(dot(normal, place - base), radius + offset) for place, radius in own]
    else:
        others = list(_balls(meeting.second, meeting, space))
        pairs = [(one, other) for one in own for other in others]
        if not all(one[1] + other[1] + offset > 0 for one, other in pairs):
            hint = "in space spheres meet spheres, and everything a plane"
            raise SpecError(Fault(f"contact {meeting.name}: corners do not meet corners", meeting.mark, hint))
        rows = [_less(formula(sqrt(square(one[0] - other[0]))), one[1] + other[1] + offset) for one, other in pairs]
    for number, row in enumerate(rows, 1):
        yield (meeting.name if len(rows) == 1 else f"{meeting.name} {number}"), row


def _less(row: Formula, apart: float) -> Formula:
    return row - parameter("apart", apart) if apart else row


def _refuse_one_part(meeting: Meeting, quantities: Quantities) -> None:
    def carriers(side: Side) -> set[str]:
        held = [{part.name for part in quantities.holders[point]} for point in side.points]
        return set.intersection(*held)

    both = carriers(meeting.first) & carriers(meeting.second)
    if both:
        message = f"contact {meeting.name}: both are on the rigid part {min(both)}, so nothing in it can move"
        raise SpecError(Fault(message, meeting.mark, "remove it"))


def _balls(side: Side, meeting: Meeting, space: Space) -> Iterator[Ball]:
    if side.sort == "point":
        yield space.quantities.point(side.points[0]), 0.0
        return
    part = space.quantities.rigids[side.part]
    for solid in part.solids:
        if solid.shape == "rod":
            continue
        if solid.cut or solid.shape not in ("box", "prism", "sphere"):
            hint = "boxes, prisms and spheres meet others, without holes"
            message = f"contact {meeting.name}: nothing is known of the {solid.shape} of {part.name}"
            raise SpecError(Fault(message, meeting.mark, hint))
        radius = solid.sizes[0].value if solid.shape == "sphere" else 0.0
        for number, local in enumerate(_corners(solid)):
            origin = space.quantities.point(part.points[0], part.name)
            away = any(local)
            yield (origin + space.frame(part.name).direction(f"corner{number}", local) if away else origin), radius


def _corners(solid: Solid) -> Iterator[tuple[float, ...]]:
    """In the frame of the part; of a sphere its centre."""
    at = values_of(solid.at)
    places: list[tuple[float, ...]] = [(0.0, 0.0, 0.0)]
    if solid.shape == "box":
        places = [tuple(each) for each in itertools.product(*((-s / 2, s / 2) for s in values_of(solid.sizes)))]
    elif solid.shape == "prism":
        half = solid.sizes[-1].value / 2
        places = [(x, y, z) for x, y in map(values_of, solid.outline) for z in (-half, half)]
    for place in places:
        turned = (sum(share * axis[i] for share, axis in zip(place, solid.axes, strict=True)) for i in range(3))
        yield tuple(a + b for a, b in zip(at, turned, strict=True))
