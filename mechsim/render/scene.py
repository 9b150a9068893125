"""What there is to draw: the parts of a mechanism as shapes, in frames of their own. Nothing here draws or moves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mechsim.engine.segments import Segments
from mechsim.errors import Fault, SpecError, printable
from mechsim.frozen import frozen
from mechsim.model import build
from mechsim.model.layout import lay_out
from mechsim.model.mechanism import Mechanism
from mechsim.render.held import segments_along
from mechsim.render.parts import SceneBody, bodies_of, local
from mechsim.render.rows import Drawable, state_columns, table_of, usable
from mechsim.result.journal import OutputError
from mechsim.result.layout import Array
from mechsim.result.trajectory import MODE, Trajectory
from mechsim.spec import parse
from mechsim.spec.actions import Actions
from mechsim.spec.document import MechSpec
from mechsim.spec.names import Coordinate, reference

# How far the skin of a part stands off its skeleton when the file does not say: a share of a usual part, or of the
# whole motion so that it can be seen, but slim beside the part that is shortest.
FLESH = 0.036
FLESH_OF_REACH = 0.009
FLESH_OF_SHORTEST = 0.16
FLOORS = frozenset({"plane", "disc", "ball"})  # joints whose second points only mark a plane; of others the third does
LEAST_BALL = 0.5  # of that skin: a particle that is met as a point
TOLERANCE = 1e-12  # where the results do not tell that of their run


@frozen
class SceneSpring:
    name: str
    points: tuple[str, str]
    length: float  # at rest


@frozen
class SceneParticle:
    point: str
    mass: float
    radius: float


@frozen
class Scene:
    """Everything a renderer needs besides where the points are; Frames tell it that."""

    title: str
    parameters_to_show: tuple[tuple[str, float], ...]
    size: float  # a length typical of the mechanism
    energy: float  # an energy typical of it
    dimension: int
    parts: tuple[SceneBody, ...]  # in the order of the file
    springs: tuple[SceneSpring, ...]
    particles: tuple[SceneParticle, ...]
    pivots: tuple[str, ...]  # points where parts are joined, to each other or to the ground
    ground: Mapping[str, Array]  # fixed points and where they are
    footings: tuple[str, ...]  # those of them that something stands on; others only mark a line
    guides: tuple[tuple[str, ...], ...]  # points that stay on one line
    actions: Actions  # joints beyond pins, dampers, drives, controllers: what fittings are made from
    up: Array  # (dimension,), against gravity; without it the last axis
    view: tuple[float, float] | None  # azimuth and elevation in degrees, if the file says
    zscale: float  # distance between layers
    fleshoutwid: float  # how far the skin of a part stands off its skeleton
    mechanism: Mechanism
    segments: Segments  # with the constants of the mechanism along the motion
    unknown: tuple[str, ...]  # sampled controllers of which the results do not tell what they held
    tolerance: float  # of the run

    @property
    def bonds(self) -> dict[str, int]:
        """Of joints and bonds that events let go, the constant that is 1 while they hold."""
        return {gap.name: gap.mode for gap in self.mechanism.gaps if gap.bond}

    def holds(self, bond: str, t: Array) -> NDArray[np.bool_]:
        """Whether a bond holds at these times; what has no bond always does."""
        if not bond:
            return np.ones(len(t), bool)
        constants = self.segments.constants(self.mechanism.constants, self.segments.at(t))
        return np.asarray(constants[:, self.bonds[bond]] > 0)

    @property
    def layers(self) -> int:
        return 1 + max((part.layer for part in self.parts), default=0)


def scene_of(trajectory: Drawable, *, drawn: bool = True) -> Scene:
    """The scene of a Trajectory (or of a Motion), from the mechanism file that it carries. Who does not draw it needs
    no bodies: their outlines take longer than all the rest."""
    trajectory = table_of(trajectory)
    spec = spec_of(trajectory)
    mechanism = only_points(spec) if trajectory.drawing else build(spec)
    columns, _ = usable(trajectory, state_columns(mechanism))
    skin = _skin(spec, _reach(mechanism, columns))
    segments, unknown = segments_along(mechanism, columns, trajectory.segments, trajectory.events)
    return Scene(
        title=printable(trajectory.title if trajectory.status == MODE else spec.title or trajectory.title),
        parameters_to_show=_parameters(spec),
        size=mechanism.size,
        energy=lay_out(spec).chains.whole.energy,
        dimension=spec.dimension,
        parts=bodies_of(spec, skin) if drawn else (),
        springs=tuple(SceneSpring(spring.name, spring.points, float(spring.length)) for spring in spec.springs),
        particles=_particles(spec, skin),
        pivots=_pivots(spec),
        ground={name: np.array([float(x) for x in fixed.coordinates]) for name, fixed in spec.fixed.items()},
        footings=_footings(spec),
        guides=tuple(joint.points for joint in spec.collinear),
        actions=spec.actions,
        up=_up(spec),
        view=_view(spec),
        zscale=float(spec.animation.get("Skeleton", {}).get("zscale", 0) or 0.6 * skin),
        fleshoutwid=skin,
        mechanism=mechanism,
        segments=segments,
        unknown=unknown,
        tolerance=float(trajectory.settings.get("tol") or TOLERANCE),
    )


def only_points(spec: MechSpec) -> Mechanism:
    """The points of a drawing: what moves them is a Lagrangian that it does not tell."""
    layout = lay_out(spec)
    found = spec.title, spec.dimension, layout.variables, layout.constants, (), layout.points, ()
    return Mechanism(*found, layout.size)


def spec_of(trajectory: Trajectory) -> MechSpec:
    """The mechanism file inside a trajectory, with the parameters and the times that the run replaced; what is drawn of
    a user's Lagrangian is such a file too."""
    from mechsim.simulation import adjust

    text = trajectory.drawing or trajectory.spec_text
    if not text.strip():
        hint = "animate a file written by mechsim run; of a Lagrangian say what to draw: lagrangian_system(draw=...)"
        raise OutputError(Fault("the results do not carry the mechanism they belong to", hint=hint))
    try:
        settings, name = trajectory.settings, trajectory.spec_path or "<spec>"
        overrides, files = settings.get("overrides") or {}, settings.get("files") or {}
        spec = parse(text, name, overrides, files, tables_from=None)  # results may come from anybody
        return adjust(spec, t0=settings.get("t0"), tend=settings.get("tend"))  # samplers begin with the run
    except SpecError as error:
        raise OutputError(Fault("the mechanism file inside the results is damaged"), *error.faults) from error


