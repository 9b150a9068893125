"""The certificate: what a run can say about its own errors (DESIGN section 6).

All figures are relative, so that millimetres and metres give the same ones:

- energy: the drift of T + V - W over the largest of |T|, |V|, |W|, where W is the sum of all accounts: the work of
  forces and drives, and what dampers took. Where a Lagrangian is not natural, H stands for T + V;
- positions: a constraint's residual divided by the norm of its gradient is a distance; columns of the gradient
  are scaled by the size of their coordinate, which makes it a distance over the size of the mechanism;
- velocities: the same for the constraint's time derivative, over the peak speed;
- at rest: speeds and energies that are nothing but rounding are no measure. Roundings of positions, over the run and by
  what pulls at them, must stay below what is doubtful, so the measure is at least as large as that needs;
- reactions, where rows have them: for every part the sum of all forces and moments less mass times acceleration, over
  the largest force on the part (see balance.py);
- overlap, where there are contacts: how far one was entered, over its size, by bounds of the gaps' own polynomials
  along all steps (kernel/src/roots.hpp) and by their values at events.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from typing import TYPE_CHECKING

import numpy as np

from mechsim.engine.events import Events
from mechsim.engine.points import Points
from mechsim.frozen import frozen
from mechsim.kernel.system import System
from mechsim.result.layout import Array, wide_rows

if TYPE_CHECKING:
    from mechsim.result.derived import Derived

# Gradients change little within a batch of rows, and one is dear: this many per batch are enough.
GRADIENT_ROWS = 4

# Errors of steps add up, each some hundredths of the tolerance of the largest term: together they came to at most 0.004
# times tolerance and steps in all examples, at tolerances from 1e-4 to 1e-12. More than the product has another cause.
DOUBTFUL_STEP = 1.0
DOUBTFUL_OVERLAP = 100.0  # tolerances
DOUBTFUL_DRIFT = 1e-10  # roundings stay far below
LARGEST_DRIFT = 1e-2  # nobody wants to lose more, however loose the tolerance
DOUBTFUL_BALANCE = 1e-7  # roundings near singular poses come to 1e-10
ROUNDING = 1e-15  # of positions, over their size
DOUBTFUL_RESIDUAL = 1e-9  # a mechanism a million times its size away from the origin comes to 1e-10


@frozen
class Certificate:
    """How well the written rows obey what is known to hold exactly, and what the run cost."""

    energy_drift: float
    largest_energy: float  # joule
    position_residual: float
    velocity_residual: float
    peak_speed: float  # metre per second
    size: float  # metre
    rows_watched: int
    steps: int
    rejected: int
    order: int
    tolerance: float
    seconds: float  # of the integration alone
    reaction_balance: float | None = None  # None: no row has reactions
    rows_without_forces: int | None = None  # rows in which forces are not determined
    least_energy: float = 0.0  # joule: drifts are compared with this where the largest is below it
    least_speed: float = 0.0  # metre per second: so are rates
    deepest_overlap: float | None = None  # of contacts, over the size of each gap; None: there are none
    events: int | None = None

    def as_dict(self) -> dict[str, float]:
        """The figures that are known."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def drifts_strangely(self) -> bool:
        """Whether energy drifted by more than the tolerance explains."""
        return self.energy_drift > max(DOUBTFUL_DRIFT, DOUBTFUL_STEP * self.tolerance * self.steps)

    def doubts(self) -> tuple[str, ...]:
        """What a person should be told before they trust the motion; usually nothing."""
        found = []
        figures = (self.largest_energy, self.energy_drift, self.position_residual, self.velocity_residual)
        if not all(map(math.isfinite, (*figures, self.peak_speed, self.reaction_balance or 0.0))):
            found.append("values left the range of numbers: do not trust this motion")
        if self.drifts_strangely:
            found.append(
                f"energy drifted by {self.energy_drift:.1e} of its largest term, more than a tolerance of "
                f"{self.tolerance:g} explains: the motion may have passed a place where a force is not smooth"
            )
        elif self.energy_drift > LARGEST_DRIFT:
            found.append(
                f"energy drifted by {self.energy_drift:.2g} of its largest term: a tolerance of {self.tolerance:g} is "
                "too loose for this motion"
            )
        if self.rows_without_forces:
            rows = "1 row is" if self.rows_without_forces == 1 else f"{self.rows_without_forces} rows are"
            found.append(f"{rows} at a change point, where the equations do not tell forces: these are nan there")
        if (self.reaction_balance or 0.0) > DOUBTFUL_BALANCE:
            found.append(f"reactions balance only to {self.reaction_balance:.1e}: do not trust them")
        if (self.deepest_overlap or 0.0) > max(DOUBTFUL_RESIDUAL, DOUBTFUL_OVERLAP * self.tolerance):
            found.append(f"a contact was entered by {self.deepest_overlap:.1e} of the size: do not trust this motion")
        if max(self.position_residual, self.velocity_residual) > DOUBTFUL_RESIDUAL:
            found.append("constraints are not met as they should be: do not trust this motion")
        return tuple(found)

    @staticmethod
    def from_dict(values: Mapping[str, float]) -> Certificate:
        """From a file; figures that its version of mechsim did not know are NaN, others are left aside."""
        known = {each.name: math.nan if each.default is MISSING else each.default for each in fields(Certificate)}
        figures = {name: values.get(name, unknown) for name, unknown in known.items()}
        return Certificate(**figures)  # type: ignore[arg-type]  # `soundness.check` looks at what they are


