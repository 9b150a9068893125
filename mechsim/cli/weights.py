"""What parts weigh that are made of shapes: mass, centroid and inertia, as `Dyna` would have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mechsim.spec.number import values_of
from mechsim.spec.suggest import listed

if TYPE_CHECKING:
    from mechsim.spec.document import MechSpec, Rigid

Weight = dict[str, "float | list[float]"]
MOST_NAMES = 6  # of equal parts


def as_dict(spec: MechSpec) -> dict[str, Weight]:
    """By part; in space with principal moments, the least first."""
    return {part.name: _weight(part) for part in spec.rigids if part.by_solids}


def facts(spec: MechSpec) -> list[tuple[str, str]]:
    """For people: equal parts together."""
    alike: dict[str, list[str]] = {}
    for name, weight in as_dict(spec).items():
        alike.setdefault("\n".join(_lines(weight)), []).append(name)
    rows: list[tuple[str, str]] = []
    for text, names in alike.items():
        front = names if len(names) <= MOST_NAMES else [*names[: MOST_NAMES - 1], f"{len(names) - MOST_NAMES + 1} more"]
        for number, line in enumerate(text.split("\n")):
            rows.append(("" if rows else "by shape", f"{listed(front)}: {line}" if number == 0 else f"  {line}"))
    return rows


def _weight(part: Rigid) -> Weight:
    inertia = list(values_of(part.inertia))
    found: Weight = {"mass": part.mass.value, "centroid": list(values_of(part.centroid)), "inertia": inertia}
    return {**found, "principal": principal(inertia)} if len(inertia) > 1 else found


def principal(inertia: list[float]) -> list[float]:
    """Of xx, yy, zz, xy, xz, yz."""
    import numpy as np

    xx, yy, zz, xy, xz, yz = inertia
    return list(map(float, np.linalg.eigvalsh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))))


def _lines(weight: Weight) -> list[str]:
    numbers = {key: _shown(value) for key, value in weight.items()}
    lines = [f"{numbers['mass']} kg, centroid {numbers['centroid']}", f"inertia {numbers['inertia']} kg m^2"]
    return [*lines, f"principal moments {numbers['principal']} kg m^2"] if "principal" in numbers else lines


def _shown(value: float | list[float]) -> str:
    return f"[{', '.join(map(_shown, value))}]" if isinstance(value, list) else f"{value:.8g}"
