"""Points and angles that a person names beside a file, as expressions of its coordinates."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from mechsim.errors import Fault, SpecError
from mechsim.model.layout import point_names
from mechsim.spec.document import MechSpec
from mechsim.spec.names import AXES
from mechsim.spec.suggest import did_you_mean, listed

Texts = tuple[str, ...]


def point_texts(spec: MechSpec, asked: str) -> tuple[str, Texts]:
    """A name and the coordinates of a point of the file, `P`, or of one that is fixed in a part's own frame by
    numbers, `AB: 0.5, 0.3`. Raises SpecError."""
    part, colon, numbers = asked.partition(":")
    axes = AXES[: spec.dimension]
    if not colon:
        name = asked.strip()
        known = sorted(point_names(spec) | set(spec.fixed))
        if name not in known:
            hint = (
                did_you_mean(name, known) or 'points of a part are also given by numbers in its frame: "AB: 0.5, 0.3"'
            )
            raise SpecError(Fault(f"there is no point {name}", hint=hint))
        return name, tuple(f"{name}.{axis}" for axis in axes)
    label = re.sub(r"\s+", " ", asked.strip())
    return label, _in_frame(spec, part.strip(), _numbers(spec, label, numbers))


def _numbers(spec: MechSpec, label: str, text: str) -> list[float]:
    try:
        found = [float(each) for each in text.strip(" []").split(",") if each.strip()]
    except ValueError:
        found = []
    if not 1 <= len(found) <= spec.dimension or not np.isfinite(found).all():
        message = f"the point {label} needs up to {spec.dimension} numbers, its coordinates in the part's own frame"
        raise SpecError(Fault(message, hint='write "AB: 0.5, 0.3"'))
    return found + [0.0] * (spec.dimension - len(found))


def _in_frame(spec: MechSpec, name: str, at: Sequence[float]) -> Texts:
    """With the part's first points: shares of what leads from the first to others, which its geometry gives."""
    part = next((each for each in spec.rigids if each.name == name), None)
    if part is None:
        names = [each.name for each in spec.rigids]
        raise SpecError(Fault(f"there is no rigid part {name}", hint=did_you_mean(name, names) or listed(names)))
    points, axes = part.points, AXES[: spec.dimension]
    places = np.array([[float(number) for number in place] for place in part.geometry])
    places = np.hstack([places, np.zeros((len(places), spec.dimension - places.shape[1]))])
    if not places[0].any():
        places = places[1:]  # the first point is the origin
    a, b = points[:2]
    length = float(np.linalg.norm(places[0]))
    if spec.dimension == 2:
        along, across = at[0] / length, at[1] / length
        return (
            f"{a}.x + {along!r}*({b}.x - {a}.x) - {across!r}*({b}.y - {a}.y)",
            f"{a}.y + {along!r}*({b}.y - {a}.y) + {across!r}*({b}.x - {a}.x)",
        )
    return tuple(_in_space(points, places, at, axis) for axis in range(len(axes)))


def _in_space(points: Sequence[str], places: np.ndarray, at: Sequence[float], axis: int) -> str:
    a, b = points[:2]
    third = next((k for k in range(1, len(places)) if np.linalg.norm(np.cross(places[0], places[k])) > 1e-9), None)
    if third is None:
        if any(at[1:]):
            message = f"a point beside the line {a}{b} is not fixed by it in space"
            raise SpecError(Fault(message, hint="name a part of three points, or give one number"))
        share = at[0] / float(np.linalg.norm(places[0]))
        return f"{a}.{AXES[axis]} + {share!r}*({b}.{AXES[axis]} - {a}.{AXES[axis]})"
    c = points[third + 1]
    frame = np.stack([places[0], places[third], np.cross(places[0], places[third])], axis=1)
    first, second, normal = np.linalg.solve(frame, np.asarray(at, float)).tolist()
    i, j, k = (AXES[(axis + step) % 3] for step in range(3))
    cross = f"(({b}.{j} - {a}.{j})*({c}.{k} - {a}.{k}) - ({b}.{k} - {a}.{k})*({c}.{j} - {a}.{j}))"
    return f"{a}.{i} + {first!r}*({b}.{i} - {a}.{i}) + {second!r}*({c}.{i} - {a}.{i}) + {normal!r}*{cross}"


def angle_text(spec: MechSpec, asked: str) -> tuple[str, str]:
    """A name and the cosine of the angle at the second of three points, `A,B,C` or `ABC`. Raises SpecError."""
    points = re.findall(r"[A-Za-z]\d*", asked)
    known = sorted(point_names(spec) | set(spec.fixed))
    if len(points) != 3:
        raise SpecError(Fault(f"the angle {asked} needs three points", hint="A,B,C is the angle at B, from A to C"))
    for name in points:
        if name not in known:
            raise SpecError(Fault(f"there is no point {name}", hint=did_you_mean(name, known)))
    a, b, c = points
    axes = AXES[: spec.dimension]
    product = " + ".join(f"({a}.{axis} - {b}.{axis})*({c}.{axis} - {b}.{axis})" for axis in axes)
    return f"angle {a}{b}{c}", f"({product})/(dist({a},{b})*dist({c},{b}))"
