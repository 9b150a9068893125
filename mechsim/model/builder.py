"""MechSpec -> Mechanism: every part, joint and force of the file becomes elements (seed 001 sections 4.2-4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from mechsim.errors import SpecError
from mechsim.model import checks, joints, loads, rigid
from mechsim.model.book import Book, Draft
from mechsim.model.control import add_controllers, add_drives
from mechsim.model.extent import distance
from mechsim.model.grip import Grip, Place
from mechsim.model.layout import Layout, lay_out
from mechsim.model.mechanism import Element, Guide, Mechanism, Part
from mechsim.model.notes import notes_of
from mechsim.model.phase import meshed
from mechsim.model.quantities import Quantities
from mechsim.spec.document import Collinear, MechSpec, Particle, PointForce, Rigid, Spring, Torque
from mechsim.spec.number import values_of


def build(spec: MechSpec, noted: bool = True) -> Mechanism:
    """The mechanism a file describes; `noted`: with what it says that may not be meant. Raises SpecError with all
    faults that only the whole mechanism shows."""
    layout = lay_out(spec)
    faults = checks.before_building(spec, layout)
    if faults:
        raise SpecError(*faults)
    book = Book(layout, _elements(spec, layout))
    quantities = Quantities(spec, layout, book)
    quantities.add_inputs()
    _add_laws(quantities, book)
    readouts = _add_readouts(quantities, book)
    elements = tuple(book.elements)
    faults = book.faults or checks.undetermined_points(spec, layout, elements)
    if faults:
        raise SpecError(*faults)
    mechanism = Mechanism(
        title=spec.title,
        dimension=spec.dimension,
        variables=tuple(book.variables),
        constants=tuple(book.constants),
        elements=elements,
        points=layout.points,
        parts=_parts(spec),
        size=layout.size,
        laws=book.laws,
        switches=book.switches,
        samplers=tuple(book.samplers),
        inputs=book.inputs,
        readouts=readouts,
        guesses=book.guesses,
        guides=_guides(spec),
        notes=(*notes_of(spec, quantities), *book.notes) if noted else (),
    )
    return meshed(mechanism, spec.problem)


def _add_laws(quantities: Quantities, book: Book) -> None:
    """Everything that is said by formulas; constraints first, because friction may read their multipliers."""
    for draft in joints.drafts(quantities):
        book.add(draft)
    joints.add_curves(quantities, book)
    add_drives(quantities, book)
    for draft in loads.drafts(quantities):
        book.add(draft)
    add_controllers(quantities, book)


def _add_readouts(quantities: Quantities, book: Book) -> dict[str, int]:
    """Elements that do nothing but compute the signals of Output."""
    readouts: dict[str, int] = {}
    for name in quantities.spec.output.signals:
        number = book.add(Draft(f"signal {name}", None, signals=[quantities.named(name)], readout=True))
        readouts |= {name: number} if number is not None else {}
    return readouts


def _elements(spec: MechSpec, layout: Layout) -> list[Element]:
    """Constraints in the order of seed 001 section 4.5: per rigid part its length, then its UPs; joints last."""
    gravity = _gravity(spec)
    elements: list[Element] = []
    for part in sorted(spec.rigids, key=lambda part: part.name):  # the order the seed prints in section 4.5
        elements += _rigid(part, layout, gravity)
    for spring in spec.springs:
        elements += _spring(spring, layout, gravity)
    for particle in spec.particles:
        elements += _particle(particle, layout, gravity)
    for joint in spec.collinear:
        elements += _collinear(joint, spec, layout)
    rigids = {part.name: part for part in spec.rigids}
    for force in spec.forces:
        elements += _force(force, rigids, layout)
    for torque in spec.torques:
        elements += _torque(torque, layout)
    return elements


def _gravity(spec: MechSpec) -> dict[str, float]:
    vector = values_of(spec.gravity) if spec.gravity else (0.0,) * spec.dimension
    return {"g_x": vector[0], "g_y": vector[1]}


def _rigid(part: Rigid, layout: Layout, gravity: dict[str, float]) -> list[Element]:
    """Inertia, length of the RPs, and placement of each UP. What stands still in the world adds no element."""
    first, second, *useful = part.points
    corners = [values_of(point) for point in part.geometry]
    length = distance(*corners[:2])
    slots = layout.slots(first, second)
    elements = []
    if not layout.is_fixed(first, second):
        if part.mass.value or part.inertia.value:
            parameters = _body_parameters(part, corners, length) | gravity
            elements.append(Element("planar_body", part.name, slots, parameters, mark=part.mark))
        elements.append(_length(part, layout, length))
    for name, corner in zip(useful, corners[2:], strict=True):
        if not layout.is_fixed(first, second, name):
            coefficients = rigid.placement_coefficients(corners[0], corners[1], corner)
            parameters = {
                f"{side}_{axis}": value
                for side, vector in zip("abc", coefficients, strict=True)
                for axis, value in zip("xy", vector, strict=True)
            }
            labels = (f"{name}_x,{first}{second}", f"{name}_y,{first}{second}")
            elements.append(Element("placement", part.name, slots + layout.slots(name), parameters, labels, part.mark))
    return elements


def _body_parameters(part: Rigid, corners: Sequence[tuple[float, ...]], length: float) -> dict[str, float]:
    along, across = rigid.placement_ratio(corners[0], corners[1], values_of(part.centroid))
    return {"mass": part.mass.value, "spin": part.inertia.value / length**2, "xi_x": along, "xi_y": across}


def _length(part: Rigid, layout: Layout, length: float) -> Element:
    first, second = part.points[:2]
    slots = layout.slots(first, second)
    if part.name in layout.angles:
        labels = (f"{second}_x,{first}{second}", f"{second}_y,{first}{second}")
        slots += (layout.angles[part.name],)
        return Element("turned_length", part.name, slots, {"length": length}, labels, part.mark)
    return Element("length", part.name, slots, {"length": length}, (f"l_{part.name}",), part.mark)


def _spring(spring: Spring, layout: Layout, gravity: dict[str, float]) -> list[Element]:
    if layout.is_fixed(*spring.points):
        return []
    parameters = {
        "stiffness": spring.stiffness.value,
        "length": spring.length.value,
        "mass": spring.mass.value,
        **gravity,
    }
    return [Element("spring", spring.name, layout.slots(*spring.points), parameters, mark=spring.mark)]


def _particle(particle: Particle, layout: Layout, gravity: dict[str, float]) -> list[Element]:
    if layout.is_fixed(particle.point) or not particle.mass.value:
        return []
    parameters = {"mass": particle.mass.value, **gravity}
    return [Element("particle", particle.point, layout.slots(particle.point), parameters, mark=particle.mark)]


def _collinear(joint: Collinear, spec: MechSpec, layout: Layout) -> list[Element]:
    """One element per point beyond the two that span the line."""
    base = _spanning_pair(joint, spec)
    elements = []
    for name in joint.points:
        triple = {*base, name}
        if name not in base and not layout.is_fixed(*triple):
            label = "col_" + "".join(point for point in joint.points if point in triple)
            slots = layout.slots(*base, name)
            owner, grips = "".join(joint.points), _grips(base, name, spec, layout)
            elements.append(Element("collinear", owner, slots, {}, (label,), joint.mark, grips=grips))
    return elements


def _grips(base: tuple[str, str], name: str, spec: MechSpec, layout: Layout) -> tuple[Grip, ...]:
    """The part that has two points of the line is felt to be the line; the third point slides on it."""
    for point, *line in ((name, *base), (base[0], base[1], name), (base[1], base[0], name)):
        parts = [part.name for part in spec.rigids if set(line) <= set(part.points)]
        if parts and not layout.is_fixed(*line):
            return (Grip(parts[0], tuple(line), Place(point)),)
    return ()


def _spanning_pair(joint: Collinear, spec: MechSpec) -> tuple[str, str]:
    """Two points that can never meet, if the joint has such: a line through points that meet is no line."""
    for pair in combinations(joint.points, 2):
        if set(pair) <= set(spec.fixed) or any(_apart(pair, part) for part in spec.rigids):
            return pair
    return joint.points[0], joint.points[1]


def _apart(pair: tuple[str, str], part: Rigid) -> bool:
    if not set(pair) <= set(part.points):
        return False
    p, q = (values_of(part.geometry[part.points.index(name)]) for name in pair)
    return p != q


def _force(force: PointForce, rigids: dict[str, Rigid], layout: Layout) -> list[Element]:
    """A force at a point that stands still does no work, so it adds nothing."""
    if layout.is_fixed(force.point):
        return []
    parameters = dict(zip(("f_x", "f_y"), values_of(force.force), strict=True))
    if force.part is None:
        return [Element("force", force.point, layout.slots(force.point), parameters, mark=force.mark)]
    part = rigids[force.part]
    ends = part.points[:2]
    slots = (*layout.slots(*ends, force.point), layout.works[force.part, force.point])
    parameters["length"] = distance(*map(values_of, part.geometry[:2]))
    return [Element("follower_force", part.name, slots, parameters, mark=force.mark, account=True)]


def _torque(torque: Torque, layout: Layout) -> list[Element]:
    """V = -torque * theta (4.5), and the reaction with the other sign. A part that cannot turn takes it silently."""
    sides = ((torque.part, torque.torque.value), (torque.against or "", -torque.torque.value))
    return [
        Element("torque", part, (layout.angles[part],), {"torque": value}, mark=torque.mark)
        for part, value in sides
        if part in layout.angles
    ]


def _guides(spec: MechSpec) -> tuple[Guide, ...]:
    first = {part.name: part.points[0] for part in spec.rigids}
    bases = [(joint, _spanning_pair(joint, spec)) for joint in spec.collinear]
    collinear = [
        Guide(name, base, mark=joint.mark) for joint, base in bases for name in joint.points if name not in base
    ]
    slots = [Guide(slot.point, slot.line, slot.offset.value, mark=slot.mark) for slot in spec.actions.slots]
    sliders = [
        Guide(first[each.part], each.line, each.offset.value, each.part, each.angle.value, each.mark)
        for each in spec.actions.sliders
    ]
    return (*collinear, *slots, *sliders)


def _parts(spec: MechSpec) -> tuple[Part, ...]:
    rigids = [Part(part.name, "rigid", part.points, tuple(map(values_of, part.geometry))) for part in spec.rigids]
    springs = [Part(spring.name, "spring", spring.points) for spring in spec.springs]
    # A particle and a piston at one point are one part to whoever looks.
    points = dict.fromkeys(particle.point for particle in spec.particles)
    particles = [Part(point, "particle", (point,)) for point in points]
    return (*rigids, *springs, *particles)
