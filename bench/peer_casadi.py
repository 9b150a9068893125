"""CasADi with SUNDIALS' IDAS on the index-1 form with Baumgarte's stabilisation. Setting: the tolerance."""

from __future__ import annotations

import time
from typing import Any

import casadi

from bench import andrews
from bench.protocol import Outcome, main

STABILISATION = 1e3  # 1/s: fast against the crank's 1.1e3 rad/s, slow against the steps


def matrix(rows: int, entries: andrews.Entries) -> casadi.SX:
    result = casadi.SX(rows, 7)
    for place, value in entries.items():
        result[place] = value
    return result


def prepare(setting: str) -> Any:
    q, v, a, multipliers = (casadi.SX.sym(name, size) for name, size in (("q", 7), ("v", 7), ("a", 7), ("lam", 6)))
    speeds = casadi.vertsplit(v)
    turn = andrews.turns(casadi.vertsplit(q), casadi)
    mass, jacobian = matrix(7, andrews.mass(turn)), matrix(6, andrews.closure_jacobian(turn))
    force = casadi.vertcat(*andrews.force(turn, speeds, casadi))
    bias = casadi.vertcat(*andrews.closure_bias(turn, speeds)) - 2 * STABILISATION * jacobian @ v
    bias -= STABILISATION**2 * casadi.vertcat(*andrews.closure(turn))
    motion = mass @ a + jacobian.T @ multipliers - force
    equations = {
        "x": casadi.vertcat(q, v),
        "z": casadi.vertcat(a, multipliers),
        "ode": casadi.vertcat(v, a),
        "alg": casadi.vertcat(motion, jacobian @ a - bias),
    }
    tolerance = float(setting)
    options = {
        "reltol": tolerance,
        "abstol": tolerance,
        # accelerations reach 1e5 rad/s^2 and multipliers 1e3 N: judge them by their size
        "abstolv": [tolerance] * 14 + [1e5 * tolerance] * 7 + [1e3 * tolerance] * 6,
        "max_num_steps": 1_000_000,
        "calc_ic": False,
        "init_xdot": [0.0] * 7 + list(andrews.START_ACCELERATIONS),
    }
    return casadi.integrator("andrews", "idas", equations, 0, [andrews.END], options)


def integrate(integrator: Any) -> Outcome:
    begun = time.perf_counter()
    end = integrator(x0=[*andrews.START, *[0.0] * 7], z0=[*andrews.START_ACCELERATIONS, *andrews.START_MULTIPLIERS])[
        "xf"
    ]
    seconds = time.perf_counter() - begun
    return [float(end[i]) for i in range(7)], int(integrator.stats().get("nsteps", -1)), seconds


if __name__ == "__main__":
    main("CasADi IDAS", "hand-made index 1, stabilised", prepare, integrate)
