"""What has just happened, in a picture: a flash where something met, the impulse as an arrow, names of events."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mechsim.frozen import frozen
from mechsim.render import symbols
from mechsim.render.frames import Frames
from mechsim.render.marks import Marks
from mechsim.render.measures import HERE
from mechsim.render.options import Options
from mechsim.render.pen import DISC, Pen, closed, mix, place, strokes
from mechsim.render.theme import Theme
from mechsim.result.layout import Array

LASTS = 0.5  # seconds of film that a flash is seen
NAMED = 1.2  # and a name
RADIUS = (7.0, 20.0)  # units: of its ring, as it opens
RAYS = 9
MOST = 24  # at once: the strongest
WIDTH, HEAD = 4.5, 16.0  # units, of an arrow
SHADES = 24  # of fading
SHORTEST = 2.0  # pixels: below, there is no arrow to see
MOST_NAMES = 4

Seen = Callable[[Array], Array]  # places (k, dimension) of the world in pixels, (k, 2)


def reaches(marks: Marks | None, dimension: int) -> tuple[Array, Array]:
    """Of every impulse where it acts and how far its arrow reaches, in lengths of one of usual strength."""
    if marks is None or not marks.usual:
        return np.zeros((0, dimension)), np.zeros((0, dimension))
    known = np.isfinite(marks.places).all(axis=1)
    return marks.places[known], _lengths(marks.pushes[known], marks.usual)


def _lengths(pushes: Array, usual: float) -> Array:
    return np.asarray(pushes / (usual or np.inf))


@frozen
class Flashes:
    """Draws those of any frame. `arrow` is how long an impulse of usual strength is, in metres."""

    pen: Pen
    theme: Theme
    frames: Frames
    options: Options
    unit: float
    arrow: float

    def draw(self, index: int, seen: Seen) -> None:
        marks = self.frames.marks
        if marks is None:
            return
        t, speed = float(self.frames.t[index]), self.options.speed or 1.0
        chosen = [number for number in marks.between(t - LASTS * speed, t) if np.isfinite(marks.places[number]).all()]
        strongest = sorted(chosen, key=lambda number: -abs(marks.events[number].impulse))[:MOST]
        for number in sorted(strongest):
            age = (t - marks.t[number]) / speed / LASTS
            self._flash(marks, number, round((1 - age) * SHADES) / SHADES, seen)
        self._names(marks, t, speed)

    def _flash(self, marks: Marks, number: int, fresh: float, seen: Seen) -> None:
        """A ring that opens and rays that leave it, fainter with age; smaller where the impulse was small. Two that
        push each other apart have half of the arrow each."""
        push = _lengths(marks.pushes[number], marks.usual)
        at, tip = seen(np.array([marks.places[number], marks.places[number] + self.arrow * push]))
        event, colour = marks.events[number], self.theme.trace[0]
        struck = event.kind != "release" and event.impulse > 0
        size = self.unit * (0.55 + 0.45 * min(1.0, float(np.linalg.norm(push)))) if struck else 0.6 * self.unit
        radius = size * (RADIUS[0] + (RADIUS[1] - RADIUS[0]) * (1 - fresh**2))
        alpha = fresh**1.5
        if struck:
            self.pen.fill(DISC, place(0.62 * size * RADIUS[1], 0, *at), colour, 0.28 * alpha)
        self.pen.line(DISC, place(radius, 0, *at), colour, 2.0 * self.unit * fresh + 0.4, alpha)
        if not struck:
            return
        turn = 2 * np.pi * (np.arange(RAYS) + 0.5) / RAYS
        ways = np.column_stack([np.cos(turn), np.sin(turn)])
        rays = [at + np.outer((radius + 3 * size, radius + (4 + 6 * fresh) * size), way) for way in ways]
        self.pen.line(strokes(*rays), HERE, colour, 1.8 * self.unit, alpha)
        for reach in (tip - at, at - tip) if marks.returned[number] else (tip - at,):
            self._arrow(at, reach / 2 if marks.returned[number] else reach, alpha)

    def _arrow(self, at: Array, reach: Array, alpha: float) -> None:
        length = float(np.hypot(*reach))
        if length <= SHORTEST:
            return
        shape = closed(symbols.arrow(length, min(WIDTH * self.unit, 0.5 * length), HEAD * self.unit))
        where = place(1.0, float(np.arctan2(reach[1], reach[0])), *at)
        self.pen.line(shape, where, self.theme.background, 2 * self.unit, alpha)
        self.pen.fill(shape, where, self.theme.trace[0], alpha)

    def _names(self, marks: Marks, t: float, speed: float) -> None:
        """Of events of the user, above the time."""
        recent = [number for number in marks.between(t - NAMED * speed, t) if marks.events[number].kind == "event"]
        latest = {marks.events[number].gap: marks.t[number] for number in recent}
        x = 36 * self.unit
        for name, when in list(latest.items())[-MOST_NAMES:]:
            faded = (t - when) / speed / NAMED
            words, size = f"● {name}", 15 * self.unit
            self.pen.text(x, 54 * self.unit, words, size, mix(self.theme.trace[1], self.theme.background, faded))
            x += self.pen.measure(words, size) + 14 * self.unit
