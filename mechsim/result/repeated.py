"""Redundant constraints in the words of a mechanism: which joint repeats what which others already fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from mechsim.lagrangian.vector import PLANE
from mechsim.model.chains import DisjointSets
from mechsim.model.mechanism import Element, Mechanism, Part
from mechsim.model.origin import WORDS
from mechsim.result.bearings import Actions
from mechsim.spec.suggest import listed
from mechsim.structure import Redundancy

MOST_NAMED = 8  # of what takes part; longer lists nobody reads
SHARED = {1: "ball joint", 2: "hinge"}  # parts that have so many points in common, in space
Joint = tuple[str, str]  # its sort and name


def repetitions(mechanism: Mechanism, redundancy: Redundancy) -> list[str]:
    """For each joint with redundant constraints `hinge Q5R5 repeats what hinges Q0R0 and Q1R1 already fix`, and how
    many there are."""
    if not redundancy.rows:
        return []
    binding = mechanism.binding
    members = [binding[row] for row in sorted({*redundancy.rows, *redundancy.spare})]
    joints = _Joints(mechanism, members)
    repeated: dict[Joint, Element] = {}
    counts: Counter[Joint] = Counter()
    for row in redundancy.rows:
        name = joints.named(binding[row])
        repeated.setdefault(name, binding[row])
        counts[name] += 1
    told = []
    for name, element in repeated.items():
        others = sorted({joint for each in joints.beside(element) for joint in joints.of(each)} - {name})
        constraints = "1 constraint" if counts[name] == 1 else f"{counts[name]} constraints"
        fix = "fixes" if len(others) == 1 else "fix"
        told.append(f"{' '.join(name)} repeats what {_listed(others)} already {fix}: {constraints} more than needed")
    return told


def _listed(names: Sequence[Joint]) -> str:
    """Joints of one sort together: `hinges Q0R0 and Q1R1, and slot C-AB`."""
    phrases = []
    shown = names[:MOST_NAMED]
    for sort in dict.fromkeys(sort for sort, _ in shown):
        own = [name for each, name in shown if each == sort]
        phrases.append(f"{sort if len(own) == 1 else f'{sort}s'} {listed(own)}")
    if len(names) > MOST_NAMED:
        phrases.append(f"{len(names) - MOST_NAMED} more")
    return ", and ".join(phrases) or "others"


class _Joints:
    """The joints of a mechanism, where `members` are the elements whose constraints depend on each other."""

    def __init__(self, mechanism: Mechanism, members: Sequence[Element]):
        self.mechanism, self.members, self.actions = mechanism, members, Actions(mechanism)
        self.named_slots = {slot: name for name, slots in mechanism.points.items() for slot in slots}
        self.loops = DisjointSets(mechanism.points)  # by points that move: what stands apart repeats nothing here
        for element in members:
            self.loops.join(self._moving(element))
        self.parts = {element.owner for element in members if element.origin.sort == "rigid"}

    def _moving(self, element: Element) -> list[str]:
        return [self.named_slots[slot] for slot in element.slots if slot >= 0 and slot in self.named_slots]

    def beside(self, element: Element) -> list[Element]:
        """The members that hang together with one of them, which is among them."""
        roots = {self.loops.root(name) for name in self._moving(element)}
        near = [each for each in self.members if roots & {self.loops.root(name) for name in self._moving(each)}]
        return near or [element]

    def named(self, element: Element) -> Joint:
        """The joint that a constraint is felt as: of a part, that of the point that it holds last."""
        if element.origin.sort != "rigid":
            return self._law(element)
        points = [self.named_slots[slot] for slot in element.slots if slot in self.named_slots]
        part = self.actions.parts[element.owner]
        joint = self.actions.joint(points[-1], part)
        if len(joint) == 1 and len(self.actions.holders[joint[0]]) == 1 and not self._is_fixed(joint[0]):
            return "part", part.name
        return self._shared(joint)

    def of(self, element: Element) -> Iterator[Joint]:
        """All joints that an element is of: itself, or those of its part with others that take part and the ground,
        which a part that stands still belongs to."""
        if element.origin.sort != "rigid":
            yield self._law(element)
            return
        part = self.actions.parts[element.owner]
        for point in part.points:
            joint = self.actions.joint(point, part)
            beside = {other.name for name in joint for other in self.actions.holders[name]} - {part.name}
            if beside & self.parts or (self._is_fixed(joint[0]) and not self._stands_still(part)):
                yield self._shared(joint)

    def _law(self, element: Element) -> Joint:
        sort = element.origin.sort or "constraint"
        return WORDS.get(sort, sort), element.owner.replace(",", "-")

    def _shared(self, joint: Sequence[str]) -> Joint:
        if self.mechanism.dimension == PLANE:
            return "pin", joint[0]
        return SHARED.get(len(joint), "weld"), "".join(joint)

    def _is_fixed(self, point: str) -> bool:
        return self.mechanism.points[point][0] < 0

    def _stands_still(self, part: Part) -> bool:
        return all(map(self._is_fixed, part.points[: self.mechanism.dimension]))
