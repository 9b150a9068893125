"""Plots of the results file, as small PNGs in docs/. Runs in the bench's own environment: `plots.py results.json docs`.

One scale of time for all: a colour belongs to a code, a shade to a tolerance.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

INK, MUTED, GRID = "#1f2430", "#6b7280", "#e5e7eb"
COLOURS = {
    "mechsim": "#c2410c",
    "heyoka": "#1d4ed8",
    "RADAU5 (published)": "#6b7280",
    "CasADi IDAS": "#15803d",
    "Exudyn": "#7e22ce",
    "scipy_dae Radau": "#a16207",
}
SHADES = ("#fdba74", "#ea580c", "#7c2d12")
plt.rcParams.update(
    {
        "font.size": 9,
        "axes.edgecolor": MUTED,
        "axes.labelcolor": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": GRID,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
        "figure.dpi": 110,
    }
)


def time_against_digits(rows: list[dict[str, Any]], path: Path) -> None:
    """Every code a line, labelled at its end rather than in a legend."""
    figure, axes = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
    for peer in dict.fromkeys(row["peer"] for row in rows):
        mine = sorted((row["digits"], 1e3 * row["fastest"]) for row in rows if row["peer"] == peer)
        measured = peer != "RADAU5 (published)"
        style = {"color": COLOURS[peer], "linewidth": 2.2 if peer == "mechsim" else 1.4, "markersize": 4}
        axes.plot(*zip(*mine, strict=True), marker="o", linestyle="-" if measured else "--", **style)
        axes.annotate(peer, mine[-1], xytext=(6, 0), textcoords="offset points", color=COLOURS[peer], va="center")
    axes.set(yscale="log", xlabel="correct digits of the seven angles at t = 0.03", ylabel="milliseconds")
    axes.set_xlim(right=17.5)
    axes.set_title("Andrews squeezing mechanism", loc="left", color=INK)
    figure.savefig(path)
    plt.close(figure)


def experiment(result: dict[str, Any], path: Path) -> None:
    """Left: CPU time against digits. Right: (E_t - E_0)/tol against t. As the seed's figures 5, 6, 8, 9."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
    rows = result["rows"]
    left.plot([row["digits"] for row in rows], [row["seconds"] for row in rows], "o-", color="#c2410c", markersize=4)
    for row in (rows[0], rows[-1]):
        left.annotate(f"{row['tolerance']:.0e}", (row["digits"], row["seconds"]), xytext=(4, -10), color=MUTED,
                      textcoords="offset points", fontsize=8)  # fmt: skip
    left.set(xlabel="correct digits against tol 1e-14", ylabel="seconds")
    left.set_ylim(bottom=0)
    for curve, colour in zip(result["energy"], SHADES, strict=False):
        right.plot(curve["t"], curve["drift"], color=colour, linewidth=1.1, label=f"tol {curve['tolerance']:.0e}")
    right.set_yscale("symlog", linthresh=0.1)
    right.set(xlabel="t", ylabel="energy error / tol")
    right.legend(frameon=False, fontsize=8)
    figure.suptitle(result["title"], x=0.01, ha="left", color=INK)
    figure.savefig(path)
    plt.close(figure)


def main() -> None:
    results = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(sys.argv[2])
    time_against_digits(results["andrews"], folder / "bench-time-digits.png")
    for result in results["figures"]:
        experiment(result, folder / f"bench-{result['key']}.png")


if __name__ == "__main__":
    main()
