"""Solution: the Taylor polynomials of every step, the segments they make up, and how the march ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from mechsim.engine.events import Events
from mechsim.engine.leading import Leading, Leadings
from mechsim.engine.points import Points, Steps, evaluated
from mechsim.engine.sampling import divided
from mechsim.engine.segments import SIDES, Segments, Side, last_begun, same_times
from mechsim.engine.state import HandedOn, State
from mechsim.engine.tangents import Directions, Tangents, sampled
from mechsim.frozen import frozen
from mechsim.kernel.plan import Plan
from mechsim.kernel.series import horner
from mechsim.kernel.system import System
from mechsim.structure import Structure


@frozen(slots=False, eq=False)
class Solution:
    """Points at step ends (projected on the constraints) and, if kept, `coefficients[step, unknown, degree]`.

    status: "finished", "interrupted", or why the march stopped before its end ("step_too_small", "singular",
    "not_finite", "not_projected", "contradiction", "misfit", ...); what was computed until then is here.
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    coefficients: np.ndarray | None
    segments: Segments
    status: str
    message: str
    statistics: Mapping[str, float]
    system: System
    structure: Structure
    plan: Plan
    order: int
    tolerance: float
    handed_on: HandedOn | None = None
    tangents: Tangents | None = None  # derivatives of the motion, where directions were given
    directions: Directions | None = None
    events: Events | None = None  # what happened at gaps

    def derivatives(self, times: ArrayLike, side: Side = "after") -> tuple[np.ndarray, np.ndarray]:
        """Of positions and velocities, (times, n, directions), on the linearised constraints."""
        return sampled(self, times, side)

    @property
    def ending(self) -> State:
        """Its last point, for a march that goes on from there."""
        return State(float(self.t[-1]), self.q[-1], self.v[-1], handed_on=self.handed_on)

    def system_at(self, times: ArrayLike, side: Side = "after") -> System:
        """The system as it is at each time; where segments meet, that of the one on this side."""
        return self.segments.system_at(self.system, times, side)

    @property
    def points(self) -> Points:
        """The points at step ends; at a jump, that of the segment which begins there."""
        return Points(self.segments.system_of_rows(self.system, self.t), self.t, self.q, self.v, self.lam)

    @property
    def rows(self) -> Points:
        """The points of a table: step ends and, where the polynomials are kept, some between."""
        if self.coefficients is None:
            return self.points
        steps = Steps(self.segments, self.t[:-1], self.coefficients.transpose(0, 2, 1), self.tolerance)
        return divided(replace(self.points, steps=steps), self.system, self._leadings.states)

    @property
    def both_sides(self) -> Points:
        """The same, those at jumps twice: as the end of a segment, and as the start of the next."""
        points = self.rows
        before, after = (self.segments.at(points.t, side) for side in SIDES)
        known = same_times(points.t)  # an event has both of its sides as rows
        before[known] = after[known] = self.segments.of_rows(points.t)[known]
        rows = np.repeat(np.arange(len(points)), np.where(before == after, 1, 2))
        begins = np.append(False, rows[1:] == rows[:-1])
        number = np.where(begins, after[rows], before[rows])
        found = replace(points[rows], system=self.segments.system(self.system, number), lam=None)
        ending = np.flatnonzero(begins) - 1
        if len(ending):  # accounts gain there what potentials do (see Stops)
            sides = (found[each] for each in (ending, ending + 1))
            before, after = (side.system.accounted_potentials(side.t, side.q) for side in sides)
            found.q[ending] -= after - before
        return found

    def sampled(self, times: ArrayLike, side: Side = "after") -> Points:
        """Points at any times of the march, projected on the constraints."""
        times = np.atleast_1d(np.asarray(times, dtype=float))
        values, rates, bends = self.evaluate(times, side)
        n, system = self.system.n, self.system_at(times, side)
        found = self._leadings.states(Points(system, times, values, rates))
        return Points(system, times, *found, (bends[:, :n], values[:, n:]))

    def leading(self, points: Points) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations and multipliers at points, see `Leading`. Threads may ask at once."""
        return self._leadings(points)

    def jerks(self, points: Points, side: Side | None = None) -> np.ndarray:
        """The rates of accelerations at points, (points, n), from the equations. Where these do not tell they are NaN
        or, of points on a `side` of their times, those of the polynomials."""
        found = self._leadings.jerks(points)
        unknown = np.isnan(found).any(axis=1)
        if side is not None and unknown.any() and self.coefficients is not None:
            coefficients, h = self._series_at(points.t[unknown], side)
            found[unknown] = 6.0 * horner(coefficients.transpose(1, 0, 2)[::-1], h[:, None], 4)[3][:, : self.system.n]
        return found

    @cached_property
    def _leadings(self) -> Leadings:
        return Leadings(partial(Leading, self.system, self.structure, self.tolerance, plan=self.plan))

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_leadings"}

    def sample(self, times: ArrayLike, side: Side = "after") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, velocities and multipliers at any times of the march, projected on the constraints."""
        points = self.sampled(times, side)
        assert points.lam is not None
        return points.q, points.v, points.lam

    def evaluate(self, times: np.ndarray, side: Side = "after") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All unknowns and their first and second derivatives from the polynomials alone."""
        return evaluated(*self._series_at(times, side))

    def _series_at(self, times: np.ndarray, side: Side) -> tuple[np.ndarray, np.ndarray]:
        """The polynomials [time, degree, unknown] of the steps in which times are, and how far in them."""
        if self.coefficients is None:
            raise ValueError('only the table was kept, so the motion is not known in between: keep="polynomials"')
        starts = self.t[:-1]
        step = last_begun(starts, times, side, self.t[-1] < self.t[0])
        return self.coefficients[step].transpose(0, 2, 1), times - starts[step]
