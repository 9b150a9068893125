"""Panels of a plot: each draws the same thing for every result, and tells results apart by their dashes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mechsim.render.labels import named, power_of_ten, tell_unit
from mechsim.render.plotted import Result, column_at, constraint_residuals, coordinates, energy_drift, together
from mechsim.render.sizes import ROUNDING
from mechsim.render.theme import Theme
from mechsim.result.layout import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FINEST = 1e-18  # the lowest error an axis shows: what is exactly zero is drawn there, and a little rounding above it
LEAST_TOP = 1e-11  # the highest error it shows at least, so that rounding does not fill the panel
TIME = "t / s"  # the axis on which events are marked
NAMED_EVENTS, FEW_EVENTS, MANY_EVENTS = 6, 12, 5000  # up to which they have names, lines, ticks as vectors
ASIDE = 0.05  # room beside a curve, as a share of it
DOT = 2.5  # of a section, in points


Panel = Callable[["Axes", Sequence[Result], Theme], None]


def legend(axes: Axes) -> None:
    """A legend above the panel, where it covers no curve: when all panels have their places it goes beside the title,
    or below it where there is no room beside it (see headings)."""
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0)


def colour_of(theme: Theme, number: int) -> tuple[float, float, float]:
    """The colour of a curve; after all of the theme's a darker or lighter round, so that no two are alike."""
    from mechsim.render.pen import mix

    count = len(theme.parts)
    return mix(theme.parts[number % count], theme.text, min(0.85, 0.45 * (number // count)))


def _limit(axes: Axes, which: str, results: Sequence[Result], unit: str, *curves: Array) -> None:
    """An axis as long as its curves, or as the quantity is large where they do not change."""
    getattr(axes, f"set_{which}lim")(*_limits(results, unit, *curves))


def _limits(results: Sequence[Result], unit: str, *curves: Array) -> tuple[float, float]:
    sizes = [result.sizes for result in results]
    largest = max(sizes, key=lambda each: each.by_unit.get(unit, 0.0))
    low, high, changes = replace(largest, noise=max(each.noise for each in sizes)).limits(unit, *curves)
    aside = ASIDE * (high - low) if changes else 0.0
    return low - aside, high + aside


def _error_axis(axes: Axes, theme: Theme, curves: Sequence[Array], size: float = 1.0) -> None:
    """Errors on an axis of logarithms that does not blow up rounding: what lies in the shade is no more than that."""
    top = max([LEAST_TOP, *(float(np.nanmax(curve, initial=0.0)) / size * 5 for curve in curves)])
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(_power_of_ten)  # mathtext, which would write them, takes a tenth of a plot's time
    axes.set_ylim(FINEST * size, top * size)
    axes.axhspan(FINEST * size, 10 * ROUNDING * size, color=theme.grid, zorder=0)
    axes.text(
        0.99, 10 * ROUNDING * size, "rounding ", color=theme.faint, fontsize=8, ha="right", va="top",
        transform=axes.get_yaxis_transform(),
    )  # fmt: skip


def _power_of_ten(value: float, place: float | None = None) -> str:
    """10⁻¹² for an axis of logarithms."""
    exponent = round(math.log10(value)) if value > 0 else 0
    return power_of_ten(exponent)


def _errors(values: Array, size: float = 1.0) -> Array:
    """For an axis of logarithms, which has no place for no error at all: that is drawn at its bottom."""
    return np.maximum(values, FINEST * size)


def say(axes: Axes, theme: Theme, words: str) -> None:
    """Why a panel is empty."""
    axes.text(0.5, 0.5, words, color=theme.faint, ha="center", va="center", wrap=True, transform=axes.transAxes)


def mark_events(axes: Axes, results: Sequence[Result], theme: Theme) -> None:
    """When something happened: thin lines with names where it was seldom, ticks on the axis where it was often. Events
    of the user have another colour than what happens at contacts."""
    events = [event for result in results for event in result.trajectory.events or ()]
    few, named = len(events) <= FEW_EVENTS, len(events) <= NAMED_EVENTS
    for kind, colour in ((True, theme.trace[1]), (False, theme.trace[0])):
        times = [event.t for event in events if (event.kind == "event") == kind]
        high, dash, many = 1.0 if few else 0.025, (0, (3, 3)) if few else "-", len(times) > MANY_EVENTS
        axes.vlines(
            times, 0.0, high, color=colour, linewidth=0.8, alpha=0.5 if few else 0.8, zorder=1,
            linestyle=dash, transform=axes.get_xaxis_transform(), rasterized=many,
        )  # fmt: skip
    for event in events if named else ():
        axes.text(
            event.t, 0.98, f"{event.gap} ", color=theme.faint, fontsize=7, rotation=90, ha="right", va="top",
            clip_on=True, transform=axes.get_xaxis_transform(),
        )  # fmt: skip


def energy_panel(axes: Axes, results: Sequence[Result], theme: Theme) -> None:
    colours = dict(zip("TVE", (theme.trace[0], theme.trace[1], theme.text), strict=True))
    names = {"T": "kinetic T", "V": "potential V", "E": "T + V"}
    drawn = []
    for result in results:
        t, curves = result.energies()
        curves["E"] = curves["T"] + curves["V"]
        for key, name in names.items():  # the total is thin and on top: where it is one energy, both are seen
            label, width = name if result is results[0] else None, 1.2 if key == "E" else 2.6
            axes.plot(t, curves[key], result.dash, color=colours[key], label=label, linewidth=width)
        drawn += list(curves.values())
    axes.set(title="Energies", xlabel=TIME)
    tell_unit(axes, "J")
    _limit(axes, "y", results, "J", *drawn)
    legend(axes)


def drift_panel(axes: Axes, results: Sequence[Result], theme: Theme) -> None:
    drawn = []
    for number, result in enumerate(results):
        drawn.append(energy_drift(result))
        axes.plot(result.columns["t"], _errors(drawn[-1]), result.dash, color=colour_of(theme, number))
    axes.set(title="Energy drift, over the largest energy", xlabel=TIME)
    _error_axis(axes, theme, drawn)


def residual_panel(axes: Axes, results: Sequence[Result], theme: Theme) -> None:
    """How far constraints are missed: positions by the full colour, velocities by a pale one."""
    from mechsim.render.pen import mix

    drawn: list[Array] = []
    for number, result in enumerate(results):
        positions, rates, lacking = constraint_residuals(result)
        if lacking:
            say(axes, theme, f"{result.name} lacks the columns\n{', '.join(lacking)}")
        t, colour = result.columns["t"], colour_of(theme, number)
        pale = mix(colour, theme.background, 0.5)
        kinds = ((rates, pale, "rates / peak speed"), (positions, colour, "positions / size"))
        for values, ink, name in kinds:
            if values is not None:
                axes.plot(t, _errors(values), result.dash, color=ink, label=name if number == 0 else None)
                drawn.append(values)
    axes.set(title="Constraints missed", xlabel=TIME)
    _error_axis(axes, theme, drawn)
    if drawn:
        legend(axes)
    elif not axes.texts[1:]:
        say(axes, theme, "there are no constraints")


def columns_panel(labels: Sequence[str], words: str = "") -> Panel:
    """Columns against time."""

    def panel(axes: Axes, results: Sequence[Result], theme: Theme) -> None:
        drawn = []
        for result in results:
            for number, label in enumerate(labels):
                name = label if result is results[0] else None
                axes.plot(*result.smooth(label), result.dash, color=colour_of(theme, number), label=name)
                drawn.append(result.smooth(label)[1])
        unit = results[0].unit(labels[0])
        axes.set(title=words or labels[0], xlabel=TIME)
        tell_unit(axes, unit)
        _limit(axes, "y", results, unit, *drawn)
        if words:
            legend(axes)

    return panel


def phase_panel(horizontal: str, vertical: str) -> Panel:
    """One column against another."""

    def panel(axes: Axes, results: Sequence[Result], theme: Theme) -> None:
        drawn = []
        for number, result in enumerate(results):
            (t, x), (s, y) = result.smooth(horizontal), result.smooth(vertical)
            if len(t) != len(s):  # a value smoothed, its derivative not
                x, y = together(result, horizontal, vertical)
            axes.plot(x, y, result.dash, color=colour_of(theme, number), linewidth=1.1)
            axes.plot(x[0], y[0], "o", color=colour_of(theme, number))
            drawn.append((x, y))
        axes.set(title=f"{vertical} against {horizontal} (the dot is the start)")
        _bound_plane(axes, results, (horizontal, vertical), drawn)

    return panel


def _bound_plane(
    axes: Axes, results: Sequence[Result], labels: tuple[str, str], drawn: list[tuple[Array, Array]]
) -> None:
    """Names and limits of the axes of two columns."""
    axes.set(xlabel=named(labels[0], results[0].unit(labels[0])), ylabel=named(labels[1], results[0].unit(labels[1])))
    for which, label, curves in zip("xy", labels, zip(*drawn, strict=True), strict=True):
        _limit(axes, which, results, results[0].unit(label), *curves)


def section_panel(event: str, horizontal: str, vertical: str) -> Panel:
    """One column against another where an event happened, a dot for each."""

    def panel(axes: Axes, results: Sequence[Result], theme: Theme) -> None:
        drawn = []
        for number, result in enumerate(results):
            x, y = result.at_events(event, horizontal, vertical)
            axes.plot(x, y, "o", color=colour_of(theme, number), markersize=DOT, markeredgewidth=0)
            drawn.append((x, y))
        axes.set(title=f"{vertical} against {horizontal} at each {event}")
        _bound_plane(axes, results, (horizontal, vertical), drawn)

    return panel


SIDES = {"front": ("x", "z"), "top": ("x", "y"), "side": ("y", "z")}  # to the right and up in each projection of space


def path_panels(results: Sequence[Result], points: Sequence[str]) -> list[Panel]:
    """The ways of points: one panel in the plane, in space one from each side."""
    if not any(f"{point}_z" in results[0].columns for point in points):
        return [_path_panel(points, ("x", "y"), "Paths (the dots are the start)")]
    return [_path_panel(points, axes, f"Paths, {name} view (the dots are the start)") for name, axes in SIDES.items()]


def _path_panel(points: Sequence[str], sides: tuple[str, str], title: str) -> Panel:
    """The ways of points along two axes, true to scale."""
    across, up = sides

    def panel(axes: Axes, results: Sequence[Result], theme: Theme) -> None:
        drawn = []
        for result in results:
            for number, point in enumerate(points):
                name, colour = point if result is results[0] else None, colour_of(theme, number)
                x, y = (result.smooth(f"{point}_{axis}")[1] for axis in sides)
                axes.plot(x, y, result.dash, color=colour, linewidth=1.1, label=name)
                axes.plot(x[0], y[0], "o", color=colour)
                drawn.append((x, y))
        axes.set(title=title, xlabel=f"{across} / m", ylabel=f"{up} / m")
        # As far as the curves, or as the mechanism is large: then the axes may grow until both have one scale.
        seen = [_limits(results, "m", *curves) for curves in zip(*drawn, strict=True)]
        axes.update_datalim(np.transpose(seen))
        axes.set_aspect("equal", adjustable="datalim")
        axes.autoscale_view()
        legend(axes)

    return panel


def difference_panel(axes: Axes, results: Sequence[Result], theme: Theme) -> None:
    """How far each further result is from the first, at the first one's times."""
    base, drawn = results[0], []
    t, size = base.columns["t"], base.sizes.by_unit.get("m", 1.0)
    for number, result in enumerate(results[1:], start=1):
        other = result.columns["t"]
        common = (t >= other[0]) & (t <= other[-1])
        labels = [each for each in coordinates(base) if each in result.columns]
        if not common.any() or not labels:
            continue
        gaps = [np.abs(base.columns[each][common] - column_at(result, each, t[common])) for each in labels]
        drawn.append(np.max(gaps, axis=0))
        axes.plot(t[common], _errors(drawn[-1], size), result.dash, color=colour_of(theme, number))
    cubic = any(result.trajectory.polynomials is None for result in results[1:])
    remark = ", by cubic interpolation between rows" if cubic else ""
    axes.set(title=f"Largest difference of a coordinate from {base.name}{remark}", xlabel=TIME)
    tell_unit(axes, "m")
    _error_axis(axes, theme, drawn, size)
