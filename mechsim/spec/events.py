"""Events: what happens where an expression of the state crosses zero."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from mechsim.errors import Fault, Mark, SpecError
from mechsim.spec.actions import Event
from mechsim.spec.bonds import Names, build_bonds
from mechsim.spec.expression import Expression
from mechsim.spec.functions import NAME
from mechsim.spec.nodes import DictNode, ListNode, Node, TextNode, describe
from mechsim.spec.number import Number
from mechsim.spec.parameters import check_parameter_name
from mechsim.spec.records import Entry, Field, Named, Record
from mechsim.spec.scope import VELOCITY, Scope, StateExpression
from mechsim.spec.shapes import Quantity, Reading, Schema, Text, Word
from mechsim.spec.suggest import did_you_mean

VERBS = ("stop", "record")
DEEDS = ("set", "release", "attach")
DIRECTIONS = {"up": 1, "down": -1, "both": 0}


class Doing(NamedTuple):
    """What an event does."""

    stops: bool = False
    sets: tuple[tuple[str, Mark, Expression], ...] = ()
    releases: tuple[tuple[str, Mark], ...] = ()
    attaches: tuple[tuple[str, Mark], ...] = ()


class Deeds:
    """`stop`, `record`, `{set: {input: expression}}`, `{release: bond}`, `{attach: bond}`, or a list of such."""

    def read(self, node: Node, reading: Reading, label: str) -> Doing:
        found = [self._one(item, reading, label) for item in (node.items if isinstance(node, ListNode) else [node])]
        return Doing(
            any(each.stops for each in found),
            tuple(pair for each in found for pair in each.sets),
            tuple(pair for each in found for pair in each.releases),
            tuple(pair for each in found for pair in each.attaches),
        )

    def _one(self, node: Node, reading: Reading, label: str) -> Doing:
        if isinstance(node, TextNode) and node.text in VERBS:
            return Doing(stops=node.text == "stop")
        if isinstance(node, DictNode) and [key.text for key, _ in node.entries] == ["set"]:
            entries = Named(StateExpression(), check_parameter_name, NAME).read(node.entries[0][1], reading, label)
            return Doing(sets=tuple((e.name, e.mark, e.value) for e in entries.values() if e.value is not None))
        if isinstance(node, DictNode) and [key.text for key, _ in node.entries] in (["release"], ["attach"]):
            ((key, item),) = node.entries
            names = Names().read(item, reading, f"{label}.{key.text}")
            return Doing(releases=names) if key.text == "release" else Doing(attaches=names)
        hint = "write stop, record, {set: {input: value}}, {release: B-AB}, {attach: bond}, or a list of these"
        raise SpecError(Fault(f"{label} is {describe(node)}, which no event does", node.mark, hint))

    def schema(self) -> Schema:
        one = {"anyOf": [{"enum": list(VERBS)}, *({"type": "object", "required": [verb]} for verb in DEEDS)]}
        return {"anyOf": [one, {"type": "array", "items": one}]}


class End:
    """When a motion ends: a time, or `[time, event]`: at that event, but not later than the time."""

    def read(self, node: Node, reading: Reading, label: str) -> tuple[Number, str, Mark]:
        if not isinstance(node, ListNode):
            try:
                return Quantity().read(node, reading, label), "", node.mark
            except SpecError as error:
                name = node.text if isinstance(node, TextNode) and re.fullmatch(NAME, node.text) else ""
                hint = f"to end at the event {name} say at what time at the latest: [10, {name}]"
                raise SpecError(*(replace(each, hint=hint) for each in error.faults)) if name else error from None
        if len(node.items) != 2:
            raise SpecError(Fault(f"{label} must be a time, or [time, event]", node.mark))
        time: Number = Quantity().read(node.items[0], reading, label)
        return time, Text().read(node.items[1], reading, label), node.items[1].mark

    def schema(self) -> Schema:
        time = Quantity().schema()
        return {"anyOf": [time, {"type": "array", "prefixItems": [time, {"type": "string"}], "maxItems": 2}]}


EVENT = Record(
    {
        "when": Field(
            StateExpression(), "an expression of time and state: the event is where it is zero", required=True
        ),
        "direction": Field(Word(DIRECTIONS), "up, down or both: how it crosses zero; both if omitted"),
        "do": Field(
            Deeds(),
            "stop, record, {set: {input: expression}}, {release: B-AB}, {attach: bond}, or a list of these; "
            "record if omitted",
        ),
    }
)
SECTIONS = {
    "Events": Field(
        Named(EVENT, check_parameter_name, NAME),
        "what happens where an expression crosses zero: {top: {when: A.vy, direction: down, do: record}}",
        may_be_empty=True,
    )
}


def build_events(values: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """Fields of Actions."""
    entries: Mapping[str, Entry] = values.get("Events", {})
    _, last, mark = values.get("ProblemData", {}).get("tend") or (None, "", None)
    if last and last not in entries:
        hint = did_you_mean(last, entries) or "define it in Events"
        scope.reading.fault(f"tend names the event {last}, which is not there", mark, hint)
    found = [scope.reading.attempt(_event, entry, entry.name == last, values, scope) for entry in entries.values()]
    doings = [entry.value["do"] for entry in entries.values() if entry.value and "do" in entry.value]
    named = [pair for doing in doings for pair in (*doing.releases, *doing.attaches)]
    bonds = build_bonds(values, named, scope)
    return {"events": tuple(each for each in found if each is not None), "bonds": bonds}


def _event(entry: Entry, ends: bool, values: Mapping[str, Any], scope: Scope) -> Event | None:
    given, user = entry.value, f"Events.{entry.name}"
    if given is None or "when" not in given or not scope.allows(given["when"], VELOCITY, f"{user}.when"):
        return None
    for section, word in (("Contacts", "contact"), ("Bonds", "bond")):
        if entry.name in values.get(section, {}):
            hint = "give one of them another name: the table of events tells them by it"
            raise SpecError(Fault(f"there are an event and a {word} {entry.name}", entry.mark, hint))
    doing: Doing = given.get("do", Doing())
    inputs: Mapping[str, Entry] = values.get("Inputs", {})
    for name, mark, expression in doing.sets:
        if name not in inputs:
            known = (
                f"{name} is a parameter, which is fixed: make it one of Inputs"
                if name in scope.reading.environment
                else ""
            )
            hint = known or did_you_mean(name, inputs) or "an event sets values that stand in Inputs"
            raise SpecError(Fault(f"{user} sets {name}, which is no input", mark, hint))
        if inputs[name].value is not None and inputs[name].value[1]:
            raise SpecError(Fault(f"{user} sets {name}, which goes on linearly in time", mark, "let it be held"))
        if not scope.allows(expression, VELOCITY, f"{user}.set.{name}"):
            return None
    sets = tuple((name, expression) for name, _, expression in doing.sets)
    releases, attaches = (tuple(name for name, _ in each) for each in (doing.releases, doing.attaches))
    direction, stops = given.get("direction", 0), doing.stops or ends
    return Event(entry.name, given["when"], direction, stops, sets, entry.mark, releases, attaches)
