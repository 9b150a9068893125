"""Joints in space beyond shared points: which points their names have, and what their numbers mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.spec.actions import SpatialJoint, SpatialSort
from mechsim.spec.document import Number
from mechsim.spec.names import SPACE, points_of
from mechsim.spec.parts import Parts
from mechsim.spec.records import Entry
from mechsim.spec.scope import Scope


@frozen
class Form:
    """How a joint is written: an example and what its points are, how many are before and after the dash, how many they
    have in common (their first ones), and the key of its number, with its value if it is omitted."""

    sort: SpatialSort
    example: str
    points: str
    first: tuple[int, ...]
    second: tuple[int, ...]
    shared: int = 0
    number: str = ""
    default: float = 0.0


SHARED = "each side has the point that both parts have, then {}"
BESIDE = "each side has two points of the line, then one beside it"
FORMS: Mapping[str, Form] = {
    "Hinges": Form("hinge", "AB-AC", SHARED.format("another of the axis"), (2,), (2,), shared=1),
    "Universals": Form(
        "universal",
        "OA-OB",
        SHARED.format("one of its axis of the cross"),
        (2,),
        (2,),
        shared=1,
        number="angle",
        default=1.5707963267948966,
    ),
    "Cylinders": Form("cylinder", "CD-AB", "each side has two points of the line", (2,), (2,)),
    "Sliders": Form("prism", "CDE-ABF", BESIDE, (3,), (3,), number="angle"),
    "Screws": Form("screw", "CDE-ABF", BESIDE, (3,), (3,), number="pitch"),
    "Planes": Form(
        "plane", "P-ABF", "one point or three of a part, then three of the plane", (1, 3), (3,), number="offset"
    ),
    "Couplings": Form(
        "coupling", "OAC-OBD", SHARED.format("another of the shaft and one beside it"), (3,), (3,), shared=1
    ),
    "Wheels": Form(
        "disc",
        "ABC-KLM",
        "the centre, another point of the axis and one beside it, then three of the plane",
        (3,),
        (3,),
        number="r",
    ),
    "Balls": Form(
        "ball", "ABC-KLM", "the centre and two more points of the ball, then three of the plane", (3,), (3,), number="r"
    ),
}
ROLLING = frozenset({"disc", "ball"})


def build_space_joints(values: Mapping[str, Any], scope: Scope) -> tuple[SpatialJoint, ...]:
    """All that FORMS tells of, of a file in space; in the plane those that are not there are refused."""
    found = []
    for section, form in FORMS.items():
        for entry in values.get(section, {}).values():
            if entry.value is not None:
                found.append(scope.reading.attempt(_joint, entry, f"{section}.{entry.name}", form, scope))
    return tuple(joint for joint in found if joint is not None)


def _joint(entry: Entry, user: str, form: Form, scope: Scope) -> SpatialJoint | None:
    before, dash, after = (name.strip() for name in entry.name.partition("-"))
    if not dash:
        raise SpecError(
            Fault(f"{user} names one thing, but a joint is between two", entry.mark, _hint(form, "", "", scope.parts))
        )
    first, second = points_of(before, entry.mark), points_of(after, entry.mark)
    _check_counts(first, second, user, form, entry, scope.parts)
    known = [scope.parts.known_point(point, entry.mark, user, scope.reading) for point in dict.fromkeys(first + second)]
    if not all(known):
        return None
    offset = entry.value.get("offset") if form.sort == "prism" else None
    if offset is not None and offset.value:
        line, angle = "".join(first[:2]), f"{{{entry.name}: {{angle: {offset.value:g}}}}}"
        hint = (
            f"a line in space has no left: the points {line} are on it. If the angle about it is meant, write {angle}"
        )
        raise SpecError(Fault(f"{user} has an offset", offset.mark, hint))
    value = entry.value if isinstance(entry.value, Number) else entry.value.get(form.number)
    number = value if value is not None else Number(form.default, f"{form.default:g}", entry.mark)
    if form.sort in ROLLING and number.value <= 0:
        raise SpecError(Fault(f"{user}: the radius must be above zero", number.mark))
    return SpatialJoint(form.sort, first, second, number, entry.mark)


def _check_counts(
    first: tuple[str, ...], second: tuple[str, ...], user: str, form: Form, entry: Entry, parts: Parts
) -> None:
    hint = _hint(form, first, second, parts)
    if len(first) not in form.first or len(second) not in form.second:
        message = f"{user} has {len(first)} and {len(second)} points before and after the dash"
        raise SpecError(Fault(message, entry.mark, hint))
    shared = set(first) & set(second)
    if first[: form.shared] != second[: form.shared]:
        message = f"{user}: both sides begin with the point that the parts have in common"
        raise SpecError(Fault(message, entry.mark, hint))
    if len(shared) > form.shared:
        extra = sorted(shared - set(first[: form.shared]))[0]
        raise SpecError(Fault(f"{user} has the point {extra} on both sides", entry.mark, hint))


def _hint(form: Form, first: Sequence[str], second: Sequence[str], parts: Parts) -> str:
    """What the points of a joint are, and how it would be written with those of the file, if they tell."""
    sides = [_completed(side, counts, form, parts) for side, counts in ((first, form.first), (second, form.second))]
    own = "-".join("".join(side) for side in sides)
    fits = all(sides) and len(set(sides[0]) & set(sides[1])) == form.shared
    fits = fits and sides[0][: form.shared] == sides[1][: form.shared]
    return f"{form.points}: {own if fits else f'such as {form.example}'}"


def _completed(side: Sequence[str], counts: Sequence[int], form: Form, parts: Parts) -> list[str]:
    """The points of one side, as many as are wanted: further ones are of the part that has these, or fixed."""
    wanted = min(count for count in counts if count >= min(len(side), max(counts)))
    bodies = [points for points in parts.rigid_points.values() if set(side) <= set(points)]
    fixed = sorted(parts.fixed_names) if set(side) <= parts.fixed_names else []
    further = [name for name in (*fixed, *(name for points in bodies for name in points)) if name not in side]
    found = [*side, *dict.fromkeys(further)][:wanted]
    return found if side and len(found) == wanted else []


def refused_in(dimension: int, values: Mapping[str, Any], scope: Scope) -> None:
    """Joints of the plane in a file of space, and the other way round: what to write instead."""
    if dimension == SPACE:
        alike = {"Racks": "Screws, or a Holonomic expression"}
    else:
        alike = {
            "Hinges": "a shared point: in the plane that is a hinge",
            "Universals": "Dimension: 3",
            "Cylinders": "Sliders",
            "Screws": "Dimension: 3",
            "Planes": "Slots: {P-AB: [offset]}",
            "Couplings": "Dimension: 3",
            "Balls": "Wheels",
            "Surfaces": "Curves",
        }
    for section, instead in alike.items():
        for entry in values.get(section, {}).values():
            where = "space" if dimension == SPACE else "the plane"
            scope.reading.fault(f"there are no {section} in {where}", entry.mark, f"write {instead}")
