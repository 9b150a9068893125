"""Many films in one page: what they share, and each as its difference from the first."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from mechsim.render.page.data import usual_arrow
from mechsim.render.page.space import outermost, short

STEPS = 32767  # of a 16-bit integer to either side
OF_ALL = ("title", "speed", "loop", "play", "theme", "show", "traced", "tail", "plots")  # as the first film has them


def together(films: Sequence[dict[str, Any]]) -> None:
    """Give all films one window, one scale of arrows and one range of each column, so that they can be compared."""
    first = films[0]
    bounds = _around([film["bounds"] for film in films])
    names = {name for film in films for name in film["reach"]}
    shared = {
        **{key: first[key] for key in OF_ALL},
        "bounds": bounds,
        "arrow": usual_arrow(bounds),
        "reach": {name: _around([film["reach"][name] for film in films if name in film["reach"]]) for name in names},
        "peakSpeed": max(film["peakSpeed"] for film in films),
        "noise": max(film["noise"] for film in films),
        "strength": {
            **first["strength"],
            **{key: max(film["strength"][key] for film in films) for key in ("force", "torque")},
        },
        "ranges": _ranges(films),
    }
    if "cloud" in first:
        shared["cloud"] = short(outermost(np.concatenate([np.array(film["cloud"]) for film in films])))
    sizes: dict[str, float] = {}
    for column in (column for film in films for column in film["columns"]):
        sizes[column["label"]] = max(sizes.get(column["label"], 0.0), column["size"])
    for film in films:
        film |= shared
        film["columns"] = [{**column, "size": sizes[column["label"]]} for column in film["columns"]]


def packed(film: dict[str, Any]) -> dict[str, Any]:
    """The film with its numbers as 16-bit integers, each series with its own scale."""
    series = _series(film)
    scales = [float(f"{scale:.4g}") for scale in np.abs(series).max(axis=1) * (1.001 / STEPS)]
    steps = np.round(series / np.where(np.array(scales) > 0, scales, 1.0)[:, None]).astype("<i2")
    numbers = base64.b64encode(steps.tobytes()).decode()
    offsets = [float(f"{offset:.10g}") for offset in film["offsets"]]
    return {**film, "offsets": offsets, "scales": scales, "numbers": numbers}


def patch_of(base: Any, value: Any) -> Any:
    """What makes `base` into `value`: `[value]` takes its place, `{key: patch}` goes on inside."""
    if isinstance(base, dict) and isinstance(value, dict) and base.keys() == value.keys():
        return {key: patch_of(base[key], value[key]) for key in base if base[key] != value[key]}
    alike = isinstance(base, list) and isinstance(value, list) and len(base) == len(value)
    if alike and value and all(isinstance(each, dict) for each in (*base, *value)):
        pairs = enumerate(zip(base, value, strict=True))
        return {str(index): patch_of(own, other) for index, (own, other) in pairs if own != other}
    return [value]


def _series(film: dict[str, Any]) -> np.ndarray:
    numbers = np.frombuffer(base64.b64decode(film["numbers"]), "<f4")
    return numbers.reshape(-1, film["count"]).astype(float)


def _ranges(films: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    """Least and greatest value of each column in any film."""
    found: dict[str, list[float]] = {}
    for film in films:
        series = _series(film)
        step = _intervals(film)
        for column in film["columns"]:
            channel = column["channel"]
            own = series[2 * channel + 1] / step if column["rate"] else series[2 * channel] + film["offsets"][channel]
            low, high = found.get(column["label"], [np.inf, -np.inf])
            found[column["label"]] = [min(low, float(own.min())), max(high, float(own.max()))]
    return found


def _intervals(film: dict[str, Any]) -> np.ndarray:
    """The time between samples, by sample."""
    firsts = [int(first) for _, first, _ in film["pieces"]]
    return np.repeat([interval or 1.0 for *_, interval in film["pieces"]], np.diff([*firsts, film["count"]]))


def _around(boxes: Sequence[Sequence[float]]) -> list[float]:
    """The smallest box, left bottom right top, that holds all."""
    half = len(boxes[0]) // 2
    corners = np.array(boxes)
    return [*corners[:, :half].min(axis=0).tolist(), *corners[:, half:].max(axis=0).tolist()]
