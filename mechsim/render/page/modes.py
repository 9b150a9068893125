"""The page of all modes of a linear motion: one slider picks the mode, as that of a sweep picks the case."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from math import isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mechsim.render.options import Options
from mechsim.render.page.cases import film_of_case
from mechsim.render.page.document import page_text
from mechsim.render.page.packing import packed, patch_of, together
from mechsim.render.scene import scene_of
from mechsim.result.paths import replacing
from mechsim.result.trajectory import Trajectory

if TYPE_CHECKING:
    from mechsim.analysis.linear import Mode

PERIOD = 1.5  # seconds of a page in which every mode swings once: side by side shapes are compared, not frequencies


def write_modes(shown: Sequence[Trajectory], modes: Sequence[Mode], path: str | Path) -> None:
    """Write the page of modes, `shown` as motions that take the same time."""
    films = [film_of_case(motion, Options(), arrows=False) for motion in shown]
    for film, mode in zip(films, modes, strict=True):
        film["parameters"] = [["eigenvalue", f"{mode.words} 1/s"]]
    together(films)
    base = packed(films[0])
    data = {
        "word": "Mode",
        "total": len(films),
        "numbers": list(range(1, len(films) + 1)),
        "axes": [{"name": "mode", "log": False, "values": list(range(1, len(films) + 1))}],
        "drawn": [],
        "draws": 1,
        "columns": _columns(modes),
        "failed": {},
        "reasons": [],
        "charts": [],
        "noise": 1e-12,
        "first": 0,
        "films": [{"case": k, "patch": patch_of(base, packed(film))} for k, film in enumerate(films)],
        "shown": list(range(len(films))),
    }
    with replacing(Path(path)) as temporary:
        temporary.write_text(page_text(base, scene_of(shown[0]), shown[0].notes, data), encoding="utf-8")


def _columns(modes: Sequence[Mode]) -> list[dict[str, Any]]:
    numbers = {
        "mode": ("", list(range(1, len(modes) + 1))),
        "frequency": ("Hz", [mode.frequency for mode in modes]),
        "damping ratio": ("", [mode.damping for mode in modes]),
        "decays or grows by e in": ("s", [mode.time if isfinite(mode.time) else nan for mode in modes]),
    }
    return [
        {
            "label": label,
            "unit": unit,
            "varied": label == "mode",
            "offset": 0.0,
            "numbers": base64.b64encode(np.array(values, "<f4").tobytes()).decode(),
        }
        for label, (unit, values) in numbers.items()
    ]
