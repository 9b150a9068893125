"""Momenta of a mechanism along motions of all its points, and by what they change.

A generator says how fast each coordinate goes along some motion of the whole, G(q, t). The momentum along it is
dL/dv . G, and by the equations of the motion its rate is, element by element,

    dL/dq . G + dL/dv . G'    of what has inertia: Noether's condition, with G' the rate of G along the motion
    Q . G                     of forces, and of what constraints exert

Fixed points go along too (`Loosened`), so that a momentum is that of all masses, and what the ground exerts on a fixed
point of a part is told by its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from mechsim.analysis.ground import Ground
from mechsim.derive.told import OF_ALL, OF_VARIABLES, moving, telling
from mechsim.engine.points import Points
from mechsim.frozen import frozen
from mechsim.kernel.outputs import Found
from mechsim.kernel.system import Group, System
from mechsim.lagrangian.kind import Kind
from mechsim.model.mechanism import Element, Mechanism, Variable
from mechsim.result.layout import Array

GRAVITY = "gravity"
# Sorts whose elements are called by no more than points or a name of the user's.
SAID_WITH_SORT = frozenset(
    {"spring", "collinear", "constraint", "force", "torque", "potential", "dissipation", "torsion spring", "damper"}
    | {"drag", "friction", "gravity"}
)
OF_PARTS = ("rigid", "particle")  # sorts of elements whose potential is weight, and which the ground holds at points
FOLLOWING = ("rigid", "angle", "curve")  # ... which decide coordinates that have no mass


class Loosened:
    """A system whose fixed points are coordinates too, at rest; what has inertia tells its momenta, and the `readouts`
    tell rates of their signals."""

    def __init__(self, system: System, readouts: Sequence[int] = ()):
        mechanism = system.mechanism
        self._ground = Ground(mechanism)
        self.points, self.place = self._ground.points, self._ground.place
        names = {slot: point for point, slots in mechanism.points.items() for slot in slots}
        variables = tuple(Variable(f"fixed {k}", names[s], "position", 1.0) for k, s in enumerate(self._ground.slots))
        kinds = dict(system.kinds)
        elements = tuple(
            self._told(element, kinds, number in readouts) for number, element in enumerate(mechanism.elements)
        )
        told = replace(mechanism, variables=mechanism.variables + variables, elements=elements, points=self.points)
        self.system = System(told, kinds, system.dropped, known=system._programs_known)
        self.moving = system.n  # coordinates before this are those of the mechanism itself

    def _told(self, element: Element, kinds: dict[str, Kind], read: bool) -> Element:
        kind = kinds[element.kind]
        other = telling(kind) if _has_inertia(kind) else moving(kind) if read else kind
        kinds.setdefault(other.name, other)
        return replace(element, kind=other.name, slots=tuple(map(self.place, element.slots)))

    @property
    def mechanism(self) -> Mechanism:
        return self.system.mechanism

    def at(self, points: Points, accelerations: Array, multipliers: Array) -> Balance:
        """All that acts at these states of the mechanism."""
        q, still = self._ground.beside(points.q, points.system.constants)
        v, a = (np.concatenate([each, still], axis=1) for each in (points.v, accelerations))
        return Balance(self, self.system.holding(points.system.constants), points.t, q, v, a, multipliers)


def _has_inertia(kind: Kind) -> bool:
    return bool(kind.kinetic or kind.lagrangian)


@frozen(eq=False, slots=False)
class Balance:
    """All that acts at states of a loosened mechanism. Arrays have a row for each state; generators are (states,
    coordinates, generators), of all coordinates there are."""

    loosened: Loosened
    system: System
    t: Array
    q: Array
    v: Array
    a: Array
    lam: Array

    @cached_property
    def rows(self) -> Mapping[int, Array]:
        """What each element adds to the Euler-Lagrange rows of its local variables."""
        return self.system.rows_of(range(len(self._elements)), self.t, self.q, self.v, self.a, self.lam)

    @cached_property
    def told(self) -> Mapping[int, Mapping[str, Array]]:
        """Of each element that has inertia, what it tells."""
        found: dict[int, Mapping[str, Array]] = {}
        groups = tuple(group for group in self.system.groups if _has_inertia(group.kind))
        for group, keys, values in self._signals(groups):
            n, holds = len(group.kind.variables), [f"hold {i}" for i in range(group.kind.multiplier_count)]
            columns = np.zeros((len(self.t), group.lanes, group.kind.signal_count))
            for (_, place), value in zip(keys, values, strict=True):
                columns[..., place] = value
            names = [*OF_VARIABLES, *holds]
            for lane, element in enumerate(group.elements):
                own = {name: columns[:, lane, k * n : (k + 1) * n] for k, name in enumerate(names)}
                found[element] = own | {name: columns[:, lane, k - len(OF_ALL)] for k, name in enumerate(OF_ALL)}
        return found

    def signals(self, element: int) -> tuple[Array, Array]:
        """The signals of a readout and their rates, (states, signals) each."""
        group = next(group for group in self.system.groups if element in group.elements)
        ((_, keys, values),) = self._signals((group,))
        found = np.zeros((len(self.t), group.kind.signal_count))
        for (_, place), value in zip(keys, values, strict=True):
            found[:, place] = np.broadcast_to(value, (len(self.t), group.lanes))[:, group.elements.index(element)]
        half = found.shape[1] // 2
        return found[:, :half], found[:, half:]

    def _signals(self, groups: tuple[Group, ...]) -> list[Found]:
        return self.system._values(("signal",), self.t, self.q, self.v, self.a, self.lam, groups)

    @property
    def points(self) -> Mapping[str, tuple[int, ...]]:
        return self.loosened.points

    @property
    def mechanism(self) -> Mechanism:
        return self.loosened.mechanism

    @property
    def _elements(self) -> tuple[Element, ...]:
        return self.mechanism.elements

    # --- momenta

    def momenta(self, generators: Array) -> tuple[Array, Array]:
        """Along each generator, (states, generators); and what those of all elements could add up to."""
        value, size = (np.zeros((len(self.t), generators.shape[2])) for _ in range(2))
        for number, told in self.told.items():
            along = self._local(generators, number)
            value += np.einsum("sl,slk->sk", told["momentum"], along)
            size += _bound(told["momentum"], along)
        return value, size

    def rates(self, generators: Array, changes: Array) -> tuple[dict[str, Array], Array]:
        """By what momenta change, and how fast; and what all that could add up to. `changes` are the rates of the
        generators. The sum of all is the rate of the momenta."""
        found = _Sums(len(self.t), generators.shape[2])
        for number, element in enumerate(self._elements):
            along = self._local(generators, number)
            fixed = self._is_fixed(element)
            if number in self.told:
                self._inertia(found, number, along, self._local(changes, number), fixed)
            elif element.origin.sort in OF_PARTS:
                found.add(said(element), -self.rows[number], along)
                self._ground(found, number, along, fixed)
            else:
                found.add(said(element), -self.rows[number][:, ~fixed], along[:, ~fixed])
        return found.terms, found.size

    def _inertia(self, found: _Sums, number: int, along: Array, change: Array, fixed: Array) -> None:
        element, told = self._elements[number], self.told[number]
        sort = element.origin.sort
        if not sort:  # a user's Lagrangian
            found.add("the Lagrangian", told["swing"] + told["pull"], along)
            found.add("the Lagrangian", told["momentum"], change)
            found.add("forces", told["force"], along)
            for i, label in enumerate(element.multipliers):
                found.add(label, told[f"hold {i}"], along)
            return
        of_part = sort in OF_PARTS
        inertia = f"inertia of {said(element)}" if of_part else said(element)
        found.add(inertia, told["swing"], along)
        found.add(inertia, told["momentum"], change)
        found.add(GRAVITY if of_part else said(element), told["pull"], along)
        if of_part:
            self._ground(found, number, along, fixed)
        else:
            found.add(said(element), self.rows[number][:, fixed], along[:, fixed])

    def _ground(self, found: _Sums, number: int, along: Array, fixed: Array) -> None:
        """What the ground exerts on fixed points of a part is left over in their rows."""
        for local in np.flatnonzero(fixed):
            owner = self.mechanism.variables[self._elements[number].slots[local]].owner
            found.add(f"fixed point {owner}", self.rows[number][:, [local]], along[:, [local]])

    def _is_fixed(self, element: Element) -> np.ndarray:
        return np.array(element.slots) >= self.loosened.moving

    def _local(self, generators: Array, number: int) -> Array:
        """Of the variables of an element, (states, variables, generators); constants do not move."""
        slots = np.array(self._elements[number].slots)
        return np.where((slots >= 0)[:, None], generators[:, np.maximum(slots, 0)], 0.0)

    def completed(self, generators: Array) -> Array:
        """Generators of points, with what coordinates without mass do along them: those that parts, angles and curves
        decide. A turn angle of a part goes with all points of the part, one between half-planes with those that can
        move; so that what acts by it is told by its own name."""
        found = generators.copy()
        variables = self.mechanism.variables
        for group, keys, values in self.system._values(("gradient",), self.t, self.q):
            for lane, number in enumerate(group.elements):
                element = self._elements[number]
                own = [k for k, slot in enumerate(element.slots) if _is_massless(variables, slot)]
                if len(own) != 1 or element.origin.sort not in FOLLOWING:
                    continue
                gradient = np.zeros((len(self.t), group.kind.constraint_count, len(element.slots)))
                for (_, row, local), value in zip(keys, values, strict=True):
                    gradient[:, row, local] = np.broadcast_to(value, (len(self.t), group.lanes))[:, lane]
                along = self._local(found, number)
                if element.origin.sort not in OF_PARTS:
                    along[:, self._is_fixed(element)] = 0.0
                along[:, own] = 0.0
                missed = np.einsum("sci,sik->sck", gradient, along)
                lever = gradient[:, :, own[0]]
                length = np.maximum((lever**2).sum(axis=1), 1e-300)
                found[:, element.slots[own[0]]] = -np.einsum("sc,sck->sk", lever, missed) / length[:, None]
        return found

    # --- energy

    @cached_property
    def energy(self) -> Array:
        """The Hamiltonian v . dL/dv - L; T + V of a mechanism of parts."""
        return np.asarray(self.system.hamiltonian(self.t, self.q, self.v))

    def energies(self) -> tuple[Array, Array]:
        """Kinetic and potential energy."""
        kinetic, potential = self.system.energies(self.t, self.q, self.v)
        return np.asarray(kinetic), np.asarray(potential)

    def powers(self) -> tuple[dict[str, Array], Array]:
        """By what the Hamiltonian changes, and how fast, (states, 1) each; and what their sizes add up to."""
        found = _Sums(len(self.t), 1)
        for number, element in enumerate(self._elements):
            along = self._local(self.v[:, :, None], number)
            if number in self.told and not element.origin.sort:
                told = self.told[number]
                found.add("time in the Lagrangian", -told["clock"][:, None], np.ones((len(self.t), 1, 1)))
                found.add("forces", told["force"], along)
                for i, label in enumerate(element.multipliers):
                    found.add(label, told[f"hold {i}"], along)
            elif element.account:
                power = -self.rows[number][:, -1:] + (0.0 if self._shares(element) else along[:, -1, :])
                found.add(said(element), power, np.ones((len(self.t), 1, 1)))
                found.size += _bound(self.rows[number][:, :-1], along[:, :-1])  # of which power may be what is left
        return found.terms, found.size

    def _shares(self, element: Element) -> bool:
        return bool(self.system.kinds[element.kind].shares)

    @property
    def natural_rate(self) -> Array:
        """Of T + V, by the derivatives of both along the motion."""
        return np.asarray(sum((told["energy"] for told in self.told.values()), np.zeros(len(self.t))))


def said(element: Element) -> str:
    """What acts, in words: `torque OA`, `slot C-AB`, `drive of theta_OA`."""
    sort = element.origin.sort
    with_sort = sort in SAID_WITH_SORT and not element.title.startswith(sort)
    return f"{sort} {element.title}" if with_sort else element.title


def _is_massless(variables: Sequence[Variable], slot: int) -> bool:
    return slot >= 0 and variables[slot].kind in ("angle", "coordinate")


class _Sums:
    """Terms by what they come from, (states, generators), and the sum of what they could be at most."""

    def __init__(self, states: int, generators: int):
        self.terms: dict[str, Array] = {}
        self.size = np.zeros((states, generators))

    def add(self, name: str, forces: Array, along: Array) -> None:
        if forces.shape[1]:
            self.terms[name] = self.terms.get(name, 0.0) + np.einsum("sl,slk->sk", forces, along)
            self.size += _bound(forces, along)


def _bound(forces: Array, along: Array) -> Array:
    """The most that a force could do along a motion, were it in its direction."""
    return np.asarray(np.linalg.norm(forces, axis=1)[:, None] * np.linalg.norm(along, axis=1))
