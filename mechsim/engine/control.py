"""Order, tolerance and step-size policy; the kernel obeys these numbers."""

from __future__ import annotations

import math

SMALLEST_ORDER = 3
LARGEST_ORDER = 60
# Shortens every step: the last terms then stay near a twentieth of the tolerance, so that errors of many steps add up
# below it. Measured on Andrews' turn angle (112 steps at 1e-14): a tolerance of 1e-k gives k to k + 2 correct digits.
SAFETY = 0.85
# A step whose projection moves the mechanism further than this many tolerances (of its size) is redone.
REJECTION = 100.0
# What Newton's method may leave of the projection and of the leading derivatives at a step's end, in tolerances.
SETTLED = 1e-3


def order_for(tolerance: float) -> int:
    """The order at which a step to this tolerance is cheapest if its cost grows with the square of the order (Jorba and
    Zou 2005; 17 at 1e-14). Higher ones take less time, but make steps so long that the rows of a table, one for each,
    are too far apart to be joined by cubics, and roundings near singular poses grow with the order."""
    return min(LARGEST_ORDER, max(SMALLEST_ORDER, math.ceil(-math.log(tolerance) / 2)))
