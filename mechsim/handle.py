"""A mechanism as an object that larger programs can hold (seed 001 section 7): its equations at any state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mechsim.result.layout import Array
from mechsim.source import Folders, Parameters, Source, read
from mechsim.spec.document import MechSpec

Values = Mapping[str, Any] | Sequence[float] | Array


def mechanism(source: Source, parameters: Parameters | None = None, *, tables_from: Folders = ()) -> MechanismHandle:
    """The mechanism of a file, of its text, or of a MechSpec, ready to be asked about any state. Tables in files are
    read from the folder of the mechanism file, and from `tables_from`."""
    return MechanismHandle(read(source, parameters, tables_from))


class MechanismHandle:
    """Residuals, mass matrix, constraint Jacobian, accelerations and multipliers of a mechanism.

    Positions and velocities are arrays in the order of `coordinates`, or mappings by point and turn angle such as
    `{"A": (0.3, -0.4), "theta_OA": -0.9}`, where every coordinate needs a value. All results are arrays, rows in
    the order of `coordinates` and of `constraints`.
    """

    def __init__(self, spec: MechSpec):
        from mechsim.kernel.system import System
        from mechsim.model import build

        self.spec = spec
        self.mechanism = build(spec)
        self.system = System(self.mechanism)
        self.coordinates: tuple[str, ...] = tuple(self.system.labels[: self.system.n])
        self.constraints: tuple[str, ...] = tuple(self.system.labels[self.system.n :])
        self.parameters = {name: float(number) for name, number in spec.parameters.items()}

    def with_parameters(self, **parameters: float | str) -> MechanismHandle:
        """The same mechanism with other PhysicalParams. Equations of known element kinds are not derived again."""
        return mechanism(self.spec, parameters)

    def start(self) -> tuple[Array, Array]:
        """Consistent positions and velocities of the file's initial-value problem."""
        from mechsim.initial import assemble

        start = assemble(self.mechanism, self.system, self.spec.problem, branch=self.spec.problem.branch)
        return start.positions, start.velocities

    def constraint_residuals(self, positions: Values, *, t: float = 0.0) -> Array:
        """C(t, q): zero where the parts fit together."""
        return np.asarray(self.system.constraints(t, self.vector(positions)))

    def constraint_rates(self, positions: Values, velocities: Values, *, t: float = 0.0) -> Array:
        """dC/dt: zero where the velocities keep the parts together."""
        return np.asarray(self.system.constraint_rate(t, self.vector(positions), self.vector(velocities)))

    def constraint_jacobian(self, positions: Values, *, t: float = 0.0) -> Array:
        """C_q, one row per constraint."""
        rows, columns, values = self.system.constraint_jacobian(t, self.vector(positions))
        jacobian = np.zeros((self.system.m, self.system.n))
        np.add.at(jacobian, (rows, columns), values)
        return jacobian

    def mass_matrix(self, positions: Values, *, t: float = 0.0) -> Array:
        """M = d2T/dq'2."""
        matrix = self.system.mass_matrix(t, self.vector(positions))
        return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)

    def accelerations(self, positions: Values, velocities: Values, *, t: float = 0.0) -> Array:
        """q'' at a consistent state."""
        return self._solve(positions, velocities, t)[0]

    def multipliers(self, positions: Values, velocities: Values, *, t: float = 0.0) -> Array:
        """The Lagrange multipliers at a consistent state; the smallest where constraints are redundant."""
        return self._solve(positions, velocities, t)[1]

    def reactions(self, point: str, positions: Values, velocities: Values, *, t: float = 0.0) -> dict[str, Array]:
        """The force on each part at a point, in newtons, at a consistent state: what everything else exerts there."""
        from mechsim.result.reactions import Reactions

        accelerations, multipliers = self._solve(positions, velocities, t)
        q, v = self.vector(positions), self.vector(velocities)
        return Reactions(self.system, [point]).forces(t, q, v, accelerations, multipliers)

    def energies(self, positions: Values, velocities: Values, *, t: float = 0.0) -> tuple[float, float]:
        """Kinetic and potential energy."""
        kinetic, potential = self.system.energies(t, self.vector(positions), self.vector(velocities))
        return float(kinetic), float(potential)

    def residuals(
        self,
        positions: Values,
        velocities: Values,
        accelerations: Values,
        multipliers: Sequence[float] | Array,
        *,
        t: float = 0.0,
    ) -> Array:
        """Euler-Lagrange rows, then constraints: all zero along a motion."""
        q, v, a = (self.vector(values) for values in (positions, velocities, accelerations))
        return np.asarray(self.system.residuals(t, q, v, a, np.asarray(multipliers, float)))

    def vector(self, values: Values) -> Array:
        """Named or listed values as one array in the order of `coordinates`."""
        if not isinstance(values, Mapping):
            array = np.asarray(values, float)
            if array.shape != (self.system.n,):
                raise ValueError(f"{array.shape} values, but there are {self.system.n} coordinates")
            return array
        given = self._named(values)
        if missing := [label for label in self.coordinates if label not in given]:
            raise ValueError(f"no value for {', '.join(missing)}")
        return np.array([given[label] for label in self.coordinates], float)

    def _named(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Values by coordinate; a point's vector is spread over its coordinates."""
        given: dict[str, float] = {}
        for name, value in values.items():
            slots = self.mechanism.points.get(name)
            if slots is not None and all(slot >= 0 for slot in slots):
                given.update(zip((self.coordinates[slot] for slot in slots), np.asarray(value, float), strict=True))
            elif name in self.coordinates:
                given[name] = float(value)
            elif slots is None:
                raise ValueError(f"no point or coordinate {name!r}; coordinates are {', '.join(self.coordinates)}")
        return given

    def _solve(self, positions: Values, velocities: Values, t: float) -> tuple[Array, Array]:
        from mechsim.engine.points import Points
        from mechsim.result.multipliers import smallest
        from mechsim.structure import redundancy

        q, v = self.vector(positions), self.vector(velocities)
        redundant = redundancy(self.system, t, q).rows
        accelerations, found = self.system.without(redundant).accelerations(t, q, v)
        multipliers = np.zeros((1, self.system.m))
        multipliers[0, np.setdiff1d(np.arange(self.system.m), redundant)] = found
        single = Points(self.system, np.array([t]), q[None], v[None])
        return np.asarray(accelerations), smallest(len(redundant), single, accelerations[None], multipliers)[0]

    def __repr__(self) -> str:
        return f"<mechanism {self.mechanism.title!r}: coordinates {', '.join(self.coordinates)}>"
