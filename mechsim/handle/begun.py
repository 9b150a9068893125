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
from mechsim.handle.run import OFF
from mechsim.initial.many import with_state_rates
from mechsim.kernel.columns import Columns, padded
from mechsim.kernel.linear import generic
from mechsim.kernel.orthogonal import Rows, total
from mechsim.result import Motion
from mechsim.structure import SINGULAR, is_singular

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
    if not isinstance(start, tuple) or len(start) != 2 or not any(np.ndim(part) == 2 for part in start):
        return None  # type: ignore[arg-type]
    q, v = (np.atleast_2d(np.asarray(part, dtype=float)) for part in start)  # type: ignore[arg-type]
    n = handle.system.n
    if q.shape[1] != n or v.shape[1] != n or (len(q) != len(v) and 1 not in (len(q), len(v))):
        message = f"positions and velocities to start from must be (motions, {n}), but are {q.shape} and {v.shape}"
        raise MechsimError(Fault(message, hint=f"columns are {', '.join(handle.coordinates)}"))
    return q, v


def consistent_many(variation: Variation, values: Array, t: Array, q: Array, v: Array) -> States:
    """States to start from, (states, coordinates), with the rates of integrals, as `consistent` of run.py has them; the
    time is NaN where they do not satisfy the constraints, which is told of each alone."""
    count = len(t)
    wide = padded(count)
    columns = Columns(variation.like, variation.numbers, values[:, wide], t[wide])
    positions, velocities = np.ascontiguousarray(q[wide].T), np.ascontiguousarray(v[wide].T)
    with np.errstate(all="ignore"):
        close = _is_close(columns, positions, velocities)
        rates = with_state_rates(columns, positions, velocities, variation.states)
        regular = _is_regular(columns, positions)
    singular = np.zeros(count, dtype=bool)
    for k in np.flatnonzero(~regular[:count] & close[:count]):
        system = variation.system(np.ascontiguousarray(values[:, k]))
        singular[k] = is_singular(system, float(t[k]), q[k])
    begun = np.where(close[:count], t, np.nan)
    return States(begun, q, np.ascontiguousarray(rates[:, :count].T), singular)


def _is_close(columns: Columns, q: Array, v: Array) -> NDArray[np.bool_]:
    scaled = columns.rate_jacobian(q, v) * columns.scales
    lengths = np.sqrt(total(np.swapaxes(scaled * scaled, 0, 1)))
    lengths = np.where(lengths > 0, lengths, 1.0)
    speed = np.maximum(1.0, np.max(np.abs(v / columns.scales), axis=0, initial=0.0))
    off = np.abs(columns.constraints(q) / lengths), np.abs(columns.rates(q, v) / (lengths * speed))
    return np.asarray((off[0] <= OFF).all(axis=0) & (off[1] <= OFF).all(axis=0))


def _is_regular(columns: Columns, q: Array) -> NDArray[np.bool_]:
    """Surely no singular pose is near."""
    if not 0 < columns.m <= columns.n:
        return np.ones(columns.count, dtype=bool)
    jacobian = columns.rate_jacobian(q, columns.scales * generic(columns.n)[:, None]) * columns.scales
    lengths = np.sqrt(total(np.swapaxes(jacobian * jacobian, 0, 1)))
    return np.asarray(Rows(jacobian / np.where(lengths > 0, lengths, 1.0)[:, None]).independence() >= SINGULAR)