def _parameters(spec: MechSpec) -> tuple[tuple[str, float], ...]:
    names = spec.animation.get("physParamsToShow") or ()
    return tuple((name, float(spec.parameters[name])) for name in names if name in spec.parameters)


def _view(spec: MechSpec) -> tuple[float, float] | None:
    angles = list(spec.animation.get("view") or ())
    return (float(angles[0]), float(angles[1])) if len(angles) == 2 else None


def _up(spec: MechSpec) -> Array:
    pull = np.array([float(x) for x in spec.gravity or ()])
    return -pull / np.linalg.norm(pull) if pull.any() else np.eye(spec.dimension)[-1]


def _skin(spec: MechSpec, reach: float) -> float:
    given = spec.animation.get("Skeleton", {}).get("fleshoutwid")
    if given:
        return float(given)
    extents = [float(np.ptp(local(part), axis=0).max()) for part in spec.rigids]
    lengths = [*extents, *(float(spring.length) for spring in spec.springs)]
    usual = float(np.median([length for length in lengths if length > 0] or [reach or 1.0]))
    shortest = min([extent for extent in extents if extent > 0], default=usual)
    return min(max(FLESH * usual, FLESH_OF_REACH * reach), FLESH_OF_SHORTEST * shortest)


def _reach(mechanism: Mechanism, columns: Mapping[str, Array]) -> float:
    """How far apart the places are that points come to, along any axis."""
    labels = [each.label for each in mechanism.variables if each.kind == "position" and each.label in columns]
    return float(max((np.ptp(columns[label]) for label in labels), default=0.0))


def _particles(spec: MechSpec, skin: float) -> tuple[SceneParticle, ...]:
    """Discs whose area grows with the mass, between once and twice and a half the size of a joint. What meets something
    is as large as it is when it does, so that it touches what it meets."""
    heaviest = max((float(particle.mass) for particle in spec.particles), default=1.0) or 1.0
    met = _met(spec)
    found = []
    for each in spec.particles:
        usual = skin * (1.3 + 0.9 * (float(each.mass) / heaviest) ** 0.5)
        radius = met.get(each.point, usual) or LEAST_BALL * skin
        found.append(SceneParticle(each.point, float(each.mass), radius))
    return tuple(found)


def _met(spec: MechSpec) -> dict[str, float]:
    """Points in contacts, and how far away they are met: a disc's radius, 0 where it is the point itself that meets."""
    found: dict[str, float] = {}
    for contact in spec.actions.contacts:
        away, (first, *others) = float(contact.number or 0), contact.points or ("",)
        if contact.gap is not None:
            known = [reference(name) for name in contact.gap.names]
            found |= {each.point: found.get(each.point, 0.0) for each in known if isinstance(each, Coordinate)}
        elif len(others) == 2:
            found[first] = max(found.get(first, 0.0), away)
        elif not contact.inside and not set(contact.points) & set(spec.fixed):
            found |= {point: max(found.get(point, 0.0), away / 2) for point in contact.points}
        elif not contact.inside:
            found |= {point: found.get(point, 0.0) for point in contact.points}
    return found


def _links(spec: MechSpec) -> list[tuple[str, ...]]:
    """Points of everything that is fastened to its points."""
    links = [part.points for part in spec.rigids] + [spring.points for spring in spec.springs]
    links += [damper.points for damper in spec.actions.dampers] + [rope.points for rope in spec.actions.ropes]
    return [tuple(dict.fromkeys(points)) for points in links]


def _pivots(spec: MechSpec) -> tuple[str, ...]:
    """Points at which two parts meet, or a part meets the ground, in the order of the file; and pins in slots."""
    count: dict[str, int] = {}
    for point in (point for points in _links(spec) for point in points):
        count[point] = count.get(point, 0) + 1
    slotted = {slot.point for slot in spec.actions.slots}
    return tuple(name for name, links in count.items() if links > 1 or name in spec.fixed or name in slotted)


def _footings(spec: MechSpec) -> tuple[str, ...]:
    """Fixed points, but for those that only tell where a line is: a hatched rail says that better."""
    linked = {point for points in _links(spec) for point in points}
    actions = spec.actions
    lines: list[tuple[str, ...]] = [joint.points for joint in spec.collinear]
    lines += [slot.line for slot in actions.slots] + [slider.line for slider in actions.sliders]
    lines += [wheel.line for wheel in actions.rollings]
    lines += [joint.second[0 if joint.sort in FLOORS else 2 :] for joint in actions.spatial]
    lines += [contact.points for contact in actions.contacts if not contact.inside]
    lines += [side.points for each in actions.meetings for side in (each.first, each.second)]
    marks = {point for line in lines for point in line} - linked
    return tuple(name for name in spec.fixed if name not in marks)
