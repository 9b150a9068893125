"""Fittings, curves that move and arrows, as a page knows them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from mechsim.render.barriers import SlackRope
from mechsim.render.curves import CurveShape, nested
from mechsim.render.fitting import Fitting
from mechsim.render.forces import Arrow
from mechsim.render.marks import Marks
from mechsim.render.page.channels import Channels
from mechsim.render.scene import Scene
from mechsim.result.layout import Array

MOST_EVENTS = 2000  # that a page tells; of more, evenly some


def packed_fitting(fitting: Fitting, scene: Scene, columns: list[dict[str, Any]], channels: Channels) -> dict[str, Any]:
    own = {key: getattr(fitting, key) for key in ("name", "kind", "at", "along", "stretched", "height", "colour")}
    packed = {**own, **asdict(fitting.paint), "shapes": [short(shape) for shape in fitting.shapes]}
    if fitting.bond:
        mode, segments = scene.bonds[fitting.bond], scene.segments
        constants = segments.constants(scene.mechanism.constants, np.arange(len(segments)))
        packed["shown"] = [[float(t), bool(on)] for t, on in zip(segments.starts, constants[:, mode] > 0, strict=True)]
    if isinstance(fitting.moving, CurveShape):
        return {**packed, "shapes": [], "track": _track(fitting.moving, scene, columns)}
    if isinstance(fitting.moving, SlackRope):
        return {**packed, "shapes": [], "rope": _rope(fitting.moving, channels)}
    return {**packed, **_pose(fitting, scene, channels)} if fitting.way else packed


def _pose(fitting: Fitting, scene: Scene, channels: Channels) -> dict[str, Any]:
    """Where a fitting is that goes with no point: at first and, if it moves, by channels."""
    assert fitting.way
    series = [*fitting.way[0].T, fitting.way[1]]
    pose = {"pose": [float(each[0]) for each in series]}
    return pose if fitting.stands_still(scene) else {**pose, "poses": [channels.add(each) for each in series]}


def _rope(rope: SlackRope, channels: Channels) -> dict[str, Any]:
    lengths = rope.lengths
    same = float(np.ptp(lengths)) <= 1e-9 * float(np.abs(lengths).max())
    own = {"points": list(rope.meeting.points), "up": rope.up.tolist(), "length": float(np.median(lengths))}
    return own if same else {**own, "channel": channels.add(lengths)}


def packed_marks(marks: Marks | None, start: float, end: float) -> dict[str, Any] | None:
    """What happened from one time to another, one row for each event; None without any."""
    chosen = [] if marks is None else [number for number in range(len(marks)) if start <= marks.t[number] <= end]
    if marks is None or not chosen:
        return None
    some = [chosen[k] for k in np.unique(np.linspace(0, len(chosen) - 1, min(len(chosen), MOST_EVENTS)).astype(int))]
    rows = []
    for number in some:
        event, place = marks.events[number], marks.places[number]
        row = {"t": event.t, "name": event.gap, "kind": event.kind}
        if event.kind != "event":
            row |= {key: float(f"{getattr(event, key):.6g}") for key in ("before", "after", "impulse", "lost")}
        if np.isfinite(place).all():
            push = marks.pushes[number]
            row |= {"place": short(place[None])[0], "push": short(push[None])[0], "both": bool(marks.returned[number])}
        rows.append(row)
    lost = float(sum(marks.events[number].lost for number in chosen))
    return {"rows": rows, "count": len(chosen), "lost": lost, "usual": marks.usual}


def _track(shape: Any, scene: Scene, columns: list[dict[str, Any]]) -> dict[str, Any]:
    """A curve that moves: its formulas, and where the page finds their values."""
    channel = {column["label"]: column["channel"] for column in columns if not column["rate"]}
    segments, mechanism = scene.segments, scene.mechanism
    numbers = segments.numbers.tolist()

    def source(slot: int) -> dict[str, Any]:
        if slot >= 0:
            return {"channel": channel[mechanism.variables[slot].label]}
        if -1 - slot not in numbers:
            return {"value": mechanism.constants[-1 - slot]}
        values = segments.values[:, numbers.index(-1 - slot)].tolist()
        return {"times": segments.starts.tolist(), "values": values}

    track = shape.track
    return {
        "rows": [nested(row) for row in track.rows],
        "free": dict(track.free),
        "given": {symbol: source(slot) for symbol, slot in track.given.items()},
        "parameters": {**track.parameters, **dict.fromkeys(track.point, 0.0)},
        "box": [*shape.low.tolist(), *shape.high.tolist()],
        "run": shape.run,
    }


def packed_arrows(arrows: list[Arrow], channels: Channels) -> list[dict[str, Any]] | None:
    """Forces (two channels each) and torques (one); None without any. What is not determined is no arrow."""
    packed = []
    for arrow in arrows:
        series = np.nan_to_num(arrow.vectors).reshape(len(channels.t), -1).T
        own = {"point": arrow.point, "label": arrow.label, "colour": arrow.colour, "ring": arrow.ring}
        own["arm"] = None if arrow.arm is None else [channels.add(each) for each in arrow.arm.T]
        packed.append({**own, "channels": [channels.add(each) for each in series]})
    return packed or None


def short(corners: Array) -> list[list[float]]:
    """Five digits are a hundredth of a pixel."""
    return [[float(f"{x:.5g}") for x in corner] for corner in corners]
