"""heyoka on Lyapunov exponents: variational equations that it derives from ODEs made by hand, QR by NumPy.

`repeats problem/tolerance ...`: one JSON line for each, as the other peers.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import heyoka
import numpy as np

from bench import exponent_problems as problems


def equations(problem: str) -> tuple[list[Any], list[float], float]:
    """The ODE, where it starts, and how long tangents are followed between two QR decompositions."""
    if problem == problems.DRIVEN:
        angle, rate = heyoka.make_vars("angle", "rate")
        pull = -0.05 * rate - heyoka.sin(angle) + 0.6 * heyoka.sin(0.7 * heyoka.time)
        return [(angle, rate), (rate, pull)], [0.0, 0.0], 2.0
    a, b, u, v = heyoka.make_vars("a", "b", "u", "v")
    c, s, g = heyoka.cos(a - b), heyoka.sin(a - b), problems.GRAVITY
    first, second = -s * v * v - 2 * g * heyoka.sin(a), s * u * u - g * heyoka.sin(b)
    below = 2.0 - c * c
    rates = [u, v, (first - c * second) / below, (2.0 * second - c * first) / below]
    return list(zip([a, b, u, v], rates, strict=True)), list(problems.DOUBLE_START), 1.0


def prepare(problem: str, tolerance: float) -> Any:
    system, start, stretch = equations(problem)
    size, count = len(start), int(problems.TIME / stretch)
    varied = heyoka.var_ode_sys(system, heyoka.var_args.vars, order=1)
    integrator = heyoka.taylor_adaptive(varied, [*start, *np.eye(size).ravel()], tol=tolerance, compact_mode=True)

    def run() -> tuple[list[float], int]:
        integrator.time = 0.0
        integrator.state[:size], integrator.state[size:] = start, np.eye(size).ravel()
        total, steps = np.zeros(size), 0
        for number in range(count):
            steps += integrator.propagate_until((number + 1) * stretch)[3]
            q, r = np.linalg.qr(integrator.state[size:].reshape(size, size))
            integrator.state[size:] = q.ravel()
            total += np.log(np.abs(np.diag(r)))
        return (total / problems.TIME).tolist(), steps

    return run


def main() -> None:
    repeats, *asked = sys.argv[1:]
    for problem, setting in (each.split("/", 1) for each in asked):
        begun = time.perf_counter()
        run = prepare(problem, float(setting))
        preparing, times = time.perf_counter() - begun, []
        for _ in range(int(repeats)):
            before = time.process_time()
            values, steps = run()
            times.append(time.process_time() - before)
        row = {"peer": "heyoka", "problem": problem, "setting": setting, "preparing": preparing, "times": times}
        print(json.dumps(row | {"values": values, "steps": steps}), flush=True)


if __name__ == "__main__":
    main()
