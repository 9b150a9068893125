"""Three small arrows in a corner of a picture that tell where x, y and z are."""

from __future__ import annotations

import numpy as np

from mechsim.render import symbols
from mechsim.render.pen import Pen, closed, mix, place
from mechsim.render.theme import Theme
from mechsim.result.layout import Array
from mechsim.spec.names import AXES

PLACE = (64, 96)  # of the corner of the three, in units from the lower left
LENGTH, WIDTH, HEAD, LETTER, BEYOND = 30.0, 2.2, 9.0, 13.0, 9.0
SHORTEST = 0.12  # of an arrow: what is shorter points at us, and is left out
COLOURS = ("#c65b5b", "#5aa56a", "#4f7fb5")  # as everywhere: x red, y green, z blue


def draw_triad(pen: Pen, theme: Theme, unit: float, axes: Array) -> None:
    """`axes` (3, 3) are rows to the right, up and towards us; the farthest arrow is drawn first."""
    x, y = (unit * each for each in PLACE)
    for axis in np.argsort(axes[2]):
        way = axes[:2, axis]
        length = float(np.hypot(*way))
        if length < SHORTEST:
            continue
        colour = mix(COLOURS[axis], theme.background, 0.1)
        shape = symbols.arrow(LENGTH * unit * length, WIDTH * unit, HEAD * unit)
        pen.fill(closed(shape), place(1.0, float(np.arctan2(way[1], way[0])), x, y), colour)
        across, up = np.array([x, y]) + (LENGTH * length + BEYOND) * unit * way / length
        pen.text(across, up - 0.36 * LETTER * unit, AXES[axis], LETTER * unit, colour, align="centre")
