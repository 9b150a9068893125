"""heyoka on many pendulums: its batch integrator, compiled for hand-made ODEs, one group of lanes after another."""

from __future__ import annotations

import os
from collections.abc import Callable

import heyoka
import numpy as np

from bench.pendulums import END, main, rates


def prepare(problem: str, tolerance: float) -> Callable[[np.ndarray], np.ndarray]:
    heyoka.llvm_state.set_diskcache_path(os.environ["BENCH_SCRATCH"])
    names = ("a", "u") if problem == "pendulum" else ("a", "b", "u", "v")
    states = heyoka.make_vars(*names)
    lanes = heyoka.recommended_simd_size()
    equations = list(zip(states, rates(problem, states, heyoka), strict=True))
    batch = heyoka.taylor_adaptive_batch(equations, np.zeros((len(names), lanes)), tol=tolerance)

    def run(starts: np.ndarray) -> np.ndarray:
        ends = np.empty_like(starts)
        for first in range(0, len(starts), lanes):
            batch.set_time(0.0)
            batch.state[:] = starts[first : first + lanes].T
            batch.propagate_until(END)
            ends[first : first + lanes] = batch.state.T
        return ends

    return run


if __name__ == "__main__":
    main("heyoka batch", "hand-made ODE, compiled", prepare)
