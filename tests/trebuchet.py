"""A trebuchet in three angles, as an ODE: beam, counterweight and sling, each from the x axis. Nothing of
ours is in it.

Every mass is at a sum of vectors of constant length, so that, for each i, the sum over j of
c_ij cos(a_i - a_j) a_j'' + c_ij sin(a_i - a_j) a_j'^2 is -g b_i cos a_i.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

G, HIGH, SHORT, LONG, HANGER, SLING = 9.81, 4.5, 1.0, 4.0, 0.8, 3.0
WEIGHT, BEAM, STONE = 1000.0, 60.0, 10.0
# Of the beam's centre, the counterweight and the stone: how far along beam, hanger and sling.
ARMS = np.array([[(LONG - SHORT) / 2, 0, 0], [-SHORT, HANGER, 0], [LONG, 0, SLING]])
MASSES = np.array([BEAM, WEIGHT, STONE])
INERTIAS = np.array([BEAM * (LONG + SHORT) ** 2 / 12, WEIGHT * 0.1, 0.0])
STARTS = np.array([np.deg2rad(270 - 50), np.deg2rad(270), np.deg2rad(270 + 60)])


def accelerations(angles: np.ndarray, rates: np.ndarray, count: int = 3) -> np.ndarray:
    """Of the first so many angles: without the sling there are two."""
    arms, masses = ARMS[:count, :count], MASSES[:count]
    between = angles[:, None] - angles
    c = (arms.T * masses) @ arms
    matrix = c * np.cos(between) + np.diag(INERTIAS[:count])
    return np.linalg.solve(matrix, -(c * np.sin(between)) @ rates**2 - G * (masses @ arms) * np.cos(angles))


def stone(angles: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where it is and how it moves, while the sling holds it."""
    along, across = (np.array([f(angles), h(angles)]) for f, h in ((np.cos, np.sin), (lambda a: -np.sin(a), np.cos)))
    return along @ ARMS[2] + (0, HIGH), across @ (ARMS[2] * rates)


def follow(state: np.ndarray, end: float, count: int = 3, events: list | None = None):
    def rates(_, y):
        return np.concatenate([y[count:], accelerations(y[:count], y[count:], count)])

    return solve_ivp(rates, (0, end), state, method="DOP853", rtol=3e-14, atol=1e-13, events=events)


def released() -> tuple[float, np.ndarray]:
    """When the stone flies up at 45 degrees, and the angles and rates then."""

    def level(_, y):
        velocity = stone(y[:3], y[3:])[1]
        return velocity[1] - velocity[0]

    level.direction, level.terminal = -1, True  # type: ignore[attr-defined]
    found = follow(np.concatenate([STARTS, np.zeros(3)]), 3.0, events=[level])
    return float(found.t_events[0][0]), found.y_events[0][0]
