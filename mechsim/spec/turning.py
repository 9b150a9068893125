"""Turn angles in space: `OCD-OCE` is the angle about the line OC from the half-plane of E to that of D, as seen against
OC. As a name of expressions and columns it is `theta_OCD_OCE`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.names import POINT, SPACE, points_of
from mechsim.spec.parts import Parts
from mechsim.spec.shapes import Reading

HalfPlane = tuple[str, str, str]  # two points of its edge, the axis, and one in it
SHAPE = re.compile(rf"(({POINT})+)[-_](({POINT})+)")


def angle_key(part: str, against: str | None) -> str:
    """What an angle between two is known by."""
    return f"{part}_{against}" if against else part


def half_planes(key: str) -> tuple[HalfPlane, HalfPlane]:
    """Of an angle that was found good: that which turns, and that from which is measured."""
    turning, still = (re.findall(POINT, side) for side in key.split("_"))
    return (turning[0], turning[1], turning[2]), (still[0], still[1], still[2])


def pair_advice(points: Sequence[str], parts: Parts) -> str:
    """How an angle about an axis is written, with points of the file as far as these tell which."""
    holders = [each for each in parts.rigid_points.values() if set(points) <= set(each)] or [tuple(points)]
    axis = [*points, *(name for name in holders[0] if name not in points)][:3]
    others = sorted(parts.fixed_names) + [name for each in parts.rigid_points.values() for name in each]
    still = next((name for name in others if name not in holders[0] and name not in axis), "")
    if len(axis) < 3:
        return "two points of an axis and one beside it, a dash, and the same axis with a point that it turns against"
    line, zero = "".join(axis[:2]), still or "X, a fixed point beside it,"
    return f"{line}{axis[2]}-{line}{still or 'X'}, about the line {line} from {zero} to {axis[2]}"


def known_angle(name: str, mark: Mark, user: str, parts: Parts, reading: Reading) -> str | None:
    """The key of a turn angle that is written `OA` in the plane, `OCD-OCE` or `OCD_OCE` in space; None when a fault is
    recorded."""
    if reading.dimension != SPACE:
        return name if parts.known_rigid(name, mark, user, reading) else None
    sides = SHAPE.fullmatch(name.replace(" ", ""))
    if sides is None or ("_" in name and "-" in name):
        hint = f"write {pair_advice(list(dict.fromkeys(re.findall(POINT, name))), parts)}"
        raise SpecError(
            Fault(f"{user}: `{name}` is no angle in space, which is one between two half-planes", mark, hint)
        )
    turning, still = points_of(sides[1], mark), points_of(sides[3], mark)
    known = [parts.known_point(point, mark, user, reading) for point in dict.fromkeys((*turning, *still))]
    if not all(known):
        return None
    if len(turning) != 3 or len(still) != 3 or turning[:2] != still[:2] or turning[2] == still[2]:
        hint = f"both have the two points of the axis first, then one of their own: {pair_advice(turning[:3], parts)}"
        raise SpecError(Fault(f"{user}: `{name}` are not two half-planes of one axis", mark, hint))
    return angle_key("".join(turning), "".join(still))
