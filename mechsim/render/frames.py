"""Where everything is at times of your choice: Taylor series when the results have them, else cubic Hermite
interpolation (seed 001 section 5), then each part placed rigidly. Never straight lines between rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mechsim.errors import Fault
from mechsim.frozen import frozen
from mechsim.kernel.series import horner
from mechsim.model.mechanism import Mechanism
from mechsim.render.poses import Pose, placed, pose
from mechsim.render.rows import Drawable, state_columns, table_of, usable
from mechsim.render.scene import Scene, scene_of
from mechsim.result.journal import OutputError
from mechsim.result.layout import Array, work_states
from mechsim.result.trajectory import Polynomials, Trajectory

if TYPE_CHECKING:
    from mechsim.render.forces import Arrow
    from mechsim.render.marks import Marks

__all__ = ["Frames", "hermite", "jumps", "placed", "pose", "rows_are_near", "sample", "span", "with_whole"]

POINTS_PER_ROW = 3  # of the whole motion: steps of a Taylor series are long
POINTS_PER_FRAME = 4
FEWEST_MOMENTS, MOST_NUMBERS = 241, 3_000_000  # of the whole motion: moments, and moments times coordinates
MOST_SEEN = 1500  # moments by which it is judged how far a large shape reaches
# Of the motion's extent, that cubics between rows may miss: two pixels of a thousand. Rows of steps stay far below.
SEEN = 2e-3
GUESS = 2e-2  # and beyond this, nobody knows how much they miss


@frozen
class Frames:
    """A motion at k times. Fixed points are here too."""

    t: Array
    points: Mapping[str, Array]  # (k, dimension)
    velocities: Mapping[str, Array]  # (k, dimension)
    poses: Mapping[str, Pose]  # by rigid part
    energies: Mapping[str, Array]  # "T", "V", where the results have them
    coordinates: Array  # (k, n), the mechanism's q
    rates: Array  # (k, n)
    lacking: tuple[str, ...] = ()  # coordinates that the results do not tell: what depends on them cannot be drawn
    guessed: tuple[str, ...] = ()  # turn angles and the like whose rates are taken from neighbouring rows
    whole: Frames | None = None  # the motion that these are moments of; None: there is no more of it
    arrows: tuple[Arrow, ...] = ()  # forces to be shown
    marks: Marks | None = None  # what happened along the motion, to be shown
    notes: tuple[str, ...] = ()  # what a person should be told: rows left out, what cannot be drawn

    def __len__(self) -> int:
        return len(self.t)

    @property
    def motion(self) -> Frames:
        """All of the motion: what the window, the length of rails and every scale come from, also for one moment."""
        return self.whole or self

    @property
    def seen(self) -> NDArray[np.int64]:
        """Moments of the whole motion that stand for all: some, and those of these frames."""
        motion = self.motion.t
        some = np.linspace(0, len(motion) - 1, min(len(motion), MOST_SEEN)).astype(int)
        return np.union1d(some, np.searchsorted(motion, self.t))

    def noting(self, *notes: str) -> Frames:
        """The same frames with more to be told."""
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *filter(None, notes)))))


def span(trajectory: Drawable, scene: Scene | None = None) -> tuple[float, float]:
    """The first and the last time of a motion that can be drawn."""
    table = table_of(trajectory)
    t = usable(table, state_columns((scene or scene_of(table)).mechanism))[0]["t"]
    return float(t[0]), float(t[-1])


def sample(trajectory: Drawable, times: Array, scene: Scene | None = None) -> Frames:
    """The motion of a Trajectory (or a Motion) at `times`, which are held to its span."""
    trajectory = table_of(trajectory)
    scene = scene or scene_of(trajectory)
    mechanism = scene.mechanism
    columns, notes = usable(trajectory, state_columns(mechanism))
    times = np.clip(np.atleast_1d(np.asarray(times, float)), columns["t"][0], columns["t"][-1])
    q, v, (lacking, guessed), more = _coordinates(trajectory, columns, mechanism, times)
    points = {name: _point(slots, q, mechanism, 1.0) for name, slots in mechanism.points.items()}
    velocities = {name: _point(slots, v, mechanism, 0.0) for name, slots in mechanism.points.items()}
    poses = {part.name: pose(part.local, np.stack([points[p] for p in part.points], 1)) for part in scene.parts}
    energies = {key: hermite(columns["t"], columns[key], None, times)[0] for key in "TV" if key in columns}
    frames = Frames(times, points, velocities, poses, energies, q, v, lacking, guessed)
    return frames.noting(*trajectory.notes, *notes, *more)


def with_whole(frames: Frames, trajectory: Drawable, scene: Scene, start: float, stop: float) -> Frames:
    """The same frames, as moments of the motion from `start` to `stop`, sampled as finely as the integrator went."""
    if stop <= start:
        return frames
    table = table_of(trajectory)
    rows = int(((table.t >= start) & (table.t <= stop)).sum())
    most = max(FEWEST_MOMENTS, MOST_NUMBERS // max(1, len(scene.mechanism.variables)))
    count = int(np.clip(max(POINTS_PER_ROW * rows, POINTS_PER_FRAME * len(frames)), FEWEST_MOMENTS, most))
    times = np.union1d(np.linspace(start, stop, count), frames.t)
    times = np.union1d(times, both_sides(jumps(table, start, stop)[:most]))
    return replace(frames, whole=sample(table, times, scene))


def jumps(trajectory: Trajectory, start: float, stop: float) -> Array:
    """The times between two at which values may jump, in order: those of events, else of rows that share one."""
    t, events = trajectory.t, trajectory.events
    found = np.unique(t[1:][t[1:] == t[:-1]] if events is None else events.column("t"))
    inside: Array = found[(found > start) & (found < stop)]
    return inside


def both_sides(times: Array) -> Array:
    """The last moment before each of these times, when all is as it was, and the time itself, when it has happened."""
    return np.union1d(np.nextafter(times, -np.inf), times)


def hermite(t: Array, values: Array, slopes: Array | None, times: Array) -> tuple[Array, Array]:
    """Cubic Hermite interpolation and its derivative; slopes that are not known come from the neighbouring rows."""
    if len(t) == 1:
        still = np.zeros_like(times) if slopes is None else np.full_like(times, slopes[0])
        return np.full_like(times, values[0]), still
    if slopes is None:
        slopes = np.concatenate([_gradient(values[piece], t[piece]) for piece in smooth_pieces(t)])
    i = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    h = np.where(t[i + 1] > t[i], t[i + 1] - t[i], 1.0)  # two rows at the last time are one place
    s = (times - t[i]) / h
    a, b, da, db = values[i], values[i + 1], slopes[i] * h, slopes[i + 1] * h
    square, cube = 3 * (b - a) - 2 * da - db, 2 * (a - b) + da + db
    return a + s * (da + s * (square + s * cube)), (da + s * (2 * square + 3 * s * cube)) / h


def smooth_pieces(t: Array) -> list[slice]:
    """Rows between events, which have two rows at one time."""
    ends = [0, *(np.flatnonzero(t[1:] == t[:-1]) + 1).tolist(), len(t)]
    return [slice(first, last) for first, last in pairwise(ends)]


def _gradient(values: Array, t: Array) -> Array:
    return np.zeros_like(t) if len(t) < 2 else np.gradient(values, t, edge_order=2 if len(t) > 2 else 1)


def _coordinates(
    trajectory: Trajectory, columns: Mapping[str, Array], mechanism: Mechanism, times: Array
) -> tuple[Array, Array, tuple[tuple[str, ...], tuple[str, ...]], list[str]]:
    """q and its derivative at `times`, shape (k, n) each, labels of those that are not known and of those whose rates
    are not, and notes."""
    labels = [variable.label for variable in mechanism.variables]
    series = trajectory.polynomials
    if series is not None and np.isfinite(series.coefficients).all() and set(labels) <= set(series.labels):
        places = [series.labels.index(label) for label in labels]
        return *_from_series(series, times, places), ((), ()), []
    needed = [each.label for each in mechanism.variables if each.kind == "position"]
    if missing := [label for label in needed if label not in columns]:
        hint = "draw the file as mechsim run wrote it"
        raise OutputError(Fault(f"the results lack the columns {', '.join(missing)}", hint=hint))
    q, v = np.zeros((2, len(times), len(labels)))
    for index, label in enumerate(labels):
        if label in columns:
            q[:, index], v[:, index] = hermite(columns["t"], columns[label], columns.get(f"{label}_dot"), times)
    work = work_states(mechanism)
    lacking = tuple(label for index, label in enumerate(labels) if label not in columns and index not in work)
    moving = [each.label for each in mechanism.variables if each.kind != "state" and each.label in columns]
    guessed = tuple(label for label in moving if f"{label}_dot" not in columns)
    seen = [label for label in guessed if label in needed]
    notes = [f"no velocities in the results for {', '.join(seen)}: taken from neighbouring rows"] if seen else []
    if (missed := _missed(columns, mechanism)) > SEEN:
        told = f"may be off by {100 * missed:.2g} % of its extent" if missed < GUESS else "is a guess"
        notes.append(
            f"the rows are far apart: between them the motion {told}; run without --samples and --dt, or write to .npz"
        )
    return q, v, (lacking, guessed), notes


def rows_are_near(trajectory: Trajectory, columns: Mapping[str, Array], scene: Scene) -> bool:
    """Whether the results tell the motion between their rows, by their series or by cubics."""
    return trajectory.polynomials is not None or _missed(columns, scene.mechanism) <= SEEN


def _missed(columns: Mapping[str, Array], mechanism: Mechanism) -> float:
    """How far cubics between rows may be from the motion, as a share of its extent: those through every second row miss
    the rows between by 16 times as much."""
    t, labels = columns["t"], [each.label for each in mechanism.variables if each.kind == "position"]
    if any(label not in columns for label in labels):
        return np.inf
    pieces = [piece for piece in smooth_pieces(t) if piece.stop - piece.start >= 4]
    if not pieces or not labels:
        return 0.0
    gaps = [_misses(t[piece], *(_rows_of(columns, each, piece))) for each in labels for piece in pieces]
    return max(gaps) / 16 / (max(float(np.ptp(columns[each])) for each in labels) or 1.0)


def _rows_of(columns: Mapping[str, Array], label: str, piece: slice) -> tuple[Array, Array | None]:
    slopes = columns.get(f"{label}_dot")
    return columns[label][piece], None if slopes is None else slopes[piece]


def _misses(t: Array, values: Array, slopes: Array | None) -> float:
    return float(np.abs(_between(t, values, slopes) - values[1 : len(t) - 1 : 2]).max())


def _between(t: Array, values: Array, slopes: Array | None) -> Array:
    """Every second value, from its neighbours."""
    return hermite(t[::2], values[::2], None if slopes is None else slopes[::2], t[1 : len(t) - 1 : 2])[0]


def _from_series(series: Polynomials, times: Array, places: list[int]) -> tuple[Array, Array]:
    """The series and its derivative, all variables at once."""
    steps = np.clip(np.searchsorted(series.t, times, side="right") - 1, 0, len(series.t) - 1)
    local = (times - series.t[steps])[:, None]
    orders = reversed(range(series.coefficients.shape[2]))
    values, rates = horner((series.coefficients[steps[:, None], places, order] for order in orders), local, 2)
    return values, rates


def _point(slots: tuple[int, ...], values: Array, mechanism: Mechanism, constant: float) -> Array:
    """Columns of a point; those of a fixed point are constants, and its velocity (`constant` 0) is none."""
    columns = [
        values[:, slot] if slot >= 0 else np.full(len(values), constant * mechanism.constants[-1 - slot])
        for slot in slots
    ]
    return np.stack(columns, axis=1)
