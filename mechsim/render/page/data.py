"""The film of an interactive page: the scene and the motion as one JSON object, numbers packed tightly."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import Any

import numpy as np

from mechsim.render.fitting import Fitting
from mechsim.render.fittings import fittings_of
from mechsim.render.forces import Arrow, arrows_of
from mechsim.render.frames import Frames, hermite, sample, span, with_exact_energies
from mechsim.render.options import Options, default_speed, traced
from mechsim.render.outline import inset
from mechsim.render.page.reactions import reactions_of
from mechsim.render.scene import Scene, SceneBody, SceneSpring
from mechsim.render.symbols import coil_turns
from mechsim.render.window import reach, window_of
from mechsim.result.layout import UNITS, Array
from mechsim.result.trajectory import Trajectory

FEWEST_SAMPLES = 241
MOST_NUMBERS = 400_000  # 2.1 MB of base64: with the page around it a film stays below 3 MB
SMOOTH = 3e-4  # of the motion's extent: a third of a pixel on a screen of a thousand
USUAL = 0.85  # the share of moments in which no force is drawn longer than arrows are meant to be
MOST_NAMES = 24  # shown without being asked for
TAIL = 2.0  # seconds of film that a trace is seen


class Channels:
    """Series of numbers that the page interpolates: values with their derivatives in time."""

    def __init__(self, t: Array):
        self.t = t
        self.interval = float(t[1] - t[0]) if len(t) > 1 else 1.0
        self.series: list[Array] = []

    def add(self, values: Array, rates: Array | None = None) -> int:
        """The number of the new channel. Rates that are not known come from the neighbouring samples."""
        if rates is None:
            rates = np.gradient(values, self.t, edge_order=2) if len(self.t) > 2 else np.zeros_like(values)
        self.series += [values, rates * self.interval]
        return len(self.series) // 2 - 1

    def text(self) -> str:
        return base64.b64encode(np.asarray(self.series, "<f4").tobytes()).decode()


def film_of(scene: Scene, frames: Frames, trajectory: Trajectory, options: Options) -> dict[str, Any]:
    """Everything the page shows. The motion starts with the first of `frames` and ends with the results."""
    start = float(frames.t[0])
    end = min(span(trajectory)[1], np.inf if options.stop is None else options.stop)
    dense = with_exact_energies(smooth_samples(trajectory, scene, start, max(start, end)), scene)
    speed = options.speed or default_speed(end - start)
    channels = Channels(dense.t)
    columns = _columns(scene, dense, trajectory, channels)
    trace = traced(scene, options) or _widest(scene, dense)
    return {
        "title": scene.title,
        "dimension": scene.dimension,
        "start": float(dense.t[0]),
        "end": float(dense.t[-1]),
        "count": len(dense.t),
        "speed": speed,
        "loop": options.loop is not False,
        "play": True,
        "theme": "dark" if options.theme == "dark" else "auto",
        "show": {
            "names": len(scene.mechanism.points) <= MOST_NAMES,
            "traces": True,
            "forces": "forces" in options.show,
        },
        "traced": list(trace),
        "tail": TAIL * speed,
        "bounds": bounds(scene, dense, options.view),
        "width": scene.fleshoutwid,
        "peakSpeed": max((_peak(dense.velocities[name]) for name in scene.mechanism.points), default=0.0),
        "points": _points(scene, columns),
        "bodies": [_body(part, scene.fleshoutwid) for part in scene.parts],
        "springs": [_spring(spring, scene) for spring in scene.springs],
        "particles": [{"point": each.point, "radius": each.radius} for each in scene.particles],
        "pivots": list(scene.pivots),
        "footings": list(scene.footings),
        "fittings": [_fitting(fitting) for fitting in fittings_of(scene, dense)],
        "weights": _weights(scene),
        "forces": _arrows(arrows_of(scene, dense), channels),
        "reactions": _arrows(reactions_of(scene, dense, trajectory), channels),
        "columns": columns,
        "plots": _plots(scene, columns, trace),
        "numbers": channels.text(),
    }


def smooth_samples(trajectory: Trajectory, scene: Scene, start: float, end: float) -> Frames:
    """Equally spaced samples, so many that a cubic between them is true to a fraction of a pixel."""
    if end <= start:
        return sample(trajectory, np.array([start]), scene)
    vectors = sum(len(part.points) for part in scene.parts) + 2 * len(scene.springs) + len(scene.forces)
    series = 2 * (len(scene.mechanism.variables) + 2 * vectors + len(scene.torques) + 4)
    count = FEWEST_SAMPLES
    while True:
        dense = sample(trajectory, np.linspace(start, end, count), scene)
        if interpolation_gap(dense) < SMOOTH * _extent(dense) or (2 * count - 1) * series > MOST_NUMBERS:
            return dense
        count = 2 * count - 1


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


def bounds(scene: Scene, frames: Frames, view: str | None) -> list[float]:
    """Left, bottom, right, top of what is seen at first: all that is ever drawn, or the window asked for."""
    if view:
        window = window_of(scene, frames, view, (0.0, 0.0, 1.0, 1.0))
        low, high = -window.shift / window.scale, (1.0 - window.shift) / window.scale
    else:
        low, high = reach(scene, frames)
    least = 0.05 * max(float((high - low).max()), scene.fleshoutwid)
    middle, half = (low + high) / 2, np.maximum(high - low, least) / 2
    return [float(x) for x in (*(middle - half), *(middle + half))]


def _widest(scene: Scene, frames: Frames) -> tuple[str, ...]:
    """The point that travels farthest: where no end is free, its trace tells most."""
    ways = {
        name: float(np.hypot(*np.diff(frames.points[name], axis=0).T).sum())
        for name in scene.mechanism.points
        if name not in scene.ground
    }
    return (max(ways, key=lambda name: ways[name]),) if ways else ()


def _extent(frames: Frames) -> float:
    places = np.concatenate(list(frames.points.values()))
    return float(np.ptp(places, axis=0).max()) or 1.0


def _peak(velocities: Array) -> float:
    return float(np.hypot(*velocities.T).max())


def _columns(scene: Scene, frames: Frames, trajectory: Trajectory, channels: Channels) -> list[dict[str, Any]]:
    """What can be plotted, named as in the table: time, coordinates with their derivatives, energies."""
    columns = [{"label": "t", "unit": "s", "channel": channels.add(frames.t, np.ones_like(frames.t)), "rate": False}]
    units = dict(zip(trajectory.labels, trajectory.units, strict=True))
    for index, variable in enumerate(scene.mechanism.variables):
        if trajectory.polynomials is None and variable.label not in trajectory.labels:
            continue
        channel = channels.add(frames.coordinates[:, index], frames.rates[:, index])
        unit, rate_unit = UNITS.get(variable.kind, (units.get(variable.label, ""), ""))
        columns.append({"label": variable.label, "unit": unit, "channel": channel, "rate": False})
        if variable.kind == "state":
            continue
        columns.append({"label": f"{variable.label}_dot", "unit": rate_unit, "channel": channel, "rate": True})
    energies = dict(frames.energies)
    if "T" in energies and "V" in energies:
        energies["T+V"] = energies["T"] + energies["V"]
    for label, values in energies.items():
        columns.append({"label": label, "unit": "J", "channel": channels.add(values), "rate": False})
    return columns


def _points(scene: Scene, columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    channel = {column["label"]: column["channel"] for column in columns if not column["rate"]}
    points = []
    for name in scene.mechanism.points:
        point: dict[str, Any] = {"name": name}
        if name in scene.ground:
            point["place"] = scene.ground[name].tolist()
        else:
            point["channels"] = [channel[f"{name}_{axis}"] for axis in "xyz"[: scene.dimension]]
        points.append(point)
    return points


def _body(part: SceneBody, skin: float) -> dict[str, Any]:
    return {
        "name": part.name,
        "points": list(part.points),
        "local": part.local.tolist(),
        "outline": _short(part.outline),
        "rim": _short(inset(part.outline, 0.3 * skin)),
        "layer": part.layer,
        "colour": part.colour,
    }


def _short(corners: Array) -> list[list[float]]:
    """Five digits are a hundredth of a pixel."""
    return [[float(f"{x:.5g}") for x in corner] for corner in corners]


def _spring(spring: SceneSpring, scene: Scene) -> dict[str, Any]:
    turns = coil_turns(spring.length, 1.35 * scene.fleshoutwid)
    return {"name": spring.name, "points": list(spring.points), "turns": turns}


def _fitting(fitting: Fitting) -> dict[str, Any]:
    own = {key: getattr(fitting, key) for key in ("name", "kind", "at", "along", "stretched", "height", "colour")}
    return {**own, **asdict(fitting.paint), "shapes": [_short(shape) for shape in fitting.shapes]}


def _arrows(arrows: list[Arrow], channels: Channels) -> dict[str, Any] | None:
    """Forces (two channels each) and torques (one), and the strength that sets their scale; None without any.

    That is the strongest force of a usual moment: one blow would make all else too short to be seen.
    """
    if not arrows:
        return None
    strengths = [np.hypot(*arrow.vectors.T) for arrow in arrows if arrow.vectors.ndim == 2]
    peak = float(np.quantile(np.max(strengths, axis=0), USUAL)) if strengths else 0.0
    series = [arrow.vectors.reshape(len(channels.t), -1).T for arrow in arrows]
    packed = [
        {
            "point": arrow.point,
            "label": arrow.label,
            "colour": arrow.colour,
            "channels": [channels.add(x) for x in each],
        }
        for arrow, each in zip(arrows, series, strict=True)
    ]
    return {"peak": peak, "arrows": packed}


def _weights(scene: Scene) -> list[dict[str, Any]]:
    """Masses and where they are: centroids of parts, particles; a spring's mass counts half at either end."""
    weights: list[dict[str, Any]] = [
        {"body": index, "local": part.centroid.tolist(), "mass": part.mass}
        for index, part in enumerate(scene.parts)
        if part.mass > 0
    ]
    weights += [{"point": each.point, "mass": each.mass} for each in scene.particles]
    masses = {each.owner: each.parameters["mass"] for each in scene.mechanism.elements if each.kind == "spring"}
    for spring in scene.springs:
        if mass := masses.get(spring.name, 0.0):
            weights += [{"point": point, "mass": mass / 2} for point in spring.points]
    return weights


def _plots(scene: Scene, columns: list[dict[str, Any]], trace: tuple[str, ...]) -> list[list[str]]:
    """What is plotted at first: energies, then the place and velocity of a point worth watching."""
    labels = [column["label"] for column in columns]
    moving = [name for name in scene.mechanism.points if name not in scene.ground]
    watched = next((name for name in (*trace, *reversed(moving)) if name in moving), None)
    wanted = [["T", "V", "T+V"], [f"{watched}_x", f"{watched}_y"], [f"{watched}_x_dot", f"{watched}_y_dot"]]
    return [chosen for plot in wanted if (chosen := [label for label in plot if label in labels])]
