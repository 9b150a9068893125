"""The Sweep section: which parameters vary, and what is measured of each motion. Ranges and measures stay text with
their places; who sweeps reads them, as those of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.document import Sweep, Written
from mechsim.spec.nodes import ListNode, Node, TextNode, describe
from mechsim.spec.parameters import check_parameter_name
from mechsim.spec.records import Entry, Field, Named, Record
from mechsim.spec.shapes import FLAG, Reading, Schema, Whole, read_items
from mechsim.spec.suggest import did_you_mean, listed

MOST_DRAWS = 100_000_000
LARGEST_SEED = 2**63 - 1


class Range:
    """`500:1500:21`, `log:0.1:10:9`, `normal:1:0.001`, or a list of values. Reads to Written."""

    def read(self, node: Node, reading: Reading, label: str) -> Written:
        if isinstance(node, ListNode):
            items = read_items(node.items, reading, label, self._item)
            if not items:
                raise SpecError(Fault(f"{label} has no values", node.mark, "for example [1, 2, 5]"))
            return Written(",".join(item.text for item in items), items[0].mark)
        return self._item(node, reading, label)

    def _item(self, node: Node, reading: Reading, label: str) -> Written:
        hint = "for example 500:1500:21, log:0.1:10:9, [1, 2, 5] or normal:1:0.001"
        return written(node, f"{label} must be a range or a list", hint)

    def schema(self) -> Schema:
        one = {"type": ["number", "string"]}
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}


def written(node: Node, needed: str, hint: str) -> Written:
    """Text that is read later."""
    if not isinstance(node, TextNode) or node.empty:
        raise SpecError(Fault(f"{needed}, not {describe(node)}", node.mark, hint))
    return Written(node.text, node.at(0))


class Measured:
    """One measure, or a list of them. Reads to a list of Written."""

    def read(self, node: Node, reading: Reading, label: str) -> list[Written]:
        items: list[Node] = node.items if isinstance(node, ListNode) else [node]
        return read_items(items, reading, label, self._item)

    def _item(self, node: Node, reading: Reading, label: str) -> Written:
        hint = 'for example max(A_y); in brackets, quote what holds a comma: ["at(A_y, 2)"]'
        return written(node, f"{label} must be an expression", hint)

    def schema(self) -> Schema:
        return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


SWEEP = Record(
    {
        "vary": Field(
            Named(Range(), check_parameter_name, r"[^\W\d]\w*"),
            "parameters and their values: {k: 500:1500:21, m: log:0.1:10:9, n: [1, 2, 5], L: normal:1:0.001}",
            may_be_empty=True,
        ),
        "measure": Field(Measured(), "what is measured of each motion: [max(A_y), final(A_x)]", may_be_empty=True),
        "draws": Field(Whole(1, MOST_DRAWS), "how many draws are made of distributions"),
        "latin": Field(FLAG, "whether draws are those of a Latin hypercube"),
        "seed": Field(Whole(0, LARGEST_SEED), "the seed of draws; 0 if omitted"),
    }
)


def build_sweep(values: Mapping[str, Any] | None, mark: Mark, reading: Reading) -> Sweep | None:
    """The section, whose names must be parameters; None without one."""
    if values is None:
        return None
    vary: dict[str, Entry] = values.get("vary", {})
    for entry in vary.values():
        if entry.name not in reading.environment and entry.name not in reading.broken:
            known = reading.environment
            there = f"the file has the parameters {listed(known)}" if known else "the file has no PhysicalParams"
            message = f"Sweep varies {entry.name}, which is no parameter"
            reading.fault(message, entry.mark, did_you_mean(entry.name, known) or there)
    return Sweep(
        vary={entry.name: entry.value for entry in vary.values() if entry.value is not None},
        measures=tuple(values.get("measure", ())),
        draws=values.get("draws"),
        latin=values.get("latin", False),
        seed=values.get("seed"),
        mark=mark,
    )
