"""Pictures of basins: a colour for each attractor, darker where motions take long to come to it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mechsim.analysis.basin import FAILED, UNDECIDED, Basins
from mechsim.render.panels import colour_of
from mechsim.render.paper import sheet_of, write_sheet
from mechsim.render.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (1100, 1000)
DARKEST = 0.45  # of a colour that is left where motions take longest
NAMED = 9  # attractors that have a line in the legend


def plot_basins(title: str, found: Basins, path: str | Path, theme: str = "light") -> None:
    """Over the first two of what starts differ by, at the middle of the others."""
    remark = "darker: settles later"
    write_sheet(sheet_of([title], [partial(_draw, found)], theme, SIZE, remark=remark), Path(path))


def _draw(found: Basins, axes: Axes, theme: Theme) -> None:
    middle = [len(values) // 2 for values in found.values[2:]]
    labels, settled = found.labels, found.settled
    for number in reversed(middle):
        labels, settled = labels[..., number], settled[..., number]
    if labels.ndim == 1:
        labels, settled = labels[:, None], settled[:, None]
    image = _image(found, labels, settled, theme)
    across = found.values[0]
    up = found.values[1] if len(found.values) > 1 else np.array([0.0, 1.0])
    extent = (*_edges(across), *_edges(up))
    axes.imshow(image.swapaxes(0, 1), origin="lower", extent=extent, aspect="auto", interpolation="nearest")
    axes.set(xlabel=found.names[0], ylabel=found.names[1] if len(found.names) > 1 else "", title=_title(found))
    if len(found.names) == 1:
        axes.set_yticks([])
    for number in range(min(len(found.attractors), NAMED)):
        name = f"{found.attractors[number].words}, {100 * found.shares[number]:.1f} %"
        axes.plot([], [], "s", color=colour_of(theme, number), label=name)
    others = [(UNDECIDED, theme.text, "not settled"), (FAILED, theme.grid, "no motion")]
    others = [(number, colour, words) for number, colour, words in others if (found.labels == number).any()]
    for number, colour, words in others:
        axes.plot([], [], "s", color=colour, label=f"{words}, {100 * (found.labels == number).mean():.1f} %")
    axes.grid(False)
    if len(found.attractors) <= NAMED:
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.005), ncols=3, borderaxespad=0.0, columnspacing=1.2)
        axes.set_title(axes.get_title(loc="left"), pad=6 + 15 * ((len(found.attractors) + len(others) - 1) // 3))


def _image(found: Basins, labels: np.ndarray, settled: np.ndarray, theme: Theme) -> np.ndarray:
    from matplotlib.colors import to_rgb

    paints = [to_rgb(colour_of(theme, number)) for number in range(len(found.attractors))]
    colours = np.array([*paints, to_rgb(theme.grid), to_rgb(theme.text)])  # then what failed, and what has not settled
    times = np.where(np.isfinite(settled), settled, np.nan)
    low, high = (np.nanpercentile(times, share) if np.isfinite(times).any() else 0.0 for share in (0, 99))
    share = np.clip((times - low) / max(high - low, 1e-300), 0.0, 1.0)
    bright = 1 - (1 - DARKEST) * np.nan_to_num(share)
    return np.asarray(colours[labels] * bright[..., None])


def _edges(values: np.ndarray) -> tuple[float, float]:
    """So that each start is in the middle of its cell."""
    half = 0.5 * float(values[-1] - values[0]) / max(len(values) - 1, 1) or 0.5
    return float(values[0]) - half, float(values[-1]) + half


def _title(found: Basins) -> str:
    return f"{found.labels.size:,} starts"
