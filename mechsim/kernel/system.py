"""System: a mechanism with its equations, `[(program, instances)]`, and their values at any point.

Equations and unknowns are numbered alike: rows 0..n-1 are the Euler-Lagrange rows of the coordinates, rows n..n+m-1
the constraints; unknowns are the coordinates, then the multipliers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mechsim.derive import program_for
from mechsim.derive.program import Input, Program
from mechsim.kernel.evaluate import evaluate
from mechsim.lagrangian import kind_named
from mechsim.lagrangian.kind import Kind
from mechsim.lagrangian.law import kind_of
from mechsim.model.mechanism import Element, Mechanism, Sampler, Switch

Triplets = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Group:
    """All instances of one program. An index below 0 marks what is not there: a constant, or a dropped constraint."""

    kind: Kind
    zero_parameters: frozenset[int]
    elements: tuple[int, ...]  # which elements of the mechanism, one per lane
    program: Program
    parameters: np.ndarray  # (parameters, lanes)
    variables: np.ndarray  # (local variables, lanes): global coordinate, or -1 - k for constant k
    multipliers: np.ndarray  # (own constraints, then observed ones; lanes): global constraint, or -1 when dropped

    @cached_property
    def constants(self) -> np.ndarray:
        return self.program.constant_table(self.parameters)

    @property
    def lanes(self) -> int:
        return len(self.elements)

    def row(self, local: int, n: int) -> np.ndarray:
        """Global equation of each lane's local row, below 0 where there is none."""
        count = len(self.kind.variables)
        if local < count:
            return self.variables[local]
        constraint = self.multipliers[local - count]
        return np.where(constraint < 0, -1, constraint + n)


