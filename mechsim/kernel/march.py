"""A march as Python sees it: what `March` in src/module.cpp can be asked."""

from __future__ import annotations

from typing import Protocol

import numpy as np

Advance = tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class March(Protocol):
    """The compiled integrator of one plan, at one order and tolerance. See src/march.hpp."""

    @property
    def time(self) -> float: ...
    @property
    def distance(self) -> float:
        """How far the last projection moved the state, in scales."""

    @property
    def statistics(self) -> dict[str, float]: ...
    def set_state(self, t: float, state: np.ndarray) -> None:
        """Derivatives (order, unknown), not yet consistent."""

    def set_constant(self, number: int, value: float) -> None: ...
    def tune(self, tables: np.ndarray, constants: np.ndarray, scales: np.ndarray, matrix: np.ndarray) -> None: ...
    def tune_gaps(self, numbers: np.ndarray) -> None: ...
    def tune_frictions(self, numbers: np.ndarray) -> None: ...
    def prepare(self) -> int:
        """Project the state and find what leads; a `Status`."""

    def expand(self) -> np.ndarray:
        """The coefficients (degree, unknown) at a prepared state."""

    def advance(self, t_end: float, steps: int, seconds: float, keep: bool) -> Advance:
        """A `Status`; times, values and rates at step ends; where steps began, and their polynomials."""

    @property
    def fired(self) -> int:
        """The event that an advance stopped at, by its number."""

    def take_events(self) -> np.ndarray:
        """What happened at gaps since this was last asked, a row for each; see `engine/events.py` for its columns."""

    def attach(self, bonds: np.ndarray) -> tuple[int, np.ndarray]:
        """Let bonds, numbered as gaps, take hold: a `Status`; their rates before, impulses, and energies taken."""

    def overlaps(self) -> np.ndarray:
        """The least that each gap was so far, where that is negative."""

    def shared(self) -> np.ndarray:
        """Not zero for gaps, and behind them frictions, that bore what others could have."""

    def project(self, times: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All coefficients of each state, with order 1 those up to what leads, and its leverage."""

    def set_tangents(self, state: np.ndarray, tables: np.ndarray, constants: np.ndarray) -> None:
        """Changes of the state (order, unknown, direction), of the blocks' constants and of the mechanism's."""

    def keep_tangents(self, dense: bool) -> None: ...
    def set_constant_change(self, number: int, change: np.ndarray) -> None: ...
    def constant_changes(self) -> np.ndarray: ...
    def prepare_tangents(self) -> bool: ...
    def tangent_coefficients(self, whole: bool) -> np.ndarray: ...
    def orthonormalise_tangents(self, weights: np.ndarray) -> np.ndarray:
        """Make the directions orthonormal in weights (order, unknown) of the state; logarithms of their lengths."""

    def take_tangents(self) -> tuple[np.ndarray, np.ndarray]: ...
    def set_contact_changes(self, gaps: np.ndarray, frictions: np.ndarray) -> None:
        """Changes of restitutions (gap, direction), and of frictions that slide and stick (friction, 2, direction)."""

    def take_event_changes(self) -> np.ndarray:
        """By how much each event of `take_events` came later, (event, direction)."""

    @property
    def tangent_failure(self) -> str:
        """Why a motion cannot be differentiated at an event; empty for other reasons."""

    def event_change(self) -> np.ndarray:
        """The same of the user's event at which the march stands."""

    def forget_tangents(self) -> None: ...
    def snapshot(self) -> bytes: ...
    def restore(self, given: bytes) -> None: ...
