"""Impacts from YAML files beside heyoka with modes written by hand: time, digits, and what an event costs."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time

from bench import impact_problems as problems
from bench import peers
from bench.impact_problems import BALL, BARRIERS, PENDULUM
from bench.protocol import Row
from mechsim.engine import Events, Solution
from mechsim.simulation import adjust, follow, prepare
from mechsim.spec import parse

TOLERANCE = 1e-14
PEER_TOLERANCE = "1e-15"  # at which heyoka takes about as many steps
ROUNDS, REPEATS = 2, 2
SHORT, SHORT_RUNS = 118.4, 60  # of the pendulum: so many seconds, about a hundred swings; so often
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
    """How long it took, and what follows the whole motion, with its log of events and overlaps."""
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
        begun = process_time()  # one thread, on a machine that may be busy
        found = run()
        times.append(process_time() - begun)
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
    """What an impact adds to the motion of the pendulum, and what a step takes, with a wall that is never reached."""
    texts = {"struck": PENDULUM_TEXT, "far": PENDULUM_TEXT.replace("P.x,", "P.x + 2,")}
    runs = {name: prepare(adjust(parse(text, name), tol=TOLERANCE, tend=SHORT)) for name, text in texts.items()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    found = {}
    for _ in range(SHORT_RUNS):  # in turn, and many: an event is little beside the steps between two
        for name, run in runs.items():
            begun = process_time()
            found[name] = follow(run, keep="outline")
            times[name].append(process_time() - begun)
    steps, far_steps = (found[name].statistics["steps"] for name in ("struck", "far"))
    events = len(found["struck"].events)
    # Steps that end at impacts are shorter than they would be: they count as part of the event.
    more = median(struck - far for struck, far in zip(times["struck"], times["far"], strict=True))
    return {
        "step": median(times["far"]) / far_steps,
        "event": more / events,
        "more_steps": (steps - far_steps) / events,
    }


def section(measured: Row) -> list[str]:
    """A part of docs/benchmarks.md."""
    rows = {(row["peer"], row["problem"]): row for row in measured["rows"]}
    lines = [
        "| problem | impacts | lasting | digits | steps | s | heyoka: impacts | digits | steps | s | ratio | fastest |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name in NAMES:
        own, other = rows["mechsim", name], rows.get(("heyoka", name))
        shown = f"| {_name(name)} | {own['impacts']} | {own['contacts']} | {own['digits']:.1f} | {own['steps']} "
        shown += f"| {own['seconds']:.3f} "
        if other is None:
            lines.append(shown + "| - | - | - | - | - | - |")
            continue
        ratios = [own[key] / other[key] for key in ("seconds", "fastest")]
        shown += f"| {other['impacts']} | {other['digits']:.1f} | {other['steps']} | {other['seconds']:.3f} "
        lines.append(shown + f"| {ratios[0]:.1f} | {ratios[1]:.1f} |")
    cost, overlap = measured["event"], max(row.get("overlap", 0.0) for row in measured["rows"])
    return [
        *lines,
        "",
        f"{problems.BOUNCES} bounces of ball and pendulum; {problems.PERIODS} periods of the forcing of the triple "
        f"pendulum with barrier of seed 003, by its figures. mechsim at tol {TOLERANCE:.0e} with its log of events and "
        f"its check of overlaps (the deepest: {overlap:.0e} of a gap's size), from YAML files; heyoka at "
        f"{PEER_TOLERANCE}, in angles, with impact maps and a second ODE for sliding written by hand. Digits are those "
        f"of the worst of the first {problems.COMPARED} impact times (bar: {DIGITS:.0f}); the bar for figures is "
        f"{WITHIN:.0f} times heyoka's time. Later times differ where motions are chaotic, so counts need not agree. "
        "Times are those of the processor.",
        "",
        f"An impact of the pendulum on a wall takes {1e6 * cost['event']:.1f} us beyond what the motion takes without "
        f"it, {cost['event'] / cost['step']:.1f} steps of {1e6 * cost['step']:.1f} us (bar: {EVENT:.0f}). "
        f"Load before and after: {measured['load'][0]:.1f}, {measured['load'][1]:.1f}.",
    ]


def _name(name: str) -> str:
    return name if name in (BALL, PENDULUM) else f"figure {name}"


if __name__ == "__main__":
    print("\n".join(section(measure([]))))
