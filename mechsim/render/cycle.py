"""Pictures of a mechanism of one freedom over all its poses: paths of points, outputs, advantage, angles."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mechsim.analysis.curve import Curve
from mechsim.analysis.cycle import Cycle
from mechsim.render.labels import by_degrees, named
from mechsim.render.panels import colour_of, legend
from mechsim.render.paper import sheet_of, write_sheet
from mechsim.render.theme import Theme
from mechsim.result.layout import Array
from mechsim.spec.names import AXES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEEP = 10.0  # times its median: an advantage that is larger leaves the panel
FLAT = 1e-3  # of the largest extent of a path in space: one that moves less is in a plane
POOR = 40.0  # degrees: transmission angles below this, or above 180 less it, are shaded


def plot_cycle(title: str, found: Cycle, path: str | Path, theme: str = "light") -> None:
    """Plot into a file; its ending says in which form."""
    panels = [
        partial(_curve, found, each, number, plane)
        for number, each in enumerate(found.curves.values())
        for plane in _planes(each)
    ]
    if found.outputs:
        panels += [partial(_outputs, found, name, number) for number, name in enumerate(found.outputs)]
        panels.append(partial(_advantage, found))
    if found.angles:
        panels.append(partial(_angles, found))
    panels = panels or [partial(_outputs, found, found.input, 0)]
    turns = "turns fully" if found.turns else "goes there and back" if found.closed else "goes on"
    write_sheet(sheet_of([title], panels, theme, None, remark=f"{found.input} {turns}"), Path(path))


def _in_degrees(values: Array, unit: str) -> tuple[Array, str]:
    return (np.degrees(values), "°") if unit == "rad" else (values, unit)


def _against(found: Cycle, axes: Axes) -> Array:
    """The input, which all is drawn against."""
    values, unit = _in_degrees(found.columns[found.input], found.unit)
    axes.set_xlabel(named(found.input, unit))
    if unit == "°":
        by_degrees(axes.xaxis, values)
    axes.margins(x=0.0)
    return values


def _planes(curve: Curve) -> list[tuple[int, int]]:
    """In which planes a path is drawn: that of the two coordinates that move most, and one with the third, if that
    moves, too."""
    extents = np.subtract(curve.high, curve.low)
    order = np.argsort(-extents, kind="stable").tolist()
    planes = [order[:2]]
    if len(order) > 2 and extents[order[2]] > FLAT * extents[order[0]]:
        planes.append([order[0], order[2]])
    return [(min(each), max(each)) for each in planes]


def _curve(found: Cycle, curve: Curve, number: int, plane: tuple[int, int], axes: Axes, theme: Theme) -> None:
    across, up = (AXES[axis] for axis in plane)
    x, y = (found.columns[f"{curve.name}_{axis}"] for axis in (across, up))
    axes.plot(x, y, "o" if curve.stands else "-", color=colour_of(theme, number), lw=1.8)
    for marks, sign, words in ((curve.cusps, "^", "cusp"), (curve.doubles, "o", "double point")):
        if marks:
            places = np.array([mark.at for mark in marks])[:, plane]
            axes.plot(*places.T, sign, color=theme.text, ms=7, mfc="none", label=words)
    dead = sorted({each.place.s for each in found.dead_centres if not each.is_input})
    if dead:
        places = np.stack([found.at(curve.texts[axis], np.array(dead)) for axis in plane])
        axes.plot(*places, "x", color=theme.text, ms=6, label="dead centre")
    seen = f", seen along {next(axis for axis in AXES if axis not in (across, up))}" if len(curve.texts) > 2 else ""
    axes.set(xlabel=f"{across} / m", ylabel=f"{up} / m", title=f"path of {curve.name}{seen}")
    axes.set_aspect("equal", adjustable="datalim")
    if axes.get_legend_handles_labels()[1]:
        legend(axes)


def _outputs(found: Cycle, name: str, number: int, axes: Axes, theme: Theme) -> None:
    against = _against(found, axes)
    values, unit = _in_degrees(found.columns[name], found.units[name])
    axes.plot(against, values, color=colour_of(theme, number), lw=1.8)
    _mark_dead(found, axes, theme, name)
    axes.set(title=name, ylabel=named(name, unit))
    if unit == "°":
        by_degrees(axes.yaxis, values)


def _mark_dead(found: Cycle, axes: Axes, theme: Theme, name: str) -> None:
    for each in found.dead_centres:
        if each.of == name:
            x, _ = _in_degrees(np.array([each.place.input]), found.unit)
            y, _ = _in_degrees(np.array([each.place.value]), found.units[name])
            axes.plot(x, y, "x", color=theme.text, ms=7)


def _advantage(found: Cycle, axes: Axes, theme: Theme) -> None:
    against = _against(found, axes)
    top = 0.0
    for number, name in enumerate(found.outputs):
        values = found.columns[f"advantage {name}"]
        finite = np.abs(values[np.isfinite(values)])
        top = max(top, STEEP * float(np.median(finite))) if len(finite) else top
        unit = found.units[f"advantage {name}"]
        jumps = np.append(np.diff(np.sign(values)) != 0, False) & (np.abs(values) > 1e-9)
        axes.plot(
            against, np.where(jumps, np.nan, values), color=colour_of(theme, number), label=f"{name} {unit}".strip()
        )
    if top:
        low, high = axes.get_ylim()
        axes.set_ylim(max(low, -top), min(high, top))
    axes.axhline(0.0, color=theme.faint, lw=0.8)
    axes.set(title=f"mechanical advantage: force of the output for one of {found.input}")
    legend(axes)


def _angles(found: Cycle, axes: Axes, theme: Theme) -> None:
    against = _against(found, axes)
    for number, name in enumerate(found.angles):
        axes.plot(against, np.degrees(found.columns[name]), color=colour_of(theme, number), lw=1.8, label=name)
    low, high = axes.get_ylim()
    for first, last in ((0.0, POOR), (180.0 - POOR, 180.0)):
        axes.axhspan(first, last, color=theme.faint, alpha=0.15, lw=0)
    axes.set_ylim(max(0.0, min(low, POOR - 5)), min(180.0, high + 5))
    axes.set(title="transmission angles", ylabel="angle / °")
    legend(axes)
