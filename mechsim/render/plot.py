"""Plots of results: an overview, or what is asked for, on one sheet. The panels are in a module of their own."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mechsim.errors import printable
from mechsim.render import panels
from mechsim.render.options import MOST_CURVES
from mechsim.render.panels import Panel
from mechsim.render.plotted import Result, coordinates
from mechsim.render.sheet import arrange
from mechsim.render.theme import THEMES, Theme
from mechsim.result.paths import replacing
from mechsim.result.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMS = (".png", ".svg", ".pdf")
HEADING = 46  # pixels above the panels
FONT = "DejaVu Sans"  # comes with matplotlib, so that a plot is the same everywhere and no others are looked for
PACKED = 1  # of 9: a plot is mostly empty, and packs as well quickly


@dataclass(frozen=True, slots=True)
class PlotOptions:
    """What to plot; nothing named: an overview."""

    phase: tuple[tuple[str, str], ...] = ()
    path: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    theme: str = "light"
    size: tuple[int, int] | None = None


def plot(named: Sequence[tuple[str, Trajectory]], path: str | Path, options: PlotOptions) -> tuple[str, ...]:
    """Plot results into a file; its ending says in which form. Returns what a person should be told."""
    target = Path(path)
    notes: list[str] = []
    results = []
    for number, (name, trajectory) in enumerate(named):
        result, left_out = Result.of(name, trajectory, ("-", "--", ":", "-.")[number % 4])
        notes += [*trajectory.notes, *(f"{name}: {note}" for note in left_out)]
        results.append(result)
    figure = _figure(results, _panels(results, options), options)
    with replacing(target) as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a sheet too small for its labels is what was asked for
        form = target.suffix[1:].lower()
        save = partial(figure.savefig, temporary, format=form, facecolor=figure.get_facecolor())
        if form == "png":  # other forms know no packing
            save(pil_kwargs={"compress_level": PACKED})
        else:
            save()
    return tuple(notes)


def _panels(results: Sequence[Result], options: PlotOptions) -> list[Panel]:
    asked: list[Panel] = [panels.phase_panel(x, y) for x, y in options.phase]
    asked += [panels.path_panel(options.path)] if options.path else []
    asked += [panels.columns_panel([label]) for label in options.columns]
    if asked:
        return asked
    first = results[0].columns
    chosen: list[Panel] = []
    if {"T", "V"} <= set(first):
        chosen += [panels.energy_panel, panels.drift_panel]
    if any(result.scene for result in results):
        chosen.append(panels.residual_panel)
    places = coordinates(results[0])
    for ending, words in (("_x", "x"), ("_y", "y"), ("_z", "z")):
        chosen += _some([label for label in places if label.endswith(ending)], words)
    chosen += _some(
        [label for label in first if label.startswith("theta_") and not label.endswith("_dot")], "turn angle"
    )
    return [*chosen, panels.difference_panel] if len(results) > 1 else chosen


def _some(labels: list[str], words: str) -> list[Panel]:
    """A panel of as many columns as can be told apart; its title says when there are more."""
    if len(labels) > MOST_CURVES:
        words = f"{words}, the first {MOST_CURVES} of {len(labels)}"
    return [panels.columns_panel(labels[:MOST_CURVES], words)] if labels else []


def _figure(results: Sequence[Result], drawn: Sequence[Panel], options: PlotOptions) -> Figure:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    theme = THEMES[options.theme]
    columns = 1 if len(drawn) == 1 else 2
    rows = math.ceil(len(drawn) / columns)
    width, height = options.size or ((1000, 720) if columns == 1 else (1280, 100 + 290 * rows))
    with rc_context(_style(theme)):  # type: ignore[arg-type]  # other versions know other words
        figure = Figure(figsize=(width / 100, height / 100), dpi=100, facecolor=theme.background)
        titles = dict.fromkeys(printable(result.trajectory.title or result.name) for result in results)
        top = 1 - HEADING / height
        figure.text(0.012, (1 + top) / 2, "  ·  ".join(titles), fontsize=15, fontweight="bold", va="center")
        for number, panel in enumerate(drawn):
            axes = figure.add_subplot(rows, columns, number + 1)
            panel(axes, results, theme)
        arrange(figure, figure.axes, columns, HEADING)
        if len(results) > 1:
            _name_files(figure, results, theme)
        return figure


def _style(theme: Theme) -> dict[str, object]:
    from cycler import cycler

    return {
        "axes.facecolor": theme.background,
        "axes.edgecolor": theme.faint,
        "axes.labelcolor": theme.text,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "axes.titley": 1.0,  # there are no ticks above a panel that a title would have to avoid
        "axes.titlecolor": theme.text,
        "axes.prop_cycle": cycler(color=theme.parts),
        "axes.formatter.useoffset": False,
        "grid.color": theme.grid,
        "text.color": theme.text,
        "xtick.color": theme.faint,
        "ytick.color": theme.faint,
        "legend.frameon": False,
        "legend.fontsize": 9,
        "lines.linewidth": 1.5,
        "font.size": 10,
        "font.family": FONT,
        "svg.hashsalt": "mechsim",  # the same results give the same file
    }


def _name_files(figure: Figure, results: Sequence[Result], theme: Theme) -> None:
    """Which dashes belong to which file, at the top of the sheet."""
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], color=theme.text, ls=result.dash) for result in results]
    names = [result.name for result in results]
    figure.legend(lines, names, loc="upper right", ncols=len(results), bbox_to_anchor=(0.99, 0.995))
