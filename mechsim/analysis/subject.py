"""What an analysis is about: a mechanism of a file, or a user's Lagrangian, with its motions for any parameters and
starts, and their exact derivatives. Handles and Lagrangian systems both give a Subject; analyses know nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from mechsim.engine import InitialState, Solution, State, integrate, order_for
from mechsim.engine.fleets import Sets
from mechsim.engine.machine import new_march
from mechsim.engine.tangents import Directions
from mechsim.errors import IntegrationError
from mechsim.frozen import frozen
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System
from mechsim.measure.reading import Vocabulary
from mechsim.result import Motion
from mechsim.result.layout import Array
from mechsim.result.trajectory import Facts, Settings
from mechsim.simulation import failure
from mechsim.spec.living import Tape
from mechsim.structure import Structure

Directed = tuple["Case", Directions]


@frozen(slots=False, eq=False)
class Case:
    """A motion that can be integrated: equations with their numbers, and a consistent start."""

    system: System
    structure: Structure
    start: InitialState
    # Directions by name: parameters, inputs, coordinates of the start and their rates, or "start" for a basis of all
    # that the constraints allow. The case returned is the same but keeps parameters that are zero in its equations.
    directed: Callable[[Sequence[str]], Directed]
    facts: Facts  # what files of results carry
    plan: Plan | None = None  # of the system, where it is known

    def starting(self, state: State) -> Case:
        """The same from another consistent state; its directions by name stay those of its own start."""
        return replace(self, start=state)

    def motion(self, solution: Solution) -> Motion:
        """One of its solutions as results."""
        settings: Settings = {**self.facts["settings"], "tol": solution.tolerance, "order": solution.order}
        settings |= {"t0": float(solution.t[0]), "tend": float(solution.t[-1])}
        facts: Facts = {**self.facts, "settings": settings}
        return Motion(solution, facts)

    def solution(
        self,
        tend: float,
        *,
        tolerance: float,
        order: int | None = None,
        tangents: Directions | None = None,
        keep: str = "polynomials",
    ) -> Solution:
        """The motion to a time. Raises IntegrationError where it ends before."""
        ready = None
        if self.plan is not None:
            order = order or order_for(tolerance, self.plan)
            ready = self.plan, new_march(self.plan, order, tolerance)
        found = integrate(
            self.system,
            self.structure,
            self.start,
            tend=tend,
            tolerance=tolerance,
            order=order,
            keep=keep,
            tangents=tangents,
            ready=ready,
        )
        if found.status == "interrupted":
            raise KeyboardInterrupt
        if found.status != "finished":
            raise IntegrationError(failure(found))
        return found


@frozen(slots=False, eq=False)
class Sides:
    """Equations for many motions side by side: those of one mechanism, with numbers for each."""

    system: System
    structure: Structure
    plan: Plan
    sets: Sets

    def order(self, tolerance: float) -> int:
        return order_for(tolerance, self.plan)


class Subject(Protocol):
    """Motions of one mechanism."""

    @property
    def parameters(self) -> Mapping[str, float]:
        """All that may be varied, by name."""
        ...

    def case(
        self,
        parameters: Mapping[str, float],
        start: State | None = None,
        tend: float | None = None,
        *,
        nearest: bool = False,
    ) -> Case:
        """The mechanism with other parameters, at its own start or at a given consistent state, or at the consistent
        one `nearest` to it; `tend` is how far its tables are needed. Raises SpecError, AssemblyError."""
        ...

    def sides(self, columns: Mapping[str, Array], count: int) -> Sides:
        """The mechanism with so many values of some parameters, a column for each."""
        ...

    @property
    def names(self) -> Vocabulary:
        """What names mean in measures."""
        ...

    def numbers(self, parameters: Mapping[str, float]) -> Callable[[str], Array]:
        """The values of all parameters where some are given, of those too that follow from them by formulas."""
        ...

    def living(self, tape: Tape) -> Mapping[str, float]:
        """The values of all parameters, those that the tape varies living: what follows from them does so too."""
        ...
