"""Motion: what `mechsim.simulate` hands back. Any point at any time, as a table, with its certificate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mechsim.model.mechanism import Mechanism
from mechsim.result.certificate import Certificate, Monitor
from mechsim.result.layout import Array, full_layout
from mechsim.result.trajectory import Polynomials, Trajectory

if TYPE_CHECKING:
    import pandas


class State(Mapping[str, Array]):
    """Numbers of a mechanism by name: `state["A"]` is a vector, `state["A_x"]` and `state["theta_OF"]` numbers.

    `values` is (n,) or, for many times, (k, n). For velocities `constant` is 0, which is how fixed points move.
    """

    def __init__(self, mechanism: Mechanism, values: Array, constant: float = 1.0):
        self.mechanism = mechanism
        self.values_array = values
        self.constant = constant
        self.places = {variable.label: index for index, variable in enumerate(mechanism.variables)}

    def __getitem__(self, name: str) -> Array:
        if name in self.places:
            return self.values_array[..., self.places[name]]
        if name in self.mechanism.points:
            slots = self.mechanism.points[name]
            return np.stack([self._slot(slot) for slot in slots], axis=-1)
        raise KeyError(f"no point or coordinate {name!r}; there are {', '.join(self)}")

    def _slot(self, slot: int) -> Array:
        if slot >= 0:
            return self.values_array[..., slot]
        return np.full(self.values_array.shape[:-1], self.constant * self.mechanism.constants[-1 - slot])

    def __iter__(self) -> Iterator[str]:
        yield from self.mechanism.points
        yield from (variable.label for variable in self.mechanism.variables if variable.kind != "position")

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name}: {np.array2string(self[name], threshold=6)}" for name in self) + "}"


class Motion:
    """A solved motion. `facts` are the title, spec text, settings and version that its files carry.

    `complete` is the system with all constraints, also those the engine left out as redundant.
    """

    def __init__(self, solution: Any, facts: Mapping[str, Any], complete: Any = None):
        self.solution = solution
        self.system = solution.system
        self.complete = complete or solution.system
        self.mechanism: Mechanism = solution.system.mechanism
        self.facts = dict(facts)

    def __call__(self, t: float | Array) -> State:
        """Positions at time t (a number or an array), e.g. `motion(0.5)["A"]`."""
        return State(self.mechanism, self._sample(t)[0])

    def velocity(self, t: float | Array) -> State:
        """Velocities at time t, e.g. `motion.velocity(0.5)["A"]`."""
        return State(self.mechanism, self._sample(t)[1], constant=0.0)

    def multipliers(self, t: float | Array) -> dict[str, Array]:
        """Lagrange multipliers of the constraints at time t, by label, e.g. `motion.multipliers(0.5)["l_OA"]`."""
        values = self._sample(t)[2]
        labels = self.system.labels[self.system.n :]
        return {label: values[..., index] for index, label in enumerate(labels)}

    @property
    def t(self) -> Array:
        """The ends of the steps taken, the start first."""
        return np.asarray(self.solution.t)

    @property
    def status(self) -> str:
        return str(self.solution.status)

    @cached_property
    def trajectory(self) -> Trajectory:
        """The table of the steps taken, every column."""
        return tabulate(self.solution, self.complete, self.facts)

    @property
    def certificate(self) -> Certificate:
        certificate = self.trajectory.certificate
        assert certificate is not None  # tabulate always gives one
        return certificate

    def sampled(self, times: Array) -> Trajectory:
        """The table at times of your choice, from dense output."""
        return tabulate(self.solution, self.complete, self.facts, np.asarray(times, float))

    def to_pandas(self) -> pandas.DataFrame:
        """The steps taken as a pandas DataFrame."""
        return self.trajectory.to_pandas()

    def save(self, path: str | Path) -> Path:
        """Write the steps taken to `.csv`, `.npz` or `.parquet`, by the file's ending."""
        return self.trajectory.save(path)

    def _sample(self, t: float | Array) -> tuple[Array, Array, Array]:
        times = np.atleast_1d(np.asarray(t, float))
        first, last = self.t[0], self.t[-1]
        if not np.all((times >= first) & (times <= last)):
            raise ValueError(f"the motion is known from t = {first:g} to {last:g}, not at all of {t}")
        q, v, lam = self.solution.sample(times)
        return (q[0], v[0], lam[0]) if np.ndim(t) == 0 else (q, v, lam)

    def __repr__(self) -> str:
        return f"<Motion of {self.mechanism.title!r}, t = {self.t[0]:g} to {self.t[-1]:g}, {self.status}>"


def tabulate(solution: Any, complete: Any, facts: Mapping[str, Any], times: Array | None = None) -> Trajectory:
    """The table of a solution, at `times` or at the steps taken, with its certificate and polynomials."""
    monitor = Monitor(complete)
    if times is None:
        wide = monitor.observe(solution.t, solution.q, solution.v)
    else:
        q, v, _ = solution.sample(times)
        wide = monitor.observe(times, q, v)
    layout = full_layout(solution.system.mechanism)
    return Trajectory(
        labels=layout.labels,
        units=layout.units,
        table=layout.table(wide),
        certificate=monitor.certificate(facts["settings"]["tol"], solution.statistics),
        polynomials=polynomials(solution),
        status="finished" if solution.status == "finished" else "partial",
        **facts,
    )


def polynomials(solution: Any) -> Polynomials | None:
    """The Taylor series of a solution that kept them."""
    if solution.coefficients is None:
        return None
    t = np.asarray(solution.t)
    return Polynomials(t[:-1], t[1:], np.asarray(solution.coefficients), tuple(solution.system.labels))
