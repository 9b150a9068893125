"""Colours of pictures, one set for light rooms and one for dark ones. Parts keep their hue in both."""

from __future__ import annotations

from mechsim.frozen import frozen


@frozen
class Theme:
    background: str
    text: str
    faint: str  # secondary text
    grid: str
    edge: str  # outlines of pivots, ground, springs
    shadow: str
    shadow_strength: float
    pin: str  # the inside of a pivot
    parts: tuple[str, ...]
    trace: tuple[str, ...]


THEMES = {
    "light": Theme(
        background="#fafaf7",
        text="#20242a",
        faint="#757b84",
        grid="#ecece6",
        edge="#2b3038",
        shadow="#1c222b",
        shadow_strength=0.16,
        pin="#ffffff",
        parts=("#4f7fb5", "#e58a3a", "#5aa56a", "#c65b5b", "#8a72b8", "#3fa3a3", "#d1a82e", "#9a7560", "#c877a6"),
        trace=("#d1495b", "#2e7d9a", "#7a5195", "#5b8c3a"),
    ),
    "dark": Theme(
        background="#14171c",
        text="#e8eaed",
        faint="#8d949e",
        grid="#1f242b",
        edge="#d5d9df",
        shadow="#000000",
        shadow_strength=0.5,
        pin="#14171c",
        parts=("#5f94d0", "#f09a4c", "#68b97a", "#de6f6f", "#a188d6", "#4fb9b9", "#e2bc47", "#b38a72", "#de8cbb"),
        trace=("#ff6b7f", "#58c4e6", "#b98af0", "#9fd36b"),
    ),
}
