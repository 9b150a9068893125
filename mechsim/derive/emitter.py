"""The emission of a graph as a Taylor program."""

from __future__ import annotations

from collections import Counter
from typing import Any

from mechsim.derive.graph import Graph, Node
from mechsim.derive.program import Input, Operation, Output, Program

MATRICES = frozenset(
    {"mass", "damping", "stiffness", "reaction", "gradient", "slope", "hessian"}
)  # their zeros are left out


class Emitter:
    """Turns outputs of a graph into a Program: registers in dependency order, constants in a table."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.inputs: list[Input] = []
        self.constants: list[tuple[Any, ...]] = []
        self.operations: list[list[Any]] = []
        self._registers: dict[Node, tuple[str, int]] = {}  # ("in", i) or ("op", i)
        self._constant_index: dict[Node, int] = {}
        self._known_powers: dict[Node, frozenset[tuple[Node, int]]] = {}
        self._same: dict[frozenset[tuple[Node, int]], Node] = {}  # which of several nodes of one product is taken

    def emit(self, outputs: dict[tuple[Any, ...], Node]) -> Program:
        combinations = {key: self._combination(node) for key, node in outputs.items()}
        collected = []
        for key, (terms, constant) in combinations.items():
            linear = [(self._constant(factor), self._register(base)) for base, factor in terms.items()]
            offset = -1 if constant == self.graph.zero else self._constant(constant)
            if linear or offset >= 0 or key[0] not in MATRICES:
                collected.append((key, linear, offset))
        number = self._number
        operations = tuple(
            Operation(name, number(a), number(b), constant, number(extra), function)
            for name, a, b, constant, extra, function in self.operations
        )
        finished = tuple(
            Output(key, tuple((c, number(r)) for c, r in linear), offset) for key, linear, offset in collected
        )
        return Program(tuple(self.inputs), tuple(self.constants), operations, finished)

    def _number(self, register: tuple[str, int] | None) -> int:
        if register is None:
            return -1
        place, index = register
        return index if place == "in" else len(self.inputs) + index

    def _combination(self, node: Node) -> tuple[dict[Node, Node], Node]:
        """A node as a linear combination: {base: factor}, constant."""
        graph = self.graph
        terms: dict[Node, Node] = {}
        constant = graph.zero
        stack = [(node, graph.one)]
        while stack:
            current, factor = stack.pop()
            name, *arguments = graph.nodes[current]
            if graph.constant[current]:
                constant = graph.add(constant, graph.multiply(factor, current))
            elif name == "scale":
                stack.append((arguments[1], graph.multiply(factor, arguments[0])))
            elif name == "add":
                stack.extend((a, factor) for a in arguments)
            elif name == "subtract":
                stack.append((arguments[0], factor))
                stack.append((arguments[1], graph.negate(factor)))
            elif name == "shift":
                stack.append((arguments[0], factor))
                constant = graph.add(constant, graph.multiply(factor, arguments[1]))
            else:
                base = self._same.setdefault(self._powers(current), current)
                terms[base] = graph.add(terms.get(base, graph.zero), factor)
        return {base: factor for base, factor in terms.items() if factor != graph.zero}, constant

    def _powers(self, node: Node) -> frozenset[tuple[Node, int]]:
        """The factors of a product, however they were multiplied: `x (v s)` of a momentum's rate is `s (x v)` of a
        slope, and the two cancel."""
        if node not in self._known_powers:
            name, *arguments = self.graph.nodes[node]
            found: Counter[Node] = Counter()
            if name in ("multiply", "square"):
                for argument in arguments * (2 if name == "square" else 1):
                    found.update(dict(self._powers(argument)))
            else:
                found[node] = 1
            self._known_powers[node] = frozenset(found.items())
        return self._known_powers[node]

    def _constant(self, node: Node) -> int:
        if node not in self._constant_index:
            name, *arguments = self.graph.nodes[node]
            if name not in ("value", "parameter"):
                arguments = [self._constant(a) for a in arguments]
            self._constant_index[node] = len(self.constants)
            self.constants.append((name, *arguments))
        return self._constant_index[node]

    def _register(self, node: Node) -> tuple[str, int]:
        if node not in self._registers:
            name, *arguments = self.graph.nodes[node]
            if name == "input":
                self._registers[node] = ("in", len(self.inputs))
                self.inputs.append(arguments[0])
            else:
                self._registers[node] = self._operation(node, name, arguments)
        return self._registers[node]

    def _append(
        self, name: str, a: Any, b: Any = None, constant: int = -1, extra: Any = None, function: str = ""
    ) -> tuple[str, int]:
        self.operations.append([name, a, b, constant, extra, function])
        return ("op", len(self.operations) - 1)

    def _operation(self, node: Node, name: str, arguments: list[Node]) -> tuple[str, int]:
        if name in ("add", "subtract", "multiply", "divide"):
            a, b = (self._register(x) for x in arguments)
            return self._append(name, a, b)
        if name in ("square", "root"):
            return self._append(name, self._register(arguments[0]))
        if name in ("scale", "ratio"):
            return self._append(name, self._register(arguments[1]), constant=self._constant(arguments[0]))
        if name == "shift":
            return self._append(name, self._register(arguments[0]), constant=self._constant(arguments[1]))
        return self._function(node, name, arguments)

    def _function(self, node: Node, name: str, arguments: list[Node]) -> tuple[str, int]:
        """A function with its slope series (see program.FUNCTIONS). Slopes may be registers that come later."""
        graph = self.graph
        u = self._register(arguments[0])
        if name in ("sin", "cos", "sinh", "cosh"):
            return self._pair(arguments[0], u, name)
        if name == "exp":
            own = self._append("function", u, function="exp")
            self.operations[own[1]][2] = own
            return own
        if name in ("tan", "tanh"):
            own = self._append("function", u, function=name)
            self._registers[node] = own
            square = graph._node(("square", node), False)
            sign = 1.0 if name == "tan" else -1.0
            self.operations[own[1]][2] = self._register(graph.add(graph.one, graph.scale(graph.value(sign), square)))
            return own
        if name == "power":
            own = self._append("function", u, constant=self._constant(arguments[1]), function="power")
            self._registers[node] = own
            quotient = graph._node(("divide", node, arguments[0]), False)
            self.operations[own[1]][2] = self._register(graph.scale(arguments[1], quotient))
            return own
        if name == "atan2":
            return self._two_argument_arctangent(*arguments)
        slope = self._register(self._slope(name, arguments[0]))
        return self._append("function", u, slope, function=name)

    def _slope(self, name: str, u: Node) -> Node:
        graph = self.graph
        if name == "log":
            return graph.divide(graph.one, u)
        square = graph.multiply(u, u)
        if name == "atan":
            return graph.divide(graph.one, graph.add(graph.one, square))
        if name in ("asin", "acos"):
            return graph.divide(graph.one, graph.function("root", graph.subtract(graph.one, square)))
        raise NotImplementedError(name)

    def _pair(self, argument: Node, u: tuple[str, int], wanted: str) -> tuple[str, int]:
        """sin and cos (sinh and cosh) are each other's slope."""
        first, second = ("sin", "cos") if wanted in ("sin", "cos") else ("sinh", "cosh")
        one, other = self._append("function", u, function=first), self._append("function", u, function=second)
        self.operations[one[1]][2], self.operations[other[1]][2] = other, one
        for name, result in ((first, one), (second, other)):
            self._registers[self.graph._node((name, argument), False)] = result
        return one if wanted == first else other

    def _two_argument_arctangent(self, y: Node, x: Node) -> tuple[str, int]:
        """atan2' = (x y' - y x')/(x^2 + y^2), as the difference of two integrals."""
        graph = self.graph
        radius = graph.add(graph.multiply(x, x), graph.multiply(y, y))
        slopes = [self._register(graph.divide(n, radius)) for n in (x, y)]
        registers = self._register(y), self._register(x)
        first = self._append("function", registers[0], slopes[0], extra=registers[1], function="atan2")
        second = self._append("function", registers[1], slopes[1], function="zero")
        return self._append("subtract", first, second)
