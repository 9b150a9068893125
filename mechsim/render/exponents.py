"""How Lyapunov exponents came to their values: averages against time, with the errors they have in the end."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mechsim.analysis.exponents import Exponents
from mechsim.render.labels import named
from mechsim.render.options import MOST_CURVES
from mechsim.render.panels import colour_of, legend
from mechsim.render.paper import sheet_of, write_sheet
from mechsim.render.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EARLIEST = 8  # laps: averages over fewer would fill the panel


def plot_exponents(title: str, found: Exponents, path: str | Path, theme: str = "light") -> None:
    """Plot the averages into a file; its ending says in which form."""
    remark = f"averages from t = {found.begun:g} s on"
    write_sheet(sheet_of([title], [partial(_draw, found)], theme, None, remark=remark), Path(path))


def _draw(found: Exponents, axes: Axes, theme: Theme) -> None:
    shown = slice(min(EARLIEST, len(found.times) - 1), None)
    is_told = len(found.values) <= MOST_CURVES
    for number, (value, error) in enumerate(zip(found.values, found.errors, strict=True)):
        colour = colour_of(theme, number)
        name = f"λ{number + 1} = {value:.3g} ± {error:.1g}" if is_told else None
        axes.plot(found.times[shown], found.running[shown, number], color=colour, linewidth=1.2, label=name)
        axes.errorbar(found.times[-1], value, error, color=colour, capsize=3, fmt="none")
    axes.axhline(0.0, color=theme.faint, linewidth=0.8, zorder=1)
    axes.set(title="Lyapunov exponents", xlabel="t / s", ylabel=named("λ", "1/s"))
    if is_told:
        legend(axes)
