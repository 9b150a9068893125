"""Series of numbers that a page interpolates, packed tightly."""

from __future__ import annotations

import base64

import numpy as np

from mechsim.render.page.samples import pieces
from mechsim.result.layout import Array


class Channels:
    """Series of numbers that the page interpolates: values with their derivatives in time."""

    def __init__(self, t: Array):
        self.t = t
        self.pieces = [(piece, _interval(t[piece])) for piece in pieces(t)]
        self.series: list[Array] = []
        self.offsets: list[float] = []

    def add(self, values: Array, rates: Array | None = None) -> int:
        """The number of the new channel. Rates that are not known come from the neighbouring samples."""
        if rates is None:
            rates = np.concatenate([_slopes(values[piece], self.t[piece]) for piece, _ in self.pieces])
        # Small changes of a large number would be lost in 32 bits.
        self.offsets.append(float((values.min() + values.max()) / 2))
        intervals = np.concatenate([np.full(piece.stop - piece.start, interval) for piece, interval in self.pieces])
        self.series += [values - self.offsets[-1], rates * intervals]
        return len(self.series) // 2 - 1

    @property
    def breaks(self) -> list[list[float]]:
        """Where pieces begin: the time, the number of the first sample, and the interval between samples."""
        return [[float(self.t[piece.start]), piece.start, interval] for piece, interval in self.pieces]

    def text(self) -> str:
        return base64.b64encode(np.asarray(self.series, "<f4").tobytes()).decode()


def _interval(t: Array) -> float:
    return float((t[-1] - t[0]) / (len(t) - 1)) if len(t) > 1 else 1.0


def _slopes(values: Array, t: Array) -> Array:
    """From the neighbours, but nowhere so steep that a cubic overshoots a jump."""
    if len(t) < 3:
        return np.zeros_like(values)
    steps = np.abs(np.diff(values) / np.diff(t))
    steepest = 3 * np.minimum(np.append(steps[0], steps), np.append(steps, steps[-1]))
    return np.clip(np.gradient(values, t, edge_order=2), -steepest, steepest)
