"""Joints in space beyond shared points: which points their names have, and what their numbers mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mechsim.errors import Fault, SpecError
from mechsim.spec.actions import SpatialJoint, SpatialSort
from mechsim.spec.document import Number
from mechsim.spec.names import SPACE, points_of
from mechsim.spec.records import Entry
from mechsim.spec.scope import Scope


@dataclass(frozen=True, slots=True)
class Form:
    """How a joint is written: points before and after the dash, how many they have in common (their first ones), and
    the key of its number, with its value if it is omitted."""

    sort: SpatialSort
    example: str
    first: tuple[int, ...]
    second: tuple[int, ...]
    shared: int = 0
    number: str = ""
    default: float = 0.0


FORMS: Mapping[str, Form] = {
    "Hinges": Form("hinge", "AB-AC", (2,), (2,), shared=1),
    "Universals": Form("universal", "OA-OB", (2,), (2,), shared=1, number="angle", default=1.5707963267948966),
    "Cylinders": Form("cylinder", "CD-AB", (2,), (2,)),
    "Sliders": Form("prism", "CDE-ABF", (3,), (3,), number="angle"),
    "Screws": Form("screw", "CDE-ABF", (3,), (3,), number="pitch"),
    "Planes": Form("plane", "P-ABF", (1, 3), (3,), number="offset"),
    "Couplings": Form("coupling", "OAC-OBD", (3,), (3,), shared=1),
    "Wheels": Form("disc", "ABC-KLM", (3,), (3,), number="r"),
    "Balls": Form("ball", "ABC-KLM", (3,), (3,), number="r"),
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
            Fault(f"{user} names one thing, but a joint is between two", entry.mark, f"write {form.example}")
        )
    first, second = points_of(before, entry.mark), points_of(after, entry.mark)
    _check_counts(first, second, user, form, entry)
    known = [scope.parts.known_point(point, entry.mark, user, scope.reading) for point in dict.fromkeys(first + second)]
    if not all(known):
        return None
    offset = entry.value.get("offset") if form.sort == "prism" else None
    if offset is not None and offset.value:
        raise SpecError(Fault(f"{user} has an offset", offset.mark, "a line in space has no left: put it where CD is"))
    value = entry.value if isinstance(entry.value, Number) else entry.value.get(form.number)
    number = value if value is not None else Number(form.default, f"{form.default:g}", entry.mark)
    if form.sort in ROLLING and number.value <= 0:
        raise SpecError(Fault(f"{user}: the radius must be above zero", number.mark))
    return SpatialJoint(form.sort, first, second, number, entry.mark)


def _check_counts(first: tuple[str, ...], second: tuple[str, ...], user: str, form: Form, entry: Entry) -> None:
    if len(first) not in form.first or len(second) not in form.second:
        hint = f"write it as {form.example}"
        message = f"{user} has {len(first)} and {len(second)} points before and after the dash"
        raise SpecError(Fault(message, entry.mark, hint))
    shared = set(first) & set(second)
    if first[: form.shared] != second[: form.shared]:
        message = f"{user}: both sides begin with the point that the parts have in common"
        raise SpecError(Fault(message, entry.mark, f"write it as {form.example}"))
    if len(shared) > form.shared:
        extra = sorted(shared - set(first[: form.shared]))[0]
        raise SpecError(Fault(f"{user} has the point {extra} on both sides", entry.mark, f"write it as {form.example}"))


def refused_in(dimension: int, values: Mapping[str, Any], scope: Scope) -> None:
    """Joints of the plane in a file of space, and the other way round: what to write instead."""
    if dimension == SPACE:
        alike = {"Racks": "a screw, or a Holonomic expression"}
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
