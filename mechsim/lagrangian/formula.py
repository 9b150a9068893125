"""Formulas: arithmetic that is written down instead of done. The model says forces and constraints in plain Python
(`stiffness * (angle - rest)`) or by a user's expression, and gets the tree that a Law carries."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from mechsim.frozen import frozen
from mechsim.lagrangian.vector import Vector
from mechsim.spec.expression import MATH

PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "neg": 3, "**": 4}
ATOM = 5
LEAVES = frozenset(("number", "x", "v", "a", "p", "m", "t"))


@frozen
class Formula:
    """A tree. Leaves: ("number", value), ("x", slot), ("v", slot), ("a", slot), ("p", name, value), ("m", label),
    ("t",); a slot below zero is a constant of the mechanism. Other nodes: an operator or function and its operands.
    A joint may hold the same coordinate as that of two parts: ("x", slot, part) tells of which.

    In a law, slots, names and labels are the law's own numbers, and parameters have no value: ("x", 0), ("p", 0).
    """

    operation: str
    operands: tuple[Any, ...]
    size: int = field(init=False, compare=False)  # nodes when written out: signals within signals multiply them
    depth: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        trees = [] if self.operation in LEAVES else self.operands
        object.__setattr__(self, "size", 1 + sum(tree.size for tree in trees))
        object.__setattr__(self, "depth", 1 + max((tree.depth for tree in trees), default=0))

    def __add__(self, other: Term) -> Formula:
        return _sum(self, formula(other))

    def __radd__(self, other: Term) -> Formula:
        return _sum(formula(other), self)

    def __sub__(self, other: Term) -> Formula:
        return _difference(self, formula(other))

    def __rsub__(self, other: Term) -> Formula:
        return _difference(formula(other), self)

    def __mul__(self, other: Term) -> Formula:
        return NotImplemented if isinstance(other, Vector) else _product(self, formula(other))

    def __rmul__(self, other: Term) -> Formula:
        return _product(formula(other), self)

    def __truediv__(self, other: Term) -> Formula:
        return _quotient(self, formula(other))

    def __rtruediv__(self, other: Term) -> Formula:
        return _quotient(formula(other), self)

    def __neg__(self) -> Formula:
        if self.operation == "neg":
            return formula(self.operands[0])
        return number(-self.value) if self.is_number else Formula("neg", (self,))

    def __pos__(self) -> Formula:
        return self

    def __pow__(self, other: Term) -> Formula:
        return _power(self, formula(other))

    def __rpow__(self, other: Term) -> Formula:
        return _power(formula(other), self)

    def applied(self, name: str, *operands: Term) -> Formula:
        """A function of formulas, by its name: kinds say their functions by mechsim.lagrangian.smooth."""
        return formula(FUNCTIONS[name](*operands))

    @property
    def is_number(self) -> bool:
        return self.operation == "number"

    @property
    def value(self) -> float:
        return float(self.operands[0])

    def leaves(self) -> Iterator[Formula]:
        """Every leaf, from left to right."""
        waiting = [self]
        while waiting:
            tree = waiting.pop()
            if tree.operation in LEAVES:
                yield tree
            else:
                waiting.extend(reversed(tree.operands))

    def uses(self, operation: str) -> bool:
        return any(leaf.operation == operation for leaf in self.leaves())


Term = Formula | float


def formula(term: Term) -> Formula:
    return term if isinstance(term, Formula) else number(term)


def number(value: float) -> Formula:
    """Raises OverflowError for what is no number: whoever evaluates an expression then tells its place."""
    if not math.isfinite(value):
        raise OverflowError
    return Formula("number", (float(value),))


def parameter(name: str, value: float) -> Formula:
    """A constant that belongs to the element, so that elements which differ only in it share a law."""
    return Formula("p", (name, value if isinstance(value, float) else float(value)))


def coordinate(slot: int, side: str = "") -> Formula:
    """`side` is the part whose point is meant, where a joint must tell."""
    return Formula("x", (slot, side) if side else (slot,))


def velocity(slot: int, side: str = "") -> Formula:
    """The rate of a coordinate; what is fixed has none."""
    return Formula("v", (slot, side) if side else (slot,)) if slot >= 0 else number(0)


def acceleration(slot: int) -> Formula:
    return Formula("a", (slot,)) if slot >= 0 else number(0)


def multiplier(label: str) -> Formula:
    return Formula("m", (label,))


TIME = Formula("t", ())


def _sum(a: Formula, b: Formula) -> Formula:
    if a.is_number and b.is_number:
        return number(a.value + b.value)
    if a.is_number and a.value == 0:
        return b
    if b.is_number and b.value == 0:
        return a
    return Formula("-", (a, b.operands[0])) if b.operation == "neg" else Formula("+", (a, b))


def _difference(a: Formula, b: Formula) -> Formula:
    if b.is_number or (a.is_number and a.value == 0):
        return _sum(a, -b)
    return Formula("+", (a, b.operands[0])) if b.operation == "neg" else Formula("-", (a, b))


def _product(a: Formula, b: Formula) -> Formula:
    if a.is_number and b.is_number:
        return number(a.value * b.value)
    for one, other in ((a, b), (b, a)):
        if one.is_number and one.value in (0.0, 1.0, -1.0):
            return number(0) if one.value == 0 else other if one.value == 1 else -other
    return Formula("*", (a, b))


def _quotient(a: Formula, b: Formula) -> Formula:
    if a.is_number and b.is_number:
        return number(a.value / b.value)
    if a.is_number and a.value == 0:
        return a
    return a if b.is_number and b.value == 1 else Formula("/", (a, b))


def _power(base: Formula, exponent: Formula) -> Formula:
    """An exponent that does not change is a literal: then a negative base keeps its meaning."""
    if all(leaf.operation in ("number", "p") for leaf in exponent.leaves()):
        exponent = number(constant(exponent))
        if base.is_number:
            return number(math.pow(base.value, exponent.value))
        if exponent.value == 1:
            return base
    return Formula("**", (base, exponent))


def constant(tree: Formula, t: float = 0.0, constants: Sequence[float] = ()) -> float:
    """The value of a formula of numbers, parameters, time and constants of the mechanism."""
    if tree.operation in ("number", "p"):
        value: float = tree.operands[-1]
        return value
    if tree.operation == "t":
        return t
    if tree.operation == "x":
        return constants[-1 - tree.operands[0]]
    operands = [constant(operand, t, constants) for operand in tree.operands]
    return NUMBERS[tree.operation](*operands)


def evaluated(
    tree: Formula,
    value: Callable[[Formula], Any],
    functions: Mapping[str, Callable[..., Any]],
    known: dict[int, Any] | None = None,
) -> Any:
    """With the values of its leaves that are no numbers; `functions` has the powers and what is written as a call.
    `known`: what parts of trees have come to, which derivatives have many times."""
    if tree.is_number:
        return tree.value
    if tree.operation in LEAVES:
        return value(tree)
    known = {} if known is None else known
    if id(tree) not in known:
        operands = [evaluated(operand, value, functions, known) for operand in tree.operands]
        operation = OPERATORS.get(tree.operation) or functions[tree.operation]
        known[id(tree)] = operation(*operands)
    return known[id(tree)]


def renamed(tree: Formula, leaves: Mapping[Formula, Formula], known: dict[int, Formula] | None = None) -> Formula:
    """The same tree with other leaves; numbers stay, and what is one part at several places."""
    if tree.operation in LEAVES:
        return tree if tree.is_number else leaves[tree]
    known = {} if known is None else known
    if id(tree) not in known:
        known[id(tree)] = Formula(tree.operation, tuple(renamed(operand, leaves, known) for operand in tree.operands))
    return known[id(tree)]


def derivative(tree: Formula, leaf: Formula) -> Formula:
    """With respect to a leaf; of sums, products, quotients, powers, roots, sines and cosines, as joints have them."""
    if tree == leaf:
        return number(1)
    if tree.operation in LEAVES or leaf not in tree.leaves():
        return number(0)
    slopes = [derivative(operand, leaf) for operand in tree.operands]
    a, b = (*tree.operands, number(0))[:2]
    match tree.operation:
        case "+":
            return slopes[0] + slopes[1]
        case "-":
            return slopes[0] - slopes[1]
        case "neg":
            return -slopes[0]
        case "*":
            return slopes[0] * b + a * slopes[1]
        case "/":
            return slopes[0] / b - tree / b * slopes[1]
        case "**" if b.is_number:
            return b.value * a ** (b.value - 1) * slopes[0]
        case "sqrt":
            return slopes[0] / (2 * tree)
        case "sin":
            return slopes[0] * formula(cos(a))
        case "cos":
            return -slopes[0] * formula(sin(a))
    raise NotImplementedError(tree.operation)


OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "neg": operator.neg,
}  # fmt: skip
NUMBERS: Mapping[str, Callable[..., float]] = {**MATH, **OPERATORS}


def _function(name: str) -> Callable[..., Any]:
    def apply(*operands: Any) -> Any:
        if not any(isinstance(operand, Formula) for operand in operands):
            return MATH[name](*operands)
        trees = tuple(formula(operand) for operand in operands)
        if name == "abs":  # of constants only, which the reader has seen to
            return parameter(f"abs {trees}", abs(constant(trees[0])))
        if all(tree.is_number for tree in trees):
            return number(MATH[name](*(tree.value for tree in trees)))
        return Formula(name, trees)

    return apply


# What `Expression.evaluate` needs to write an expression down; numbers among themselves are computed.
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name: _function(name) for name in MATH},
    "**": lambda base, exponent: _power(formula(base), formula(exponent)),
}
sin, cos, tanh, sqrt = (_function(name) for name in ("sin", "cos", "tanh", "sqrt"))


def write(tree: Formula) -> str:
    """The text of a law's formula: what tells it from others, in caches and to people."""
    return _write(tree)[0]


def _write(tree: Formula) -> tuple[str, int]:
    """Text and how tightly it binds, so that no more parentheses are written than needed."""
    if tree.is_number:
        return repr(tree.value), ATOM if math.copysign(1, tree.value) > 0 else PRECEDENCE["neg"]
    if tree.operation in LEAVES:
        return symbol(tree), ATOM
    written = [_write(operand) for operand in tree.operands]
    level = PRECEDENCE.get(tree.operation)
    if level is None:
        return f"{tree.operation}({', '.join(text for text, _ in written)})", ATOM
    if tree.operation == "neg":
        return f"-{_inside(written[0], level + 1)}", level
    left, right = written
    # a - (b - c), a / (b / c) and (a ** b) ** c need theirs
    strict_left, strict_right = (1, 0) if tree.operation == "**" else (0, 1)
    return f"{_inside(left, level + strict_left)}{tree.operation}{_inside(right, level + strict_right)}", level


def symbol(leaf: Formula) -> str:
    """How a leaf of a law is called: `x0`, `p1`, `t`."""
    return leaf.operation + "".join(map(str, leaf.operands))


def _inside(written: tuple[str, int], least: int) -> str:
    text, level = written
    return text if level >= least else f"({text})"
