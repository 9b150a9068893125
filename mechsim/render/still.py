"""Pictures that stand still: one moment, or a contact sheet of several under one heading."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from mechsim.render.film import Film, render_frames
from mechsim.render.flat import FlatPicture
from mechsim.render.pen import Pen
from mechsim.render.theme import THEMES


def write_still(film: Film, path: Path) -> None:
    """A PNG of the frames of `film`: alone on the sheet, or side by side."""
    from matplotlib.image import imsave

    count = len(film.frames)
    if count == 1 or film.options.renderer == "solid":
        sheet = _tiled([np.array(frame) for frame in render_frames(film, 0, count)])
    else:
        sheet = _contact_sheet(film)
    imsave(path, sheet, format="png")


def _contact_sheet(film: Film) -> np.ndarray:
    width, height = film.options.size
    columns, rows = grid(len(film.frames))
    head = round(0.11 * height)
    cell = (width // columns, (height - head) // rows)
    options = replace(film.options, size=cell)
    picture = FlatPicture(film.scene, film.frames, options, bare=True)
    cells = [picture.draw(index).copy() for index in range(len(film.frames))]
    sheet = _heading(film, head, cell[0] * columns)
    body = _tiled(cells, columns)
    return np.vstack([sheet, body])


def _heading(film: Film, height: int, width: int) -> np.ndarray:
    theme, pen = THEMES[film.options.theme], Pen(width, height)
    pen.clear(theme.background)
    size = 0.34 * height
    pen.text(0.5 * height, 0.36 * height, film.scene.title, size, theme.text, weight="bold")
    if "params" in film.options.show:
        words = "    ".join(f"{name} = {value:.6g}" for name, value in film.scene.parameters_to_show)
        pen.text(width - 0.5 * height, 0.36 * height, words, 0.62 * size, theme.faint, align="right")
    return np.array(pen.pixels)


def grid(count: int) -> tuple[int, int]:
    """Columns and rows for pictures as wide as the sheet is."""
    columns = math.ceil(math.sqrt(count))
    return columns, math.ceil(count / columns)


def _tiled(cells: list[np.ndarray], columns: int | None = None) -> np.ndarray:
    columns = columns or grid(len(cells))[0]
    blank = np.full_like(cells[0], cells[0][0, 0])
    cells = cells + [blank] * (-len(cells) % columns)
    return np.vstack([np.hstack(cells[row : row + columns]) for row in range(0, len(cells), columns)])
