"""docs/benchmarks.md and docs/benchmark-history.csv, written from the measured numbers only."""

from __future__ import annotations

import csv
import datetime
import os
import platform
from pathlib import Path
from typing import Any

from bench import exponents, handle, impacts, space, sweep, tangents
from bench.lanes import sweep_section
from bench.startup import BARS as STARTUP_BARS
from bench.startup import PLOT_BAR

Row = dict[str, Any]
HISTORY = ("date", "commit", "machine", "load", "mechsim_ms", "digits", "heyoka_ms", "ratio_medians", "ratio_fastest",
           "warm_s", "bar_s", "cold_s", "chain_exponent", "derive_10_s", "derive_1000_s", "note")  # fmt: skip


def machine() -> str:
    """Processor and cores: what a reader needs to judge the times."""
    name = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = [line for line in information.read_text().splitlines() if line.startswith("model name")]
        name = lines[0].split(":", 1)[1].strip() if lines else name
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"


def ratio(row: Row, rows: list[Row], key: str) -> str:
    """Against heyoka's quickest setting with at least as many digits, or its most accurate; `key` is the statistic."""
    mine = [other for other in rows if other["peer"] == "heyoka"]
    enough = [other[key] for other in mine if other["digits"] >= row["digits"]]
    if not mine:
        return "-"
    yardstick = min(enough) if enough else max(mine, key=lambda other: other["digits"])[key]
    return f"{row[key] / yardstick:.1f}"


BAR_DIGITS = 12.0  # the history compares runs that have at least these
BARS = {12.0: 1.0, 8.0: 1.3, 5.0: 2.0}  # digits, and what part of heyoka's time the quickest run with so many may take


def bar(rows: list[Row]) -> tuple[Row, Row | None]:
    """Our run at 1e-14, and heyoka's quickest setting of this session with BAR_DIGITS digits or more."""
    best = next(row for row in rows if row["peer"] == "mechsim" and float(row["setting"]) < 2e-14)
    able = [row for row in rows if row["peer"] == "heyoka" and row["digits"] >= BAR_DIGITS]
    return best, min(able, key=lambda row: row["seconds"]) if able else None


def bar_line(rows: list[Row]) -> str:
    best, yardstick = bar(rows)
    ours = f"At tol 1e-14 mechsim has {best['digits']:.1f} digits in {1e3 * best['seconds']:.2f} ms"
    if yardstick is None:
        return ours + "; heyoka did not run."
    medians, fastest = (best[key] / yardstick[key] for key in ("seconds", "fastest"))
    return (
        f"{ours}, {medians:.1f} times heyoka's time for {BAR_DIGITS:.0f} digits or more "
        f"({1e3 * yardstick['seconds']:.2f} ms, {yardstick['digits']:.1f} digits) by medians, {fastest:.1f} times by "
        f"fastest runs ({1e3 * best['fastest']:.2f} and {1e3 * yardstick['fastest']:.2f} ms)."
    )


def quickest(rows: list[Row], peer: str, digits: float, key: str) -> Row | None:
    able = [row for row in rows if row["peer"] == peer and row["digits"] >= digits]
    return min(able, key=lambda row: row[key]) if able else None


def bar_lines(rows: list[Row]) -> list[str]:
    """The quickest runs of both codes with at least so many digits, by medians and by fastest runs."""
    lines = []
    for digits, most in BARS.items():
        told = []
        for key, name in (("seconds", "medians"), ("fastest", "fastest runs")):
            own, other = (quickest(rows, peer, digits, key) for peer in ("mechsim", "heyoka"))
            if own is None or other is None:
                continue
            runs = f"{1e3 * own[key]:.3f} ms at {own['setting']}, heyoka {1e3 * other[key]:.3f} at {other['setting']}"
            told.append(f"{own[key] / other[key]:.2f} times heyoka's time by {name} ({runs})")
        lines.append(f"- {digits:.0f} digits or more: {', '.join(told) or 'heyoka did not run'}; the bar is {most}.")
    return lines


