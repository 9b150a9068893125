"""`python -m bench`: measure everything once, one thing at a time, and write docs/. Takes some minutes."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

from bench import (
    andrews,
    chain,
    exponents,
    handle,
    impacts,
    lanes,
    ours,
    peers,
    report,
    space,
    startup,
    sweep,
    tangents,
)
from bench.protocol import Row, merge

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "build" / "bench.json"
ROUNDS = 4


def published() -> list[Row]:
    row = {"peer": "RADAU5 (published)", "form": "hand-coded index 3, Fortran", "setting": "", "steps": 0}
    return [row | {"digits": digits, "seconds": 1e-3 * ms, "fastest": 1e-3 * ms} for digits, ms in andrews.RADAU5]


def commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def race(skipped: list[str]) -> list[Row]:
    """Ours and heyoka in turn, several rounds: both must see the machine in all its moods. Then the slower peers."""
    prepared = ours.Prepared("andrews.yaml")
    rounds: list[list[Row]] = []
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(ROUNDS):
            rounds += [ours.against_digits(prepared), peers.run(peers.HEYOKA, skipped, scratch)]
        rounds += [peers.run(entry, skipped, scratch) for entry in peers.OTHERS]
    rows = merge(rounds)
    for row in rows:
        print(f"  {row['peer']:16s} {row['setting']:>8s} {row['digits']:6.2f} digits {1e3 * row['fastest']:9.3f} ms")
    print("\n".join(f"  {line}" for line in report.bar_lines(rows)), flush=True)
    return rows


def measure() -> Row:
    before = os.getloadavg()[0]
    print("peers: environment", flush=True)
    skipped = peers.prepare()
    print("Andrews, time against digits", flush=True)
    rows = race(skipped)
    print("start-up", flush=True)
    start = startup.measure()
    print("chain of rods", flush=True)
    chains = [chain.steps(rods) for rods in chain.LENGTHS]
    deriving = {str(rods): chain.deriving(rods) for rods in (chain.LENGTHS[0], chain.LENGTHS[-1])}
    print("many motions through a handle", flush=True)
    through_handle = handle.measure()
    print("eight tangents", flush=True)
    differentiated = tangents.measure()
    print("many motions in lanes", flush=True)
    in_lanes = lanes.measure()
    swept = lanes.sweep()
    print("many pendulums, beside heyoka's batch and diffrax", flush=True)
    pendulums = sweep.measure(skipped)
    print("space, beside other codes", flush=True)
    in_space = space.measure(skipped)
    print("impacts, beside heyoka", flush=True)
    struck = impacts.measure(skipped)
    print("Lyapunov exponents, beside heyoka", flush=True)
    parting = exponents.measure(skipped)
    print("figures 5-9", flush=True)
    figures = [ours.figure(experiment) for experiment in ours.FIGURES]
    return {
        "date": report.today(),
        "machine": report.machine(),
        "commit": commit(),
        "skipped": skipped,
        "load": [before, os.getloadavg()[0]],
        "andrews": rows + published(),
        "startup": start,
        "chain": {"rows": chains, "exponent": chain.exponent(chains), "deriving": deriving},
        "handle": through_handle,
        "tangents": differentiated,
        "lanes": in_lanes,
        "sweep": swept,
        "pendulums": pendulums,
        "space": in_space,
        "impacts": struck,
        "exponents": parting,
        "figures": figures,
    }


def main() -> None:
    results = measure()
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results))
    report.write(results, ROOT / "docs")
    if any(name.startswith("matplotlib") for name in results["skipped"]):
        print("no plots: matplotlib could not be installed")
    else:
        subprocess.run([str(peers.PYTHON), "-m", "bench.plots", str(RESULTS), "docs"], cwd=ROOT, check=True)
    print("written: docs/benchmarks.md, docs/benchmark-history.csv, docs/bench-*.png")


if __name__ == "__main__":
    main()
