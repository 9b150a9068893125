"""PartData after reading: the parts, checked one by one and against each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.document import Collinear, FixedPoint, Number, Particle, Rigid, Spring, Vector
from mechsim.spec.inertia import in_space, no_inertia
from mechsim.spec.living import plain
from mechsim.spec.names import PLANE, points_of
from mechsim.spec.nodes import DictNode, ListNode, Node, TextNode
from mechsim.spec.records import Entry
from mechsim.spec.shaped import shaped
from mechsim.spec.shapes import Reading
from mechsim.spec.solids import Drawn
from mechsim.spec.suggest import did_you_mean, listed


@dataclass(slots=True)
class Parts:
    """The parts, and the names that other sections may use (also of parts whose data were faulty)."""

    fixed: dict[str, FixedPoint] = field(default_factory=dict)
    rigids: list[Rigid] = field(default_factory=list)
    springs: list[Spring] = field(default_factory=list)
    particles: list[Particle] = field(default_factory=list)
    collinear: list[Collinear] = field(default_factory=list)
    fixed_names: set[str] = field(default_factory=set)
    rigid_points: dict[str, tuple[str, ...]] = field(default_factory=dict)
    spring_points: dict[str, tuple[str, ...]] = field(default_factory=dict)
    on_parts: set[str] = field(default_factory=set)
    rods: set[str] = field(default_factory=set)  # in space: rigid parts that have no axes across their line
    names_lost: bool = False  # a name in PartData could not be read: unknown names are no fault of their users

    def known_point(self, point: str, mark: Mark, user: str, reading: Reading) -> bool:
        """Whether a part has this point, or it is fixed; records a fault if not."""
        if point in self.on_parts or point in self.fixed_names or self.names_lost:
            return True
        known = self.on_parts | self.fixed_names
        hint = did_you_mean(point, sorted(known)) or f"the points are {listed(sorted(known))}"
        reading.fault(f"{user} uses the point {point}, which no part has", mark, hint)
        return False

    def known_rigid(self, part: str, mark: Mark, user: str, reading: Reading) -> bool:
        """Whether there is such a rigid part; records a fault if not."""
        if part in self.rigid_points or self.names_lost:
            return True
        message = f"{user} uses {part}, which is no rigid part"
        hint = did_you_mean(part, self.rigid_points) or f"the rigid parts are {listed(self.rigid_points)}"
        reading.fault(message, mark, hint if self.rigid_points else "")
        return False

    def known_frame(self, part: str, mark: Mark, user: str, reading: Reading) -> bool:
        """Whether there is such a rigid part, and it has axes of its own; records a fault if not."""
        if not self.known_rigid(part, mark, user, reading):
            return False
        if part in self.rods:
            message = f"{user}: {part} is a rod, all its points are on one line, so it has no axes across it"
            bodies = [name for name in self.rigid_points if name not in self.rods]
            such = f" ({listed(bodies)})" if bodies else ""
            hint = f"name a part of three points that are not on one line{such}, or give {part} a point beside its line"
            reading.fault(message, mark, hint)
        return part not in self.rods


def build_parts(
    values: Mapping[str, Any], node: Node, reading: Reading, mentioned: set[str], pistons: Mapping[str, Entry]
) -> Parts:
    """All of PartData, given what was read from `node`; and pistons, which are particles held by a joint. Fixed points
    may be `mentioned` by other sections only."""
    parts = Parts(names_lost=any(label.startswith("PartData") for label in reading.lost_names))
    _build_fixed(values.get("Fixed", {}), parts)
    for entry in values.get("Rigids", {}).values():
        _build_rigid(entry, parts, reading)
    for entry in values.get("Rods", {}).values():
        _build_rod(entry, parts, reading)
    parts.rods = {part.name for part in parts.rigids if reading.dimension != PLANE and part.is_rod}
    for entry in values.get("Springs", {}).values():
        _build_spring(entry, parts, reading)
    for entry in values.get("Particles", {}).values():
        parts.on_parts.add(entry.name)
        if entry.value is not None:
            parts.particles.append(Particle(entry.name, entry.value, entry.mark))
    for entry in pistons.values():
        _build_piston(entry, parts)
    _build_collinear(_collinear_items(node), parts, reading)
    if not parts.names_lost and not parts.on_parts:
        reading.fault("PartData has no parts", node.mark, "it needs Rigids, Springs or Particles")
    elif not parts.names_lost:
        _check_fixed_are_used(values.get("Fixed", {}), parts, reading, mentioned)
    return parts


def _build_fixed(entries: Mapping[str, Entry], parts: Parts) -> None:
    for entry in entries.values():
        parts.fixed_names.add(entry.name)
        if entry.value is not None:
            parts.fixed[entry.name] = FixedPoint(entry.name, entry.value, entry.mark)


def _build_rigid(entry: Entry, parts: Parts, reading: Reading) -> None:
    points = points_of(entry.name, entry.mark)
    parts.rigid_points[entry.name] = points
    parts.on_parts.update(points)
    if len(points) < 2:
        hint = "a single point with mass belongs into Particles"
        reading.fault(f"the rigid part {entry.name} has one point, it needs two or more", entry.mark, hint)
        return
    if not entry.value or "Geom" not in entry.value:
        return
    geometry: list[Vector] = entry.value["Geom"]
    if not _check_geometry(entry, points, geometry, reading):
        return
    rigid = reading.attempt(_rigid, entry, points, geometry, reading.dimension)
    if rigid is not None:
        parts.rigids.append(rigid)


def _rigid(entry: Entry, points: tuple[str, ...], geometry: list[Vector], dimension: int) -> Rigid:
    zero = Number(0.0, "0", entry.mark)
    origin = (zero,) * dimension
    nothing = {"centroid": origin, "mass": zero, "inertia": no_inertia(zero, dimension)}
    dyna, drawn = _weighed(entry, nothing)
    rigid = Rigid(entry.name, points, (origin, *geometry), dyna["centroid"], dyna["mass"], dyna["inertia"], entry.mark)
    rigid = shaped(rigid, drawn) if drawn else rigid
    return rigid if dimension == PLANE else in_space(rigid)


def _weighed(entry: Entry, nothing: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Drawn]]:
    """What the file says by numbers, and by shapes. Raises SpecError if both say what the part weighs."""
    numbers, drawn = entry.value.get("Dyna"), list(entry.value.get("Shapes", []))
    if isinstance(numbers, list):
        return nothing, [*numbers, *drawn]
    weighing = next((shape for shape in drawn if shape.weighs), None)
    if numbers is not None and weighing is not None:
        hint = "leave out Dyna, or density and mass of the shapes: then they are only drawn"
        raise SpecError(Fault(f"what {entry.name} weighs is said by Dyna and by {weighing.label}", weighing.mark, hint))
    return numbers or nothing, drawn


def _build_rod(entry: Entry, parts: Parts, reading: Reading) -> None:
    """A rigid part of two points without mass."""
    points = points_of(entry.name, entry.mark)
    if entry.name in parts.rigid_points:
        reading.fault(f"{entry.name} is a rigid part already", entry.mark)
        return
    parts.rigid_points[entry.name] = points
    parts.on_parts.update(points)
    if len(points) != 2:
        reading.fault(f"the rod {entry.name} has {len(points)} points, it needs two ends", entry.mark)
    elif entry.value is not None and entry.value.value == 0:
        reading.fault(f"the rod {entry.name} has no length", entry.value.mark)
    elif entry.value is not None:
        zero = Number(0.0, "0", entry.mark)
        origin = (zero,) * reading.dimension
        geometry = (origin, (entry.value, *origin[1:]))
        inertia = no_inertia(zero, reading.dimension)
        parts.rigids.append(Rigid(entry.name, points, geometry, origin, zero, inertia, entry.mark))


def _build_piston(entry: Entry, parts: Parts) -> None:
    point = entry.name.partition("-")[0].strip()
    parts.on_parts.add(point)
    if entry.value is not None:
        parts.particles.append(Particle(point, entry.value["mass"], entry.mark))


def _check_geometry(entry: Entry, points: tuple[str, ...], geometry: list[Vector], reading: Reading) -> bool:
    """Frame convention (3.5): the first point is the origin, the second lies on the positive x axis."""
    if len(geometry) != len(points) - 1:
        message = f"Geom of {entry.name} places {len(geometry)} points, but must place {listed(points[1:])}"
        reading.fault(message, entry.mark, f"the first point, {points[0]}, is the origin and is not listed")
        return False
    x, *others = geometry[0]
    aside = any(other.value for other in others)
    if x.value == 0 and not aside:
        reading.fault(f"the reference points {points[0]} and {points[1]} of {entry.name} coincide", x.mark)
    elif aside or x.value < 0:
        place = ", ".join(f"{number.value:g}" for number in geometry[0])
        message = f"{points[1]} of {entry.name} lies at ({place}), not on the positive x axis"
        hint = f"the local frame has its origin at {points[0]} and its x axis towards {points[1]}: write [length]"
        reading.fault(message, x.mark, hint)
    else:
        return reading.dimension == PLANE or _check_third(entry, points, geometry, reading)
    return False


def _check_third(entry: Entry, points: tuple[str, ...], geometry: list[Vector], reading: Reading) -> bool:
    """In space the third point lies in the upper half of the xy plane; or all points are on one line."""
    if not any(number.value for place in geometry for number in place[1:]):
        return True
    _, y, z = geometry[1]
    if y.value > 0 and z.value == 0:
        return True
    place = ", ".join(f"{number.value:g}" for number in geometry[1])
    names = f"{points[0]}, {points[1]} and {points[2]}"
    if y.value == 0 and z.value == 0:
        message = f"the reference points {names} of {entry.name} are on one line, so they give it no frame"
        beside = next(
            name for name, corner in zip(points[1:], geometry, strict=True) if any(n.value for n in corner[1:])
        )
        hint = f"name a point beside the line third, as {points[0]}{points[1]}{beside}..."
    else:
        third, line, x = points[2], points[0] + points[1], geometry[1][0]
        message = f"{third} of {entry.name} lies at ({place}), not in the xy plane with y above zero"
        where = f"[{x.value:g}, {math.hypot(plain(y.value), plain(z.value)):g}]"
        hint = (
            f"the frame of the part has its y axis on the side of {third}: write {where}, how far along {line} and how "
            "far beside it, and all other places of the part in this frame"
        )
    reading.fault(message, y.mark, hint)
    return False


def _build_spring(entry: Entry, parts: Parts, reading: Reading) -> None:
    points = points_of(entry.name, entry.mark)
    parts.spring_points[entry.name] = points
    parts.on_parts.update(points)
    if len(points) != 2:
        reading.fault(f"the spring {entry.name} has {len(points)} points, it needs two ends", entry.mark)
        return
    if entry.name in parts.rigid_points:
        hint = f"call the spring {points[1]}{points[0]}"
        reading.fault(f"{entry.name} is a rigid part already", entry.mark, hint)
    if entry.value is not None:
        mass = entry.value.get("mu", Number(0.0, "0", entry.mark))
        ends = (points[0], points[1])
        parts.springs.append(Spring(entry.name, ends, entry.value["k"], entry.value["l"], mass, entry.mark))


def _build_collinear(items: list[Node], parts: Parts, reading: Reading) -> None:
    for item in items:
        if not isinstance(item, TextNode):
            continue  # reported when it was read
        points = reading.attempt(points_of, item.text, item.mark)
        if points is None:
            continue
        if len(points) < 3:
            reading.fault(f"Collinear {item.text} has {len(points)} points, it needs three or more", item.mark)
            continue
        known = [parts.known_point(point, item.mark, f"Collinear {item.text}", reading) for point in points]
        if all(known):
            parts.collinear.append(Collinear(points, item.mark))


def _check_fixed_are_used(entries: Mapping[str, Entry], parts: Parts, reading: Reading, mentioned: set[str]) -> None:
    used = (parts.on_parts | mentioned).union(*(line.points for line in parts.collinear))
    for entry in entries.values():
        if entry.name not in used:
            hint = did_you_mean(entry.name, sorted(parts.on_parts - parts.fixed_names))
            reading.fault(f"the fixed point {entry.name} is on no part", entry.mark, hint)


def _collinear_items(part_data: Node) -> list[Node]:
    """The items of Collinear, as nodes: they are mere text, and their places are wanted."""
    entries = part_data.entries if isinstance(part_data, DictNode) else []
    lines = next((item for key, item in entries if key.text == "Collinear"), None)
    return lines.items if isinstance(lines, ListNode) else []
