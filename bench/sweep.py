"""Many pendulums and double pendulums from a YAML file in the kernel's lanes, beside heyoka's batch integrator and
diffrax under vmap on hand-made equations: motions a second of processor time at equal digits, only their ends kept."""

from __future__ import annotations

import tempfile
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from bench import peers
from bench.pendulums import CHECKED, COUNTS, END, PENDULUM, TEXTS, checked, digits, rates, starts
from bench.protocol import Row
from mechsim.engine import order_for
from mechsim.engine.fleets import Fleets, NumberTables
from mechsim.engine.leading import planned
from mechsim.engine.many import MOST_AT_ONCE, SLICE
from mechsim.simulation import prepare
from mechsim.spec import parse

TOLERANCES = (3e-9, 1e-9, 3e-10)  # of ours; that with the digits of a peer is compared with it
PEER_TOLERANCE = "1e-9"
HEYOKA = ("bench.peer_heyoka_batch", "heyoka", 5, (PEER_TOLERANCE,))
DIFFRAX = ("bench.peer_diffrax", "diffrax", 3, (PEER_TOLERANCE,))
BARS = {"heyoka batch": 0.5, "diffrax vmap": 3.0}
ROUNDS, REPEATS = 3, 5
FINAL = 0  # what the kernel keeps of a motion


class InLanes:
    """A problem's file, ready for one tolerance; the kernel's part alone, from starts that are known."""

    def __init__(self, problem: str, tolerance: float):
        prepared = prepare(parse(TEXTS[problem], problem))
        system = prepared.system
        plan = planned(system, prepared.structure)
        self.problem, self.tolerance, self.moving = problem, tolerance, system.n
        self.order = order_for(tolerance, plan)
        self.fleets = Fleets(system, plan, prepared.start, self.order, tolerance)
        self.tables = NumberTables(plan, None).of(np.zeros(0, dtype=int))
        positions, velocities = points(starts(problem, COUNTS[problem]))
        self.states = np.zeros((COUNTS[problem], 2, plan.size))
        self.states[:, 0, : system.n], self.states[:, 1, : system.n] = positions, velocities

    def run(self) -> tuple[np.ndarray, int]:
        """Angles and rates where all motions end, and how many steps there were."""
        found, steps = [], 0
        with self.fleets.one() as fleet:
            for first in range(0, len(self.states), MOST_AT_ONCE):
                states = self.states[first : first + MOST_AT_ONCE]
                times = np.zeros(len(states))
                fleet.begin(*self.tables, times, states, times + END, FINAL)
                while not fleet.run(SLICE):
                    pass
                _, x, v = fleet.last()
                steps += int(fleet.counts()[0][:, 1].sum())
                found.append(angles(x[:, : self.moving], v[:, : self.moving]))
        return np.concatenate(found), steps


