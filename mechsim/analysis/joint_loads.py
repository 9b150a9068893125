"""Forces and moments in the joints of a rest, or of a steady motion, as results of runs have them in columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.analysis.linear import Linearised
from mechsim.engine.events import as_switched
from mechsim.engine.points import Points
from mechsim.frozen import frozen
from mechsim.kernel.linear import dense
from mechsim.kernel.system import System
from mechsim.result import multipliers
from mechsim.result.bearings import bearings
from mechsim.result.layout import Array
from mechsim.result.reactions import Reactions
from mechsim.simulation import Prepared, leading

BALANCED = 1e-9  # of the largest force: what joints leave over is rounding, or no forces in them can hold it
ROUNDED = 1e-12  # of the largest of a unit: a load below this is rounding


@frozen(eq=False)
class JointLoads:
    """Columns in the world frame, as `mechsim run --reactions` writes them; those that are `shared` are not unique, for
    constraints that are redundant share them: the smallest are given."""

    labels: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    forces: dict[str, dict[str, list[float]]]  # on each part, at each point
    shared: tuple[str, ...]

    def shown(self, place: int) -> str:
        """A value with its unit; 0 where it is a rounding of others."""
        alike = [abs(value) for value, unit in zip(self.values, self.units, strict=True) if unit == self.units[place]]
        value = self.values[place] if abs(self.values[place]) > ROUNDED * max(alike) else 0.0
        return f"{value + 0.0:.8g} {self.units[place]}"


def points_of_joints(prepared: Prepared, asked: Sequence[str]) -> tuple[str, ...]:
    """Points whose forces are asked for; "all" means those of every joint. Raises SpecError."""
    return tuple(dict.fromkeys(each.point for each in bearings(prepared.mechanism, asked))) if asked else ()


def joint_loads(prepared: Prepared, linear: Linearised, points: Sequence[str], held: Array | None = None) -> JointLoads:
    """What joints at points bear in the state that was linearised; `held` are constants of the mechanism there, which
    say what it leans on."""
    if not points:
        return JointLoads((), (), np.zeros(0), {}, ())
    system = _system_at(prepared, linear, held)
    redundant = len(prepared.structure.redundancy.rows)
    state = linear.t, linear.positions, linear.velocities
    found = _bearing(prepared, system, linear)
    told = Reactions(system, points)
    kept = [place for place, label in enumerate(told.labels) if not label.endswith(("_Fu", "_Fv"))]
    values = told.table(system, *(np.asarray(each)[None] for each in (*state, *found)))[0]
    freedom = multipliers.freedom(system, redundant, *state)
    open_ones = told.undetermined(*state, freedom, whole=True) if redundant else set()
    forces = {point: _forces(system, point, state, found) for point in points}
    labels = tuple(told.labels[place] for place in kept)
    shared = tuple(label for label in labels if label in open_ones)
    return JointLoads(labels, tuple(told.units[place] for place in kept), values[kept], forces, shared)


def reactions_at(
    prepared: Prepared, linear: Linearised, point: str, held: Array | None = None
) -> dict[str, list[float]]:
    """The force on each part at a point."""
    system = _system_at(prepared, linear, held)
    state = linear.t, linear.positions, linear.velocities
    return _forces(system, point, state, _bearing(prepared, system, linear))


State = tuple[float, Array, Array]


def _forces(system: System, point: str, state: State, found: tuple[Array, Array]) -> dict[str, list[float]]:
    return {part: force.tolist() for part, force in Reactions(system, [point]).forces(*state, *found).items()}


def _bearing(prepared: Prepared, system: System, linear: Linearised) -> tuple[Array, Array]:
    """Accelerations, and the multipliers of all constraints: of redundant ones the smallest."""
    points = Points(system, np.array([linear.t]), linear.positions[None], linear.velocities[None])
    accelerations, found = leading(prepared)(points)
    if linear.rest and not np.isfinite(found).all():  # near a change point roundings of what rests look like motion
        accelerations, found = np.zeros((1, system.n)), _statics(system, linear)[None]
    full = multipliers.smallest(len(prepared.structure.redundancy.rows), points, accelerations, found)
    return accelerations[0], full[0]


def _statics(system: System, linear: Linearised) -> Array:
    """Multipliers that balance all forces where nothing moves; NaN where none do, as at a pose in which a joint would
    have to be infinitely strong. Rows are linear in them."""
    n, m = system.n, system.m
    state = linear.t, linear.positions, np.zeros(n), np.zeros(n)
    pushed = np.asarray(system.residuals(*state, np.zeros(m)))[:n]
    jacobian = dense(system.rate_jacobian(linear.t, linear.positions, np.zeros(n)), m, n)
    switched = [*zip(system.gap_rows, system.gap_modes, strict=True)]
    switched += [*zip(system.friction_rows, system.friction_modes, strict=True)]
    open_ones = [row for row, mode in switched if not system.constants[mode]]
    columns = np.stack([system.residuals(*state, unit)[:n] - pushed for unit in np.eye(m)], axis=1).reshape(n, m)
    columns[:, open_ones] = 0.0
    lengths = np.maximum(np.linalg.norm(jacobian * system.scales[:n], axis=1), 1e-300)
    scales = system.scales[:n, None].copy()  # so that rows are energies
    scales[system.accounts] = 0.0
    found = np.linalg.lstsq(scales * columns / lengths, -scales[:, 0] * pushed, rcond=ROUNDED)[0] / lengths
    left = scales[:, 0] * (pushed + columns @ found)
    largest = max(np.abs(scales[:, 0] * pushed).max(initial=0.0), np.abs(scales * columns * found).max(initial=0.0))
    return np.asarray(found if np.abs(left).max(initial=0.0) <= BALANCED * largest else np.full(m, np.nan))


def _system_at(prepared: Prepared, linear: Linearised, held: Array | None) -> System:
    """With contacts that are closed there, and switches as they are."""
    system = prepared.system if held is None else prepared.system.holding(held)
    return as_switched(system, linear.t, linear.positions, linear.velocities)
