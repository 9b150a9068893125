"""The moments that a page holds: so many that a cubic between them is true to a fraction of a pixel. Where values jump
a piece of equally spaced moments ends, and the next one begins."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from mechsim.frozen import frozen
from mechsim.render.forces import acts
from mechsim.render.frames import SEEN, Frames, hermite, jumps, sample
from mechsim.render.scene import Scene
from mechsim.result.layout import Array
from mechsim.result.trajectory import Trajectory
from mechsim.spec.names import PLANE

FEWEST_SAMPLES = 241
MOST_NUMBERS = 400_000  # 2.1 MB of base64: with the page around it a film stays below 3 MB
MOST_BYTES = 2_500_000  # of a page besides its script
WORDS_OF_VARIABLE, WORDS_OF_PART = 190, 420  # bytes
FEWEST_OF_MANY = 31
LEAST_OF_PIECE = 3  # samples between two jumps
MOST_OF_JUMPS = 0.5  # of the numbers of a page, that jumps may take before those close to each other are left out
MOST_JUMPS = 2.0  # then so many times as far apart as there would be room for
SMOOTH = 3e-4  # of the motion's extent: a third of a pixel on a screen of a thousand


@frozen
class Fineness:
    """How many samples a page has of a motion: at least so many, and at most so many numbers."""

    fewest: int
    most: int


def smooth_samples(
    trajectory: Trajectory,
    scene: Scene,
    start: float,
    end: float,
    fineness: Fineness | None = None,
    *,
    arrows: bool = True,
) -> Frames:
    """Samples equally spaced between jumps, so many that a cubic between them is true to a fraction of a pixel."""
    fineness = fineness or fineness_of(scene, arrows)
    if end <= start:
        return sample(trajectory, np.array([start]), scene)
    series = series_of(scene, arrows)
    count = fineness.fewest
    known = jumps(trajectory, start, end)
    apart = (end - start) * MOST_JUMPS * series * LEAST_OF_PIECE / max(fineness.most, 1)
    breaks = _apart(known, apart if len(known) * LEAST_OF_PIECE * series > MOST_OF_JUMPS * fineness.most else 0.0)
    while True:
        dense = sample(trajectory, moments(start, end, breaks, count), scene)
        if interpolation_gap(dense) < SMOOTH * _extent(dense) or (2 * len(dense) - 1) * series > fineness.most:
            return dense
        count = 2 * count - 1


def moments(start: float, end: float, breaks: Array, count: int) -> Array:
    """About `count` of them, equally spaced in each piece: an odd number, of which the last is just before a break."""
    step = (end - start) / (count - 1)
    found = []
    for first, last in pairwise([start, *breaks.tolist(), end]):
        own = max(3, 2 * round(max(last - first, 0.0) / step / 2) + 1) if len(breaks) else count
        found.append(np.linspace(first, last if last == end else np.nextafter(last, -np.inf), own))
    return np.concatenate(found)


def pieces(t: Array) -> Iterator[slice]:
    """The samples between breaks, of which the last moment before and the first one after are neighbours."""
    ends = [0, *(np.flatnonzero(np.nextafter(t[:-1], np.inf) == t[1:]) + 1).tolist(), len(t)]
    return (slice(first, last) for first, last in pairwise(ends))


def _apart(times: Array, least: float) -> Array:
    """Of these times those that follow on each other by no less: what is left out nobody sees."""
    kept: list[float] = []
    for time in times.tolist():
        if not kept or time - kept[-1] > least:
            kept.append(time)
    return np.array(kept)


def series_of(scene: Scene, arrows: bool) -> int:
    """How many numbers a page has of each moment, about: values and slopes, of reactions too where they are shown."""
    vectors = sum(len(part.points) for part in scene.parts) if arrows else 0
    vectors += 2 * sum(acts(element, scene) for element in scene.mechanism.elements)
    return 2 * (len(scene.mechanism.variables) + scene.dimension * vectors + 4)


def has_room(scene: Scene) -> bool:
    """Whether a page can hold the reactions in all joints."""
    return scene.dimension == PLANE or FEWEST_SAMPLES * series_of(scene, True) <= MOST_NUMBERS


def fineness_of(scene: Scene, arrows: bool) -> Fineness:
    """As many samples as usual; of very many parts as few as there is room for besides their names, in 16 bits each."""
    if scene.dimension == PLANE or FEWEST_SAMPLES * series_of(scene, arrows) <= MOST_NUMBERS:
        return Fineness(FEWEST_SAMPLES, MOST_NUMBERS)
    words = WORDS_OF_VARIABLE * len(scene.mechanism.variables) + WORDS_OF_PART * len(scene.parts)
    most = int(max(MOST_BYTES - words, 0) * 3 / 8)
    return Fineness(int(np.clip(most // series_of(scene, arrows), FEWEST_OF_MANY, FEWEST_SAMPLES)), 0)


def too_few(frames: Frames, trajectory: Trajectory, scene: Scene) -> str:
    """A note where the motion is too long for a page: its samples are too few to be true to a pixel or two."""
    if len(frames) < 3:
        return ""
    between = sample(trajectory, (frames.t[1:] + frames.t[:-1]) / 2, scene)
    missed = max(
        np.abs(hermite(frames.t, frames.points[name][:, k], frames.velocities[name][:, k], between.t)[0] - place).max()
        for name, places in between.points.items()
        for k, place in enumerate(places.T)
    )
    if missed <= SEEN * _extent(between):
        return ""
    told = f"{100 * missed / _extent(between):.2g} % of its extent"
    return f"the page holds {len(frames)} moments, between which the motion is off by up to {told}; show less with --to"


def interpolation_gap(frames: Frames) -> float:
    """How far Hermite interpolation of every second sample is from the samples between; of all, a sixteenth of it."""
    gaps = [
        _missed_between(frames.t[piece], points[piece, axis], frames.velocities[name][piece, axis])
        for piece in pieces(frames.t)
        for name, points in frames.points.items()
        for axis in range(points.shape[1])
    ]
    return float(max(gaps, default=0.0)) / 16


def _missed_between(t: Array, values: Array, rates: Array) -> float:
    if len(t) < 3:
        return 0.0
    return float(np.abs(hermite(t[::2], values[::2], rates[::2], t[1::2])[0] - values[1::2]).max())


def _extent(frames: Frames) -> float:
    places = np.concatenate(list(frames.points.values()))
    return float(np.ptp(places, axis=0).max()) or 1.0
