"""A sheet of plots: its heading, the look of its panels, and the file it is written to."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mechsim.errors import printable
from mechsim.render.headings import fit_heading
from mechsim.render.sheet import arrange
from mechsim.render.theme import THEMES, Theme
from mechsim.result.paths import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMS = (".png", ".svg", ".pdf")
HEADING = 46  # pixels above the panels
FONT = "DejaVu Sans"  # comes with matplotlib, so that a plot is the same everywhere and no others are looked for
PACKED = 1  # of 9: a plot is mostly empty, and packs as well quickly

Drawing = Callable[["Axes", Theme], None]


def sheet_of(
    titles: Sequence[str],
    drawn: Sequence[Drawing],
    theme_name: str,
    size: tuple[int, int] | None,
    *,
    remark: str = "",
    dashes: Mapping[str, str] | None = None,
    columns: int = 0,
) -> Figure:
    """Panels in one column or two, or in so many, below their titles. At the right of these stands a remark, or which
    dashes belong to which file."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    theme = THEMES[theme_name]
    columns = columns or (1 if len(drawn) == 1 else 2)
    rows = math.ceil(len(drawn) / columns)
    width, height = size or ((1000, 720) if columns == 1 else (1280, 100 + 290 * rows))
    with rc_context(_style(theme)):  # type: ignore[arg-type]  # other versions know other words
        figure = Figure(figsize=(width / 100, height / 100), dpi=100, facecolor=theme.background)
        middle = 1 - HEADING / height / 2
        words = "  ·  ".join(dict.fromkeys(map(printable, titles)))
        heading = figure.text(0.012, middle, words, fontsize=15, fontweight="bold", va="center")
        aside = figure.text(0.988, middle, printable(remark), color=theme.faint, va="center", ha="right")
        if not dashes:
            fit_heading(heading, aside, 0.976 * width)
        for number, panel in enumerate(drawn):
            panel(figure.add_subplot(rows, columns, number + 1), theme)
        arrange(figure, figure.axes, columns, HEADING)
        if dashes:
            lines = [Line2D([], [], color=theme.text, ls=dash) for dash in dashes.values()]
            figure.legend(lines, list(dashes), loc="upper right", ncols=len(dashes), bbox_to_anchor=(0.99, 0.995))
        return figure


def write_sheet(figure: Figure, target: Path) -> None:
    """Write a sheet to a file; its ending says in which form."""
    with replacing(target) as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a sheet too small for its labels is what was asked for
        form = target.suffix[1:].lower()
        save = partial(figure.savefig, temporary, format=form, facecolor=figure.get_facecolor())
        if form == "png":  # other forms know no packing
            save(pil_kwargs={"compress_level": PACKED})
        else:
            save()


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
