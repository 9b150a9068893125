"""Shapes that stand for things: coils, ground, arrows. Plain corners in frames of their own."""

from __future__ import annotations

import numpy as np

from mechsim.result.layout import Array

COIL_CORNERS = 18  # per turn
MOST_STROKES = 160  # of hatching along a line


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


def breaks(length: float, width: float) -> list[Array]:
    """Two slanting strokes across an arrow along x: the sign that it is longer than it is drawn."""
    stroke = np.array([[-0.25 * width, -width], [0.25 * width, width]])
    return [moved(stroke, 0.45 * length + shift, 0) for shift in (0.0, 0.6 * width)]


def turning_arrow(radius: float, width: float, share: float) -> Array:
    """An arc around the origin with a head, `share` (-1 to 1) of two thirds of a turn; counter-clockwise above 0."""
    sign, sweep = (1.0 if share > 0 else -1.0), abs(share) * np.radians(235)
    half, head = width / 2, min(3.2 * width, 0.7 * sweep * radius)
    turn = np.radians(-50) + np.linspace(0, max(sweep - head / radius, 0.0), 40)
    turn = turn if share > 0 else -turn
    outer = (radius + half) * np.column_stack([np.cos(turn), np.sin(turn)])
    inner = (radius - half) * np.column_stack([np.cos(turn), np.sin(turn)])
    end = np.array([np.cos(turn[-1]), np.sin(turn[-1])])
    along = sign * np.array([-end[1], end[0]])
    tip = np.array([(radius + head / 2) * end, radius * end + head * 1.1 * along, (radius - head / 2) * end])
    return np.vstack([outer, tip, inner[::-1]])


UNIT_LINE = np.array([[0.0, 0.0], [1.0, 0.0]])
# A blade, in widths of a part's skin: slender and pointed at both ends.
BLADE = np.array([[-4.2, 0], [-3.2, 0.3], [3.2, 0.3], [4.2, 0], [3.2, -0.3], [-3.2, -0.3]])


def arc(radius: float, start: float = 0.0, end: float = 2 * np.pi) -> Array:
    """A piece of a circle about the origin, as a whole one if nothing else is said."""
    turn = np.linspace(start, end, max(8, round(abs(end - start) / (2 * np.pi) * 120) + 1))
    return radius * np.column_stack([np.cos(turn), np.sin(turn)])


def capsule(low: float, high: float, radius: float) -> Array:
    """A bar along x with round ends, from `low` to `high`."""
    right, left = arc(radius, -np.pi / 2, np.pi / 2), arc(radius, np.pi / 2, 3 * np.pi / 2)
    return np.vstack([moved(right, high - radius, 0), moved(left, low + radius, 0)])


def hatching(low: float, high: float, size: float) -> list[Array]:
    """A line along x from `low` to `high` and slanting strokes on its right, the sign of what does not move."""
    count = int(np.clip((high - low) / (1.1 * size), 4, MOST_STROKES))
    foot = np.linspace(low, high, count + 1)[1:]
    return [np.array([[low, 0], [high, 0]]), *(np.array([[x, 0], [x - 0.6 * size, -0.7 * size]]) for x in foot)]


def rounded_block(half_length: float, half_width: float) -> Array:
    """A rectangle about the origin with round corners."""
    radius = 0.3 * min(half_length, half_width)
    middles = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * (half_length - radius, half_width - radius)
    quarter = np.pi / 2
    return np.vstack([arc(radius, k * quarter, (k + 1) * quarter) + middle for k, middle in enumerate(middles)])


def spiral(inner: float, outer: float, turns: float) -> Array:
    """A wire that winds out from the origin and ends on the positive x axis."""
    turn = 2 * np.pi * np.linspace(-turns, 0, round(32 * turns))
    return np.linspace(inner, outer, len(turn))[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])


def brake(radius: float) -> tuple[Array, ...]:
    """The sign of a viscous pivot: two shoes around it."""
    return arc(radius, -2.3, -0.85), arc(radius, 0.85, 2.3)


def turn_sign(radius: float) -> tuple[Array, ...]:
    """An arrow that turns, inside a circle."""
    way = arc(0.68 * radius, -0.6, 4.2)
    tip, size = way[-1], 0.3 * radius
    head = [tip + size * np.array([np.cos(a), np.sin(a)]) for a in (4.2 - np.pi / 2 + 0.5, 4.2 - np.pi / 2 - 0.9)]
    return way, np.array([head[0], tip, head[1]])


def push_sign(radius: float) -> tuple[Array, ...]:
    """Arrows to both sides, inside a circle."""
    end, size = 0.72 * radius, 0.26 * radius
    heads = [np.array([[s * (end - size), size], [s * end, 0], [s * (end - size), -size]]) for s in (-1, 1)]
    return np.array([[-end, 0], [end, 0]]), *heads


def toothed(radius: float, teeth: int, phase: float) -> Array:
    """A circle with so many shallow teeth, one of them at the angle `phase`; a plain one if there are none."""
    if not teeth:
        return arc(radius)
    turn = np.linspace(0, 2 * np.pi, 16 * teeth, endpoint=False) + phase
    reach = radius + tooth(teeth * (turn - phase), 2 * radius / teeth)
    return reach[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])


def tooth(angle: Array, module: float) -> Array:
    """The height of flat-topped teeth above the pitch line; one tooth is a full turn of `angle`."""
    return 0.62 * module * np.clip(1.7 * np.cos(angle), -1, 1)


def moved(shape: Array, x: float, y: float) -> Array:
    return shape + np.array([x, y])


def turned(shape: Array, angle: float) -> Array:
    cos, sin = np.cos(angle), np.sin(angle)
    return shape @ np.array([[cos, sin], [-sin, cos]])
