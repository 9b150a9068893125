"""Plots of results: an overview, or what is asked for, on one sheet. The panels are in a module of their own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mechsim.frozen import frozen
from mechsim.render import panels
from mechsim.render.options import MOST_CURVES
from mechsim.render.panels import Panel
from mechsim.render.paper import sheet_of, write_sheet
from mechsim.render.plotted import Result, coordinates
from mechsim.render.theme import Theme
from mechsim.result.accelerations import ANGLE_JERK_UNIT, ANGLE_UNIT, POINT_JERK_UNIT, POINT_UNIT
from mechsim.result.trajectory import Trajectory
from mechsim.spec.names import AXES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SHOWN = (
    (POINT_UNIT, "acceleration"),
    (ANGLE_UNIT, "angular acceleration"),
    (POINT_JERK_UNIT, "jerk"),
    (ANGLE_JERK_UNIT, "angular jerk"),
)  # what is shown if it was asked for, by its unit


@frozen
class PlotOptions:
    """What to plot; nothing named: an overview."""

    phase: tuple[tuple[str, str], ...] = ()
    path: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    events: str | None = None  # phase planes show only where these happened
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
    write_sheet(_figure(results, _panels(results, options), options), target)
    return tuple(notes)


def _panels(results: Sequence[Result], options: PlotOptions) -> list[Panel]:
    asked: list[Panel] = [
        panels.section_panel(options.events, x, y) if options.events else panels.phase_panel(x, y)
        for x, y in options.phase
    ]
    asked += panels.path_panels(results, options.path) if options.path else []
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
    for axis in AXES:
        chosen += _some([label for label in places if label.endswith(f"_{axis}")], axis)
    units = dict(zip(results[0].trajectory.labels, results[0].trajectory.units, strict=False))
    angles = [label for label in first if label.startswith("theta_") and not label.endswith("dot")]
    chosen += _some(angles, "turn angle")
    for unit, words in SHOWN:
        chosen += _some([label for label in first if units.get(label) == unit], words)
    return [*chosen, panels.difference_panel] if len(results) > 1 else chosen


def _some(labels: list[str], words: str) -> list[Panel]:
    """A panel of as many columns as can be told apart; its title says when there are more."""
    if len(labels) > MOST_CURVES:
        words = f"{words}, the first {MOST_CURVES} of {len(labels)}"
    return [panels.columns_panel(labels[:MOST_CURVES], words)] if labels else []


def _figure(results: Sequence[Result], drawn: Sequence[Panel], options: PlotOptions) -> Figure:
    titles = [result.trajectory.title or result.name for result in results]
    dashes = {result.name: result.dash for result in results} if len(results) > 1 else {}
    bound = [partial(_draw, panel, results) for panel in drawn]
    return sheet_of(titles, bound, options.theme, options.size, dashes=dashes)


def _draw(panel: Panel, results: Sequence[Result], axes: Axes, theme: Theme) -> None:
    panel(axes, results, theme)
    if axes.get_xlabel() == panels.TIME:
        limits = axes.get_xlim()
        panels.mark_events(axes, results, theme)
        axes.set_xlim(limits)
