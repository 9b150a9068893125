"""An initial-value problem: a mechanism with its equations, a start, and their structure, each found once when asked.

This is the one owner of the way from a file to a start; who needs only a part of it asks only for that part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property

from mechsim.frozen import frozen
from mechsim.initial import assemble, configurations
from mechsim.initial.parted import as_started
from mechsim.initial.start import Start
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.model.mechanism import Mechanism
from mechsim.spec.document import MechSpec, Problem
from mechsim.structure import Structure, analyse, with_gaps


@frozen(slots=False)
class InitialValueProblem:
    """The equations of a mechanism, and what is asked of its start."""

    system: System
    asked: Problem
    given: Start | None = None  # a start that is known already
    whole: InitialValueProblem | None = None  # the same before pins and rods were taken apart that events let go, ...
    twins: Mapping[str, str] = field(default_factory=dict)  # ... and the points of it whose twins some points are

    @classmethod
    def of(cls, spec: MechSpec) -> InitialValueProblem:
        """Build the mechanism of a file and give it equations. Raises SpecError."""
        system = System(build(spec))
        if spec.whole is None:
            return cls(system, spec.problem)
        asked = spec.problem
        problem = replace(spec.whole.problem, t0=asked.t0, tend=asked.tend, branch=asked.branch)
        return cls(system, asked, whole=cls.of(replace(spec.whole, problem=problem)), twins=spec.twins)

    @property
    def mechanism(self) -> Mechanism:
        return self.system.mechanism

    @cached_property
    def start(self) -> Start:
        """Consistent positions and velocities. Raises AssemblyError."""
        if self.given or self.whole is None:
            return self.given or assemble(self.mechanism, self.system, self.asked)
        first = self.whole.start
        start = assemble(self.mechanism, self.system, as_started(first, self.whole.mechanism, self.asked, self.twins))
        return replace(start, rows=first.rows, notes=first.notes)

    def starts(self, told: Callable[[int, int], None]) -> list[Start]:
        """The different ways the mechanism closes; `told` hears how many were found in how many trials."""
        return configurations(self.mechanism, self.system, self.asked, told=told)

    @cached_property
    def structure(self) -> Structure:
        """Offsets, index and freedom, constraints that the start shows to be redundant left out."""
        return with_gaps(analyse(self.system.bilateral, self.start.redundancy), self.system)
