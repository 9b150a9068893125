"""Panels over the axes of a sweep: curves, families of curves, bands of draws, heat maps. Cases without a value are
gaps, and a cross says where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mechsim.render.labels import tell_unit
from mechsim.render.panels import colour_of, legend, say
from mechsim.render.paper import Drawing
from mechsim.render.swept import Fixed, Swept, sorted_axis
from mechsim.render.theme import Theme
from mechsim.result.layout import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize

MOST_NAMED = 6  # curves of a family in a legend: more are told apart by a scale of colours
MOST_MARKED = 60  # values of a grid: further ones are too near for a dot each
BANDS = ((0.05, 0.95, 0.14), (0.25, 0.75, 0.28))  # of draws: quantiles, and how strong
SHADES = {"light": (0.0, 0.88), "dark": (0.12, 1.0)}  # of viridis, that are seen on the paper


def curve_panel(swept: Swept, label: str, across: int, family: int | None, fixed: Fixed) -> Drawing:
    """A column against an axis, a curve for each value of another axis; of draws the median with quantiles."""

    def panel(axes: Axes, theme: Theme) -> None:
        x, order = sorted_axis(swept.grid.axes[across])
        along = [across] if family is None else [across, family]
        values = swept.gridded(label, along, fixed)[order].reshape(len(x), -1, swept.grid.draws)
        members = np.asarray(swept.grid.axes[family].values) if family is not None else np.zeros(1)
        colours = _colours(theme, members, swept.grid.axes[family].log) if family is not None else [colour_of(theme, 0)]
        dot = "." if len(x) <= MOST_MARKED else ""
        for number, member in enumerate(members):
            name = f"{swept.grid.axes[family].name} = {member:.4g}" if family is not None else None
            if swept.grid.draws > 1:
                _band(axes, x, values[:, number], colours[number], len(members) == 1)
            axes.plot(x, _middle(values[:, number]), dot + "-", color=colours[number], label=name, markersize=5)
        draws = f", median and 5, 25, 75, 95 % of {swept.grid.draws:,} draws" if swept.grid.draws > 1 else ""
        axes.set(title=_title(swept, label + draws, fixed), xlabel=swept.grid.axes[across].name)
        tell_unit(axes, swept.measures.get(label, ""))
        scale_axis(axes, "x", swept.grid.axes[across].log)
        axes.set_ylim(*swept.limits(values))
        mark_missing(axes, theme, x[~np.isfinite(values).all(axis=(1, 2))])
        if family is not None and len(members) <= MOST_NAMED:
            legend(axes)
        elif family is not None:
            axis = swept.grid.axes[family]
            _colour_bar(axes, theme, _shades(theme), _span(axis.log, members), axis.name)

    return panel


def heat_panel(swept: Swept, label: str, across: int, up: int, fixed: Fixed, beside: Sequence[Fixed] = ()) -> Drawing:
    """A column over two axes, as colours; of draws the median. Panels that stand `beside` each other have one scale."""

    def panel(axes: Axes, theme: Theme) -> None:
        (x, x_order), (y, y_order) = (sorted_axis(swept.grid.axes[k]) for k in (across, up))
        values = _middle(swept.gridded(label, [up, across], fixed))[np.ix_(y_order, x_order)]
        logs = [swept.grid.axes[k].log for k in (across, up)]
        draws = f", median of {swept.grid.draws:,} draws" if swept.grid.draws > 1 else ""
        axes.set(title=_title(swept, swept.words(label) + draws, fixed))
        axes.set(xlabel=swept.grid.axes[across].name, ylabel=swept.grid.axes[up].name)
        axes.grid(False)
        for which, log in zip("xy", logs, strict=True):
            scale_axis(axes, which, log)
        corners = [_edges(places, log) for places, log in zip((x, y), logs, strict=True)]
        axes.set(xlim=corners[0][[0, -1]], ylim=corners[1][[0, -1]])
        known = np.isfinite(values)
        if not known.any():
            say(axes, theme, "no case has a value")
            return
        seen = [_middle(swept.gridded(label, [up, across], place)) for place in (fixed, *beside)]
        span = _span(False, np.array(_heat_limits(swept, np.array(seen))))
        colours = _shades(theme)
        axes.pcolormesh(*corners, np.ma.masked_invalid(values), cmap=colours, norm=span, rasterized=True)
        rows, columns = np.nonzero(~known)
        axes.plot(x[columns], y[rows], "x", color=theme.trace[0], markersize=_cross(len(x), len(y)), clip_on=False)
        _colour_bar(axes, theme, colours, span, "")

    return panel


def _heat_limits(swept: Swept, values: Array) -> tuple[float, float]:
    """As far as the values go; what is constant but for rounding has one colour."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    wide = swept.limits(values)
    return wide if wide[1] - wide[0] > 2 * (high - low) else (low, high)


