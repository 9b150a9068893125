"""A start on a singular pose, or very near one: there the equations do not tell the motion, but a little later they do.

The motion that passes through the pose with the given velocity is smooth. So a state is looked for a little after the
start, whose Taylor polynomials lead back to it: exactly to values that were asked for, and nearly to the others, which
constraints that are nearly dependent do not tell well.
"""

from __future__ import annotations

import math

import numpy as np

from mechsim.kernel.compiled import Status
from mechsim.kernel.linear import dense, null_space
from mechsim.kernel.march import March
from mechsim.kernel.plan import Plan
from mechsim.kernel.series import horner
from mechsim.kernel.system import System

FIRST = 0.2  # of the size: how far the mechanism moves until that state, at first
HALVINGS = 30
ITERATIONS = 40
EXACT = 1e-15  # of size and speed
GOOD = 1e-3  # how far the others may be off: farther, it is another motion
DEPENDENT = 1e-9


class Launch:
    """`state` are derivatives of the unknowns at t; `held` the coordinates whose positions and velocities are exact."""

    def __init__(
        self,
        march: March,
        plan: Plan,
        system: System,
        state: np.ndarray,
        t: float,
        held: tuple[tuple[int, ...], tuple[int, ...]],
        tolerance: float,
    ):
        self.march, self.system, self.state, self.t, self.held = march, system, state, t, held
        self.tolerance = tolerance
        self.moving = np.flatnonzero(plan.variable_offsets[: system.n] >= 2)
        self.scales = plan.scales[self.moving]
        self.speed = float(np.max(np.abs(state[1, self.moving] / self.scales)))

    def towards(self, stop: float) -> tuple[float, np.ndarray] | None:
        """The time a little after the start, and the polynomials about the start that lead there; the march is left
        there. None where there is no such state: then the motion is not smooth, or not the one of this velocity."""
        reach = stop - self.t
        ahead = math.copysign(min(FIRST / self.speed, 0.5 * abs(reach)), reach)
        best, found = math.inf, None
        for _ in range(HALVINGS):
            series = self._leading_back(ahead)
            if series is not None:
                terms = self._last_terms(series, ahead)
                if terms > best:  # shorter ways leave less out, until roundings grow
                    break
                best, found = terms, (ahead, series)
            if best <= self.tolerance:
                break
            ahead /= 2
        if found is None:
            return None
        ahead, series = found
        self.march.set_state(self.t + ahead, np.ascontiguousarray(series[: len(self.state)]))  # values and rates
        self.march.prepare()
        return self.t + ahead, _about(series, -ahead)

    def _last_terms(self, series: np.ndarray, ahead: float) -> float:
        """Of velocities, relative to the speed: what the polynomials leave out is less."""
        last = len(series) - 1
        terms = [
            n * np.max(np.abs(series[n, self.moving] / self.scales)) * abs(ahead) ** (n - 1) for n in (last - 1, last)
        ]
        return float(max(terms)) / self.speed

    def _leading_back(self, ahead: float) -> np.ndarray | None:
        """Polynomials about a time so much later."""
        trial = self.state.copy()
        trial[0, self.moving] += ahead * self.state[1, self.moving]
        best, found = math.inf, None
        for _ in range(ITERATIONS):
            self.march.set_state(self.t + ahead, np.ascontiguousarray(trial))
            if self.march.prepare() != Status.REACHED:
                break
            series = np.asarray(self.march.expand())
            position, rate = self._step_towards_start(series, ahead)
            off = max(np.max(np.abs(position)), np.max(np.abs(rate)) / self.speed)
            if not off < best:
                break
            best, found = off, series
            if off <= EXACT:
                break
            trial = self.state.copy()
            trial[0, self.moving] = series[0, self.moving] + self.scales * (position + ahead * rate)
            trial[1, self.moving] = series[1, self.moving] + self.scales * rate
        return None if found is None or self._far(found, ahead) else found

    def _step_towards_start(self, series: np.ndarray, ahead: float) -> tuple[np.ndarray, np.ndarray]:
        """Changes of positions and velocities, in scales, along motions the constraints allow, that bring the values at
        the start nearer to those asked for."""
        motions = self._motions(series, ahead)
        changes = []
        for derivative, held in enumerate(self.held):
            miss = (self.state[derivative] - _at(series, -ahead, derivative))[self.moving] / self.scales
            chosen = np.isin(self.moving, held)
            if np.linalg.matrix_rank(motions[chosen], DEPENDENT) < motions.shape[1]:
                chosen[:] = True  # what was asked for does not tell all
            changes.append(motions @ np.linalg.lstsq(motions[chosen], miss[chosen])[0])
        return changes[0], changes[1]

    def _motions(self, series: np.ndarray, ahead: float) -> np.ndarray:
        """Velocities that the constraints allow there, orthonormal columns in scales of the coordinates."""
        n = self.system.n
        jacobian = dense(self.system.rate_jacobian(self.t + ahead, series[0, :n], series[1, :n]), self.system.m, n)
        return null_space(jacobian[:, self.moving] * self.scales, relative=DEPENDENT)

    def _far(self, series: np.ndarray, ahead: float) -> bool:
        """Whether the polynomials lead elsewhere."""
        position, rate = (
            np.max(np.abs((_at(series, -ahead, derivative) - self.state[derivative])[self.moving] / self.scales))
            for derivative in (0, 1)
        )
        return bool(position > GOOD or rate > GOOD * self.speed)


def _at(coefficients: np.ndarray, h: float, derivative: int) -> np.ndarray:
    return horner(coefficients[::-1], h, derivative + 1)[-1] * math.factorial(derivative)


def _about(coefficients: np.ndarray, h: float) -> np.ndarray:
    """The same polynomials about a place h further."""
    return np.stack(horner(coefficients[::-1], h, len(coefficients)))
