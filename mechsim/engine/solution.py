"""Solution: the Taylor polynomials of every step, and how the march ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from mechsim.engine.control import REJECTION
from mechsim.engine.state import HandedOn, State
from mechsim.engine.tangents import Directions, Tangents
from mechsim.kernel.compiled import make_march
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System


@dataclass(frozen=True)
class Batch:
    """Consecutive points of a march: times, coordinates, velocities, multipliers.

    `constants` of the mechanism for each point where they change along the way, else None: see `System.holding`.
    Where asked for, `polynomials[step, degree, unknown]` of the steps that end at these points, their `starts`, and the
    constants `during` each.
    `series` are accelerations and multipliers as polynomials have them, of points that were taken from some.
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    constants: np.ndarray | None = None
    polynomials: np.ndarray | None = None
    starts: np.ndarray | None = None
    during: np.ndarray | None = None
    series: tuple[np.ndarray, np.ndarray] | None = None

    @classmethod
    def joined(cls, batches: list[Batch]) -> Batch:
        if len(batches) == 1:
            return batches[0]
        columns = [field.name for field in fields(cls) if field.name != "series"]
        return cls(*(_joined([getattr(each, name) for each in batches]) for name in columns))

    def first(self, count: int) -> Batch:
        """Its first points, and the steps that end at them."""
        constants = None if self.constants is None else self.constants[:count]
        columns = (self.t[:count], self.q[:count], self.v[:count], self.lam[:count], constants)
        if self.polynomials is None or self.starts is None:
            return Batch(*columns)
        steps = max(0, count - (len(self.t) - len(self.starts)))
        during = None if self.during is None else self.during[:steps]
        return Batch(*columns, self.polynomials[:steps], self.starts[:steps], during)


def evaluated(coefficients: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Polynomials [point, degree, unknown] and their first and second derivatives at h, each (points, unknowns)."""
    values, rates, halves = (np.zeros((len(h), coefficients.shape[2])) for _ in range(3))
    for degree in reversed(range(coefficients.shape[1])):
        halves = halves * h[:, None] + rates
        rates = rates * h[:, None] + values
        values = values * h[:, None] + coefficients[:, degree]
    return values, rates, 2 * halves


def _joined(pieces: list[Any]) -> Any:
    there = [piece for piece in pieces if piece is not None]
    return np.concatenate(there) if there else None


@dataclass(frozen=True)
class Held:
    """Constants of the mechanism as they were, `values[i]` from `times[i]` on: tables and sampled signals change."""

    times: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, history: list[tuple[float, np.ndarray]]) -> Held:
        return cls(np.array([t for t, _ in history]), np.array([values for _, values in history]))

    def number(self, times: np.ndarray) -> np.ndarray:
        """Which row of `values` holds at each time; at a change itself, the new one."""
        return np.maximum(np.searchsorted(self.times, times, side="right") - 1, 0)


@dataclass(frozen=True)
class Solution:
    """Points at step ends (projected on the constraints) and, if kept, `coefficients[step, unknown, degree]`.

    status: "finished", "interrupted", or why the march stopped before its end ("step_too_small", "singular",
    "not_finite", "not_projected", "contradiction"); what was computed until then is here.
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    coefficients: np.ndarray | None
    status: str
    message: str
    statistics: Mapping[str, Any]
    system: System
    structure: Any
    plan: Plan
    order: int
    tolerance: float
    held: Held
    handed_on: HandedOn | None = None
    tangents: Tangents | None = None  # derivatives of the motion, where directions were given
    directions: Directions | None = None

    @property
    def ending(self) -> State:
        """Its last point, for a march that goes on from there."""
        return State(float(self.t[-1]), self.q[-1], self.v[-1], handed_on=self.handed_on)

    def constants_at(self, times: Any) -> np.ndarray:
        """Constants of the mechanism at each time, (times, constants): for `System.holding`."""
        return self.held.values[self.held.number(np.asarray(times, dtype=float))]

    @property
    def points(self) -> Batch:
        """The points at step ends. At a change of constants a point has the new ones."""
        constants = self.constants_at(self.t) if len(self.held.times) > 1 else None
        return Batch(self.t, self.q, self.v, self.lam, constants)

    def sampled(self, times: Any) -> Batch:
        """Points at any times of the march, projected on the constraints."""
        times = np.atleast_1d(np.asarray(times, dtype=float))
        constants = self.constants_at(times) if len(self.held.times) > 1 else None
        values, rates, bends = self.evaluate(times)
        n = self.system.n
        return Batch(times, *self.project(times, values, rates), constants, series=(bends[:, :n], values[:, n:]))

    @cached_property
    def _projector(self) -> Any:
        rejection = REJECTION * self.tolerance
        return make_march(self.plan, order=1, tolerance=self.tolerance, safety=1.0, rejection=rejection)

    def sample(self, times: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, velocities and multipliers at any times of the march, projected on the constraints."""
        times = np.atleast_1d(np.asarray(times, dtype=float))
        values, rates, _ = self.evaluate(times)
        return self.project(times, values, rates)

    def evaluate(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All unknowns and their first and second derivatives from the polynomials alone."""
        if self.coefficients is None:
            raise ValueError('only the table was kept, so the motion is not known in between: keep="polynomials"')
        backwards = self.t[-1] < self.t[0]
        starts = self.t[:-1]
        step = np.searchsorted(-starts if backwards else starts, -times if backwards else times, side="right") - 1
        step = np.clip(step, 0, len(starts) - 1)
        return evaluated(self.coefficients[step].transpose(0, 2, 1), times - starts[step])

    def project(
        self, times: np.ndarray, values: np.ndarray, rates: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The nearest consistent states (in the sense of the system's own inertia), with their multipliers."""
        orders = int(self.plan.variable_offsets.max())
        states = np.stack([values, rates][:orders], axis=1)
        found = np.empty((len(times), orders + 1, states.shape[2]))
        number = self.held.number(times)
        for segment in np.unique(number):
            chosen = number == segment
            if len(self.held.times) > 1:
                for constant, value in enumerate(self.held.values[segment]):
                    self._projector.set_constant(constant, value)
            found[chosen], _ = self._projector.project(times[chosen], np.ascontiguousarray(states[chosen]))
        n = self.system.n
        return found[:, 0, :n], found[:, 1, :n], found[:, 0, n:]
