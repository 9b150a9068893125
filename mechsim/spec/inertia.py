"""The moments of inertia of a part: what may be written, and what no body can have."""

from __future__ import annotations

from dataclasses import replace

from mechsim.errors import Fault, SpecError
from mechsim.spec.document import Rigid
from mechsim.spec.living import plain
from mechsim.spec.names import SPACE
from mechsim.spec.nodes import ListNode, Node
from mechsim.spec.number import Number, values_of
from mechsim.spec.shapes import Quantity, Reading, Schema, read_items

PRINCIPAL, WHOLE = 3, 6  # numbers of a diagonal, and of a symmetric matrix
ROUNDING = 1e-9  # people type moments with ten digits or so


class Inertia:
    """In the plane one number. In space [xx, yy, zz] of the matrix, or [xx, yy, zz, xy, xz, yz]; one number is that of
    a rod, about any axis across it."""

    def read(self, node: Node, reading: Reading, label: str) -> tuple[Number, ...]:
        if reading.dimension != SPACE:
            if isinstance(node, ListNode):
                hint = "about the normal of the plane there is only one; for more write Dimension: 3"
                raise SpecError(Fault(f"{label} must be one number", node.mark, hint))
            return (Quantity(least=0).read(node, reading, label),)
        if not isinstance(node, ListNode):
            across = Quantity(least=0).read(node, reading, label)
            return (across,)
        values = tuple(read_items(node.items, reading, label, Quantity().read))
        if len(values) not in (PRINCIPAL, WHOLE):
            hint = "write [xx, yy, zz], or [xx, yy, zz, xy, xz, yz]; of a rod one number"
            raise SpecError(Fault(f"{label} has {len(values)} numbers", node.mark, hint))
        zero = Number(0.0, "0", node.mark)
        values = (*values, *(zero,) * (WHOLE - len(values)))
        _refuse_impossible(values, node, label)
        return values

    def schema(self) -> Schema:
        expression = {"$ref": "#/$defs/expression"}
        return {"anyOf": [expression, {"type": "array", "items": expression, "minItems": PRINCIPAL, "maxItems": WHOLE}]}


def no_inertia(zero: Number, dimension: int) -> tuple[Number, ...]:
    return (zero,) * (WHOLE if dimension == SPACE else 1)


def in_space(part: Rigid) -> Rigid:
    """The part with all six numbers. Raises SpecError where they do not fit its points: what has all of them on one
    line is a rod, and nothing tells how it turns about itself."""
    on_line = not any(number.value for corner in part.geometry for number in corner[1:])
    if not on_line and len(part.inertia) == 1:
        hint = "write [xx, yy, zz], or [xx, yy, zz, xy, xz, yz]: one number is that of a rod"
        raise SpecError(Fault(f"Dyna.inertia of {part.name} is one number", part.inertia[0].mark, hint))
    zero = Number(0.0, "0", part.mark)
    if len(part.inertia) == 1:
        (across,) = part.inertia
        return replace(part, inertia=(zero, across, across, zero, zero, zero))
    if not on_line:
        return part
    if part.solids and any(number.value for number in part.inertia):
        return _spinless(part, zero)
    _refuse_thick_rod(part)
    return part


def _spinless(part: Rigid, zero: Number) -> Rigid:
    """A body of shapes all about its line, as a rod: what acts on the points of the line cannot make it spin about it,
    so that its moment about it does not matter."""
    _xx, yy, zz, *others = values_of(part.inertia)
    small = ROUNDING * (yy + zz)
    beside = [part.mass.value * number.value**2 for number in part.centroid[1:]]
    if all(abs(each) <= small for each in (yy - zz, *others, *beside)):
        across = part.inertia[1]
        centroid = (part.centroid[0], zero, zero)
        return replace(part, centroid=centroid, inertia=(zero, across, across, zero, zero, zero))
    hint = f"name a third point beside the line in {part.name}"
    message = f"{part.name} is not the same all about its line, but has no points beside it that tell how it turns"
    raise SpecError(Fault(message, part.mass.mark, hint))


def _refuse_thick_rod(part: Rigid) -> None:
    xx, yy, zz, *others = part.inertia
    beside = [number for number in part.centroid[1:] if number.value]
    if not (xx.value or any(each.value for each in others) or beside) and yy.value == zz.value:
        return
    faulty = beside[0] if beside else xx
    what = "a centroid beside its line" if beside else "an inertia that is not [0, I, I]"
    hint = f"name a third point beside the line in {part.name}, or write one number for the inertia of a rod"
    message = f"{part.name} has {what}, but its points are on one line: nothing tells how it turns about it"
    raise SpecError(Fault(message, faulty.mark, hint))


def _refuse_impossible(values: tuple[Number, ...], node: Node, label: str) -> None:
    """The second moments int x x dm, int x y dm and so on are a matrix that has no negative value: then principal
    moments are not negative, and none is larger than the other two together."""
    xx, yy, zz, xy, xz, yz = values_of(values)
    half = (xx + yy + zz) / 2
    a, b, c = half - xx, half - yy, half - zz
    minors = [(a, 1), (b, 1), (c, 1), (a * b - xy**2, 2), (a * c - xz**2, 2), (b * c - yz**2, 2)]
    minors.append((a * b * c - 2 * xy * xz * yz - a * yz**2 - b * xz**2 - c * xy**2, 3))
    if all(minor >= -ROUNDING * half**power for minor, power in minors):
        return
    import numpy as np  # only to tell what is wrong: reading a file needs nothing heavy

    matrix = np.array([[plain(each) for each in row] for row in ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))])
    least, middle, largest = map(float, np.linalg.eigvalsh(matrix))
    told = f"{label} has the principal moments {least:.6g}, {middle:.6g} and {largest:.6g}"
    if least < 0:
        raise SpecError(Fault(f"{told}: no body has a negative one", node.mark, "check the signs and off-diagonals"))
    hint = "no moment of a body is larger than the other two together: I_xx = int (y^2 + z^2) dm, and so on"
    raise SpecError(Fault(f"{told}, and {largest:.6g} > {least:.6g} + {middle:.6g}", node.mark, hint))
