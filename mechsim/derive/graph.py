"""A graph of scalar expressions that simplifies as it grows; emitter.py makes a Taylor program of it.

Equal expressions are one node (common subexpressions vanish), zeros and ones fold, and constant factors move to the
front of a product, so that `2 dx lam` and `-dx lam` share the one convolution `dx lam`. Structural zeros vanish here:
the signature matrix is read off the result.
"""

from __future__ import annotations

from typing import Any

from mechsim.derive.program import CONSTANT_FUNCTIONS, Input

Node = int
LARGEST_PRODUCT = 2**20  # a whole power up to this is a product, for log u has no value at u = 0


class Graph:
    def __init__(self) -> None:
        self.nodes: list[tuple[Any, ...]] = []  # (name, *arguments); arguments are nodes, except for leaves
        self.constant: list[bool] = []  # depends on parameters only
        self._known: dict[tuple[Any, ...], Node] = {}
        self.zero = self.value(0.0)
        self.one = self.value(1.0)

    # --- leaves

    def value(self, x: float) -> Node:
        return self._node(("value", float(x)), True)

    def parameter(self, index: int) -> Node:
        return self._node(("parameter", index), True)

    def input(self, source: Input) -> Node:
        return self._node(("input", source), False)

    def _node(self, key: tuple[Any, ...], constant: bool) -> Node:
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(key)
            self.constant.append(constant)
        return self._known[key]

    def literal(self, node: Node) -> float | None:
        name, *arguments = self.nodes[node]
        return arguments[0] if name == "value" else None

    # --- arithmetic

    def _fold(self, name: str, *nodes: Node) -> Node:
        """A constant operation: folded now if all operands are numbers, else left for the constant table."""
        values = [self.literal(n) for n in nodes]
        if None not in values:
            return self.value(float(CONSTANT_FUNCTIONS[name](*values)))
        return self._node((name, *nodes), True)

    def _split(self, node: Node) -> tuple[Node, Node]:
        """A node as (constant factor, base)."""
        name, *arguments = self.nodes[node]
        return (arguments[0], arguments[1]) if name == "scale" else (self.one, node)

    def scale(self, factor: Node, node: Node) -> Node:
        if self.constant[node]:
            return self.multiply(factor, node)
        if factor == self.zero:
            return self.zero
        inner, base = self._split(node)
        factor = self.multiply(factor, inner)
        return base if factor == self.one else self._node(("scale", factor, base), False)

    def negate(self, node: Node) -> Node:
        return self.scale(self.value(-1.0), node)

    def add(self, a: Node, b: Node) -> Node:
        if a == self.zero:
            return b
        if b == self.zero:
            return a
        if self.constant[a] and self.constant[b]:
            return self._fold("add", a, b)
        if self.constant[a] or self.constant[b]:
            return self._shift(b, a) if self.constant[a] else self._shift(a, b)
        (factor_a, base_a), (factor_b, base_b) = self._split(a), self._split(b)
        if base_a == base_b:
            return self.scale(self.add(factor_a, factor_b), base_a)
        if self.literal(factor_b) == -1.0:
            return self._node(("subtract", a, base_b), False)
        if self.literal(factor_a) == -1.0:
            return self._node(("subtract", b, base_a), False)
        return self._node(("add", min(a, b), max(a, b)), False)

    def _shift(self, node: Node, constant: Node) -> Node:
        name, *arguments = self.nodes[node]
        if name == "shift":
            node, constant = arguments[0], self.add(arguments[1], constant)
        return node if constant == self.zero else self._node(("shift", node, constant), False)

    def subtract(self, a: Node, b: Node) -> Node:
        return self.add(a, self.negate(b))

    def multiply(self, a: Node, b: Node) -> Node:
        if self.zero in (a, b):
            return self.zero
        if a == self.one:
            return b
        if b == self.one:
            return a
        if self.constant[a] and self.constant[b]:
            return self._fold("multiply", min(a, b), max(a, b))
        if self.constant[a]:
            return self.scale(a, b)
        if self.constant[b]:
            return self.scale(b, a)
        (factor_a, base_a), (factor_b, base_b) = self._split(a), self._split(b)
        if base_a == base_b:
            product = self._square(base_a)
        elif self._are_reciprocal(base_a, base_b):
            product = self.one  # a spring of no length pulls k r d/r = k d, also where its ends meet
        else:
            product = self._node(("multiply", min(base_a, base_b), max(base_a, base_b)), False)
        return self.scale(self.multiply(factor_a, factor_b), product)

    def _are_reciprocal(self, a: Node, b: Node) -> bool:
        return self.nodes[a] == ("ratio", self.one, b) or self.nodes[b] == ("ratio", self.one, a)

    def _square(self, node: Node) -> Node:
        name, *arguments = self.nodes[node]
        return arguments[0] if name == "root" else self._node(("square", node), False)

    def divide(self, a: Node, b: Node) -> Node:
        if a == self.zero:
            return a
        if b == self.one:
            return a
        if self.constant[a] and self.constant[b]:
            return self._fold("divide", a, b)
        if self.constant[b]:
            return self.scale(self._fold("divide", self.one, b), a)
        factor_b, base_b = self._split(b)
        if self.constant[a]:
            reciprocal = self._node(("ratio", self.one, base_b), False)
            return self.scale(self.divide(a, factor_b), reciprocal)
        factor_a, base_a = self._split(a)
        quotient = self.one if base_a == base_b else self._node(("divide", base_a, base_b), False)
        return self.scale(self.divide(factor_a, factor_b), quotient)

    def power(self, node: Node, exponent: float) -> Node:
        if exponent == 0:
            return self.one
        if exponent < 0:
            return self.divide(self.one, self.power(node, -exponent))
        if exponent == 0.5:
            return self.function("root", node)
        if exponent == int(exponent) and exponent <= LARGEST_PRODUCT:
            return self._whole_power(node, int(exponent))
        if self.constant[node]:
            return self._fold("power", node, self.value(exponent))
        return self._node(("power", node, self.value(exponent)), False)

    def _whole_power(self, node: Node, exponent: int) -> Node:
        if exponent == 1:
            return node
        half = self._whole_power(node, exponent // 2)
        squared = self.multiply(half, half)
        return self.multiply(squared, node) if exponent % 2 else squared

    def function(self, name: str, *nodes: Node) -> Node:
        if all(self.constant[n] for n in nodes):
            return self._fold(name, *nodes)
        if name == "atan2":
            nodes = tuple(self._lift(n) for n in nodes)
        return self._node((name, *nodes), False)

    def _lift(self, node: Node) -> Node:
        """A constant as a series: only atan2 takes both kinds of operand."""
        if not self.constant[node]:
            return node
        time = self.input(Input("time"))
        return self._node(("shift", self._node(("subtract", time, time), False), node), False)
