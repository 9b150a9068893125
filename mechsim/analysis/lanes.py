"""Many motions of a subject that go on side by side, each from a state and with parameters of its own: in the kernel's
lanes where these can, else one by one. A motion that fails is left behind, with the reason."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from mechsim.analysis.subject import Case, Sides, Subject
from mechsim.engine import Solution, State
from mechsim.engine.fleets import Fleets, Sets
from mechsim.engine.many import integrate_many
from mechsim.engine.state import States
from mechsim.errors import AssemblyError, IntegrationError, SpecError
from mechsim.kernel.system import System
from mechsim.result.layout import Array

FEWEST = 2  # motions for which lanes pay

Columns = Mapping[str, Array]  # of parameters, a value for each motion


class Lanes:
    """Where many motions are: times, positions and velocities, a row for each; `failed` tells of those that are left
    behind why, by their numbers."""

    def __init__(
        self, subject: Subject, columns: Columns, starts: States, tolerance: float, threads: int | None = None
    ):
        self.subject, self.columns, self.tolerance = subject, columns, tolerance
        self.t, self.q, self.v = starts.t.copy(), starts.positions.copy(), starts.velocities.copy()
        self.threads = threads or os.cpu_count() or 1
        self.failed: dict[int, str] = {}
        self.interrupted = False
        self._cases: dict[int, Case] = {}
        self._sides: Sides | None = None
        self._alone = np.ones(len(starts), dtype=bool)
        if len(starts) >= FEWEST:
            self._set_out()

    def _set_out(self) -> None:
        sides = self.subject.sides(self.columns, len(self.t))
        system = sides.system
        if system.gaps or system.frictions or system.events or system.samplers or system.switches:
            return
        self._sides = sides
        self._alone = ~sides.sets.hold
        reference = State(float(self.t[0]), self.q[0], self.v[0])
        self._fleets = Fleets(system, sides.plan, reference, sides.order(self.tolerance), self.tolerance)

    def __len__(self) -> int:
        return len(self.t)

    @property
    def together(self) -> bool:
        """Whether motions go on in lanes."""
        return self._sides is not None

    def system(self, k: int) -> System:
        """The equations of one motion."""
        if self._sides is not None and not self._alone[k]:
            return self._sides.sets.system(self._sides.system, k)
        return self._case(k).system

    def _case(self, k: int) -> Case:
        """One motion, alone."""
        if k not in self._cases:
            state = State(float(self.t[k]), self.q[k], self.v[k])
            self._cases[k] = self.subject.case(self.parameters(k), state, nearest=True)
        return self._cases[k]

    @property
    def going(self) -> np.ndarray:
        """Numbers of the motions that have not failed."""
        return np.array([k for k in range(len(self)) if k not in self.failed], dtype=np.intp)

    def parameters(self, k: int) -> dict[str, float]:
        return {name: float(values[k]) for name, values in self.columns.items()}

    @contextmanager
    def until_interrupted(self) -> Iterator[None]:
        """What is found until Ctrl-C, which ends it, counts."""
        try:
            yield
        except KeyboardInterrupt:
            self.interrupted = True

    def advance(self, ends: Array, chosen: np.ndarray, *, dense: bool) -> dict[int, Solution]:
        """Go on with some motions to their ends; their solutions with polynomials, if `dense`."""
        found: dict[int, Solution] = {}
        beside = chosen[~self._alone[chosen]]
        if len(beside):
            found |= self._beside(ends[beside], beside, dense)
        for k in chosen[self._alone[chosen]].tolist():
            solution = self._follow(k, float(ends[k]), dense)
            if solution is not None:
                found[k] = solution
        return found if dense else {}

    def _beside(self, ends: Array, chosen: np.ndarray, dense: bool) -> dict[int, Solution]:
        sides = self._sides
        assert sides is not None  # else all go alone
        own = Sets(sides.sets.numbers, np.ascontiguousarray(sides.sets.values[:, chosen]), sides.sets.living)
        still = np.zeros(len(chosen), dtype=bool)
        many = integrate_many(
            sides.system,
            sides.structure,
            States(self.t[chosen], self.q[chosen], self.v[chosen], still),
            tends=ends,
            tolerance=self.tolerance,
            sets=own,
            keep="polynomials" if dense else "final",
            threads=self.threads,
            fleets=self._fleets,
        )
        status = many.status
        if "interrupted" in status:
            raise KeyboardInterrupt
        done = many.finished
        self.failed |= {int(chosen[k]): many.message(int(k)) or status[k] for k in np.flatnonzero(~done)}
        kept = chosen[done]
        self.t[kept], self.q[kept], self.v[kept] = many.t[done], many.q[done], many.v[done]
        return {int(chosen[k]): many.solution(int(k)) for k in np.flatnonzero(done)} if dense else {}

    def _follow(self, k: int, end: float, dense: bool) -> Solution | None:
        """A motion alone, as if it had not been stopped before."""
        try:
            solution = self._case(k).solution(end, tolerance=self.tolerance, keep="polynomials" if dense else "steps")
        except (AssemblyError, IntegrationError, SpecError) as error:
            self.failed[k] = error.faults[0].message
            return None
        ending = solution.ending
        self.t[k], self.q[k], self.v[k] = ending.t, ending.positions, ending.velocities
        self._cases[k] = self._cases[k].starting(ending)
        return solution
