"""The peers' environment (.venv-bench) and their runs on the Andrews mechanism."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PYTHON = ROOT / ".venv-bench" / "bin" / "python"
# Script, package it needs, repeats, settings from few digits to many.
RUNS: tuple[tuple[str, str, int, tuple[str, ...]], ...] = (
    ("bench.peer_heyoka", "heyoka", 51, ("1e-4", "1e-6", "1e-8", "1e-10", "1e-12", "1e-14")),
    ("bench.peer_casadi", "casadi", 7, ("1e-6", "1e-8", "1e-10", "1e-12")),
    ("bench.peer_exudyn", "exudyn", 3, ("1000", "10000", "30000")),
    ("bench.peer_scipy_dae", "scipy_dae", 1, ("5:1e-4", "5:1e-6", "7:1e-8")),
)


def _requirements() -> list[str]:
    lines = (Path(__file__).parent / "requirements.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def prepare() -> list[str]:
    """Make the environment if it is missing; returns the requirements that could not be installed."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PYTHON.parent.parent)], check=True)
    pip = [str(PYTHON), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    missing = []
    for requirement in _requirements():
        done = subprocess.run([*pip, requirement], capture_output=True, text=True)
        if done.returncode:
            reason = done.stderr.strip().splitlines()
            print(f"  skipped {requirement}: {reason[-1] if reason else 'pip failed'}", flush=True)
            missing.append(requirement)
    return missing


def run(missing: list[str]) -> list[dict[str, Any]]:
    """One row per peer and setting, in the order of RUNS."""
    absent = {requirement.split("==")[0] for requirement in missing}
    rows: list[dict[str, Any]] = []
    for module, package, repeats, settings in RUNS:
        if package in absent:
            continue
        command = [str(PYTHON), "-m", module, str(repeats), *settings]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        rows += found
        if done.returncode:
            print(f"  {package} stopped: {done.stderr.strip().splitlines()[-1:]}", flush=True)
        for row in found:
            print(
                f"  {row['peer']:16s} {row['setting']:>8s} {row['digits']:6.2f} digits {1e3 * row['seconds']:9.3f} ms"
            )
    return rows
