"""The moments of a film's frames or of a sheet's pictures, and how they are written: the time beside a picture is its
own, to a small share of the time to the next one."""

from __future__ import annotations

import numpy as np

from mechsim.result.layout import Array

NEAR = 0.02  # of the time between two pictures, that a time may be off
MOST_DECIMALS = 15


def frame_times(start: float, stop: float, speed: float, fps: float) -> Array:
    """The moments of the frames: frame k is seen k/fps into the film, so the motion is true to time."""
    count = max(1, round((stop - start) / speed * fps))
    times: Array = start + np.arange(count, dtype=float) * (speed / fps)
    return times


def sheet_times(start: float, stop: float, count: int) -> Array:
    """Moments evenly spread from start to stop, moved a little to where they have few digits."""
    if count == 1 or stop <= start:
        return np.array([start])
    even = np.linspace(start, stop, count)
    near = NEAR * (stop - start) / (count - 1)
    for digits in range(-MOST_DECIMALS, MOST_DECIMALS + 1):
        times: Array = np.round(even, digits)
        unit = 10.0**-digits  # at the ends inwards: there is no motion outside
        times[0] += unit * (times[0] < start)
        times[-1] -= unit * (times[-1] > stop)
        if np.abs(times - even).max() <= near:
            return np.clip(np.round(times, digits), start, stop)
    return even


def decimals(times: Array, near: float = NEAR) -> int:
    """The fewest digits after the point with which all times are written as they are, but for a share `near` of the
    time between two of them, and for the last digits of a double."""
    step = float(np.diff(times).min()) if len(times) > 1 else 0.0
    allowed = max(near * step, 1e-12 * float(np.abs(times).max()))
    fits = (digits for digits in range(MOST_DECIMALS) if np.abs(np.round(times, digits) - times).max() <= allowed)
    return next(fits, MOST_DECIMALS)
