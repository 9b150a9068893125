"""Parts in space that turn about a line: those that have two points of it, and those that a joint holds on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mechsim.errors import Fault
from mechsim.model.layout import torques_about_axes
from mechsim.spec.actions import SpatialJoint
from mechsim.spec.document import MechSpec
from mechsim.spec.turning import HalfPlane, half_planes

ALONG = frozenset({"hinge", "cylinder", "prism", "screw"})  # joints that keep a line of one part on one of the other


class Axles:
    """By which joints the parts of a file turn about which lines."""

    def __init__(self, spec: MechSpec):
        self.fixed = set(spec.fixed)
        self.points = {part.name: set(part.points) for part in spec.rigids}
        self.parts_at: dict[str, list[str]] = {}
        for part in spec.rigids:
            for name in part.points:
                self.parts_at.setdefault(name, []).append(part.name)
        self.bodies = {part.name for part in spec.rigids if not part.is_rod}
        crosses = [joint for joint in spec.actions.spatial if joint.sort == "universal"]
        self._crosses = {frozenset((*joint.first, *joint.second)): joint.first[0] for joint in crosses}
        self._joints: dict[frozenset[str], list[SpatialJoint]] = {}
        for joint in spec.actions.spatial:
            for line in (joint.first, joint.second) if joint.sort in ALONG else ():
                self._joints.setdefault(frozenset(line[:2]), []).append(joint)

    def joint(self, axis: Sequence[str], points: set[str]) -> SpatialJoint | None:
        """The joint between the line of this axis and another, where one of both has its points among these."""
        for joint in self._joints.get(frozenset(axis[:2]), ()):
            if any(set(line[:2]) <= points for line in (joint.first, joint.second)):
                return joint
        return None

    def place(self, axis: Sequence[str], part: str) -> str:
        """Where what acts about an axis is felt by a part: in the joint that holds it there, else at its own point."""
        points = self.points.get(part, set())
        joint = self.joint(axis, points)
        return joint.first[0] if joint else next((name for name in axis[:2] if name in points), axis[0])

    def turns(self, plane: HalfPlane) -> bool:
        """Whether what the third point is of can only turn about the axis, or slide along it: a part, or the ground; or
        the cross of a universal joint, which the axes of both its parts tell."""
        if self._crosses.get(frozenset(plane)) in plane[:2]:
            return True
        bodies = [self.points[part] for part in self.parts_at.get(plane[2], ())]
        bodies += [self.fixed] if plane[2] in self.fixed else []
        return any(set(plane[:2]) <= points or self.joint(plane, points) is not None for points in bodies)


def torques_on_no_axle(spec: MechSpec) -> Iterator[Fault]:
    """Torques about lines on which a side is not held. There its angle is not that of a part which turns about the
    line, and what does the work torque d(angle) would be a force at its point."""
    torques = torques_about_axes(spec)
    axles = Axles(spec) if torques else None
    for key, mark in torques:
        for plane in half_planes(key):
            if axles and not axles.turns(plane):
                start, end, point = plane
                parts = axles.parts_at.get(point, [])
                whose = f"{parts[0]}, which has {point}," if parts else f"{point}, which is on no rigid part,"
                pair = key.replace("_", "-")
                message = f"a torque {pair} is about the line {start}{end}, but {whose} is not held on it"
                vector = f"; or write a vector: {{{parts[0]}: [x, y, z]}}" if {*parts[:1]} & axles.bodies else ""
                hint = f"name an axis by points of the part, or hold it by Hinges, Cylinders, Sliders or Screws{vector}"
                yield Fault(message, mark, hint)
                break
