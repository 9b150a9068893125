"""Motions whose Lyapunov exponents are computed: what every code needs to know of them, so mechsim is not imported."""

from __future__ import annotations

GRAVITY = 9.81
TIME = 1e4
DRIVEN, DOUBLE = "driven pendulum", "double pendulum"
DOUBLE_START = (2.0, 1.0, 0.0, 0.0)  # angles from straight down, and rates
