"""Which two of the points on a line give it its direction."""

from __future__ import annotations

from itertools import combinations

from mechsim.spec.document import Collinear, MechSpec, Rigid
from mechsim.spec.number import values_of


def spanning_pair(joint: Collinear, spec: MechSpec) -> tuple[str, str]:
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
