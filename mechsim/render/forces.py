"""Forces as arrows, all to one scale: what acts on the mechanism besides weight, and what parts feel in their joints.

Arrows come from the equations themselves, so that springs with damping, laws of time and state, controllers and
friction are drawn with what they exert at that moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen
from mechsim.lagrangian.vector import AXES
from mechsim.model.axis import moments
from mechsim.model.mechanism import Element, Mechanism
from mechsim.render.dynamics import Dynamics, Rows
from mechsim.render.frames import Frames
from mechsim.render.gaps import Meeting, meetings
from mechsim.render.scene import Scene
from mechsim.render.sizes import natural_sizes
from mechsim.result.bearings import Bearing
from mechsim.result.contacts import position
from mechsim.result.layout import Array
from mechsim.spec.names import PLANE
from mechsim.spec.turning import half_planes

USUAL = 0.85  # the share of moments in which no force is drawn longer than arrows are meant to be
MOST_TIMES = 1.5  # as long: an arrow that would be longer is broken, and its strength is written beside it
APPLIED, ELASTIC, CONTROLLED = range(3)  # colours of forces


@frozen
class Arrow:
    """A force at a point, (k, dimension), or a torque about it, in the plane (k,); NaN where it is not determined.

    `part`: the colour is that of a part, which feels the force in its joint. `ring` tells torques at one point apart.
    """

    point: str
    vectors: Array
    colour: int
    label: str
    part: bool = False
    ring: int = 0
    arm: Array | None = None  # (k, dimension), from the point to where it acts, if not at the point itself
    turning: bool = False  # a torque in space, a vector along the axis that it turns about

    def places(self, frames: Frames) -> Array:
        """Where it acts, (k, dimension)."""
        return frames.points[self.point] if self.arm is None else frames.points[self.point] + self.arm

    @property
    def is_torque(self) -> bool:
        return self.turning or self.vectors.ndim == 1

    @property
    def strengths(self) -> Array:
        """Newtons or newton metres, (k,); 0 where it is not determined."""
        strong: Array = np.abs(self.vectors) if self.vectors.ndim == 1 else np.hypot.reduce(self.vectors, axis=-1)
        return np.nan_to_num(strong)


def with_arrows(frames: Frames, scene: Scene, show: Sequence[str]) -> Frames:
    """The same frames with the forces to be shown, theirs and those of the whole motion; notes say what cannot be."""
    if not {"forces", "reactions"} & set(show):
        return frames
    if frames.lacking:
        return frames.noting(f"forces are not drawn: the results lack the columns {', '.join(frames.lacking)}")
    if not scene.mechanism.elements:
        return frames.noting("forces are not drawn: of a Lagrangian only the points are told")
    dynamics = Dynamics(scene, frames.motion)
    notes = [dynamics.guesswork(frames)]
    found = []
    for each in (frames, frames.motion):
        arrows: list[Arrow] = []
        if "forces" in show:
            arrows += applied(dynamics, each, notes)
        if "reactions" in show:
            arrows += reactions(dynamics, each, notes)
        found.append(tuple(arrows))
    whole = frames.whole and replace(frames.whole, arrows=found[1])
    return replace(frames, arrows=found[0], whole=whole).noting(*notes)


def applied(dynamics: Dynamics, frames: Frames, notes: list[str]) -> list[Arrow]:
    """What the file's forces, torques, potentials, springs, dampers, friction and controllers exert."""
    scene, mechanism = dynamics.scene, dynamics.scene.mechanism
    chosen = [number for number, each in enumerate(mechanism.elements) if acts(each, scene)]
    if hidden := [number for number in chosen if mechanism.elements[number].owner in scene.unknown]:
        names = ", ".join(mechanism.elements[number].owner for number in hidden)
        notes.append(f"the force of the {names} is not drawn: the results do not tell what it held; {TELLING}")
    chosen = [number for number in chosen if number not in hidden]
    rows = dynamics.exerted(frames, set(chosen))
    groups = _groups(scene, chosen).items()
    arrows = [arrow for key, group in groups for arrow in _arrows(key, group, rows, scene, frames)]
    if any(np.isnan(arrow.vectors).any() for arrow in arrows):
        notes.append("some forces are not drawn at moments when the equations do not determine them")
    return _ringed(arrows)


