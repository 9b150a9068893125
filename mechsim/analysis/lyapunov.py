"""Lyapunov exponents: how fast motions that begin beside each other part, in each direction that constraints allow.

Tangents go along with the motion in the kernel (engine/tangents.py). They are begun in directions of no special kind,
and made orthonormal again and again; the logarithms of the lengths that are divided out add up to exponents times time
(Benettin, Galgani, Giorgilli and Strelcyn 1980; seed 000, eq. 75 to 81, has the same in continuous form). Exponents do
not depend on the inner product, but errors of short runs do: positions and velocities count in scales of the system,
and in the time that tangents themselves take to turn one into the other.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from mechsim.analysis.exponents import Exponents
from mechsim.engine import MESSAGES, InitialState, state_of
from mechsim.engine.control import order_with_tangents
from mechsim.engine.leading import planned
from mechsim.engine.machine import new_march
from mechsim.engine.stops import Stops
from mechsim.engine.tangents import Directions, refuse
from mechsim.errors import Fault, IntegrationError, SpecError
from mechsim.kernel.compiled import Status
from mechsim.kernel.march import March
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System
from mechsim.structure import Structure

# Chaotic motions forget their errors, and exponents are averages: a tighter tolerance gives the same digits later.
TOLERANCE = 1e-9
LAPS = 512  # equal parts of the time that is averaged over; blocks of them give the error bars
# Within a stretch lengths of tangents come apart by a factor of about 1e3: the shortest is then known to 1e3
# tolerances, which its logarithm does not feel.
APART = math.log(1e3)
MOST_STEPS = 64  # of a stretch: orthonormal directions cost nothing beside so many
FIRST_STEPS = 4
PILOT = 64  # steps that tell how fast tangents turn positions into velocities
SECONDS = 0.1  # until Ctrl-C is heard
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
    plan = planned(system, structure)
    _refuse(system, plan, start)
    run = _Run(system, plan, start, order or order_with_tangents(tolerance), tolerance, tend)
    if not run.dimension:
        raise SpecError(Fault("there are no exponents: joints and drives decide all, nothing may begin beside this"))
    if n is not None and not 1 <= n <= run.dimension:
        raise SpecError(Fault(f"there are {run.dimension} exponents, not {n}", hint=f"n is from 1 to {run.dimension}"))
    run.begin(n or run.dimension)
    return run.averaged(start.t + transient, observer or (lambda t: None))


def _refuse(system: System, plan: Plan, start: InitialState) -> None:
    """Raise for motions whose exponents are not known."""
    marks = [each.mark for each in system.gaps] + [each.mark for each in system.frictions]
    marks += [each.mark for each in system.events]
    if marks:
        message = "Lyapunov exponents are known for smooth motions only, and this one has contacts, events or switches"
        hint = "a spring that pushes back, or tanh instead of sign, is smooth"
        raise IntegrationError(Fault(message, marks[0], hint))
    if system.samplers:
        message = "Lyapunov exponents are not known where a controller is sampled: what it holds is a state too"
        raise IntegrationError(Fault(message, hint="let it act at all times"))
    refuse(plan, start)


class _Run:
    """A march with tangents, and the inner product in which these are orthonormal."""

    def __init__(self, system: System, plan: Plan, start: InitialState, order: int, tolerance: float, tend: float):
        self.system, self.plan, self.start, self.tend = system, plan, start, tend
        self.march: March = new_march(plan, order, tolerance)
        self.stops = Stops(system, start, tend, remember=False)
        self.stops.begin(self.march)
        self.state = state_of(system, plan.variable_offsets, start)
        # Derivatives that are part of the state; accounts of work are none, for nothing depends on them.
        offsets = plan.variable_offsets[: system.n].copy()
        offsets[system.accounts] = 0
        self.weights = np.zeros(self.state.shape)
        self.weights[:, : system.n] = (np.arange(len(self.state))[:, None] < offsets) / system.scales[: system.n]
        self.basis = Directions.basis(system, start.t, start.positions, start.velocities)
        self.dimension = self._dimension()
        self.conservative = not len(system.accounts) and bool(np.all(system.levels == 2))
        self.steps = FIRST_STEPS

    def _dimension(self) -> int:
        """Of the states that the constraints allow."""
        if not self.basis.count:
            return 0
        self._set(self.basis)
        changes = self._lengthless(self.march.tangent_coefficients(False)[: len(self.state)])
        return int(np.linalg.matrix_rank(changes, SAME)) if changes.size else 0

    def _lengthless(self, changes: np.ndarray) -> np.ndarray:
        """Changes of the state in the inner product, each of length one; those of accounts alone are left out."""
        rows = (changes * self.weights[:, :, None])[self.weights > 0]
        sizes = np.linalg.norm(rows, axis=0)
        return np.asarray(rows[:, sizes > 0] / sizes[sizes > 0])

    def begin(self, count: int) -> None:
        """Set out in so many directions, after a look at how they go on."""
        mixed = np.random.default_rng(SEED).standard_normal((self.basis.count, count))
        levels = (changes @ mixed for changes in (self.basis.positions, self.basis.velocities))
        directions = Directions.of_state(self.system, [str(number) for number in range(count)], *levels)
        self._set(directions)
        self.march.advance(self.stops.next, PILOT, SECONDS, False)
        self.weights[1:] *= self._turning_time(self.march.take_tangents()[0])
        self._set(directions)
        self.march.orthonormalise_tangents(self.weights)
        self.total = np.zeros(count)

    def _set(self, directions: Directions) -> None:
        """The march at its start, with directions as the constraints allow them."""
        self.march.set_state(self.start.t, self.state)
        directions.begin(self.march, self.plan, False)
        self._check(self.march.advance(self.tend, 0, SECONDS, False)[0])

    def _turning_time(self, points: np.ndarray) -> float:
        """The mean ratio of positions' changes to velocities', at (points, 2, unknowns, directions)."""
        if len(self.weights) < 2:
            return 1.0
        lengths = np.linalg.norm(points * self.weights[:, :, None], axis=2)
        seen = lengths[np.all(lengths > 0, axis=(1, 2))]
        return float(np.exp(np.mean(np.log(seen[:, 0] / seen[:, 1])))) if len(seen) else 1.0

    def averaged(self, begun: float, observer: Observer) -> Exponents:
        """Exponents from a time on; what comes before turns directions to where they belong."""
        times = np.linspace(begun, self.tend, LAPS + 1)
        totals = np.zeros((LAPS + 1, len(self.total)))
        known, status, clock = -1, "finished", time.perf_counter()
        try:
            for lap, end in enumerate(times):
                self._follow(float(end), observer)
                totals[lap] = self.total
                known = lap
        except KeyboardInterrupt:
            if known < 1:
                raise
            status = "interrupted"
        done = slice(known + 1)
        statistics = {**self.march.statistics, "seconds": time.perf_counter() - clock}
        return Exponents.of(
            times[done],
            totals[done] - totals[0],
            dimension=self.dimension,
            conservative=self.conservative,
            status=status,
            statistics=statistics,
        )

    def _follow(self, end: float, observer: Observer) -> None:
        """March to a time, and add up logarithms of lengths on the way."""
        while self.march.time < end:
            goal = min(end, self.stops.next)
            status, _, x, v, *_ = self.march.advance(goal, self.steps, SECONDS, False)
            self._check(status)
            lengths = self.march.orthonormalise_tangents(self.weights)
            self.total += lengths
            if not np.isfinite(self.total).all():
                self._check(Status.NOT_DIFFERENTIABLE)
            if status == Status.RUNNING:
                self._pace(float(np.ptp([0.0, *lengths])))
            if self.march.time == self.stops.next < self.tend:
                n = self.system.n
                self.stops.reached(self.march, self.march.time, x[-1, :n], v[-1, :n])
            observer(self.march.time)

    def _pace(self, apart: float) -> None:
        """Stretches as long as tangents need to come APART, by how far they did; no more than twice the last."""
        longer = APART / max(apart, 0.5 * APART)
        self.steps = max(1, min(MOST_STEPS, round(self.steps * longer)))

    def _check(self, status: int) -> None:
        if status not in (Status.REACHED, Status.RUNNING):
            reason = MESSAGES.get(Status(status), Status(status).name.lower())
            raise IntegrationError(Fault(f"the integration stopped: {reason}, at t = {self.march.time:.9g}"))
