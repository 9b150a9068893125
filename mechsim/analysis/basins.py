"""Basins of attraction: to which rest or periodic motion each of many starts goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from mechsim.analysis.attractors import Attractor, Place
from mechsim.analysis.basin import FAILED, UNDECIDED, Basins
from mechsim.analysis.cut import combined
from mechsim.analysis.extent import norm_of
from mechsim.analysis.formula import settled_value
from mechsim.analysis.lanes import Lanes
from mechsim.analysis.periodic import is_autonomous
from mechsim.analysis.set_by_events import is_set
from mechsim.analysis.starts import placed
from mechsim.analysis.subject import Subject
from mechsim.analysis.turning import TURN, angles_of
from mechsim.engine import State
from mechsim.errors import Fault, IntegrationError, SpecError
from mechsim.kernel.system import System
from mechsim.result.layout import Array

TOLERANCE = 1e-9
ROUNDS = 40  # in which the time goes by; after each it is looked what has settled
LOOKED = 3  # motions from which attractors are looked for after each
SLOW = 0.05  # in scales: what may be near a rest
MOST_ATTRACTORS = 64
PARTS = 50  # of the time: a piece of motion that tells which coordinates are angles, and how large they are

Observer = Callable[[int, int], None]  # starts that are decided, of so many


def basins(
    subject: Subject,
    starts: Mapping[str, Array],
    tend: float,
    *,
    period: str | float | None = None,
    apart: bool = False,
    tolerance: float | None = None,
    observer: Observer | None = None,
) -> Basins:
    """Where motions go from all combinations of start values, until `tend` or Ctrl-C; `period` is that of a forcing.
    `apart`: rests that differ by whole turns are different ones. Raises SpecError and AssemblyError."""
    case, tolerance = subject.case({}, tend=tend), tolerance or TOLERANCE
    if not starts:
        raise SpecError(Fault("a basin has starts: give values of coordinates or rates, such as A_x and A_x_dot"))
    if is_set(case.system):
        message = "basins are not known where events set inputs or bonds: what they leave is a state too"
        raise IntegrationError(Fault(message, hint="follow motions from single starts: run, poincare"))
    autonomous = is_autonomous(case.system)
    if period is None and not autonomous:
        message = "equations depend on time, and nobody says with which period"
        raise SpecError(Fault(message, hint="say it as an expression of parameters, for example 2*pi/w"))
    if period is not None and autonomous:
        message = "nothing depends on time, so there is no forcing that could have a period"
        raise SpecError(Fault(message, hint="leave the period out: those of motions are found"))
    forced = None if period is None else settled_value(period, subject, {}, "period")
    varied, count = combined(starts)
    states = placed(case, varied, count)
    lanes = Lanes(subject, {}, states, tolerance)
    lasting = (tend - case.start.t) / PARTS
    angles = angles_of(case.solution(case.start.t + lasting, tolerance=tolerance, keep="steps"))
    norm = norm_of(subject, states, angles, lasting, forced, tolerance)
    search = _Search(lanes, Place(subject, angles, norm, forced, tolerance), tend)
    try:
        search.go(observer or (lambda found, of: None))
    except KeyboardInterrupt:
        search.status = "interrupted"
    return search.told(starts, case.system, apart)


class _Search:
    """Motions that go on until they are near something that is known to be stable."""

    def __init__(self, lanes: Lanes, place: Place, tend: float):
        self.lanes, self.place, self.tend = lanes, place, tend
        self.begun = float(lanes.t[0])
        self.labels = np.full(len(lanes), UNDECIDED)
        self.settled = np.full(len(lanes), np.nan)  # when it was known
        self.turned = np.zeros((len(lanes), lanes.q.shape[1]))
        self.attractors: list[Attractor] = []
        self.reached, self.status = self.begun, "finished"

    def go(self, observer: Observer) -> None:
        if self.place.period is None:
            for rest in self.place.rests():
                self._take(rest)
        wait = pause = 0
        for end in self._ends():
            open_ = self._open()
            if not len(open_):
                return
            self.lanes.advance(np.full(len(self.lanes), end), open_, dense=False)
            self.reached = float(end)
            self.labels[list(self.lanes.failed)] = FAILED
            for attractor in range(len(self.attractors)):
                self._assign(attractor)
            if self.place.period is None:
                self._look_for_rests()
            wait -= 1
            if wait < 0:  # what is found again and again is looked for less often
                pause = 0 if self._look() else 2 * pause + 1
                wait = pause
            observer(len(self.labels) - len(self._open()), len(self.labels))

    def _ends(self) -> Array:
        """Times at which it is looked; whole periods of a forcing."""
        period = self.place.period
        if period is None:
            return self.begun + (self.tend - self.begun) * np.arange(1, ROUNDS + 1) / ROUNDS
        count = max(1, int((self.tend - self.begun) / period + 1e-9))
        numbers = np.unique(np.linspace(0, count, min(count, ROUNDS) + 1).round().astype(int))[1:]
        return np.asarray(self.begun + period * numbers)

    def _open(self) -> np.ndarray:
        return np.flatnonzero(self.labels == UNDECIDED)

    def _look(self) -> bool:
        """Look for attractors from some of the motions that have not settled; whether a new one was found."""
        patience = (self.tend - self.begun) / 4
        return self._take_from(self._open(), lambda state: self.place.attractor(state, patience))

    def _look_for_rests(self) -> None:
        """From motions that are slow, the slowest among them: that is quick, so it is done again and again."""
        open_ = self._open()
        speeds = np.linalg.norm(self.place.norm.weights[self.place.n :] * self.lanes.v[open_], axis=1)
        order = np.argsort(speeds)
        self._take_from(open_[order[speeds[order] <= SLOW]], self.place.rest)

    def _take_from(self, motions: np.ndarray, find: Callable[[State], Attractor | None]) -> bool:
        """What is found from the first and the last of some motions, and between; whether any of it is new."""
        known = len(self.attractors)
        chosen = np.unique(np.linspace(0, max(len(motions) - 1, 0), LOOKED).round().astype(int))
        for k in motions[chosen[: len(motions)]].tolist():
            if self.labels[k] != UNDECIDED or len(self.attractors) >= MOST_ATTRACTORS:
                continue
            found = find(State(float(self.lanes.t[k]), self.lanes.q[k], self.lanes.v[k]))
            if found is not None:
                self._take(found)
        return len(self.attractors) > known

    def _take(self, found: Attractor) -> None:
        """An attractor, if it is not known yet."""
        if not any(other.nears(found.states[:1])[0] for other in self.attractors):
            self.attractors.append(found)
            self._assign(len(self.attractors) - 1)

    def _assign(self, number: int) -> None:
        open_ = self._open()
        if not len(open_):
            return
        attractor, lanes = self.attractors[number], self.lanes
        near = open_[attractor.nears(self.place.coordinates(lanes.q[open_], lanes.v[open_]))]
        turns = np.round((lanes.q[near] - attractor.positions) / TURN)
        self.turned[near] = np.where(self.place.angles, turns, 0.0)
        self.settled[near] = lanes.t[near]
        self.labels[near] = number  # last: it may be interrupted

    def told(self, starts: Mapping[str, Array], system: System, apart: bool) -> Basins:
        attractors, numbers = self._apart() if apart else (self.attractors, self.labels)
        shape = tuple(map(len, starts.values()))
        kept = [place for place in range(system.n) if place not in system.accounts]
        attractors = [replace(a, positions=a.positions[kept], velocities=a.velocities[kept]) for a in attractors]
        order = sorted(range(len(attractors)), key=lambda k: -int(np.sum(numbers == k)))
        rank = np.append(np.argsort(order) if order else np.zeros(0, dtype=int), [FAILED, UNDECIDED])
        return Basins(
            tuple(starts),
            tuple(starts.values()),
            rank[numbers].reshape(shape),
            self.settled.reshape(shape),
            tuple(attractors[k] for k in order),
            tuple(system.labels[place] for place in kept),
            self.tend if self.status == "finished" else self.reached,
            next(iter(self.lanes.failed.values()), ""),
            self.status,
            tuple(self.place.subject.names.unit(name) or "" for name in starts),
        )

    def _apart(self) -> tuple[list[Attractor], np.ndarray]:
        """Rests that differ by whole turns as different ones."""
        found: list[Attractor] = []
        numbers = self.labels.copy()
        for number, attractor in enumerate(self.attractors):
            rows = np.flatnonzero(self.labels == number)
            if attractor.kind != "rest":
                numbers[rows] = len(found)
                found.append(attractor)
                continue
            turns, which = np.unique(self.turned[rows], axis=0, return_inverse=True)
            numbers[rows] = len(found) + which.ravel()
            found += [replace(attractor, positions=attractor.positions + TURN * each) for each in turns]
        return found, numbers
