"""Rods in a row that strike barriers, in their angles and by SciPy: nothing of mechsim. Oracle of its impacts.

psi_i is the angle of rod i from straight down. M(psi) and the forces are those of identical rods, an impact is seed 003
eq. (3): v+ = v - (1 + e) M^-1 h_psi (h_psi . v) / (h_psi . M^-1 h_psi).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

Gradient = Callable[[np.ndarray], np.ndarray]


class Rods:
    """`torque(t)` acts on the first, `damping` in all hinges."""

    def __init__(
        self,
        count: int,
        *,
        mass: float = 1.0,
        length: float = 1.0,
        gravity: float = 9.81,
        damping: float = 0.0,
        torque: Callable[[float], float] = lambda t: 0.0,
    ):
        self.count, self.torque = count, torque
        below = np.array([count - i - 1 for i in range(count)])  # rods that hang at each one
        self.coupling = (
            mass
            * length**2
            * np.array(
                [[1 / 3 + below[i] if i == j else 0.5 + below[max(i, j)] for j in range(count)] for i in range(count)]
            )
        )
        self.weights = mass * gravity * length * (0.5 + below)
        chain = np.eye(count) - np.eye(count, k=-1)
        self.damping = damping * chain.T @ chain

    def mass_matrix(self, psi: np.ndarray) -> np.ndarray:
        return self.coupling * np.cos(psi[:, None] - psi)

    def accelerations(self, t: float, psi: np.ndarray, rate: np.ndarray) -> np.ndarray:
        turning = (self.coupling * np.sin(psi[:, None] - psi)) @ rate**2
        force = -turning - self.weights * np.sin(psi) - self.damping @ rate
        force[0] += self.torque(t)
        return np.linalg.solve(self.mass_matrix(psi), force)

    def energy(self, psi: np.ndarray, rate: np.ndarray) -> float:
        return float(rate @ self.mass_matrix(psi) @ rate / 2 - self.weights @ np.cos(psi))

    def struck(self, psi: np.ndarray, rate: np.ndarray, gradient: np.ndarray, e: float) -> np.ndarray:
        response = np.linalg.solve(self.mass_matrix(psi), gradient)
        return np.asarray(rate - (1 + e) * response * (gradient @ rate) / (gradient @ response))

    def follow(
        self,
        psi: Sequence[float],
        tend: float,
        gaps: Sequence[tuple[Callable[[np.ndarray], float], Gradient]],
        e: float,
    ) -> tuple[list[tuple[float, int]], np.ndarray]:
        """From rest: the times of all impacts with the numbers of their gaps, and the state at the end."""

        def rates(t: float, state: np.ndarray) -> np.ndarray:
            here, rate = np.split(state, 2)
            return np.concatenate([rate, self.accelerations(t, here, rate)])

        def event(gap: Callable[[np.ndarray], float]) -> Any:
            def value(t: float, state: np.ndarray) -> float:
                return gap(state[: self.count])

            value.terminal, value.direction = True, -1  # type: ignore[attr-defined]
            return value

        events = [event(gap) for gap, _ in gaps]
        t, state, impacts = 0.0, np.concatenate([psi, np.zeros(self.count)]), []
        while t < tend:
            found = solve_ivp(rates, (t, tend), state, "DOP853", events=events, rtol=1e-13, atol=1e-14)
            t, state = float(found.t[-1]), found.y[:, -1]
            for number, times in enumerate(found.t_events):
                if len(times):
                    t, state = float(times[0]), found.y_events[number][0]
                    here, rate = np.split(state, 2)
                    gradient = gaps[number][1](here)
                    state = np.concatenate([here, self.struck(here, rate, gradient, e)])
                    impacts.append((t, number))
        return impacts, state
