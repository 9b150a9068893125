"""Measures that can never be below zero, and whether they are zero but for roundings: then nothing is less."""

from __future__ import annotations

import ast

import numpy as np

from mechsim.measure.formulas import Look, Term, applied
from mechsim.measure.reading import Asked, function_of
from mechsim.measure.scalars import Evaluation, Scalars
from mechsim.spec.expression import name_of, operands_of

ZERO = 1e-13  # of the sizes of what it is made of: some hundred roundings
KEEPING = ("max", "min", "integral", "mean", "at", "start", "final")  # of what is never below zero they are not either


def is_least(scalars: Scalars, asked: Asked) -> bool:
    """Whether a measure has come to zero and can never be below that."""
    node = asked.expression.tree
    if not _never_below_zero(node):
        return False
    found = _term(Evaluation(scalars, asked), node)
    return bool(np.abs(found.values).max() <= ZERO * np.abs(found.wobble).max())


def _never_below_zero(node: ast.expr) -> bool:
    """As far as its formula tells at once."""
    if isinstance(node, ast.Constant):
        return float(node.value) >= 0  # type: ignore[arg-type]
    if (function := function_of(node)) is not None:
        return function == "rms" or (function in KEEPING and _never_below_zero(operands_of(node)[0]))
    operands = operands_of(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("abs", "sqrt", "exp", "cosh")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        exponent = operands[1]
        even = isinstance(exponent, ast.Constant) and float(exponent.value) % 2 == 0  # type: ignore[arg-type]
        return even or _never_below_zero(operands[0])
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Sub):
        return all(_never_below_zero(each) for each in operands)
    return False


def _term(evaluation: Evaluation, node: ast.expr) -> Term:
    """Its value, and how far roundings reach."""
    if name_of(node) is None and function_of(node) is None and not isinstance(node, ast.Constant):
        return applied(node, Look(), *(_term(evaluation, child) for child in operands_of(node)))
    value = evaluation.value(node)
    return Term(value, np.abs(value))
