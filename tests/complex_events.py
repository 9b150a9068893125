"""Motions with events in complex numbers, one of their parameters a little off the real axis: the imaginary part of the
end over that little is the derivative (see complex_step.py). Times of events leave the real axis too, so the motion is
followed along a path of complex times. SciPy's DOP853, in coordinates of one's own; nothing of mechsim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

STEP = 1e-25
TIGHT = {"method": "DOP853", "rtol": 3e-14, "atol": 1e-15}

Function = Callable[[complex, np.ndarray], np.ndarray]
Guard = Callable[[complex, np.ndarray], complex]


@dataclass(frozen=True)
class Event:
    """Where the guard falls through zero the state jumps, and the motion goes on in a mode by its name."""

    guard: Guard
    jump: Function
    mode: str


@dataclass(frozen=True)
class Mode:
    rate: Function
    events: Sequence[Event] = ()


def _moved(rate: Function, t: complex, y: np.ndarray, to: complex) -> np.ndarray:
    """The state at a complex time nearby."""
    found = solve_ivp(lambda s, y: (to - t) * rate(t + s * (to - t), y), (0.0, 1.0), y, **TIGHT)
    return found.y[:, -1]


def _met(rate: Function, guard: Guard, t: complex, y: np.ndarray) -> tuple[complex, np.ndarray]:
    """The zero of a guard near a time, by Newton's method with a slope that is good to 1e-6: the imaginary part, which
    is all error at first, is so much better after each step."""
    step = 1e-6
    slope = (guard(t + step, _moved(rate, t, y, t + step)) - guard(t, y)) / step
    for _ in range(5):
        to = t - guard(t, y) / slope.real
        t, y = to, _moved(rate, t, y, to)
    return t, y


def _watched(guard: Guard, begun: complex, length: complex) -> Callable:
    def watched(s: float, y: np.ndarray) -> float:
        return guard(begun + s * length, y).real

    watched.terminal, watched.direction = True, -1.0
    return watched


def follow(modes: dict[str, Mode], mode: str, y: Sequence[complex], tend: float, t: complex = 0.0) -> tuple:
    """The state at the end, and the times of all events."""
    y, times = np.array(y, dtype=complex), []
    while True:
        now, begun = modes[mode], t
        length = tend - begun

        found = solve_ivp(
            lambda s, y, begun=begun, length=length, now=now: length * now.rate(begun + s * length, y),
            (0.0, 1.0),
            y,
            events=[_watched(each.guard, begun, length) for each in now.events],
            **TIGHT,
        )
        if found.status == 0:
            return found.y[:, -1], times
        place = next(i for i, each in enumerate(found.t_events) if len(each))
        event = now.events[place]
        # The interpolant at the event is of lower order than the steps: the last of these is taken anew.
        near, last = begun + found.t[-1] * length, begun + found.t[-2] * length
        t, y = _met(now.rate, event.guard, near, _moved(now.rate, last, found.y[:, -2], near))
        times.append(t)
        y = np.array(event.jump(t, y), dtype=complex)
        mode = event.mode


def derivative(motion: Callable[[complex], tuple], value: float) -> tuple[np.ndarray, np.ndarray]:
    """Of the end and of the times of events by a parameter, of a function that follows it."""
    end, times = motion(value + 1j * STEP)
    return end.imag / STEP, np.array(times).imag / STEP