TELLING = "write the results to .npz, or to .csv without --samples and --dt"


def reactions(dynamics: Dynamics, frames: Frames, notes: list[str]) -> list[Arrow]:
    """The force on each rigid part at each of its joints. Not where redundant constraints leave it open."""
    scene = dynamics.scene
    if scene.unknown:
        names = ", ".join(scene.unknown)
        notes.append(f"reactions are not drawn: the results do not tell what the {names} held; {TELLING}")
        return []
    columns = dynamics.reaction_columns(frames)
    colours = {part.name: part.colour for part in scene.parts}
    arrows, left_open = [], []
    for bearing in dynamics.reactions.reactions.bearings:
        point, part, labels = bearing.point, bearing.part.name, _columns(bearing, scene)
        if part in colours and not dynamics.left_open.isdisjoint(labels):
            left_open.append(f"{point} on {part}")
        elif part in colours:
            force = np.stack([columns[label] for label in labels], axis=1)
            arm = None
            if bearing.label != point:
                arm = bearing.place(frames.coordinates) - position(point, scene.mechanism, frames.coordinates)
            arrows.append(Arrow(point, force, colours[part], f"on {part} at {bearing.label}", part=True, arm=arm))
    arrows += contact_forces(dynamics, frames)
    if left_open:
        notes.append(f"reactions at {', '.join(left_open)} are not drawn: redundant constraints leave them open")
    if any(np.isnan(arrow.vectors).any() for arrow in arrows):
        notes.append("reactions are not drawn at moments when the equations do not determine them")
    return arrows


def contact_forces(dynamics: Dynamics, frames: Frames) -> list[Arrow]:
    """What contacts push with while they last: on a point that is pushed, or about the joint that a stop holds."""
    scene, segments = dynamics.scene, dynamics.scene.segments
    if not scene.mechanism.gaps:
        return []
    points = dynamics.points(frames)
    _, multipliers = dynamics.leading(points)
    held = segments.constants(scene.mechanism.constants, segments.at(frames.t))
    arrows = []
    for meeting, row in zip(meetings(scene), dynamics.system.gap_rows, strict=True):
        closed = held[:, meeting.gap.mode] > 0
        if not meeting.pushed or meeting.gap.bond or not closed.any():  # forces of bonds are reactions
            continue
        pushes = np.where(closed, -multipliers[:, row], 0.0)
        arrows.append(_contact_force(meeting, frames, pushes, scene))
    return arrows


def _contact_force(meeting: Meeting, frames: Frames, pushes: Array, scene: Scene) -> Arrow:
    """In the colour of a part that feels it; of a particle in the one that no part has."""
    colours = {point: body.colour for body in scene.parts for point in body.points}
    at, label = meeting.pushed, f"contact {meeting.gap.name}"
    if meeting.sort == "turn":
        torque = pushes * meeting.slope(frames, meeting.turned)
        return Arrow(at, torque, colours.get(at, 0), label, part=True)
    force = pushes[:, None] * meeting.slopes(frames, at)
    return Arrow(at, force, colours.get(at, len(scene.parts)), label, part=True)


def _columns(bearing: Bearing, scene: Scene) -> list[str]:
    return [f"{bearing.name}_F{axis}" for axis in AXES[: scene.dimension]]


