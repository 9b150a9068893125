"""Definitions that use each other: an order in which each comes after what it uses, and the circles that have none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import TopologicalSorter

SHOWN = 12  # names of a long circle that are shown


def ordered(uses: Mapping[str, Iterable[str]]) -> tuple[list[str], list[list[str]]]:
    """Names so that each comes after those it uses, and the circles among the rest. `uses` may name only its own keys.

    A circle starts with the name that is defined first; of circles that share a name one is found.
    """
    knots = [knot for knot in _knots(uses) if len(knot) > 1 or knot[0] in uses[knot[0]]]
    tied = {name for knot in knots for name in knot}
    free = {name: [used for used in names if used not in tied] for name, names in uses.items() if name not in tied}
    first = {name: place for place, name in enumerate(uses)}
    circles = [_circle(set(knot), uses, first) for knot in knots]
    return list(TopologicalSorter(free).static_order()), sorted(circles, key=lambda circle: first[circle[0]])


def shown(circle: list[str]) -> str:
    """`a -> b -> a`."""
    names = [*circle, circle[0]]
    if len(names) > SHOWN:
        names = [*names[: SHOWN - 2], f"... ({len(circle)} in all)", names[-1]]
    return " -> ".join(names)


def _circle(knot: set[str], uses: Mapping[str, Iterable[str]], first: Mapping[str, int]) -> list[str]:
    """A way through names that all lead to each other, until it comes back."""
    way: dict[str, int] = {}
    name = min(knot, key=first.__getitem__)
    while name not in way:
        way[name] = len(way)
        name = next(used for used in uses[name] if used in knot)
    circle = list(way)[way[name] :]
    start = circle.index(min(circle, key=first.__getitem__))
    return circle[start:] + circle[:start]


def _knots(uses: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Sets of names that all lead to each other (Tarjan's strong components, without recursion)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    waiting: set[str] = set()  # those on the stack
    knots = []
    for root in uses:
        path = [(root, iter(uses[root]))] if root not in number else []
        while path:
            name, rest = path[-1]
            if name not in number:
                number[name] = lowest[name] = len(number)
                stack.append(name)
                waiting.add(name)
            for used in rest:
                if used not in number:
                    path.append((used, iter(uses[used])))
                    break
                if used in waiting:
                    lowest[name] = min(lowest[name], number[used])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[name])
                if lowest[name] == number[name]:
                    knot: list[str] = []
                    while not knot or knot[-1] != name:
                        knot.append(stack.pop())
                    waiting.difference_update(knot)
                    knots.append(knot)
    return knots
