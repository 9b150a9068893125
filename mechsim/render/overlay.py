"""Words and measures around the picture: title, parameters, time and speed, a scale bar, the energies."""

from __future__ import annotations

import math

import numpy as np

from mechsim.render.frames import Frames
from mechsim.render.options import Options, speed_text, unit_of
from mechsim.render.pen import DISC, Path, Pen, mix, place, strokes
from mechsim.render.scene import Scene
from mechsim.render.theme import THEMES
from mechsim.render.window import Window
from mechsim.result.layout import Array

HERE = place(1.0, 0.0, 0.0, 0.0)
ENERGY_NAMES = {"T": "kinetic", "V": "potential", "E": "total"}


class Overlay:
    """Lays out the words; `box` is what they leave for the mechanism: (left, bottom, right, top) in pixels.

    `bare` is for small pictures on a contact sheet, which has a heading of its own: only the time is shown.
    """

    def __init__(self, scene: Scene, frames: Frames, options: Options, pen: Pen, *, bare: bool):
        self.scene, self.frames, self.options, self.pen, self.bare = scene, frames, options, pen, bare
        self.theme = THEMES[options.theme]
        width, height = options.size
        self.unit = unit = unit_of(options.size) * (1.3 if bare else 1.0)
        self.margin = 36 * unit
        self.energies = _energies(frames) if "energy" in options.show and not bare else {}
        right = width - self.margin - (330 * unit if self.energies else 0)
        self.title, self.title_size = fitted(pen, scene.title, 26 * unit, width - 2 * self.margin)
        self.parameters = self._parameters()
        top = height - (24 if bare else 84 if self._parameters_fit_beside() else 108) * unit
        self.box = (self.margin, (44 if bare else 66) * unit, right, top)
        self.step = float(np.diff(frames.t[:2])[0]) if len(frames) > 1 else 0.0
        self.curves = self._curves()

    def draw_background(self, window: Window) -> None:
        """What stays the same in every frame."""
        if not self.bare:
            self._heading()
            self._scale_bar(window)
            if self.energies:
                self._energy_plot()

    def draw(self, index: int) -> None:
        """What changes from frame to frame."""
        t = float(self.frames.t[index])
        if "time" in self.options.show or self.bare:
            words = f"t = {t:.{decimals(self.step, t)}f} s"
            self.pen.text(self.margin, 26 * self.unit, words, 19 * self.unit, self.theme.text)
        for key, curve in self.curves.items():
            x, y = curve[index]
            self.pen.fill(DISC, place(4.5 * self.unit, 0, x, y), self._colour(key))

    def _parameters(self) -> str:
        shown = self.scene.parameters_to_show if "params" in self.options.show else ()
        return "    ".join(f"{name} = {value:.6g}" for name, value in shown)

    def _parameters_fit_beside(self) -> bool:
        taken = self.pen.measure(self.title, self.title_size, "bold") + self.pen.measure(
            self.parameters, 16 * self.unit
        )
        return taken + 3 * self.margin < self.options.size[0]

    def _heading(self) -> None:
        pen, unit, (width, height) = self.pen, self.unit, self.options.size
        pen.text(self.margin, height - 50 * unit, self.title, self.title_size, self.theme.text, weight="bold")
        words, size = fitted(pen, self.parameters, 16 * unit, width - 2 * self.margin, "normal")
        if self._parameters_fit_beside():
            pen.text(width - self.margin, height - 50 * unit, words, size, self.theme.faint, align="right")
        else:
            pen.text(self.margin, height - 76 * unit, words, size, self.theme.faint)
        if "time" in self.options.show and len(self.frames) > 1:
            shown = pen.measure("t = 000.00000 s", 19 * unit)
            words = speed_text(self.options.speed or 1.0)
            pen.text(self.margin + shown + 18 * unit, 26 * unit, words, 15 * unit, self.theme.faint)

    def _scale_bar(self, window: Window) -> None:
        length = nice_below(0.16 * self.options.size[0] / window.scale)
        pixels, unit = length * window.scale, self.unit
        right, y = self.options.size[0] - self.margin, 30 * unit
        left, tick = right - pixels, 5 * unit
        bar = [[[left, y], [right, y]], [[left, y - tick], [left, y + tick]], [[right, y - tick], [right, y + tick]]]
        self.pen.line(strokes(*map(np.array, bar)), HERE, self.theme.faint, 1.6 * unit, cap="butt")
        words = length_text(length)
        self.pen.text(left - 12 * unit, y - 5 * unit, words, 15 * unit, self.theme.faint, align="right")

    def _curves(self) -> dict[str, Array]:
        """The energies as curves in pixels, in a panel on the right."""
        if not self.energies:
            return {}
        unit, t = self.unit, self.frames.t
        right = self.options.size[0] - self.margin
        self.panel = (right - 290 * unit, 110 * unit, right, 330 * unit)
        low = min(float(values.min()) for values in self.energies.values())
        high = max(float(values.max()) for values in self.energies.values())
        self.limits = (low, high if high > low else low + 1.0)
        x = self.panel[0] + (t - t[0]) / ((t[-1] - t[0]) or 1.0) * (self.panel[2] - self.panel[0])
        tall = (self.panel[3] - self.panel[1]) / (self.limits[1] - self.limits[0])
        return {
            key: np.column_stack([x, self.panel[1] + (values - low) * tall]) for key, values in self.energies.items()
        }

    def _energy_plot(self) -> None:
        left, bottom, right, top = self.panel
        pen, unit = self.pen, self.unit
        frame = np.array([[left, top], [left, bottom], [right, bottom]])
        pen.line(Path(frame), HERE, mix(self.theme.faint, self.theme.background, 0.4), 1.2 * unit)
        for row, (key, curve) in enumerate(self.curves.items()):
            pen.line(Path(curve), HERE, self._colour(key), 2.0 * unit)
            y = top + (26 + 22 * (len(self.curves) - 1 - row)) * unit
            pen.fill(DISC, place(5 * unit, 0, left + 5 * unit, y + 5 * unit), self._colour(key))
            pen.text(left + 20 * unit, y, ENERGY_NAMES[key], 15 * unit, self.theme.text)
        low, high = (f"{value:.4g} J" for value in self.limits)
        pen.text(right, top + 6 * unit, high, 13 * unit, self.theme.faint, align="right")
        pen.text(right, bottom - 18 * unit, low, 13 * unit, self.theme.faint, align="right")

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


def _energies(frames: Frames) -> dict[str, Array]:
    """Kinetic, potential and total energy, where the results have them."""
    if not {"T", "V"} <= set(frames.energies):
        return {}
    return {**frames.energies, "E": frames.energies["T"] + frames.energies["V"]}


def decimals(step: float, t: float) -> int:
    """Enough digits that the time in the picture changes with every frame, and no more."""
    if step <= 0:
        return max(0, 3 - math.floor(math.log10(abs(t)))) if t else 2
    return max(0, math.ceil(-math.log10(step) - 1e-9))


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
