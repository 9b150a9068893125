"""Impacts from YAML files beside heyoka with modes written by hand: time, digits of impact times, and what an event costs."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable
from statistics import median
from time import perf_counter

from bench import impact_problems as problems
from bench import peers
from bench.impact_problems import BALL, BARRIERS, PENDULUM
from bench.protocol import Row
from mechsim.engine import Events, Solution
from mechsim.simulation import adjust, follow, prepare
from mechsim.spec import parse

TOLERANCE = 1e-14
PEER_TOLERANCE = "1e-15"  # at which heyoka takes about as many steps
ROUNDS, REPEATS = 2, 3
WITHIN, DIGITS, EVENT = 2.0, 13.0, 2.0  # bars: of heyoka's time; of impact times; steps that an event may cost
NAMES = (BALL, PENDULUM, *(each.figure for each in BARRIERS))
HEYOKA = ("bench.peer_impacts_heyoka", "heyoka", REPEATS, tuple(f"{name}/{PEER_TOLERANCE}" for name in NAMES))
BALL_TEXT = f"""
PartData: {{Particles: {{P: 1}}}}
AppliedForces: {{Gravity: [0, -{problems.GRAVITY}]}}
Contacts: {{ground: {{gap: P.y, e: 1}}}}
ProblemData: {{tend: 926.2, positions: {{P: [[0, fixed], [1, fixed]]}}, velocities: {{P: [[0, fixed], [1, fixed]]}}}}
"""
PENDULUM_TEXT = f"""
PartData: {{Fixed: {{O: []}}, Rods: {{OP: 1}}, Particles: {{P: 1}}}}
AppliedForces: {{Gravity: [0, -{problems.GRAVITY}]}}
Contacts: {{wall: {{gap: P.x, e: 1}}}}
ProblemData: {{tend: 1184, positions: {{P: [[1, fixed], 0]}}}}
"""


def text(name: str) -> str:
    if name in (BALL, PENDULUM):
        return BALL_TEXT if name == BALL else PENDULUM_TEXT
    file = next(each.file for each in BARRIERS if each.figure == name)
    lines = (problems.SPECS / file).read_text().splitlines()
    return "\n".join(line for line in lines if not line.startswith("Events:"))  # heyoka draws no section either


def ready(name: str) -> tuple[float, Callable[[], Solution]]:
    """How long it took, and the whole motion with its log of events and overlaps, in memory that does not grow with it."""
    begun = perf_counter()
    tend = next((each.tend for each in BARRIERS if each.figure == name), None)
    prepared = prepare(adjust(parse(text(name), f"{name}.yaml"), tol=TOLERANCE, tend=tend))
    return perf_counter() - begun, lambda: follow(prepared, keep="outline")


def impact_times(events: Events) -> list[float]:
    """Of impacts, and of those from which on a gap stays closed."""
    return [event.t for event in events if event.kind in ("impact", "contact")]


def timed(name: str, preparing: float, run: Callable[[], Solution]) -> Row:
    times = []
    for _ in range(REPEATS):
        begun = perf_counter()
        found = run()
        times.append(perf_counter() - begun)
    if found.status != "finished":
        raise RuntimeError(f"{name}: {found.message}")
    events, kinds = found.events, Counter(event.kind for event in found.events)
    row: Row = {"peer": "mechsim", "problem": name, "setting": f"{TOLERANCE:.0e}", "preparing": preparing}
    row |= {"digits": problems.digits(name, impact_times(events)), "steps": found.statistics["steps"], "times": times}
    return row | {
        "impacts": kinds["impact"] + kinds["contact"],
        "contacts": kinds["contact"],
        "events": len(events),
        "overlap": float(-events.overlaps.min()),
    }


def measure(skipped: list[str]) -> Row:
    """Ours and heyoka in turn, with the load of the machine before and after."""
    before = os.getloadavg()[0]
    all_ready = {name: ready(name) for name in NAMES}
    merged: dict[tuple[str, str], Row] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(ROUNDS):
            rows = [timed(name, *found) for name, found in all_ready.items()] + peers.run(HEYOKA, skipped, scratch)
            for row in rows:
                first = merged.setdefault((row["peer"], row["problem"]), row | {"times": []})
                first["times"] = first["times"] + row["times"]
    for row in merged.values():
        row |= {"seconds": median(row["times"]), "fastest": min(row["times"])}
    return {"rows": list(merged.values()), "load": [before, os.getloadavg()[0]], "event": event_cost()}


def event_cost() -> Row:
    """What an impact adds to a motion, in steps: the pendulum on a wall is half of a free one that swings as far, so each
    impact saves half a swing."""
    _, with_wall = ready(PENDULUM)
    free = "\n".join(line for line in PENDULUM_TEXT.splitlines() if not line.startswith("Contacts"))
    prepared = prepare(adjust(parse(free, "free.yaml"), tol=TOLERANCE))
    struck, swinging = [], []
    for _ in range(5):
        for times, run in ((struck, with_wall), (swinging, lambda: follow(prepared, keep="outline"))):
            begun = perf_counter()
            found = run()
            times.append((perf_counter() - begun, found.statistics["steps"], len(found.events)))
    seconds, steps, events = min(struck)
    step = min(swinging)[0] / min(swinging)[1]
    # The same time of motion takes as many steps without impacts.
    return {"step": step, "seconds": (seconds - min(swinging)[0]) / events, "steps": (steps - min(swinging)[1]) / events}


if __name__ == "__main__":
    found = measure([])
    for row in found["rows"]:
        print({key: value for key, value in row.items() if key != "times"})
    print(found["event"], found["event"]["seconds"] / found["event"]["step"])
