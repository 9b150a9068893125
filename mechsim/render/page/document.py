"""The interactive page of a motion: one HTML file that opens from disk and fetches nothing."""

from __future__ import annotations

import json
import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mechsim._version import __version__
from mechsim.errors import Fault
from mechsim.render.page.data import film_of
from mechsim.render.page.packing import packed
from mechsim.render.rows import Drawable, table_of
from mechsim.render.theme import THEMES, Theme
from mechsim.result.paths import OutputError
from mechsim.spec.names import PLANE

if TYPE_CHECKING:
    from mechsim.render.frames import Frames
    from mechsim.render.options import Options
    from mechsim.render.scene import Scene

FLAT = ("curves.js", "flat.js")
SPATIAL = ("vectors.js", "camera.js", "meshes.js", "things.js", "shaders.js", "renderer.js", "overlay.js", "space.js")
COMMON = ("numbers.js", "film.js", "clock.js", "symbols.js", "flashes.js", "plot.js", "chart.js", "sweep.js")
BEGINNING = ("controls.js", "events.js", "main.js")
GENERATOR = "mechsim"
MOST_TEXT = 2_200_000  # letters of numbers in full, before they are told in 16 bits


def write(scene: Scene, frames: Frames, trajectory: Drawable, path: str | Path, options: Options) -> tuple[str, ...]:
    """Write the page of a Trajectory (or a Motion) to `path`. Returns what a person should be told."""
    film = film_of(scene, frames, table_of(trajectory), options)
    notes = tuple(film.pop("notes"))
    if len(film["numbers"]) > MOST_TEXT:
        film = packed(film)
    Path(path).write_text(page_text(film, scene, notes), encoding="utf-8")
    return notes


def page_text(
    film: dict[str, Any], scene: Scene, notes: tuple[str, ...] = (), sweep: dict[str, Any] | None = None
) -> str:
    """The page as text. Whatever comes from the mechanism file is escaped, in HTML and in JSON."""
    style = _fill(_asset("page.css"), {name: _variables(theme) for name, theme in THEMES.items()})
    return _fill(
        _asset("page.html"),
        {
            "generator": f"{GENERATOR} {__version__}",
            "title": escape(scene.title or "Mechanism"),
            "description": escape(_description(scene)),
            "parameters": "".join(
                f"<div><dt>{escape(name)}</dt><dd>{number_text(value)}</dd></div>"
                for name, value in scene.parameters_to_show
            ),
            "notes": escape("; ".join(notes)),
            "style": style,
            "film": _json(film),
            "sweep": f'<script type="application/json" id="sweep">{_json(sweep)}</script>' if sweep else "",
            "script": "\n".join(_asset(name) for name in scripts(scene)),
        },
    )


def scripts(scene: Scene) -> tuple[str, ...]:
    """The files of the page's script, in their order: one view or the other."""
    return (*COMMON, *(FLAT if scene.dimension == PLANE else SPATIAL), *BEGINNING)


def number_text(value: float) -> str:
    return f"{value:.6g}".replace("-", "\N{MINUS SIGN}")


def _asset(name: str) -> str:
    return (files("mechsim.render.page") / name).read_text(encoding="utf-8")


def _fill(template: str, texts: dict[str, str]) -> str:
    """Every `{{name}}` by its text, in one pass: braces in a title stay what they are."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: texts[match[1]], template)


def _json(film: dict[str, Any]) -> str:
    """JSON that may stand in a script element: `<` cannot end it, nor begin a comment."""
    try:
        return json.dumps(film, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    except ValueError:
        hint = "look for values in the results that are far too large"
        raise OutputError(Fault("the motion cannot be drawn: some of it is no number", hint=hint)) from None


def _variables(theme: Theme) -> str:
    """A theme's colours for the style sheet."""
    colours = {
        "paper": theme.background,
        "ink": theme.text,
        "pin": theme.pin,
        "edge": theme.edge,
        "shadow": theme.shadow,
        "shadow-strength": str(theme.shadow_strength),
        "parts": " ".join(theme.parts),
        "traces": " ".join(theme.trace),
    }
    return "  " + " ".join(f"--{name}: {colour};" for name, colour in colours.items())


def _description(scene: Scene) -> str:
    """The picture in words, for those who do not see it."""
    kinds = [("rigid part", scene.parts), ("spring", scene.springs), ("particle", scene.particles)]
    counts = [f"{len(things)} {kind}{'s' if len(things) > 1 else ''}" for kind, things in kinds if things]
    return f"{scene.title or 'Mechanism'}: a moving picture of {', '.join(counts) or 'points'}"
