"""Where everything is at times of your choice: Taylor series when the results have them, else cubic Hermite
interpolation (seed 001 section 5), then each part placed rigidly. Never straight lines between rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mechsim.errors import Fault
from mechsim.model.mechanism import Mechanism
from mechsim.render.scene import Scene, scene_of
from mechsim.result.journal import OutputError
from mechsim.result.layout import Array
from mechsim.result.trajectory import Trajectory
from mechsim.spec.number import LARGEST

POINTS_PER_ROW = 3  # of a trail: steps of a Taylor series are long
FINENESS = (4, 40)  # points of a trail per frame, at least and at most


@dataclass(frozen=True, slots=True)
class Frames:
    """A motion at k times. Fixed points are here too; a pose is (origin (k, 2), angle (k,), counted on over turns)."""

    t: Array
    points: Mapping[str, Array]  # (k, 2)
    velocities: Mapping[str, Array]  # (k, 2)
    poses: Mapping[str, tuple[Array, Array]]  # by rigid part
    energies: Mapping[str, Array]  # "T", "V", where the results have them
    coordinates: Array  # (k, n), the mechanism's q
    rates: Array  # (k, n)
    trails: Mapping[str, Array] = field(
        default_factory=dict
    )  # finer than the frames, for traces: every k-th is a frame
    fineness: int = 1  # k
    reactions: tuple[Any, ...] = ()  # arrows of the forces in the joints, when they are to be shown
    notes: tuple[str, ...] = ()  # what a person should be told: rows left out, derivatives guessed

    def __len__(self) -> int:
        return len(self.t)


def span(trajectory: Any) -> tuple[float, float]:
    """The first and the last time of a motion that can be drawn."""
    t = usable(table_of(trajectory))[0]["t"]
    return float(t[0]), float(t[-1])


def sample(trajectory: Any, times: Array, scene: Scene | None = None) -> Frames:
    """The motion of a Trajectory (or a Motion) at `times`, which are held to its span."""
    trajectory = table_of(trajectory)
    scene = scene or scene_of(trajectory)
    columns, notes = usable(trajectory)
    times = np.clip(np.atleast_1d(np.asarray(times, float)), columns["t"][0], columns["t"][-1])
    q, v, more = _coordinates(trajectory, columns, scene.mechanism, times)
    points = {name: _point(slots, q, scene.mechanism, 1.0) for name, slots in scene.mechanism.points.items()}
    velocities = {name: _point(slots, v, scene.mechanism, 0.0) for name, slots in scene.mechanism.points.items()}
    poses = {part.name: pose(part.local, np.stack([points[p] for p in part.points], 1)) for part in scene.parts}
    energies = {key: hermite(columns["t"], columns[key], None, times)[0] for key in "TV" if key in columns}
    notes = [*trajectory.notes, *notes, *more]
    return Frames(times, points, velocities, poses, energies, q, v, notes=tuple(notes))


def with_trails(frames: Frames, trajectory: Any, scene: Scene, names: Sequence[str]) -> Frames:
    """The same frames, and the ways of some points between them as finely as the integrator went."""
    if not names or len(frames) < 2:
        return frames
    table = table_of(trajectory)
    first, last = span(table)
    rows = len(table) * (frames.t[1] - frames.t[0]) / (last - first)  # of the results, in a frame
    fineness = int(np.clip(np.ceil(POINTS_PER_ROW * rows), *FINENESS))
    count = len(frames)
    between = np.interp(np.arange(fineness * (count - 1) + 1) / fineness, np.arange(count), frames.t)
    fine = sample(table, between, scene)
    return replace(frames, trails={name: fine.points[name] for name in names}, fineness=fineness)


def with_exact_energies(frames: Frames, scene: Scene) -> Frames:
    """The same frames, with energies from the mechanism's own Lagrangian instead of the table's, interpolated."""
    from mechsim.kernel.system import System

    kinetic, potential = System(scene.mechanism).energies(frames.t, frames.coordinates, frames.rates)
    return replace(frames, energies={"T": np.asarray(kinetic), "V": np.asarray(potential)})


def placed(shape: Array, where: tuple[Array, Array], frame: int) -> Array:
    """A shape of a part's own frame, in the world at one frame."""
    origin, angle = where
    cos, sin = np.cos(angle[frame]), np.sin(angle[frame])
    moved: Array = shape @ np.array([[cos, sin], [-sin, cos]]) + origin[frame]
    return moved


def pose(local: Array, world: Array) -> tuple[Array, Array]:
    """The rigid placement nearest to `world` (k, points, 2) of points that stand at `local` in the part's frame."""
    own, there = local @ (1, 1j), world @ (1, 1j)
    own_mean, mean = own.mean(), there.mean(axis=1)
    turn = ((there - mean[:, None]) * (own - own_mean).conj()).sum(axis=1)
    turn = np.where(turn == 0, 1, turn / np.where(turn == 0, 1, np.abs(turn)))
    origin = mean - turn * own_mean
    return np.stack([origin.real, origin.imag], axis=1), np.unwrap(np.angle(turn))


