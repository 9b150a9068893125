"""Mechanisms in space from YAML files beside what other codes make of the same problems: time against digits."""

from __future__ import annotations

import json
import math
import os
import tempfile
from statistics import median
from time import perf_counter

import numpy as np

from bench import peers
from bench.protocol import Row
from bench.space_problems import BALLS, BRICARD, MASSES, PROBLEMS, TOP, length_of, text, timed, times
from mechsim.engine import order_for, state_of
from mechsim.engine.leading import planned
from mechsim.engine.machine import new_march
from mechsim.kernel.compiled import Status
from mechsim.simulation import Prepared, prepare
from mechsim.spec import parse

# Tolerance and order; None: the default. Order 20 was picked after a look at the heavy top with 18 pairs of order and
# tolerance (10.0 to 13.1 digits, not in order), which no peer was given: it is shown, and no bar is judged by it.
SETTINGS: tuple[tuple[float, int | None], ...] = (
    (1e-8, None), (1e-10, None), (1e-12, None), (1e-13, None), (1e-14, None), (1e-14, 20)
)  # fmt: skip
# Of the top all runs have about as many steps, so that few tolerances would compare runs of other digits.
MORE_OF_TOP: tuple[tuple[float, int | None], ...] = tuple((each, None) for each in (3e-10, 1e-11, 3e-11, 3e-12, 3e-13))
ROUNDS, REPEATS = 2, 7


class Ours:
    """A problem's file made ready for one tolerance: what is left is the march of the kernel."""

    def __init__(self, problem: str, tolerance: float, order: int | None = None, known: Prepared | None = None):
        self.problem, self.setting = problem, f"{tolerance:.0e}" + (f", order {order}" if order else "")
        prepared = known or prepare(parse(text(problem), f"{problem}.yaml"))
        self.system, self.began = prepared.system, prepared.start.t
        plan = planned(self.system, prepared.structure)
        self.order = order or order_for(tolerance, plan)
        self.march = new_march(plan, self.order, tolerance)
        self.state = state_of(self.system, plan.variable_offsets, prepared.start)

    def __call__(self) -> tuple[np.ndarray, int]:
        self.march.set_state(self.began, self.state)
        found, steps = [], 0
        for t in times(self.problem):
            status, ends, unknowns, *_ = self.march.advance(t, 1_000_000, math.inf, False)
            if status != Status.REACHED:
                raise RuntimeError(f"{self.problem} stopped at t = {ends[-1]:g}: {status}")
            steps += len(ends) - 1
            found.append(unknowns[-1, : self.system.n])
        return self.judged(np.array(found)), steps

    def point(self, name: str, found: np.ndarray) -> np.ndarray:
        return found[:, list(self.system.mechanism.points[name])]

    def judged(self, found: np.ndarray) -> np.ndarray:
        """As `space_problems.reference` has it."""
        if self.problem == BRICARD:
            return self.point("Q3", found)
        if self.problem == TOP:
            x, y = self.point("A", found)[0], self.point("B", found)[0]
            return np.column_stack([x, y, np.cross(x, y)])
        return np.array([self.point(f"P{i + 1}", found)[0] for i in range(length_of(self.problem))])


def made_ready() -> list[tuple[Ours, float]]:
    """Each problem with each tolerance, and how long it took: of the first one the file is read too."""
    ready = []
    for problem in PROBLEMS:
        begun, known = perf_counter(), prepare(parse(text(problem), f"{problem}.yaml"))
        for tolerance, order in (*SETTINGS, *(MORE_OF_TOP if problem == TOP else ())):
            run = Ours(problem, tolerance, order, known)
            ready.append((run, perf_counter() - begun))
            begun = perf_counter()
    return ready


def ours(ready: list[tuple[Ours, float]]) -> list[Row]:
    rows = []
    for run, preparing in ready:
        row: Row = {"peer": "mechsim", "form": "YAML file", "problem": run.problem, "setting": run.setting}
        rows.append(row | {"preparing": preparing, "order": run.order} | timed(run.problem, run, REPEATS))
    return rows


