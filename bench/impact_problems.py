"""Motions with impacts that mechsim and heyoka are timed on. Imports neither, so that both may read it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

SPECS = Path(__file__).parent.parent / "specs" / "contacts"
BALL, PENDULUM = "ball", "pendulum on a wall"
GRAVITY = 9.8
BOUNCES = 1000  # of ball and pendulum
PERIODS = 1000  # of the forcing of the triple pendulum
COMPARED = 1e-9  # until impact times of two codes differ by so much, they are those of one motion


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
    psi: tuple[float, float, float]  # the start, at rest

    @property
    def tend(self) -> float:
        return PERIODS * 2 * math.pi / self.w


BARRIERS = (
    Barrier("3a", "triple_pendulum_periodic_impacts.yaml", 0.1, 0.7, 1.2, 2.6, 0.9, (1.0, 1.0, 1.0)),
    Barrier("3b", "triple_pendulum_periodic_sliding.yaml", 0.2, 0.75, 1.0, 2.2, 0.8, (1.0, 1.0, 1.0)),
    Barrier("4ab", "triple_pendulum_quasiperiodic_impacts.yaml", 0.08, 0.83, 1.211, 2.5, 0.9, (1.0, 1.0, 1.0)),
    Barrier("4cd", "triple_pendulum_quasiperiodic_sliding.yaml", 0.1, 0.65, 1.211, 2.5, 0.5, (1.0, 1.0, 1.0)),
    Barrier("4ef", "triple_pendulum_chaotic_sliding.yaml", 0.02, 0.5, 1.0, 2.5, 0.0, (1.0, 1.0, 1.0)),
)
