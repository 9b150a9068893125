"""heyoka on motions with impacts: equations in minimal coordinates, terminal events, impact maps and modes by hand.

Impacts are callbacks of a terminal event; contact that lasts is a second ODE, with one that ends where its load does.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import heyoka
import numpy as np

from bench import impact_problems as problems
from bench.impact_problems import Barrier

Vector = list[float]
# A bounce that would rise less than this stays in contact. mechsim goes to 1e-15; heyoka misses events that follow each
# other so closely, and falls through the barrier.
RISE = 1e-12
STILL = 1e-12  # a gap that closes more slowly was left a moment ago


def ball(tolerance: float) -> Callable[[], list[float]]:
    y, v = heyoka.make_vars("y", "v")
    times: list[float] = []

    def bounce(ta: Any, sign: int) -> bool:
        ta.state[1] = -ta.state[1]
        times.append(float(ta.time))
        return len(times) < problems.BOUNCES

    event = heyoka.t_event(y, callback=bounce, direction=heyoka.event_direction.negative)
    ta = heyoka.taylor_adaptive([(y, v), (v, heyoka.expression(-problems.GRAVITY))], [1.0, 1.0], tol=tolerance, t_events=[event])

    def run() -> list[float]:
        times.clear()
        ta.time, ta.state[:] = 0.0, [1.0, 1.0]
        ta.reset_cooldowns()
        ta.propagate_until(1e9)
        return list(times)

    return run


def pendulum(tolerance: float) -> Callable[[], list[float]]:
    """From the horizontal against a wall below its pivot."""
    x, v = heyoka.make_vars("x", "v")
    times: list[float] = []

    def bounce(ta: Any, sign: int) -> bool:
        ta.state[1] = -ta.state[1]
        times.append(float(ta.time))
        return len(times) < problems.BOUNCES

    event = heyoka.t_event(x, callback=bounce, direction=heyoka.event_direction.negative)
    equations = [(x, v), (v, -problems.GRAVITY * heyoka.sin(x))]
    ta = heyoka.taylor_adaptive(equations, [math.pi / 2, 0.0], tol=tolerance, t_events=[event])

    def run() -> list[float]:
        times.clear()
        ta.time, ta.state[:] = 0.0, [math.pi / 2, 0.0]
        ta.reset_cooldowns()
        ta.propagate_until(1e9)
        return list(times)

    return run


MASS = ((1.0, 9 / 14, 3 / 14), (9 / 14, 4 / 7, 3 / 14), (3 / 14, 3 / 14, 1 / 7))
WEIGHT = (1.0, 3 / 5, 1 / 5)


def solved(m: Any, *rights: Any) -> list[list[Any]]:
    """M x = b for a symmetric M of three, for each b, in numbers or expressions."""
    l1, l2 = m[0][1] / m[0][0], m[0][2] / m[0][0]
    d1 = m[1][1] - l1 * m[0][1]
    e = m[1][2] - l1 * m[0][2]
    l3 = e / d1
    d2 = m[2][2] - l2 * m[0][2] - l3 * e
    found = []
    for b in rights:
        b1 = b[1] - l1 * b[0]
        x2 = (b[2] - l2 * b[0] - l3 * b1) / d2
        x1 = b1 / d1 - l3 * x2
        found.append([b[0] / m[0][0] - l1 * x1 - l2 * x2, x1, x2])
    return found


def parts(p: Any, w: Any, torque: Any, c: float, sin: Any, cos: Any) -> tuple[list[list[Any]], list[Any]]:
    """Mass matrix and forces, seed 003 eq (8)."""
    mass = [[MASS[i][j] * cos(p[i] - p[j]) if i != j else MASS[i][i] for j in range(3)] for i in range(3)]
    force = [
        torque - c * (2.0 * w[0] - w[1]) - sin(p[0]),
        -c * (2.0 * w[1] - w[0] - w[2]) - WEIGHT[1] * sin(p[1]),
        -c * (w[2] - w[1]) - WEIGHT[2] * sin(p[2]),
    ]
    for i in range(3):
        for j in range(3):
            if i != j:
                force[i] = force[i] - MASS[i][j] * sin(p[i] - p[j]) * w[j] * w[j]
    return mass, force


class Pendulum:
    """The triple pendulum with its barrier, in two modes."""

    def __init__(self, problem: Barrier, tolerance: float):
        self.problem = problem
        p, w = heyoka.make_vars("p0", "p1", "p2"), heyoka.make_vars("w0", "w1", "w2")
        torque = problem.q * heyoka.cos(problem.w * heyoka.time)
        mass, force = parts(p, w, torque, problem.c, heyoka.sin, heyoka.cos)
        pull = [heyoka.sin(each) for each in p]
        free, answer = solved(mass, force, pull)
        bent = heyoka.sum([heyoka.cos(p[i]) * w[i] * w[i] for i in range(3)])
        load = -(bent + heyoka.sum([pull[i] * free[i] for i in range(3)]))
        load = load / heyoka.sum([pull[i] * answer[i] for i in range(3)])
        held = [free[i] + answer[i] * load for i in range(3)]
        gap = problem.eta - heyoka.sum([heyoka.cos(each) for each in p])
        down = heyoka.event_direction.negative
        start = [*problem.psi, 0.0, 0.0, 0.0]
        rates = list(zip(p, w, strict=True))
        # heyoka copies what it is given, but not functions.
        meets = heyoka.t_event(gap, callback=lambda ta, sign: self.strike(ta), direction=down)
        leaves = heyoka.t_event(load, direction=down)
        options = {"tol": tolerance, "compact_mode": False}
        self.free = heyoka.taylor_adaptive(rates + list(zip(w, free, strict=True)), start, t_events=[meets], **options)
        self.held = heyoka.taylor_adaptive(rates + list(zip(w, held, strict=True)), start, t_events=[leaves], **options)
        self.start = start
        self.times: list[float] = []
        self.contacts: list[tuple[float, float]] = []
        self.steps = 0

    def strike(self, ta: Any) -> bool:
        """Newton's law; False where the gap stays closed from here on."""
        problem, (*p, w0, w1, w2) = self.problem, ta.state.tolist()
        w = [w0, w1, w2]
        pull = [math.sin(each) for each in p]
        rate = pull[0] * w0 + pull[1] * w1 + pull[2] * w2
        if rate >= -STILL:
            return True
        mass, _ = parts(p, w, 0.0, problem.c, math.sin, math.cos)
        (answer,) = solved(mass, pull)
        once = -rate / (pull[0] * answer[0] + pull[1] * answer[1] + pull[2] * answer[2])
        self.times.append(float(ta.time))
        settled = [w[i] + answer[i] * once for i in range(3)]
        lift = self.lift(p, settled, ta.time)
        if lift < 0 and (problem.e * rate) ** 2 <= -2 * lift * RISE:
            ta.state[3:] = settled
            return False
        ta.state[3:] = [w[i] + answer[i] * once * (1 + problem.e) for i in range(3)]
        return True

    def lift(self, p: Vector, w: Vector, t: float) -> float:
        """The second derivative of the open gap."""
        problem = self.problem
        mass, force = parts(p, w, problem.q * math.cos(problem.w * t), problem.c, math.sin, math.cos)
        (free,) = solved(mass, force)
        return sum(math.cos(p[i]) * w[i] * w[i] + math.sin(p[i]) * free[i] for i in range(3))

    def run(self, tend: float) -> tuple[list[float], list[tuple[float, float]]]:
        self.times, self.contacts, self.steps = [], [], 0
        self.free.time, self.free.state[:] = 0.0, self.start
        self.free.reset_cooldowns()
        while True:
            outcome, _, _, steps, *_ = self.free.propagate_until(tend)
            self.steps += steps
            if outcome == heyoka.taylor_outcome.time_limit:
                break
            begun = float(self.free.time)
            self.held.time, self.held.state[:] = begun, self.free.state
            self.held.reset_cooldowns()
            outcome, _, _, steps, *_ = self.held.propagate_until(tend)
            self.steps += steps
            self.contacts.append((begun, float(self.held.time)))
            if outcome == heyoka.taylor_outcome.time_limit:
                break
            self.free.time, self.free.state[:] = self.held.time, self.held.state
            self.free.reset_cooldowns()
        return self.times, self.contacts


if __name__ == "__main__":
    for problem in problems.BARRIERS:
        pendulum = Pendulum(problem, 1e-15)
        t = time.perf_counter()
        times, contacts = pendulum.run(problem.tend * 0.1)
        print(problem.figure, len(times), len(contacts), pendulum.steps, time.perf_counter() - t)