# Script, package, repeats, and its settings from few digits to many for each problem.
GENERAL: tuple[tuple[str, str, int, dict[str, tuple[str, ...]]], ...] = (
    (
        "bench.peer_space_exudyn",
        "exudyn",
        2,
        {TOP: ("3000", "10000"), BALLS[0]: ("300", "600", "1000"), BALLS[1]: ("300",)},
    ),
    (
        "bench.peer_space_mujoco",
        "mujoco",
        2,
        {
            TOP: ("5000", "50000"),
            BALLS[0]: ("1000", "5000"),
            BALLS[1]: ("1000", "5000"),
            BALLS[2]: ("1000", "3000"),
            BRICARD: ("1000", "10000"),
        },
    ),
    (
        "bench.peer_space_drake",
        "drake",
        2,
        {
            TOP: ("1e-10", "1e-13"),
            BALLS[0]: ("1e-10", "1e-13"),
            BALLS[1]: ("1e-12",),
            BALLS[2]: ("1e-13",),
            BRICARD: ("1000",),
        },
    ),
    (
        "bench.peer_space_pinocchio",
        "pin",
        3,
        {
            TOP: ("1e-10", "1e-13"),
            BALLS[0]: ("1e-11", "1e-13"),
            BALLS[1]: ("1e-11", "1e-13"),
            BRICARD: ("1e-9", "1e-12"),  # of 100 balls its steps become so short that memory runs out
        },
    ),
)
HAND_MADE = ("bench.peer_space_heyoka", "heyoka", 7)
HAND_MADE_SETTINGS = dict.fromkeys((*MASSES, BRICARD), ("1e-9", "1e-15"))
HAND_MADE_SETTINGS[TOP] = ("1e-10", "1e-11", "1e-12", "1e-13", "1e-15")
AHEAD, WITHIN = 10.0, 4.0  # bars: of the best general tool at equal digits, and of hand-made equations
FEWEST_DIGITS = 8.0  # of a peer's run that is compared with ours: below, it is another kind of work


