"""From shell to prompt: `mechsim run specs/andrews.yaml`, with caches warm and cold, beside a bare import."""

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


def seconds(command: list[str], cache: str) -> float:
    environment = os.environ | {"MECHSIM_CACHE": cache}
    begun = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    return time.perf_counter() - begun


def measure(repeats: int = 9) -> dict[str, float]:
    """Medians; runs alternate, so that both see the same machine."""
    with tempfile.TemporaryDirectory() as folder:
        run = [MECHSIM, "run", "specs/andrews.yaml", "-o", f"{folder}/out.csv"]
        yardstick = [sys.executable, "-c", "import numpy, scipy.optimize"]
        cold = seconds(run, f"{folder}/cache")
        pairs = [(seconds(run, f"{folder}/cache"), seconds(yardstick, folder)) for _ in range(repeats)]
        help_text = median(seconds([MECHSIM, "--help"], folder) for _ in range(repeats))
    warm, bare = (median(column) for column in zip(*pairs, strict=True))
    result = {"cold": cold, "warm": warm, "import": bare, "bar": 1.5 * bare + 0.3, "help": help_text}
    print("  " + ", ".join(f"{key} {value:.2f} s" for key, value in result.items()), flush=True)
    return result
