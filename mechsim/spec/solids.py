"""Shapes that parts are made of: `{box: [1, 0.5, 0.1], density: 7800}`. They say what a part weighs, and how it looks.

Read first, as `Drawn`; a part that knows its points then makes them (`made`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.spec.names import POINT, SPACE
from mechsim.spec.nodes import DictNode, ListNode, Node, TextNode, describe
from mechsim.spec.number import Number
from mechsim.spec.records import Field, ListOf, Record, ShortOrLong
from mechsim.spec.shapes import Quantity, Reading, Schema, Vector, coordinates, read_items, shown
from mechsim.spec.suggest import listed

MOST_CORNERS = 2000


class Form(NamedTuple):
    """A shape of the language: its sizes, keys that may stand beside it, and in which dimension it is called so."""

    sizes: tuple[str, ...]
    further: tuple[str, ...]
    space: bool
    plane: bool
    elsewhere: str  # what to write in the other dimension


ROUND = ("along", "from", "to")
FORMS: Mapping[str, Form] = {
    "box": Form(("x", "y", "z"), ("turn", "holes"), True, False, "plate: [x, y]"),
    "cylinder": Form(("radius", "length"), (*ROUND, "holes"), True, False, "disc: radius"),
    "sphere": Form(("radius",), ("holes",), True, False, "disc: radius"),
    "ring": Form(("radius", "tube"), ("along",), True, False, "a disc with holes: [{disc: radius}]"),
    "rod": Form(("length",), ROUND, True, True, ""),
    "cone": Form(("radius", "height"), (*ROUND, "holes"), True, False, "polygon: [[x, y], ...]"),
    "prism": Form((), ("turn", "thickness", "holes"), True, False, "polygon: [[x, y], ...]"),
    "disc": Form(("radius",), ("thickness", "holes"), False, True, "cylinder: [radius, length]"),
    "plate": Form(("x", "y"), ("turn", "thickness", "holes"), False, True, "box: [x, y, z]"),
    "polygon": Form((), ("turn", "thickness", "holes"), False, True, "prism: [[x, y], ...] and a thickness"),
}
OUTLINED = ("prism", "polygon")
LENGTHWISE = ("cylinder", "rod", "cone")  # their last size may be left out: it is that of a line


@frozen
class Named:
    """A point of the part."""

    point: str
    mark: Mark


Spot = Named | tuple[Number, ...]


@frozen
class Drawn:
    """A shape as it stands in the file. `sizes` may lack the last one; `outline` are corners or a name of points."""

    form: str
    label: str
    mark: Mark
    sizes: tuple[Number, ...]
    outline: tuple[tuple[Number, ...], ...] | Named | None
    values: Mapping[str, Any]  # of the other keys

    @property
    def weighs(self) -> bool:
        return "density" in self.values or "mass" in self.values


class Sizes(NamedTuple):
    """`[radius, length]`; a single one needs no brackets; none: `rod:` alone."""

    form: str

    def read(self, node: Node, reading: Reading, label: str) -> tuple[Number, ...]:
        names = FORMS[self.form].sizes
        items = (
            node.items if isinstance(node, ListNode) else [] if isinstance(node, TextNode) and node.empty else [node]
        )
        least = len(names) - (self.form in LENGTHWISE)
        if not least <= len(items) <= len(names):
            spare = f", where {names[-1]} may be left out" if least < len(names) else ""
            wanted = f"[{', '.join(names)}]" if len(names) > 1 else names[0]
            raise SpecError(Fault(f"{label} has {len(items)} of the sizes {wanted}{spare}", node.mark))
        values = read_items(list(items), reading, label, Quantity().read)
        for name, number in zip(names, values, strict=False):
            if number.value <= 0:
                message = f"the {name} of {label} is {shown(number)}, but must be above zero"
                raise SpecError(Fault(message, number.mark))
        if self.form == "ring" and values[1].value > values[0].value:
            message = f"the tube of {label} has the radius {shown(values[1])}, more than that of the ring"
            raise SpecError(
                Fault(message, values[1].mark, "a ring is [radius to the middle of its tube, radius of it]")
            )
        return tuple(values)

    def schema(self) -> Schema:
        expression = {"$ref": "#/$defs/expression"}
        names = FORMS[self.form].sizes
        several = {"type": "array", "items": expression, "maxItems": len(names)}
        empty = [{"type": "null"}] if self.form == "rod" else []
        single = [expression] if len(names) - (self.form in LENGTHWISE) <= 1 else []
        return {"anyOf": [*single, several, *empty]}


class Outline:
    """The corners of a polygon: a list of [x, y], or points of the part written together."""

    def read(self, node: Node, reading: Reading, label: str) -> tuple[tuple[Number, ...], ...] | Named:
        if isinstance(node, TextNode) and not node.empty:
            return Named(node.text, node.mark)
        if not isinstance(node, ListNode):
            hint = "write [[x, y], [x, y], ...], or points of the part written together"
            raise SpecError(Fault(f"{label} must be corners, not {describe(node)}", node.mark, hint))
        if not 3 <= len(node.items) <= MOST_CORNERS:
            wanted = "it needs three or more" if len(node.items) < 3 else f"{MOST_CORNERS} are the most"
            raise SpecError(Fault(f"{label} has {len(node.items)} corners, {wanted}", node.mark))
        corners = read_items(node.items, reading, label, _corner)
        return tuple(corners)

    def schema(self) -> Schema:
        corner = {"type": "array", "items": {"$ref": "#/$defs/expression"}, "maxItems": 2}
        return {"anyOf": [{"type": "string"}, {"type": "array", "items": corner, "minItems": 3}]}


def _corner(node: Node, reading: Reading, label: str) -> tuple[Number, ...]:
    if isinstance(node, ListNode) and len(node.items) > 2:
        message = f"a corner of {label} has {len(node.items)} coordinates, but is [x, y]"
        raise SpecError(Fault(message, node.items[2].mark, "an outline is flat; `at` and `turn` place it in space"))
    return coordinates(node, reading, label, Quantity().read, lambda zero: zero)[:2]


class Somewhere:
    """A place in the frame of the part: coordinates, or the name of one of its points."""

    def read(self, node: Node, reading: Reading, label: str) -> Spot:
        if isinstance(node, TextNode) and not node.empty:
            return Named(node.text, node.mark)
        return Vector().read(node, reading, label)

    def schema(self) -> Schema:
        return {"anyOf": [{"type": "string", "pattern": f"^{POINT}$"}, Vector().schema()]}


class Turn:
    """In the plane an angle; in space angles about axes that are named: `{zxz: [a, b, c]}`, `{y: a}`."""

    def read(self, node: Node, reading: Reading, label: str) -> tuple[str, tuple[Number, ...]]:
        if reading.dimension != SPACE:
            if isinstance(node, DictNode):
                raise SpecError(Fault(f"{label} must be one angle in the plane", node.mark, "write turn: angle"))
            return "z", (Quantity().read(node, reading, label),)
        hint = "name the axes, each as it then stands: {zxz: [a, b, c]}, {z: a}"
        if not isinstance(node, DictNode) or len(node.entries) != 1:
            raise SpecError(Fault(f"{label} must name its axes, but is {describe(node)}", node.mark, hint))
        ((key, item),) = node.entries
        items = item.items if isinstance(item, ListNode) else [item]
        if not key.text or set(key.text) - set("xyz") or len(key.text) > 3:
            raise SpecError(Fault(f"{label}: `{key.text}` is no sequence of axes", key.mark, hint))
        if len(items) != len(key.text):
            message = f"{label}.{key.text} has {len(items)} angles, but names {len(key.text)} axes"
            raise SpecError(Fault(message, item.mark))
        return key.text, tuple(read_items(list(items), reading, label, Quantity().read))

    def schema(self) -> Schema:
        expression = {"$ref": "#/$defs/expression"}
        angles = {"anyOf": [expression, {"type": "array", "items": expression, "minItems": 1, "maxItems": 3}]}
        several = {"type": "object", "patternProperties": {"^[xyz]{1,3}$": angles}, "additionalProperties": False}
        return {"anyOf": [expression, several]}


class Density:
    """Not negative: what is missing is cut out."""

    def read(self, node: Node, reading: Reading, label: str) -> Number:
        number = Quantity().read(node, reading, label)
        if number.value < 0:
            hint = "cut it out of another shape: {box: ..., density: ..., holes: [{...}]}"
            raise SpecError(Fault(f"{label} is {shown(number)}, but must not be negative", node.mark, hint))
        return number

    def schema(self) -> Schema:
        return Quantity().schema()


class Direction:
    """A vector that is not null."""

    def read(self, node: Node, reading: Reading, label: str) -> tuple[Number, ...]:
        vector = Vector().read(node, reading, label)
        if not any(number.value for number in vector):
            raise SpecError(Fault(f"{label} is a direction, but has the length zero", node.mark))
        return vector

    def schema(self) -> Schema:
        return Vector().schema()


class Shape(NamedTuple):
    """One shape, with its place, its density or mass, and what is cut out of it."""

    is_hole: bool = False

    def read(self, node: Node, reading: Reading, label: str) -> Drawn:
        if not isinstance(node, DictNode):
            hint = "write {box: [x, y, z], density: ...}, or another of " + listed(FORMS)
            raise SpecError(Fault(f"{label} must be a shape, not {describe(node)}", node.mark, hint))
        keys = {key.text: key for key, _ in node.entries}
        forms = [name for name in FORMS if name in keys]
        values = Record(self._keys()).read_entries(node, reading, label)
        if len(forms) != 1:
            told = "names no shape" if not forms else f"is {listed(forms)} at once"
            hint = f"shapes are {listed(FORMS)}" if not forms else "write a list of shapes: [{...}, {...}]"
            faults = [Fault(f"{label} {told}", node.mark, hint)] if forms or len(values) == len(keys) else []
            raise SpecError(*faults)  # an unknown key is reported already
        (form,) = forms
        self._refuse_unfit(form, keys, reading, label)
        if len(values) < len(keys):
            raise SpecError()  # reported already
        drawn = values.pop(form)
        sizes, outline = ((), drawn) if form in OUTLINED else (drawn, None)
        return Drawn(form, f"{label}.{form}", keys[form].mark, sizes, outline, values)

    def _keys(self) -> dict[str, Field]:
        shapes = {name: Field(Sizes(name), f"[{', '.join(form.sizes)}], m") for name, form in FORMS.items()}
        shapes |= {name: Field(Outline(), "corners of an outline: [[x, y], ...], m") for name in OUTLINED}
        weights = {
            "density": Field(Density(), "kg/m^3; of a rod kg/m, of a flat shape without thickness kg/m^2"),
            "mass": Field(Quantity(least=0), "kg, in the place of a density"),
            "holes": Field(_Holes(), "shapes that are cut out, in the frame of this one"),
        }
        places = {
            "thickness": Field(Quantity(), "of a flat shape or a prism, m"),
            "at": Field(Somewhere(), "where its centre is, or the origin of its outline: coordinates or a point"),
            "from": Field(Somewhere(), "where its line begins: coordinates or a point"),
            "to": Field(Somewhere(), "where its line ends"),
            "along": Field(Direction(), "the direction of its axis"),
            "turn": Field(Turn(), "an angle; in space angles about named axes: {zxz: [a, b, c]}"),
        }
        return {**shapes, **({} if self.is_hole else weights), **places}

    def _refuse_unfit(self, form: str, keys: Mapping[str, TextNode], reading: Reading, label: str) -> None:
        known = FORMS[form]
        if not (known.space if reading.dimension == SPACE else known.plane):
            where = "space" if reading.dimension == SPACE else "the plane"
            raise SpecError(
                Fault(f"{label}: in {where} there is no {form}", keys[form].mark, f"write {known.elsewhere}")
            )
        if self.is_hole and form in ("rod", "ring"):
            raise SpecError(Fault(f"{label}: a {form} cannot be a hole", keys[form].mark))
        usual = ("at",) if self.is_hole else ("at", "density", "mass")
        for key in keys.values():
            if key.text not in (form, *usual, *known.further) and (key.text in self._keys()):
                hint = f"beside {form} there may be {listed((*usual, *known.further))}"
                raise SpecError(Fault(f"{label}: a {form} has no {key.text}", key.mark, hint))
        for one, other in (("density", "mass"), ("at", "from"), ("at", "to"), ("along", "from"), ("along", "to")):
            if one in keys and other in keys:
                raise SpecError(Fault(f"{label} has both {one} and {other}", keys[other].mark, "leave out one of them"))
        if ("from" in keys) != ("to" in keys):
            there, missing = ("from", "to") if "from" in keys else ("to", "from")
            raise SpecError(Fault(f"{label} has {there}, but no {missing}", keys[there].mark))
        if form == "prism" and "thickness" not in keys and not self.is_hole:
            raise SpecError(Fault(f"{label}: a prism needs a thickness", keys[form].mark))

    def schema(self) -> Schema:
        return {"$ref": "#/$defs/hole" if self.is_hole else "#/$defs/shape"}

    def definition(self) -> Schema:
        """For the schema, where it stands once."""
        return Record(self._keys()).schema()


class _Holes:
    def read(self, node: Node, reading: Reading, label: str) -> list[Drawn]:
        return ListOf(Shape(is_hole=True), 1).read(node, reading, label)

    def schema(self) -> Schema:
        return ListOf(Shape(is_hole=True), 1).schema()


DEFINITIONS = {"shape": Shape().definition(), "hole": Shape(is_hole=True).definition()}


class Shapes:
    """A shape, or a list of them."""

    def read(self, node: Node, reading: Reading, label: str) -> list[Drawn]:
        if isinstance(node, ListNode):
            return ListOf(Shape(), 1).read(node, reading, label)
        return [Shape().read(node, reading, label)]

    def schema(self) -> Schema:
        return {"anyOf": [Shape().schema(), ListOf(Shape(), 1).schema()]}


class Dyna(NamedTuple):
    """[centroid, mass, inertia], the same by names, or shapes that weigh something."""

    numbers: ShortOrLong

    def read(self, node: Node, reading: Reading, label: str) -> dict[str, Any] | list[Drawn]:
        if not _has_shapes(node):
            return self.numbers.read(node, reading, label)
        drawn = Shapes().read(node, reading, label)
        for each in drawn:
            if not each.weighs:
                hint = "a mere picture belongs under Shapes"
                raise SpecError(Fault(f"{each.label} has neither density nor mass", each.mark, hint))
        return drawn

    def schema(self) -> Schema:
        return {"anyOf": [self.numbers.schema(), Shapes().schema()]}


def _has_shapes(node: Node) -> bool:
    if isinstance(node, ListNode):
        return any(isinstance(item, DictNode) for item in node.items)
    return isinstance(node, DictNode) and any(key.text in (*FORMS, "density") for key, _ in node.entries)
