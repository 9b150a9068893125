"""Faults that only the whole mechanism shows. Each function returns what it finds; `build` raises them together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from mechsim.errors import Fault, Mark
from mechsim.lagrangian.vector import PLANE, SPACE, cross, dot, square, vector, vector_product
from mechsim.model.axles import torques_on_no_axle
from mechsim.model.book import FIT_TOLERANCE
from mechsim.model.extent import distance, extent
from mechsim.model.geometry import norm
from mechsim.model.layout import Layout, accelerated_angles
from mechsim.model.mechanism import Element
from mechsim.spec.document import Collinear, MechSpec, Rigid
from mechsim.spec.number import values_of

Places = Mapping[str, tuple[float, ...]]


def before_building(spec: MechSpec, layout: Layout) -> list[Fault]:
    """Geometry that cannot be, and angles or forces on parts that have no frame."""
    faults = [fault for part in spec.rigids for fault in _coincident_reference_points(part)]
    if faults:  # the checks below divide by these lengths
        return faults
    if not layout.variables:
        faults.append(Fault("nothing can move: every point is fixed", _first_mark(spec), "free a point, or add a part"))
    for part in spec.rigids:
        faults += _fit_of_fixed_points(part, layout)
    for joint in spec.collinear:
        faults += _collinear(joint, spec, layout)
    faults += _mirror_images(spec)
    faults += torques_on_no_axle(spec) if spec.dimension == SPACE else ()
    return faults + _turn_angles(spec) + _follower_forces(spec)


def undetermined_points(spec: MechSpec, layout: Layout, elements: tuple[Element, ...]) -> list[Fault]:
    """Moving points without mass that too few constraints touch, so that some direction of theirs obeys no equation.

    This finds the plain cases, point by point; the rank of the assembled equations finds the rest at the start.
    """
    massive: set[int] = set()
    rows: Counter[str] = Counter()
    owners = {slot: name for name, slots in layout.points.items() for slot in slots}
    for element in elements:
        if _has_mass(element):
            massive.update(element.slots)
        # A turn angle takes one of its part's rows for itself.
        count = len(element.multipliers) - (element.kind == "turned_length")
        rows.update(dict.fromkeys({owners[slot] for slot in element.slots if slot in owners}, count))
    faults = []
    for name, slots in layout.points.items():
        if slots[0] >= 0 and slots[0] not in massive and rows[name] < spec.dimension:
            message = f"the motion of point {name} is undetermined: it carries no mass and can move freely"
            hint = f"give a part at {name} a mass, or put a particle there"
            faults.append(Fault(message, _mark_of_point(spec, name), hint))
    return faults


def _coincident_reference_points(part: Rigid) -> list[Fault]:
    first, second = map(values_of, part.geometry[:2])
    if first != second:
        return []
    names = " and ".join(part.points[:2])
    message = f"the reference points {names} of part {part.name} coincide, so they give it no direction"
    return [Fault(message, part.mark, "put them apart, or make the part a particle")]


def _fit_of_fixed_points(part: Rigid, layout: Layout) -> list[Fault]:
    """A part pinned to the world at two points or more must fit there, for it cannot give way."""
    pinned = [name for name in part.points if layout.is_fixed(name)]
    local = dict(zip(part.points, map(values_of, part.geometry), strict=True))
    world = {name: layout.fixed_position(name) for name in pinned}
    size = extent(local.values())
    for p, q in combinations(pinned, 2):
        inside, outside = distance(local[p], local[q]), distance(world[p], world[q])
        if abs(inside - outside) > FIT_TOLERANCE * size:
            message = (
                f"part {part.name} does not fit: its points {p} and {q} are {inside:.10g} apart, "
                f"but they are fixed in the world {outside:.10g} apart"
            )
            return [Fault(message, part.mark, f"change Geom of {part.name}, or the place of {p} or {q} under Fixed")]
    if names := _mirrored(local, world, size):
        *others, name = names
        message = f"part {part.name} does not fit: point {name} is fixed on the wrong side of {''.join(others)}"
        return [Fault(message, part.mark, f"mirror Geom of {part.name}, or move {name} under Fixed")]
    return []


def _mirror_images(spec: MechSpec) -> list[Fault]:
    """Parts that share so many points that they are one body: one may not have them as in a mirror."""
    faults: list[Fault] = []
    parts_at: dict[str, list[Rigid]] = {}
    for part in (each for each in spec.rigids if len(each.points) > spec.dimension):
        shared: dict[str, list[str]] = {}
        before = {other.name: other for name in part.points for other in parts_at.get(name, ())}
        for name in part.points:
            for other in parts_at.setdefault(name, []):
                shared.setdefault(other.name, []).append(name)
            parts_at[name].append(part)
        for earlier, names in shared.items():
            if len(names) > spec.dimension:
                faults += _mirror_image(part, before[earlier], names)
    return faults


def _mirror_image(part: Rigid, other: Rigid, shared: Sequence[str]) -> list[Fault]:
    local, there = (_corners(each, shared) for each in (part, other))
    size = extent(local.values())
    distances = [(distance(local[p], local[q]), distance(there[p], there[q])) for p, q in combinations(shared, 2)]
    if any((here - away) ** 2 > (FIT_TOLERANCE * size) ** 2 for here, away in distances):
        return []  # told where distances are asked for
    if names := _mirrored(local, there, size):
        *others, name = names
        message = (
            f"parts {part.name} and {other.name} do not fit: {name} is on one side of {''.join(others)} in {part.name} "
            f"and on the other in {other.name}"
        )
        return [Fault(message, part.mark, "mirror the Geom of one of them")]
    return []


def _corners(part: Rigid, names: Sequence[str]) -> Places:
    return {name: values_of(part.geometry[part.points.index(name)]) for name in names}


def _mirrored(local: Places, world: Places, size: float) -> tuple[str, ...]:
    """Where all distances fit, what is left is a mirror image. As many points show it as there are dimensions and one
    more: those, if so."""
    dimension = len(next(iter(local.values())))
    for names in combinations(world, dimension + 1):
        inside, outside = (_volume([where[name] for name in names]) for where in (local, world))
        if inside * outside < 0 and abs(inside) > FIT_TOLERANCE * size**dimension:
            return names
    return ()


def _volume(places: Sequence[Sequence[float]]) -> float:
    """With its sign: of the triangle in the plane, of the tetrahedron in space, but for a factor."""
    first, *others = map(vector, places)
    edges = [each - first for each in others]
    return cross(*edges) if len(edges) == PLANE else dot(edges[0], vector_product(edges[1], edges[2]))


def _collinear(joint: Collinear, spec: MechSpec, layout: Layout) -> list[Fault]:
    """Points that cannot be on a line, or a line that fixed points at one place do not span."""
    pinned = [name for name in joint.points if layout.is_fixed(name)]
    world = {name: layout.fixed_position(name) for name in pinned}
    for p, q in combinations(pinned, 2):
        if world[p] == world[q]:
            message = f"Collinear {''.join(joint.points)}: the fixed points {p} and {q} are at the same place"
            return [Fault(message, joint.mark, "use two fixed points that are apart, they give the line its direction")]
    frames = [("the world", world)]
    for part in spec.rigids:
        local = dict(zip(part.points, map(values_of, part.geometry), strict=True))
        frames.append((f"part {part.name}", {name: local[name] for name in joint.points if name in local}))
    for owner, places in frames:
        size = extent(places.values())
        for p, q, r in combinations(places, 3):
            a, b, c = (vector(places[name]) for name in (p, q, r))
            aside = (c - a) - (b - a) * (dot(b - a, c - a) / square(b - a)) if a != b else c - a
            if norm(aside) > FIT_TOLERANCE * size:
                message = f"Collinear {''.join(joint.points)}: {p}, {q} and {r} are not on a line in {owner}"
                return [Fault(message, joint.mark, "leave one of them out, or move it")]
    return []


def _turn_angles(spec: MechSpec) -> list[Fault]:
    """Only a rigid part has a turn angle, and only one that can turn; in space the reader has seen to it."""
    if spec.dimension == SPACE:
        return []
    asked: list[tuple[str, Mark | None]] = []
    for torque in spec.torques:
        asked += [(name, torque.mark) for name in (torque.part, torque.against) if name]
    problem = spec.problem
    starts: list[tuple[str, Mark | None]] = [
        (part, start.number.mark) for group in (problem.angles, problem.rates) for part, start in group.items()
    ]
    written = [*(spec.solver.outfile.angles or ()), *sorted(accelerated_angles(spec))]
    outputs: list[tuple[str, Mark | None]] = [(part, None) for part in written]
    rigids = {part.name: part for part in spec.rigids}
    faults = []
    for name, mark in [*asked, *starts, *outputs]:
        if name not in rigids:
            hint = "name a part under Rigids; springs and particles have no turn angle"
            faults.append(Fault(f"{name} is no rigid part, so it has no turn angle", mark, hint))
    for name, mark in [*starts, *outputs]:
        if name in rigids and set(rigids[name].points[:2]) <= set(spec.fixed):
            message = f"part {name} has no turn angle: both its reference points are fixed in the world"
            faults.append(Fault(message, mark or rigids[name].mark, "leave it out"))
    return faults


def _follower_forces(spec: MechSpec) -> list[Fault]:
    rigids = {part.name: part for part in spec.rigids}
    faults = []
    for force in spec.forces:
        if force.part is not None and force.part not in rigids:
            message = f"{force.part} is no rigid part, so a force cannot keep its direction in it"
            faults.append(Fault(message, force.mark, "name a part under Rigids, or give the force in the world"))
        elif force.part is not None and force.point not in rigids[force.part].points:
            message = f"point {force.point} is not on part {force.part}"
            faults.append(Fault(message, force.mark, f"its points are {', '.join(rigids[force.part].points)}"))
    return faults


def _has_mass(element: Element) -> bool:
    return any(element.parameters.get(key, 0.0) > 0 for key in ("mass", "spin"))


def _mark_of_point(spec: MechSpec, name: str) -> Mark | None:
    marks = [part.mark for part in spec.rigids if name in part.points]
    marks += [spring.mark for spring in spec.springs if name in spring.points]
    marks += [particle.mark for particle in spec.particles if particle.point == name]
    return marks[0] if marks else None


def _first_mark(spec: MechSpec) -> Mark | None:
    parts = [part.mark for part in spec.rigids] + [spring.mark for spring in spec.springs]
    return next(iter(parts + [particle.mark for particle in spec.particles]), None)
