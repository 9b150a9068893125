"""The last digits of least squares, by Levenberg and Marquardt's steps.

IPOPT ends where the gradient is small, which is early where numbers hardly change the residuals: these then are known
to the root of what they could be. Steps of the residuals themselves, by a QR factorization, know nothing of gradients.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mechsim.frozen import frozen
from mechsim.nonlinear import NoValue
from mechsim.result.layout import Array

STEPS = 60  # at most
LOOSER, TIGHTER, LEAST = 0.1, 10.0, 1e-15  # damping, of the largest derivative, after steps that were good, and bad
FIRST = 1e-6
GAIN = 1e-6  # of the squares: less is no gain
MOVED = 1e-14  # of scales: less is no step

Residuals = Callable[[Array, bool], tuple[Array, Array]]  # and derivatives, if these are wanted; may raise NoValue


@frozen(eq=False)
class Polished:
    """Where the squares are least, and the residuals' derivatives there."""

    x: Array
    squares: float
    jacobian: Array


def polished(residuals: Residuals, start: Array, bounds: tuple[Array, Array]) -> Polished:
    """From a start next to where they are least. Numbers that would leave their bounds stay there."""
    least, most = bounds
    x = np.clip(start, least, most)
    found, jacobian = residuals(x, True)
    damping = FIRST
    for _ in range(STEPS):
        pull = -2.0 * jacobian.T @ found
        free = ~(((x <= least) & (pull < 0)) | ((x >= most) & (pull > 0)))
        size = np.linalg.norm(jacobian[:, free], axis=0).max(initial=0.0)
        if size == 0.0:
            break
        step = np.zeros_like(x)
        wide = np.vstack([jacobian[:, free], damping * size * np.eye(int(free.sum()))])
        step[free] = np.linalg.lstsq(wide, np.concatenate([-found, np.zeros(int(free.sum()))]), rcond=None)[0]
        there = np.clip(x + step, least, most)
        if np.abs(there - x).max() <= MOVED:
            break
        before = float(found @ found)
        try:
            tried = residuals(there, False)[0]
            better = float(tried @ tried) < before
            if better:
                found, jacobian = residuals(there, True)
        except NoValue:
            better = False
        if better:
            x, damping = there, max(LOOSER * damping, LEAST)
        elif damping < 1.0:
            damping *= TIGHTER
            continue
        if float(found @ found) >= (1.0 - GAIN) * before:
            break
    return Polished(x, float(found @ found), jacobian)
