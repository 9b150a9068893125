"""Rests and steady motions side by side: how the mechanism stands in each, its energy, and whether it stays there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mechsim.render.film import prepare
from mechsim.render.options import Options
from mechsim.render.panels import colour_of
from mechsim.render.paper import Drawing, sheet_of, write_sheet
from mechsim.render.still import grid, picture_of
from mechsim.render.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mechsim.result.trajectory import Trajectory

CELL = 400  # pixels of a pose, either way
MOST_DRAWN = 11


def plot_rests(
    title: str, poses: Trajectory, energies: Sequence[float], stabilities: Sequence[str], path: str | Path, word: str
) -> None:
    """Poses, one a second of the table, each with its stability; and energies beside each other."""
    count = min(len(energies), MOST_DRAWN)
    options = Options(
        size=(CELL, CELL), show=(), trace=(), renderer="flat", frames=count, start=0.0, stop=float(count - 1)
    )
    film = prepare(poses, options, still=True)
    picture = picture_of(film, film.options, bare=True)
    drawn: list[Drawing] = [
        partial(_pose, picture.draw(k).copy(), f"{k + 1}: {stabilities[k]}, {energies[k]:.6g} J") for k in range(count)
    ]
    if len(energies) > 1:
        drawn.append(partial(_energies, energies, stabilities))
    more = f", {len(energies) - count} more" if len(energies) > count else ""
    columns, rows = grid(len(drawn))
    size = (320 * columns, 60 + 320 * rows)
    sheet = sheet_of([title], drawn, "light", size, remark=f"{len(energies)} {word}{more}", columns=columns)
    write_sheet(sheet, Path(path))


def _pose(pixels: np.ndarray, words: str, axes: Axes, theme: Theme) -> None:
    axes.imshow(pixels, aspect="equal", interpolation="lanczos")
    axes.set_axis_off()
    axes.set_title(words)


def _energies(energies: Sequence[float], stabilities: Sequence[str], axes: Axes, theme: Theme) -> None:
    for number, word in enumerate(dict.fromkeys(stabilities)):
        own = [k for k, each in enumerate(stabilities) if each == word]
        axes.plot([k + 1 for k in own], [energies[k] for k in own], "o", color=colour_of(theme, number), label=word)
    axes.set(title="energies", xlabel="number", ylabel="J")
    axes.set_xticks(range(1, len(energies) + 1) if len(energies) <= 20 else [])
    axes.margins(0.1)
    axes.legend(loc="best")
