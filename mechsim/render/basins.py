"""Pictures of basins: a colour for each attractor, darker where motions take long to come to it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mechsim.analysis.basin import FAILED, UNDECIDED, Basins
from mechsim.render.labels import named
from mechsim.render.panels import colour_of, legend
from mechsim.render.paper import sheet_of, write_sheet
from mechsim.render.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE, STRIP = (1100, 1000), (1100, 330)  # of a picture over two axes, or over one
DARKEST = 0.6  # of a colour that is left where motions take longest
QUICK, SLOW = 1, 99  # percent of the motions, beyond which colours do not change
NAMED = 9  # attractors that have a line in the legend


def plot_basins(title: str, found: Basins, path: str | Path, theme: str = "light") -> None:
    """Over the first two of what starts differ by, at the middle of the others."""
    size = SIZE if len(found.names) > 1 else STRIP
    write_sheet(sheet_of([title], [partial(_draw, found)], theme, size, remark="darker: settles later"), Path(path))


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
    units = found.units or ("",) * len(found.names)
    words = [named(name, unit) for name, unit in zip(found.names, units, strict=True)]
    axes.set(xlabel=words[0], ylabel=words[1] if len(words) > 1 else "", title=_title(found))
    axes.grid(False)
    if len(found.names) == 1:
        axes.set_yticks([])
    else:
        _mark(found, axes, extent)
    _name(found, axes, theme)


def _mark(found: Basins, axes: Axes, extent: tuple[float, ...]) -> None:
    """Rings where rests are, if they are in the picture."""
    for each in found.attractors[:NAMED] if not found.values[2:] else ():
        places = dict(zip(found.coordinates, each.positions.tolist(), strict=True))
        places |= {f"{name}_dot": rate for name, rate in zip(found.coordinates, each.velocities.tolist(), strict=True)}
        if each.kind == "rest" and set(found.names) <= set(places):
            axes.plot(*([places[name]] for name in found.names), "o", ms=9, mfc="none", mec="white", mew=1.8)
    axes.set(xlim=extent[:2], ylim=extent[2:])


def _name(found: Basins, axes: Axes, theme: Theme) -> None:
    if len(found.attractors) > NAMED:
        return
    for number, each in enumerate(found.attractors):
        name = f"{number}: {each.words}, {100 * found.shares[number]:.1f} %"
        axes.plot([], [], "s", color=colour_of(theme, number), label=name)
    for number, colour, words in ((UNDECIDED, theme.text, "not settled"), (FAILED, theme.grid, "no motion")):
        if (found.labels == number).any():
            share = 100 * (found.labels == number).mean()
            axes.plot([], [], "s", color=colour, mec=theme.faint, mew=0.5, label=f"{words}, {share:.1f} %")
    legend(axes)


def _image(found: Basins, labels: np.ndarray, settled: np.ndarray, theme: Theme) -> np.ndarray:
    from matplotlib.colors import to_rgb

    paints = [to_rgb(colour_of(theme, number)) for number in range(len(found.attractors))]
    colours = np.array([*paints, to_rgb(theme.grid), to_rgb(theme.text)])  # then what failed, and what has not settled
    times = np.where(np.isfinite(settled), settled, np.nan)
    low, high = (np.nanpercentile(times, share) if np.isfinite(times).any() else 0.0 for share in (QUICK, SLOW))
    share = np.clip((times - low) / max(high - low, 1e-300), 0.0, 1.0)
    bright = 1 - (1 - DARKEST) * np.nan_to_num(share)
    return np.asarray(colours[labels] * bright[..., None])


def _edges(values: np.ndarray) -> tuple[float, float]:
    """So that each start is in the middle of its cell."""
    half = 0.5 * float(values[-1] - values[0]) / max(len(values) - 1, 1) or 0.5
    return float(values[0]) - half, float(values[-1]) + half


def _title(found: Basins) -> str:
    starts = f"{found.labels.size:,} starts"
    if len(found.attractors) > NAMED:
        starts += f", {len(found.attractors)} attractors"
    fixed = zip(found.names[2:], found.values[2:], strict=True)
    told = [f"{name} = {float(values[len(values) // 2]):.5g}" for name, values in fixed]
    return f"{starts} ({', '.join(told)})" if told else starts
