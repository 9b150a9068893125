"""Lyapunov exponents beside heyoka's variational equations, and those of longer chains and of motions with impacts."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable
from statistics import median
from time import process_time

import jax.numpy as jnp

import mechsim
from bench import exponent_problems as problems
from bench import impact_problems, peers
from bench.exponent_problems import DOUBLE, DRIVEN, GRAVITY, TIME
from bench.protocol import Row
from mechsim.analysis.exponents import Exponents

TOLERANCE = "1e-9"
ROUNDS, REPEATS, PERIODS = 3, 1, 1000
HEYOKA = ("bench.peer_exponents_heyoka", "heyoka", REPEATS, tuple(f"{each}/{TOLERANCE}" for each in (DRIVEN, DOUBLE)))
LONG = 60.0  # bar, s: six pendulums to T = 1e4, and each motion with a barrier over 1e3 periods


def driven_text() -> str:
    """A rod without mass and a ball of 1 kg, in a field of 1 m/s^2 along the rod's first direction: the peer's
    equation."""
    return """
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[1], 1, 0]}}}
AppliedForces: {Gravity: [1, 0], Torques: {OA: 0.6*sin(0.7*t)}, JointDampers: {OA: 0.05}}
ProblemData: {tend: 1, angles: {OA: [0, fixed]}}
"""


def chain_text(angles: list[float]) -> str:
    """Balls of 1 kg on rods of 1 m without mass."""
    points = "ABCDEF"[: len(angles)]
    x = y = 0.0
    places = []
    for point, angle in zip(points, angles, strict=True):
        x, y = x + math.sin(angle), y - math.cos(angle)
        places.append(f"{point}: [[{x!r}, fixed], {y!r}]")
    rods = ", ".join(f"{a}{b}: 1" for a, b in zip("O" + points, points, strict=False))
    balls = ", ".join(f"{point}: 1" for point in points)
    return f"""
PartData: {{Fixed: {{O: []}}, Rods: {{{rods}}}, Particles: {{{balls}}}}}
AppliedForces: {{Gravity: [0, -{GRAVITY}]}}
ProblemData: {{tend: 1, positions: {{{", ".join(places)}}}}}
"""


def _driven() -> Callable[[], Exponents]:
    system = mechsim.lagrangian_system(
        lambda q, v, t: v[0] ** 2 / 2 + jnp.cos(q[0]),
        ["angle"],
        forces=lambda q, v, t: [-0.05 * v[0] + 0.6 * jnp.sin(0.7 * t)],
    )
    return lambda: system.lyapunov({"angle": 0.0}, tend=TIME, scales={"angle": 1.0})


def _double() -> Callable[[], Exponents]:
    def lagrangian(q, v, t):
        across, up = v[0] * jnp.cos(q[0]), v[0] * jnp.sin(q[0])
        more = (across + v[1] * jnp.cos(q[1])) ** 2 + (up + v[1] * jnp.sin(q[1])) ** 2
        return (across**2 + up**2 + more) / 2 + GRAVITY * (2 * jnp.cos(q[0]) + jnp.cos(q[1]))

    system = mechsim.lagrangian_system(lagrangian, ["a", "b"])
    start = dict(zip("ab", problems.DOUBLE_START[:2], strict=True))
    return lambda: system.lyapunov(start, tend=TIME, scales={"a": 1.0, "b": 1.0})


def _file(text: str, tend: float, transient: float = 0.0) -> Callable[[], Exponents]:
    handle = mechsim.mechanism(text)
    return lambda: handle.lyapunov(tend=tend, transient=transient)


def _runs() -> dict[tuple[str, str], Callable[[], Exponents]]:
    """By problem and form."""
    return {
        (DRIVEN, "Lagrangian"): _driven(),
        (DRIVEN, "file"): _file(driven_text(), TIME),
        (DOUBLE, "Lagrangian"): _double(),
        (DOUBLE, "file"): _file(chain_text(list(problems.DOUBLE_START[:2])), TIME),
    }


def _long_runs() -> dict[str, Callable[[], Exponents]]:
    runs = {"six pendulums": _file(chain_text([math.radians(75.0), *[0.0] * 5]), TIME)}
    for each in impact_problems.BARRIERS:
        text = (impact_problems.SPECS / each.file).read_text()
        runs[f"figure {each.figure}"] = _file(text, each.tend * PERIODS / impact_problems.PERIODS)
    return runs


def timed(run: Callable[[], Exponents]) -> Row:
    begun = process_time()
    found = run()
    taken = process_time() - begun
    steps = int(found.statistics["steps"])
    return {"times": [taken], "values": found.values.tolist(), "errors": found.errors.tolist(), "steps": steps}


def measure(skipped: list[str]) -> Row:
    """Ours and heyoka in turn."""
    before, merged = os.getloadavg()[0], dict[tuple[str, str], Row]()
    runs = _runs()
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(ROUNDS):
            rows = [{"problem": problem, "form": form} | timed(run) for (problem, form), run in runs.items()]
            for row in [*rows, *(row | {"form": "heyoka"} for row in peers.run(HEYOKA, skipped, scratch))]:
                first = merged.setdefault((row["problem"], row["form"]), row | {"times": []})
                first["times"] = first["times"] + row["times"]
    for row in merged.values():
        row |= {"seconds": median(row["times"]), "fastest": min(row["times"])}
    long = [{"problem": name} | timed(run) for name, run in _long_runs().items()]
    return {"rows": list(merged.values()), "long": long, "load": [before, os.getloadavg()[0]]}


def section(measured: Row) -> list[str]:
    """A part of docs/benchmarks.md."""
    lines = [
        "| problem | form | exponents / s | steps | s | fastest | x heyoka | fastest |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    peer = {row["problem"]: row for row in measured["rows"] if row["form"] == "heyoka"}
    for row in measured["rows"]:
        other = peer.get(row["problem"])
        ratios = [f"{row[key] / other[key]:.2f}" if other else "-" for key in ("seconds", "fastest")]
        values = ", ".join(f"{value:.3f}" for value in row["values"])
        shown = f"| {row['problem']} | {row['form']} | {values} | {row['steps']} | {row['seconds']:.2f} "
        lines.append(shown + f"| {row['fastest']:.2f} | {' | '.join(ratios)} |")
    more = ["| problem | exponents / s | steps | s |", "|---|---|---:|---:|"]
    for row in measured["long"]:
        values = ", ".join("-∞" if value == -math.inf else f"{value:.3f}" for value in row["values"])
        more.append(f"| {row['problem']} | {values} | {row['steps']} | {row['times'][0]:.1f} |")
    load = ", ".join(f"{each:.1f}" for each in measured["load"])
    return [
        f"All exponents, T = {TIME:.0e}, tolerance {TOLERANCE}; processor times, ours and heyoka's in turn. heyoka "
        "derives variational equations from ODEs in angles that are made by hand and compiles them; mechsim is given "
        f"a file, or a Lagrangian in the same angles. The bar is 1 times heyoka's time. Load before and after: {load}.",
        "",
        *lines,
        "",
        f"Six pendulums to T = {TIME:.0e} and the triple pendulum with barrier of seed 003 over {PERIODS} periods; the "
        f"bar is {LONG:.0f} s each.",
        "",
        *more,
    ]


if __name__ == "__main__":
    print("\n".join(section(measure([]))))
