"""Derivatives of expressions, as expressions: trees of the language, by what stands at their leaves."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

from mechsim.spec.expression import name_of, operands_of

Key = Callable[[ast.AST], str | None]  # what a node is called that is a leaf; None for others


def slope(node: ast.expr, leaf: str, key: Key = name_of) -> ast.expr:
    """The derivative of a tree by a leaf, simplified where it is zero or one."""
    if (name := key(node)) is not None:
        return _number(float(name == leaf))
    if isinstance(node, ast.Constant):
        return _number(0.0)
    operands = operands_of(node)
    changes = [slope(operand, leaf, key) for operand in operands]
    if all(_is(change, 0.0) for change in changes):
        return _number(0.0)
    return _rule(node)(operands, changes)


def leaves(node: ast.expr, key: Key = name_of) -> Iterator[ast.expr]:
    """Every leaf of a tree that is no number, each once, in the order in which they stand."""
    seen: set[str] = set()
    waiting = [node]
    while waiting:
        tree = waiting.pop()
        name = key(tree)
        if name is None:
            waiting.extend(reversed(operands_of(tree)))
        elif name not in seen:
            seen.add(name)
            yield tree


def is_zero(node: ast.expr) -> bool:
    return _is(node, 0.0)


Rule = Callable[[Sequence[ast.expr], Sequence[ast.expr]], ast.expr]  # of operands and of their derivatives


def _rule(node: ast.expr) -> Rule:
    if isinstance(node, ast.BinOp):
        return _BINARY[type(node.op)]
    if isinstance(node, ast.UnaryOp):
        negative = isinstance(node.op, ast.USub)
        return lambda _, changes: _minus(changes[0]) if negative else changes[0]
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    name = node.func.id
    if name == "atan2":
        return _angle
    return lambda operands, changes: _times(_SLOPES[name](operands[0]), changes[0])


def _number(value: float) -> ast.expr:
    return ast.Constant(value)


def _is(node: ast.expr, value: float) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


def _call(name: str, operand: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name), [operand], [])


def _plus(a: ast.expr, b: ast.expr) -> ast.expr:
    if _is(a, 0.0):
        return b
    return a if _is(b, 0.0) else ast.BinOp(a, ast.Add(), b)


def _minus(a: ast.expr) -> ast.expr:
    return a if _is(a, 0.0) else ast.UnaryOp(ast.USub(), a)


def _less(a: ast.expr, b: ast.expr) -> ast.expr:
    if _is(b, 0.0):
        return a
    return _minus(b) if _is(a, 0.0) else ast.BinOp(a, ast.Sub(), b)


def _times(a: ast.expr, b: ast.expr) -> ast.expr:
    if _is(a, 0.0) or _is(b, 0.0):
        return _number(0.0)
    if _is(a, 1.0):
        return b
    return a if _is(b, 1.0) else ast.BinOp(a, ast.Mult(), b)


def _over(a: ast.expr, b: ast.expr) -> ast.expr:
    return a if _is(a, 0.0) or _is(b, 1.0) else ast.BinOp(a, ast.Div(), b)


def _power(a: ast.expr, b: ast.expr) -> ast.expr:
    if _is(b, 0.0):
        return _number(1.0)
    return a if _is(b, 1.0) else ast.BinOp(a, ast.Pow(), b)


def _of_product(operands: Sequence[ast.expr], changes: Sequence[ast.expr]) -> ast.expr:
    (a, b), (da, db) = operands, changes
    return _plus(_times(da, b), _times(a, db))


def _of_quotient(operands: Sequence[ast.expr], changes: Sequence[ast.expr]) -> ast.expr:
    (a, b), (da, db) = operands, changes
    return _over(_less(da, _times(_over(a, b), db)), b)


def _of_power(operands: Sequence[ast.expr], changes: Sequence[ast.expr]) -> ast.expr:
    (a, b), (da, db) = operands, changes
    value = _whole(b)
    lower = _number(value - 1.0) if value is not None else _less(b, _number(1.0))
    by_base = _times(_times(b if value is None else _number(value), _power(a, lower)), da)
    return _plus(by_base, _times(_times(_call("log", a), _power(a, b)), db))


def _whole(node: ast.expr) -> float | None:
    """The value of an exponent that is a number."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _whole(node.operand)
        return None if value is None else -value
    return float(node.value) if isinstance(node, ast.Constant) else None  # type: ignore[arg-type]


def _angle(operands: Sequence[ast.expr], changes: Sequence[ast.expr]) -> ast.expr:
    (y, x), (dy, dx) = operands, changes
    two = _number(2.0)
    return _over(_less(_times(x, dy), _times(y, dx)), _plus(_power(x, two), _power(y, two)))


def _of_circle(u: ast.expr) -> ast.expr:
    """1 / sqrt(1 - u**2)"""
    return _over(_number(1.0), _call("sqrt", _less(_number(1.0), _power(u, _number(2.0)))))


def _squared(name: str, u: ast.expr) -> ast.expr:
    return _power(_call(name, u), _number(2.0))


_BINARY: Mapping[type[ast.operator], Rule] = {
    ast.Add: lambda _, changes: _plus(*changes),
    ast.Sub: lambda _, changes: _less(*changes),
    ast.Mult: _of_product,
    ast.Div: _of_quotient,
    ast.Pow: _of_power,
}
_SLOPES: Mapping[str, Callable[[ast.expr], ast.expr]] = {
    "abs": lambda u: _over(u, _call("abs", u)),
    "sqrt": lambda u: _over(_number(0.5), _call("sqrt", u)),
    "exp": lambda u: _call("exp", u),
    "log": lambda u: _over(_number(1.0), u),
    "sin": lambda u: _call("cos", u),
    "cos": lambda u: _minus(_call("sin", u)),
    "tan": lambda u: _plus(_number(1.0), _squared("tan", u)),
    "asin": _of_circle,
    "acos": lambda u: _minus(_of_circle(u)),
    "atan": lambda u: _over(_number(1.0), _plus(_number(1.0), _power(u, _number(2.0)))),
    "sinh": lambda u: _call("cosh", u),
    "cosh": lambda u: _call("sinh", u),
    "tanh": lambda u: _less(_number(1.0), _squared("tanh", u)),
}
