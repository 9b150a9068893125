"""Where the panels of a plot stand on their sheet.

Matplotlib's own layout measures every label of every axis four times, a third of the time a plot takes. Here only what
differs between panels is measured, once: the width of the numbers beside them, and what is above them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure

BELOW = 50  # pixels for the numbers of an axis and its name
AROUND = 14  # pixels about a panel with all its words


def arrange(figure: Figure, panels: Sequence[Axes], columns: int, heading: float) -> None:
    """Give panels their places, row by row, below a heading of so many pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()
    width, height = figure.bbox.width, figure.bbox.height
    rows = [panels[first : first + columns] for first in range(0, len(panels), columns)]
    beside = [max(_beside(panel, renderer) for panel in panels[place::columns]) for place in range(columns)]
    above = [max(_above(panel, renderer) for panel in row) for row in rows]
    after = [max(_after(panel, renderer) for panel in panels[place::columns]) for place in range(columns)]
    wide = max(1.0, (width - sum(beside) - sum(after) - (2 * columns) * AROUND) / columns)
    high = max(1.0, (height - heading - sum(above) - len(rows) * (BELOW + AROUND)) / len(rows))
    top = height - heading
    for row, room in zip(rows, above, strict=True):
        bottom, left = top - room - high, 0.0
        for panel, label, scale in zip(row, beside, after, strict=False):
            left += label + AROUND
            panel.set_position((left / width, bottom / height, wide / width, high / height))
            left += wide + scale + AROUND
        top = bottom - BELOW - AROUND


def _beside(panel: Axes, renderer: RendererBase) -> float:
    """Pixels for what stands to the left of a panel."""
    box = panel.yaxis.get_tightbbox(renderer)
    return max(0.0, panel.bbox.x0 - box.x0) if box else 0.0


def _after(panel: Axes, renderer: RendererBase) -> float:
    """Pixels for a scale of colours to the right of a panel."""
    boxes = [box for child in panel.child_axes if (box := child.get_tightbbox(renderer)) is not None]
    return max([0.0, *(box.x1 - panel.bbox.x1 for box in boxes)])


def _above(panel: Axes, renderer: RendererBase) -> float:
    """Pixels for the title and the legend above a panel."""
    title = panel.get_title(loc="left")
    words = [child for child in panel.get_children() if getattr(child, "get_text", str)() == title] if title else []
    legend = panel.get_legend()
    words += [] if legend is None else [legend]
    return max([0.0, *(each.get_window_extent(renderer).y1 - panel.bbox.y1 for each in words)])
