"""The moments of inertia of a part: what may be written, and what no body can have."""

from __future__ import annotations

from dataclasses import replace

from mechsim.errors import Fault, Mark, SpecError
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
    if not part.is_rod and len(part.inertia) == 1:
        hint = "write [xx, yy, zz], or [xx, yy, zz, xy, xz, yz]: one number is that of a rod"
        raise SpecError(Fault(f"Dyna.inertia of {part.name} is one number", part.inertia[0].mark, hint))
    return _rod(part) if part.is_rod else part


def _rod(part: Rigid) -> Rigid:
    """Without a moment about its line: what acts on the points of the line cannot make it spin about it, so that of
    shapes all about the line it does not matter. Anything beside the line is refused."""
    zero = Number(0.0, "0", part.mark)
    written = part.inertia if len(part.inertia) == WHOLE else (zero, *part.inertia * 2, zero, zero, zero)
    xx, yy, zz, *products = values_of(written)
    length, small = part.geometry[1][0].value, ROUNDING * (yy + zz)
    beside = next((number for number in part.centroid[1:] if abs(number.value) > ROUNDING * length), None)
    if beside is not None:
        place = ", ".join(f"{number.value:g}" for number in part.centroid)
        raise SpecError(_beside_line(part, f"its centroid at ({place}), beside its line", beside.mark))
    if any(abs(each) > small for each in (yy - zz, *products)):
        moments = ", ".join(f"{each:g}" for each in (xx, yy, zz, *products))
        what = f"the inertia [{moments}], which is not the same all about its line"
        raise SpecError(_beside_line(part, what, written[0].mark))
    if xx and not part.by_solids:
        what = f"the moment of inertia {xx:g} about its line"
        raise SpecError(_beside_line(part, what, written[0].mark, ", or write one number for the inertia of a rod"))
    across = written[1]
    return replace(part, centroid=(part.centroid[0], zero, zero), inertia=(zero, across, across, zero, zero, zero))


def _beside_line(part: Rigid, what: str, mark: Mark | None, instead: str = "") -> Fault:
    message = f"{part.name} has {what}, but its points are all on this line: nothing tells how it turns about it"
    return Fault(message, mark, f"name a third point in {part.name}, beside the line, and place it in Geom{instead}")


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
