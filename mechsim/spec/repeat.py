"""Repeat: `Repeat: {i: 1..N}` makes an entry `P{i-1}P{i}: ...` stand for N of them.

It works on nodes, before any section is read, so no section knows of it. A key, or a text in a list, that holds
`{...}` with indices is repeated for each of their values; inside, `{...}` is replaced in texts, and expressions know
the index as a number. Marks stay those of the file, and what holds no index is shared by all repetitions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

from mechsim.errors import Fault, SpecError
from mechsim.spec.expression import Expression, parse_expression, undefined
from mechsim.spec.nodes import DictNode, ListNode, Node, TextNode, describe
from mechsim.spec.parameters import check_parameter_name
from mechsim.spec.shapes import Reading, Schema, evaluate
from mechsim.spec.suggest import listed

# Bytes that a run needs for a key (a part, a place, ...) and for a value beside it: a rod of a chain in space with its
# position takes 41,000, measured for 5,000 to 20,000 rods.
KEY, VALUE = 20_000, 500
MOST = 10e9  # of them
BRACES = re.compile(r"\{([^{}]*)\}")
WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")
AS_WRITTEN = ("Title", "Dimension", "PhysicalParams", "Repeat")  # sections in which nothing is repeated
NAMED = ("Inputs", "Signals", "Tables", "Piecewise")  # whose names expressions may use

Values = Mapping[str, int]  # of the indices that are bound at a place


class Ranges:
    """`{i: 1..N}`: only its form, for the schema; the values need parameters."""

    def read(self, node: Node, reading: Reading, label: str) -> None:
        return None

    def schema(self) -> Schema:
        span = {"type": "string", "pattern": r"^.+\.\..+$", "description": "first..last, whole numbers"}
        return {"type": "object", "additionalProperties": span}


class Made(NamedTuple):
    """How a node is repeated: the memory for what is made of it, and what makes it, given the indices; None: it stays,
    and all repetitions share it."""

    memory: int
    make: Callable[[Values], Node] | None


def repeated(root: DictNode, reading: Reading) -> DictNode:
    """The file with all its repetitions written out. Raises SpecError."""
    section = next((node for key, node in root.entries if key.text == "Repeat"), None)
    if section is None or (isinstance(section, TextNode) and section.empty):
        return root
    repeater = _Repeater(_ranges(section, root, reading), reading)
    plans = [(key, node, repeater.plan(node, ())) for key, node in root.entries if key.text not in AS_WRITTEN]
    _refuse_too_many(sum(plan.memory for _, _, plan in plans), section)
    made = {key.text: plan.make({}) if plan.make else node for key, node, plan in plans}
    return DictNode(root.mark, [(key, made.get(key.text, node)) for key, node in root.entries])


def _refuse_too_many(memory: int, section: Node) -> None:
    if memory > MOST:
        message = f"Repeat makes so much that a run would need about {memory / 1e9:.2g} GB of memory"
        raise SpecError(Fault(message, section.mark, f"{MOST / 1e9:g} GB are the most: make the ranges smaller"))


# --- ranges


def _ranges(section: Node, root: DictNode, reading: Reading) -> dict[str, range]:
    if not isinstance(section, DictNode):
        message = f"Repeat must be a dictionary, not {describe(section)}"
        raise SpecError(Fault(message, section.mark, "write Repeat: {i: 1..N}"))
    names = _names(root)
    ranges = {}
    for key, node in section.entries:
        check_parameter_name(key.text, key.mark)
        if key.text in reading.environment or key.text in reading.broken:
            message, hint = f"the index {key.text} is a parameter already", "give one of them another name"
            raise SpecError(Fault(message, key.mark, hint))
        if key.text in names or key.text == "t":
            what = "the time" if key.text == "t" else f"a name in {names[key.text]}"
            raise SpecError(Fault(f"the index {key.text} is {what} already", key.mark, "give it another name"))
        ranges[key.text] = _range(key.text, node, reading)
    return ranges


def _names(root: DictNode) -> dict[str, str]:
    """Names of functions, and the sections that define them."""
    sections = {key.text: node for key, node in root.entries if key.text in NAMED and isinstance(node, DictNode)}
    return {key.text: name for name, node in sections.items() for key, _ in node.entries}


def _range(index: str, node: Node, reading: Reading) -> range:
    text = node.text if isinstance(node, TextNode) else ""
    first, dots, last = text.partition("..")
    if not isinstance(node, TextNode) or not dots or not first.strip() or not last.strip():
        hint = f"write {index}: 1..N"
        raise SpecError(Fault(f"Repeat.{index} must be a range first..last, not {describe(node)}", node.mark, hint))
    begin = _whole(TextNode(first, node.mark, node.plain, node.one_line), index, reading)
    shift = len(first) + len(dots)
    end = _whole(TextNode(last, node.at(shift), True, node.one_line), index, reading)
    if end < begin:
        raise SpecError(Fault(f"Repeat.{index} runs backwards, from {begin} to {end}", node.mark))
    return range(begin, end + 1)


def _whole(node: TextNode, index: str, reading: Reading) -> int:
    value = evaluate(node, reading)
    if not value.is_integer():
        message = f"Repeat.{index}: {node.text.strip()} is {value:g}, but must be a whole number"
        raise SpecError(Fault(message, node.mark))
    return int(value)


# --- templates


class _Template(NamedTuple):
    """A text with braces: pieces of text and expressions, in turn; `indices` and parameters that stand in it."""

    node: TextNode
    texts: list[str]
    expressions: list[Expression]
    indices: tuple[str, ...]
    parameters: Mapping[str, float]

    def filled(self, values: Values) -> TextNode:
        text = self.texts[0]
        for expression, following in zip(self.expressions, self.texts[1:], strict=True):
            number = expression.evaluate({**self.parameters, **values})
            if not float(number).is_integer():
                told = _told(values)
                message = f"`{self.node.text}`: {expression.text} is {number:g}{told}, but must be a whole number"
                raise SpecError(Fault(message, expression.mark))
            text += f"{int(number)}{following}"
        # several lines, so that faults are told at its beginning: columns within are not those of the file
        return TextNode(text, self.node.mark, self.node.plain, False, _bound(text, values))


def _told(values: Values) -> str:
    return f" for {listed([f'{name} = {value}' for name, value in values.items()])}" if values else ""


def _bound(text: str, values: Values) -> Values:
    """Values of the indices that an expression of this text would use."""
    return {name: values[name] for name in dict.fromkeys(WORD.findall(text)) if name in values}


class _Repeater:
    def __init__(self, ranges: Mapping[str, range], reading: Reading):
        self.ranges, self.reading = ranges, reading
        self.known = {*ranges, *reading.environment, *reading.broken}

    def plan(self, node: Node, bound: tuple[str, ...]) -> Made:
        if isinstance(node, DictNode):
            return self._dictionary(node, bound)
        if isinstance(node, ListNode):
            return self._list(node, bound)
        return self._text(node, bound)

    def _text(self, node: TextNode, bound: tuple[str, ...]) -> Made:
        template = self._template(node)
        if template is None:
            used = {name for name in WORD.findall(node.text) if name in bound}
            if not used:
                return Made(0, None)
            return Made(VALUE, lambda values: node._replace(bindings={name: values[name] for name in used}))
        free = next((name for name in template.indices if name not in bound), None)
        if free:
            hint = "keys and texts in lists are repeated"
            raise SpecError(Fault(f"{{{free}}} stands here, but nothing repeats it", node.mark, hint))
        return Made(VALUE, lambda values: template.filled(values))

    def _list(self, node: ListNode, bound: tuple[str, ...]) -> Made:
        plans = []
        for item in node.items:
            template = self._template(item) if isinstance(item, TextNode) else None
            free = self._free(template, bound)
            plans.append((item, free, self.plan(item, (*bound, *free))))
        if not any(plan.make for _, _, plan in plans):
            return Made(0, None)

        def make(values: Values) -> Node:
            items: list[Node] = []
            for item, free, plan in plans:
                if plan.make is None:
                    items.append(item)
                else:
                    items.extend(plan.make(each) for each in self._each(free, values))
            return ListNode(node.mark, items)

        return Made(VALUE + sum(self._times(free) * plan.memory for _, free, plan in plans), make)

    def _dictionary(self, node: DictNode, bound: tuple[str, ...]) -> Made:
        plans = []
        for key, item in node.entries:
            template = self._template(key)
            free = self._free(template, bound)
            plans.append((key, template, item, free, self.plan(item, (*bound, *free))))
        if not any(template or plan.make for _, template, _, _, plan in plans):
            return Made(0, None)

        def make(values: Values) -> Node:
            entries: list[tuple[TextNode, Node]] = []
            seen: dict[str, tuple[TextNode, Values]] = {}
            for key, template, item, free, plan in plans:
                for each in self._each(free, values):
                    found = template.filled(each) if template else key
                    if found.text in seen and (template or seen[found.text][1]):
                        self._collision(found.text, key, each, *seen[found.text])
                        continue
                    seen[found.text] = key, each if template else {}
                    entries.append((found, plan.make(each) if plan.make else item))
            return DictNode(node.mark, entries)

        memory = sum(self._times(free) * ((KEY if free else VALUE) + plan.memory) for *_, free, plan in plans)
        return Made(VALUE + memory, make)

    def _collision(self, text: str, key: TextNode, values: Values, first: TextNode, earlier: Values) -> None:
        told = _told(values) or f" in line {key.mark.line}"
        before = _told(earlier) or f" in line {first.mark.line}"
        self.reading.fault(f"the key {text} stands twice:{before} and{told}", key.mark)

    def _template(self, node: TextNode) -> _Template | None:
        if "{" not in node.text:
            return None
        pieces = list(BRACES.finditer(node.text))
        if not pieces:
            return None
        expressions = [parse_expression(piece[1], node.at(piece.start(1))) for piece in pieces]
        for expression in expressions:
            faults = undefined(expression, self.known)
            if faults:
                hint = f"braces hold indices of Repeat ({', '.join(self.ranges)}) and parameters"
                raise SpecError(Fault(faults[0].message, faults[0].mark, hint))
            self.reading.used.update(expression.names)
        names = dict.fromkeys(name for expression in expressions for name in expression.names)
        if any(name in self.reading.broken for name in names):
            raise SpecError()
        texts = BRACES.split(node.text)[::2]
        if any("{" in text or "}" in text for text in texts):
            raise SpecError(Fault(f"`{node.text}` has a brace without its partner", node.mark))
        parameters = {name: value for name, value in self.reading.environment.items() if name in names}
        indices = tuple(name for name in self.ranges if name in names)
        return _Template(node, texts, expressions, indices, parameters)

    def _free(self, template: _Template | None, bound: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in template.indices if name not in bound) if template else ()

    def _times(self, free: tuple[str, ...]) -> int:
        return math.prod(len(self.ranges[name]) for name in free)

    def _each(self, free: tuple[str, ...], values: Values) -> Iterator[Values]:
        if not free:
            yield values
            return
        for numbers in product(*(self.ranges[name] for name in free)):
            yield {**values, **dict(zip(free, numbers, strict=True))}
