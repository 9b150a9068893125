"""Order, tolerance and step-size policy; the kernel obeys these numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable

SMALLEST_ORDER = 3
LARGEST_ORDER = 60
# Shortens every step: the last terms then stay near a twentieth of the tolerance, so that errors of many steps add up
# below it. Measured on Andrews (112 steps at 1e-14): a tolerance of 1e-k gives k to k + 1.5 correct digits.
SAFETY = 0.85
# A step whose projection moves the mechanism further than this many tolerances (of its size) is redone.
REJECTION = 100.0

# Formulas with these functions can be too small to be seen in a series, and large later. With them a march takes at
# least so many steps: a pulse of force is then met, if it is not much shorter than a step.
FLAT = ("exp(", "sinh(", "cosh(", "tanh(")
LEAST_STEPS = 200


def order_for(tolerance: float) -> int:
    """The order at which a Taylor step to this tolerance is cheapest (Jorba and Zou 2005; 17 at 1e-14)."""
    return max(SMALLEST_ORDER, math.ceil(-math.log(tolerance) / 2))


def largest_step(formulas: Iterable[str], span: float) -> float:
    """The longest step allowed in a march over a time `span`, for a mechanism with these formulas."""
    flat = any(function in formula for formula in formulas for function in FLAT)
    return abs(span) / LEAST_STEPS if flat else math.inf
