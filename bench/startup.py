"""From shell to prompt: commands on `specs/andrews.yaml`, with caches warm and cold, beside a bare import."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
MECHSIM = str(Path(sys.executable).parent / "mechsim")


BARS = {"run": 0.8, "check": 0.8, "assemble": 0.8}  # of the bare import
PLOT_BAR = 1.5  # s


def seconds(command: list[str], cache: str) -> float:
    # Bytecode is kept, as wherever mechsim is installed.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    begun = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=environment | {"MECHSIM_CACHE": cache}, capture_output=True, check=True)
    return time.perf_counter() - begun


def measure(repeats: int = 9) -> dict[str, float]:
    """Medians; runs alternate, so that all see the same machine."""
    with tempfile.TemporaryDirectory() as folder:
        table = f"{folder}/out.csv"
        commands = {
            "run": [MECHSIM, "run", "specs/andrews.yaml", "-o", table],
            "check": [MECHSIM, "check", "specs/andrews.yaml"],
            "assemble": [MECHSIM, "assemble", "specs/andrews.yaml"],
            "plot": [MECHSIM, "plot", table, "-o", f"{folder}/out.png"],
            "help": [MECHSIM, "--help"],
            "import": [sys.executable, "-c", "import numpy, scipy.optimize"],
        }
        first, *times = [
            {name: seconds(command, f"{folder}/cache") for name, command in commands.items()}
            for _ in range(1 + repeats)
        ]
    result = {"cold": first["run"], **{name: median(each[name] for each in times) for name in commands}}
    ratios = ", ".join(f"{name} {result[name] / result['import']:.2f} (bar {bar})" for name, bar in BARS.items())
    print("  " + ", ".join(f"{key} {value:.2f} s" for key, value in result.items()), flush=True)
    print(f"  of the bare import: {ratios}; plot {result['plot']:.2f} s (bar {PLOT_BAR})", flush=True)
    return result
