"""Functions in pieces at one time: their values before and after it, and their slopes."""

from __future__ import annotations

import numpy as np

from mechsim.measure import bernstein
from mechsim.measure.piecewise import Pieces


def piece_at(pieces: Pieces, time: float) -> tuple[int, float]:
    """The piece at a time, of two the one that begins there, and the share of it."""
    piece = int(np.clip(np.searchsorted(pieces.begins, time, side="right") - 1, 0, len(pieces.begins) - 1))
    return piece, float((time - pieces.begins[piece]) / pieces.durations[piece])


def beside(pieces: Pieces, time: float, before: bool) -> int:
    """The piece that ends at a time at which pieces meet, or that begins there; as many as there are for none."""
    return int(np.searchsorted(pieces.ends if before else pieces.begins, time))


def side(pieces: Pieces, time: float, before: bool) -> float:
    """The value just before such a time, or after it: none is zero. Before the start it is that after it."""
    before = before and time > pieces.begins[0]
    piece = beside(pieces, time, before)
    return float(pieces.polynomials[-1 if before else 0, piece]) if piece < len(pieces.begins) else 0.0


def derivatives(pieces: Pieces, time: float) -> tuple[float, float]:
    """The first and second derivatives by time."""
    return slopes_of(pieces, *piece_at(pieces, time))


def slopes_of(pieces: Pieces, piece: int, share: float) -> tuple[float, float]:
    """The same at a share of a piece."""
    polynomial, duration, found = pieces.polynomials[:, piece : piece + 1], float(pieces.durations[piece]), []
    for _ in range(2):
        polynomial = (len(polynomial) - 1) * bernstein.differences(polynomial) / duration
        found.append(float(bernstein.evaluate(polynomial, np.array([share]))[0]))
    return found[0], found[1]
