"""Which constants of the mechanism held at which time. A motion and an .npz tell; for other files, tables are known
functions of time, and what a sampled controller held is computed again from the rows at its sampling times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from mechsim.model.mechanism import Mechanism
from mechsim.result.constants import Changes
from mechsim.result.layout import Array

NEAR = 1e-9  # of a sampling period: a row this near is the one at the sampling time


@dataclass(frozen=True, slots=True)
class Held:
    """The constants along a motion; None: they never change. `unknown` are sampled controllers whose output cannot be
    told: forces that depend on them must not be drawn, while energies and constraints do not."""

    changes: Changes | None
    unknown: tuple[str, ...] = ()

    def at(self, mechanism: Mechanism, times: Any, *, before: bool = False) -> Array | None:
        """See `Changes.at`."""
        return None if self.changes is None else self.changes.at(mechanism, times, before=before)


def held_along(mechanism: Mechanism, columns: Mapping[str, Array], told: Changes | None) -> Held:
    """From what the results tell, else from the mechanism and the rows in `columns`."""
    if told is not None and _fits(told, mechanism):
        return Held(told)
    if mechanism.samplers:
        replayed = _replayed(mechanism, columns)
        names = tuple(mechanism.elements[sampler.element].owner for sampler in mechanism.samplers)
        return Held(replayed) if replayed else Held(Changes.known(mechanism), names)
    return Held(Changes.known(mechanism) if mechanism.switches else None)


def _fits(changes: Changes, mechanism: Mechanism) -> bool:
    inside = np.all((changes.numbers >= 0) & (changes.numbers < len(mechanism.constants)))
    return bool(len(changes.times) and inside and changes.values.shape == (len(changes.times), len(changes.numbers)))


def _replayed(mechanism: Mechanism, columns: Mapping[str, Array]) -> Changes | None:
    """The stops of the march, made again on its rows. None where the results lack a row that a controller saw."""
    from mechsim.engine.stops import Stops
    from mechsim.kernel.system import System

    labels = [variable.label for variable in mechanism.variables]
    rates = [f"{variable.label}_dot" for variable in mechanism.variables if variable.kind != "state"]
    if any(label not in columns for label in (*labels, *rates)):
        return None
    t, nothing = columns["t"], np.zeros(len(columns["t"]))
    near = NEAR * min(sampler.period for sampler in mechanism.samplers)
    if any(abs(t[0] - sampler.start) > near for sampler in mechanism.samplers):
        return None  # sums of errors began before these rows
    q = np.column_stack([columns[label] for label in labels])
    v = np.column_stack([columns.get(f"{label}_dot", nothing) for label in labels])
    stops = Stops(System(mechanism), SimpleNamespace(t=t[0], positions=q[0], velocities=v[0]), float(t[-1]))
    nobody = SimpleNamespace(set_constant=lambda number, value: None)
    stops.begin(nobody)
    while stops.next < t[-1]:
        row = int(np.searchsorted(t, stops.next - near))
        if abs(t[row] - stops.next) > near:
            return None
        stops.reached(nobody, stops.next, q[row], v[row])
    return Changes.of([time for time, _ in stops.history], np.array([values for _, values in stops.history]))
