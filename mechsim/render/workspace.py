"""Pictures of what a point reaches: the region, its boundary by what holds the mechanism there, and curves inside."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mechsim.analysis.workspace import Workspace
from mechsim.render.labels import named
from mechsim.render.panels import colour_of, legend
from mechsim.render.paper import sheet_of, write_sheet
from mechsim.render.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (1000, 900)


def plot_workspace(title: str, found: Workspace, path: str | Path, theme: str = "light") -> None:
    """Plot into a file; its ending says in which form."""
    area = f"area {found.area:.6g}{_square(found)}" if found.area else "a curve, which has no area"
    remark = area if found.area == found.area else "area not known"
    write_sheet(sheet_of([title], [partial(_draw, found)], theme, SIZE, remark=remark), Path(path))


def _square(found: Workspace) -> str:
    return " m²" if set(found.units) == {"m"} else ""


def _draw(found: Workspace, axes: Axes, theme: Theme) -> None:
    axes.plot(*found.cloud.T, "o", ms=2.2, mew=0, color=theme.faint, label="poses tried")
    for piece in found.inner:
        axes.plot(*piece.points().T, color=theme.faint, lw=1.0, ls="--")
    words = list(dict.fromkeys(", ".join(found.met(piece)) or "stretched or folded" for piece in found.boundary))
    told: set[str] = set()
    for piece in found.boundary:
        name = ", ".join(found.met(piece)) or "stretched or folded"
        label = None if name in told else name
        axes.plot(*piece.points().T, color=colour_of(theme, words.index(name)), lw=2.2, label=label)
        told.add(name)
    labels = [named(name, unit) for name, unit in zip(found.names, found.units, strict=True)]
    axes.set(xlabel=labels[0], ylabel=labels[1], title=f"what {found.names[0]} and {found.names[1]} reach")
    if found.units[0] == found.units[1]:
        axes.set_aspect("equal", adjustable="datalim")
    legend(axes)
