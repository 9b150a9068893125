"""Pictures of sensitivities: derivatives along the motion, of measures as bars, and what tolerances make of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mechsim.design.sensitivities import Curve, Sensitivity
from mechsim.design.tolerances import Budget
from mechsim.render.labels import named
from mechsim.render.options import MOST_CURVES
from mechsim.render.panels import TIME, colour_of, legend
from mechsim.render.paper import Drawing, sheet_of, write_sheet
from mechsim.render.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BARS = 16  # of one panel: the largest


def plot_sensitivity(title: str, found: Sensitivity, path: str | Path, theme: str = "light") -> None:
    """Curves, then a panel of bars for each measure; its ending says in which form the file is."""
    drawn: list[Drawing] = [partial(_curve, found, curve) for curve in found.curves]
    budget = found.budget
    for place in range(len(found.labels)):
        drawn.append(
            partial(_measure, found, place) if budget is None else partial(_budget, budget, found.units[place], place)
        )
    remark = "exact derivatives" if budget is None else "tolerances, to first order"
    write_sheet(sheet_of([title], drawn, theme, None, remark=remark), Path(path))


def _curve(found: Sensitivity, curve: Curve, axes: Axes, theme: Theme) -> None:
    few = len(found.by) <= MOST_CURVES
    for number, name in enumerate(found.by):
        label = f"by {name}" if few else None
        axes.plot(found.times, curve.derivatives[:, number], color=colour_of(theme, number), linewidth=1.3, label=label)
    axes.axhline(0.0, color=theme.faint, linewidth=0.8, zorder=1)
    axes.set(title=named(f"derivatives of {curve.label}", curve.unit), xlabel=TIME)
    if few:
        legend(axes)


def _measure(found: Sensitivity, place: int, axes: Axes, theme: Theme) -> None:
    """What one hundredth of each does to a measure."""
    parts = 0.01 * found.derivatives[place] * found.given
    known = np.flatnonzero(np.isfinite(parts))
    order = known[np.argsort(-np.abs(parts[known]), kind="stable")][:MOST_BARS]
    _bars(axes, theme, [found.by[number] for number in order], parts[order])
    unit = found.units[place]
    value = f"{found.values[place]:.5g} {unit}".strip()
    axes.set(title=f"{found.labels[place]} = {value}", xlabel=named("change per 1 %", unit))
    axes.axvline(0.0, color=theme.faint, linewidth=0.8)


def _budget(budget: Budget, unit: str, place: int, axes: Axes, theme: Theme) -> None:
    order = budget.ranked(place)[:MOST_BARS]
    _bars(axes, theme, [budget.names[number] for number in order], budget.contributions[place, order])
    totals = (("root sum square", budget.likely[place]), ("at worst", budget.worst[place]))
    for number, (words, total) in enumerate(totals, 1):
        axes.axvline(total, color=colour_of(theme, number), linewidth=1.6, zorder=3, label=f"{words} ± {total:.3g}")
    value = f"{budget.values[place]:.4g} {unit}".strip()
    axes.set(title=f"{budget.labels[place]} = {value}", xlabel=named("contribution (±)", unit))
    axes.set_xlim(0.0, 1.08 * float(budget.worst[place]) or 1.0)
    legend(axes)


def _bars(axes: Axes, theme: Theme, names: list[str], sizes: np.ndarray) -> None:
    places = np.arange(len(names))[::-1]
    axes.barh(places, sizes, color=colour_of(theme, 0), height=0.62, zorder=2)
    axes.set_yticks(places, names)
    axes.locator_params(axis="x", nbins=5)
