"""Values of the equations at a point: constraints, their derivatives, masses, forces, energies."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

import numpy as np

from mechsim.kernel.groups import Group
from mechsim.kernel.incidence import Triplets
from mechsim.kernel.linear import dense
from mechsim.kernel.outputs import Key, Outputs, gather, triplets
from mechsim.model.mechanism import Mechanism

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Values(Outputs):
    """All methods take a time, positions, velocities ... as arrays; with leading axes, those of many points at once."""

    mechanism: Mechanism
    n: int
    m: int
    scales: np.ndarray
    constants: np.ndarray
    gap_rows: np.ndarray
    gap_modes: np.ndarray
    friction_rows: np.ndarray
    friction_modes: np.ndarray

    def _held(self, values: np.ndarray) -> np.ndarray:
        """By constraint, zero for gaps that are open and what does not stick: these hold nothing."""
        for rows, modes in ((self.gap_rows, self.gap_modes), (self.friction_rows, self.friction_modes)):
            if len(rows):
                values[..., rows] *= self.constants[..., modes]
        return values

    def gap_values(self, t: ArrayLike, q: ArrayLike) -> np.ndarray:
        """The gaps themselves, open or closed."""
        if not len(self.gap_rows):
            return np.zeros((*np.shape(q)[:-1], 0))
        found = self._values(("constraint",), t, q)
        return gather(found, lambda g, k: g.multipliers[k[1]], self.m, np.shape(q)[:-1])[..., self.gap_rows]

    def constraints(self, t: ArrayLike, q: ArrayLike) -> np.ndarray:
        """C(t, q); 0 for nonholonomic constraints, which say nothing about positions."""
        found = self._values(("constraint",), t, q)
        return self._held(gather(found, lambda g, k: g.multipliers[k[1]], self.m, np.shape(q)[:-1]))

    def constraint_rate(self, t: ArrayLike, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """dC/dt = C_q v + C_t of holonomic constraints, psi(q, v, t) of nonholonomic ones."""
        found = self._values(("rate",), t, q, v)
        return self._held(gather(found, lambda g, k: g.multipliers[k[1]], self.m, np.shape(q)[:-1]))

    def rate_jacobian(self, t: ArrayLike, q: ArrayLike, v: ArrayLike) -> Triplets:
        """The derivative of `constraint_rate` by v as (constraint, coordinate, value): C_q, and psi_v."""

        def place(group: Group, key: Key) -> tuple[np.ndarray, np.ndarray]:
            first = group.kind.constraint_count if key[0] == "slope" else 0
            return group.multipliers[first + key[1]], group.variables[key[2]]

        rows, columns, values = triplets(self._values(("gradient", "slope"), t, q, v), place)
        if (len(self.gap_rows) or len(self.friction_rows)) and self.constants.ndim == 1:
            values = values * self._held(np.ones(self.m))[rows]
        return rows, columns, values

    def gradient_lengths(self, t: ArrayLike, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Per constraint the length of its `rate_jacobian`, columns scaled by the size of their coordinate: a residual
        over it is a distance."""
        rows, columns, values = self.rate_jacobian(t, q, v)
        # An entry may come in several parts, which add up before they are squared.
        entries, place = np.unique(rows * self.n + columns, return_inverse=True)
        total = np.bincount(place.reshape(-1), values * self.scales[columns], minlength=len(entries))
        return np.sqrt(np.bincount(entries // self.n, total**2, minlength=self.m))

    def constraint_jacobian(self, t: ArrayLike, q: ArrayLike) -> Triplets:
        """C_q of the holonomic constraints as (constraint, coordinate, value)."""

        def place(group: Group, key: Key) -> tuple[np.ndarray, np.ndarray]:
            return group.multipliers[key[1]], group.variables[key[2]]

        return triplets(self._values(("gradient",), t, q), place)

    def constraint_jacobians(self, t: ArrayLike, q: ArrayLike) -> np.ndarray:
        """C_q of the holonomic constraints for many points at once, dense (..., m, n)."""
        total = np.zeros((*np.shape(q)[:-1], self.m, self.n))
        for group, keys, values in self._values(("gradient",), t, q):
            for (_, constraint, variable), value in zip(keys, values, strict=True):
                row, column = group.multipliers[constraint], group.variables[variable]
                inside = (row >= 0) & (column >= 0)  # each lane has a row of its own, so no entry comes twice
                total[..., row[inside], column[inside]] += value[..., inside]
        return total

    def constraint_hessian(self, t: ArrayLike, q: ArrayLike, lam: ArrayLike) -> Triplets:
        """Lower triangle of sum_i lam_i C_i,qq as (coordinate, coordinate, value)."""

        def place(group: Group, key: Key) -> tuple[np.ndarray, np.ndarray]:
            return group.variables[key[1]], group.variables[key[2]]

        rows, columns, values = triplets(self._values(("hessian",), t, q, lam=lam), place)
        # Two local variables may be one coordinate in reverse order: keep to the lower triangle.
        return np.maximum(rows, columns), np.minimum(rows, columns), values

    def mass_matrix(self, t: ArrayLike, q: ArrayLike, v: ArrayLike | None = None) -> np.ndarray:
        """d2L/dq'2, dense (n, n)."""
        zeros = np.zeros(self.n)
        found = self._values(("mass",), t, q, zeros if v is None else v, zeros, np.zeros(self.m))
        return dense(triplets(found, lambda g, k: (g.variables[k[1]], g.variables[k[2]])), self.n, self.n)

    def residuals(self, t: ArrayLike, q: ArrayLike, v: ArrayLike, a: ArrayLike, lam: ArrayLike) -> np.ndarray:
        """The Euler-Lagrange rows and the constraints, (n + m,)."""
        found = self._values(("row",), t, q, v, a, lam)
        return gather(found, lambda g, k: g.row(k[1], self.n), self.n + self.m, np.shape(q)[:-1])

    def pushes(self, t: ArrayLike, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """The sizes of all forces on each coordinate, added up, whatever balances whatever, (n,); not those of
        constraints."""
        still, slack = np.zeros(np.shape(q)), np.zeros((*np.shape(q)[:-1], self.m))
        found = self._values(("row",), t, q, v, still, slack)
        sizes = [(group, keys, [np.abs(value) for value in values]) for group, keys, values in found]
        return gather(sizes, lambda g, k: g.row(k[1], self.n), self.n + self.m, np.shape(q)[:-1])[..., : self.n]

    def rows_of(
        self, elements: Container[int], t: ArrayLike, q: ArrayLike, v: ArrayLike, a: ArrayLike, lam: ArrayLike
    ) -> dict[int, np.ndarray]:
        """What each of these elements adds to the Euler-Lagrange rows of its local variables, (..., local variables).

        Local variables that are constants have a row too: it is the force that holds them.
        """
        found = {}
        shape = np.shape(q)[:-1]
        for group, keys, values in self._values(("row",), t, q, v, a, lam):
            rows = np.zeros((*shape, group.lanes, len(group.kind.variables)))
            for key, value in zip(keys, values, strict=True):
                if key[1] < rows.shape[-1]:
                    rows[..., key[1]] = value
            chosen = (lane for lane, element in enumerate(group.elements) if element in elements)
            found.update({group.elements[lane]: rows[..., lane, :] for lane in chosen})
        return found

    def curvature(self, t: ArrayLike, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """The time derivative of `constraint_rate` but for its term in the accelerations."""
        found = self._values(("curvature",), t, q, v)
        return gather(found, lambda g, k: g.multipliers[k[1]], self.m, np.shape(q)[:-1])

    def accelerations(self, t: ArrayLike, q: ArrayLike, v: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations and multipliers at a consistent state, from [[M, C_q^T], [C_q, 0]] (a, lam) = ..."""
        n, m = self.n, self.m
        matrix = np.zeros((n + m, n + m))
        matrix[:n, :n] = self.mass_matrix(t, q, v)
        matrix[n:, :n] = dense(self.rate_jacobian(t, q, v), m, n)
        matrix[:n, n:] = matrix[n:, :n].T
        states = [i for i, variable in enumerate(self.mechanism.variables) if variable.kind == "state"]
        matrix[states, states] = 1.0  # a state's second derivative enters no row
        right = -self.residuals(t, q, v, np.zeros(n), np.zeros(m))
        right[states] = 0.0
        right[n:] = -self.curvature(t, q, v)
        solution = np.linalg.solve(matrix, right)
        return solution[:n], solution[n:]

    def energies(self, t: ArrayLike, q: ArrayLike, v: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Kinetic and potential energy; with leading axes, for many points at once."""
        return self._total("kinetic", t, q, v), self._total("potential", t, q, v)

    def accounted_potentials(self, t: ArrayLike, q: ArrayLike) -> np.ndarray:
        """Potential energy of elements that have an account of their work, (..., n), each at its account."""
        accounted = tuple(group for group in self.groups if group.kind.account)
        found = self._values(("potential",), t, q, groups=accounted)
        return gather(found, lambda g, _: g.variables[-1], self.n, np.shape(q)[:-1])

    def hamiltonian(self, t: ArrayLike, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """H = q' dL/dq' - L; it differs from T + V where the Lagrangian is not natural or a drive depends on time."""
        return self._total("hamiltonian", t, q, v)

    def _total(self, name: str, t: ArrayLike, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        total = np.zeros(np.shape(q)[:-1])
        for group, _, values in self._values((name,), t, q, v):
            total = total + np.broadcast_to(values[0], (*np.shape(total), group.lanes)).sum(axis=-1)
        return total

    def places(self, t: ArrayLike, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Coordinates of points that are only drawn, and their rates, in turn: (..., 2 places)."""
        found = np.zeros((*np.shape(q)[:-1], 2 * sum(group.kind.place_count for group in self.groups)))
        for _, keys, values in self._values(("place", "speed"), t, q, v):
            for (name, place), value in zip(keys, values, strict=True):
                found[..., 2 * place + (name == "speed")] = value[..., 0]
        return found

    def signals(
        self,
        element: int,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None = None,
        lam: ArrayLike | None = None,
    ) -> np.ndarray:
        """The signals of one element, (..., signals), at one state or at many; limits of friction need the rest."""
        group = next(group for group in self.groups if element in group.elements)
        lane, shape = group.elements.index(element), (*np.shape(q)[:-1], group.lanes)
        _, _, values = self._values(("signal",), t, q, v, a, lam, groups=(group,))[0]
        return np.stack([np.broadcast_to(value, shape)[..., lane] for value in values], axis=-1)
