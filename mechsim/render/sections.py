"""Pictures of sections: points of motions, and diagrams of them over a parameter."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mechsim.analysis.section import Section
from mechsim.analysis.turning import in_one_piece
from mechsim.render.labels import named
from mechsim.render.panels import colour_of, legend
from mechsim.render.paper import sheet_of, write_sheet
from mechsim.render.theme import Theme
from mechsim.result.layout import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (1400, 900)
LARGEST, SMALLEST = 3.5, 0.9  # diameters of points, in points of print
ROOM = 150.0  # points of print, that many share: these are drawn finer
UPWARDS, WIDER = "upwards", 2.0
FEW, SEEN = 40, 6.0  # up to so many places have larger points
MOST_COLOURS = 27  # motions that have one of their own
FINE = 500  # places beside each other that can be told apart along an axis
ASIDE = 0.05  # room beside the points, as a share of theirs
STILL = 1e-9  # of their size, or of 1: values that differ by less are the same but for rounding


def plot_section(title: str, found: Section, path: str | Path, theme: str = "light") -> None:
    """All points in the plane of the section's two axes; over a parameter, against that."""
    panel = partial(_draw, found)
    write_sheet(sheet_of([title], [panel], theme, SIZE, remark=found.what), Path(path))


def _draw(found: Section, axes: Axes, theme: Theme) -> None:
    points = [_shown(found, name) for name in found.axes]
    limits = [_limits(values) for values in points]
    places = _places(points, limits)
    size = SEEN if places <= FEW else float(np.clip(ROOM / (len(found) * places) ** 0.25, SMALLEST, LARGEST))
    for rows, ink, words in _groups(found, theme):
        x, y = (values[rows] for values in points)
        axes.plot(
            x,
            y,
            "o",
            ms=WIDER * size if words == UPWARDS else size,
            mew=0,
            color=ink,
            label=words or None,
            rasterized=len(x) > 5000,
        )
    axes.set(xlabel=_named(found, found.axes[0]), ylabel=_named(found, found.axes[1]), title=_title(found, places))
    axes.set(xlim=limits[0], ylim=limits[1])
    axes.grid(places <= FEW)
    if axes.get_legend_handles_labels()[1]:
        legend(axes)


def _groups(found: Section, theme: Theme) -> list[tuple[np.ndarray, str | tuple[float, float, float], str]]:
    """Rows that are drawn in one colour, with a word for them. Those on the way down are above those on the way up,
    which are larger: where both agree, both are seen."""
    if found.over is not None and "way" in found.varied:
        down = found["way"] < 0
        return [(~down, colour_of(theme, 0), UPWARDS), (down, colour_of(theme, 1), "downwards")]
    if found.over is not None or found.count == 1:
        return [(np.ones(len(found), dtype=bool), theme.text, "")]
    return [(found.motion == number, colour_of(theme, number % MOST_COLOURS), "") for number in range(found.count)]


def _shown(found: Section, name: str) -> Array:
    """A column; angles that lie on both sides of half a turn are beside each other."""
    values = found[name]
    return in_one_piece(values) if _unit(found, name) == "rad" else values


def _limits(values: Array) -> tuple[float, float]:
    """An axis as long as its points, or about one where they differ by rounding alone."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    size = max(abs(low), abs(high))
    aside = ASIDE * (high - low) if high - low > STILL * max(size, 1.0) else 0.5 * size or 0.5
    return low - aside, high + aside


def _places(points: list[Array], limits: list[tuple[float, float]]) -> int:
    """At how many places points are, as far as can be seen. Those beside each other may be parted by the grid that they
    are counted by: another one parts others."""
    cells = np.column_stack(
        [FINE * (values - low) / (high - low) for values, (low, high) in zip(points, limits, strict=True)]
    )
    return min(len(np.unique(np.floor(cells + shift), axis=0)) for shift in (0.0, 0.5)) if len(cells) else 0


def _title(found: Section, places: int) -> str:
    points = f"{len(found):,} points"
    if found.count > 1:
        return f"{points} of {found.count:,} motions"
    return (
        f"{points}, at {places} place{'s' * (places != 1)} as far as can be seen"
        if places <= min(FEW, len(found) - 1)
        else points
    )


def _unit(found: Section, label: str) -> str:
    return found.units[found.labels.index(label)] if label in found.labels else ""


def _named(found: Section, label: str) -> str:
    return named(label, _unit(found, label))
