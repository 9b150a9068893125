"""Energy and momenta along a motion: how well those are kept that the model conserves, and how the others go."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mechsim.analysis.invariants import Invariant, Invariants
from mechsim.render.labels import named
from mechsim.render.options import MOST_CURVES
from mechsim.render.panels import colour_of, legend
from mechsim.render.paper import sheet_of, write_sheet
from mechsim.render.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROUNDING = 1e-17  # where no drift at all is drawn
NOTHING = 1e-10  # of its size: what changes by less did not change in this motion
MOST_PANELS = 11


def plot_conserved(title: str, found: Invariants, path: str | Path, theme: str = "light") -> None:
    """Plot them into a file; its ending says in which form."""
    changing = [each for each in found.quantities if not each.conserved and not each.always_zero]
    panels = [partial(_kept, found)] if found.conserved else []
    panels += [partial(_changing, found, each, number) for number, each in enumerate(changing[:MOST_PANELS])]
    remark = f"{len(found.conserved)} conserved, {len(changing)} not"
    write_sheet(sheet_of([title], panels, theme, None, remark=remark), Path(path))


def _kept(found: Invariants, axes: Axes, theme: Theme) -> None:
    for number, each in enumerate(found.conserved[:MOST_CURVES]):
        drift = np.maximum(np.abs(each.values - each.values[0]) / (each.size or 1.0), ROUNDING)
        axes.plot(found.t, drift, color=colour_of(theme, number), lw=1.2, label=each.name)
    axes.set_yscale("log")
    axes.set_ylim(ROUNDING, max(1e-12, 10 * axes.get_ylim()[1]))
    axes.set(title="conserved: relative changes", xlabel="t / s")
    legend(axes)


def _changing(found: Invariants, each: Invariant, number: int, axes: Axes, theme: Theme) -> None:
    axes.plot(found.t, each.values, color=colour_of(theme, number), lw=1.5)
    middle, size = float(np.mean(each.values)), max(each.size, float(np.abs(each.values).max()))
    if np.ptp(each.values) <= NOTHING * size:  # rounding is not blown up
        axes.set_ylim(middle - size, middle + size)
    names = sorted(each.broken_by, key=lambda name: -each.broken_by[name])
    changed = f", changed by {', '.join(names[:2])}" if names else ""
    axes.set(title=f"{each.name}{changed}", xlabel="t / s", ylabel=named(each.name, each.unit))
