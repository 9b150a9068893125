"""The peers' environment (.venv-bench) and their runs on the Andrews mechanism."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from bench.andrews import TOLERANCES
from bench.protocol import Row

ROOT = Path(__file__).parent.parent
PYTHON = ROOT / ".venv-bench" / "bin" / "python"
# Script, package it needs, repeats, settings from few digits to many.
Entry = tuple[str, str, int, tuple[str, ...]]
HEYOKA: Entry = ("bench.peer_heyoka", "heyoka", 17, TOLERANCES)
OTHERS: tuple[Entry, ...] = (
    ("bench.peer_casadi", "casadi", 7, ("1e-6", "1e-8", "1e-10", "1e-12")),
    ("bench.peer_exudyn", "exudyn", 3, ("1000", "10000", "30000")),
    ("bench.peer_scipy_dae", "scipy_dae", 3, ("5:1e-4", "5:1e-6", "7:1e-8")),
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


def run(entry: Entry, missing: list[str], scratch: str) -> list[Row]:
    """The rows of one peer; none when it is not installed. `scratch` is a folder it may keep compiled code in."""
    module, package, repeats, settings = entry
    if package in {requirement.split("==")[0] for requirement in missing}:
        return []
    command = [str(PYTHON), "-m", module, str(repeats), *settings]
    environment = os.environ | {"BENCH_SCRATCH": scratch}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        print(f"  {package} stopped: {done.stderr.strip().splitlines()[-1:]}", flush=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
