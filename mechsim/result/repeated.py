"""Redundant constraints in the words of a mechanism: which joint repeats what which others already fix."""

from __future__ import annotations

from collections.abc import Sequence

from mechsim.lagrangian.vector import PLANE
from mechsim.model.mechanism import Element, Mechanism
from mechsim.result.bearings import Actions
from mechsim.spec.suggest import listed
from mechsim.structure import Redundancy

MOST_NAMED = 8  # of what takes part; longer lists nobody reads
SHARED = {1: "ball joint", 2: "hinge"}  # parts that have so many points in common, in space
PLURALS = {"ball joint": "ball joints", "hinge": "hinges", "weld": "welds", "pin": "pins", "part": "parts"}


def repetitions(mechanism: Mechanism, redundancy: Redundancy) -> list[str]:
    """For each redundant constraint `hinge Q5R5 repeats what hinges Q0R0 and Q1R1 already fix`; the same once."""
    if not redundancy.rows:
        return []
    joints, binding = _Joints(mechanism), mechanism.binding
    names = {row: joints.named(binding[row]) for row in {*redundancy.rows, *redundancy.spare}}
    told = {}
    for row in redundancy.rows:
        others = sorted({names[each] for each in redundancy.spare} - {names[row]})
        told[names[row]] = f"{' '.join(names[row])} repeats what {_listed(others)} already fix"
    return list(told.values())


def _listed(names: Sequence[tuple[str, str]]) -> str:
    """Joints of one sort together: `hinges Q0R0, Q1R1 and slot C-AB`."""
    phrases = []
    shown = names[:MOST_NAMED]
    for sort in dict.fromkeys(sort for sort, _ in shown):
        own = [name for each, name in shown if each == sort]
        word = sort if len(own) == 1 else PLURALS.get(sort, f"{sort}s")
        phrases.append(f"{word} {listed(own)}")
    if len(names) > MOST_NAMED:
        phrases.append(f"{len(names) - MOST_NAMED} more")
    return ", and ".join(phrases) or "others"


class _Joints:
    def __init__(self, mechanism: Mechanism):
        self.mechanism, self.actions = mechanism, Actions(mechanism)
        self.named_slots = {slot: name for name, slots in mechanism.points.items() for slot in slots}

    def named(self, element: Element) -> tuple[str, str]:
        """The sort and name of the joint that a constraint is felt as: that of a part by the joint of the point that it
        holds last."""
        if element.origin.sort != "rigid":
            return element.origin.sort or "constraint", element.owner.replace(",", "-")
        points = [self.named_slots[slot] for slot in element.slots if slot in self.named_slots]
        part = self.actions.parts[element.owner]
        joint = self.actions.joint(points[-1], part)
        if len(joint) == 1 and len(self.actions.holders[joint[0]]) == 1 and self.mechanism.points[joint[0]][0] >= 0:
            return "part", part.name
        if self.mechanism.dimension == PLANE:
            return "pin", joint[0]
        return SHARED.get(len(joint), "weld"), "".join(joint)
