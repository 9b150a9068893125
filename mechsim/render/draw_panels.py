"""Panels of draws and of cases without a grid: dots, histograms with quantiles, shares of variance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mechsim.render.labels import tell_unit
from mechsim.render.panels import colour_of, legend, say
from mechsim.render.paper import Drawing
from mechsim.render.sweep_panels import mark_missing, scale_axis
from mechsim.render.swept import Swept
from mechsim.render.theme import Theme
from mechsim.result.layout import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mechsim.study.statistics import Measured

MOST_BINS = 80
MOST_DOTS = 200_000  # drawn as vectors they would make a file that nobody can open
NAME = 0.09  # of a panel's width, that the name of a quantile takes
TOLD = ((0.05, "5 %"), (0.5, "median"), (0.95, "95 %"))


def dots_panel(swept: Swept, across: str, labels: Sequence[str], *, small: bool = False) -> Drawing:
    """Columns against another column, a dot for each case. Small dots are for bifurcation diagrams: one ink for all."""

    def panel(axes: Axes, theme: Theme) -> None:
        x = swept.flat(across)
        drawn: list[Array] = []
        for number, label in enumerate(labels):
            y = swept.flat(label)
            drawn.append(y)
            size, alpha = _dots(len(x) * len(labels), small)
            ink = theme.text if small else colour_of(theme, number)
            axes.plot(x, y, "o", color=ink, markersize=size, alpha=alpha, markeredgewidth=0,
                      label=None if small else label, rasterized=len(x) > MOST_DOTS)  # fmt: skip
        many = len(labels) > 1
        axes.set(title=_several(labels) if many else f"{labels[0]} against {across}", xlabel=swept.words(across))
        tell_unit(axes, swept.measures.get(labels[0], ""))
        place = swept.grid.axis(across)
        scale_axis(axes, "x", place is not None and swept.grid.axes[place].log)
        axes.set_ylim(*swept.limits(*drawn))
        axes.locator_params(axis="x", nbins=7) if axes.get_xscale() == "linear" else None
        mark_missing(axes, theme, x[~np.isfinite(np.column_stack(drawn)).any(axis=1) & np.isfinite(x)])
        if many and not small:
            legend(axes)

    return panel


def histogram_panel(swept: Swept, label: str) -> Drawing:
    """How often values come, with quantiles; of draws of one point or of all cases."""

    def panel(axes: Axes, theme: Theme) -> None:
        values = swept.flat(label)
        known = values[np.isfinite(values)]
        axes.set(title=label, xlabel=swept.words(label), ylabel="cases")
        low, high = swept.limits(known)
        if not len(known):
            say(axes, theme, "no case has a value")
            return
        constant = high - low > 2 * np.ptp(known)  # but for rounding
        seen = (low, high) if constant else None
        axes.hist(
            known, bins=9 if constant else _bins(known), range=seen, color=colour_of(theme, 0), alpha=0.75, linewidth=0
        )
        axes.set_axisbelow(True)
        axes.set_xlim(low, high)
        axes.locator_params(axis="x", nbins=5)  # numbers that differ little are long
        top = axes.get_ylim()[1]
        axes.set_ylim(0, 1.12 * top)
        said = low - (high - low)
        for level, name in () if constant else TOLD:
            place = float(np.quantile(known, level))
            axes.axvline(place, color=theme.text, linewidth=1.0, linestyle="-" if level == 0.5 else "--")
            if place - said > NAME * (high - low):
                axes.text(place, 1.1 * top, f" {name}", fontsize=8, color=theme.faint, va="top", clip_on=True)
                said = place
        if len(known) > 1:
            spread = "constant" if constant else f"standard deviation {float(known.std(ddof=1)):.3g}"
            axes.set_title(f"mean {float(known.mean()):.6g}, {spread}", loc="right", fontsize=9)

    return panel


def share_panel(measures: Sequence[Measured]) -> Drawing:
    """First-order Sobol shares: a group of bars per measure, a bar per parameter, with twice the standard error."""

    def panel(axes: Axes, theme: Theme) -> None:
        axes.set(
            title="Share of the variance that each parameter explains alone",
            xlabel="first-order Sobol share (lines: twice its standard error to each side)",
        )
        known = [each for each in measures if any(np.isfinite(share.value) for share in each.shares)]
        if not known:
            say(axes, theme, "too few draws, or no measure varies")
            return
        names = [share.parameter for share in known[0].shares]
        high = 0.8 / len(names)
        for number, name in enumerate(names):
            values, errors = np.array([(each.shares[number].value, each.shares[number].error) for each in known]).T
            places = np.arange(len(known)) + (number - (len(names) - 1) / 2) * high
            axes.barh(places, values, 0.92 * high, color=colour_of(theme, number), label=name, linewidth=0,
                      xerr=2 * errors, error_kw={"ecolor": theme.text, "elinewidth": 1.0})  # fmt: skip
        axes.set_yticks(np.arange(len(known)), [each.label for each in known])
        axes.set(ylim=(len(known) - 0.5, -0.5), xlim=(min(0.0, axes.get_xlim()[0]), max(1.0, axes.get_xlim()[1])))
        axes.grid(False, axis="y")
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0, labelcolor=theme.text)
        axes.axvline(0.0, color=theme.faint, linewidth=1.0)
        legend(axes)

    return panel


def _dots(count: int, small: bool) -> tuple[float, float]:
    """Size and strength of a dot among so many."""
    if small:
        return float(np.clip(40 / count**0.45, 0.7, 2.5)), float(np.clip(300 / count**0.6, 0.25, 0.9))
    return float(np.clip(18 / count**0.25, 1.5, 5.0)), float(np.clip(20 / count**0.5, 0.12, 0.8))


def _bins(values: Array) -> int:
    """As many as Freedman and Diaconis advise, within reason."""
    quarter = float(np.subtract(*np.quantile(values, (0.75, 0.25))))
    width = 2 * quarter / len(values) ** (1 / 3)
    return int(np.clip(np.ptp(values) / width, 8, MOST_BINS)) if width > 0 else 8


def _several(labels: Sequence[str]) -> str:
    return ", ".join(labels) if len(labels) < 4 else f"{labels[0]} to {labels[-1]}, {len(labels)} columns"
