"""Where something that rolls is rolled to.

What rolls can be put anywhere, but only rolled along the ways that its constraints of velocities leave. From a start it
comes to poses that straight steps would miss. So steps follow the geometry's own geodesics (see `unforced`), which the
engine integrates to all digits.
"""

from __future__ import annotations

import numpy as np

from mechsim.analysis.unforced import unforced
from mechsim.engine import State, integrate, new_march, order_for
from mechsim.engine.leading import planned
from mechsim.errors import AssemblyError, Fault
from mechsim.kernel.system import System
from mechsim.result.layout import Array
from mechsim.structure import analyse, redundancy

TOLERANCE = 1e-13


class Ways:
    """Geodesics of the constraints of a system as they are at a time, near a consistent pose."""

    def __init__(self, system: System, t: float, q: Array):
        bare = unforced(system, t)
        self._system = bare.without(redundancy(bare, t, q).rows)
        self._structure = analyse(self._system)
        plan = planned(self._system, self._structure)
        self._ready = plan, new_march(plan, order_for(TOLERANCE, plan), TOLERANCE)

    def end(self, t: float, q: Array, change: Array) -> Array:
        """Where a way ends that begins by a change of positions, and is as long. Raises AssemblyError."""
        start = State(t, q, change)
        solution = integrate(
            self._system, self._structure, start, tend=t + 1, tolerance=TOLERANCE, keep="outline", ready=self._ready
        )
        if solution.status == "interrupted":
            raise KeyboardInterrupt
        if solution.status != "finished":
            raise AssemblyError(Fault("it cannot be rolled on from a pose that was tried"))
        return np.asarray(solution.q[-1])
