"""`make animations`: a film and an interactive page for every example in specs/, and an index that shows them."""

from __future__ import annotations

import html
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
SPECS = HERE.parent / "specs"
MECHSIM = str(Path(sys.executable).parent / "mechsim")
SIZE = ["--size", "960x540"]

# What suits an example better than the usual choices.
FILM = {
    "andrews": ["--trace", "E,H"],
    "four_bar": ["--show", "params,time,energy"],
    "mechanism0": ["--speed", "1/10"],
    "mechanism1a": ["--to", "24", "--speed", "2"],
    "mechanism1b": ["--to", "12", "--show", "params,time,energy"],
}

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>mechsim: examples in motion</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 1240px; padding: 1.5rem; }}
  main {{ display: grid; gap: 1.5rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 34rem), 1fr)); }}
  figure {{ margin: 0; }}
  video {{ width: 100%; border-radius: .6rem; background: #fafaf7; box-shadow: 0 1px 4px #0003; }}
  figcaption p {{ margin: .2rem 0; opacity: .8; }}
  h2 {{ font-size: 1.1rem; margin: .6rem 0 0; }}
</style>
<h1>Examples in motion</h1>
<p>Every film was drawn by <code>mechsim animate</code> from the results of <code>mechsim run</code>;
<code>make animations</code> remakes them. The motion is true to time at the speed shown.</p>
<main>
{figures}
</main>
</html>
"""
FIGURE = """<figure>
<video src="{film}" autoplay loop muted playsinline controls aria-label="{title}"></video>
<figcaption><h2>{title}</h2><p>{about}</p><p><a href="{page}">Interactive page</a>,
<a href="../specs/{name}.yaml">{name}.yaml</a></p></figcaption>
</figure>"""


def mechsim(*words: str) -> None:
    subprocess.run([MECHSIM, *words], check=True)


def about(spec: Path) -> str:
    """The comment that a file opens with."""
    lines = []
    for line in spec.read_text().splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    return " ".join(lines)


def title(spec: Path) -> str:
    line = next((line for line in spec.read_text().splitlines() if line.startswith("Title:")), spec.stem)
    return line.removeprefix("Title:").strip()


def film(spec: Path, folder: str) -> str:
    """Make the film and the page of one example; returns its place in the index."""
    name = spec.stem
    results = f"{folder}/{name}.npz"
    mechsim("run", str(spec), "-o", results, "--quiet")
    mechsim("animate", results, "-o", str(HERE / f"{name}.mp4"), *SIZE, *FILM.get(name, []))
    mechsim("animate", results, "-o", str(HERE / f"{name}.html"), *FILM.get(name, []))
    if name == "andrews":
        mechsim("animate", results, "-o", str(HERE / "andrews.gif"), "--fps", "20", *FILM[name])
        if find_spec("pyvista"):
            mechsim("animate", results, "-o", str(HERE / "andrews-solid.mp4"), *SIZE, "--renderer", "solid")
    return entry(name, f"{name}.mp4", title(spec), about(spec))


def entry(name: str, film: str, heading: str, words: str) -> str:
    texts = {"title": html.escape(heading, quote=True), "about": html.escape(words)}
    return FIGURE.format(name=name, film=film, page=f"{name}.html", **texts)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        figures = [film(spec, folder) for spec in sorted(SPECS.glob("*.yaml"))]
    if (HERE / "andrews-solid.mp4").exists():
        words = "The same motion, drawn as lit solids that pass over one another: mechsim animate --renderer solid."
        figures.insert(1, entry("andrews", "andrews-solid.mp4", "Andrews Squeezing Mechanism, solid", words))
    (HERE / "index.html").write_text(PAGE.format(figures="\n".join(figures)))


if __name__ == "__main__":
    main()
