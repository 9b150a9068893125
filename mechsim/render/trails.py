"""Traces of points in flat pictures: where they have been, fainter the longer ago."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mechsim.frozen import frozen
from mechsim.render.frames import Frames
from mechsim.render.options import Options
from mechsim.render.pen import Path, Pen, place
from mechsim.render.theme import THEMES
from mechsim.result.layout import Array

TRACE_SECONDS = 1.6  # of film, that a trace lasts
TRACE_SHADES = 18
TRACE_LENGTH = 2.5  # heights of the picture, that a trace is long at most


@frozen
class Way:
    """The way of a traced point, in pixels, and how long it is up to each of its corners."""

    line: Array
    lengths: Array
    colour: str


@frozen
class Trails:
    """Draws the ways of traced points, each up to where it is at a frame."""

    pen: Pen
    frames: Frames
    options: Options
    unit: float
    times: Array  # of the corners of ways
    ways: tuple[Way, ...]

    @classmethod
    def along(
        cls, pen: Pen, frames: Frames, options: Options, unit: float, times: Array, lines: Sequence[Array]
    ) -> Trails:
        """`lines` are where points are at `times` of all of the motion, in pixels."""
        colours = THEMES[options.theme].trace
        ways = []
        for number, line in enumerate(lines):
            lengths = np.append(0.0, np.cumsum(np.hypot(*np.diff(line, axis=0).T)))
            ways.append(Way(line, lengths, colours[number % len(colours)]))
        return cls(pen, frames, options, unit, times, tuple(ways))

    def draw(self, index: int) -> None:
        for way in self.ways:
            self._draw(way, index)

    def _draw(self, way: Way, index: int) -> None:
        """A fast point leaves no tangle."""
        times, now = self.times, self.frames.t[index]
        last = int(np.searchsorted(times, now))
        recent = int(np.searchsorted(times, now - TRACE_SECONDS * (self.options.speed or 1.0)))
        near = int(np.searchsorted(way.lengths, way.lengths[last] - TRACE_LENGTH * self.options.size[1]))
        first = max(recent, near)
        if last <= first:
            return
        cuts = np.linspace(first, last, min(TRACE_SHADES, last - first) + 1).round().astype(int)
        for shade, (begin, end) in enumerate(pairwise(cuts), start=1):
            strength = 0.85 * (shade / (len(cuts) - 1)) ** 1.4
            line = Path(way.line[begin : end + 1])
            self.pen.line(line, place(1, 0, 0, 0), way.colour, 2.4 * self.unit, strength, cap="butt")
