"""Pictures of a linear motion: its eigenvalues, and how outputs answer inputs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mechsim.render.labels import by_degrees, named
from mechsim.render.panels import colour_of, legend
from mechsim.render.paper import Drawing, sheet_of, write_sheet
from mechsim.render.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mechsim.analysis.linear import Linearised

POINTS = 800  # of a curve
DECADES = 1.2  # to both sides of the slowest and of the fastest mode
MOST_INPUTS = 4
NOTHING = 1e-6  # of the fastest mode: what is slower is one that stands still but for rounding
LEAST_WIDE = 0.05  # of the fastest mode, that is seen on both sides of zero


def plot_linear(title: str, found: Linearised, path: str | Path) -> None:
    """Eigenvalues, and for each input size and phase of all outputs (Bode)."""
    drawn: list[Drawing] = []
    for number in range(min(len(found.inputs), MOST_INPUTS)):
        drawn += [_bode(found, number, phase=False), _bode(found, number, phase=True)]
    drawn.append(_eigenvalues(found))  # last, so that size and phase are beside each other
    remark = "at rest" if found.rest else "in steady motion" if found.steady else f"at t = {found.t:g} s"
    write_sheet(sheet_of([title], drawn, "light", None, remark=remark), Path(path))


def _eigenvalues(found: Linearised) -> Drawing:
    def panel(axes: Axes, theme: Theme) -> None:
        values = found.eigenvalues
        growing = values.real > 1e-7 * np.abs(values).max(initial=0.0)
        axes.axvline(0, color=theme.faint, lw=1)
        axes.axhline(0, color=theme.faint, lw=1)
        for chosen, number, words in ((~growing, 0, "stays or dies out"), (growing, 1, "grows")):
            if chosen.any():
                ink = colour_of(theme, number)
                axes.plot(values[chosen].real, values[chosen].imag, "o", color=ink, markersize=7, label=words)
        axes.margins(0.15)
        low, high = min(0.0, *values.real), max(0.0, *values.real)
        aside = max(0.15 * (high - low), LEAST_WIDE * np.abs(values).max(initial=0.0)) or 1.0
        axes.set_xlim(low - aside, high + aside)
        axes.set(title="eigenvalues", xlabel=named("real part", "1/s"), ylabel=named("imaginary part", "rad/s"))
        if growing.any():
            legend(axes)

    return panel


def _frequencies(found: Linearised) -> np.ndarray:
    sizes = np.abs(found.eigenvalues)
    known = sizes[sizes > NOTHING * sizes.max(initial=0.0)]
    low, high = (known.min(), known.max()) if len(known) else (1.0, 1.0)
    own = np.abs(found.eigenvalues.imag)
    ends = np.log10(low) - DECADES, np.log10(high) + DECADES
    return np.unique(np.concatenate([np.logspace(*ends, POINTS), own[own > 0] * (1 + 1e-6)]))


def _bode(found: Linearised, number: int, *, phase: bool) -> Drawing:
    def panel(axes: Axes, theme: Theme) -> None:
        w = _frequencies(found)
        answer = found.response(w)[:, :, number]
        drawn = []
        for place, name in enumerate(found.outputs):
            y = np.degrees(np.unwrap(np.angle(answer[:, place]))) if phase else np.abs(answer[:, place])
            drawn.append(y)
            if phase or (y > 0).any():
                axes.plot(w / (2 * np.pi), y, color=colour_of(theme, place), lw=1.6, label=name)
        axes.set_xscale("log")
        axes.set_yscale("linear" if phase else "log")
        words = "phase" if phase else "size"
        axes.set(title=f"{words} of what {found.inputs[number]} does", xlabel="frequency / Hz")
        axes.set_ylabel("phase / °" if phase else "output per input")
        if phase:
            by_degrees(axes.yaxis, *drawn)
        if len(found.outputs) > 1:
            legend(axes)

    return panel
