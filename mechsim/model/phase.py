"""Gears and racks mesh as they are first placed: the constant of their constraint follows from the first guess."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mechsim.errors import Mark
from mechsim.model.mechanism import Element, Mechanism
from mechsim.model.placement import guess_positions
from mechsim.spec.document import Problem
from mechsim.spec.expression import MAX_FORMULA, parse_expression


def meshed(mechanism: Mechanism, problem: Problem) -> Mechanism:
    """The mechanism with the phase of every gear and rack chosen so that the first guess satisfies it."""
    if not any(map(_meshes, mechanism.elements)):
        return mechanism
    guess = guess_positions(mechanism, problem)
    elements = tuple(
        _meshed(element, mechanism, guess) if _meshes(element) else element for element in mechanism.elements
    )
    return replace(mechanism, elements=elements)


def _meshes(element: Element) -> bool:
    return element.origin.sort in ("gear", "rack") and bool(element.multipliers)


def _meshed(element: Element, mechanism: Mechanism, guess: NDArray[np.float64]) -> Element:
    """The phase is the last parameter, and is subtracted."""
    values = {
        f"x{index}": float(guess[slot]) if slot >= 0 else mechanism.constants[-1 - slot]
        for index, slot in enumerate(element.slots)
    }
    (row,) = mechanism.laws[element.kind].constraints
    expression = parse_expression(row, Mark("law", 1, 1), longest=MAX_FORMULA)
    residual = float(expression.evaluate({**values, **element.parameters}))
    phase = f"p{len(element.parameters) - 1}"
    return replace(element, parameters={**element.parameters, phase: element.parameters[phase] + residual})
