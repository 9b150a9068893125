"""The triple pendulum with a barrier of seed 003, as its text has it: eq (8) in angles, impacts by eq (3), sliding by
eq (1), with DOP853. Nothing of mechsim.

An event is found on DOP853's own interpolant first, which is of lower order, and then by Newton's method on motions
from the step before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

# Coefficients as the seed prints them, eq (9).
INERTIA = np.array([[1, 9 / 14, 3 / 14], [9 / 14, 4 / 7, 3 / 14], [3 / 14, 3 / 14, 1 / 7]])
WEIGHT = np.array([1, 3 / 5, 1 / 5])
VISCOUS = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
TIGHT = {"method": "DOP853", "rtol": 3e-14, "atol": 1e-15}

MOMENT = 1e-4  # two events are not so near

State = np.ndarray  # three angles from straight down, three rates


@dataclass(frozen=True)
class Happening:
    """An impact, or a contact that begins or ends: when, and the state behind it."""

    t: float
    kind: str
    state: State


@dataclass(frozen=True)
class Barrier:
    """Parameters as in the captions of figures 3 and 4."""

    c: float
    q: float
    w: float
    eta: float
    e: float

    def accelerations(self, t: float, state: State, slides: bool = False) -> tuple[np.ndarray, float]:
        """And the load on the barrier."""
        psi, rates = state[:3], state[3:]
        apart = psi[:, None] - psi[None, :]
        force = -(INERTIA * np.sin(apart)) @ rates**2 - self.c * VISCOUS @ rates - WEIGHT * np.sin(psi)
        force[0] += self.q * np.cos(self.w * t)
        gradient = np.sin(psi)
        free, answer = np.linalg.solve(INERTIA * np.cos(apart), np.column_stack([force, gradient])).T
        load = -(np.cos(psi) @ rates**2 + gradient @ free) / (gradient @ answer)
        return (free + answer * load if slides else free), float(load)

    def gap(self, state: State) -> float:
        return float(self.eta - np.cos(state[:3]).sum())

    def struck(self, state: State, e: float) -> State:
        psi, rates = state[:3], state[3:]
        gradient = np.sin(psi)
        answer = np.linalg.solve(INERTIA * np.cos(psi[:, None] - psi[None, :]), gradient)
        return np.concatenate([psi, rates - (1 + e) * answer * (gradient @ rates) / (gradient @ answer)])

    def follow(self, psi: tuple[float, float, float], tend: float) -> tuple[list[Happening], State]:
        """From rest: what happens, and the state at `tend`. Bounces that die out cannot be followed to their end."""
        t, state, slides = 0.0, np.array([*psi, 0.0, 0.0, 0.0]), False
        happenings: list[Happening] = []
        while True:
            t, state, met = self._until_event(t, state, slides, tend)
            if not met:
                return happenings, state
            if slides:
                kind, slides = "release", False
            else:
                state = self.struck(state, self.e)
                slides = self.e == 0 and self.accelerations(t, state)[1] > 0
                kind = "contact" if slides else "impact"
            happenings.append(Happening(t, kind, state))

    def _until_event(self, t: float, state: State, slides: bool, tend: float) -> tuple[float, State, bool]:
        def rates(time: float, y: State) -> np.ndarray:
            return np.concatenate([y[3:], self.accelerations(time, y, slides)[0]])

        def watched(time: float, y: State) -> float:
            return self.accelerations(time, y, True)[1] if slides else self.gap(y)

        # Only one that comes after the motion has left the last one.
        def event(time: float, y: State) -> float:
            return watched(time, y) if time > t + MOMENT else 1.0

        event.terminal, event.direction = True, -1  # type: ignore[attr-defined]
        found = solve_ivp(rates, (t, tend), state, events=event, **TIGHT)
        if not len(found.t_events[0]):
            return tend, found.y[:, -1], False
        start, begin = found.t[-2], found.y[:, -2]
        return *self._polished(rates, watched, (start, begin), float(found.t_events[0][0])), True

    @staticmethod
    def _polished(rates: Callable, watched: Callable, start: tuple[float, State], near: float) -> tuple[float, State]:
        """Newton's method for the time of an event; slopes by a difference are good enough for it."""
        begin, state = start

        def at(time: float) -> State:
            return solve_ivp(rates, (begin, time), state, **TIGHT).y[:, -1]

        there = at(near)
        for _ in range(3):
            later = near + 1e-7
            slope = (watched(later, there + 1e-7 * rates(near, there)) - watched(near, there)) / 1e-7
            near -= watched(near, there) / slope
            there = at(near)
        return near, there
