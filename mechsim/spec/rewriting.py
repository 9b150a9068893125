"""A mechanism file with other numbers in it: the text stays as a person wrote it, but for these."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

import yaml

from mechsim.frozen import frozen

Edit = tuple[int, int, str]  # from, to, what stands there instead


@frozen
class Course:
    """An input over time: its values at times, held from each to the next, or joined by straight lines (or as tables
    of another kind are)."""

    times: Sequence[float]
    values: Sequence[float]
    linear: bool
    kind: str = ""


@frozen
class Polynomials:
    """An input over time: from each time on the powers of the time since then have these coefficients."""

    times: Sequence[float]
    coefficients: Sequence[Sequence[float]]


Timed = Course | Polynomials


def rewritten(
    text: str,
    parameters: Mapping[str, float],
    inputs: Mapping[str, float | Timed],
    times: Mapping[str, float],
) -> str:
    """The text with other values of parameters, of inputs, and `times` (t0, tend), without Reference, whose known
    answers are those of other values. An input over time becomes a table, or a Piecewise, of the same name; the section
    Optimize, which would vary it, is left out then."""
    sections = _sections(text)
    edits: list[Edit] = []
    for name, value in parameters.items():
        edits += _replaced(sections, "PhysicalParams", name, value)
    for name, given in inputs.items():
        if not isinstance(given, Timed):
            edits += _replaced(sections, "Inputs", name, given)
    found = _timed(_edited(text, edits), times)
    found = _edited(found, _without(found, "Reference"))
    courses = {name: given for name, given in inputs.items() if isinstance(given, Timed)}
    if not courses:
        return found
    inputs_left = _entries(_sections(found)["Inputs"][1]).keys() - courses.keys()
    removed = _removed(found, _sections(found)["Inputs"][1], courses) if inputs_left else _without(found, "Inputs")
    found = _edited(found, removed)
    found = _edited(found, _without(found, "Optimize"))
    for section, kind in (("Tables", Course), ("Piecewise", Polynomials)):
        lines = [_line(name, course) for name, course in courses.items() if isinstance(course, kind)]
        found = _with_lines(found, section, lines) if lines else found
    return found


Sections = Mapping[str, tuple[yaml.Node, yaml.Node]]


def _sections(text: str) -> Sections:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)  # the file was read before
    return {key.value: (key, node) for key, node in root.value}


def _edited(text: str, edits: Sequence[Edit]) -> str:
    for first, last, words in sorted(edits, reverse=True):
        text = text[:first] + words + text[last:]
    return text


def _entries(node: yaml.Node) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return {key.value: (key, value) for key, value in pairs}


def _entry(node: yaml.Node, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    return _entries(node).get(name)


def _replaced(sections: Sections, section: str, name: str, value: float) -> list[Edit]:
    """Another number for an entry; of an input in its long form for its start, of a list (`tend: [10, landed]`) for
    the first."""
    found = _entry(sections[section][1], name) if section in sections else None
    if found is None:
        return []
    node = found[1]
    if isinstance(node, yaml.MappingNode):
        start = _entry(node, "start")
        if start is None:
            first = node.start_mark.index + 1
            return [(first, first, f"start: {value!r}, " if node.value else f"start: {value!r}")]
        node = start[1]
    if isinstance(node, yaml.SequenceNode) and node.value:
        node = node.value[0]
    return [(node.start_mark.index, node.end_mark.index, repr(float(value)))]


def _removed(text: str, section: yaml.Node, names: Mapping[str, Timed]) -> list[Edit]:
    """Without some entries of a section, which has others."""
    assert isinstance(section, yaml.MappingNode)
    kept = [(key, value) for key, value in section.value if key.value not in names]
    parts = [text[key.start_mark.index : value.end_mark.index].strip() for key, value in kept]
    if section.flow_style:
        return [(section.start_mark.index, section.end_mark.index, "{" + ", ".join(parts) + "}")]
    indent = " " * section.start_mark.column
    words = f"\n{indent}".join(parts)
    last = section.value[-1][1].end_mark.index
    return [(section.start_mark.index, last, words + ("\n" if text[:last].endswith("\n") else ""))]


def _without(text: str, name: str) -> list[Edit]:
    """Without a section, its lines, and the remarks just before it."""
    sections = _sections(text)
    if name not in sections:
        return []
    key, node = sections[name]
    later = [other.start_mark.index for other, _ in sections.values() if other.start_mark.index > key.start_mark.index]
    first, last = key.start_mark.index, max(min(later, default=len(text)), node.end_mark.index)
    above = text[:first].splitlines(keepends=True)
    while len(above) > 1 and above[-1].startswith("#"):
        first -= len(above.pop())
    return [(first, last, "")]


def _with_lines(text: str, section: str, lines: Sequence[str]) -> str:
    """With more entries of a section."""
    _, own = _sections(text).get(section, (None, None))
    if not isinstance(own, yaml.MappingNode):
        return text.rstrip("\n") + f"\n{section}:\n" + "".join(f"  {line}\n" for line in lines)
    first = own.start_mark.index + int(bool(own.flow_style))
    between = ", " if own.flow_style else "\n" + " " * own.start_mark.column
    words = "".join(line + between for line in lines)
    return text[:first] + (words if own.value else words.removesuffix(", ")) + text[first:]


def _line(name: str, course: Timed) -> str:
    if isinstance(course, Course):
        points = ", ".join(f"[{time!r}, {value!r}]" for time, value in zip(course.times, course.values, strict=True))
        kind = course.kind or ("linear" if course.linear else "step")
        return f"{name}: {{kind: {kind}, points: [{points}]}}"
    pieces = zip(course.times, course.coefficients, strict=True)
    return f"{name}: [{', '.join(f'[{time!r}, {_powers(time, numbers)}]' for time, numbers in pieces)}]"


def _powers(since: float, coefficients: Sequence[float]) -> str:
    *lower, found = map(repr, coefficients)
    for number in reversed(lower):
        found = f"{number} + (t - {since!r})*({found})"
    return found


def driven(
    text: str,
    drives: Mapping[str, str],
    replaced: Callable[[str], bool],
    tables: Mapping[str, Course],
    times: Mapping[str, float],
) -> str:
    """The text with further Drives, and without those of its own that are `replaced`, with other `times` (t0, tend).
    What is fixed at the start is a guess then, for drives decide it; known answers, those of another motion, go."""
    found = with_entries(_edited(text, _without(text, "Reference")), "Drives", drives, replaced)
    start = _sections(found).get("ProblemData", (None, None))[1]
    found = _timed(_edited(found, list(_unfixed(found, start))), times)
    lines = [_line(name, course) for name, course in tables.items()]
    return _with_lines(found, "Tables", lines) if lines else found


def with_entries(text: str, section: str, entries: Mapping[str, str], replaced: Callable[[str], bool]) -> str:
    """The text with further entries of a section, expressions or `{...}`, behind those of its own that are not
    `replaced`; the section is the last one then."""
    own = _sections(text).get(section, (None, None))[1]
    kept = own.value if isinstance(own, yaml.MappingNode) else ()
    lines = [
        text[key.start_mark.index : value.end_mark.index].strip() for key, value in kept if not replaced(key.value)
    ]
    lines += [f"{json.dumps(key)}: {value if value[0] == '{' else json.dumps(value)}" for key, value in entries.items()]
    found = _edited(text, _without(text, section)).rstrip("\n")
    return f"{found}\n{section}:\n" + "".join(f"  {line}\n" for line in lines)


def _timed(text: str, times: Mapping[str, float]) -> str:
    for name, value in times.items():
        text = _edited(text, _set(text, name, value))
    return text


def _set(text: str, name: str, value: float) -> list[Edit]:
    """A number of ProblemData, which may be new there."""
    sections = _sections(text)
    if found := _replaced(sections, "ProblemData", name, value):
        return found
    node = sections["ProblemData"][1]
    assert isinstance(node, yaml.MappingNode)
    first = node.start_mark.index + int(bool(node.flow_style))
    return [(first, first, f"{name}: {value!r}" + (", " if node.flow_style else "\n" + " " * node.start_mark.column))]


def _unfixed(text: str, node: yaml.Node | None) -> Iterator[Edit]:
    """Values that are `[value, fixed]`, as the value alone."""
    if isinstance(node, yaml.MappingNode):
        for _, value in node.value:
            yield from _unfixed(text, value)
    elif isinstance(node, yaml.SequenceNode):
        items = node.value
        if len(items) == 2 and isinstance(items[1], yaml.ScalarNode) and items[1].value == "fixed":
            first = text[items[0].start_mark.index : items[0].end_mark.index]
            yield node.start_mark.index, node.end_mark.index, first
        else:
            for item in items:
                yield from _unfixed(text, item)
