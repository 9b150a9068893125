"""Signals that are asked for beside a file, as if they stood in it: in Signals, and in the list of Output."""

from __future__ import annotations

from collections.abc import Mapping

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.nodes import DictNode, ListNode, Node, TextNode, compose

ASKED = "<asked>"  # where they stand; whoever asks knows them by other names
FORM = "write NAME: [-y, x] for all points, or A: [-A.y, A.x] or A.x: -A.y for some"


def with_signals(root: DictNode, asked: Mapping[str, str]) -> DictNode:
    """The tree of a file with these signals and their expressions."""
    if not asked:
        return root
    place = Mark(ASKED, 1, 1)
    entries = [(TextNode(name, place), TextNode(text, place)) for name, text in asked.items()]
    names: list[Node] = [TextNode(name, place) for name in asked]
    output = _section(root, "Output")
    listed = next((node for key, node in output.entries if key.text == "signals"), None)
    already = listed.items if isinstance(listed, ListNode) else []
    root = _put(root, "Signals", DictNode(place, [*_section(root, "Signals").entries, *entries]))
    return _put(root, "Output", _put(output, "signals", ListNode(place, [*already, *names])))


def _section(node: DictNode, name: str) -> DictNode:
    found = next((each for key, each in node.entries if key.text == name), None)
    return found if isinstance(found, DictNode) else DictNode(node.mark, [])


def _put(node: DictNode, name: str, value: Node) -> DictNode:
    """With a value under a key, in the place of what was there."""
    key = next((key for key, _ in node.entries if key.text == name), TextNode(name, value.mark))
    return DictNode(node.mark, [*((k, each) for k, each in node.entries if k.text != name), (key, value)])


Given = Mapping[str, object]  # generators by name: how fast every point goes, or what goes how fast


def read_generator(text: str) -> dict[str, object]:
    """`screw: [-y, x, 0.1]`, `orbit: {A: [-y, x]}`, or `A.x: -A.y, A.y: A.x`, which is called as it is written; lists
    and texts of it as they stand. Raises SpecError."""
    whole = text.strip()
    try:
        root, faults = compose(whole if whole.startswith("{") else f"{{{whole}}}", ASKED)
    except SpecError as error:
        faults = list(error.faults)
    if faults:
        raise SpecError(Fault(f"the generator `{whole}` cannot be read: {faults[0].message}", hint=FORM))
    values = {key.text: _plain(node) for key, node in root.entries}
    if not values:
        raise SpecError(Fault("a generator is empty: it says how points move", hint=FORM))
    if len(values) == 1 and not isinstance(next(iter(values.values())), str):
        return values
    return {whole: values}


def _plain(node: Node) -> object:
    if isinstance(node, TextNode):
        return node.text
    if isinstance(node, ListNode):
        return [_plain(each) for each in node.items]
    return {key.text: _plain(each) for key, each in node.entries}
