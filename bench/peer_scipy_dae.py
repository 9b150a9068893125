"""scipy_dae's Radau on the stabilised index-1 form (Gear, Gupta, Leimkuhler). Setting: stages:tolerance.

The unknowns are q, v and the integrals of both sets of multipliers, so that the multipliers appear as derivatives.
"""

from __future__ import annotations

import math
import time

import numpy as np
from scipy_dae.integrate import solve_dae

from bench import andrews
from bench.protocol import Outcome, main


def residual(_: float, y: np.ndarray, slope: np.ndarray) -> np.ndarray:
    q, v = y[:7].tolist(), y[7:14]
    turn = andrews.turns(q, math)
    mass, jacobian = np.zeros((7, 7)), np.zeros((6, 7))
    for matrix, entries in ((mass, andrews.mass(turn)), (jacobian, andrews.closure_jacobian(turn))):
        for place, value in entries.items():
            matrix[place] = value
    force = andrews.force(turn, v.tolist(), math)
    return np.concatenate(
        [
            slope[:7] - v + slope[20:] @ jacobian,
            mass @ slope[7:14] + slope[14:20] @ jacobian - force,
            jacobian @ v,
            andrews.closure(turn),
        ]
    )


def prepare(setting: str) -> tuple[int, float]:
    stages, tolerance = setting.split(":")
    return int(stages), float(tolerance)


def integrate(prepared: tuple[int, float]) -> Outcome:
    stages, tolerance = prepared
    start = np.array([*andrews.START, *[0.0] * 19])
    slope = np.array([*[0.0] * 7, *andrews.START_ACCELERATIONS, *andrews.START_MULTIPLIERS, *[0.0] * 6])
    begun = time.perf_counter()
    solution = solve_dae(
        residual, (0, andrews.END), start, slope, rtol=tolerance, atol=tolerance, method="Radau", stages=stages
    )
    seconds = time.perf_counter() - begun
    angles = solution.y[:7, -1] if solution.success else np.full(7, np.nan)
    return angles.tolist(), len(solution.t) - 1, seconds


if __name__ == "__main__":
    main("scipy_dae Radau", "hand-made stabilised index 1, Python", prepare, integrate)
