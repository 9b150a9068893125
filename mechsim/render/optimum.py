"""Pictures of an optimum: how it was come to, and the motion before and after."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mechsim.design.optimum import Optimum
from mechsim.design.shown import Shown
from mechsim.render.labels import tell_unit
from mechsim.render.panels import TIME, colour_of, legend
from mechsim.render.paper import Drawing, sheet_of, write_sheet
from mechsim.render.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST = 1e-17  # the lowest that an axis of logarithms shows


def plot_optimum(title: str, found: Optimum, path: str | Path, theme: str = "light") -> None:
    """Its ending says in which form the file is."""
    drawn: list[Drawing] = [partial(_convergence, found), *(partial(_shown, each) for each in found.shown)]
    if found.hamiltonian is not None:
        drawn.append(partial(_hamiltonian, found))
    remark = f"{found.status}: {found.before:.5g} → {found.goal:.5g}"
    write_sheet(sheet_of([title], drawn, theme, None, remark=remark), Path(path))


def _convergence(found: Optimum, axes: Axes, theme: Theme) -> None:
    from matplotlib.ticker import MaxNLocator

    numbers = [each.number for each in found.history]
    away = [max(abs(each.goal - found.goal), LEAST) for each in found.history]
    missed = [max(each.missed, LEAST) for each in found.history]
    axes.semilogy(numbers, away, "o-", color=colour_of(theme, 0), markersize=4, label="goal away from the one found")
    if max(missed, default=0.0) > LEAST:
        axes.semilogy(numbers, missed, "o-", color=colour_of(theme, 1), markersize=4, label="constraints missed by")
    axes.set(title="search", xlabel="iteration")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend(axes)


def _shown(shown: Shown, axes: Axes, theme: Theme) -> None:
    axes.plot(*shown.before, color=theme.faint, linewidth=1.2, label="before")
    axes.plot(*shown.after, color=colour_of(theme, 0), linewidth=1.6, label="after")
    if shown.marks is not None:
        axes.plot(
            *shown.marks, "o", color=colour_of(theme, 1), markersize=5, label="wanted", zorder=4, linestyle="none"
        )
    axes.set(title=shown.label)
    if shown.path:
        axes.set_aspect("equal", adjustable="datalim")
        axes.set(xlabel="x / m", ylabel="y / m")
    else:
        axes.set(xlabel=TIME)
        tell_unit(axes, shown.unit)
    legend(axes)


def _hamiltonian(found: Optimum, axes: Axes, theme: Theme) -> None:
    told = found.hamiltonian
    assert told is not None
    axes.plot(told.times, told.values - told.mean, "o-", color=colour_of(theme, 0), markersize=3.5, linewidth=1.2)
    axes.axhline(0.0, color=theme.faint, linewidth=0.8)
    room = max(1.5 * told.spread, 1e-9 * max(1.0, abs(told.mean)))
    axes.set_ylim(-room, room)
    words = f"{told.mean:.6g} ± {told.spread:.1g}"
    axes.set(title=f"control Hamiltonian {words}", xlabel=TIME, ylabel="H less its mean")
    axes.set_xlim(np.min(told.times), np.max(told.times))
