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

Vector = list[Any]
Found = tuple[list[float], int, int]  # times of impacts, contacts that lasted, steps
RISE = 1e-15  # a bounce that would rise less than this stays in contact, as the kernel of mechsim has it
# After an event heyoka looks for no other one for a time that it finds from the event's slope. That is too long where
# bounces die out, and very long after a release: then it falls through the barrier. So the time is given.
BLIND = 1e-9
STILL = 1e-12  # a gap that closes more slowly was left a moment ago


def bouncing(problem: str, tolerance: float) -> Callable[[], Found]:
    """The ball, or the pendulum that falls from the horizontal against a wall below its pivot."""
    x, v = heyoka.make_vars("x", "v")
    pull = heyoka.sin(x) if problem == problems.PENDULUM else heyoka.expression(1.0)
    start = [math.pi / 2, 0.0] if problem == problems.PENDULUM else [1.0, 1.0]
    times: list[float] = []

    def bounce(ta: Any, sign: int) -> bool:
        ta.state[1] = -ta.state[1]
        times.append(float(ta.time))
        return len(times) < problems.BOUNCES

    event = heyoka.t_event(x, callback=bounce, direction=heyoka.event_direction.negative)
    equations = [(x, v), (v, -problems.GRAVITY * pull)]
    ta = heyoka.taylor_adaptive(equations, start, tol=tolerance, t_events=[event])

    def run() -> Found:
        times.clear()
        ta.time, ta.state[:] = 0.0, start
        ta.reset_cooldowns()
        steps = ta.propagate_until(1e9, max_delta_t=10.0)[3]  # its steps on a parabola have no end
        return list(times), 0, steps

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
    """The triple pendulum with its barrier, in two modes; `kind` is the type of its numbers."""

    def __init__(self, problem: Barrier, tolerance: float, kind: Any = float):
        self.problem, self.sin, self.cos = problem, *((math.sin, math.cos) if kind is float else (np.sin, np.cos))
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
        blind = kind(BLIND)
        # heyoka copies what it is given, but not functions.
        meets = heyoka.t_event(
            gap, callback=lambda ta, sign: self.strike(ta), direction=down, cooldown=blind, fp_type=kind
        )
        leaves = heyoka.t_event(load, direction=down, cooldown=blind, fp_type=kind)
        self.start = np.array([*problem.psi, 0.0, 0.0, 0.0], dtype=kind)
        rates, options = (
            list(zip(p, w, strict=True)),
            {"tol": kind(tolerance), "fp_type": kind, "compact_mode": kind is not float},
        )
        self.free, self.held = (
            heyoka.taylor_adaptive([*rates, *zip(w, turning, strict=True)], self.start, t_events=[event], **options)
            for turning, event in ((free, meets), (held, leaves))
        )
        self.times: list[Any] = []

    def strike(self, ta: Any) -> bool:
        """Newton's law; False where the gap stays closed from here on."""
        problem, (*p, w0, w1, w2) = self.problem, ta.state.tolist()
        w = [w0, w1, w2]
        pull = [self.sin(each) for each in p]
        rate = pull[0] * w0 + pull[1] * w1 + pull[2] * w2
        if rate >= -STILL:
            return True
        mass, _ = parts(p, w, 0.0, problem.c, self.sin, self.cos)
        (answer,) = solved(mass, pull)
        once = -rate / (pull[0] * answer[0] + pull[1] * answer[1] + pull[2] * answer[2])
        self.times.append(ta.time)
        settled = [w[i] + answer[i] * once for i in range(3)]
        lift = self.lift(p, settled, ta.time)
        if lift < 0 and (problem.e * rate) ** 2 <= -2 * lift * RISE:
            ta.state[3:] = settled
            return False
        ta.state[3:] = [w[i] + answer[i] * once * (1 + problem.e) for i in range(3)]
        return True

    def lift(self, p: Vector, w: Vector, t: Any) -> Any:
        """The second derivative of the open gap."""
        problem = self.problem
        mass, force = parts(p, w, problem.q * self.cos(problem.w * t), problem.c, self.sin, self.cos)
        (free,) = solved(mass, force)
        return sum(self.cos(p[i]) * w[i] * w[i] + self.sin(p[i]) * free[i] for i in range(3))

    def run(self, tend: float) -> Found:
        self.times, contacts, total = [], 0, 0
        now, other = self.free, self.held
        now.time, now.state[:] = self.start[3], self.start  # at rest
        now.reset_cooldowns()
        while True:
            outcome, _, _, steps, *_ = now.propagate_until(tend)
            total += steps
            if outcome == heyoka.taylor_outcome.time_limit:
                return self.times, contacts, total
            contacts += now is self.free
            other.time, other.state[:] = now.time, now.state
            other.reset_cooldowns()
            now, other = other, now


def prepared(name: str, tolerance: float) -> Callable[[], Found]:
    if name in (problems.BALL, problems.PENDULUM):
        return bouncing(name, tolerance)
    problem = next(each for each in problems.BARRIERS if each.figure == name)
    pendulum = Pendulum(problem, tolerance)
    return lambda: pendulum.run(problem.tend)


def write_reference() -> None:
    """The first impacts of each figure in extended precision."""
    found = {}
    for problem in problems.BARRIERS:
        pendulum, until, times = Pendulum(problem, 1e-19, np.longdouble), 0.0, list[Any]()
        while len(times) < problems.COMPARED:
            until += 0.5
            times, *_ = pendulum.run(np.longdouble(until))
        found[problem.figure] = [
            np.format_float_positional(t, 19, fractional=False) for t in times[: problems.COMPARED]
        ]
    problems.REFERENCE.write_text(json.dumps(found, indent=1) + "\n")


def main() -> None:
    repeats, *settings = sys.argv[1:]
    heyoka.set_logger_level_error()  # where a gap is left it warns of roots it cannot isolate
    for each in settings:
        name, setting = each.split("/")
        begun = time.perf_counter()
        run = prepared(name, float(setting))
        preparing, runs = time.perf_counter() - begun, []
        for _ in range(int(repeats)):
            begun = time.process_time()  # as ours is timed
            times, contacts, steps = run()
            runs.append(time.process_time() - begun)
        row = {"peer": "heyoka", "problem": name, "setting": setting, "digits": problems.digits(name, times)}
        row |= {"impacts": len(times), "contacts": contacts, "steps": steps, "preparing": preparing, "times": runs}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
