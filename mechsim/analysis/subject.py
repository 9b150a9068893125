"""What an analysis is about: a mechanism of a file, or a user's Lagrangian, with its motions for any parameters and
starts, and their exact derivatives. Handles and Lagrangian systems both give a Subject; analyses know nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from mechsim.engine import InitialState, Solution, State, integrate
from mechsim.engine.tangents import Directions
from mechsim.errors import IntegrationError
from mechsim.frozen import frozen
from mechsim.kernel.system import System
from mechsim.simulation import failure
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
        found = integrate(
            self.system,
            self.structure,
            self.start,
            tend=tend,
            tolerance=tolerance,
            order=order,
            keep=keep,
            tangents=tangents,
        )
        if found.status == "interrupted":
            raise KeyboardInterrupt
        if found.status != "finished":
            raise IntegrationError(failure(found))
        return found


class Subject(Protocol):
    """Motions of one mechanism."""

    @property
    def parameters(self) -> Mapping[str, float]:
        """All that may be varied, by name."""
        ...

    def case(self, parameters: Mapping[str, float], start: State | None = None, tend: float | None = None) -> Case:
        """The mechanism with other parameters, at its own start or at a given consistent state; `tend` is how far its
        tables are needed. Raises SpecError, AssemblyError."""
        ...
