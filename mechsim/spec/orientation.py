"""How a part stands in space at the start: by Euler angles, an axis and an angle, or a quaternion; and how it turns."""

from __future__ import annotations

from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.spec.living import aware, hypot
from mechsim.spec.names import AXES, SPACE, points_of
from mechsim.spec.nodes import DictNode, ListNode, Node, TextNode, describe
from mechsim.spec.shapes import Quantity, Reading, Schema, read_items

Matrix = tuple[tuple[float, ...], ...]  # rows; columns are the directions of the part's axes in the world
sin, cos = aware("sin"), aware("cos")
WAYS = "write {euler: [zxz, a, b, c]}, {axis: [x, y, z], angle: a} or {quaternion: [w, x, y, z]}"


@frozen
class Orientation:
    """A rotation that carries the axes of the world to those of a part; `fixed`: not only a guess."""

    rotation: Matrix
    fixed: bool
    mark: Mark


@frozen
class Spin:
    """An angular velocity, in the world or about the axes of the part itself."""

    rates: tuple[float, ...]
    fixed: bool
    mark: Mark


class OrientationShape:
    """One of the three ways, or `[way, fixed]`."""

    def read(self, node: Node, reading: Reading, label: str) -> Orientation:
        fixed = isinstance(node, ListNode)
        if isinstance(node, ListNode):
            word = node.items[1] if len(node.items) == 2 else None
            if not isinstance(word, TextNode) or word.text != "fixed":
                raise SpecError(Fault(f"{label}: what stands in brackets must be [orientation, fixed]", node.mark))
            node = node.items[0]
        if not isinstance(node, DictNode):
            raise SpecError(Fault(f"{label} must be an orientation, not {describe(node)}", node.mark, WAYS))
        items = {key.text: item for key, item in node.entries}
        for names, read in ((("euler",), _euler), (("axis", "angle"), _axis_angle), (("quaternion",), _quaternion)):
            if set(items) == set(names):
                return Orientation(read([items[name] for name in names], reading, label), fixed, node.mark)
        raise SpecError(Fault(f"{label} has {', '.join(items) or 'nothing'}", node.mark, WAYS))

    def schema(self) -> Schema:
        numbers = {"type": "array", "items": {"$ref": "#/$defs/expression"}}
        way = {"type": "object", "properties": {"euler": {"type": "array"}, "axis": numbers, "quaternion": numbers}}
        return {"anyOf": [way, {"type": "array", "prefixItems": [way, {"const": "fixed"}], "minItems": 2}]}


def _numbers(node: Node, count: int, reading: Reading, label: str) -> list[float]:
    items = node.items if isinstance(node, ListNode) else []
    if len(items) != count:
        raise SpecError(Fault(f"{label} must be a list of {count} numbers", node.mark, WAYS))
    return [number.value for number in read_items(items, reading, label, Quantity().read)]


def _euler(nodes: list[Node], reading: Reading, label: str) -> Matrix:
    """Turns about axes of the part itself, one after the other: zxz means z, then the new x, then the new z."""
    (node,) = nodes
    items = node.items if isinstance(node, ListNode) else []
    word = items[0].text if items and isinstance(items[0], TextNode) else ""
    if len(items) != SPACE + 1 or len(word) != SPACE or set(word) - set(AXES):
        hint = "write [zxz, a, b, c]: three axes of the part, and the angle about each, rad"
        raise SpecError(Fault(f"{label}.euler must name its axes and three angles", node.mark, hint))
    if word[0] == word[1] or word[1] == word[2]:
        hint = "two turns about one axis are one turn: write zxz, xyz, ..."
        raise SpecError(Fault(f"{label}.euler turns twice about {word[1]}", node.mark, hint))
    angles = read_items(items[1:], reading, label, Quantity().read)
    total = _about(word[0], angles[0].value)
    for axis, angle in zip(word[1:], angles[1:], strict=True):
        total = _product(total, _about(axis, angle.value))
    return total


def _about(axis: str, angle: float) -> Matrix:
    direction = [float(each == axis) for each in AXES]
    return _turn(direction, angle)


def _axis_angle(nodes: list[Node], reading: Reading, label: str) -> Matrix:
    direction = _numbers(nodes[0], SPACE, reading, f"{label}.axis")
    length = hypot(*direction)
    if length == 0:
        raise SpecError(Fault(f"{label}.axis has the length zero", nodes[0].mark, "write a direction: [0, 0, 1]"))
    angle = Quantity().read(nodes[1], reading, f"{label}.angle").value
    return _turn([each / length for each in direction], angle)


def _turn(direction: list[float], angle: float) -> Matrix:
    """Rodrigues' formula, for a unit vector."""
    (x, y, z), c, s = direction, cos(angle), sin(angle)
    r = 1 - c
    return (
        (c + x * x * r, x * y * r - z * s, x * z * r + y * s),
        (y * x * r + z * s, c + y * y * r, y * z * r - x * s),
        (z * x * r - y * s, z * y * r + x * s, c + z * z * r),
    )


def _quaternion(nodes: list[Node], reading: Reading, label: str) -> Matrix:
    """Of any length but zero: people round."""
    given = _numbers(nodes[0], SPACE + 1, reading, f"{label}.quaternion")
    length = hypot(*given)
    if length == 0:
        raise SpecError(Fault(f"{label}.quaternion has the length zero", nodes[0].mark, "no turn is [1, 0, 0, 0]"))
    w, x, y, z = (each / length for each in given)
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def _product(a: Matrix, b: Matrix) -> Matrix:
    columns = list(zip(*b, strict=True))
    return tuple(tuple(sum(x * y for x, y in zip(row, column, strict=True)) for column in columns) for row in a)


def spin_name(name: str, mark: Mark) -> None:
    """`OAB`, or `OAB.OAB` in the part's own frame."""
    frame, dot, part = name.rpartition(".")
    points_of(part.strip(), mark)
    if dot and frame.strip() != part.strip():
        hint = f"write {part}: [x, y, z] in the world, or {part}.{part}: [x, y, z] in the part's own frame"
        raise SpecError(Fault(f"`{name}` is no spin", mark, hint))


class SpinShape:
    """`[x, y, z]`, or `[[x, y, z], fixed]`."""

    def read(self, node: Node, reading: Reading, label: str) -> Spin:
        vector, fixed = node, False
        if isinstance(node, ListNode) and node.items and isinstance(node.items[0], ListNode):
            word = node.items[1] if len(node.items) == 2 else None
            if not isinstance(word, TextNode) or word.text != "fixed":
                hint = "a spin is fixed as a whole: [[x, y, z], fixed]"
                raise SpecError(Fault(f"{label}: what stands in brackets must be [spin, fixed]", node.mark, hint))
            vector, fixed = node.items[0], True
        return Spin(tuple(_numbers(vector, SPACE, reading, label)), fixed, node.mark)

    def schema(self) -> Schema:
        vector = {"type": "array", "items": {"$ref": "#/$defs/expression"}, "minItems": SPACE, "maxItems": SPACE}
        return {"anyOf": [vector, {"type": "array", "prefixItems": [vector, {"const": "fixed"}], "minItems": 2}]}
