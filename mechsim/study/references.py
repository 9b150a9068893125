"""A run beside what is known of it: digits that agree with the `Reference` of its file.

Digits are -log10(|error| / size). The size is the one given, or else the largest that the quantity was from the start
until then: of the components of a vector (`A_x`, `A_y`) its length. So a value near zero is not asked for digits that
nobody has, millimetres and metres give the same digits, and what comes later does not matter.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from mechsim import simulation
from mechsim.engine import Points
from mechsim.engine.sampling import Sampling, StepRows
from mechsim.errors import SpecError
from mechsim.frozen import frozen
from mechsim.result.certificate import Certificate, Monitor
from mechsim.result.derived import Derived
from mechsim.result.layout import Array, Layout, full_layout, wide_rows
from mechsim.simulation import Prepared
from mechsim.spec.document import Known, Reference
from mechsim.spec.known import MOST_DIGITS, unknown_column

COMPONENT = re.compile(r"(.*_[Fa]?)([xyz])((?:_dot)?)")


@frozen
class Agreement:
    """A known value, what a run found, and how many digits of it agree."""

    known: Known
    found: float
    digits: float

    @property
    def margin(self) -> float:
        """Digits beyond those asked for; negative: it is missed."""
        return self.digits - self.known.digits

    @property
    def missed(self) -> bool:
        return not self.margin >= 0.0

    def __str__(self) -> str:
        known = self.known
        return (
            f"{known.column} at t = {known.time:g} has {self.digits:.1f} digits of {known.digits:g} asked for: "
            f"{self.found:.17g} instead of {known.value:.17g}"
        )


def digits_of(error: float, size: float) -> float:
    """Correct digits of a value, from 0 to 16; what is no number has none."""
    if error == 0.0:
        return float(MOST_DIGITS)
    if not (math.isfinite(error) and 0.0 < size < math.inf):
        return 0.0
    return min(float(MOST_DIGITS), max(0.0, -math.log10(abs(error) / size)))


def missed_bars(reference: Reference, certificate: Certificate) -> tuple[str, ...]:
    """The bars of the file's Reference that a run did not keep, in words."""
    missed = []
    residual = max(certificate.position_residual, certificate.velocity_residual)
    if reference.energy is not None and not certificate.energy_drift <= reference.energy:
        missed.append(f"energy drifts by {certificate.energy_drift:.1e}; at most {reference.energy:g} is asked for")
    if reference.constraints is not None and not residual <= reference.constraints:
        missed.append(f"constraints are met to {residual:.1e}; at most {reference.constraints:g} is asked for")
    if reference.steps is not None and certificate.steps > reference.steps:
        missed.append(f"{certificate.steps} steps were taken; at most {reference.steps} are asked for")
    return tuple(missed)


def worst(agreements: Sequence[Agreement]) -> Agreement | None:
    """The one that comes nearest to its bar, or misses it furthest."""
    return min(agreements, key=lambda each: each.margin, default=None)


class Witness:
    """Watches a march with its polynomials (`detailed`) and compares it with the Reference of its file.

    A `monitor` sees the same rows as that of `mechsim run`. Raises SpecError for a column that the run has not.
    """

    def __init__(self, prepared: Prepared, monitor: Monitor | None = None):
        reference, tend = prepared.spec.reference, float(prepared.spec.problem.tend)
        self.known = [] if reference is None else [each for each in reference.values if each.time <= tend]
        self.columns = Columns(prepared, self.known)
        self.monitor = monitor
        self.seconds = 0.0  # spent here, within the engine's loop
        leading = partial(simulation.leading, prepared)
        self._rows = StepRows(leading)
        self._sampling = Sampling(np.array(sorted({each.time for each in self.known})), leading)
        self._peaks = np.zeros(len(self.columns.names))
        self._found: dict[float, tuple[Array, Array]] = {}  # by time: values, and the largest sizes until then

    def __call__(self, points: Points) -> None:
        began = time.perf_counter()
        self._observe(points)
        self.seconds += time.perf_counter() - began

    def _observe(self, points: Points) -> None:
        for rows in self._rows.passed(points):
            if self.monitor is not None:
                self.monitor.observe(rows)
            sizes = self.columns.values(rows)[1]
            for passed in self._sampling.passed(points):
                self._take(passed, rows.t, sizes)
            self._peaks = _larger(self._peaks, sizes)

    def agreements(self) -> tuple[Agreement, ...]:
        """How every known value compares, in the order of time. To be asked when the march is over."""
        for points in self._sampling.rest():
            self._take(points, np.zeros(0), np.zeros((0, len(self._peaks))))
        return tuple(self._agreement(each) for each in self.known if each.time in self._found)

    def _take(self, points: Points, t: Array, sizes: Array) -> None:
        """Keep the values at these points; `sizes` are those of the rows about them, at the times `t`."""
        for moment, value, size in zip(points.t.tolist(), *self.columns.values(points), strict=True):
            before = np.concatenate([sizes[t <= moment], size[None]])
            self._found[moment] = value, _larger(self._peaks, before)

    def _agreement(self, known: Known) -> Agreement:
        place = self.columns.names.index(known.column)
        values, sizes = self._found[known.time]
        found = float(values[place])
        size = known.size or max(abs(known.value), float(sizes[place]))
        return Agreement(known, found, digits_of(found - known.value, size))


class Columns:
    """The columns that a Reference names, with the vectors that they are components of."""

    def __init__(self, prepared: Prepared, known: Sequence[Known]):
        self.layout: Layout = full_layout(prepared.mechanism)
        self.derived: Derived | None = None
        labels = self.layout.labels
        self.names = sorted({each.column for each in known})
        if any(name not in labels for name in self.names):  # forces and signals take their time
            self.derived = simulation.derived(prepared, simulation.reaction_points(prepared))
            labels = labels + self.derived.labels
        if faults := [unknown_column(each, labels) for each in known if each.column not in labels]:
            raise SpecError(*faults)
        self._places = [labels.index(name) for name in self.names]
        self._vectors = [[labels.index(label) for label in _components(name, labels)] for name in self.names]
        first_energy = 1 + 2 * len(prepared.mechanism.variables)  # in a wide row
        self._energies = [
            place for place in self._places if place in np.flatnonzero(self.layout.places >= first_energy)
        ]

    def values(self, points: Points) -> tuple[Array, Array]:
        """Values at each point, a row for each, and the lengths of their vectors."""
        none = np.zeros(len(points))
        kinetic, potential = points.system.energies(*points.state) if self._energies else (none, none)
        table = self.layout.table(wide_rows(*points.state, np.asarray(kinetic), np.asarray(potential)))
        if self.derived is not None:
            table = np.concatenate([table, self.derived.table(points)], axis=1)
        lengths = [np.linalg.norm(table[:, places], axis=1) for places in self._vectors]
        return table[:, self._places], np.stack(lengths, axis=1) if lengths else np.zeros((len(points), 0))


def _components(label: str, labels: Sequence[str]) -> list[str]:
    """The columns of the vector that a column is a component of; itself alone where it is of none."""
    found = COMPONENT.fullmatch(label)
    others = [f"{found[1]}{axis}{found[3]}" for axis in "xyz"] if found else [label]
    return [each for each in others if each in labels]


def _larger(peaks: Array, sizes: Array) -> Array:
    return np.max(np.concatenate([peaks[None], np.abs(sizes)]), axis=0)
