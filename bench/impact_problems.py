"""Motions with impacts that mechsim and heyoka are timed on. Imports neither, so that both may read it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SPECS = Path(__file__).parent.parent / "specs" / "contacts"
REFERENCE = Path(__file__).parent / "impact_reference.json"
BALL, PENDULUM = "ball", "pendulum on a wall"
GRAVITY = 9.8
BOUNCES = 1000  # of ball and pendulum
QUARTER = 1.8540746773013719184  # K(1/2): the pendulum falls from the horizontal in QUARTER / sqrt(GRAVITY)
PERIODS = 1000  # of the forcing of the triple pendulum
COMPARED = 6  # impacts of each motion whose times are judged; errors of chaotic ones grow


@dataclass(frozen=True)
class Barrier:
    """The triple pendulum with a barrier of seed 003, in its units: a figure, its file and its parameters."""

    figure: str
    file: str
    c: float
    q: float
    w: float
    eta: float
    e: float
    psi: tuple[float, float, float] = (1.0, 1.0, 1.0)  # the start, at rest

    @property
    def tend(self) -> float:
        return PERIODS * 2 * math.pi / self.w


BARRIERS = (
    Barrier("3a", "triple_pendulum_periodic_impacts.yaml", 0.1, 0.7, 1.2, 2.6, 0.9),
    Barrier("3b", "triple_pendulum_periodic_sliding.yaml", 0.2, 0.75, 1.0, 2.2, 0.8),
    Barrier("4ab", "triple_pendulum_quasiperiodic_impacts.yaml", 0.08, 0.83, 1.211, 2.5, 0.9),
    Barrier("4cd", "triple_pendulum_locked_sliding.yaml", 0.1, 0.65, 1.211, 2.5, 0.5),
    Barrier("4ef", "triple_pendulum_chaotic_sliding.yaml", 0.02, 0.5, 1.0, 2.5, 0.0),
)


def expected(problem: str) -> list[float]:
    """The first impact times: closed forms, or what heyoka finds in extended precision (peer_impacts_heyoka.py)."""
    if problem == BALL:
        speed = math.sqrt(1 + 2 * GRAVITY)
        return [((1 + speed) + 2 * speed * k) / GRAVITY for k in range(COMPARED)]
    if problem == PENDULUM:
        return [(2 * k + 1) * QUARTER / math.sqrt(GRAVITY) for k in range(COMPARED)]
    return [float(t) for t in json.loads(REFERENCE.read_text())[problem]]


def digits(problem: str, times: Sequence[float]) -> float:
    """Of the worst of the first impact times."""
    known = expected(problem)
    if len(times) < len(known):
        return 0.0
    worst = max(abs(t - exact) / exact for t, exact in zip(times, known, strict=False))
    return -math.log10(max(worst, 1e-16))
