"""Where a march begins, and what one that was stopped hands on to the one that continues it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mechsim.engine.stops import Passed
from mechsim.kernel.compiled import fingerprint
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


def state_of(system: System, offsets: np.ndarray, start: InitialState) -> np.ndarray:
    """Derivatives below the offset of every unknown, as the kernel wants them."""
    state = np.zeros((int(offsets.max()), system.n + system.m))
    for derivative, values in enumerate((start.positions, start.velocities)[: len(state)]):
        state[derivative, : system.n] = values
    return state
