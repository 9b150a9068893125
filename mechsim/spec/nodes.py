"""YAML text to a tree of our own nodes. Every scalar stays text: `ON`, `010` and `1e-14` mean what we say, not YAML.

Built from the parser's events, so that tags, aliases, depth and size are checked before anything grows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml

from mechsim.errors import Fault, Mark, SpecError

MAX_BYTES = 40_000_000
MAX_NODES = 3_000_000  # a chain of 100,000 rods has 1.6 million
MAX_ALIASED = 400_000  # values that aliases add: a few lines of them may stand for more than fits anywhere
MAX_DEPTH = 30

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # where a line ends for YAML
# YAML's printable characters; anything else means the file is not text.
UNPRINTABLE = re.compile("[^\x09\x0a\x0d\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class TextNode(NamedTuple):
    text: str
    mark: Mark
    plain: bool = True  # written without quotes
    one_line: bool = True
    bindings: Mapping[str, int] = {}  # numbers that names of an expression stand for here: see repeat.py

    @property
    def empty(self) -> bool:
        return self.plain and self.text in ("", "~", "null")

    def at(self, offset: int) -> Mark:
        """Where a character of the text stands (the start of the scalar if it runs over several lines)."""
        quote = 0 if self.plain else 1
        return Mark(self.mark.file, self.mark.line, self.mark.column + quote + offset) if self.one_line else self.mark


class ListNode(NamedTuple):
    mark: Mark
    items: list[Node]


class DictNode(NamedTuple):
    mark: Mark
    entries: list[tuple[TextNode, Node]]


Node = TextNode | ListNode | DictNode


def compose(text: str, path: str) -> tuple[DictNode, list[Fault]]:
    """The file's tree, and the faults that do not hinder reading on (duplicate keys).

    Raises SpecError when there is no tree: broken YAML, tags, exploding aliases, control characters.
    """
    _check_printable(text, path)
    builder = _Builder(path)
    try:
        for event in yaml.parse(text, Loader=LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        raise SpecError(_yaml_fault(error, path, text)) from None
    except yaml.YAMLError as error:
        raise SpecError(Fault(f"this is not YAML: {error}", Mark(path, 1, 1))) from None
    root = builder.root
    if root is None or (isinstance(root, TextNode) and root.empty):
        raise SpecError(Fault("the file is empty", Mark(path, 1, 1), "a mechanism file starts with a Title"))
    if not isinstance(root, DictNode):
        raise SpecError(Fault(f"the file holds {describe(root)}, not sections", root.mark, "start with `Title: ...`"))
    return root, builder.faults


def describe(node: Node) -> str:
    """The node in words, for `... must be a list, not ...`."""
    if isinstance(node, ListNode):
        return "a list"
    if isinstance(node, DictNode):
        return "a dictionary"
    if node.empty:
        return "nothing"
    return f"`{node.text}`" if len(node.text) <= 60 else f"`{node.text[:57]}...`"


class _Builder:
    """Stacks open collections; `count` is of expanded nodes, which is what an alias bomb makes explode, `aliased` of
    those that aliases added."""

    def __init__(self, path: str):
        self.path = path
        self.root: Node | None = None
        self.faults: list[Fault] = []
        self.open: list[tuple[ListNode | DictNode, str | None, int]] = []
        self.keys: list[TextNode | None] = []
        self.anchors: dict[str, tuple[Node, int]] = {}
        self.count = 0
        self.aliased = 0
        self.documents = 0

    def take(self, event: Any) -> None:
        mark = Mark(self.path, event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise SpecError(Fault("a second document starts here", mark, "one file holds one mechanism"))
        elif isinstance(event, yaml.AliasEvent):
            self._alias(str(event.anchor), mark)
        elif isinstance(event, yaml.ScalarEvent):
            self._refuse_tag(event.tag, mark)
            one_line = mark.line == event.end_mark.line + 1  # type: ignore[union-attr]
            self._add(TextNode(event.value, mark, not event.style, one_line), event.anchor)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._refuse_tag(event.tag, mark)
            node = ListNode(mark, []) if isinstance(event, yaml.SequenceStartEvent) else DictNode(mark, [])
            self._start(node, event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()

    def _start(self, node: ListNode | DictNode, anchor: str | None) -> None:
        if len(self.open) >= MAX_DEPTH:
            raise SpecError(Fault(f"lists or dictionaries are nested more than {MAX_DEPTH} deep", node.mark))
        self.open.append((node, anchor, self.count))
        self.keys.append(None)
        self._grow(1, node.mark)

    def _end(self) -> None:
        node, anchor, before = self.open.pop()
        self.keys.pop()
        if isinstance(node, DictNode):
            self.faults.extend(_duplicates(node))
        self._place(node)
        if anchor:
            self.anchors[anchor] = (node, self.count - before)

    def _alias(self, anchor: str, mark: Mark) -> None:
        if anchor not in self.anchors:
            raise SpecError(Fault(f"alias *{anchor} stands for nothing complete", mark, f"define &{anchor} before it"))
        node, size = self.anchors[anchor]
        self.aliased += size
        if self.aliased > MAX_ALIASED:
            hint = "aliases multiply what they stand for: write fewer of them"
            raise SpecError(Fault(f"aliases add more than {MAX_ALIASED} values to the file", mark, hint))
        self._grow(size, mark)
        self._place(node, mark)

    def _add(self, node: TextNode, anchor: str | None) -> None:
        self._grow(1, node.mark)
        if anchor:
            self.anchors[anchor] = (node, 1)
        self._place(node)

    def _grow(self, size: int, mark: Mark) -> None:
        self.count += size
        if self.count > MAX_NODES:
            raise SpecError(Fault(f"the file holds more than {MAX_NODES} values: this cannot be a mechanism", mark))

    def _place(self, node: Node, alias: Mark | None = None) -> None:
        if not self.open:
            self.root = node
            return
        parent = self.open[-1][0]
        key = self.keys[-1]
        if isinstance(parent, ListNode):
            parent.items.append(node)
        elif key is None:
            self.keys[-1] = self._key(node, alias)
        else:
            self.keys[-1] = None
            parent.entries.append((key, node))

    def _key(self, node: Node, alias: Mark | None) -> TextNode:
        if not isinstance(node, TextNode):
            raise SpecError(Fault(f"a key must be a word, not {describe(node)}", alias or node.mark))
        return TextNode(node.text, alias or node.mark, node.plain, node.one_line)

    def _refuse_tag(self, tag: str | None, mark: Mark) -> None:
        if tag is not None:
            shown = tag.replace("tag:yaml.org,2002:", "!!")
            raise SpecError(Fault(f"the tag {shown} is not allowed", mark, "write the value without a tag"))


def _duplicates(node: DictNode) -> list[Fault]:
    """A fault for every key of `node` that stands twice."""
    first: dict[str, Mark] = {}
    faults = []
    for key, _ in node.entries:
        if key.text in first:
            hint = f"the first one stands in line {first[key.text].line}"
            faults.append(Fault(f"the key {key.text} stands twice", key.mark, hint))
        first.setdefault(key.text, key.mark)
    return faults


def _check_printable(text: str, path: str) -> None:
    found = UNPRINTABLE.search(text)
    if found:
        before = BREAK.split(text[: found.start()])
        mark = Mark(path, len(before), len(before[-1]) + 1)
        message = f"the character U+{ord(found[0]):04X} does not belong in a text file"
        raise SpecError(Fault(message, mark, "is this a mechanism file?"))


def _unquoted_braces(text: str, mark: Mark) -> str:
    """The name with braces in it, such as `P{i}`, that stands at a place where YAML ends it before the brace."""
    line = [*BREAK.split(text, mark.line), ""][mark.line - 1]
    names = re.finditer(r"\w[\w.-]*\{[^{}]*\}([\w.,-]|\{[^{}]*\})*", line)
    return next((found[0].rstrip(",") for found in names if found.start() < mark.column <= found.end() + 1), "")


def _yaml_fault(error: yaml.MarkedYAMLError, path: str, text: str) -> Fault:
    place = error.problem_mark or error.context_mark
    mark = Mark(path, place.line + 1, place.column + 1) if place else Mark(path, 1, 1)
    problem = error.problem or "unreadable"
    hint = ""
    if "tab" in problem or "cannot start any token" in problem:
        hint = "indent with spaces, not tabs; quote text that starts with a special character"
    elif repeated := _unquoted_braces(text, mark):
        hint = f'inside braces and brackets, quote what holds braces: "{repeated}"'
    elif mark.column > 1024 and "mapping values" in problem:
        hint = "YAML allows keys of up to 1024 characters: put the names under several keys"
    elif error.context and error.context_mark:
        hint = f"{error.context}, line {error.context_mark.line + 1}"
    return Fault(f"this is not YAML: {problem}", mark, hint)
