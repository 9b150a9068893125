"""What eight tangents cost: a motion with them over the same motion without, in one run. `python -m bench.tangents`"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from time import thread_time
from typing import Any

import numpy as np

from mechsim.engine import order_for
from mechsim.engine.leading import planned
from mechsim.engine.machine import new_march
from mechsim.engine.state import state_of
from mechsim.engine.tangents import Directions
from mechsim.handle.derivatives import by_parameters
from mechsim.simulation import prepare
from mechsim.spec import read

SPEC = Path(__file__).parent.parent / "specs" / "andrews.yaml"
TOLERANCES = (1e-7, 1e-10, 1e-14)
ROUNDS = 15
BAR = 6.0


def eight() -> tuple[Any, dict[str, Directions]]:
    """Andrews' mechanism, and eight directions: of its start only, and with some of parameters among them."""
    found = by_parameters(prepare(read(SPEC)), ("mom", "c0", "beta0", "rr"))
    system = found.prepared.system
    noise = np.random.default_rng(1).standard_normal((2, system.n, 8)) * system.scales[: system.n, None]
    starts = Directions.of_state(system, [f"start {i}" for i in range(8)], *noise)
    few = Directions.of_state(system, [f"start {i}" for i in range(4)], *noise[..., :4])
    return found.prepared, {"8 of the start": starts, "4 of the start, 4 of parameters": few.joined(found.directions)}


def measure() -> list[dict[str, Any]]:
    problem, kinds = eight()
    plan = planned(problem.system, problem.structure)
    state = state_of(problem.system, plan.variable_offsets, problem.start)
    rows = []
    for tolerance in TOLERANCES:
        for name, directions in kinds.items():
            times: dict[bool, list[float]] = {False: [], True: []}
            steps = {}
            for _ in range(ROUNDS):
                for with_tangents in times:
                    march = new_march(plan, order_for(tolerance, plan), tolerance)
                    march.set_state(problem.start.t, state)
                    if with_tangents:
                        directions.begin(march, plan, False)
                    begun = thread_time()
                    march.advance(0.03, 100_000, 1e9, False)
                    times[with_tangents].append(thread_time() - begun)
                    steps[with_tangents] = march.statistics["steps"]
            without, with_all = (median(times[each]) for each in (False, True))
            row = {"tolerance": tolerance, "directions": name, "without": without, "with": with_all, "steps": steps}
            rows.append(row | {"ratio": with_all / without})
            alone, beside = (f"{1e3 * median(times[each]):.2f} ms, {steps[each]} steps" for each in times)
            print(f"  tol {tolerance:.0e}, {name}: {alone}; with tangents {beside}: {with_all / without:.2f} x")
    return rows


def section(rows: list[dict[str, Any]]) -> list[str]:
    lines = ["| tol | directions | alone, ms | with tangents, ms | ratio |", "|---|---|---:|---:|---:|"]
    for row in rows:
        cells = [
            f"{row['tolerance']:.0e}",
            row["directions"],
            f"{1e3 * row['without']:.2f}",
            f"{1e3 * row['with']:.2f}",
        ]
        lines.append(f"| {' | '.join(cells)} | {row['ratio']:.2f} |")
    return [*lines, "", f"Medians of {ROUNDS} runs in turn, by the clock of the thread (bar: {BAR:g})."]


if __name__ == "__main__":
    measure()
