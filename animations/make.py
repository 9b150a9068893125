"""`make animations`: a film for every example in specs/, the interactive page of one, and an index that shows them."""

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
SMALL = ["--size", "640x360", "--fps", "20"]  # of what is in a folder of its own: many examples that differ a little

# What suits an example better than the usual choices.
FILM = {
    "andrews": ["--trace", "E,H"],
    "four_bar": ["--show", "params,time,energy"],
    "mechanism0": ["--speed", "1/10"],
    "mechanism1a": ["--to", "16", "--speed", "2"],
    "mechanism1b": ["--to", "12", "--show", "params,time,energy"],
    "pendulum": ["--to", "6"],
    "double_pendulum": ["--to", "8"],
    "arm1": ["--to", "6"],
    "arm1_pd": ["--to", "6"],
    "arm2": ["--to", "6"],
    "arm3": ["--to", "6"],
    "arm10": ["--to", "6"],
    "bead_on_hoop": ["--to", "6"],
    "arm2_pd": ["--to", "8"],
    "arm3_compensated": ["--to", "8"],
    "arm3_pd": ["--to", "8"],
    "arm3_pid": ["--to", "16", "--speed", "2"],
    "arm3_slider": ["--to", "6"],
    "chaplygin_sleigh": ["--speed", "2"],
    "driven_oscillator": ["--to", "12", "--speed", "2"],
    "rolling_wheel": ["--to", "1.5", "--speed", "1/4"],
    "triple_pendulum": ["--to", "8"],
    "bricard": ["--to", "6"],
    "conical_pendulum": ["--to", "4"],
    "door": ["--to", "5"],
    "foucault": ["--to", "24", "--speed", "4"],
    "gyroscope": ["--to", "4"],
    "heavy_top": ["--to", "0.5", "--speed", "1/10"],
    "lagrange_top": ["--to", "4"],
    "skew2pend": ["--to", "6"],
    "spherical_pendulum": ["--to", "6"],
    "bouncing_particle": ["--show", "params,time,energy,events"],
    "leaving_sphere": ["--show", "params,time,events,reactions"],
    "resting_ball": ["--to", "2.5", "--speed", "1/3", "--show", "params,time,events,reactions"],
    "slack_tether": ["--show", "params,time,events,reactions"],
    **{
        f"triple_pendulum_{kind}": ["--to", "40", "--speed", "4", "--show", "params,time,events"]
        for kind in (
            "chaotic_sliding",
            "locked_sliding",
            "periodic_impacts",
            "periodic_sliding",
            "quasiperiodic_impacts",
        )
    },
    "tennis_racket": ["--to", "11", "--speed", "2"],
    "clutch": ["--speed", "1/2"],
    "docking": ["--speed", "6"],
    "trebuchet": ["--to", "1.6", "--speed", "1/5", "--view=-8,28,0,20"],
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
  h2 {{ margin: 2rem 0 1rem; }}
  h3 {{ font-size: 1.1rem; margin: .6rem 0 0; }}
</style>
<h1>Examples in motion</h1>
<p>Every film was drawn by <code>mechsim animate</code> from the results of <code>mechsim run</code>;
<code>make animations</code> remakes them. The motion is true to time at the speed shown.</p>
{sections}
</html>
"""
SECTION = """<h2>{heading}</h2>
<main>
{figures}
</main>"""
HEADINGS = {
    ".": "Mechanisms",
    "contacts": "Impacts, stops and contacts",
    "forces": "Forces, joints, drives and control",
    "space": "Space",
    "design": "Chosen for the best: what mechsim optimize finds",
}
FIGURE = """<figure>
<video src="{film}" autoplay loop muted playsinline controls aria-label="{title}"></video>
<figcaption><h3>{title}</h3><p>{about}</p><p>{page}<a href="../specs/{spec}">{spec}</a></p></figcaption>
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
    """Make the film of one example; returns its place in the index."""
    name = spec.stem
    results, shown = f"{folder}/{name}.npz", str(spec)
    if spec.parent.name == "design":  # as it was found, not as it stands
        shown = f"{folder}/{name}.yaml"
        mechsim("optimize", str(spec), "-o", shown, "--quiet")
    mechsim("run", shown, "-o", results, "--quiet")
    size = SIZE if spec.parent == SPECS else SMALL
    # What is in space is drawn solid; without the extra for it, from the front.
    flat = ["--renderer", "flat"] if "\nDimension: 3" in spec.read_text() and not find_spec("pyvista") else []
    mechsim("animate", results, "-o", str(HERE / f"{name}.mp4"), *size, *flat, *FILM.get(name, []))
    figure = entry(spec, f"{name}.mp4", title(spec), about(spec))
    if name != "andrews":
        return figure
    mechsim("animate", results, "-o", str(HERE / "andrews.html"), *FILM[name])
    mechsim("animate", results, "-o", str(HERE / "andrews.gif"), "--fps", "20", *FILM[name])
    if not find_spec("pyvista"):
        return figure
    mechsim("animate", results, "-o", str(HERE / "andrews-solid.mp4"), *SIZE, "--renderer", "solid")
    words = "The same motion, drawn as lit solids that pass over one another: mechsim animate --renderer solid."
    return figure + "\n" + entry(spec, "andrews-solid.mp4", "Andrews Squeezing Mechanism, solid", words)


def entry(spec: Path, film: str, heading: str, words: str) -> str:
    texts = {"title": html.escape(heading, quote=True), "about": html.escape(words)}
    # Every page holds the whole player, so one is kept; `mechsim open` makes the others.
    page = '<a href="andrews.html">Interactive page</a>, ' if spec.stem == "andrews" else ""
    return FIGURE.format(spec=spec.relative_to(SPECS).as_posix(), film=film, page=page, **texts)


def section(folder: str, results: str) -> str:
    figures = [film(spec, results) for spec in sorted((SPECS / folder).glob("*.yaml"))]
    return SECTION.format(heading=HEADINGS.get(folder, folder.capitalize()), figures="\n".join(figures))


def main() -> None:
    folders = sorted({spec.parent.relative_to(SPECS).as_posix() for spec in SPECS.rglob("*.yaml")})
    with tempfile.TemporaryDirectory() as results:
        sections = [section(folder, results) for folder in folders]
    (HERE / "index.html").write_text(PAGE.format(sections="\n".join(sections)))


if __name__ == "__main__":
    main()
