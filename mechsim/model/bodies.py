"""Parts as elements: inertia, rigidity, and the places of useful points (seed 001 sections 3 and 4.2-4.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mechsim.errors import Fault, SpecError
from mechsim.lagrangian.vector import PLANE, components, labels
from mechsim.model import rigid
from mechsim.model.book import FIT_TOLERANCE
from mechsim.model.extent import distance
from mechsim.model.frames import Directions
from mechsim.model.inertia import Triangle, body_parameters
from mechsim.model.layout import Layout
from mechsim.model.mechanism import Element
from mechsim.model.origin import Origin
from mechsim.spec.document import Rigid
from mechsim.spec.number import values_of

Parameters = Mapping[str, float]
Corner = tuple[float, ...]


def rigid_elements(parts: Sequence[Rigid], layout: Layout, gravity: Parameters) -> Iterator[Element]:
    """Of all rigid parts, in the order the seed prints in section 4.5: by their names."""
    known = Distances(layout)
    for part in sorted(parts, key=lambda part: part.name):
        if layout.dimension == PLANE:
            yield from _planar(part, layout, gravity)
        else:
            yield from _spatial(part, layout, gravity, known)
            known.add(part)


def _origin(part: Rigid) -> Origin:
    return Origin("rigid", part.name, part.name)


def _rows_of(point: str, part: Rigid, layout: Layout) -> tuple[str, ...]:
    """The labels of the rows that place a point on its part: `B_x,OA`."""
    return tuple(f"{label},{''.join(part.points[:2])}" for label in labels(point, len(layout.points[point])))


# --- the plane


def _planar(part: Rigid, layout: Layout, gravity: Parameters) -> Iterator[Element]:
    """Inertia, length of the RPs, and placement of each UP. What stands still in the world adds no element."""
    first, second, *useful = part.points
    corners = [values_of(point) for point in part.geometry]
    length = distance(*corners[:2])
    slots, origin = layout.slots(first, second), _origin(part)
    if not layout.is_fixed(first, second):
        mass, (inertia,) = part.mass.value, values_of(part.inertia)
        if mass or inertia:
            ratio = rigid.placement_ratio(corners[0], corners[1], values_of(part.centroid))
            parameters = {"mass": mass, "spin": inertia / length**2, **components("xi", ratio), **gravity}
            yield Element("planar_body", part.name, slots, parameters, mark=part.mark, origin=origin)
        yield _length(part, layout, length)
    for name, corner in zip(useful, corners[2:], strict=True):
        if not layout.is_fixed(first, second, name):
            coefficients = rigid.placement_coefficients(corners[0], corners[1], corner)
            sides: dict[str, float] = {}
            for side, vector in zip("abc", coefficients, strict=True):
                sides |= components(side, vector)
            rows, places = _rows_of(name, part, layout), slots + layout.slots(name)
            yield Element("placement", part.name, places, sides, rows, part.mark, origin=origin)


def _length(part: Rigid, layout: Layout, length: float) -> Element:
    first, second = part.points[:2]
    if part.name in layout.angles:
        slots = (*layout.slots(first, second), layout.angles[part.name])
        rows = _rows_of(second, part, layout)
        return Element("turned_length", part.name, slots, {"length": length}, rows, part.mark, origin=_origin(part))
    return _held_distance(part, (first, second), f"l_{part.name}", length, layout)


def _held_distance(part: Rigid, pair: tuple[str, str], label: str, length: float, layout: Layout) -> Element:
    slots, parameters = layout.slots(*pair), {"length": length}
    return Element("length", part.name, slots, parameters, (label,), part.mark, origin=_origin(part))


# --- space


@dataclass(slots=True)
class Distances:
    """Which distances parts keep already, and the ground: two hinged parts share two points, whose distance counts
    once."""

    layout: Layout
    parts_at: dict[str, list[Rigid]] = field(default_factory=dict)

    def add(self, part: Rigid) -> None:
        for name in part.points:
            self.parts_at.setdefault(name, []).append(part)

    def kept_with(self, name: str, placed: Sequence[str], part: Rigid) -> list[list[str]]:
        """For each earlier part (or the ground) that has this point: which of the points placed it has too."""
        groups = [[each for each in placed if self.layout.is_fixed(each)]] if self.layout.is_fixed(name) else []
        for earlier in self.parts_at.get(name, ()):
            shared = [each for each in placed if each in earlier.points]
            for each in shared:
                _refuse_misfit(part, earlier, name, each)
            groups.append(shared)
        return [group for group in groups if group]


def _refuse_misfit(part: Rigid, earlier: Rigid, p: str, q: str) -> None:
    one, other = (_apart(each, p, q) for each in (part, earlier))
    if (one - other) ** 2 > (FIT_TOLERANCE * (one + other)) ** 2:  # no sign, which a rounding of parameters may change
        message = (
            f"parts {part.name} and {earlier.name} do not fit: both have the points {p} and {q}, "
            f"which are {one:.10g} apart in {part.name} and {other:.10g} in {earlier.name}"
        )
        raise SpecError(Fault(message, part.mark, "change the Geom of one of them"))


def _apart(part: Rigid, p: str, q: str) -> float:
    return distance(*(values_of(part.geometry[part.points.index(name)]) for name in (p, q)))


def _spatial(part: Rigid, layout: Layout, gravity: Parameters, known: Distances) -> Iterator[Element]:
    if part.is_rod:
        yield from _rod(part, layout, gravity, known)
    else:
        yield from _body(part, layout, gravity, known)


def _rod(part: Rigid, layout: Layout, gravity: Parameters, known: Distances) -> Iterator[Element]:
    """All its points are on one line, where the others are shares of the first two."""
    first, second, *useful = part.points
    corners = dict(zip(part.points, map(values_of, part.geometry), strict=True))
    length, origin = corners[second][0], _origin(part)
    slots, mass, inertia = layout.slots(first, second), part.mass.value, part.inertia[1].value
    still = layout.is_fixed(first, second)
    if (mass or inertia) and not still:
        parameters = {"mass": mass, "spin": inertia / length**2, "xi": part.centroid[0].value / length, **gravity}
        yield Element("rod", part.name, slots, parameters, mark=part.mark, origin=origin)
    if not still and not known.kept_with(second, [first], part):
        yield _held_distance(part, (first, second), f"l_{part.name}", length, layout)
    placed = [first, second]
    for name in useful:
        if _is_open(name, part, layout) and all(len(group) < 2 for group in known.kept_with(name, placed, part)):
            parameters = {"share": corners[name][0] / length}
            places, rows = slots + layout.slots(name), _rows_of(name, part, layout)
            yield Element("on_rod", part.name, places, parameters, rows, part.mark, origin=origin)
        placed.append(name)


def _is_open(name: str, part: Rigid, layout: Layout) -> bool:
    """Whether there is something to place: not where a fixed point is on a part that cannot move."""
    reference = part.points[: 2 if part.is_rod else 3]
    return not layout.is_fixed(*reference, name)


def _body(part: Rigid, layout: Layout, gravity: Parameters, known: Distances) -> Iterator[Element]:
    reference, useful, origin = part.points[:3], part.points[3:], _origin(part)
    corners = dict(zip(part.points, map(values_of, part.geometry), strict=True))
    still = layout.is_fixed(*reference)
    triangle, slots = Triangle(corners[reference[1]][0], *corners[reference[2]][:2]), layout.slots(*reference)
    mass, centroid, inertia = part.mass.value, values_of(part.centroid), values_of(part.inertia)
    if (mass or any(inertia)) and not still:
        parameters = {**body_parameters(triangle, mass, centroid, inertia), **gravity}
        yield Element("spatial_body", part.name, slots, parameters, mark=part.mark, origin=origin)
    placed: list[str] = []
    for name in () if still else reference:
        kept = {each for group in known.kept_with(name, placed, part) for each in group}
        for other in placed:
            if other not in kept:
                apart = distance(corners[other], corners[name])
                yield _held_distance(part, (other, name), f"l_{other}{name},{part.name}", apart, layout)
        placed.append(name)
    placed = list(reference)
    for name in (each for each in useful if _is_open(each, part, layout)):
        yield from _placed(name, part, layout, triangle, Directions(corners, known.kept_with(name, placed, part)))
        placed.append(name)


def _placed(name: str, part: Rigid, layout: Layout, triangle: Triangle, directions: Directions) -> Iterator[Element]:
    """Three rows, or as many as there are directions in which nothing else keeps the point yet."""
    slots, origin = layout.slots(*part.points[:3], name), _origin(part)
    place = directions.corners[name]
    if not directions.kept:
        parameters = dict(zip(("xi", "eta", "zeta"), triangle.shares(place), strict=True))
        rows = _rows_of(name, part, layout)
        yield Element("spatial_placement", part.name, slots, parameters, rows, part.mark, origin=origin)
        return
    for number, normal in enumerate(directions.open(name), start=1):
        shares = dict(zip(("alpha", "beta", "gamma"), triangle.shares(tuple(normal)), strict=True))
        height = sum(a * b for a, b in zip(normal, place, strict=True))
        label = (f"{name}_{number},{part.name}",)
        yield Element("on_plane", part.name, slots, shares | {"height": height}, label, part.mark, origin=origin)
