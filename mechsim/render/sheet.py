"""Where the panels of a plot stand on their sheet.

Matplotlib's own layout measures every label of every axis four times, a third of the time a plot takes. Here only what
differs between panels is measured, once: the width of the numbers beside them, and what is above them, which is given
as many lines as it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mechsim.render.headings import settle, text_of
from mechsim.render.labels import tell_powers, thin_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Text

BELOW = 50  # pixels for the numbers of an axis and its name
AROUND = 14  # pixels about a panel with all its words
BARE = 8  # pixels below a panel that has no axes
FIRST, LAST = 14, 8  # pixels to both sides of a panel at least, for the first and the last number below it


def arrange(figure: Figure, panels: Sequence[Axes], columns: int, heading: float) -> None:
    """Give panels their places, row by row, below a heading of so many pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()
    width, height = figure.bbox.width, figure.bbox.height
    rows = [panels[first : first + columns] for first in range(0, len(panels), columns)]
    for panel in panels:
        tell_powers(panel)
    beside = [max(_beside(panel, renderer) for panel in panels[place::columns]) for place in range(columns)]
    after = [max(_after(panel, renderer) for panel in panels[place::columns]) for place in range(columns)]
    wide = max(1.0, (width - sum(beside) - sum(after) - (2 * columns) * AROUND) / columns)
    for panel in panels:
        settle(panel, wide, renderer)
    above = [max(_above(panel, renderer) for panel in row) for row in rows]
    below = [(BELOW if any(panel.axison for panel in row) else BARE) + AROUND for row in rows]
    high = max(1.0, (height - heading - sum(above) - sum(below)) / len(rows))
    top = height - heading
    for row, room, under in zip(rows, above, below, strict=True):
        bottom, left = top - room - high, 0.0
        for panel, label, scale in zip(row, beside, after, strict=False):
            left += label + AROUND
            panel.set_position((left / width, bottom / height, wide / width, high / height))
            thin_out(panel, wide)
            left += wide + scale + AROUND
        top = bottom - under


def _beside(panel: Axes, renderer: RendererBase) -> float:
    """Pixels for what stands to the left of a panel."""
    box = panel.yaxis.get_tightbbox(renderer)
    first = FIRST if panel.axison else 0.0
    return max(first, panel.bbox.x0 - box.x0) if box else first


def _after(panel: Axes, renderer: RendererBase) -> float:
    """Pixels for half a number, or a scale of colours, to the right of a panel."""
    boxes = [box for child in panel.child_axes if (box := child.get_tightbbox(renderer)) is not None]
    return max([LAST if panel.axison else 0.0, *(box.x1 - panel.bbox.x1 for box in boxes)])


def _above(panel: Axes, renderer: RendererBase) -> float:
    """Pixels for the title and the legend above a panel."""
    title = panel.get_title(loc="left")
    words: list[Text | Legend] = [text_of(panel, title)] if title else []
    legend = panel.get_legend()
    words += [] if legend is None else [legend]
    return max([0.0, *(each.get_window_extent(renderer).y1 - panel.bbox.y1 for each in words)])