def hermite(t: Array, values: Array, slopes: Array | None, times: Array) -> tuple[Array, Array]:
    """Cubic Hermite interpolation and its derivative; slopes that are not known come from the neighbouring rows."""
    if len(t) == 1:
        still = np.zeros_like(times) if slopes is None else np.full_like(times, slopes[0])
        return np.full_like(times, values[0]), still
    if slopes is None:
        slopes = np.gradient(values, t, edge_order=2 if len(t) > 2 else 1)
    i = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    h = t[i + 1] - t[i]
    s = (times - t[i]) / h
    a, b, da, db = values[i], values[i + 1], slopes[i] * h, slopes[i + 1] * h
    square, cube = 3 * (b - a) - 2 * da - db, 2 * (a - b) + da + db
    return a + s * (da + s * (square + s * cube)), (da + s * (2 * square + 3 * s * cube)) / h


def table_of(trajectory: Any) -> Trajectory:
    """The table of a Motion, or the Trajectory itself."""
    table: Trajectory = getattr(trajectory, "trajectory", trajectory)
    return table


def usable(trajectory: Trajectory) -> tuple[dict[str, Array], list[str]]:
    """Columns by name, without rows that hold no number or do not go on in time; and what was left out."""
    if "t" not in trajectory.labels:
        raise OutputError("the results have no column t")
    table, t = trajectory.table, trajectory.t
    numbers = (np.abs(table) <= LARGEST).all(axis=1)  # beyond, squares are no numbers any more
    forward = np.ones(len(t), bool)
    forward[1:] = t[1:] > np.fmax.accumulate(np.where(numbers, t, -np.inf))[:-1]
    notes = []
    if not numbers.all():
        notes.append(
            f"{_rows(~numbers)} with values that are no numbers left out, the first is row {np.argmin(numbers) + 1}"
        )
    if not forward[numbers].all():
        notes.append(f"{_rows(~forward & numbers)} left out, where time does not go on")
    kept = table[numbers & forward]
    if not len(kept):
        raise OutputError(Fault("the results hold no row that can be drawn", hint="the run may have stopped at once"))
    return {label: kept[:, index] for index, label in enumerate(trajectory.labels)}, notes


def _rows(mask: Any) -> str:
    count = int(mask.sum())
    return f"{count} row{'s' if count > 1 else ''}"


def _coordinates(
    trajectory: Trajectory, columns: Mapping[str, Array], mechanism: Mechanism, times: Array
) -> tuple[Array, Array, list[str]]:
    """q and its derivative at `times`, shape (k, n) each, and notes."""
    labels = [variable.label for variable in mechanism.variables]
    series = trajectory.polynomials
    if series is not None and np.isfinite(series.coefficients).all() and set(labels) <= set(series.labels):
        places = [series.labels.index(label) for label in labels]
        return *_from_series(series, times, places), []
    needed = [each.label for each in mechanism.variables if each.kind == "position"]
    if missing := [label for label in needed if label not in columns]:
        hint = "draw the file as mechsim run wrote it"
        raise OutputError(Fault(f"the results lack the columns {', '.join(missing)}", hint=hint))
    q, v = np.zeros((2, len(times), len(labels)))
    for index, label in enumerate(labels):
        if label in columns:
            q[:, index], v[:, index] = hermite(columns["t"], columns[label], columns.get(f"{label}_dot"), times)
    guessed = [label for label in needed if f"{label}_dot" not in columns]
    notes = [f"no velocities in the results for {', '.join(guessed)}: taken from neighbouring rows"] if guessed else []
    return q, v, notes


def _from_series(series: Any, times: Array, places: list[int]) -> tuple[Array, Array]:
    """Horner's rule for the series and its derivative, all variables at once."""
    steps = np.clip(np.searchsorted(series.t, times, side="right") - 1, 0, len(series.t) - 1)
    local = (times - series.t[steps])[:, None]
    values, rates = np.zeros((2, len(times), len(places)))
    for order in reversed(range(series.coefficients.shape[2])):
        rates = rates * local + values
        values = values * local + series.coefficients[steps[:, None], places, order]
    return values, rates


def _point(slots: tuple[int, ...], values: Array, mechanism: Mechanism, constant: float) -> Array:
    """Columns of a point; those of a fixed point are constants, and its velocity (`constant` 0) is none."""
    columns = [
        values[:, slot] if slot >= 0 else np.full(len(values), constant * mechanism.constants[-1 - slot])
        for slot in slots
    ]
    return np.stack(columns, axis=1)
