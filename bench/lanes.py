"""Many motions of one mechanism in the kernel's lanes, beside the same motions one by one, on one core; and a sweep of
a handle's parameters on two cores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

import mechsim
from mechsim.engine import order_for, state_of
from mechsim.engine.fleets import Fleets, Sets
from mechsim.engine.leading import planned
from mechsim.engine.machine import new_march
from mechsim.engine.many import Many, integrate_many
from mechsim.initial import assemble
from mechsim.kernel.compiled import Status
from mechsim.kernel.numbers import Numbers
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.spec import parse
from mechsim.spec.living import Tape, settled
from mechsim.structure import analyse

SPECS = Path(__file__).parent.parent / "specs"
SPREAD = 0.05  # the parameter of a case is that of the file, more or less by this
REPEATS = 7
SWEEP = 1000  # motions of the sweep,
SAMPLE = 50  # of which so many are followed one by one: their kernel time is the measure


@dataclass(frozen=True)
class Case:
    file: str
    parameter: str
    motions: int
    end: float
    tolerance: float


CASES = (
    Case("andrews.yaml", "mom", 64, 0.03, 1e-14),
    Case("pendulum.yaml", "m", 256, 10.0, 1e-9),
    Case("double_pendulum.yaml", "m", 256, 10.0, 1e-9),
)


class Motions:
    """A mechanism file with one parameter varied, ready to run in both ways."""

    def __init__(self, case: Case):
        text = (SPECS / case.file).read_text()
        tape = Tape((case.parameter,))
        living = build(parse(text, case.file, {}, {}, tape=tape), noted=False)
        self.case, self.system = case, System(settled(living))
        spec = parse(text, case.file)
        self.start = assemble(self.system.mechanism, self.system, spec.problem)
        self.structure = analyse(self.system, self.start.redundancy)
        self.plan = planned(self.system, self.structure)
        numbers = Numbers(tape, living, self.system)
        middle = float(spec.parameters[case.parameter])
        values = middle * np.linspace(1 - SPREAD, 1 + SPREAD, case.motions)
        self.sets = Sets(numbers, numbers.values(values[None]), living)
        self.order = order_for(case.tolerance, self.plan)
        self.fleets = Fleets(self.system, self.plan, self.start, self.order, case.tolerance)

    def in_lanes(self) -> Many:
        starts = [self.start] * self.case.motions
        settings: dict[str, Any] = {"tends": self.case.end, "tolerance": self.case.tolerance, "fleets": self.fleets}
        return integrate_many(self.system, self.structure, starts, sets=self.sets, **settings)

    def one_by_one(self) -> int:
        """The kernel's part alone, of a few motions; steps."""
        steps = 0
        state = state_of(self.system, self.plan.variable_offsets, self.start)
        for _ in range(8):
            march = new_march(self.plan, self.order, self.case.tolerance)
            march.set_state(self.start.t, state)
            while Status(march.advance(self.case.end, 100_000, 1.0, False)[0]) == Status.RUNNING:
                pass
            steps += march.statistics["steps"]
        return steps


def _seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = process_time()
    result = work()
    return process_time() - begun, result


def measure() -> list[dict[str, Any]]:
    """Medians of processor time; both ways alternate, so that they see the same machine."""
    rows = []
    for case in CASES:
        motions = Motions(case)
        motions.in_lanes()
        many, single = [], []
        for _ in range(REPEATS):
            seconds, found = _seconds(motions.in_lanes)
            many.append(seconds)
            alone, steps = _seconds(motions.one_by_one)
            single.append(alone / steps)
        total = int(found.statistics["steps"].sum())
        row = {
            "file": case.file,
            "motions": case.motions,
            "tolerance": case.tolerance,
            "order": motions.order,
            "lanes": motions.fleets.width,
            "finished": int(found.finished.sum()),
            "us_per_step": 1e6 * median(many) / total,
            "us_per_step_alone": 1e6 * median(single),
            "motions_per_second": case.motions / median(many),
            "steps_alone": float(found.statistics["alone"].sum() / total),
        }
        rows.append(row)
        print("  {file}: {us_per_step:.2f} us a step, alone {us_per_step_alone:.2f}".format(**row), flush=True)
    return rows


def _kernel_time(handle: Any, parameters: dict[str, float], tolerance: float) -> tuple[float, float]:
    """Wall and processor time of the kernel's part of one motion."""
    run = handle._run(parameters, tol=tolerance)
    start, plan = run.prepared.start, run.member.plan
    state = state_of(run.prepared.system, plan.variable_offsets, start)
    with run.member.machines(None, tolerance).march(plan, run.member.values) as march:
        begun = perf_counter(), process_time()
        march.set_state(start.t, state)
        while Status(march.advance(0.03, 100_000, 1.0, False)[0]) == Status.RUNNING:
            pass
        return perf_counter() - begun[0], process_time() - begun[1]


def sweep() -> dict[str, float]:
    """Andrews at 1e-10 with other torques and springs: `simulate_many` on two cores, all that it does, beside the
    kernel's part of separate calls on one. Both in turn; medians a run. Processor times tell what two cores would do
    that nobody else uses."""
    handle = mechsim.mechanism(SPECS / "andrews.yaml")
    factors = 1 + 0.1 * np.random.default_rng(1).standard_normal((SWEEP, 2))
    own = handle.parameters
    wanted = [{"mom": own["mom"] * one, "c0": own["c0"] * other} for one, other in factors]
    settings: dict[str, Any] = {"tol": 1e-10, "keep": "final", "threads": 2}
    handle.simulate_many(wanted[:2], **settings)
    wall, processor, alone = [], [], []
    for turn in range(REPEATS):
        begun = perf_counter()
        used, found = _seconds(lambda: handle.simulate_many(wanted, **settings))
        wall.append((perf_counter() - begun) / SWEEP)
        processor.append(used / SWEEP)
        assert found.finished.all()
        chosen = wanted[SAMPLE * turn : SAMPLE * (turn + 1)]
        alone.append(np.mean([_kernel_time(handle, parameters, 1e-10) for parameters in chosen], axis=0))
    alone_wall, alone_processor = np.median(alone, axis=0)
    result = {
        "motions": SWEEP,
        "wall_ms": 1e3 * median(wall),
        "processor_ms": 1e3 * median(processor),
        "alone_ms": 1e3 * float(alone_wall),
        "ratio": float(alone_wall) / median(wall),
        "processor_ratio": 2 * float(alone_processor) / median(processor),
    }
    print("  " + ", ".join(f"{key} {value:.4g}" for key, value in result.items()), flush=True)
    return result


def sweep_section(found: dict[str, float]) -> str:
    return (
        f"{found['motions']:.0f} Andrews runs at 1e-10 with other `mom` and `c0` through `handle.simulate_many` on two "
        f"cores: {found['wall_ms']:.3f} ms a run. Separate calls on one core take {found['alone_ms']:.3f} ms in the "
        f"kernel alone: {found['ratio']:.1f} times as long (bar: 5), by processor time {found['processor_ratio']:.1f} "
        "times."
    )


if __name__ == "__main__":
    measure()
    sweep()
