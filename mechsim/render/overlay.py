"""Words and measures around the picture: title, parameters, time and speed, scales, the energies."""

from __future__ import annotations

import math

import numpy as np

from mechsim.render.frames import Frames
from mechsim.render.measures import HERE, Measures
from mechsim.render.options import Options, speed_text, unit_of
from mechsim.render.pen import DISC, Path, Pen, mix, place
from mechsim.render.scene import Scene
from mechsim.render.sizes import natural_sizes
from mechsim.render.theme import THEMES
from mechsim.render.times import NEAR, decimals
from mechsim.result.layout import Array

ENERGY_NAMES = {"T": "kinetic", "V": "potential", "E": "total"}
LONGEST = 0.16  # of the picture's width, that a bar or arrow beside it may be long


class Overlay:
    """Lays out the words; `box` is what they leave for the mechanism: (left, bottom, right, top) in pixels.

    `bare` is for small pictures on a contact sheet, which has heading and measures of its own: only the time is shown.
    """

    def __init__(self, scene: Scene, frames: Frames, options: Options, pen: Pen, *, bare: bool):
        self.scene, self.frames, self.options, self.pen, self.bare = scene, frames, options, pen, bare
        self.theme = THEMES[options.theme]
        width, height = options.size
        self.unit = unit = unit_of(options.size) * (1.3 if bare else 1.0)
        self.margin = 36 * unit
        self.energies = _energies(frames.motion) if "energy" in options.show and not bare else {}
        right = width - self.margin - (390 * unit if self.energies else 0)
        self.title, self.title_size = fitted(pen, scene.title, 26 * unit, width - 2 * self.margin)
        self.parameters = self._parameters()
        top = height - (24 if bare else 84 if self._parameters_fit_beside() else 108) * unit
        # On a sheet a time is printed as it is; in a film it changes with every picture, and few digits are enough.
        digits = decimals(frames.t, 0.0 if bare else NEAR)
        self.times = [f"t = {t:.{digits}f} s" for t in np.round(frames.t, digits) + 0.0]  # no minus before zero
        rows = 1 if bare else self._rows()
        self.box = (self.margin, (44 if bare else 66 + 30 * (rows - 1)) * unit, right, top)
        self.curves = self._curves()

    def draw_background(self, measures: Measures) -> None:
        """What stays the same in every frame."""
        if not self.bare:
            self._heading()
            right, room = self.options.size[0] - self.margin, LONGEST * self.options.size[0]
            y = (30 + 30 * (self._rows() - 1)) * self.unit
            measures.draw(self.pen, self.theme, self.unit, right, y, room)
            if self.energies:
                self._energy_plot()

    def draw(self, index: int) -> None:
        """What changes from frame to frame."""
        if "time" in self.options.show or (self.bare and self.options.show):  # nothing is shown of what has no time
            self.pen.text(self.margin, 26 * self.unit, self.times[index], 19 * self.unit, self.theme.text)
        t = float(self.frames.t[index])
        for key, curve in self.curves.items():
            x, y = (float(np.interp(t, self.frames.motion.t, curve[:, axis])) for axis in (0, 1))
            where = place(4.5 * self.unit, 0, x, y)
            self.pen.outline(DISC, where, self._colour(key), self.theme.background, 1.2 * self.unit)

    def _rows(self) -> int:
        """Lines of words below the picture: measures have one of their own where time and speed leave no room."""
        longest = max(self.pen.measure(words, 19 * self.unit) for words in {self.times[0], self.times[-1]})
        said = longest + 18 * self.unit + self.pen.measure(self._speed(), 15 * self.unit)
        impulses = self.frames.marks is not None and self.frames.marks.usual
        shown = len([each for each in (True, self.frames.motion.arrows, impulses) if each])
        wide = shown * (LONGEST * self.options.size[0] + 120 * self.unit)
        return 1 if said + wide + 2 * self.margin < self.options.size[0] else 2

    def _parameters(self) -> str:
        shown = self.scene.parameters_to_show if "params" in self.options.show else ()
        return "    ".join(f"{name} = {value:.6g}" for name, value in shown)

    def _parameters_fit_beside(self) -> bool:
        taken = self.pen.measure(self.title, self.title_size, "bold") + self.pen.measure(
            self.parameters, 16 * self.unit
        )
        return taken + 3 * self.margin < self.options.size[0]

    def _speed(self) -> str:
        shown = "time" in self.options.show and len(self.frames) > 1
        return speed_text(self.options.speed or 1.0) if shown else ""

    def _heading(self) -> None:
        pen, unit, (width, height) = self.pen, self.unit, self.options.size
        pen.text(self.margin, height - 50 * unit, self.title, self.title_size, self.theme.text, weight="bold")
        words, size = fitted(pen, self.parameters, 16 * unit, width - 2 * self.margin, "normal")
        if self._parameters_fit_beside():
            pen.text(width - self.margin, height - 50 * unit, words, size, self.theme.faint, align="right")
        else:
            pen.text(self.margin, height - 76 * unit, words, size, self.theme.faint)
        shown = max(pen.measure(words, 19 * unit) for words in {self.times[0], self.times[-1]})
        pen.text(self.margin + shown + 18 * unit, 26 * unit, self._speed(), 15 * unit, self.theme.faint)

    def _curves(self) -> dict[str, Array]:
        """The energies of the whole motion as curves in pixels, in a panel on the right."""
        if not self.energies:
            return {}
        unit, t = self.unit, self.frames.motion.t
        right = self.options.size[0] - self.margin
        self.panel = (right - 290 * unit, 110 * unit, right, 330 * unit)
        sizes = natural_sizes(self.scene, float(t[-1] - t[0]))
        low, high, _ = sizes.limits("J", *self.energies.values())
        self.limits = (low, high)
        x = self.panel[0] + (t - t[0]) / ((t[-1] - t[0]) or 1.0) * (self.panel[2] - self.panel[0])
        tall = (self.panel[3] - self.panel[1]) / (high - low)
        return {
            key: np.column_stack([x, self.panel[1] + (values - low) * tall]) for key, values in self.energies.items()
        }

    def _energy_plot(self) -> None:
        left, bottom, right, top = self.panel
        pen, unit = self.pen, self.unit
        frame = np.array([[left, top], [left, bottom], [right, bottom]])
        pen.line(Path(frame), HERE, mix(self.theme.faint, self.theme.background, 0.4), 1.2 * unit)
        for row, key in enumerate(ENERGY_NAMES):
            y = top + (26 + 22 * (len(self.curves) - 1 - row)) * unit
            pen.fill(DISC, place(5 * unit, 0, left + 5 * unit, y + 5 * unit), self._colour(key))
            pen.text(left + 20 * unit, y, ENERGY_NAMES[key], 15 * unit, self.theme.text)
        for key, curve in self.curves.items():  # the total is thin and on top: where it is one energy, both are seen
            pen.line(Path(curve), HERE, self._colour(key), (1.4 if key == "E" else 2.8) * unit)
        low, high = (energy_text(value, self.limits[1] - self.limits[0]) for value in self.limits)
        pen.text(left - 8 * unit, top - 5 * unit, high, 13 * unit, self.theme.faint, align="right")
        pen.text(left - 8 * unit, bottom - 5 * unit, low, 13 * unit, self.theme.faint, align="right")
        t = self.frames.motion.t
        first, last = (f"{value:.6g} s" for value in (t[0], t[-1]))
        pen.text(left, bottom - 18 * unit, first, 13 * unit, self.theme.faint)
        pen.text(right, bottom - 18 * unit, last, 13 * unit, self.theme.faint, align="right")

    def _colour(self, key: str) -> str:
        return {"T": self.theme.trace[0], "V": self.theme.trace[1], "E": self.theme.text}[key]


def fitted(pen: Pen, words: str, size: float, room: float, weight: str = "bold") -> tuple[str, float]:
    """Words and their size, made smaller to fit, and cut if they would become too small to read."""
    for share in (1.0, 0.85, 0.7):
        if pen.measure(words, share * size, weight) <= room:
            return words, share * size
    while len(words) > 1 and pen.measure(words + "…", 0.7 * size, weight) > room:
        words = words[:-1]
    return words + "…", 0.7 * size


def energy_text(value: float, span: float) -> str:
    """An energy at the end of an axis, with the digits that its length asks for."""
    digits = 2 - math.floor(math.log10(span)) if span else 2
    return f"{value:.{digits}f} J" if 0 <= digits < 6 else f"{value:.3g} J"


def _energies(frames: Frames) -> dict[str, Array]:
    """Kinetic, potential and total energy, where the results have them."""
    if not {"T", "V"} <= set(frames.energies):
        return {}
    return {**frames.energies, "E": frames.energies["T"] + frames.energies["V"]}
