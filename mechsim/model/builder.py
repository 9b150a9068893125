"""MechSpec -> Mechanism: every part, joint and force of the file becomes elements (seed 001 sections 4.2-4.5)."""

from __future__ import annotations

from mechsim.errors import SpecError
from mechsim.lagrangian.vector import PLANE, components
from mechsim.model import checks, joints, loads
from mechsim.model.bodies import rigid_elements
from mechsim.model.bonds import LetGo, add_bonds, holding
from mechsim.model.book import Book, Draft
from mechsim.model.compliance import add_compliances
from mechsim.model.contacts import add_events, add_gaps
from mechsim.model.control import add_controllers, add_drives
from mechsim.model.friction import Rubbing, add_frictions
from mechsim.model.grip import Grip, Place
from mechsim.model.layout import Layout, lay_out
from mechsim.model.lines import spanning_pair
from mechsim.model.mechanism import Attitude, Element, Facing, Guide, Mechanism, Part, Weld
from mechsim.model.notes import notes_of
from mechsim.model.origin import Origin
from mechsim.model.pairs import add_pairs
from mechsim.model.phase import meshed
from mechsim.model.quantities import Quantities
from mechsim.spec.document import Collinear, MechSpec, Particle, Spring
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
    let_go = LetGo(spec.actions)
    _add_laws(quantities, book, let_go)
    readouts = _add_readouts(quantities, book)
    readouts |= add_compliances(quantities, book)
    rubbings: list[Rubbing] = []
    bonds = add_bonds(quantities, book, let_go)
    gaps = (*bonds, *add_gaps(quantities, book, len(bonds), rubbings))
    lent, pairs = add_pairs(quantities, book, len(gaps), rubbings) if spec.dimension == PLANE else ((), ())
    pushing = [book.elements[gap.element].multipliers[gap.place] for gap in (*gaps, *lent)]
    frictions = add_frictions([*rubbings, *loads.joint_frictions(quantities)], pushing, book)
    events = add_events(quantities, book)
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
        break_at_end=book.break_at_end,
        samplers=tuple(book.samplers),
        inputs=book.inputs,
        readouts=readouts,
        guesses=book.guesses,
        guides=_guides(spec),
        welds=tuple(Weld(each.part, each.other, each.angle.value, each.mark) for each in spec.actions.welds),
        facings=_facings(spec),
        attitudes=tuple(Attitude(part, way) for part, way in spec.output.attitudes),
        accelerations=spec.output.accelerations,
        jerks=spec.output.jerks,
        events=events,
        gaps=(*gaps, *lent),
        pairs=pairs,
        frictions=frictions,
        notes=(*notes_of(spec, quantities), *book.notes) if noted else (),
    )
    return holding(meshed(mechanism, spec.problem), spec.problem)


def _add_laws(quantities: Quantities, book: Book, let_go: LetGo) -> None:
    """Everything that is said by formulas; constraints first, because friction may read their multipliers."""
    drafts = (*loads.resting(quantities), *loads.constant(quantities), *let_go.others(joints.drafts(quantities)))
    for draft in drafts:
        book.add(draft)
    joints.add_lines(quantities, book)
    joints.add_curves(quantities, book)
    add_drives(quantities, book)
    for draft in loads.drafts(quantities):
        book.add(draft)
    add_controllers(quantities, book)


def _add_readouts(quantities: Quantities, book: Book) -> dict[str, int]:
    """Elements that do nothing but compute the signals of Output."""
    readouts: dict[str, int] = {}
    for name in quantities.spec.output.signals:
        signals, origin = [quantities.named(name)], Origin("signal", name)
        number = book.add(Draft(f"signal {name}", None, signals=signals, readout=True, origin=origin))
        readouts |= {name: number} if number is not None else {}
    return readouts


