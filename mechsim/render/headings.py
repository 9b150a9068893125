"""What is written above a sheet and its panels: heading, titles and legends, in as many lines as they need."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.legend import Legend
    from matplotlib.text import Text

PAD = 6.0  # points between a panel and its title
GAP = 16.0  # pixels at least between words beside each other
SMALLEST = 10.0  # points: headings that are too long even so lose their ends
MOST_LINES = 3  # of a title
ENTRY = 4.0  # sizes of its letters, that an entry of a legend is wider than its words: the line and what is between


def fit_heading(heading: Text, remark: Text, room: float) -> None:
    """Make a heading and the remark beside it smaller, or shorter, until both have room."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(heading.get_figure(root=True)).get_renderer()
    _fit(remark, max(room / 2, room - GAP - _width(heading, renderer)), renderer)
    _fit(heading, room - GAP - _width(remark, renderer), renderer)


def _fit(text: Text, room: float, renderer: RendererBase) -> None:
    wide = _width(text, renderer)
    if wide > room:
        text.set_fontsize(max(SMALLEST, float(text.get_fontsize()) * room / wide))
    words = text.get_text()
    while _width(text, renderer) > room and words:
        words = words[:-1].rstrip()
        text.set_text(f"{words}…")


def settle(panel: Axes, wide: float, renderer: RendererBase) -> None:
    """Title and legend of a panel that is so many pixels wide: side by side where there is room, else the title above,
    and in lines that fit."""
    beside, high = _beside_title(panel, wide, renderer)
    words = panel.get_title(loc="left")
    if not words:
        return
    title = panel.set_title(words, loc="left", pad=PAD)
    own = _width(title, renderer)
    if own > wide:
        letters = max(1, math.floor(len(words) * wide / own))
        panel.set_title("\n".join(textwrap.wrap(words, letters, max_lines=MOST_LINES, placeholder=" …")), loc="left")
    if beside and own + beside + GAP > wide:
        points = 72 / panel.figure.dpi
        panel.set_title(panel.get_title(loc="left"), loc="left", pad=PAD + high * points)


def _beside_title(panel: Axes, wide: float, renderer: RendererBase) -> tuple[float, float]:
    """Width and height, in pixels, of the legend or the words at the right above a panel."""
    legend, words = panel.get_legend(), panel.get_title(loc="right")
    if legend is not None:
        box = _in_columns(legend, panel, wide, renderer).get_window_extent(renderer)
    elif words:
        box = text_of(panel, words).get_window_extent(renderer)
    else:
        return 0.0, 0.0
    return (box.width if box.y1 - box.y0 < 2 * GAP else wide), box.height


def _in_columns(legend: Legend, panel: Axes, wide: float, renderer: RendererBase) -> Legend:
    """The legend above the panel in as few lines as it fits into, row after row: matplotlib would fill columns."""
    handles, names = panel.get_legend_handles_labels()
    size = float(legend.get_texts()[0].get_fontsize()) * panel.figure.dpi / 72
    widths = [_width(text, renderer) + ENTRY * size for text in legend.get_texts()]
    count = next((columns for columns in range(len(names), 1, -1) if _row_of(widths, columns) <= wide), 1)
    count = math.ceil(len(names) / math.ceil(len(names) / count))  # rows that are about as long
    order = [place for first in range(count) for place in range(first, len(names), count)]
    return panel.legend(
        [handles[place] for place in order], [names[place] for place in order], ncols=count,
        loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0, columnspacing=1.2,
    )  # fmt: skip


def _row_of(widths: list[float], columns: int) -> float:
    """How wide a legend of so many columns is."""
    return sum(max(widths[first::columns]) for first in range(columns))


def text_of(panel: Axes, words: str) -> Text:
    return next(child for child in panel.get_children() if getattr(child, "get_text", str)() == words)  # type: ignore[return-value]


def _width(text: Text, renderer: RendererBase) -> float:
    return float(text.get_window_extent(renderer).width) if text.get_text() else 0.0
