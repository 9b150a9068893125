"""Pictures that stand still: one moment, or a contact sheet of several under one heading."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np

from mechsim.render.film import Film
from mechsim.render.measures import Measures
from mechsim.render.options import Options, unit_of
from mechsim.render.overlay import LONGEST, fitted
from mechsim.render.pen import Pen
from mechsim.render.theme import THEMES


class Picture(Protocol):
    """Draws single frames."""

    @property
    def measures(self) -> Measures: ...
    def draw(self, frame: int) -> np.ndarray: ...


def write_still(film: Film, path: Path) -> None:
    """A PNG of the frames of `film`: alone on the sheet, or side by side."""
    from PIL import Image

    sheet = picture_of(film, film.options).draw(0) if len(film.frames) == 1 else _contact_sheet(film)
    Image.fromarray(sheet).save(path, format="png")


def picture_of(film: Film, options: Options, *, bare: bool = False) -> Picture:
    """What draws single frames, by the renderer asked for."""
    if options.renderer == "solid":
        from mechsim.render.solid import SolidPicture

        return SolidPicture(film.scene, film.frames, options, bare=bare)
    from mechsim.render import flat

    return flat.picture_of(film.scene, film.frames, options, bare=bare)


def _contact_sheet(film: Film) -> np.ndarray:
    width, height = film.options.size
    columns, rows = grid(len(film.frames))
    head, foot = round(0.11 * height), round(0.06 * height)
    cell = (width // columns, (height - head - foot) // rows)
    picture = picture_of(film, replace(film.options, size=cell), bare=True)
    cells = [picture.draw(index).copy() for index in range(len(film.frames))]
    whole = cell[0] * columns
    return np.vstack([_heading(film, head, whole), _tiled(cells, columns), _foot(film, picture.measures, foot, whole)])


def _foot(film: Film, measures: Measures, height: int, width: int) -> np.ndarray:
    """The measures that hold for all pictures of the sheet."""
    theme, pen = THEMES[film.options.theme], Pen(width, height)
    pen.clear(theme.background)
    unit = unit_of(film.options.size)
    measures.draw(pen, theme, unit, width - 36 * unit, 0.5 * height, LONGEST * width)
    return np.array(pen.pixels)


def _heading(film: Film, height: int, width: int) -> np.ndarray:
    theme, pen = THEMES[film.options.theme], Pen(width, height)
    pen.clear(theme.background)
    parameters = film.scene.parameters_to_show if "params" in film.options.show else ()
    words = "    ".join(f"{name} = {value:.6g}" for name, value in parameters)
    room = width - height
    title, size = fitted(pen, film.scene.title, 0.34 * height, room if not words else 0.55 * room)
    pen.text(0.5 * height, 0.36 * height, title, size, theme.text, weight="bold")
    words, small = fitted(pen, words, 0.21 * height, 0.43 * room, "normal")
    pen.text(width - 0.5 * height, 0.36 * height, words, small, theme.faint, align="right")
    return np.array(pen.pixels)


def grid(count: int) -> tuple[int, int]:
    """Columns and rows for pictures as wide as the sheet is."""
    columns = math.ceil(math.sqrt(count))
    return columns, math.ceil(count / columns)


def _tiled(cells: list[np.ndarray], columns: int) -> np.ndarray:
    blank = np.full_like(cells[0], cells[0][0, 0])
    cells = cells + [blank] * (-len(cells) % columns)
    return np.vstack([np.hstack(cells[row : row + columns]) for row in range(0, len(cells), columns)])
