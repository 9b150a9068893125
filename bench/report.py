"""docs/benchmarks.md and docs/benchmark-history.csv, written from the measured numbers only."""

from __future__ import annotations

import csv
import datetime
import os
import platform
from pathlib import Path
from typing import Any

Row = dict[str, Any]
HISTORY = ("date", "commit", "machine", "mechsim_1e-14_ms", "mechsim_1e-14_digits", "heyoka_ms", "ratio",
           "warm_s", "bar_s", "cold_s", "chain_exponent", "derive_10_s", "derive_1000_s")  # fmt: skip


def machine() -> str:
    """Processor and cores: what a reader needs to judge the times."""
    name = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = [line for line in information.read_text().splitlines() if line.startswith("model name")]
        name = lines[0].split(":", 1)[1].strip() if lines else name
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"


def heyoka_time(rows: list[Row], digits: float) -> float | None:
    """heyoka's fastest run of this session that has at least these digits, or its most accurate one."""
    mine = [row for row in rows if row["peer"] == "heyoka"]
    if not mine:
        return None
    enough = [row["seconds"] for row in mine if row["digits"] >= digits]
    return min(enough) if enough else max(mine, key=lambda row: row["digits"])["seconds"]


def ratio(row: Row, rows: list[Row]) -> str:
    yardstick = heyoka_time(rows, row["digits"])
    return f"{row['seconds'] / yardstick:.1f}" if yardstick else "-"


BAR_DIGITS = 12.0  # the bar compares runs that have at least these


def bar(rows: list[Row]) -> tuple[Row, Row | None]:
    """Our run at 1e-14, and heyoka's fastest of this session with BAR_DIGITS digits or more."""
    best = next(row for row in rows if row["peer"] == "mechsim" and float(row["setting"]) < 2e-14)
    able = [row for row in rows if row["peer"] == "heyoka" and row["digits"] >= BAR_DIGITS]
    return best, min(able, key=lambda row: row["seconds"]) if able else None


def bar_line(rows: list[Row]) -> str:
    best, yardstick = bar(rows)
    ours = f"At tol 1e-14 mechsim has {best['digits']:.1f} digits in {1e3 * best['seconds']:.2f} ms"
    if yardstick is None:
        return ours + "; heyoka did not run."
    times, fastest = (best[key] / yardstick[key] for key in ("seconds", "fastest"))
    return (
        f"{ours}, {times:.1f} times heyoka's fastest run with {BAR_DIGITS:.0f} digits or more "
        f"({1e3 * yardstick['seconds']:.2f} ms, {yardstick['digits']:.1f} digits); by fastest runs {fastest:.1f}. "
        "The bar is 3, the aim 1."
    )


def digits_table(rows: list[Row]) -> list[str]:
    lines = ["| code | equations | setting | digits | ms | fastest, ms | steps | x heyoka | getting ready, s |",
             "|---|---|---|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    for row in rows:
        fastest = f"{1e3 * row['fastest']:.3f}" if "fastest" in row else ""
        ready = f"{row['preparing']:.3f}" if row.get("preparing") else ""
        lines.append(
            f"| {row['peer']} | {row['form']} | {row['setting']} | {row['digits']:.2f} | {1e3 * row['seconds']:.3f} "
            f"| {fastest} | {row['steps'] or ''} | {ratio(row, rows)} | {ready} |"
        )
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


def startup_section(startup: Row) -> list[str]:
    return [
        "| what | s | bar, s |",
        "|---|---:|---:|",
        f"| `mechsim run specs/andrews.yaml`, caches warm | {startup['warm']:.2f} | {startup['bar']:.2f} |",
        f"| the same, cache of derived programs empty | {startup['cold']:.2f} | 6 |",
        f'| `python -c "import numpy, scipy.optimize"` | {startup["import"]:.2f} | |',
        f"| `mechsim --help` | {startup['help']:.2f} | |",
    ]


def text(results: Row) -> str:
    skipped = ", ".join(results["skipped"]) or "none"
    return "\n".join(
        [
            "# Benchmarks",
            "",
            f"Written by `make bench` on {results['date']}; {results['machine']}; commit {results['commit']}. "
            f"Peers that could not be installed: {skipped}.",
            "",
            "## Andrews squeezing mechanism, t = 0.03: time against digits",
            "",
            "Digits are significant correct digits of the seven angles against a 30-digit reference. Times are medians "
            "of many runs in one session (mechsim and heyoka in turn), of the integration alone; getting ready is "
            "what a code does once per mechanism before it (heyoka compiles, mechsim lays out its plan). "
            "`x heyoka` divides by heyoka's fastest run here with at least as many digits (else its most "
            "accurate). heyoka is given an ODE of eight states reduced by hand and compiled for it; mechsim reads the "
            "mechanism file. RADAU5's rows are published figures (Fortran, hand-coded), not measured in this run.",
            "",
            bar_line(results["andrews"]),
            "",
            "![time against digits](bench-time-digits.png)",
            "",
            *digits_table(results["andrews"]),
            "",
            "## From shell to prompt",
            "",
            *startup_section(results["startup"]),
            "",
            "## A chain of N rods",
            "",
            *chain_section(results["chain"]),
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
    values = [results["date"], results["commit"], results["machine"], f"{1e3 * best['seconds']:.3f}", best["digits"]]
    if yardstick:
        values += [f"{1e3 * yardstick['seconds']:.3f}", f"{best['seconds'] / yardstick['seconds']:.2f}"]
    else:
        values += ["", ""]
    values += [f"{startup[key]:.3f}" for key in ("warm", "bar", "cold")]
    values += [f"{chain['exponent']:.3f}", *(f"{chain['deriving'][n]:.3f}" for n in ("10", "1000"))]
    return dict(zip(HISTORY, values, strict=True))


def write(results: Row, folder: Path) -> None:
    (folder / "benchmarks.md").write_text(text(results))
    history = folder / "benchmark-history.csv"
    new = not history.exists()
    with history.open("a", newline="") as file:
        writer = csv.DictWriter(file, HISTORY)
        if new:
            writer.writeheader()
        writer.writerow(history_row(results))


def today() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