def _middle(values: Array) -> Array:
    """The median over draws, of those that have a value."""
    if values.shape[-1] == 1:
        return values[..., 0]
    found: Array = np.full(values.shape[:-1], np.nan)
    known = np.isfinite(values).any(axis=-1)
    found[known] = np.nanmedian(values[known], axis=-1)
    return found


def _band(axes: Axes, x: Array, values: Array, colour: tuple[float, float, float], both: bool) -> None:
    known = np.isfinite(values).any(axis=-1)
    for low, high, strength in BANDS if both else BANDS[:1]:
        found = np.full((2, len(x)), np.nan)
        found[:, known] = np.nanquantile(values[known], (low, high), axis=-1)
        axes.fill_between(x, found[0], found[1], color=colour, alpha=strength, linewidth=0)


def mark_missing(axes: Axes, theme: Theme, places: Array) -> None:
    """Crosses above the axis where a curve has a gap."""
    if len(places):
        above = axes.get_xaxis_transform()  # x as the axis has it, y as a share of the panel
        low = np.full(len(places), 0.025)
        axes.plot(places, low, "x", color=theme.trace[0], markersize=6, transform=above, clip_on=False)


def _title(swept: Swept, words: str, fixed: Fixed) -> str:
    return f"{words}   ({swept.at(fixed)})" if fixed else words


def _shades(theme: Theme) -> Colormap:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    low, high = SHADES["dark" if theme.background < "#8" else "light"]
    return ListedColormap(colormaps["viridis"](np.linspace(low, high, 256)))


def _span(log: bool, values: Array) -> Normalize:
    from matplotlib.colors import LogNorm, Normalize

    low, high = float(values.min()), float(values.max())
    return (LogNorm if log else Normalize)(low, high if high > low else low + (abs(low) or 1.0))


def _colours(theme: Theme, members: Array, log: bool) -> Sequence[tuple[float, float, float]]:
    """By the size of what makes the family: what is next to each other looks alike."""
    shades, span = _shades(theme), _span(log, members)
    return [shades(span(member))[:3] for member in members]


def _colour_bar(axes: Axes, theme: Theme, colours: Colormap, span: Normalize, name: str) -> None:
    """A scale of colours to the right of a panel."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colorbar import Colorbar

    place = axes.inset_axes((1.02, 0.0, 0.025, 1.0))
    bar = Colorbar(place, ScalarMappable(span, colours))
    bar.outline.set_visible(False)
    place.grid(False)
    place.set_title(name, fontsize=9, loc="left", color=theme.faint)
    place.tick_params(labelsize=9)
    if type(span).__name__ == "LogNorm":
        scale_axis(place, "y", True)


def scale_axis(axes: Axes, which: str, log: bool) -> None:
    """Where a grid is geometric its axis is, with plain numbers at 1, 2 and 5."""
    if not log:
        return
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    getattr(axes, f"set_{which}scale")("log")
    low, high = getattr(axes, f"get_{which}lim")()
    axis = getattr(axes, f"{which}axis")
    wide = high > 1e3 * max(low, 1e-300)
    axis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _edges(centres: Array, log: bool) -> Array:
    """The borders of cells about their centres: half way between them."""
    places = np.log(centres) if log else centres
    middles = (places[1:] + places[:-1]) / 2
    ends = 2 * places[[0, -1]] - middles[[0, -1]]
    edges = np.concatenate([ends[:1], middles, ends[1:]])
    return np.exp(edges) if log else edges


def _cross(columns: int, rows: int) -> float:
    """The size of a cross that fits into its cell."""
    return float(np.clip(160 / max(columns, rows, 1), 1.5, 7))
