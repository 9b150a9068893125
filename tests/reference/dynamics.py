"""The equations of specs/dynamics as ordinary differential equations in coordinates of their own, followed by DOP853.
Nothing of mechsim.

`python tests/reference/dynamics.py` prints the values that the specs are held against.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

TIGHT = {"method": "DOP853", "rtol": 3e-14, "atol": 1e-16}

Rates = Callable[[float, np.ndarray], list]


def van_der_pol(mu: float = 1.0) -> Rates:
    return lambda t, y: [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]


def duffing(k=1.0, k3=1.0, c=0.1, force=0.3, w=0.5) -> Rates:
    return lambda t, y: [y[1], -k * y[0] - k3 * y[0] ** 3 - c * y[1] + force * np.cos(w * t)]


def driven_pendulum(quality=2.0, g=1.5, w=2 / 3) -> Rates:
    """The angle from straight down."""
    return lambda t, y: [y[1], -np.sin(y[0]) - y[1] / quality + g * np.cos(w * t)]


def kapitza(length=1.0, g=9.81, a=0.1, w=60.0) -> Rates:
    """The angle from straight up."""
    return lambda t, y: [y[1], (g - a * w**2 * np.cos(w * t)) / length * np.sin(y[0])]


def henon_heiles() -> Rates:
    return lambda t, y: [y[2], y[3], -y[0] - 2 * y[0] * y[1], -y[1] - y[0] ** 2 + y[1] ** 2]


def magnetic_pendulum(k=0.5, c=0.2, d=0.3) -> Rates:
    angles = 2 * np.pi * np.arange(3) / 3
    magnets = np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def rates(t, y):
        apart = magnets - y[:2]
        pull = (apart / ((apart**2).sum(axis=1) + d**2)[:, None] ** 1.5).sum(axis=0)
        return [*y[2:], *(-k * y[:2] - c * y[2:] + pull)]

    return rates


def followed(rates: Rates, start: list[float], times: list[float], **further: float) -> np.ndarray:
    """States at times, (times, states)."""
    found = solve_ivp(rates, (0.0, times[-1]), start, t_eval=times, **{**TIGHT, **further})
    return found.y.T


def main() -> None:
    np.set_printoptions(precision=15)
    print("van_der_pol", followed(van_der_pol(), [2, 0], [5, 10]))
    print("duffing", followed(duffing(), [0.3, 0], [5, 10]))
    print("double_well", followed(duffing(k=-1, k3=1, c=0.25, force=0.2, w=1), [0.5, 0], [5, 10]))
    found = followed(driven_pendulum(), [0.2, 0], [5, 10])
    print("driven_pendulum, from the x axis", found - [np.pi / 2, 0])
    print("kapitza", followed(kapitza(), [-0.3, 0], [1, 2]))
    energy, y0 = 1 / 8, 0.1
    print("henon_heiles", followed(henon_heiles(), [0, y0, np.sqrt(2 * energy - y0**2 + 2 * y0**3 / 3), 0], [5, 10]))
    print("magnetic_pendulum", followed(magnetic_pendulum(), [0.3, 0.4, 0, 0], [5, 10]))


if __name__ == "__main__":
    main()