class System:
    """A mechanism with its equations. Frozen: what changes (state, time) is passed in."""

    def __init__(
        self,
        mechanism: Mechanism,
        kinds: Mapping[str, Kind] | None = None,
        dropped: frozenset[int] = frozenset(),
        complete: bool = False,
        known: Mapping[tuple[str, frozenset[int]], Program] | None = None,
    ):
        self.mechanism = mechanism
        self.kinds = dict(kinds or {})
        self.dropped = dropped
        self.n = len(mechanism.variables)
        multipliers = mechanism.multipliers
        kept = [i for i in range(len(multipliers)) if i not in dropped]
        self.m = len(kept)
        self._constraint_number = np.full(len(multipliers) + 1, -1)
        self._constraint_number[kept] = np.arange(self.m)
        self.labels = tuple(v.label for v in mechanism.variables) + tuple(multipliers[i] for i in kept)
        self.scales = np.array([v.scale for v in mechanism.variables] + [1.0] * self.m)
        self.constants = np.array(mechanism.constants, dtype=float)
        self.complete = complete
        self._known = dict(known or {})
        self.groups = tuple(self._groups())

    def without(self, constraints: Any) -> System:
        """The same mechanism with these constraints (numbered as they are now) left out."""
        numbers = {int(np.flatnonzero(self._constraint_number == c)[0]) for c in constraints}
        if not numbers:
            return self
        return System(self.mechanism, self.kinds, self.dropped | numbers, self.complete, self._programs_known)

    def completed(self) -> System:
        """With derivatives of the rows by positions and velocities too, which only unusual structures need."""
        return System(self.mechanism, self.kinds, self.dropped, True)

    def holding(self, constants: Any) -> System:
        """The same system with other constants of the mechanism: one set, or one for each of many points."""
        held = System.__new__(type(self))
        held.__dict__.update(self.__dict__, constants=np.asarray(constants, dtype=float))
        return held

    def rebuilt(self, mechanism: Mechanism) -> System:
        """The equations of this system for a mechanism of the same elements with other parameters or scales.

        Programs that are known are not derived again, also those of kinds that no disk cache can hold.
        """
        return System(mechanism, self.kinds, self.dropped, self.complete, self._programs_known)

    @property
    def switches(self) -> tuple[Switch, ...]:
        """Times at which constants change, and how."""
        return self.mechanism.switches

    @property
    def samplers(self) -> tuple[Sampler, ...]:
        """What is computed at times and held between them."""
        return self.mechanism.samplers

    @cached_property
    def accounts(self) -> np.ndarray:
        """Coordinates that integrate the power of what is not conservative: T + V less their sum is constant."""
        slots = [group.variables[-1] for group in self.groups if group.kind.account]
        found = np.unique(np.concatenate([*slots, np.zeros(0, dtype=int)]))
        return found[found >= 0]

    @cached_property
    def entries(self) -> tuple[np.ndarray, np.ndarray]:
        """(constraint, slot) of all that enters the constraints; a slot below 0 is a constant, as in Element."""
        pairs = [
            (np.broadcast_to(row, slots.shape), slots)
            for group in self.groups
            for row in group.multipliers[: group.kind.multiplier_count]
            for slots in group.variables
        ]
        none = np.zeros(0, dtype=int)
        rows, slots = (np.concatenate(column) for column in zip((none, none), *pairs, strict=True))
        return rows[rows >= 0], slots[rows >= 0]

    @cached_property
    def constraint_sizes(self) -> np.ndarray:
        """The scale of lengths in each constraint, 1 where it has none."""
        rows, slots = self.entries
        lengths = [variable.scale if variable.kind == "position" else 0.0 for variable in self.mechanism.variables]
        sizes = np.zeros(self.m)
        # There may be more constants than coordinates, so their slots must not be looked up.
        np.maximum.at(sizes, rows, np.where(slots >= 0, np.array(lengths)[np.maximum(slots, 0)], 0.0))
        return np.where(sizes > 0, sizes, 1.0)

    @property
    def _programs_known(self) -> dict[tuple[str, frozenset[int]], Program]:
        return {(group.kind.name, group.zero_parameters): group.program for group in self.groups}

    # --- building

    def _groups(self) -> list[Group]:
        found: dict[tuple[str, frozenset[int]], list[tuple[int, int, Element]]] = {}
        first_constraint = 0
        levels = [0] * len(self.mechanism.multipliers)
        for number, element in enumerate(self.mechanism.elements):
            kind = self._kind(element.kind)
            own = [2] * kind.constraint_count + [1] * kind.nonholonomic_count
            levels[first_constraint : first_constraint + len(own)] = own
            zeros = frozenset(i for i, p in enumerate(kind.parameters) if element.parameters[p] == 0.0)
            found.setdefault((element.kind, zeros), []).append((number, first_constraint, element))
            first_constraint += len(element.multipliers)
        # How often a constraint is differentiated: 2 holonomic, 1 nonholonomic.
        self.levels = np.array(levels, dtype=int)[self._constraint_number[:-1] >= 0]
        return [self._group(name, zeros, members) for (name, zeros), members in found.items()]

    @cached_property
    def _places(self) -> dict[str, int]:
        """Constraints of the mechanism by their labels."""
        return {label: number for number, label in enumerate(self.mechanism.multipliers)}

    def _kind(self, name: str) -> Kind:
        if name not in self.kinds:
            laws = self.mechanism.laws
            self.kinds[name] = kind_of(laws[name]) if name in laws else kind_named(name)
        return self.kinds[name]

    def _group(self, name: str, zeros: frozenset[int], members: list[tuple[int, int, Element]]) -> Group:
        kind = self._kind(name)
        parameters = [[e.parameters[p] for _, _, e in members] for p in kind.parameters]
        starts = np.array([start for _, start, _ in members])
        own = self._constraint_number[starts + np.arange(kind.multiplier_count)[:, None]]
        observed = [[self._places[e.observed[i]] for _, _, e in members] for i in range(kind.observed_count)]
        observed_numbers = self._constraint_number[np.array(observed, dtype=int).reshape(-1, len(members))]
        return Group(
            kind=kind,
            zero_parameters=zeros,
            elements=tuple(number for number, _, _ in members),
            program=self._known.get((name, zeros)) or program_for(kind, zeros, self.complete),
            parameters=np.array(parameters, dtype=float).reshape(len(kind.parameters), len(members)),
            variables=np.array([e.slots for _, _, e in members]).T.reshape(len(kind.variables), len(members)),
            multipliers=np.concatenate([own.reshape(-1, len(members)), observed_numbers]),
        )

    # --- structure

    def signature(self) -> Triplets:
        """(row, column, order) of each structurally nonzero entry: the highest derivative of an unknown in a row."""
        rows, columns, orders = [], [], []
        for group in self.groups:
            for output in group.program.outputs:
                if output.key[0] != "row":
                    continue
                row = group.row(output.key[1], self.n)
                for source in group.program.depends_on(output):
                    if source.kind != "time":
                        rows.append(row)
                        columns.append(self.column(group, source))
                        orders.append(np.full(group.lanes, source.order))
        return self._largest(np.concatenate(rows), np.concatenate(columns), np.concatenate(orders))

    def least_offsets(self) -> np.ndarray:
        """How often each equation is differentiated at least: constraints until they bind accelerations."""
        return np.concatenate([np.zeros(self.n, dtype=int), self.levels])

    def column(self, group: Group, source: Input) -> np.ndarray:
        if source.kind == "variable":
            return group.variables[source.index]
        constraint = group.multipliers[source.index]
        return np.where(constraint < 0, -1, constraint + self.n)

    def _largest(self, rows: np.ndarray, columns: np.ndarray, orders: np.ndarray) -> Triplets:
        """One entry per (row, column), with the largest order; entries outside the system are left out."""
        inside = (rows >= 0) & (columns >= 0)
        rows, columns, orders = rows[inside], columns[inside], orders[inside]
        order = np.lexsort((-orders, columns, rows))
        rows, columns, orders = rows[order], columns[order], orders[order]
        first = np.ones(len(rows), dtype=bool)
        first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
        return rows[first], columns[first], orders[first]

    def energy_signature(self) -> tuple[np.ndarray, np.ndarray]:
        """Highest derivative of each coordinate in T and in V, -1 where it does not occur."""
        result = []
        for name in ("kinetic", "potential"):
            orders = np.full(self.n, -1)
            for group in self.groups:
                for output in group.program.outputs:
                    if output.key[0] == name:
                        for source in group.program.depends_on(output):
                            column = self.column(group, source) if source.kind == "variable" else np.array([-1])
                            np.maximum.at(orders, column[column >= 0], source.order)
            result.append(orders)
        return result[0], result[1]

    # --- values at a point

    def _values(
        self,
        names: tuple[str, ...],
        t: Any,
        q: Any,
        v: Any = None,
        a: Any = None,
        lam: Any = None,
        groups: tuple[Group, ...] | None = None,
    ) -> list[tuple[Group, list[tuple[Any, ...]], list[np.ndarray]]]:
        """For each group the outputs whose key begins with one of `names`, with their keys."""
        # Constant k is slot -1 - k: a negative index counts from the end of the extended vector.
        tails = [self.constants[..., ::-1], *[np.zeros(self.constants.shape[-1])] * 2]
        derivatives = [None if x is None else _extended(x, tail) for x, tail in zip((q, v, a), tails, strict=True)]
        lam = None if lam is None else _extended(lam, np.zeros(1))
        found = []
        for group in self.groups if groups is None else groups:
            program = self._restricted(group, names)
            if not program.outputs:
                continue
            inputs = [self._input(group, source, t, derivatives, lam) for source in program.inputs]
            keys = [output.key for output in program.outputs]
            found.append((group, keys, evaluate(program, group.constants, inputs)))
        return found

    @cached_property
    def _programs(self) -> dict[tuple[int, tuple[str, ...]], Program]:
        return {}

    def _restricted(self, group: Group, names: tuple[str, ...]) -> Program:
        key = (id(group), names)
        if key not in self._programs:
            self._programs[key] = group.program.restrict(lambda k: k[0] in names)
        return self._programs[key]

    def _input(self, group: Group, source: Input, t: Any, derivatives: list[Any], lam: Any) -> np.ndarray:
        if source.kind == "time":
            return np.asarray(t, dtype=float)[..., None] * np.ones(group.lanes)
        if source.kind == "multiplier":
            return np.take(lam, group.multipliers[source.index], axis=-1)  # -1, what is dropped, is the zero at the end
        return np.take(derivatives[source.order], group.variables[source.index], axis=-1)

    def _gather(self, found: Any, place: Callable[[Group, tuple[Any, ...]], np.ndarray], size: int, shape: Any) -> Any:
        total = np.zeros((*shape, size + 1))
        for group, keys, values in found:
            for key, value in zip(keys, values, strict=True):
                index = place(group, key)
                places: Any = (..., np.where(index < 0, size, index))
                np.add.at(total, places, value)
        return total[..., :size]

    def constraints(self, t: Any, q: Any) -> np.ndarray:
        """C(t, q); 0 for nonholonomic constraints, which say nothing about positions."""
        found = self._values(("constraint",), t, q)
        return self._gather(found, lambda g, k: g.multipliers[k[1]], self.m, np.shape(q)[:-1])

    def constraint_rate(self, t: Any, q: Any, v: Any) -> np.ndarray:
        """dC/dt = C_q v + C_t of holonomic constraints, psi(q, v, t) of nonholonomic ones."""
        found = self._values(("rate",), t, q, v)
        return self._gather(found, lambda g, k: g.multipliers[k[1]], self.m, np.shape(q)[:-1])

    def rate_jacobian(self, t: Any, q: Any, v: Any) -> Triplets:
        """The derivative of `constraint_rate` by v as (constraint, coordinate, value): C_q, and psi_v."""

        def place(group: Group, key: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
            first = group.kind.constraint_count if key[0] == "slope" else 0
            return group.multipliers[first + key[1]], group.variables[key[2]]

        return self._triplets(self._values(("gradient", "slope"), t, q, v), place)

    def gradient_lengths(self, t: Any, q: Any, v: Any) -> np.ndarray:
        """Per constraint the length of its `rate_jacobian`, columns scaled by the size of their coordinate: a residual
        over it is a distance."""
        rows, columns, values = self.rate_jacobian(t, q, v)
        # An entry may come in several parts, which add up before they are squared.
        entries, place = np.unique(rows * self.n + columns, return_inverse=True)
        total = np.bincount(place.reshape(-1), values * self.scales[columns], minlength=len(entries))
        return np.sqrt(np.bincount(entries // self.n, total**2, minlength=self.m))

    def constraint_jacobian(self, t: Any, q: Any) -> Triplets:
        """C_q of the holonomic constraints as (constraint, coordinate, value)."""

        def place(group: Group, key: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
            return group.multipliers[key[1]], group.variables[key[2]]

        return self._triplets(self._values(("gradient",), t, q), place)

    def constraint_jacobians(self, t: Any, q: Any) -> np.ndarray:
        """C_q of the holonomic constraints for many points at once, dense (..., m, n)."""
        total = np.zeros((*np.shape(q)[:-1], self.m, self.n))
        for group, keys, values in self._values(("gradient",), t, q):
            for (_, constraint, variable), value in zip(keys, values, strict=True):
                row, column = group.multipliers[constraint], group.variables[variable]
                inside = (row >= 0) & (column >= 0)  # each lane has a row of its own, so no entry comes twice
                lanes = np.broadcast_to(value, (*total.shape[:-2], group.lanes))
                total[..., row[inside], column[inside]] += lanes[..., inside]
        return total

    def constraint_hessian(self, t: Any, q: Any, lam: Any) -> Triplets:
        """Lower triangle of sum_i lam_i C_i,qq as (coordinate, coordinate, value)."""

        def place(group: Group, key: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
            return group.variables[key[1]], group.variables[key[2]]

        rows, columns, values = self._triplets(self._values(("hessian",), t, q, lam=lam), place)
        # Two local variables may be one coordinate in reverse order: keep to the lower triangle.
        return np.maximum(rows, columns), np.minimum(rows, columns), values

    def _triplets(self, found: Any, place: Callable[..., tuple[np.ndarray, np.ndarray]]) -> Triplets:
        rows, columns, values = [], [], []
        for group, keys, results in found:
            for key, value in zip(keys, results, strict=True):
                row, column = place(group, key)
                inside = (row >= 0) & (column >= 0)
                rows.append(row[inside])
                columns.append(column[inside])
                values.append(np.broadcast_to(value, row.shape)[inside])
        if not rows:
            return np.zeros(0, dtype=int), np.zeros(0, dtype=int), np.zeros(0)
        return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)

    def mass_matrix(self, t: Any, q: Any, v: Any = None) -> np.ndarray:
        """d2L/dq'2, dense (n, n)."""
        zeros = np.zeros(self.n)
        found = self._values(("mass",), t, q, zeros if v is None else v, zeros, np.zeros(self.m))
        rows, columns, values = self._triplets(found, lambda g, k: (g.variables[k[1]], g.variables[k[2]]))
        matrix = np.zeros((self.n, self.n))
        np.add.at(matrix, (rows, columns), values)
        return matrix

    def residuals(self, t: Any, q: Any, v: Any, a: Any, lam: Any) -> np.ndarray:
        """The Euler-Lagrange rows and the constraints, (n + m,)."""
        found = self._values(("row",), t, q, v, a, lam)
        return self._gather(found, lambda g, k: g.row(k[1], self.n), self.n + self.m, np.shape(q)[:-1])

    def rows_of(self, elements: Any, t: Any, q: Any, v: Any, a: Any, lam: Any) -> dict[int, np.ndarray]:
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

    def curvature(self, t: Any, q: Any, v: Any) -> np.ndarray:
        """The time derivative of `constraint_rate` but for its term in the accelerations."""
        found = self._values(("curvature",), t, q, v)
        return self._gather(found, lambda g, k: g.multipliers[k[1]], self.m, np.shape(q)[:-1])

    def accelerations(self, t: Any, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations and multipliers at a consistent state, from [[M, C_q^T], [C_q, 0]] (a, lam) = ..."""
        n, m = self.n, self.m
        matrix = np.zeros((n + m, n + m))
        matrix[:n, :n] = self.mass_matrix(t, q, v)
        rows, columns, values = self.rate_jacobian(t, q, v)
        np.add.at(matrix, (n + rows, columns), values)
        matrix[:n, n:] = matrix[n:, :n].T
        states = [i for i, variable in enumerate(self.mechanism.variables) if variable.kind == "state"]
        matrix[states, states] = 1.0  # a state's second derivative enters no row
        right = -self.residuals(t, q, v, np.zeros(n), np.zeros(m))
        right[states] = 0.0
        right[n:] = -self.curvature(t, q, v)
        solution = np.linalg.solve(matrix, right)
        return solution[:n], solution[n:]

    def energies(self, t: Any, q: Any, v: Any) -> tuple[Any, Any]:
        """Kinetic and potential energy; with leading axes, for many points at once."""
        return self._total("kinetic", t, q, v), self._total("potential", t, q, v)

    def hamiltonian(self, t: Any, q: Any, v: Any) -> Any:
        """H = q' dL/dq' - L; it differs from T + V where the Lagrangian is not natural or a drive depends on time."""
        return self._total("hamiltonian", t, q, v)

    def _total(self, name: str, t: Any, q: Any, v: Any) -> Any:
        total: Any = np.zeros(np.shape(q)[:-1])
        for group, _, values in self._values((name,), t, q, v):
            total = total + np.broadcast_to(values[0], (*np.shape(total), group.lanes)).sum(axis=-1)
        return total

    def signals(self, element: int, t: Any, q: Any, v: Any) -> np.ndarray:
        """The signals of one element, (..., signals), at one state or at many."""
        group = next(group for group in self.groups if element in group.elements)
        lane, shape = group.elements.index(element), (*np.shape(q)[:-1], group.lanes)
        _, _, values = self._values(("signal",), t, q, v, groups=(group,))[0]
        return np.stack([np.broadcast_to(value, shape)[..., lane] for value in values], axis=-1)


def _extended(values: Any, tail: np.ndarray) -> np.ndarray:
    values = np.asarray(values, dtype=float)
    if values.ndim > 1 or tail.ndim > 1:
        shape = np.broadcast_shapes(values.shape[:-1], tail.shape[:-1])
        values = np.broadcast_to(values, (*shape, values.shape[-1]))
        tail = np.broadcast_to(tail, (*shape, tail.shape[-1]))
    return np.concatenate([values, tail], axis=-1)
