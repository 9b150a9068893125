"""The divergence of a flow: how fast volumes of states grow, in coordinates and momenta.

What a potential and inertia do keeps such volumes (Liouville). Forces Q that depend on velocities make them shrink or
grow by the trace of M^-1 dQ/dv along what constraints allow; states of controllers by that of their own rates. The mean
along a motion is the sum of its Lyapunov exponents, whichever volumes these are measured by.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechsim.derive.told import forced
from mechsim.engine.events import as_switched
from mechsim.engine.tangents import DEPENDENT
from mechsim.kernel.changes import NumberChanges, changes_of, gathered
from mechsim.kernel.linear import allowed_motions, dense
from mechsim.kernel.system import Group, System
from mechsim.lagrangian.kind import Kind
from mechsim.model.mechanism import Watched
from mechsim.result.layout import Array

LOOKS, FEW = 256, 6  # states that a mean is taken of, and fewer where all are the same
CONSTANT = 1e-11
GOLDEN = 0.6180339887498949  # parts of it are spread evenly, and in step with no motion


class Volumes:
    """The mean divergence along a motion, by one state in each of some laps; by few where it is the same at all."""

    def __init__(self, system: System, laps: int):
        self._divergence = Divergence(system)
        self._every = max(1, laps // LOOKS)
        self._seen: list[float] = []

    def wants(self, lap: int) -> bool:
        """Whether a state of this lap counts."""
        settled = self._is_constant or not self._divergence.known or self._divergence.is_zero
        return not settled and lap % self._every == 0

    def before(self, lap: int) -> float:
        """How long before the end of a lap, in laps: states that are equally spaced might be in step with a drive."""
        return (lap * GOLDEN) % 1.0

    def look(self, t: float, q: Array, v: Array, constants: Array) -> None:
        """At a state, with the constants of the mechanism as they are there."""
        self._seen.append(self._divergence.at(t, q, v, constants))

    @property
    def _is_constant(self) -> bool:
        return len(self._seen) >= FEW and bool(np.ptp(self._seen) <= CONSTANT * np.abs(self._seen).max())

    @property
    def mean(self) -> tuple[float, float] | None:
        """With its standard error; None where it is not known."""
        if self._divergence.is_zero:
            return 0.0, 0.0
        if not self._seen:
            return None
        error = 0.0 if self._is_constant else float(np.std(self._seen) / np.sqrt(len(self._seen)))
        return float(np.mean(self._seen)), error


class Divergence:
    """Of a system without contacts and without constraints of velocities; `known` says whether it is one of these.

    Where a switch changes forces, volumes go on as they are if what it watches has no speeds in it: a jump of forces
    changes velocities along that only."""

    def __init__(self, system: System):
        smooth = not (system.gaps or system.frictions)
        smooth = smooth and all(event.switch and not _watches_speeds(system, event) for event in system.events)
        self.known = bool(smooth and (system.levels == 2).all() and not any(_is_reactive(g) for g in system.groups))
        self.system = _telling(system) if self.known else system
        self._forces = tuple(group for group in self.system.groups if group.kind.signals and _has_forces(group.kind))
        self._laws = tuple(group for group in self.system.groups if not group.kind.lagrangian and _depends(group))
        kinds = [variable.kind for variable in system.mechanism.variables]
        accounts = set(system.accounts.tolist())
        self._still = [k for k, kind in enumerate(kinds) if kind == "state"]
        self._states = [k for k in self._still if k not in accounts]
        self.is_zero = self.known and not self._forces and not self._laws

    def at(self, t: float, q: Array, v: Array, constants: Array) -> float:
        """1/s."""
        system, n = as_switched(self.system.holding(constants), t, q, v), self.system.n
        scales = system.scales[:n].copy()
        scales[self._still] = 1.0
        jacobian = np.concatenate([dense(system.rate_jacobian(t, q, v), system.m, n) * scales, np.eye(n)[self._still]])
        basis = scales[:, None] * allowed_motions(jacobian, DEPENDENT)
        own = np.eye(n)[:, self._states]
        moved = np.concatenate([np.zeros((n, basis.shape[1])), own], axis=1), np.column_stack([basis, 0 * own])
        changes = self._changes(system, (t, q, v), moved)
        count = basis.shape[1]
        mass = basis.T @ np.asarray(system.mass_matrix(t, q, v)) @ basis
        turned = np.linalg.solve(mass, basis.T @ changes[:, :count]) if count else np.zeros((0, 0))
        return float(np.trace(turned) + np.trace(changes[self._states][:, count:]))

    def _changes(self, system: System, point: tuple[float, Array, Array], moved: tuple[Array, Array]) -> Array:
        """How forces, and rates of states, change along directions, (n, directions)."""
        n, count = system.n, moved[0].shape[1]
        none = NumberChanges.none(system, count)
        total = np.zeros((n, count))
        for names, sign, groups in ((("row",), -1.0, self._laws), (("signal",), 1.0, self._forces)):
            if groups:
                found = changes_of(system, names, point, moved, none, groups)
                total += sign * gathered(found, lambda group, key: group.row(key[1], n), n, count)
        return total


def _watches_speeds(system: System, event: Watched) -> bool:
    group = next(group for group in system.groups if event.element in group.elements)
    watched = next(output for output in group.program.outputs if output.key == ("signal", 0))
    return any(source.kind == "variable" and source.order > 0 for source in group.program.depends_on(watched))


def _has_forces(kind: Kind) -> bool:
    return bool(kind.force or kind.dissipation)


def _is_reactive(group: Group) -> bool:
    """Whether forces depend on what constraints exert, or a row has both."""
    both = group.kind.multiplier_count and _has_forces(group.kind) and not group.kind.lagrangian
    return bool(group.kind.reactive or group.kind.observed_count or both)


def _depends(group: Group) -> bool:
    """Whether rows without constraints depend on velocities, or have states of their own."""
    kind = group.kind
    if kind.kinetic or kind.multiplier_count:
        return False
    return bool(_has_forces(kind) or kind.state_count)


def _telling(system: System) -> System:
    """With the forces of a user's Lagrangian as signals."""
    kinds = {name: forced(kind) for name, kind in system.kinds.items() if kind.lagrangian and _has_forces(kind)}
    if not kinds:
        return system
    elements = tuple(
        replace(each, kind=kinds[each.kind].name) if each.kind in kinds else each for each in system.mechanism.elements
    )
    known = {**system.kinds, **{kind.name: kind for kind in kinds.values()}}
    return System(replace(system.mechanism, elements=elements), known, system.dropped)
