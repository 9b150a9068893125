"""heyoka (Taylor series, compiled by LLVM) on the hand-reduced ODE. Setting: the tolerance."""

from __future__ import annotations

import os
import time

import heyoka

from bench.andrews import ANGLES, END, START, reduced
from bench.protocol import Outcome, main


def prepare(setting: str) -> heyoka.taylor_adaptive:
    # A folder of this session: the first round shows what compiling costs, later ones need not wait for it.
    heyoka.llvm_state.set_diskcache_path(os.environ["BENCH_SCRATCH"])
    states = heyoka.make_vars(*ANGLES, "speed")
    right = reduced(states[:7], states[7], heyoka)
    return heyoka.taylor_adaptive(list(zip(states, right, strict=True)), [*START, 0.0], tol=float(setting))


def integrate(integrator: heyoka.taylor_adaptive) -> Outcome:
    integrator.time = 0.0
    integrator.state[:] = [*START, 0.0]
    begun = time.perf_counter()
    steps = integrator.propagate_until(END)[3]
    return list(integrator.state[:7]), steps, time.perf_counter() - begun


if __name__ == "__main__":
    main("heyoka", "hand-reduced ODE, compiled", prepare, integrate)
