"""A pen for Agg, matplotlib's rasteriser: paths and words straight into an RGBA buffer, in pixels, y upward.

Figures and axes would cost more than the drawing itself; a film draws the same few paths a thousand times.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
from matplotlib._enums import CapStyle, JoinStyle
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import to_rgb
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from mechsim.result.layout import Array

DPI = 72  # then a point, the unit of line widths and fonts, is a pixel


def closed(corners: Array) -> Path:
    """A closed path through corners."""
    codes = np.full(len(corners) + 1, Path.LINETO, np.uint8)
    codes[0], codes[-1] = Path.MOVETO, Path.CLOSEPOLY
    return Path(np.vstack([corners, corners[:1]]), codes)


def strokes(*lines: Array) -> Path:
    """Several open lines as one path."""
    return Path.make_compound_path(*(Path(line) for line in lines))


Colour = str | tuple[float, float, float]
Cap = Literal["butt", "round", "projecting"]
Style = tuple[Colour, float, float, Cap]  # colour, width, opacity, ends
DISC = Path.unit_circle()


def mix(colour: Colour, other: Colour, share: float) -> tuple[float, float, float]:
    """`colour` with a share of another."""
    red, green, blue = (1 - share) * np.array(to_rgb(colour)) + share * np.array(to_rgb(other))
    return float(red), float(green), float(blue)


def place(scale: float, angle: float, x: float, y: float, stretch: float = 1.0) -> Affine2D:
    """Turn, scale and shift: from a shape's own frame, stretched along its x axis, to pixels."""
    cos, sin = scale * np.cos(angle), scale * np.sin(angle)
    return Affine2D(np.array([[stretch * cos, -sin, x], [stretch * sin, cos, y], [0.0, 0.0, 1.0]]))


class Pen:
    """Draws on a sheet of width x height pixels. `keep` what is drawn, and every `restore` starts from it again."""

    def __init__(self, width: int, height: int):
        self.width, self.height = width, height
        self.renderer = RendererAgg(width, height, DPI)
        self.pixels = np.asarray(self.renderer.buffer_rgba())  # (height, width, 4), shared with the renderer
        self.kept = self.pixels.copy()
        self.contexts: dict[Style, GraphicsContextBase] = {}  # few styles, used for every frame

    def clear(self, colour: str) -> None:
        self.pixels[:] = [*(round(255 * value) for value in to_rgb(colour)), 255]

    def keep(self) -> None:
        self.kept = self.pixels.copy()

    def restore(self) -> None:
        self.pixels[:] = self.kept

    def fill(self, path: Path, transform: Affine2D, colour: Colour, alpha: float = 1.0) -> None:
        context = self._context(colour, 0.0, alpha)
        self.renderer.draw_path(context, path, transform, (*to_rgb(colour), alpha))

    def outline(self, path: Path, transform: Affine2D, face: Colour, edge: Colour, width: float) -> None:
        self.renderer.draw_path(self._context(edge, width, 1.0), path, transform, (*to_rgb(face), 1.0))

    def line(
        self, path: Path, transform: Affine2D, colour: Colour, width: float, alpha: float = 1.0, cap: Cap = "round"
    ) -> None:
        self.renderer.draw_path(self._context(colour, width, alpha, cap), path, transform, None)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float,
        colour: Colour,
        *,
        weight: str = "normal",
        align: str = "left",
    ) -> None:
        """Words with their baseline at y; `align` says which end, or the middle, is at x."""
        if not words:
            return
        font = _font(size, weight)
        if align != "left":
            width = self.measure(words, size, weight)
            x -= width if align == "right" else width / 2
        self.renderer.draw_text(self._context(colour, 0.0, 1.0), x, self.height - y, words, font, 0.0)

    def measure(self, words: str, size: float, weight: str = "normal") -> float:
        """The width of words."""
        if not words:
            return 0.0
        return float(self.renderer.get_text_width_height_descent(words, _font(size, weight), False)[0])

    def _context(self, colour: Colour, width: float, alpha: float, cap: Cap = "round") -> GraphicsContextBase:
        key = (colour, width, alpha, cap)
        if key not in self.contexts:
            context = self.contexts[key] = self.renderer.new_gc()
            context.set_foreground((*to_rgb(colour), alpha), isRGBA=True)
            context.set_alpha(alpha)
            context.set_linewidth(width)
            context.set_joinstyle(JoinStyle.round)
            context.set_capstyle(CapStyle(cap))
        return self.contexts[key]


@lru_cache(maxsize=64)
def _font(size: float, weight: str) -> FontProperties:
    return FontProperties(size=size, weight=weight)