def points(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities of the masses, which hang on one another, from angles and rates."""
    angle, rate = np.split(y, 2, axis=1)
    arms = np.stack([np.sin(angle), -np.cos(angle)], axis=2)
    turning = rate[:, :, None] * np.stack([np.cos(angle), np.sin(angle)], axis=2)
    shape = (len(y), y.shape[1])
    return np.cumsum(arms, axis=1).reshape(shape), np.cumsum(turning, axis=1).reshape(shape)


def angles(positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """The way back."""
    shape = (len(positions), -1, 2)
    arms = np.diff(positions.reshape(shape), axis=1, prepend=0.0)
    turning = np.diff(velocities.reshape(shape), axis=1, prepend=0.0)
    angle = np.arctan2(arms[:, :, 0], -arms[:, :, 1])
    rate = np.cos(angle) * turning[:, :, 0] + np.sin(angle) * turning[:, :, 1]
    return np.hstack([angle, rate])


def reference(problem: str) -> np.ndarray:
    """The ends of the motions that are checked, by DOP853."""
    from scipy.integrate import solve_ivp

    chosen = starts(problem, COUNTS[problem])[checked(COUNTS[problem])]
    settings: dict[str, Any] = {"method": "DOP853", "rtol": 3e-14, "atol": 1e-14}
    return np.array([solve_ivp(lambda t, y: rates(problem, y), (0, END), y, **settings).y[:, -1] for y in chosen])


def ours(ready: list[InLanes]) -> list[Row]:
    rows = []
    for lanes in ready:
        times = []
        for _ in range(REPEATS):
            begun = process_time()
            ends, steps = lanes.run()
            times.append(process_time() - begun)
        row = {"peer": "mechsim", "form": "YAML file", "setting": f"{lanes.tolerance:g}", "problem": lanes.problem}
        row |= {"order": lanes.order, "motions": len(ends), "steps": steps / len(ends), "lanes": lanes.fleets.width}
        rows.append(row | {"times": times, "ends": ends[checked(len(ends))].tolist()})
    return rows


def measure(skipped: list[str]) -> list[Row]:
    """All codes in turn, several rounds: they must see the same machine."""
    ready = [InLanes(problem, tolerance) for problem in COUNTS for tolerance in TOLERANCES]
    for lanes in ready:
        lanes.run()
    rounds: list[Row] = []
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(ROUNDS):
            rounds += ours(ready)
            for entry in (HEYOKA, DIFFRAX):
                rounds += peers.run(entry, skipped, scratch)
    references = {problem: reference(problem) for problem in COUNTS}
    merged: dict[tuple[str, str, str], Row] = {}
    for row in rounds:
        first = merged.setdefault((row["problem"], row["peer"], row["setting"]), row | {"times": []})
        first["times"] = first["times"] + row["times"]
    for row in merged.values():
        row["digits"] = digits(row["problem"], row.pop("ends"), references[row["problem"]])
        row["rate"] = row["motions"] / median(row["times"])
        print("  {problem:16s} {peer:13s} {setting:>6s} {digits:6.2f} digits {rate:9.0f} / s".format(**row), flush=True)
    print("\n".join(f"  {line}" for line in bar_lines(list(merged.values()))), flush=True)
    return list(merged.values())


def at_digits(rows: list[Row], problem: str, wanted: float) -> Row:
    """Our quickest setting with these digits, or our most accurate."""
    mine = [row for row in rows if row["peer"] == "mechsim" and row["problem"] == problem]
    able = [row for row in mine if row["digits"] >= wanted]
    return max(able, key=lambda row: row["rate"]) if able else max(mine, key=lambda row: row["digits"])


def bar_lines(rows: list[Row]) -> list[str]:
    lines = []
    for peer in (row for row in rows if row["peer"] in BARS):
        mine = at_digits(rows, peer["problem"], peer["digits"])
        lines.append(
            f"{peer['problem']}: {mine['rate']:.0f} motions a second ({mine['digits']:.1f} digits at "
            f"{mine['setting']}), {mine['rate'] / peer['rate']:.2f} times {peer['peer']} ({peer['rate']:.0f}, "
            f"{peer['digits']:.1f} digits); the bar is {BARS[peer['peer']]:g}."
        )
    return lines


def section(rows: list[Row]) -> list[str]:
    lines = [
        f"Pendulums let go at rest from many angles, t = {END:g}, one core, processor time, medians. Digits are "
        f"correct decimals of the worst angle or rate of {CHECKED} motions against DOP853. Of ours only the kernel's "
        "part is counted: starts are known.",
        "",
        "| problem | code | equations | tol | digits | motions / s | order | steps | lanes |",
        "|---|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in sorted(rows, key=lambda row: (row["problem"] != PENDULUM, row["peer"], float(row["setting"]))):
        more = f"{row['order']} | {row['steps']:.1f} | {row['lanes']}" if "order" in row else " | | "
        lines.append(
            f"| {row['problem']} | {row['peer']} | {row['form']} | {row['setting']} | {row['digits']:.1f} "
            f"| {row['rate']:.0f} | {more} |"
        )
    return [*lines, "", *(f"- {line}" for line in bar_lines(rows))]


if __name__ == "__main__":
    measure(peers.prepare())
