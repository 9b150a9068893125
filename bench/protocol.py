"""How a peer script talks: settings in, one JSON line per setting out."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from bench.andrews import digits

Row = dict[str, Any]
Outcome = tuple[Sequence[float], int, float]  # seven angles, steps, seconds of the integration alone


def main(peer: str, form: str, prepare: Callable[[str], Any], integrate: Callable[[Any], Outcome]) -> None:
    """Run every setting of the command line (`repeats setting setting ...`) and print what came out."""
    repeats, *settings = sys.argv[1:]
    for setting in settings:
        begun = time.perf_counter()
        prepared = prepare(setting)
        preparing = time.perf_counter() - begun
        runs = [integrate(prepared) for _ in range(int(repeats))]
        angles, steps, _ = runs[-1]
        row = {"peer": peer, "form": form, "setting": setting, "digits": round(digits(angles), 2), "steps": steps}
        print(json.dumps(row | {"preparing": preparing, "times": [run[2] for run in runs]}), flush=True)


def merge(rounds: list[list[Row]]) -> list[Row]:
    """One row per setting from the rows of several rounds: all times together, the first round's preparation."""
    merged: dict[tuple[str, str], Row] = {}
    for row in (row for rows in rounds for row in rows):
        first = merged.setdefault((row["peer"], row["setting"]), row | {"times": []})
        first["times"] = first["times"] + row["times"]
    for row in merged.values():
        row |= {"seconds": median(row["times"]), "fastest": min(row["times"])}
    return list(merged.values())
