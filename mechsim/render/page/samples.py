"""The moments that a page holds: so many that a cubic between them is true to a fraction of a pixel."""

from __future__ import annotations

import numpy as np

from mechsim.frozen import frozen
from mechsim.render.forces import acts
from mechsim.render.frames import SEEN, Frames, hermite, sample
from mechsim.render.scene import Scene
from mechsim.result.trajectory import Trajectory
from mechsim.spec.names import PLANE

FEWEST_SAMPLES = 241
MOST_NUMBERS = 400_000  # 2.1 MB of base64: with the page around it a film stays below 3 MB
MOST_BYTES = 2_500_000  # of a page besides its script
WORDS_OF_VARIABLE, WORDS_OF_PART = 190, 420  # bytes
FEWEST_OF_MANY = 31
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
    """Equally spaced samples, so many that a cubic between them is true to a fraction of a pixel."""
    fineness = fineness or fineness_of(scene, arrows)
    if end <= start:
        return sample(trajectory, np.array([start]), scene)
    series = series_of(scene, arrows)
    count = fineness.fewest
    while True:
        dense = sample(trajectory, np.linspace(start, end, count), scene)
        if interpolation_gap(dense) < SMOOTH * _extent(dense) or (2 * count - 1) * series > fineness.most:
            return dense
        count = 2 * count - 1


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
    t, odd = frames.t, frames.t[1::2]
    gaps = [
        np.abs(
            hermite(t[::2], points[::2, axis], frames.velocities[name][::2, axis], odd)[0] - points[1::2, axis]
        ).max()
        for name, points in frames.points.items()
        for axis in range(points.shape[1])
    ]
    return float(max(gaps, default=0.0)) / 16


def _extent(frames: Frames) -> float:
    places = np.concatenate(list(frames.points.values()))
    return float(np.ptp(places, axis=0).max()) or 1.0
