"""Results as they are plotted: columns and how large they are, energies, drift and residuals."""

from __future__ import annotations

import numpy as np

from mechsim.engine.points import Points
from mechsim.errors import Fault
from mechsim.frozen import frozen
from mechsim.render.dynamics import Dynamics
from mechsim.render.frames import hermite, rows_are_near, sample
from mechsim.render.rows import state_columns, usable
from mechsim.render.scene import Scene, scene_of
from mechsim.render.sizes import Sizes, natural_sizes, with_peaks
from mechsim.result.journal import OutputError
from mechsim.result.layout import Array
from mechsim.result.trajectory import Trajectory

SMOOTH = 8  # points drawn per row of the results, where they have velocities
BATCH = 32  # rows that share the gradients by which their residuals are judged


@frozen
class Result:
    """One file to plot: its usable columns, how large they are, and how its curves are told from those of others."""

    name: str
    trajectory: Trajectory
    columns: dict[str, Array]
    dash: str
    sizes: Sizes
    scene: Scene | None = None  # None: the file carries no mechanism

    @classmethod
    def of(cls, name: str, trajectory: Trajectory, dash: str) -> tuple[Result, list[str]]:
        """The result in a trajectory, and what had to be left out."""
        scene, unread = _scene(trajectory)
        columns, notes = usable(trajectory, state_columns(scene.mechanism) if scene else None)
        notes += unread
        duration = float(np.ptp(columns["t"]))
        natural = natural_sizes(scene, duration) if scene else Sizes({})
        units = dict(zip(trajectory.labels, trajectory.units, strict=False))
        return cls(name, trajectory, columns, dash, with_peaks(natural, columns, units), scene), notes

    def unit(self, label: str) -> str:
        units = dict(zip(self.trajectory.labels, self.trajectory.units, strict=False))
        return units.get(label, "")

    def column(self, label: str) -> Array:
        if label not in self.columns:
            hint = f"columns are {', '.join(self.columns)}"
            raise OutputError(Fault(f"{self.name} has no column {label}", hint=hint))
        return self.columns[label]

    def smooth(self, label: str) -> tuple[Array, Array]:
        """A column against time; between rows by cubic Hermite interpolation where its derivative is known."""
        t, values = self.columns["t"], self.column(label)
        if f"{label}_dot" not in self.columns or len(t) < 2:
            return t, values
        return self.fine, hermite(t, values, self.columns[f"{label}_dot"], self.fine)[0]

    @property
    def fine(self) -> Array:
        """The times of the rows, and more between them. The first of two rows at one time is just before it: what jumps
        there has both values."""
        t = self.columns["t"].copy()
        again = np.flatnonzero(t[1:] == t[:-1])
        t[again] = np.nextafter(t[again], -np.inf)
        return np.interp(np.arange(SMOOTH * (len(t) - 1) + 1) / SMOOTH, np.arange(len(t)), t)

    def at_events(self, name: str, *labels: str) -> list[Array]:
        """Columns where an event happened, behind it: a Poincaré section."""
        events = self.trajectory.events
        if events is None or name not in events.names:
            known = ", ".join(events.names) if events is not None else ""
            raise OutputError(Fault(f"{self.name} has no event {name}", hint=f"events are {known}" if known else ""))
        t, times = self.columns["t"], np.unique(events.of(name).column("t"))
        rows = np.searchsorted(t, times, side="right") - 1
        if not np.array_equal(t[rows], times):
            hint = "run it without --samples and --dt: then events have rows"
            raise OutputError(Fault(f"{self.name} has no rows at the times of {name}", hint=hint))
        return [self.column(label)[rows] for label in labels]

    def energies(self) -> tuple[Array, dict[str, Array]]:
        """T and V against time; between rows from the mechanism itself, where they are near enough to tell it."""
        rows = self.columns["t"], {key: self.column(key) for key in "TV"}
        if self.scene is None or len(rows[0]) < 2 or not rows_are_near(self.trajectory, self.columns, self.scene):
            return rows
        frames = sample(self.trajectory, self.fine, self.scene)
        return rows if frames.lacking else (frames.t, Dynamics(self.scene, frames).energies(frames))


