"""Measures beside a picture: a bar of round length, arrows of round force and impulse, a turn of round torque."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mechsim.frozen import frozen
from mechsim.render import symbols
from mechsim.render.forces import Strength
from mechsim.render.pen import Pen, closed, place, strokes
from mechsim.render.theme import Theme
from mechsim.result.layout import Array

HERE = place(1.0, 0.0, 0.0, 0.0)
USUAL_ARROW = 0.16  # of the picture's height: an arrow of usual strength
GAP = 30  # between two measures, in units


@frozen
class Measures:
    """What the picture is drawn to: `scale` in pixels per metre, `arrow` in pixels for a force of usual strength."""

    scale: float
    arrow: float
    strength: Strength
    impulse: float = 0.0  # of usual strength, N s; 0: none is drawn

    def draw(self, pen: Pen, theme: Theme, unit: float, right: float, y: float, room: float) -> None:
        """From `right` to the left on one line; `room` is how wide the longest of them may be."""
        right = self._bar(pen, theme, unit, right, y, room)
        if self.strength.force:
            arrow = self.arrow / self.strength.force
            right = self._push(pen, theme, unit, right - GAP * unit, y, room, arrow, "N")
        if self.impulse:
            arrow, red = self.arrow / self.impulse, replace(theme, faint=theme.trace[0])
            right = self._push(pen, red, unit, right - GAP * unit, y, room, arrow, "N s")
        if self.strength.torque:
            self._torque(pen, theme, unit, right - GAP * unit, y)

    def _bar(self, pen: Pen, theme: Theme, unit: float, right: float, y: float, room: float) -> float:
        length = nice_below(room / self.scale)
        left, tick = right - length * self.scale, 5 * unit
        bar = [[[left, y], [right, y]], [[left, y - tick], [left, y + tick]], [[right, y - tick], [right, y + tick]]]
        pen.line(strokes(*map(np.array, bar)), HERE, theme.faint, 1.6 * unit, cap="butt")
        return _words(pen, theme, unit, left, y, length_text(length))

    def _push(
        self, pen: Pen, theme: Theme, unit: float, right: float, y: float, room: float, arrow: float, name: str
    ) -> float:
        """An arrow of round strength, where one of strength 1 is `arrow` long."""
        strength = nice_below(0.6 * room / arrow)
        _fill(pen, theme, symbols.arrow(strength * arrow, 4.5 * unit, 16 * unit), right - strength * arrow, y)
        return _words(pen, theme, unit, right - strength * arrow, y, force_text(strength, name))

    def _torque(self, pen: Pen, theme: Theme, unit: float, right: float, y: float) -> None:
        torque, radius = nice_below(self.strength.torque), 9 * unit
        shape = symbols.turning_arrow(radius, 2.6 * unit, torque / self.strength.torque)
        _fill(pen, theme, shape, right - radius, y)
        _words(pen, theme, unit, right - 2 * radius, y, force_text(torque, "N m"))


def _fill(pen: Pen, theme: Theme, shape: Array, x: float, y: float) -> None:
    pen.fill(closed(shape), place(1.0, 0.0, x, y), theme.faint)


def _words(pen: Pen, theme: Theme, unit: float, right: float, y: float, words: str) -> float:
    """Words to the left of a measure; where they begin."""
    right -= 12 * unit
    pen.text(right, y - 5 * unit, words, 15 * unit, theme.faint, align="right")
    return right - pen.measure(words, 15 * unit)


def write_beside(pen: Pen, words: str, tip: Array, leftwards: bool, size: float, colour: str) -> None:
    """Words beyond the tip of an arrow, inside the picture."""
    width = pen.measure(words, size)
    x = tip[0] - 0.4 * size - width if leftwards else tip[0] + 0.4 * size
    y = min(max(tip[1] - 0.3 * size, 2.0), pen.height - size)
    pen.text(min(max(x, 2.0), pen.width - width - 2.0), y, words, size, colour)


def nice_below(length: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above `length`."""
    power = 10.0 ** math.floor(math.log10(length))
    return power * max(step for step in (1, 2, 5) if step * power <= length * (1 + 1e-12))


def length_text(length: float) -> str:
    """A length in the unit that needs the fewest digits."""
    for size, unit in ((1e3, "km"), (1.0, "m"), (1e-2, "cm"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm")):
        if length >= size * (1 - 1e-9):
            return f"{length / size:g} {unit}"
    return f"{length:g} m"


def force_text(value: float, unit: str) -> str:
    """A force or torque with the prefix that needs the fewest digits."""
    for size, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")):
        if value >= size * (1 - 1e-9):
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"
