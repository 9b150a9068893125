"""The Animation section: known keys are checked, further ones are kept as they stand, for the renderer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mechsim.errors import Fault, SpecError
from mechsim.spec.document import Number
from mechsim.spec.names import POINT, point_of, points_of
from mechsim.spec.nodes import DictNode, ListNode, Node, TextNode
from mechsim.spec.records import Entry, Field, ListOf, Named, Record
from mechsim.spec.shapes import Quantity, Reading, Schema, Text, Vector
from mechsim.spec.suggest import did_you_mean


class Plain:
    """Any value: numbers become floats, other text stays."""

    def read(self, node: Node, reading: Reading, label: str) -> Any:
        if isinstance(node, ListNode):
            return [self.read(item, reading, label) for item in node.items]
        if isinstance(node, DictNode):
            return {key.text: self.read(item, reading, f"{label}.{key.text}") for key, item in node.entries}
        try:
            return float(node.text) if node.plain else node.text
        except ValueError:
            return node.text

    def schema(self) -> Schema:
        return {}


class ShownParameter:
    """`$beta0`: the parameter beta0. Reads to its name."""

    def read(self, node: Node, reading: Reading, label: str) -> str:
        text = Text(r"^\$?[^\W\d]\w*$", "the name of a parameter, such as $beta0").read(node, reading, label)
        name = text.removeprefix("$")
        if name not in reading.environment and name not in reading.broken:
            hint = did_you_mean(name, reading.environment) or "it is not in PhysicalParams"
            raise SpecError(Fault(f"{label} names the parameter {name}, which is not defined", node.mark, hint))
        reading.used.add(name)
        return name

    def schema(self) -> Schema:
        return {"type": "string", "pattern": r"^\$?\w+$"}


class NewPoints:
    """`[X, [x, y], Y, [x, y]]`: names, each followed by local coordinates. Reads to {name: coordinates}."""

    def read(self, node: Node, reading: Reading, label: str) -> dict[str, Any]:
        if not isinstance(node, ListNode) or len(node.items) % 2:
            raise SpecError(Fault(f"{label} must be a list [X, [x, y], ...]", node.mark))
        points = {}
        for name, place in zip(node.items[::2], node.items[1::2], strict=True):
            if not isinstance(name, TextNode):
                raise SpecError(Fault(f"{label} must be a list [X, [x, y], ...]", name.mark))
            points[point_of(name.text, name.mark)] = Vector().read(place, reading, f"{label}.{name.text}")
        return points

    def schema(self) -> Schema:
        return {"type": "array", "items": {"anyOf": [{"type": "string"}, Vector().schema()]}}


SKELETON = Record(
    {
        "zscale": Field(Quantity(), "distance between the layers parts are drawn in, m"),
        "fleshoutwid": Field(Quantity(least=0), "width given to thin parts, m"),
    },
    other=Plain(),
)
SKEL = Record(
    {
        "path": Field(Text(rf"^({POINT})+$", "points written together"), "the outline, from point to point"),
        "newpts": Field(NewPoints(), "points only for drawing: [X, [x, y], ...]"),
    },
    other=Plain(),
)
SKELS = Named(SKEL, points_of, f"({POINT})+")
ANIMATION = Record(
    {
        "view": Field(ListOf(Quantity()), "direction of view [azimuth, elevation], degrees"),
        "physParamsToShow": Field(ListOf(ShownParameter()), "parameters to show: [$beta0, $mom]", may_be_empty=True),
        "Skeleton": Field(SKELETON, "thickness of drawn parts", may_be_empty=True),
        "Skels": Field(SKELS, "outlines of drawn parts", may_be_empty=True),
    },
    other=Plain(),
)


def build_animation(
    values: Mapping[str, Any], parts: Mapping[str, tuple[str, ...]], reading: Reading
) -> dict[str, Any]:
    """The section as plain values. Skeleton and Skels may stand inside it or, as in the seed's listing, beside it."""
    beside = {key: values[key] for key in ("Skeleton", "Skels") if key in values}
    section = {**values.get("Animation", {}), **beside}
    for entry in section.get("Skels", {}).values():
        _check_outline(entry, parts, reading)
    return {key: _plain(value) for key, value in section.items()}


def _check_outline(entry: Entry, parts: Mapping[str, tuple[str, ...]], reading: Reading) -> None:
    if entry.name not in parts:
        hint = did_you_mean(entry.name, parts)
        reading.fault(f"Skels draws {entry.name}, which is no part", entry.mark, hint)
        return
    skel = entry.value or {}
    known = {*parts[entry.name], *skel.get("newpts", {})}
    for point in re.findall(POINT, skel.get("path", "")):
        if point not in known:
            hint = "name it in newpts, with its local coordinates"
            reading.fault(f"the path of {entry.name} runs through {point}, which is not on it", entry.mark, hint)


def _plain(value: Any) -> Any:
    if isinstance(value, Number):
        return value.value
    if isinstance(value, Entry):
        return _plain(value.value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
