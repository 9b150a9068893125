"""Pictures of sections: points of motions, and diagrams of them over a parameter."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mechsim.analysis.section import Section
from mechsim.render.panels import colour_of
from mechsim.render.paper import sheet_of, write_sheet
from mechsim.render.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (1400, 900)
LARGEST, SMALLEST = 3.5, 0.9  # diameters of points, in points of print
ROOM = 150.0  # points of print, that many share: these are drawn finer
MOST_COLOURS = 27  # motions that have one of their own


def plot_section(title: str, found: Section, path: str | Path, theme: str = "light") -> None:
    """All points in the plane of the section's two axes; over a parameter, against that."""
    panel = partial(_draw, found)
    write_sheet(sheet_of([title], [panel], theme, SIZE, remark=found.what), Path(path))


def _draw(found: Section, axes: Axes, theme: Theme) -> None:
    x, y = (found[name] for name in found.axes)
    count = found.count
    size = float(np.clip(ROOM / np.sqrt(max(len(x), 1)), SMALLEST, LARGEST))
    coloured = found.over is None and count > 1
    for number in range(count) if coloured else (None,):
        rows = slice(None) if number is None else found.motion == number
        ink = theme.text if number is None else colour_of(theme, number % MOST_COLOURS)
        axes.plot(x[rows], y[rows], "o", ms=size, mew=0, color=ink, rasterized=len(x) > 5000)
    if found.over is not None and "way" in found.varied:
        _ways(found, axes, theme, size)
    axes.set(xlabel=_named(found, found.axes[0]), ylabel=_named(found, found.axes[1]), title=_title(found))
    axes.grid(False)
    axes.margins(0.02, 0.03)


def _ways(found: Section, axes: Axes, theme: Theme, size: float) -> None:
    """Those on the way down above those on the way up, in another colour: where both agree, nothing else is seen."""
    x, y = (found[name] for name in found.axes)
    down = found["way"] < 0
    for rows, number, words in ((~down, 0, "upwards"), (down, 1, "downwards")):
        axes.plot(x[rows], y[rows], "o", ms=size, mew=0, color=colour_of(theme, number), label=words)
    from mechsim.render.panels import legend

    legend(axes)


def _title(found: Section) -> str:
    points = f"{len(found):,} points"
    return points if found.count == 1 else f"{points} of {found.count:,} motions"


def _named(found: Section, label: str) -> str:
    unit = found.units[found.labels.index(label)] if label in found.labels else ""
    return f"{label} / {unit}" if unit else label
