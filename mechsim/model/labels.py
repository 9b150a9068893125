"""Names that nothing else has: of coordinates, of constraints, of columns."""

from __future__ import annotations


def unused(label: str, taken: set[str]) -> str:
    """The label, or the first of `label_2`, `label_3`, ... that is not taken; it is taken then."""
    name, count = label, 1
    while name in taken:
        count += 1
        name = f"{label}_{count}"
    taken.add(name)
    return name
