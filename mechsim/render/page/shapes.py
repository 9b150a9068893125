"""Fittings, curves that move and arrows, as a page knows them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from mechsim.render.curves import CurveShape, nested
from mechsim.render.fitting import Fitting
from mechsim.render.forces import Arrow
from mechsim.render.page.channels import Channels
from mechsim.render.scene import Scene
from mechsim.result.layout import Array


def packed_fitting(fitting: Fitting, scene: Scene, columns: list[dict[str, Any]]) -> dict[str, Any]:
    own = {key: getattr(fitting, key) for key in ("name", "kind", "at", "along", "stretched", "height", "colour")}
    packed = {**own, **asdict(fitting.paint), "shapes": [short(shape) for shape in fitting.shapes]}
    moving = isinstance(fitting.moving, CurveShape)
    return {**packed, "shapes": [], "track": _track(fitting.moving, scene, columns)} if moving else packed


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
