"""Shapes that stand for things: coils, ground, arrows. Plain corners in frames of their own."""

from __future__ import annotations

import numpy as np

from mechsim.result.layout import Array

COIL_CORNERS = 18  # per turn


def coil(length: float, radius: float, turns: int, lead: float) -> Array:
    """A spring along x from 0 to `length`, seen a little from the side, straight for `lead` at either end."""
    phase = np.linspace(0.0, 2 * np.pi * turns, COIL_CORNERS * turns + 1)
    body = max(length - 2 * lead, 0.1 * length)
    lead = (length - body) / 2
    # Wire that runs backwards where it faces us makes loops; they open as the spring is drawn out.
    slant = 0.5 * radius
    taper = np.minimum(1.0, np.minimum(phase, phase[-1] - phase) / np.pi)
    y = radius * np.sin(phase) * taper
    x = lead + body * phase / phase[-1] + slant * np.cos(phase) * taper
    return np.vstack([[0.0, 0.0], np.column_stack([x, y]), [length, 0.0]])


def coil_turns(length: float, radius: float) -> int:
    """How many turns look right at the length at rest."""
    return int(np.clip(round(length / (2.3 * radius)), 5, 14))


def ground(size: float) -> tuple[Array, list[Array]]:
    """A bracket under a fixed point at the origin, and the hatching beneath it."""
    half, depth = 1.3 * size, 2.1 * size
    arc = np.linspace(np.pi, 0, 25)
    top = 1.0 * size * np.column_stack([np.cos(arc), np.sin(arc)])
    bracket = np.vstack([[-half, -depth], top, [half, -depth]])
    base = np.array([[-2.1 * size, -depth], [2.1 * size, -depth]])
    ticks = [
        np.array([[x, -depth], [x - 0.55 * size, -depth - 0.62 * size]])
        for x in np.linspace(-1.6 * size, 2.0 * size, 7)
    ]
    return bracket, [base, *ticks]


def arrow(length: float, width: float, head: float) -> Array:
    """An arrow along x from the origin, as a closed outline; a short arrow gets a smaller head."""
    head = min(head, 0.6 * length)
    half = width / 2
    return np.array(
        [
            [0, half],
            [length - head, half],
            [length - head, 0.42 * head + half],
            [length, 0],
            [length - head, -0.42 * head - half],
            [length - head, -half],
            [0, -half],
        ]
    )


def turning_arrow(radius: float, width: float, direction: float) -> Array:
    """An arc of three quarters around the origin with a head; `direction` > 0 is counter-clockwise."""
    sign = 1.0 if direction > 0 else -1.0
    turn = sign * np.linspace(np.radians(-50), np.radians(185), 40)
    half, head = width / 2, 3.2 * width
    outer = (radius + half) * np.column_stack([np.cos(turn), np.sin(turn)])
    inner = (radius - half) * np.column_stack([np.cos(turn), np.sin(turn)])
    end = np.array([np.cos(turn[-1]), np.sin(turn[-1])])
    along = sign * np.array([-end[1], end[0]])
    tip = np.array([(radius + head / 2) * end, radius * end + head * 1.1 * along, (radius - head / 2) * end])
    return np.vstack([outer, tip, inner[::-1]])
