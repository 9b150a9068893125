"""The starts that are given for many motions: states of their own, as columns, or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mechsim.engine import State
from mechsim.engine.state import States
from mechsim.equations import Values
from mechsim.errors import Fault, MechsimError
from mechsim.handle.family import Variation
from mechsim.result import Motion
from mechsim.structure import is_singular

if TYPE_CHECKING:
    from mechsim.handle.mechanism_handle import MechanismHandle

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Beginning = Motion | State | tuple[Values, Values]
Beginnings = Beginning | Sequence[Beginning | None] | None


class Begun:
    """What motions start from: nothing but their file, one state for all, or one for each."""

    def __init__(self, handle: MechanismHandle, start: Beginnings, t0: float | None):
        n = handle.system.n
        self._columns = _columns(handle, start)
        self._list: Sequence[Beginning | None] = start if isinstance(start, list) else [start]  # type: ignore[list-item]
        count = len(self._list) if self._columns is None else max(map(len, self._columns))
        self.given, self.wrong = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        self.t, self.q, self.v = np.full(count, np.nan), np.zeros((count, n)), np.zeros((count, n))
        if self._columns is not None:
            self.q[:], self.v[:] = self._columns
            self.t[:], self.given[:] = float(handle._file.problem.t0) if t0 is None else t0, True
            return
        for k, each in enumerate(self._list):
            self.given[k] = each is not None
            if each is not None:
                self._take(k, handle, each, t0)

    def _take(self, k: int, handle: MechanismHandle, start: Beginning, t0: float | None) -> None:
        try:
            state = handle._state(start, t0)
            self.q[k], self.v[k], self.t[k] = state.positions, state.velocities, state.t
        except (MechsimError, ValueError):
            self.wrong[k] = True

    def __len__(self) -> int:
        return len(self.t)

    def of(self, k: int) -> Beginning | None:
        """As it was given for one motion."""
        k = k if len(self) > 1 else 0
        return self._list[k] if self._columns is None else (self.q[k], self.v[k])

    def rows(self, numbers: Indices) -> Indices:
        """Which of the starts these motions have."""
        return numbers if len(self) > 1 else np.zeros(len(numbers), dtype=np.intp)


def _columns(handle: MechanismHandle, start: Beginnings) -> tuple[Array, Array] | None:
    """Positions and velocities of each motion, (motions, coordinates), where they are given so."""
    if not isinstance(start, tuple) or len(start) != 2 or not any(_is_table(part) for part in start):
        return None
    q, v = (np.atleast_2d(np.array(part, dtype=float)) for part in start)
    n = handle.system.n
    if q.shape[1:] != (n,) or v.shape[1:] != (n,) or (len(q) != len(v) and 1 not in (len(q), len(v))):
        message = f"positions and velocities to start from must be (motions, {n}), but are {q.shape} and {v.shape}"
        raise MechsimError(Fault(message, hint=f"columns are {', '.join(handle.coordinates)}"))
    return q, v


def _is_table(part: object) -> bool:
    return isinstance(part, np.ndarray) and part.ndim == 2


def consistent_many(variation: Variation, values: Array, t: Array, q: Array, v: Array) -> States:
    """States to start from, (states, coordinates), with the rates of integrals, as `consistent` of run.py has them; the
    time is NaN where they do not satisfy the constraints, which is told of each alone."""
    rates, close, regular = variation.many.checked(values, t, q, v)
    singular = np.zeros(len(t), dtype=bool)
    for k in np.flatnonzero(~regular & close):
        singular[k] = is_singular(variation.system(np.ascontiguousarray(values[:, k])), float(t[k]), q[k])
    return States(np.where(close, t, np.nan), q, rates, singular)
