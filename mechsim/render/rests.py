"""Rests and steady motions side by side: how the mechanism stands in each, its energy, and whether it stays there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mechsim.render.film import prepare
from mechsim.render.labels import tell_unit
from mechsim.render.options import Options
from mechsim.render.panels import colour_of, legend
from mechsim.render.paper import Drawing, sheet_of, write_sheet
from mechsim.render.still import picture_of
from mechsim.render.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mechsim.result.trajectory import Trajectory

DRAWN = 900  # pixels of a pose, either way, before what all of them leave empty is cut off
CELL = 300  # pixels of the longer side of a panel
LEAST = 0.3  # of it, the shorter one
LEAST_WIDE = 195  # pixels of a panel: titles need some room
SCREEN = 1.5  # width of a sheet over its height
EDGE = 0.06  # of a pose's length, left about it
NARROWEST = 720  # pixels of a sheet: its heading needs some room
MOST_DRAWN = 11
COLOURS = {"stable": 0, "unstable": 1, "neutral": 2, "undecided": 4}  # the same in all pictures


def plot_rests(
    title: str, poses: Trajectory, energies: Sequence[float], stabilities: Sequence[str], path: str | Path, word: str
) -> None:
    """Poses, one a second of the table, each with its stability; and energies beside each other."""
    count = min(len(energies), MOST_DRAWN)
    options = Options(
        size=(DRAWN, DRAWN), show=(), trace=(), renderer="flat", frames=count, start=0.0, stop=float(count - 1)
    )
    film = prepare(poses, options, still=True)
    picture = picture_of(film, film.options, bare=True)
    pictures = _cut([picture.draw(k).copy() for k in range(count)])
    drawn: list[Drawing] = [
        partial(_pose, pictures[k], f"{k + 1}: {stabilities[k]}, {energies[k]:.6g}\N{NO-BREAK SPACE}J")
        for k in range(count)
    ]
    if len(energies) > 1:
        drawn.append(partial(_energies, energies, stabilities))
    word = word.removesuffix("s") if len(energies) == 1 else word
    more = f", {len(energies) - count} more" if len(energies) > count else ""
    longest = CELL if count > 1 else 2 * CELL
    high, wide = (longest * side / max(pictures[0].shape[:2]) for side in pictures[0].shape[:2])
    cell = max(wide, LEAST_WIDE) + 40, high + 60
    columns = _columns(len(drawn), *cell)
    size = (max(NARROWEST, round(cell[0] * columns + 60)), round(80 + cell[1] * math.ceil(len(drawn) / columns)))
    sheet = sheet_of([title], drawn, "light", size, remark=f"{len(energies)} {word}{more}", columns=columns)
    write_sheet(sheet, Path(path))


def _columns(count: int, wide: float, high: float) -> int:
    """So that few places stay empty, and the sheet is about as wide as screens are."""

    def cost(columns: int) -> float:
        rows = math.ceil(count / columns)
        return abs(math.log(columns * wide / (rows * high) / SCREEN)) + 2 * (columns * rows - count) / count

    return min(range(1, count + 1), key=cost)


def _cut(pictures: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Pictures without what is empty about the mechanism, at one scale and as large as the largest of them."""
    boxes = np.array([_box(each) for each in pictures])  # (pictures, ways, ends)
    extent = np.ptp(boxes, axis=2).max(axis=0)
    half = np.maximum(extent, LEAST * extent.max()) / 2 + EDGE * extent.max()
    room = math.ceil(half.max())
    found = []
    for each, box in zip(pictures, boxes, strict=True):
        wide = np.pad(each, ((room, room), (room, room), (0, 0)), mode="edge")
        down, across = (slice(first, first + round(2 * size)) for first, size in _first(box, half, room))
        found.append(wide[down, across])
    return found


def _first(box: np.ndarray, half: np.ndarray, room: int) -> list[tuple[int, float]]:
    """Where a part begins, and half its size, along each way of a picture with so much room about it."""
    return [(round(room + float(ends.mean()) - size), size) for ends, size in zip(box, half.tolist(), strict=True)]


def _box(picture: np.ndarray) -> list[tuple[int, int]]:
    """Between which rows and columns something is drawn."""
    drawn = (picture != picture[0, 0]).any(axis=2)
    inked = [np.flatnonzero(drawn.any(axis=axis)) for axis in (1, 0)]
    return [(int(each[0]), int(each[-1]) + 1) if len(each) else (0, len(picture)) for each in inked]


def _pose(pixels: np.ndarray, words: str, axes: Axes, theme: Theme) -> None:
    axes.imshow(pixels, aspect="equal", interpolation="lanczos")
    axes.set_axis_off()
    axes.set_anchor("W")  # below the begin of its title
    axes.set_title(words)


def _energies(energies: Sequence[float], stabilities: Sequence[str], axes: Axes, theme: Theme) -> None:
    for word in dict.fromkeys(stabilities):
        own = [k for k, each in enumerate(stabilities) if each == word]
        colour = colour_of(theme, COLOURS.get(word, len(COLOURS) + 1))
        axes.plot([k + 1 for k in own], [energies[k] for k in own], "o", color=colour, label=word)
    axes.set(title="energies", xlabel="number")
    tell_unit(axes, "J")
    axes.margins(0.1)
    axes.set_xticks(range(1, len(energies) + 1) if len(energies) <= MOST_DRAWN else [])
    legend(axes)
