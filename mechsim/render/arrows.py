"""Forces and torques as arrows in the flat picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.frozen import frozen
from mechsim.render import symbols
from mechsim.render.forces import Arrow
from mechsim.render.frames import Frames
from mechsim.render.measures import Measures, force_text, write_beside
from mechsim.render.pen import Colour, Pen, closed, mix, place, strokes
from mechsim.render.theme import Theme
from mechsim.render.window import Window
from mechsim.result.layout import Array

WIDTH, HEAD = 4.5, 16.0  # units
TURN_RADIUS, TURN_GAP = 0.25, 0.07  # of an arrow of usual strength: of a torque, and between two at one point
DARKER = 0.4  # than its part is the force that it feels
SHORTEST = 1.5  # pixels: below, there is nothing to see


@frozen
class Arrows:
    """Draws the arrows of any frame to the scale that `measures` show."""

    pen: Pen
    theme: Theme
    frames: Frames
    window: Window
    measures: Measures
    unit: float

    def draw(self, index: int) -> None:
        for arrow in self.frames.arrows:
            if arrow.is_torque:
                self._turn(arrow, index)
            else:
                self._push(arrow, index)

    def reach(self, arrow: Arrow, index: int) -> tuple[Array, Array, bool]:
        """Where a force acts, how far its arrow reaches from there, in pixels, and whether it is broken."""
        reach, broken = self.measures.strength.lengths(arrow.vectors[index])
        return self._start(arrow, index), self.measures.arrow * reach, bool(broken)

    def _start(self, arrow: Arrow, index: int) -> Array:
        return self.window.pixels(arrow.places(self.frames)[index])

    def _push(self, arrow: Arrow, index: int) -> None:
        start, reach, broken = self.reach(arrow, index)
        length = float(np.hypot(*reach))
        if length <= SHORTEST:
            return
        where = place(1.0, float(np.arctan2(reach[1], reach[0])), *start)
        shape = symbols.arrow(length, min(WIDTH * self.unit, 0.5 * length), HEAD * self.unit)
        self.pen.outline(closed(shape), where, self._colour(arrow), self.theme.background, self.unit)
        if broken:
            breaks = symbols.breaks(length, 2 * WIDTH * self.unit)
            self.pen.line(strokes(*breaks), where, self.theme.background, 2 * self.unit)
            self._write(force_text(float(arrow.strengths[index]), "N"), start, reach)

    def _turn(self, arrow: Arrow, index: int) -> None:
        share, beyond = self.measures.strength.turns(arrow.vectors[index])
        radius = (TURN_RADIUS + TURN_GAP * arrow.ring) * self.measures.arrow
        if abs(share) * radius <= SHORTEST:
            return
        start = self._start(arrow, index)
        shape = symbols.turning_arrow(radius, WIDTH * self.unit, float(share))
        self.pen.outline(closed(shape), place(1.0, 0.0, *start), self._colour(arrow), self.theme.background, self.unit)
        if beyond:
            self._write(force_text(float(arrow.strengths[index]), "N m"), start, np.array([0.0, radius]))

    def _colour(self, arrow: Arrow) -> Colour:
        """A force in a joint has the colour of the part that feels it, darker, to be seen on the part itself."""
        palette: Sequence[str] = self.theme.parts if arrow.part else self.theme.trace
        colour = palette[arrow.colour % len(palette)]
        return mix(colour, self.theme.text, DARKER) if arrow.part else colour

    def _write(self, words: str, start: Array, reach: Array) -> None:
        """The strength beside an arrow that does not show it by its length."""
        write_beside(self.pen, words, start + reach, bool(reach[0] < 0), 13 * self.unit, self.theme.text)
