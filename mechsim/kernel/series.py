"""Taylor polynomials at a point."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def horner(highest_first: Iterable[np.ndarray], h: np.ndarray | float, count: int = 1) -> list[np.ndarray]:
    """The first `count` coefficients about h of polynomials whose coefficients about 0 come highest degree first:
    value, rate, half the second derivative ..."""
    found: list[np.ndarray] = []
    for coefficient in highest_first:
        found = found or [np.zeros_like(coefficient)] * count
        for order in reversed(range(1, count)):
            found[order] = found[order] * h + found[order - 1]
        found[0] = found[0] * h + coefficient
    return found
