"""Shapes of lists and dictionaries. Each reads all its items, so that a file's faults come all at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.nodes import DictNode, ListNode, Node, TextNode, describe
from mechsim.spec.shapes import REPEATED, Reading, Schema, Shape, read_items
from mechsim.spec.suggest import listed, nearest


class ListOf(NamedTuple):
    item: Shape
    least: int = 0

    def read(self, node: Node, reading: Reading, label: str) -> list[Any]:
        if not isinstance(node, ListNode):
            raise SpecError(Fault(f"{label} must be a list, not {describe(node)}", node.mark))
        if len(node.items) < self.least:
            raise SpecError(Fault(f"{label} is too short: it needs at least {self.least} items", node.mark))
        return read_items(node.items, reading, label, self.item.read)

    def schema(self) -> Schema:
        return {"type": "array", "items": self.item.schema(), "minItems": self.least}


class Field(NamedTuple):
    """One key: its shape, what it means (the schema's description), and whether it must be there."""

    shape: Shape
    meaning: str
    required: bool = False
    may_be_empty: bool = False  # `key:` alone counts as absent


class Record(NamedTuple):
    """A dictionary with known keys. Reads to {key: value}; absent or faulty keys are missing from it."""

    fields: Mapping[str, Field]
    other: Shape | None = None  # of keys not in the table; None: there may be none

    def read(self, node: Node, reading: Reading, label: str) -> dict[str, Any]:
        if not isinstance(node, DictNode):
            hint = f"it has the keys {listed(self.fields)}"
            raise SpecError(Fault(f"{label} must be a dictionary, not {describe(node)}", node.mark, hint))
        return self.read_entries(node, reading, label)

    def read_entries(self, node: DictNode, reading: Reading, label: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        written = {key.text for key, _ in node.entries}
        prefix = f"{label}." if label else ""
        for key, item in node.entries:
            known = self.fields.get(key.text, Field(self.other, "") if self.other else None)
            if known is None:
                written.add(self._unknown(key, reading, label))
            elif not (known.may_be_empty and isinstance(item, TextNode) and item.empty):
                value = reading.attempt(known.shape.read, item, reading, prefix + key.text)
                if value is not None:
                    values[key.text] = value
        for name, known in self.fields.items():
            if known.required and name not in written:
                reading.fault(f"{label or 'the file'} lacks {name}", node.mark, known.meaning)
        return values

    def _unknown(self, key: TextNode, reading: Reading, label: str) -> str:
        """Report the key; the known one it probably means, so that this is not reported as missing too."""
        meant = nearest(key.text, self.fields)
        hint = f"did you mean {meant}?" if meant else f"known keys: {', '.join(self.fields)}"
        reading.fault(f"unknown key {key.text}{f' in {label}' if label else ''}", key.mark, hint)
        return meant

    def schema(self) -> Schema:
        properties = {name: {"description": f.meaning, **_optional(f)} for name, f in self.fields.items()}
        required = [name for name, f in self.fields.items() if f.required]
        schema: Schema = {"type": "object", "properties": properties}
        schema["additionalProperties"] = self.other is not None
        return {**schema, "required": required} if required else schema


def _optional(known: Field) -> Schema:
    schema = known.shape.schema()
    return {"anyOf": [schema, {"type": "null"}]} if known.may_be_empty else schema


class ShortOrLong(NamedTuple):
    """A short list `[k, l, mu]`, or its long form `{k: ..., l: ..., mu: ...}`. Reads to {key: value}."""

    fields: Mapping[str, Field]
    further: Mapping[str, Field] = {}  # keys that only the long form has

    def read(self, node: Node, reading: Reading, label: str) -> dict[str, Any]:
        names = list(self.fields)
        needed = [name for name in names if self.fields[name].required]
        if isinstance(node, ListNode):
            if not len(needed) <= len(node.items) <= len(names):
                spare = listed(name for name in names if name not in needed)
                wanted = f"[{', '.join(names)}]" + (f", where {spare} may be left out" if spare else "")
                raise SpecError(Fault(f"{label} has {len(node.items)} of the values {wanted}", node.mark))
            pairs = [(TextNode(name, item.mark), item) for name, item in zip(names, node.items, strict=False)]
            node = DictNode(node.mark, pairs)
        elif not isinstance(node, DictNode):
            hint = f"write [{', '.join(names)}]"
            raise SpecError(Fault(f"{label} must be a list, not {describe(node)}", node.mark, hint))
        values = Record({**self.fields, **self.further}).read_entries(node, reading, label)
        if not all(name in values for name in needed):
            raise SpecError()
        return values

    def schema(self) -> Schema:
        shapes = [known.shape.schema() for known in self.fields.values()]
        needed = sum(known.required for known in self.fields.values())
        short = {"type": "array", "prefixItems": shapes, "minItems": needed, "maxItems": len(shapes)}
        return {"anyOf": [short, Record({**self.fields, **self.further}).schema()]}


class Entry(NamedTuple):
    """A named item. `value` is None when it was faulty: the name is known all the same, so nothing else complains."""

    name: str
    mark: Mark
    value: Any


class Named(NamedTuple):
    """A dictionary keyed by names the user chose; one key may hold several, as in `AC, BD: ...`.

    Reads to {name: Entry}. `check(name, mark)` raises SpecError for a name that breaks the naming rule.
    """

    shape: Shape
    check: Callable[[str, Mark], Any]
    pattern: str  # of one name, for the schema

    def read(self, node: Node, reading: Reading, label: str) -> dict[str, Entry]:
        if not isinstance(node, DictNode):
            reading.lost_names.add(label)
            hint = "write {name: value, ...}"
            raise SpecError(Fault(f"{label} must be a dictionary, not {describe(node)}", node.mark, hint))
        entries: dict[str, Entry] = {}
        keys: dict[str, TextNode] = {}
        values: dict[int, Any] = {}  # of nodes that several keys share, because they are repeated or aliased
        for key, item in node.entries:
            if id(item) not in values:
                values[id(item)] = reading.attempt(self._value, key, item, reading, label)
            value = values[id(item)]
            for name, mark in split_names(key):
                if name not in keys:
                    if self._is_name(name, mark, reading, label):
                        entries[name] = Entry(name, mark, value)
                elif keys[name] is key or keys[name].text != key.text:  # other equal keys are reported already
                    reading.fault(f"{label} defines {name} twice", mark)
                keys[name] = key
        return entries

    def _value(self, key: TextNode, item: Node, reading: Reading, label: str) -> Any:
        if not isinstance(item, TextNode) or not item.empty:
            return self.shape.read(item, reading, f"{label}.{key.text}")
        no_colon = item.mark == key.at(len(key.text))  # {AC, BD: x} gives AC no value
        hint = 'inside braces, quote several names: {"AC, BD": ...}' if no_colon else ""
        raise SpecError(Fault(f"{label}.{key.text} has no value", key.mark, hint))

    def _is_name(self, name: str, mark: Mark, reading: Reading, label: str) -> bool:
        try:
            self.check(name, mark)
        except SpecError as error:
            reading.record(error.faults)
            reading.lost_names.add(label)
            return False
        return True

    def schema(self) -> Schema:
        names = rf"^\s*{self.pattern}(\s*,\s*{self.pattern})*\s*$"
        shape = self.shape.schema()
        return {"type": "object", "patternProperties": {names: shape, REPEATED: shape}, "additionalProperties": False}


def split_names(key: TextNode) -> list[tuple[str, Mark]]:
    """The names of a key such as `AC, BD`, each with its own place. A comma inside parentheses is part of a name."""
    names = []
    offset = 0
    for piece in re.split(r",(?![^()]*\))", key.text):
        indent = len(piece) - len(piece.lstrip())
        names.append((piece.strip(), key.at(offset + indent)))
        offset += len(piece) + 1
    return names
