"""The equations of a mechanism at any state (seed 001 section 7), for files and for a user's Lagrangian alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mechsim.result.layout import Array

if TYPE_CHECKING:
    from mechsim.kernel.system import System
    from mechsim.model.mechanism import Mechanism

Values = Mapping[str, ArrayLike] | Sequence[float] | Array
TOLERANCE = 1e-12  # to which a state that is asked about is taken to be consistent


class Equations:
    """Mass matrix, forces, constraints, accelerations and multipliers of a mechanism, `system`, at any state:

        M(q) q'' + J^T lam = f(q, q', t),    J q'' = g(q, q', t)

    with f = `generalised_forces`, J = `constraint_jacobian` and g = `constraint_right_side`. Positions and velocities
    are arrays in the order of `coordinates`, or mappings by point and turn angle such as
    `{"A": (0.3, -0.4), "theta_OA": -0.9}`, where every coordinate needs a value (states such as work begin at 0). All
    results are arrays, rows in the order of `coordinates` and of `constraints`. Contacts count as open.
    """

    @property
    def system(self) -> System:
        raise NotImplementedError

    @property
    def mechanism(self) -> Mechanism:
        return self.system.mechanism

    @property
    def coordinates(self) -> tuple[str, ...]:
        return tuple(self.system.labels[: self.system.n])

    @property
    def states(self) -> tuple[str, ...]:
        """Those coordinates that have no inertia and no acceleration, only a rate: integrals, such as work."""
        return tuple(variable.label for variable in self.mechanism.variables if variable.kind == "state")

    @property
    def constraints(self) -> tuple[str, ...]:
        return tuple(self._lasting.labels[self.system.n :])

    @property
    def _lasting(self) -> System:
        """Without contacts: a state alone does not tell which of them are closed."""
        return self.system.bilateral

    def _at(self, t: float, q: Array, v: Array) -> System:
        """The same as it is at a state, on which the signs of functions that switch depend."""
        from mechsim.engine.events import as_switched

        return as_switched(self._lasting, t, q, v)

    def constraint_residuals(self, positions: Values, *, t: float = 0.0) -> Array:
        """C(t, q): zero where the parts fit together."""
        return np.asarray(self._lasting.constraints(t, self.vector(positions)))

    def constraint_rates(self, positions: Values, velocities: Values, *, t: float = 0.0) -> Array:
        """dC/dt: zero where the velocities keep the parts together."""
        return np.asarray(self._lasting.constraint_rate(t, self.vector(positions), self.vector(velocities)))

    def constraint_jacobian(self, positions: Values, velocities: Values | None = None, *, t: float = 0.0) -> Array:
        """J, one row per constraint: dC/dq, and dpsi/dq' of velocity constraints, where only those that are not linear
        in the velocities need these."""
        v = np.zeros(self.system.n) if velocities is None else self.vector(velocities)
        rows, columns, values = self._lasting.rate_jacobian(t, self.vector(positions), v)
        jacobian = np.zeros((self._lasting.m, self.system.n))
        np.add.at(jacobian, (rows, columns), values)
        return jacobian

    def constraint_right_side(self, positions: Values, velocities: Values, *, t: float = 0.0) -> Array:
        """g: what constraints ask of the accelerations, J q'' = g."""
        return -np.asarray(self._lasting.curvature(t, self.vector(positions), self.vector(velocities)))

    def mass_matrix(self, positions: Values, velocities: Values | None = None, *, t: float = 0.0) -> Array:
        """M = d2L/dq'2; velocities matter only where T is not quadratic in them."""
        v = None if velocities is None else self.vector(velocities)
        return np.asarray(self._lasting.mass_matrix(t, self.vector(positions), v))

    def generalised_forces(
        self,
        positions: Values,
        velocities: Values,
        multipliers: Sequence[float] | Array | None = None,
        *,
        t: float = 0.0,
    ) -> Array:
        """f: all that acts on the coordinates but for M q'' and the constraints, inertia by the velocities too. For a
        state it is what its rate should be, less what it is.

        Friction that depends on a reaction needs the `multipliers`; without them it counts as for none.
        """
        q, v = self.vector(positions), self.vector(velocities)
        system = self._at(t, q, v)
        lam = np.zeros(system.m) if multipliers is None else np.asarray(multipliers, float)
        forces = -np.asarray(system.residuals(t, q, v, np.zeros(system.n), lam))[: system.n]
        return forces + self.constraint_jacobian(q, v, t=t).T @ lam

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
        return Reactions(self._at(t, q, v), [point]).forces(t, q, v, accelerations, multipliers)

    def energies(self, positions: Values, velocities: Values, *, t: float = 0.0) -> tuple[float, float]:
        """Kinetic and potential energy."""
        q, v = self.vector(positions), self.vector(velocities)
        kinetic, potential = self._at(t, q, v).energies(t, q, v)
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
        return np.asarray(self._at(t, q, v).residuals(t, q, v, a, np.asarray(multipliers, float)))

    def vector(self, values: Values) -> Array:
        """Named or listed values as one array in the order of `coordinates`."""
        if not isinstance(values, Mapping):
            array = np.array(values, float)
            if array.shape != (self.system.n,):
                raise ValueError(f"{array.shape} values, but there are {self.system.n} coordinates")
            return array
        given = {**dict.fromkeys(self.states, 0.0), **self._named(values)}
        if missing := [label for label in self.coordinates if label not in given]:
            raise ValueError(f"no value for {', '.join(missing)}")
        return np.array([given[label] for label in self.coordinates], float)

    def _named(self, values: Mapping[str, ArrayLike]) -> dict[str, float]:
        """Values by coordinate; a point's vector is spread over its coordinates."""
        given: dict[str, float] = {}
        for name, value in values.items():
            slots = self.mechanism.points.get(name)
            if name in self.coordinates:  # of a Lagrangian they may be called as the points that are drawn
                given[name] = np.asarray(value, float).item()
            elif slots is not None and all(slot >= 0 for slot in slots):
                given.update(zip((self.coordinates[slot] for slot in slots), np.asarray(value, float), strict=True))
            elif slots is None:
                raise ValueError(f"no point or coordinate {name!r}; coordinates are {', '.join(self.coordinates)}")
        return given

    def _solve(self, positions: Values, velocities: Values, t: float) -> tuple[Array, Array]:
        from mechsim.engine.leading import Leading
        from mechsim.engine.points import Points
        from mechsim.result.multipliers import smallest
        from mechsim.structure import analyse, redundancy

        q, v = self.vector(positions), self.vector(velocities)
        system = self._at(t, q, v)
        redundant = redundancy(system, t, q)
        leading = Leading(system, analyse(system, redundant), TOLERANCE, rough=True)
        point = Points(system, np.array([t]), q[None], v[None])
        accelerations, multipliers = leading(point)
        return accelerations[0], smallest(len(redundant.rows), point, accelerations, multipliers)[0]
