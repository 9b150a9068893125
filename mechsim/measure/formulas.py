"""Expressions of the motion at many points at once, with what roundings do to them.

Beside its value an expression has its wobble, how far roundings of its terms reach, so that what cancels is not taken
for detail. And a function is looked at: where its argument runs through more of it than the nodes of a piece can tell
(a narrow peak of exp, a root near zero), the piece is `wide`, and has to be halved.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mechsim.frozen import frozen
from mechsim.measure.bernstein import ROUNDING, Array, Mask
from mechsim.spec.expression import name_of, operands_of

ABREAST = 8  # the widest registers hold so many numbers: with whole ones, no number is a remainder computed otherwise
ROOM = 6.0  # of the argument of exp or sin, between whose bounds a piece can tell what it does
RATIO = 4.0  # the same between bounds of what is divided by, or has its root taken


@frozen(eq=False)
class Term:
    """Values, (nodes, pieces) or fewer axes, and how far roundings reach, in units of ROUNDING."""

    values: Array
    wobble: Array


@dataclass(slots=True, eq=False)
class Look:
    """Which pieces are wide, so far."""

    wide: Mask | None = None

    def at(self, argument: Term, wide: Callable[[Array, Array], Mask]) -> None:
        """Look at an argument between its bounds in each piece."""
        if argument.values.ndim < 2:
            return
        low, high = argument.values.min(axis=0), argument.values.max(axis=0)
        moves = high - low > 64 * ROUNDING * np.broadcast_to(argument.wobble, argument.values.shape).max(axis=0)
        with np.errstate(all="ignore"):
            found = moves & wide(low, high)
        self.wide = found if self.wide is None else self.wide | found


Leaf = Callable[[str], Term]


@dataclass(slots=True)
class Formula:
    """A tree of the language evaluated over arrays; `leaf` gives the values of names."""

    leaf: Leaf
    look: Look

    def value(self, node: ast.expr) -> Term:
        if isinstance(node, ast.Constant):
            return Term(np.asarray(float(node.value)), np.asarray(abs(float(node.value))))  # type: ignore[arg-type]
        name = name_of(node)
        if name is not None:
            return self.leaf(name)
        return applied(node, self.look, *(self.value(child) for child in operands_of(node)))


def applied(node: ast.expr, look: Look, *terms: Term) -> Term:
    """An operation or function of the language."""
    with np.errstate(all="ignore"):
        if isinstance(node, ast.BinOp):
            return _BINARY[type(node.op)](look, *terms)
        if isinstance(node, ast.UnaryOp):
            return Term(-terms[0].values, terms[0].wobble) if isinstance(node.op, ast.USub) else terms[0]
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        return _FUNCTIONS[node.func.id](look, *terms)


def padded(function: Callable[..., Array]) -> Callable[..., Array]:
    """The function over arrays whose size fills registers."""

    def apply(*arguments: Array) -> Array:
        several = np.broadcast_arrays(*arguments)
        size, shape = several[0].size, several[0].shape
        flat = [np.ravel(each) for each in several]
        if size and size % ABREAST:
            flat = [np.concatenate([each, np.repeat(each[-1:], ABREAST - size % ABREAST)]) for each in flat]
        return np.asarray(function(*map(np.ascontiguousarray, flat)))[:size].reshape(shape)

    return apply


def _sum(look: Look, a: Term, b: Term) -> Term:
    return Term(a.values + b.values, a.wobble + b.wobble)


def _difference(look: Look, a: Term, b: Term) -> Term:
    return Term(a.values - b.values, a.wobble + b.wobble)


def _product(look: Look, a: Term, b: Term) -> Term:
    return Term(a.values * b.values, np.abs(a.values) * b.wobble + np.abs(b.values) * a.wobble)


def _quotient(look: Look, a: Term, b: Term) -> Term:
    look.at(b, _near_zero)
    value = a.values / b.values
    return Term(value, (a.wobble + np.abs(value) * b.wobble) / np.abs(b.values))


def _power(look: Look, a: Term, b: Term) -> Term:
    if b.values.ndim == 0 and float(b.values).is_integer() and 0 <= b.values <= 64:
        return _whole_power(look, a, int(b.values))
    look.at(a, lambda low, high: ~(low > 0) | (np.abs(b.values).max() * np.log(high / low) > ROOM))
    value = _POW(a.values, b.values)
    slope, log = np.abs(value * b.values / a.values), np.abs(value * _LOG(np.abs(a.values)))
    logs = np.where(b.wobble > 0, log * b.wobble, 0.0)
    return Term(
        value, np.minimum(slope * a.wobble, _POW(a.wobble * ROUNDING, b.values) / ROUNDING) + logs + np.abs(value)
    )


def _whole_power(look: Look, a: Term, exponent: int) -> Term:
    if exponent == 0:
        return Term(np.ones_like(a.values), np.ones_like(a.values))
    look.at(a, lambda low, high: exponent * (high - low) > 4 * RATIO * np.maximum(np.abs(low), np.abs(high)))
    lower = a.values if exponent > 1 else np.ones_like(a.values)
    for _ in range(exponent - 2):
        lower = lower * a.values
    value = lower * a.values
    return Term(value, exponent * np.abs(lower) * a.wobble + np.abs(value))


def _near_zero(low: Array, high: Array) -> Mask:
    """Whether something comes near to zero, compared with how large it is elsewhere in a piece."""
    least = np.where(low * high <= 0, 0.0, np.minimum(np.abs(low), np.abs(high)))
    return ~(np.maximum(np.abs(low), np.abs(high)) <= RATIO * least)


def _roomy(low: Array, high: Array) -> Mask:
    return high - low > ROOM


def _bent(low: Array, high: Array) -> Mask:
    """Whether something runs through the bend at zero of what is flat far from it."""
    least = np.where(low * high <= 0, 0.0, np.minimum(np.abs(low), np.abs(high)))
    return high - low > 2.0 * (1.0 + least)


def _at_edge(low: Array, high: Array) -> Mask:
    """Whether something comes near to 1 or -1, compared with how far from it it is elsewhere."""
    return _near_zero(1.0 - high, 1.0 - low) | _near_zero(1.0 + low, 1.0 + high)


def _simple(
    function: Callable[[Array], Array],
    slope: Callable[[Array, Array], Array],
    wide: Callable[[Array, Array], Mask],
    root: bool = False,
) -> Callable[[Look, Term], Term]:
    """A function of one argument; `slope` of the argument and the value. Where the slope of a root is infinite, its
    wobble is what it makes of that of its argument."""
    function = padded(function)

    def apply(look: Look, a: Term) -> Term:
        look.at(a, wide)
        value = function(a.values)
        wobble = np.abs(slope(a.values, value)) * a.wobble
        if root:
            wobble = np.minimum(wobble, np.sqrt(a.wobble / ROUNDING))
        return Term(value, wobble + np.abs(value))

    return apply


def _absolute(look: Look, a: Term) -> Term:
    look.at(a, lambda low, high: (low - 0.1 * (high - low) < 0) & (high + 0.1 * (high - low) > 0))
    return Term(np.abs(a.values), a.wobble)


def _angle(look: Look, y: Term, x: Term) -> Term:
    square = _sum(look, _whole_power(Look(), y, 2), _whole_power(Look(), x, 2))
    look.at(square, lambda low, high: ~(high <= RATIO**2 * low))
    value = _ATAN2(y.values, x.values)
    wobble = (np.abs(x.values) * y.wobble + np.abs(y.values) * x.wobble) / square.values
    return Term(value, wobble + np.abs(value))


_POW, _LOG, _ATAN2 = padded(np.power), padded(np.log), padded(np.arctan2)
_BINARY: Mapping[type[ast.operator], Callable[[Look, Term, Term], Term]] = {
    ast.Add: _sum, ast.Sub: _difference, ast.Mult: _product, ast.Div: _quotient, ast.Pow: _power,
}  # fmt: skip
_FUNCTIONS: Mapping[str, Callable[..., Term]] = {
    "abs": _absolute,
    "atan2": _angle,
    "sqrt": _simple(np.sqrt, lambda u, w: 0.5 / w, _near_zero, root=True),
    "exp": _simple(np.exp, lambda u, w: w, lambda low, high: (high - low > ROOM) & (high > -745.0)),
    "log": _simple(np.log, lambda u, w: 1.0 / u, _near_zero),
    "sin": _simple(np.sin, lambda u, w: np.ones_like(u), _roomy),
    "cos": _simple(np.cos, lambda u, w: np.ones_like(u), _roomy),
    "tan": _simple(np.tan, lambda u, w: 1.0 + w * w, lambda low, high: high - low > 1.0),
    "asin": _simple(np.arcsin, lambda u, w: 1.0 / np.sqrt(1.0 - u * u), _at_edge, root=True),
    "acos": _simple(np.arccos, lambda u, w: 1.0 / np.sqrt(1.0 - u * u), _at_edge, root=True),
    "atan": _simple(np.arctan, lambda u, w: 1.0 / (1.0 + u * u), _bent),
    "sinh": _simple(np.sinh, lambda u, w: np.sqrt(1.0 + w * w), _roomy),
    "cosh": _simple(np.cosh, lambda u, w: w, _roomy),
    "tanh": _simple(np.tanh, lambda u, w: 1.0 - w * w, lambda low, high: _bent(low, high) & (low < 20) & (high > -20)),
}