class Monitor:
    """Watches rows as they come and remembers the worst. Rows may come in any number of batches.

    `system` has all constraints, those that the engine left out as redundant too: they must hold as well.
    """

    def __init__(self, system: System):
        self.system = system
        mechanism = system.mechanism
        self.size = float(mechanism.size)
        self.natural = not any(group.kind.lagrangian for group in system.groups)
        moving = [slots for slots in mechanism.points.values() if all(slot >= 0 for slot in slots)]
        # Their coordinates, points of equally many together: a user's Lagrangian may have points on a line.
        self.points = [np.array([s for s in moving if len(s) == size]) for size in sorted({len(s) for s in moving})]
        self.angles = [index for index, variable in enumerate(mechanism.variables) if variable.kind == "angle"]
        self.first_energy: float | None = None
        self.times: tuple[float, float] | None = None  # of the earliest row and the latest
        self.pull = 0.0  # joule: all that pulls at coordinates, each along its scale
        self.largest_drift = self.largest_energy = self.peak_speed = 0.0
        self.position_residual = self.velocity_residual = 0.0
        self.rows = 0

    def observe(self, points: Points) -> Array:
        """Account for these points; return them as wide rows, with their energies."""
        system = points.system
        kinetic, potential = (np.asarray(energy, float) for energy in system.energies(*points.state))
        if len(points):
            self._watch_time(points)
            total = kinetic + potential if self.natural else np.asarray(system.hamiltonian(*points.state), float)
            self._watch_energy(total, kinetic, potential, points.q[:, system.accounts].sum(axis=1))
            self._watch_constraints(points)
            self._watch_speed(points.v)
            self.rows += len(points)
        return wide_rows(*points.state, kinetic, potential)

    def _watch_time(self, points: Points) -> None:
        """When rows are, and at the first one what pulls."""
        if self.times is None:
            system, moving = points.system_at(0), [each.kind != "state" for each in self.system.mechanism.variables]
            t, q, v = (column[0] for column in points.state)
            forces = system.residuals(t, q, v, np.zeros(system.n), np.zeros(system.m))[: system.n]
            pulls = np.abs(forces * system.scales[: system.n])[moving]
            self.pull = float(pulls[np.isfinite(pulls)].sum())
        times = [*(self.times or ()), *points.t[[0, -1]].tolist()]
        self.times = min(times), max(times)

    @property
    def least_energy(self) -> float:
        """An energy beside which what rounding of positions does is no doubt."""
        return ROUNDING / DOUBTFUL_DRIFT * self.pull

    @property
    def least_speed(self) -> float:
        """A speed beside which rates that move nothing by more than a rounding within the run are no doubt."""
        first, last = self.times or (0.0, 0.0)
        return ROUNDING / DOUBTFUL_RESIDUAL * self.size / (last - first) if last > first else 0.0

    def _watch_energy(self, energy: Array, kinetic: Array, potential: Array, work: Array) -> None:
        total = energy - work
        if self.first_energy is None:
            self.first_energy = float(total[0])
        self.largest_drift = worse(self.largest_drift, total - self.first_energy)
        self.largest_energy = worse(self.largest_energy, kinetic, potential, work)

    def _watch_speed(self, v: Array) -> None:
        speeds = [np.linalg.norm(v[:, slots], axis=-1) for slots in self.points]
        if not speeds:  # a system without points: its angles, as if at the end of an arm of the system's size
            speeds = [np.abs(v[:, self.angles]) * self.size]
        self.peak_speed = worse(self.peak_speed, *speeds)

    def _watch_constraints(self, points: Points) -> None:
        if not self.system.m:
            return
        residuals, rates = self.residuals(points)
        self.position_residual = worse(self.position_residual, residuals)
        self.velocity_residual = worse(self.velocity_residual, rates * self.system.constraint_sizes)

    def residuals(self, points: Points) -> tuple[Array, Array]:
        """By row and constraint, (k, m) each, how far positions and velocities miss it, over the size."""
        norms, system = self._gradient_norms(points), points.system
        residuals, rates = system.constraints(points.t, points.q), system.constraint_rate(*points.state)
        return np.abs(residuals) / norms, np.abs(rates) / norms

    def _gradient_norms(self, points: Points) -> Array:
        """Per constraint the smallest scaled gradient of some rows: distances come out too large, if anything."""
        norms = np.full(self.system.m, np.inf)
        for row in range(0, len(points), -(-len(points) // GRADIENT_ROWS)):
            lengths = points.system_at(row).gradient_lengths(*(column[row] for column in points.state))
            norms = np.minimum(norms, np.where(lengths > 0.0, lengths, np.inf))
        return np.where(np.isfinite(norms), norms, 1.0)

    def certificate(
        self,
        tolerance: float,
        statistics: Mapping[str, float],
        derived: Derived | None = None,
        events: Events | None = None,
    ) -> Certificate:
        """The figures over all rows seen, and of what was `derived` for them."""
        return Certificate(
            energy_drift=_relative(self.largest_drift, max(self.largest_energy, self.least_energy)),
            largest_energy=self.largest_energy,
            position_residual=self.position_residual,
            velocity_residual=_relative(self.velocity_residual, max(self.peak_speed, self.least_speed)),
            peak_speed=self.peak_speed,
            size=self.size,
            rows_watched=self.rows,
            steps=int(statistics.get("steps", 0)),
            rejected=int(statistics.get("rejected", 0)),
            order=int(statistics.get("order", 0)),
            tolerance=float(tolerance),
            seconds=float(statistics.get("seconds", 0.0)),
            reaction_balance=derived.imbalance if derived else None,
            rows_without_forces=(derived.gaps or None) if derived else None,
            least_energy=self.least_energy,
            least_speed=self.least_speed,
            deepest_overlap=_deepest(events),
            events=len(events) if events is not None and events.names else None,
        )


def _deepest(events: Events | None) -> float | None:
    """Of all gaps; None where there are none."""
    if events is None or events.bonds.issuperset(events.names[: len(events.overlaps)]):
        return None
    return float(-events.overlaps.min()) + 0.0


def worse(worst: float, *values: Array) -> float:
    """The largest size; what is no number is worst of all, and stays."""
    return float(np.max([worst, *(np.abs(each).max(initial=0.0) for each in values)]))


def _relative(value: float, reference: float) -> float:
    return value / reference if reference > 0.0 else value