def _scene(trajectory: Trajectory) -> tuple[Scene | None, list[str]]:
    """The scene of results, if they carry their mechanism; a note if that cannot be read: columns are there still."""
    if not trajectory.spec_text.strip():
        return None, []
    try:
        return scene_of(trajectory, drawn=False), []
    except OutputError as error:
        return None, [f"no residuals: {error.faults[0].message}"]


def energy_drift(result: Result) -> Array:
    """How far T + V (or H, where a Lagrangian is a user's own) less all work is from its start, over the largest term,
    as in the certificate."""
    work = sum((result.columns[label] for label in result.columns if label.startswith("work_")), np.zeros(1))
    own = not result.scene and "H" in result.columns
    total = (result.column("H") if own else result.column("T") + result.column("V")) - work
    largest = max(float(np.abs(each).max()) for each in (result.column("T"), result.column("V"), work))
    certificate = result.trajectory.certificate
    largest = max(largest, certificate.least_energy if certificate else 0.0) or 1.0
    drift: Array = np.abs(total - total[0]) / largest
    return drift


def constraint_residuals(result: Result) -> tuple[Array | None, Array | None, list[str]]:
    """Per row the largest miss of a constraint, as in the certificate, with the constants that held there: of holonomic
    ones over the size, of the rates of all over the peak speed. None where there is none; last, columns it lacks."""
    from mechsim.kernel.system import System
    from mechsim.result.certificate import Monitor

    assert result.scene
    mechanism, t = result.scene.mechanism, result.columns["t"]
    system = System(mechanism)
    labels = [variable.label for variable in mechanism.variables]
    lacking = [label for label in labels if label not in result.columns]
    if not system.m or lacking:
        return None, None, lacking if system.m else []
    q = np.column_stack([result.columns[label] for label in labels])
    nothing = np.zeros(len(t))
    v = np.column_stack([result.columns.get(f"{label}_dot", nothing) for label in labels])
    monitor = Monitor(system)
    points = Points(result.scene.segments.system_at(system, t, "before"), t, q, v)  # a row is the end of a step
    monitor.observe(points)
    found = []
    for first in range(0, len(t), BATCH):
        found.append([each.max(axis=1) for each in monitor.residuals(points[first : first + BATCH])])
    positions, rates = (np.concatenate(each) for each in zip(*found, strict=True))
    moving = [each.label for each in mechanism.variables if each.kind != "state"]
    known = all(f"{label}_dot" in result.columns for label in moving)
    rates = rates * monitor.size / (max(monitor.peak_speed, monitor.least_speed) or monitor.size)
    return positions if (system.levels == 2).any() else None, rates if known else None, []


def together(result: Result, horizontal: str, vertical: str) -> tuple[Array, Array]:
    """Two columns at the same fine times: a derivative comes from the interpolation of its value."""
    t = result.columns["t"]
    fine = result.smooth(horizontal)[0] if f"{horizontal}_dot" in result.columns else result.smooth(vertical)[0]
    found = []
    for label in (horizontal, vertical):
        value = label.removesuffix("_dot")
        if label != value and value in result.columns:
            found.append(hermite(t, result.column(value), result.column(label), fine)[1])
        else:
            found.append(hermite(t, result.column(label), result.columns.get(f"{label}_dot"), fine)[0])
    return found[0], found[1]


def coordinates(result: Result) -> list[str]:
    """Columns of positions; a drive's force on `A_x` is none."""
    return [each for each in result.columns if each.endswith(("_x", "_y", "_z")) and result.unit(each) == "m"]


def column_at(result: Result, label: str, times: Array) -> Array:
    series = result.trajectory.polynomials
    if series is not None and label in series.labels:
        return series(times)[:, series.labels.index(label)]
    return hermite(result.columns["t"], result.columns[label], result.columns.get(f"{label}_dot"), times)[0]
