"""The film of an interactive page: the scene and the motion as one JSON object, numbers packed tightly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mechsim.render.dynamics import Dynamics
from mechsim.render.fittings import fittings_of
from mechsim.render.forces import MOST_TIMES, Strength, tips, with_arrows
from mechsim.render.frames import Frames, span
from mechsim.render.marks import marks_of
from mechsim.render.options import Options, default_speed, traced
from mechsim.render.outline import inset
from mechsim.render.page.channels import Channels
from mechsim.render.page.samples import Fineness, has_room, smooth_samples, too_few
from mechsim.render.page.shapes import packed_arrows, packed_fitting, packed_marks, short
from mechsim.render.page.space import in_space
from mechsim.render.scene import Scene, SceneBody, SceneSpring
from mechsim.render.sizes import Sizes, natural_sizes, with_peaks
from mechsim.render.symbols import coil_turns
from mechsim.render.window import reach, window_of
from mechsim.result.layout import UNITS, Array
from mechsim.result.trajectory import Trajectory
from mechsim.spec.names import SPACE

ARROW = 0.2  # an arrow of usual strength, as a share of the motion's extent
MOST_NAMES = 24  # shown without being asked for
TAIL = 2.0  # seconds of film that a trace is seen


def film_of(
    scene: Scene,
    frames: Frames,
    trajectory: Trajectory,
    options: Options,
    *,
    fineness: Fineness | None = None,
    arrows: bool = True,
) -> dict[str, Any]:
    """Everything the page shows. The motion starts with the first of `frames` and ends with the results."""
    start = float(frames.t[0])
    end = min(span(trajectory, scene)[1], np.inf if options.stop is None else options.stop)
    arrows = arrows and bool(scene.mechanism.elements)  # a drawing of a user's own has no forces
    felt = arrows and has_room(scene)
    dense = smooth_samples(trajectory, scene, start, max(start, end), fineness, arrows=felt)
    dense = replace(dense, energies=Dynamics(scene, dense).energies(dense))
    dense = with_arrows(dense, scene, (*(["forces"] if arrows else []), *(["reactions"] if felt else [])))
    crowded = "reactions are left out: so many parts leave no room for them in a page" if arrows and not felt else ""
    dense = dense.noting(too_few(dense, trajectory, scene), crowded)
    speed = options.speed or default_speed(end - start)
    channels = Channels(dense.t)
    columns = _columns(scene, dense, trajectory, channels)
    sizes = _sizes(scene, dense, columns)
    trace = traced(scene, options) or _widest(scene, dense)
    strength = Strength.of(dense, scene)
    peak_speed = max((_peak(dense.velocities[name]) for name in scene.mechanism.points), default=0.0)
    peak_speed = 0.0 if sizes.is_nothing("m/s", peak_speed) else peak_speed
    spatial = in_space(scene, dense, channels) if scene.dimension == SPACE else {}
    seen = spatial.get("bounds") or bounds(scene, dense, options.view)
    return {
        "title": scene.title,
        "dimension": scene.dimension,
        "start": float(dense.t[0]),
        "end": float(dense.t[-1]),
        "count": len(dense.t),
        "pieces": channels.breaks,
        "speed": speed,
        "loop": options.loop is not False,
        "play": True,
        "theme": "dark" if options.theme == "dark" else "auto",
        "show": {
            "names": len(scene.mechanism.points) <= MOST_NAMES,
            "traces": True,
            "forces": "forces" in options.show,
            "reactions": "reactions" in options.show,
            "events": "events" in options.show,
        },
        "traced": list(trace),
        "tail": TAIL * speed,
        "bounds": seen,
        "arrow": usual_arrow(seen),
        "reach": {} if options.view or spatial else _reaches(scene, dense, seen, strength, peak_speed),
        "width": scene.fleshoutwid,
        "peakSpeed": peak_speed,
        "strength": {"force": strength.force, "torque": strength.torque, "most": MOST_TIMES},
        "points": _points(scene, columns),
        **(spatial or _in_plane(scene, dense, columns, channels)),
        "events": packed_marks(marks_of(trajectory, scene), start, end),
        "weights": _weights(scene),
        "forces": packed_arrows([arrow for arrow in dense.arrows if not arrow.part], channels),
        "reactions": packed_arrows([arrow for arrow in dense.arrows if arrow.part], channels),
        "columns": [_sized(column, sizes) for column in columns],
        "noise": sizes.noise,
        "plots": _plots(scene, columns, trace),
        "notes": list(dict.fromkeys((*frames.notes, *dense.notes))),
        "offsets": channels.offsets,
        "numbers": channels.text(),
    }


def usual_arrow(bounds: list[float]) -> float:
    """How long an arrow of usual strength is in a picture of this box, its lower corner before its upper one."""
    half = len(bounds) // 2
    return ARROW * max(high - low for low, high in zip(bounds[:half], bounds[half:], strict=True))


def _in_plane(scene: Scene, frames: Frames, columns: list[dict[str, Any]], channels: Channels) -> dict[str, Any]:
    return {
        "bodies": [_body(part, scene.fleshoutwid) for part in scene.parts],
        "springs": [_spring(spring, scene) for spring in scene.springs],
        "particles": [{"point": each.point, "radius": each.radius} for each in scene.particles],
        "pivots": list(scene.pivots),
        "footings": list(scene.footings),
        "fittings": [packed_fitting(fitting, scene, columns, channels) for fitting in fittings_of(scene, frames)],
    }


def _sizes(scene: Scene, frames: Frames, columns: list[dict[str, Any]]) -> Sizes:
    """How large quantities are, by unit."""
    values = dict(frames.energies)
    for index, variable in enumerate(scene.mechanism.variables):
        values |= {variable.label: frames.coordinates[:, index], f"{variable.label}_dot": frames.rates[:, index]}
    units = {column["label"]: column["unit"] for column in columns}
    return with_peaks(natural_sizes(scene, float(np.ptp(frames.t))), values, units)


def _sized(column: dict[str, Any], sizes: Sizes) -> dict[str, Any]:
    return {**column, "size": sizes.by_unit.get(column["unit"], 0.0)}


def _reaches(
    scene: Scene, frames: Frames, seen: list[float], strength: Strength, peak_speed: float
) -> dict[str, list[float]]:
    """How far the picture must reach to hold arrows, by what they are of."""
    usual = usual_arrow(seen)
    ends: dict[str, Array] = {}
    for name, of_parts in (("forces", False), ("reactions", True)):
        chosen = replace(frames, arrows=tuple(each for each in frames.arrows if each.part == of_parts))
        places, reaches = tips(chosen, strength)
        ends[name] = places + usual * reaches
    if peak_speed:
        moving = [frames.points[name] + usual / peak_speed * frames.velocities[name] for name in scene.mechanism.points]
        ends["velocities"] = np.concatenate(moving)
    margin = 0.02 * usual
    return {name: [*(tip.min(axis=0) - margin), *(tip.max(axis=0) + margin)] for name, tip in ends.items() if len(tip)}


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
        name: float(np.linalg.norm(np.diff(frames.points[name], axis=0), axis=1).sum())
        for name in scene.mechanism.points
        if name not in scene.ground
    }
    return (max(ways, key=lambda name: ways[name]),) if ways else ()


def _peak(velocities: Array) -> float:
    return float(np.linalg.norm(velocities, axis=1).max())


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
        "outline": short(part.outline),
        "rim": short(inset(part.outline, 0.3 * skin)),
        "layer": part.layer,
        "colour": part.colour,
    }


def _spring(spring: SceneSpring, scene: Scene) -> dict[str, Any]:
    turns = coil_turns(spring.length, 1.35 * scene.fleshoutwid)
    return {"name": spring.name, "points": list(spring.points), "turns": turns}


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
    places = [f"{watched}_{axis}" for axis in "xyz"[: scene.dimension]]
    wanted = [["T", "V", "T+V"], places, [f"{place}_dot" for place in places]]
    return [chosen for plot in wanted if (chosen := [label for label in plot if label in labels])]
