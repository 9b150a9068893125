"""Two problems on which codes for many motions are compared: a pendulum and a double pendulum of point masses, let
go at rest from many angles. What every code needs to know of them: ours and the peers, so mechsim is not imported."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

GRAVITY, END = 9.81, 10.0
CHECKED = 20  # motions whose end is compared with a reference
PENDULUM, DOUBLE = "pendulum", "double pendulum"
COUNTS = {PENDULUM: 4096, DOUBLE: 1024}  # motions of one call

TEXTS = {
    PENDULUM: """
Title: Pendulum of a point mass
Dimension: 2
PhysicalParams: {l: 1, m: 1, g: 9.81, th0: 1}
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[l]]}}
  Particles: {A: m}
AppliedForces: {Gravity: [0, -g]}
ProblemData:
  tend: 10
  positions: {A: [l*sin(th0), -l*cos(th0)]}
  velocities: {A: [0, 0]}
""",
    DOUBLE: """
Title: Double pendulum of point masses
Dimension: 2
PhysicalParams: {l: 1, m: 1, g: 9.81, th1: 1, th2: 0.5}
PartData:
  Fixed: {O: []}
  Rigids: {"OA, AB": {Geom: [[l]]}}
  Particles: {"A, B": m}
AppliedForces: {Gravity: [0, -g]}
ProblemData:
  tend: 10
  positions: {A: [l*sin(th1), -l*cos(th1)], B: [l*sin(th1) + l*sin(th2), -l*cos(th1) - l*cos(th2)]}
  velocities: {A: [0, 0], B: [0, 0]}
""",
}


def starts(problem: str, count: int) -> np.ndarray:
    """Angles from the vertical, then their rates, of each motion."""
    if problem == PENDULUM:
        angles = np.linspace(0.1, 3.0, count)[:, None]
    else:
        angles = np.stack([np.linspace(0.1, 1.5, count), np.full(count, 0.5)], axis=1)
    return np.hstack([angles, np.zeros_like(angles)])


def rates(problem: str, y: Any, functions: Any = math) -> list[Any]:
    """The right-hand side, by the sine and cosine of any library."""
    sin, cos = functions.sin, functions.cos
    if problem == PENDULUM:
        return [y[1], -GRAVITY * sin(y[0])]
    one, other, u, v = y
    c, s = cos(one - other), sin(one - other)
    first = -s * v * v - 2 * GRAVITY * sin(one)
    second = s * u * u - GRAVITY * sin(other)
    return [u, v, (first - c * second) / (2.0 - c * c), (2.0 * second - c * first) / (2.0 - c * c)]


def checked(count: int) -> np.ndarray:
    return np.linspace(0, count - 1, CHECKED).astype(int)


def digits(problem: str, ends: Any, reference: np.ndarray) -> float:
    """Correct decimals of the worst angle or rate of the motions that are checked; whole turns do not count."""
    errors = np.asarray(ends) - reference
    angles = errors.shape[1] // 2
    errors[:, :angles] = np.remainder(errors[:, :angles] + np.pi, 2 * np.pi) - np.pi
    return float(-np.log10(np.max(np.abs(errors))))


def main(peer: str, form: str, prepare: Callable[[str, float], Callable[[np.ndarray], np.ndarray]]) -> None:
    """A peer's run: `repeats tolerance`. One JSON line for each problem, with processor times of all its motions."""
    import json

    repeats, tolerance = int(sys.argv[1]), float(sys.argv[2])
    for problem, count in COUNTS.items():
        run, given = prepare(problem, tolerance), starts(problem, count)
        ends, times = run(given), []
        for _ in range(repeats):
            begun = time.process_time()
            ends = run(given)
            times.append(time.process_time() - begun)
        row = {"peer": peer, "form": form, "setting": sys.argv[2], "problem": problem, "motions": count}
        print(json.dumps(row | {"times": times, "ends": ends[checked(count)].tolist()}), flush=True)