def asked(settings: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(f"{problem}/{setting}" for problem, found in settings.items() for setting in found)


def measure(skipped: list[str]) -> Row:
    """Ours and heyoka in turn, then the general tools; with the load of the machine before and after."""
    before = os.getloadavg()[0]
    rounds, ready = list[Row](), made_ready()
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(ROUNDS):
            rounds += ours(ready)
            rounds += peers.run((*HAND_MADE, asked(HAND_MADE_SETTINGS)), skipped, scratch)
        for module, package, repeats, settings in GENERAL:
            rounds += peers.run((module, package, repeats, asked(settings)), skipped, scratch)
    merged: dict[tuple[str, str, str], Row] = {}
    for row in rounds:
        first = merged.setdefault((row["problem"], row["peer"], row["setting"]), row | {"times": []})
        first["times"] = first["times"] + row["times"]
    for row in merged.values():
        row |= {"seconds": median(row["times"]), "fastest": min(row["times"])}
        told = f"{row['digits']:6.2f} digits {per_second(row):10.3f} ms"
        print(f"  {row['problem']:26s} {row['peer']:18s} {row['setting']:>8s} {told}", flush=True)
    rows = list(merged.values())
    print("\n".join(f"  {line}" for line in bar_lines(rows)), flush=True)
    return {"rows": rows, "load": [before, os.getloadavg()[0]]}


def per_second(row: Row) -> float:
    """Milliseconds; of a chain per simulated second."""
    problem = row["problem"]
    return 1e3 * float(row["seconds"]) / (1.0 if problem in (TOP, BRICARD) else times(problem)[-1])


def _at_digits(rows: list[Row], digits: float) -> Row:
    """The quickest run with these digits, or the most accurate."""
    able = [row for row in rows if row["digits"] >= digits]
    return min(able, key=lambda row: row["seconds"]) if able else max(rows, key=lambda row: row["digits"])


def _compared(name: str, mine: list[Row], other: Row, bar: str) -> str:
    own = _at_digits(mine, other["digits"])
    ratio = other["seconds"] / own["seconds"]
    told = f"{ratio:.1f} times ahead of" if ratio >= 1 else f"{1 / ratio:.1f} times the time of"
    return (
        f"{name}: {per_second(own):.3g} ms ({own['digits']:.1f} digits), {told} {other['peer']} "
        f"({per_second(other):.3g} ms, {other['digits']:.1f} digits); {bar}"
    )


def bar_lines(rows: list[Row]) -> list[str]:
    """Ours beside the best run of the general tools, and beside hand-made equations."""
    lines = []
    for problem in PROBLEMS:
        found = [row for row in rows if row["problem"] == problem]
        mine = [row for row in found if row["peer"] == "mechsim" and "order" not in row["setting"]]
        general = [row for row in found if row["peer"] not in ("mechsim", "heyoka") and row["digits"] >= FEWEST_DIGITS]
        if mine and general:
            # The run that comes nearest to ours, with as many digits or more.
            best = min(general, key=lambda row: row["seconds"] / _at_digits(mine, row["digits"])["seconds"])
            lines.append(_compared(problem, mine, best, f"the bar is {AHEAD:g} times ahead"))
            most = max(general, key=lambda row: row["digits"])
            own = max(mine, key=lambda row: row["digits"])
            told = f"{own['digits']:.1f} digits at best, {most['peer']} {most['digits']:.1f}; the bar is more than any"
            lines.append(f"{problem}: {told}")
        made = [row for row in found if row["peer"] == "heyoka" and row["digits"] >= FEWEST_DIGITS]
        if mine and made:
            # At equal digits, where ours has as many.
            most = max(row["digits"] for row in mine)
            equal = [row for row in made if row["digits"] <= most] or made
            best = min(equal, key=lambda row: row["seconds"] / _at_digits(mine, row["digits"])["seconds"])
            told = f"the bar is {WITHIN:g} times its time"
            if any(row["digits"] > most for row in made):
                told += f"; it has up to {max(row['digits'] for row in made):.1f} digits, ours {most:.1f}"
            lines.append(_compared(problem, mine, best, told))
    return lines


def section(found: Row) -> list[str]:
    rows, load = found["rows"], found["load"]
    lines = [
        "A heavy top for 2 s, chains of N balls on rods and ball joints (1 s, of 10 balls 2 s; ms per simulated "
        "second), and the Bricard mechanism, whose hinges repeat each other, for 10 s. Digits are correct "
        "decimals of the worst coordinate: of the top's attitude, of all balls, of a corner at t = 1, 2, 5 and 10. "
        "Processor time of the integration alone, medians. mechsim reads a YAML file of points and bodies; heyoka is "
        "given equations made by hand, of point masses in the chain, and of one freedom in Bricard's mechanism. "
        f"Load before and after: {load[0]:.1f}, {load[1]:.1f}.",
        "",
        *(f"- {line}." for line in bar_lines(rows)),
        "",
        "Bars are judged by our default orders. Rows with order 20 are shown beside them: that order was picked after "
        "a look at the heavy top with 18 pairs of order and tolerance (10.0 to 13.1 digits, not in order), while peers "
        "have the one to three settings below. A digit more or less of the top is chance.",
        "",
        "| problem | code | equations | setting | digits | ms | steps | order | ready in, s |",
        "|---|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in sorted(rows, key=lambda row: PROBLEMS.index(row["problem"])):
        lines.append(
            f"| {row['problem']} | {row['peer']} | {row['form']} | {row['setting']} | {row['digits']:.1f} "
            f"| {per_second(row):.3f} | {row['steps']} | {row.get('order', '')} | {row['preparing']:.2f} |"
        )
    return lines


if __name__ == "__main__":  # this section alone, into the results of the last `make bench`
    path = peers.ROOT / "build" / "bench.json"
    path.parent.mkdir(exist_ok=True)
    results = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(results | {"space": measure(peers.prepare())}))
