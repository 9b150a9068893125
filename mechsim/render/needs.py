"""Pictures of what drives must give: forces or torques, and powers, over time."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mechsim.analysis.needs import Inverse, Need
from mechsim.render.labels import tell_unit
from mechsim.render.panels import TIME, colour_of, legend
from mechsim.render.paper import sheet_of, write_sheet
from mechsim.render.theme import Theme
from mechsim.result.layout import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SAMPLES = 1500
MOST_PANELS = 12


def plot_needs(title: str, found: Inverse, path: str | Path, theme: str = "light") -> None:
    """Plot into a file; its ending says in which form."""
    t = np.linspace(found.motion.t[0], found.motion.t[-1], SAMPLES)
    values = found.at(t)
    panels = [partial(_force, need, t, values, number) for number, need in enumerate(found.needs[:MOST_PANELS])]
    panels.append(partial(_power, found, t, values))
    write_sheet(sheet_of([title], panels, theme, None, remark="what drives must give"), Path(path))


def _force(need: Need, t: Array, values: dict[str, Array], number: int, axes: Axes, theme: Theme) -> None:
    axes.plot(t, values[need.name], color=colour_of(theme, number), lw=1.6)
    axes.plot([need.peak.t], [need.peak.value], "o", color=theme.text, ms=5, label=f"peak {need.peak.value:.5g}")
    for sign in (1.0, -1.0):
        axes.axhline(sign * need.rms, color=theme.faint, lw=0.9, ls="--")
    axes.set(title=f"{need.name.removeprefix('drive_')}, rms {need.rms:.5g}", xlabel=TIME)
    tell_unit(axes, need.unit)
    axes.margins(x=0.0)
    legend(axes)


def _power(found: Inverse, t: Array, values: dict[str, Array], axes: Axes, theme: Theme) -> None:
    names, label = [name for name, unit in found.columns if unit == "W"], ""
    for number, name in enumerate(names):
        label = name.removeprefix("drive_").removesuffix("_power")
        axes.plot(t, values[name], color=colour_of(theme, number), lw=1.6, label=label)
    if len(names) > 1:
        axes.plot(t, sum(values[name] for name in names), color=theme.text, lw=1.0, ls="--", label="sum")
    axes.axhline(0.0, color=theme.faint, lw=0.8)
    axes.set(title="power" if len(names) > 1 else f"power of {label}", xlabel=TIME)
    tell_unit(axes, "W")
    axes.margins(x=0.0)
    if len(names) > 1:
        legend(axes)