@frozen
class Strength:
    """One scale for all arrows of a picture, a film or a page: the force, in newtons, whose arrow is as long as arrows
    usually are, and the torque, in newton metres, whose arrow turns farthest. 0: there is none but rounding."""

    force: float
    torque: float

    @classmethod
    def of(cls, frames: Frames, scene: Scene) -> Strength:
        """From the whole motion, by the strongest of a usual moment: one blow must not make all else too small to be
        seen."""
        sizes = natural_sizes(scene, float(np.ptp(frames.motion.t)))
        found = {}
        for unit, turning in (("N", False), ("N m", True)):
            strengths = [arrow.strengths for arrow in frames.motion.arrows if arrow.is_torque == turning]
            strongest = np.max(strengths, axis=0) if strengths else np.zeros(1)
            usual, peak = float(np.quantile(strongest, USUAL)), float(strongest.max())
            if sizes.is_nothing(unit, usual):
                usual = 0.0 if sizes.is_nothing(unit, peak) else peak / MOST_TIMES
            found[unit] = usual, min(peak, MOST_TIMES * usual)
        return cls(found["N"][0], found["N m"][1])

    def turns(self, torques: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Torques as shares of the farthest turn, from -1 to 1; and which are stronger than can be drawn."""
        share = np.nan_to_num(torques) / (self.torque or np.inf)
        return np.clip(share, -1.0, 1.0), np.abs(share) > 1 + 1e-9

    def lengths(self, vectors: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Arrows of forces (..., dimension) in lengths of one of usual strength, 0 where there is none to draw; and
        which are broken, being stronger than can be drawn."""
        with np.errstate(invalid="ignore"):
            drawn = np.nan_to_num(vectors) / (self.force or np.inf)
        long = np.hypot.reduce(drawn, axis=-1)
        broken = long > MOST_TIMES * (1 + 1e-9)
        return drawn * np.where(broken, MOST_TIMES / np.where(broken, long, 1.0), 1.0)[..., None], broken


def tips(frames: Frames, strength: Strength) -> tuple[Array, Array]:
    """Of every force at every moment of the motion where it acts and how far its arrow reaches, in lengths of an arrow
    of usual strength, (k, dimension) each."""
    forces = [arrow for arrow in frames.motion.arrows if not arrow.is_torque] if strength.force else []
    places = [arrow.places(frames.motion) for arrow in forces]
    reaches = [strength.lengths(arrow.vectors)[0] for arrow in forces]
    none = [np.zeros((0, next(iter(frames.points.values())).shape[1]))]
    return np.concatenate(places or none), np.concatenate(reaches or none)


def acts(element: Element, scene: Scene) -> bool:
    """Whether an element applies a force: no inertia or weight, no constraint, nothing that only tells values."""
    law = scene.mechanism.laws.get(element.kind)
    if law is None:
        return element.kind == "spring"
    central = scene.actions.central_gravity
    if law.constraints or law.nonholonomic or (central and element.mark == central.mark):
        return False
    return bool(law.forces or law.dissipation or law.potential)


def _groups(scene: Scene, chosen: Sequence[int]) -> dict[tuple[str, ...], list[int]]:
    """Elements that make one force, by a key: what acts between the same two points (a spring, its damping and further
    law, a damper beside it) by those points, all else alone by its name and number."""
    actions = scene.actions
    pairs = [each.points for each in scene.springs] + [each.points for each in actions.dampers]
    named = {"".join(points): points for points in pairs}
    groups: dict[tuple[str, ...], list[int]] = {}
    for number in chosen:
        element = scene.mechanism.elements[number]
        law = scene.mechanism.laws.get(element.kind)
        between = element.kind == "spring" if law is None else not _turning(element, scene.mechanism)
        alone = (element.owner, str(number), "alone")
        groups.setdefault(named.get(element.owner, alone) if between else alone, []).append(number)
    return groups


def _turning(element: Element, mechanism: Mechanism) -> bool:
    return any(slot >= 0 and mechanism.variables[slot].kind == "angle" for slot in element.slots)


def _arrows(key: tuple[str, ...], group: list[int], rows: Rows, scene: Scene, frames: Frames) -> Iterator[Arrow]:
    """Forces at points and torques on parts of what belongs together."""
    mechanism, colour = scene.mechanism, _colour(scene.mechanism, group)
    owner = mechanism.elements[group[0]].owner
    forces: dict[str, Array] = {}
    torques: dict[str, Array] = {}
    for number in group:
        own = _at_points(mechanism.elements[number], rows[number], mechanism)
        if len(key) == 2 and len(own) == 1:  # a law has no row for its fixed end, which is pulled as much
            own |= {end: -pull for pull in list(own.values()) for end in key if end not in own}
        for name, force in own.items():
            forces[name] = forces.get(name, 0.0) + force
        for local, slot in enumerate(mechanism.elements[number].slots):
            if slot >= 0 and mechanism.variables[slot].kind == "angle":
                part = mechanism.variables[slot].owner
                torques[part] = torques.get(part, 0.0) + rows[number][:, local]
    bodies = {body.name: body for body in scene.parts}
    if scene.dimension != PLANE:
        turned = {angle: torque for angle, torque in torques.items() if torque.any() and "_" in angle}
        yield from (_about_line(angle, torque, colour, frames) for angle, torque in turned.items())
        origin = mechanism.elements[group[0]].origin
        if origin.sort == "torque" and origin.part in bodies and forces:
            yield _couple(bodies[origin.part].points[0], forces, colour, f"torque on {origin.part}", frames)
            return
    for name in [owner] if owner in forces else list(forces):  # what a line takes of friction is a reaction
        yield Arrow(name, forces[name], colour, f"{owner} on {name}")
    for part in [part for part in torques if part in bodies and torques[part].any()]:
        yield Arrow(bodies[part].points[0], torques[part], colour, f"torque on {part}")


def _about_line(key: str, torque: Array, colour: int, frames: Frames) -> Arrow:
    """Of a turn angle in space: about the line that its two half-planes have in common."""
    (start, end, _), _ = half_planes(key)
    way = frames.points[end] - frames.points[start]
    vectors = torque[:, None] * way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-300)
    return Arrow(start, vectors, colour, f"torque about {start}{end}", turning=True)


