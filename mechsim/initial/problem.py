"""An initial-value problem: a mechanism with its equations, a start, and their structure, each found once when asked.

This is the one owner of the way from a file to a start; who needs only a part of it asks only for that part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from mechsim.initial import assemble, configurations
from mechsim.initial.start import Start
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.model.mechanism import Mechanism
from mechsim.spec.document import MechSpec, Problem
from mechsim.structure import Structure, analyse, with_gaps


@dataclass(frozen=True)
class InitialValueProblem:
    """The equations of a mechanism, and what is asked of its start."""

    system: System
    asked: Problem
    given: Start | None = None  # a start that is known already

    @classmethod
    def of(cls, spec: MechSpec) -> InitialValueProblem:
        """Build the mechanism of a file and give it equations. Raises SpecError."""
        return cls(System(build(spec)), spec.problem)

    @property
    def mechanism(self) -> Mechanism:
        return self.system.mechanism

    @cached_property
    def start(self) -> Start:
        """Consistent positions and velocities. Raises AssemblyError."""
        return self.given or assemble(self.mechanism, self.system, self.asked)

    def starts(self, told: Callable[[int, int], None]) -> list[Start]:
        """The different ways the mechanism closes; `told` hears how many were found in how many trials."""
        return configurations(self.mechanism, self.system, self.asked, told=told)

    @cached_property
    def structure(self) -> Structure:
        """Offsets, index and freedom, constraints that the start shows to be redundant left out."""
        return with_gaps(analyse(self.system.bilateral, self.start.redundancy), self.system)
