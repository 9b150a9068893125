"""A planar chain of N rods: does a step cost O(N), and does deriving cost the same for every N?"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from mechsim.engine import integrate
from mechsim.initial import assemble
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.spec import parse
from mechsim.structure import analyse

ROOT = Path(__file__).parent.parent
LENGTHS = (10, 100, 1000)
TOLERANCE = 1e-10
END = 0.5


def text(rods: int) -> str:
    """A chain of rods of 0.1 m, hung at P0 and let go from the horizontal."""
    names = ", ".join(f"P{i}P{i + 1}" for i in range(rods))
    places = "\n".join(f"    P{i}: [{i}*l, 0]" for i in range(1, rods + 1))
    return f"""Title: Chain of {rods} rods
PhysicalParams: {{l: 0.1, m: 0.1}}
Dimension: 2
PartData:
  Fixed: {{P0: []}}
  Rigids:
    ? {names}
    : {{Geom: [[l]], Dyna: [[l/2], m, m*l**2/12]}}
AppliedForces: {{Gravity: [0, -9.81]}}
ProblemData:
  t0: 0
  tend: {END}
  positions:
{places}
"""


def steps(rods: int) -> dict[str, Any]:
    """Time per step of the march, the best of five runs."""
    spec = parse(text(rods), f"chain{rods}.yaml")
    begun = time.perf_counter()
    mechanism = build(spec)
    start = assemble(mechanism, System(mechanism), spec.problem)
    structure = analyse(start.system)
    prepared = time.perf_counter() - begun
    runs = [
        integrate(start.system, structure, start, tend=END, tolerance=TOLERANCE, order=None, keep="steps").statistics
        for _ in range(5)
    ]
    per_step = min(run["seconds"] / run["steps"] for run in runs)
    row = {"rods": rods, "steps": runs[0]["steps"], "seconds_per_step": per_step}
    print(f"  {rods:5d} rods: {1e6 * row['seconds_per_step']:9.1f} us per step, {row['steps']} steps", flush=True)
    return row | {"preparing": prepared}


def exponent(rows: list[dict[str, Any]]) -> float:
    """The fitted p of seconds per step ~ N^p."""
    logs = np.log([[row["rods"], row["seconds_per_step"]] for row in rows])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


DERIVE = """
import sys, time
from mechsim.spec import parse
from mechsim.model import build
from mechsim.kernel.system import System
from bench.chain import text
mechanism = build(parse(text(int(sys.argv[1]))))
begun = time.perf_counter()
System(mechanism)
print(time.perf_counter() - begun)
"""


def deriving(rods: int, repeats: int = 3) -> float:
    """Seconds of deriving in a fresh process with an empty cache, less the same with the cache full; medians."""

    def seconds(cache: str) -> float:
        command = [sys.executable, "-c", DERIVE, str(rods)]
        environment = os.environ | {"MECHSIM_CACHE": cache}
        return float(subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True).stdout)

    cold, warm = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(seconds(cache))
            warm.append(seconds(cache))
    print(f"  {rods:5d} rods: deriving {median(cold) - median(warm):.2f} s", flush=True)
    return median(cold) - median(warm)
