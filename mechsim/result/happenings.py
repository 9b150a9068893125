"""Events of a motion as a table of their own: a file beside the CSV, arrays of the NPZ, a list in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from mechsim.engine.events import COLUMNS, LIMITED, SLIDES, STICKS, Events
from mechsim.result.paths import replacing

LABELS = ("t", "contact", "event", "rate_before", "rate_after", "impulse", "energy_lost")
MOST_TOLD = 10_000  # of a JSON object; the file has all


def path_beside(path: Path) -> Path:
    """`out.csv` has its events in `out.events.csv`."""
    return path.with_name(f"{path.stem}.events.csv")


def write_beside(events: Events, path: Path) -> Path:
    """The table of events of the results at this path."""
    target = path_beside(path)
    with replacing(target) as temporary, open(temporary, "w", encoding="utf-8") as stream:
        stream.writelines(_lines(events))
    return target


def _lines(events: Events) -> Iterator[str]:
    yield ",".join(LABELS) + "\n"
    for each in events:
        numbers = (each.before, each.after, each.impulse, each.lost)
        yield (
            ",".join([f"{each.t:.17g}", each.gap.replace(",", ";"), each.kind, *(f"{x:.17g}" for x in numbers)]) + "\n"
        )


def read_beside(path: Path) -> Events | None:
    """The table of events of the results at this path; None where there is none, or it is no such table."""
    try:
        head, *lines = path_beside(path).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    if head.split(",") != list(LABELS):
        return None
    rows = [line.split(",") for line in lines]
    # Names of contacts come before those of the user's events, each in the order in which they come.
    gaps = list(dict.fromkeys(row[1].replace(";", ",") for row in rows if row[2] != "event"))
    bonds = frozenset(row[1].replace(";", ",") for row in rows if row[2] == "attach")
    names = (*gaps, *dict.fromkeys(row[1] for row in rows if row[2] == "event"))
    table = np.zeros((len(rows), len(COLUMNS)))
    for number, (t, name, kind, *numbers) in enumerate(rows):
        own = names.index(name) if kind == "event" else gaps.index(name.replace(";", ","))
        modes = {"contact": (0, 1), "attach": (0, 1), "release": (1, 0), "stick": (0, STICKS), "slip": (0, SLIDES)}
        modes |= {"limited": (0, LIMITED)}
        table[number] = float(t), own, *map(float, numbers), *modes.get(kind, (0, 0))
    return Events(names, table, np.zeros(len(gaps)), bonds)


def as_arrays(events: Events) -> dict[str, np.ndarray]:
    """What an NPZ file holds of them."""
    names = json.dumps(
        {"names": events.names, "columns": COLUMNS, "bonds": sorted(events.bonds), "shared": sorted(events.shared)}
    )
    return {"events": events.table, "event_overlaps": events.overlaps, "event_names": np.array(names)}


def from_arrays(arrays: dict[str, np.ndarray]) -> Events:
    facts = json.loads(str(arrays["event_names"]))
    bonds, shared = (frozenset(map(str, facts.get(name, ()))) for name in ("bonds", "shared"))
    return Events(tuple(map(str, facts["names"])), arrays["events"], arrays["event_overlaps"], bonds, shared)


def as_list(events: Events) -> list[dict[str, object]]:
    return [asdict(events[number]) for number in range(min(len(events), MOST_TOLD))]
