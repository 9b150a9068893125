"""Where a march begins, and what one that was stopped hands on to the one that continues it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, overload

import numpy as np

from mechsim.engine.stops import Passed
from mechsim.frozen import frozen
from mechsim.kernel.compiled import fingerprint
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System
from mechsim.structure import Structure, analyse


@frozen
class HandedOn:
    """The history of a march that the next step reads (speeds, roundings, pivots, a step cut short), and of its stops.

    `x` and `rates` are all unknowns where it was stopped, and their first derivatives.
    """

    plan: Plan
    order: int
    tolerance: float
    march: bytes
    stops: Passed
    x: np.ndarray
    rates: np.ndarray
    directions: int = 0  # of tangents that went along; their changes of the state are those of the march

    def fits(self, plan: Plan, order: int, tolerance: float, directions: int = 0) -> bool:
        """Whether a march of this plan would have gone the same way; another one has only the state."""
        if (self.order, self.tolerance, self.directions) != (order, tolerance, directions):
            return False
        return self.plan is plan or fingerprint(self.plan) == fingerprint(plan)


class InitialState(Protocol):
    """What a march needs to know of its start: a State has it, and so has the Start that `initial` finds."""

    @property
    def t(self) -> float: ...
    @property
    def positions(self) -> np.ndarray: ...
    @property
    def velocities(self) -> np.ndarray: ...
    @property
    def singular(self) -> bool: ...
    @property
    def fixed(self) -> tuple[tuple[int, ...], tuple[int, ...]]: ...


@frozen
class State:
    """Where a march begins: a consistent state. `singular`: on a singular pose, or very near one (see launch.py); then
    `fixed` are the coordinates whose positions and velocities are to be met exactly. With what another march has
    `handed_on` there, the motion goes on as if it had not been stopped."""

    t: float
    positions: np.ndarray
    velocities: np.ndarray
    singular: bool = False
    fixed: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    handed_on: HandedOn | None = None


def unaccounted(system: System, structure: Structure, start: InitialState) -> tuple[System, Structure, InitialState]:
    """What marches without accounts of work, which no motion depends on; with contacts the same."""
    if system.unaccounted is system:
        return system, structure, start
    kept = np.delete(np.arange(system.n), system.accounts)
    places = {int(slot): place for place, slot in enumerate(kept)}
    positions, velocities = (tuple(places[slot] for slot in level if slot in places) for level in start.fixed)
    at = State(start.t, start.positions[kept], start.velocities[kept], start.singular, (positions, velocities))
    return system.unaccounted, analyse(system.unaccounted, structure.redundancy), at


def state_of(system: System, offsets: np.ndarray, start: InitialState) -> np.ndarray:
    """Derivatives below the offset of every unknown, as the kernel wants them."""
    state = np.zeros((int(offsets.max()), system.n + system.m))
    for derivative, values in enumerate((start.positions, start.velocities)[: len(state)]):
        state[derivative, : system.n] = values
    return state


@frozen(slots=False, eq=False)
class States(Sequence[State]):
    """Where many marches begin, as columns; `fixed` is common to all."""

    t: np.ndarray  # (states,)
    positions: np.ndarray  # (states, coordinates)
    velocities: np.ndarray
    singular: np.ndarray
    fixed: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())

    @classmethod
    def of(cls, states: Sequence[InitialState], n: int) -> States:
        shape = len(states), n
        q = np.array([state.positions for state in states], dtype=float).reshape(shape)
        v = np.array([state.velocities for state in states], dtype=float).reshape(shape)
        return cls(np.array([state.t for state in states], float), q, v, np.array([s.singular for s in states], bool))

    def __len__(self) -> int:
        return len(self.t)

    @overload
    def __getitem__(self, k: int) -> State: ...
    @overload
    def __getitem__(self, k: slice) -> States: ...
    def __getitem__(self, k: int | slice) -> State | States:
        columns = self.t[k], self.positions[k], self.velocities[k], self.singular[k]
        if isinstance(k, slice):
            return States(*columns, self.fixed)
        return State(float(columns[0]), columns[1], columns[2], bool(columns[3]), self.fixed)

    def chosen(self, places: np.ndarray) -> States:
        columns = self.t[places], self.positions[places], self.velocities[places], self.singular[places]
        return States(*columns, self.fixed)

    def derivatives(self, offsets: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Of the chosen ones what `state_of` gives for each: (chosen, derivatives, unknowns)."""
        n = self.positions.shape[1]
        result = np.zeros((len(chosen), int(offsets.max()), len(offsets)))
        for derivative, values in enumerate((self.positions, self.velocities)[: result.shape[1]]):
            result[:, derivative, :n] = values[chosen]
        return result