def _couple(point: str, forces: Mapping[str, Array], colour: int, label: str, frames: Frames) -> Arrow:
    """A torque on a part in space, which the equations have as forces at its points."""
    arms = {name: frames.points[name] - frames.points[point] for name in forces}
    vectors: Array = np.sum([moments(arms[name], force) for name, force in forces.items()], axis=0)
    return Arrow(point, vectors, colour, label, turning=True)


def _at_points(element: Element, rows: Array, mechanism: Mechanism) -> dict[str, Array]:
    """What an element exerts on points, (k, dimension), where it exerts anything."""
    slots = {slot: (name, axis) for name, own in mechanism.points.items() for axis, slot in enumerate(own)}
    forces: dict[str, Array] = {}
    for local, slot in enumerate(element.slots):
        if slot in slots and rows[:, local].any():
            name, axis = slots[slot]
            forces.setdefault(name, np.zeros((len(rows), mechanism.dimension)))[:, axis] += rows[:, local]
    return forces


def _colour(mechanism: Mechanism, group: Sequence[int]) -> int:
    first = mechanism.elements[group[0]]
    law = mechanism.laws.get(first.kind)
    if first.origin.sort == "controller":
        return CONTROLLED
    if first.origin.sort in ("force", "torque"):
        return APPLIED
    elastic = first.kind == "spring" or (law is not None and bool(law.potential or law.dissipation))
    return ELASTIC if elastic else APPLIED


def _ringed(arrows: list[Arrow]) -> list[Arrow]:
    """Torques at one point around one another."""
    count: dict[str, int] = {}
    ringed = []
    for arrow in arrows:
        ringed.append(replace(arrow, ring=count.get(arrow.point, 0)) if arrow.is_torque else arrow)
        count[arrow.point] = count.get(arrow.point, 0) + arrow.is_torque
    return ringed
