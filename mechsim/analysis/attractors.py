"""What motions settle to: stable rests and stable periodic motions, found from where a motion is, and told apart."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from mechsim.analysis.arcs import Norm
from mechsim.analysis.flow import Flow
from mechsim.analysis.periodic import Wanted, periodic
from mechsim.analysis.recurrence import first_return
from mechsim.analysis.rest import Rest, rest_from, rests
from mechsim.analysis.subject import Subject
from mechsim.engine import State
from mechsim.errors import MechsimError
from mechsim.frozen import frozen
from mechsim.result.layout import Array

NEAR = 1e-3  # in scales: a state that is no farther from a stable attractor will come to it
CLOSED = 1e-6  # in scales: Newton's method leaves far less of what comes back
SAMPLES = 4000  # of an orbit where nothing depends on time
MOST_PERIODS = 8  # of a forcing, in which a motion may repeat itself
RETURNS = 0.3  # in scales: a motion that comes no nearer does not repeat itself yet


@frozen(slots=False, eq=False)
class Attractor:
    """A rest or a periodic motion, and in which `states` it may be met, as coordinates of a Place: all along the orbit,
    or at whole periods of the forcing."""

    kind: str  # "rest" or "periodic"
    period: float  # 0 of a rest
    multiple: int  # periods of the forcing
    positions: Array
    velocities: Array
    turns: Mapping[str, int]  # of a period
    states: Array

    @property
    def words(self) -> str:
        if self.kind == "rest":
            return "rest"
        times = f", {self.multiple} of the forcing" if self.multiple > 1 else ""
        turning = "".join(f", {name} {turns:+d}" for name, turns in self.turns.items())
        return f"periodic, {self.period:.8g} s{times}{turning}"

    @cached_property
    def reach(self) -> float:
        """How near a state must come to one of its own."""
        if len(self.states) < SAMPLES:
            return NEAR
        gaps = np.linalg.norm(self.states - np.roll(self.states, 1, axis=0), axis=1)
        return NEAR + 0.5 * float(gaps.max())

    def nears(self, states: Array) -> np.ndarray:
        """Which states are near, (states,)."""
        from scipy.spatial import cKDTree

        return np.asarray(cKDTree(self.states).query(states)[0] <= self.reach)


class Place:
    """Where states are compared: in scales, and such that whole turns of angles make no difference."""

    def __init__(self, subject: Subject, angles: Array, norm: Norm, period: float | None, tolerance: float):
        self.subject, self.angles, self.norm = subject, angles, norm
        self.period, self.tolerance, self.n = period, tolerance, len(angles)

    def coordinates(self, q: Array, v: Array) -> Array:
        """Of states, (..., n) each: their distances are those of the norm; an angle is a point of a circle."""
        weights = self.norm.weights
        plain = np.concatenate([np.where(self.angles, 0.0, q), v], axis=-1) * weights
        turning, radii = q[..., self.angles], weights[: self.n][self.angles]
        return np.concatenate([plain, radii * np.cos(turning), radii * np.sin(turning)], axis=-1)

    @cached_property
    def _flow(self) -> Flow:
        case = self.subject.case({})
        return Flow(case.system, case.start.t, case.start.positions)

    def rests(self) -> list[Attractor]:
        """Stable rests that are found before anything moves, where nothing depends on time."""
        start = self.subject.case({}).start
        try:
            found = rests(self._flow, start.t, start.positions)
        except MechsimError:
            return []
        return [self._at_rest(rest) for rest in found if rest.own.stability == "stable"]

    def _at_rest(self, rest: Rest) -> Attractor:
        still = np.zeros(self.n)
        return Attractor("rest", 0.0, 0, rest.positions, still, {}, self.coordinates(rest.positions, still)[None])

    def attractor(self, state: State, patience: float) -> Attractor | None:
        """A stable rest or periodic motion that Newton's method comes to from a state; a return is waited for so
        long."""
        found = self.rest(state) if self.period is None else None
        if found is not None:
            return found
        try:
            return self._cycle(state, patience) if self.period is None else self._orbit(state)
        except MechsimError:  # it is on its way, or contacts are in it
            return None

    def rest(self, state: State) -> Attractor | None:
        """The stable one that Newton's method comes to."""
        rest = rest_from(self._flow, state.t, state.positions)
        return None if rest is None or rest.own.stability != "stable" else self._at_rest(rest)

    def _cycle(self, state: State, patience: float) -> Attractor | None:
        """Of a system in which nothing depends on time."""
        case = self.subject.case({}, state, nearest=True)
        guess = first_return(case.solution(state.t + patience, tolerance=self.tolerance))
        return self._closed(state, guess, 1, np.arange(SAMPLES) / SAMPLES)

    def _orbit(self, state: State) -> Attractor | None:
        """Of a driven one, after as many periods as it comes back best."""
        assert self.period is not None
        case = self.subject.case({}, state, nearest=True)
        times = state.t + self.period * np.arange(1, MOST_PERIODS + 1)
        points = case.solution(float(times[-1]), tolerance=self.tolerance).sampled(times)
        here = self.coordinates(state.positions, state.velocities)
        apart = np.linalg.norm(self.coordinates(points.q, points.v) - here, axis=1)
        good = np.flatnonzero(apart <= min(3 * float(apart.min()), RETURNS))
        if not len(good):
            return None
        multiple = int(good[0]) + 1
        found = self._closed(state, self.period, multiple, np.arange(multiple) / multiple)
        again = 0 if found is None else _first_again(found)
        return found if not again else self._closed(state, self.period, again, np.arange(again) / again)

    def _closed(self, state: State, period: float, multiple: int, shares: Array) -> Attractor | None:
        orbit = periodic(self.subject, Wanted(period=period, multiple=multiple, begun=state), self.tolerance)
        if orbit.stability != "stable":
            return None
        points = orbit.solution.sampled(orbit.t + orbit.period * shares)
        states = self.coordinates(points.q, points.v)
        start = orbit.positions, orbit.velocities
        return Attractor("periodic", orbit.period, multiple, *start, orbit.turns, states)


def _first_again(found: Attractor) -> int:
    """After how many periods it is back already, if that is less than it was asked for; else 0. What slowly comes to an
    attractor may come back best after more periods than that has."""
    for count in range(1, found.multiple):
        if found.multiple % count == 0 and np.linalg.norm(found.states[count] - found.states[0]) <= CLOSED:
            return count
    return 0
