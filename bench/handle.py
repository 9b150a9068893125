"""Many motions through one handle: what a motion costs beside its steps, and what a call of a component costs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

import mechsim

ROOT = Path(__file__).parent.parent
RUNS = 1000
CALLS = 2000
SWING = """
Inputs: {tau: 0}
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 2, 1/6]}}}
AppliedForces: {Gravity: , Torques: {OA: tau}}
ProblemData: {tend: 3, positions: {A: [0.6, -0.8]}}
"""


def andrews(runs: int = RUNS) -> dict[str, float]:
    """Andrews at 1e-10 with other torques and springs: mean wall time of a run, and its kernel time. The bar is 2."""
    handle = mechsim.mechanism(ROOT / "specs" / "andrews.yaml")
    generator = np.random.default_rng(1)
    factors = 1 + 0.1 * generator.standard_normal((runs, 2))
    own = handle.parameters
    wanted = [{"mom": own["mom"] * one, "c0": own["c0"] * other} for one, other in factors]
    handle.simulate(parameters=wanted[0], tol=1e-10)
    kernel, begun = 0.0, time.perf_counter()
    for parameters in wanted:
        kernel += handle.simulate(parameters=parameters, tol=1e-10).solution.statistics["seconds"]
    wall = time.perf_counter() - begun
    return {"runs": runs, "wall_ms": 1e3 * wall / runs, "kernel_ms": 1e3 * kernel / runs, "ratio": wall / kernel}


def component() -> dict[str, float]:
    """A swing whose torque is set before each call, a thousand calls a second of its time."""
    sim = mechsim.mechanism(SWING).begin(tol=1e-10)
    begun = time.perf_counter()
    for call in range(CALLS):
        sim.inputs["tau"] = float(np.sin(0.01 * call))
        sim.advance(to=0.001 * (call + 1))
    return {"call_us": 1e6 * (time.perf_counter() - begun) / CALLS}


def measure() -> dict[str, Any]:
    result = {**andrews(), **component()}
    print("  " + ", ".join(f"{key} {value:.4g}" for key, value in result.items()), flush=True)
    return result


def section(found: dict[str, Any]) -> list[str]:
    return [
        f"{found['runs']:.0f} Andrews runs at 1e-10 with other `mom` and `c0` through one handle, one core: "
        f"{found['wall_ms']:.2f} ms a run, {found['kernel_ms']:.2f} ms of it in the kernel, ratio {found['ratio']:.2f} "
        f"(bar: 2). A call of a component whose input is set before each: {found['call_us']:.0f} us.",
    ]


if __name__ == "__main__":
    measure()