def digits_table(rows: list[Row]) -> list[str]:
    lines = ["| code | equations | setting | digits | ms | x heyoka | fastest, ms | x heyoka | steps | ready in, s |",
             "|---|---|---|---:|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    for row in rows:
        ready = f"{row['preparing']:.3f}" if row.get("preparing") else ""
        lines.append(
            f"| {row['peer']} | {row['form']} | {row['setting']} | {row['digits']:.2f} "
            f"| {1e3 * row['seconds']:.3f} | {ratio(row, rows, 'seconds')} "
            f"| {1e3 * row['fastest']:.3f} | {ratio(row, rows, 'fastest')} | {row['steps'] or ''} | {ready} |"
        )
    return lines


def history_section(history: Path) -> list[str]:
    """All runs so far, good and bad: one run on a busy machine proves little."""
    lines = ["| date | load | mechsim | heyoka | ratio | by fastest | warm, bar, cold, s | p | deriving 10, 1000, s |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    with history.open(newline="") as file:
        for row in csv.DictReader(file):
            keys = ("date", "load", "mechsim_ms", "heyoka_ms", "ratio_medians", "ratio_fastest")
            cells = [*(row[key] for key in keys), f"{row['warm_s']}, {row['bar_s']}, {row['cold_s']}"]
            cells += [row["chain_exponent"], f"{row['derive_10_s']}, {row['derive_1000_s']}"]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def figures_section(figures: list[Row]) -> list[str]:
    lines = []
    for result in figures:
        lines += [f"### {result['title']}", "", f"![{result['title']}](bench-{result['key']}.png)", ""]
        lines += ["| tol | digits | s | steps |", "|---|---:|---:|---:|"]
        for row in result["rows"]:
            lines.append(f"| {row['tolerance']:.0e} | {row['digits']:.1f} | {row['seconds']:.4f} | {row['steps']} |")
        lines.append("")
    return lines


def chain_section(chain: Row) -> list[str]:
    lines = ["| rods | us per step | steps | deriving, s |", "|---:|---:|---:|---:|"]
    for row in chain["rows"]:
        deriving = chain["deriving"].get(str(row["rods"]))
        shown = f"{deriving:.2f}" if deriving is not None else ""
        lines.append(f"| {row['rods']} | {1e6 * row['seconds_per_step']:.1f} | {row['steps']} | {shown} |")
    return [*lines, "", f"Time per step grows as N^{chain['exponent']:.2f} (bar: 1.15)."]


def lanes_section(rows: list[Row]) -> list[str]:
    lines = [
        "| mechanism | tol | order | motions | lanes | us a step | one by one | ratio | motions / s | steps alone |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        ratio = row["us_per_step_alone"] / row["us_per_step"]
        lines.append(
            f"| {row['file']} | {row['tolerance']:.0e} | {row['order']} | {row['motions']} | {row['lanes']} "
            f"| {row['us_per_step']:.2f} | {row['us_per_step_alone']:.2f} | {ratio:.1f} "
            f"| {row['motions_per_second']:.0f} | {row['steps_alone']:.2%} |"
        )
    return [*lines, "", "The bar is 5 us a step and motion of the Andrews mechanism."]


def startup_section(startup: Row) -> list[str]:
    bare = startup["import"]
    return [
        "| what | s | of the bare import | bar |",
        "|---|---:|---:|---:|",
        *(
            f"| `mechsim {name} specs/andrews.yaml`, warm | {startup[name]:.2f} | {startup[name] / bare:.2f} | {bar} |"
            for name, bar in STARTUP_BARS.items()
        ),
        f"| `mechsim run`, cache of derived programs empty | {startup['cold']:.2f} | | 6 s |",
        f"| `mechsim plot out.csv` | {startup['plot']:.2f} | | {PLOT_BAR} s |",
        f'| `python -c "import numpy, scipy.optimize"` | {bare:.2f} | 1 | |',
        f"| `mechsim --help` | {startup['help']:.2f} | {startup['help'] / bare:.2f} | |",
    ]


def text(results: Row, history: Path) -> str:
    skipped = ", ".join(results["skipped"]) or "none"
    return "\n".join(
        [
            "# Benchmarks",
            "",
            f"Written by `make bench` on {results['date']}; {results['machine']}; commit {results['commit']}. "
            f"Load before and after: {results['load'][0]:.1f}, {results['load'][1]:.1f} (idle: below 1). "
            f"Peers that could not be installed: {skipped}.",
            "",
            "## Andrews squeezing mechanism, t = 0.03: time against digits",
            "",
            "Digits are significant correct digits of the seven angles against a 30-digit reference. Times are of the "
            "integration alone, median and fastest of many runs in one session (mechsim and heyoka in turn); a busy "
            "machine raises medians, and the plot shows the fastest. Getting ready is "
            "what a code does once per mechanism before it (heyoka compiles, mechsim lays out its plan). "
            "`x heyoka` divides by heyoka's quickest setting with at least as many digits (else its most accurate). "
            "heyoka is given an ODE of eight states reduced by hand and compiled for it; mechsim reads the "
            "mechanism file. RADAU5's rows are published figures (Fortran, hand-coded), not measured in this run.",
            "",
            bar_line(results["andrews"]),
            "",
            *bar_lines(results["andrews"]),
            "",
            "![time against digits](bench-time-digits.png)",
            "",
            *digits_table(results["andrews"]),
            "",
            "### All runs so far",
            "",
            "Milliseconds of mechsim at tol 1e-14 and of heyoka with 12 digits or more, by medians; p is the "
            "exponent of the chain.",
            "",
            *history_section(history),
            "",
            "## From shell to prompt",
            "",
            *startup_section(results["startup"]),
            "",
            "## A chain of N rods",
            "",
            *chain_section(results["chain"]),
            "",
            "## Many motions through a handle",
            "",
            *handle.section(results["handle"]),
            "",
            "## Andrews with eight tangents",
            "",
            *tangents.section(results["tangents"]),
            "",
            "## Many motions in lanes",
            "",
            "Motions of one mechanism with other parameters, side by side in SIMD lanes on one core, beside the march "
            "of one motion; processor time, medians. Steps alone are those that a lane left to a march.",
            "",
            *lanes_section(results["lanes"]),
            "",
            sweep_section(results["sweep"]),
            "",
            "## Many pendulums, beside other codes",
            "",
            *sweep.section(results["pendulums"]),
            "",
            "## Mechanisms in space, beside other codes",
            "",
            *space.section(results["space"]),
            "",
            "## Impacts, beside heyoka with modes by hand",
            "",
            *impacts.section(results["impacts"]),
            "",
            "## Lyapunov exponents, beside heyoka",
            "",
            *exponents.section(results["exponents"]),
            "",
            "## The seed's figures 5-9",
            "",
            "Order 17; digits are SCD against our own run at tol 1e-14 (seed 001, section 4.6), so they show how "
            "results agree among tolerances, not with a table. Times are of the fastest of up to seven runs.",
            "",
            *figures_section(results["figures"]),
        ]
    )


def history_row(results: Row) -> Row:
    rows, chain, startup = results["andrews"], results["chain"], results["startup"]
    best, yardstick = bar(rows)
    values = [results["date"], results["commit"], results["machine"], f"{results['load'][0]:.1f}"]
    values += [f"{1e3 * best['seconds']:.3f}", best["digits"]]
    if yardstick:
        values += [f"{1e3 * yardstick['seconds']:.3f}"]
        values += [f"{best[key] / yardstick[key]:.2f}" for key in ("seconds", "fastest")]
    else:
        values += ["", "", ""]
    values += [f"{startup['run']:.3f}", f"{STARTUP_BARS['run'] * startup['import']:.3f}", f"{startup['cold']:.3f}"]
    values += [f"{chain['exponent']:.3f}", *(f"{chain['deriving'][n]:.3f}" for n in ("10", "1000")), ""]
    return dict(zip(HISTORY, values, strict=True))


def write(results: Row, folder: Path) -> None:
    """Append to the history, then write the page, which shows all of it."""
    history = folder / "benchmark-history.csv"
    new = not history.exists()
    with history.open("a", newline="") as file:
        writer = csv.DictWriter(file, HISTORY, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(history_row(results))
    (folder / "benchmarks.md").write_text(text(results, history))


def today() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
