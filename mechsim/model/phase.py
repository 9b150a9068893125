"""Gears and racks mesh as they are first placed: the constant of their constraint follows from the first guess."""

from __future__ import annotations

from dataclasses import replace

from mechsim.lagrangian.formula import Formula, evaluated, symbol
from mechsim.model.mechanism import Element, Mechanism
from mechsim.model.placement import placed
from mechsim.spec.document import Problem
from mechsim.spec.expression import MATH


def meshed(mechanism: Mechanism, problem: Problem) -> Mechanism:
    """The mechanism with the phase of every gear and rack chosen so that the first guess satisfies it."""
    if not any(map(_meshes, mechanism.elements)):
        return mechanism
    guess = placed(mechanism, problem).numbers()
    elements = tuple(
        _meshed(element, mechanism, guess) if _meshes(element) else element for element in mechanism.elements
    )
    return replace(mechanism, elements=elements)


def _meshes(element: Element) -> bool:
    return element.phased and bool(element.multipliers)


def _meshed(element: Element, mechanism: Mechanism, guess: list[float]) -> Element:
    """The phase is the last parameter, and is subtracted."""

    def value(leaf: Formula) -> float:
        if leaf.operation == "p":
            return element.parameters[symbol(leaf)]
        slot = element.slots[leaf.operands[0]]
        return guess[slot] if slot >= 0 else mechanism.constants[-1 - slot]

    (row,) = mechanism.laws[element.kind].constraints
    residual: float = evaluated(row, value, MATH)  # living if what is placed is
    phase = f"p{len(element.parameters) - 1}"
    return replace(element, parameters={**element.parameters, phase: element.parameters[phase] + residual})
