"""Lyapunov exponents: how fast motions that begin beside each other part, in each direction that constraints allow.

Tangents go along with the motion in the kernel (engine/tangents.py). They are begun in directions of no special kind,
and made orthonormal again and again; the logarithms of the lengths that are divided out add up to exponents times time
(Benettin, Galgani, Giorgilli and Strelcyn 1980; seed 000, eq. 75 to 81, has the same in continuous form). Exponents do
not depend on the inner product, but errors of short runs do: positions and velocities count in scales of the system,
and in the time that tangents themselves take to turn one into the other. Where contacts are met tangents jump (seed
003, eq. 6; kernel/src/jump.cpp); one that lasts, and what sticks, takes directions away: their exponents are minus
infinity.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import cached_property
from numbers import Integral

import numpy as np

from mechsim.analysis.course import Course
from mechsim.analysis.divergence import Volumes
from mechsim.analysis.exponents import Exponents
from mechsim.engine import InitialState
from mechsim.engine.control import order_with_tangents
from mechsim.engine.leading import planned
from mechsim.engine.state import unaccounted
from mechsim.engine.tangents import Directions, refuse
from mechsim.errors import Fault, IntegrationError, SpecError
from mechsim.kernel.system import System
from mechsim.structure import Structure

# Chaotic motions forget their errors, and exponents are averages: a tighter tolerance gives the same digits later.
TOLERANCE = 1e-9
LAPS = 512  # equal parts of the time that is averaged over; blocks of them give the error bars
# Within a stretch lengths of tangents come apart by a factor of about 1e3: the shortest is then known to 1e3
# tolerances, which its logarithm does not feel.
APART = math.log(1e3)
# Where a motion lingers beside an unstable one they come apart faster: no more than this, as far as was ever seen.
MOST_APART = math.log(1e7)
MOST_STEPS = 64  # of a stretch: orthonormal directions cost nothing beside so many
FIRST_STEPS = 4
PILOT = 64  # steps that tell how fast tangents turn positions into velocities
SAME = 1e-9  # directions that differ by less are one
SEED = 1  # of the directions: any will do, but a run is to be the same again

Observer = Callable[[float], None]


def lyapunov(
    system: System,
    structure: Structure,
    start: InitialState,
    *,
    tend: float,
    n: int | None = None,
    transient: float = 0.0,
    tolerance: float = TOLERANCE,
    order: int | None = None,
    observer: Observer | None = None,
) -> Exponents:
    """The first `n` exponents of the motion from a consistent start, or all, as averages from `transient` after the
    start to `tend`. Raises SpecError and IntegrationError. Ctrl-C ends the average early, and its status says so."""
    if not (transient >= 0 and tend > start.t + transient):
        message = f"tend = {tend:g} is not after t = {start.t + transient:g}, where the transient of {transient:g} ends"
        raise SpecError(Fault(message, hint="exponents are averages from there to tend: 0 <= transient < tend - t0"))
    _refuse_samplers(system)
    run = _Run(system, structure, start, order or order_with_tangents(tolerance), tolerance, tend)
    if not run.dimension:
        raise SpecError(Fault("there are no exponents: joints and drives decide all, nothing may begin beside this"))
    if n is not None and not (isinstance(n, Integral) and 1 <= n <= run.dimension):
        raise SpecError(Fault(f"there are {run.dimension} exponents, not {n}", hint=f"n is from 1 to {run.dimension}"))
    run.begin(n or run.dimension)
    return run.averaged(start.t + transient, observer or (lambda t: None))


def _refuse_samplers(system: System) -> None:
    if system.samplers:
        message = "Lyapunov exponents are not known where a controller is sampled: what it holds is a state too"
        raise IntegrationError(Fault(message, hint="let it act at all times"))


class _Run:
    """Tangents along a motion, and the inner product in which they are orthonormal."""

    def __init__(
        self, whole: System, structure: Structure, start: InitialState, order: int, tolerance: float, tend: float
    ):
        self.conservative = whole.is_conservative
        system, structure, start = unaccounted(whole, structure, start)
        plan = planned(system, structure)
        refuse(plan, start)
        self.system, self.plan, self.start = system, plan, start
        self.settings = order, tolerance, tend
        # Derivatives that are part of the state; accounts of contacts are none, for nothing depends on them.
        offsets = plan.variable_offsets[: system.n].copy()
        offsets[system.accounts] = 0
        self.weights = np.zeros((int(plan.variable_offsets.max()), plan.size))
        self.weights[:, : system.n] = (np.arange(len(self.weights))[:, None] < offsets) / system.scales[: system.n]
        self.basis = Directions.basis(system, start.t, start.positions, start.velocities)
        self.steps, self.fastest = FIRST_STEPS, 0.0
        self.volumes = Volumes(system, LAPS)

    @cached_property
    def dimension(self) -> int:
        """Of the states that the constraints allow: contacts that last take some of it, and give none back."""
        n, orders = self.system.n, len(self.weights)
        levels = np.stack([self.basis.positions, self.basis.velocities][:orders])
        rows = (levels * self.weights[:, :n, None])[self.weights[:, :n] > 0]
        sizes = np.linalg.norm(rows, axis=0)
        return int(np.linalg.matrix_rank(rows[:, sizes > 0] / sizes[sizes > 0], SAME)) if np.any(sizes > 0) else 0

    def begin(self, count: int) -> None:
        """Set out in so many directions, after a look at how they go on."""
        mixed = np.random.default_rng(SEED).standard_normal((self.basis.count, count))
        levels = (changes @ mixed for changes in (self.basis.positions, self.basis.velocities))
        directions = Directions.of_state(self.system, [str(number) for number in range(count)], *levels)
        pilot = self._course(directions)
        pilot.advance(self.settings[2], PILOT)
        self.weights[1:] *= self._turning_time(pilot.march.take_tangents()[0])
        self.course = self._course(directions)
        self.course.orthonormalise(self.weights)
        self.total = np.zeros(count)

    def _course(self, directions: Directions) -> Course:
        """The march at its start, with directions as the constraints allow them."""
        return Course(self.system, self.plan, self.start, directions, *self.settings)

    def _turning_time(self, points: np.ndarray) -> float:
        """The mean ratio of positions' changes to velocities', at (points, 2, unknowns, directions)."""
        if len(self.weights) < 2:
            return 1.0
        lengths = np.linalg.norm(points * self.weights[:, :, None], axis=2)
        seen = lengths[np.all(lengths > 0, axis=(1, 2))]
        return float(np.exp(np.mean(np.log(seen[:, 0] / seen[:, 1])))) if len(seen) else 1.0

    def averaged(self, begun: float, observer: Observer) -> Exponents:
        """Exponents from a time on; what comes before turns directions to where they belong."""
        times = np.linspace(begun, self.settings[2], LAPS + 1)
        totals = np.zeros((LAPS + 1, len(self.total)))
        known, status, clock = -1, "finished", time.perf_counter()
        try:
            for lap, end in enumerate(times):
                if lap and len(self.total) == self.dimension and self.volumes.wants(lap):
                    self._follow(float(end - self.volumes.before(lap) * (end - times[lap - 1])), observer)
                    self.volumes.look(*self.course.state, self.course.stops.constants)
                self._follow(float(end), observer)
                totals[lap] = self.total
                known = lap
        except KeyboardInterrupt:
            if known < 1:
                raise
            status = "interrupted"
        done = slice(known + 1)
        statistics = {**self.course.march.statistics, "seconds": time.perf_counter() - clock}
        return Exponents.of(
            times[done],
            totals[done],
            dimension=self.dimension,
            conservative=self.conservative,
            status=status,
            statistics=statistics,
            divergence=self.volumes.mean,
        )

    def _follow(self, end: float, observer: Observer) -> None:
        """March to a time, and add up logarithms of lengths on the way."""
        march = self.course.march
        while march.time < end:
            whole = self.course.advance(end, self.steps)
            lengths = self.course.orthonormalise(self.weights)
            self.total += lengths
            if np.isnan(self.total).any():
                raise IntegrationError(Fault(f"the motion cannot be differentiated at t = {march.time:.9g}"))
            if whole:
                self._pace(float(np.ptp([0.0, *lengths[np.isfinite(lengths)]])))
            observer(march.time)

    def _pace(self, apart: float) -> None:
        """Stretches as long as tangents need to come APART, by how far they did; no more than twice the last, nor so
        long that as fast as ever they would come apart too far."""
        self.fastest = max(self.fastest, apart / self.steps)
        longest = min(MOST_STEPS, MOST_APART / self.fastest) if self.fastest > 0 else MOST_STEPS
        self.steps = max(1, round(min(longest, self.steps * APART / max(apart, 0.5 * APART))))