def _elements(spec: MechSpec, layout: Layout) -> list[Element]:
    """Constraints in the order of seed 001 section 4.5: per rigid part its length, then its UPs; joints last."""
    gravity = _gravity(spec)
    elements: list[Element] = []
    elements += rigid_elements(spec.rigids, layout, gravity)
    for spring in spec.springs:
        elements += _spring(spring, layout, gravity)
    for particle in spec.particles:
        elements += _particle(particle, layout, gravity)
    if spec.dimension == PLANE:  # lines in space are laws: see model/spatial_joints.py
        for joint in spec.collinear:
            elements += _collinear(joint, spec, layout)
    return elements


def _gravity(spec: MechSpec) -> dict[str, float]:
    return components("g", values_of(spec.gravity) if spec.gravity else (0.0,) * spec.dimension)


def _spring(spring: Spring, layout: Layout, gravity: dict[str, float]) -> list[Element]:
    if layout.is_fixed(*spring.points):
        return []
    parameters = {
        "stiffness": spring.stiffness.value,
        "length": spring.length.value,
        "mass": spring.mass.value,
        **gravity,
    }
    slots, origin = layout.slots(*spring.points), Origin("spring", spring.name, spring.name)
    return [Element("spring", spring.name, slots, parameters, mark=spring.mark, origin=origin)]


def _particle(particle: Particle, layout: Layout, gravity: dict[str, float]) -> list[Element]:
    if layout.is_fixed(particle.point) or not particle.mass.value:
        return []
    parameters, slots = {"mass": particle.mass.value, **gravity}, layout.slots(particle.point)
    origin = Origin("particle", particle.point, particle.point)
    return [Element("particle", particle.point, slots, parameters, mark=particle.mark, origin=origin)]


def _collinear(joint: Collinear, spec: MechSpec, layout: Layout) -> list[Element]:
    """One element per point beyond the two that span the line."""
    base = spanning_pair(joint, spec)
    elements = []
    for name in joint.points:
        triple = {*base, name}
        if name not in base and not layout.is_fixed(*triple):
            label = "col_" + "".join(point for point in joint.points if point in triple)
            slots = layout.slots(*base, name)
            owner, grips = "".join(joint.points), _grips(base, name, spec, layout)
            origin = Origin("collinear", owner)
            elements.append(Element("collinear", owner, slots, {}, (label,), joint.mark, grips=grips, origin=origin))
    return elements


def _grips(base: tuple[str, str], name: str, spec: MechSpec, layout: Layout) -> tuple[Grip, ...]:
    """The part that has two points of the line is felt to be the line; the third point slides on it."""
    for point, *line in ((name, *base), (base[0], base[1], name), (base[1], base[0], name)):
        parts = [part.name for part in spec.rigids if set(line) <= set(part.points)]
        if parts and not layout.is_fixed(*line):
            return (Grip(parts[0], tuple(line), Place(point)),)
    return ()


def _guides(spec: MechSpec) -> tuple[Guide, ...]:
    first = {part.name: part.points[0] for part in spec.rigids}
    bases = [(joint, spanning_pair(joint, spec)) for joint in spec.collinear]
    collinear = [
        Guide(name, base, mark=joint.mark) for joint, base in bases for name in joint.points if name not in base
    ]
    slots = [Guide(slot.point, slot.line, slot.offset.value, mark=slot.mark) for slot in spec.actions.slots]
    sliders = [
        Guide(first[each.part], each.line, each.offset.value, each.part, each.angle.value, each.mark)
        for each in spec.actions.sliders
    ]
    return (*collinear, *slots, *sliders)


def _facings(spec: MechSpec) -> tuple[Facing, ...]:
    joints = [joint for joint in spec.actions.spatial if joint.sort in ("prism", "coupling")]
    return tuple(Facing(each.sort, each.first, each.second, each.number.value, each.mark) for each in joints)


def _parts(spec: MechSpec) -> tuple[Part, ...]:
    rigids = [
        Part(part.name, "rigid", part.points, tuple(map(values_of, part.geometry)), part.solids) for part in spec.rigids
    ]
    springs = [Part(spring.name, "spring", spring.points) for spring in spec.springs]
    # A particle and a piston at one point are one part to whoever looks.
    points = dict.fromkeys(particle.point for particle in spec.particles)
    particles = [Part(point, "particle", (point,)) for point in points]
    return (*rigids, *springs, *particles)
