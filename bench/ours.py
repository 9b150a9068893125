"""Our runs: the Andrews mechanism scored as the peers are, and the experiments of the seed's figures 5-9."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from bench.andrews import TOLERANCES, angles_of_points, digits
from bench.protocol import Row
from mechsim.engine import Solution, integrate, order_for, state_of
from mechsim.engine.leading import planned
from mechsim.engine.machine import new_march
from mechsim.initial import assemble
from mechsim.kernel.compiled import Status
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.spec import read
from mechsim.structure import analyse

SPECS = Path(__file__).parent.parent / "specs"
FIGURE_TOLERANCES = tuple(10.0**-k for k in range(4, 14))  # seed 001, section 4.6
FIGURE_ORDER = 17
ENERGY_TOLERANCES = (1e-8, 1e-10, 1e-12)
ENERGY_POINTS = 400  # points a curve shows: more cannot be seen


@dataclass(frozen=True)
class Figure:
    """One experiment of the seed: which figure, which file, how long, and what its digits are judged on."""

    key: str
    title: str
    file: str
    end: float
    owners: tuple[str, ...]
    velocities: bool


FIGURES = (
    Figure("mechanism1a", "Mechanism1a, t = 200 (figure 5)", "mechanism1a.yaml", 200.0, ("C", "D", "F"), True),
    Figure("mechanism1b", "Mechanism1b, t = 20 (figure 6)", "mechanism1b.yaml", 20.0, ("C", "D", "F"), True),
    Figure("andrews", "Andrews, t = 0.03 (figure 8)", "andrews.yaml", 0.03, ("E", "F", "G", "H", "OF"), False),
    Figure("andrews1", "Andrews, t = 1 (figure 9)", "andrews.yaml", 1.0, ("E", "F", "G", "H", "OF"), False),
)


class Prepared:
    """A mechanism file made ready: what is left is the integration."""

    def __init__(self, file: str):
        spec = read(SPECS / file)
        mechanism = build(spec)
        self.start = assemble(mechanism, System(mechanism), spec.problem)
        self.system = self.start.system
        self.structure = analyse(self.system)

    def run(self, end: float, tolerance: float, order: int | None = None) -> Solution:
        return integrate(
            self.system, self.structure, self.start, tend=end, tolerance=tolerance, order=order, keep="steps"
        )

    def march(self, tolerance: float) -> tuple[Any, np.ndarray]:
        """The kernel ready to march as `integrate` would, and the state it starts from."""
        plan = planned(self.system, self.structure)
        march = new_march(plan, order_for(tolerance, plan), tolerance)
        return march, state_of(self.system, plan.variable_offsets, self.start)

    def columns(self, owners: tuple[str, ...]) -> list[int]:
        return [i for i, variable in enumerate(self.system.mechanism.variables) if variable.owner in owners]


def andrews_angles(prepared: Prepared, q: np.ndarray) -> list[float]:
    value = {v.label: float(x) for v, x in zip(prepared.system.mechanism.variables, q, strict=True)}
    points = {name: complex(value[f"{name}_x"], value[f"{name}_y"]) for name in "EFGH"}
    return angles_of_points(value["theta_OF"], points)


def against_digits(prepared: Prepared, repeats: int = 17) -> list[Row]:
    """Rows as a peer's. As heyoka compiles once and is then propagated again and again from the same state, the march
    is made ready once (`preparing`) and its time is that of the kernel alone, state set and all steps taken."""
    rows = []
    for tolerance in TOLERANCES:
        began = perf_counter()
        march, state = prepared.march(float(tolerance))
        preparing = perf_counter() - began
        times = []
        for _ in range(repeats):
            began = perf_counter()
            march.set_state(prepared.start.t, state)
            status, t, unknowns, *_ = march.advance(0.03, 1_000_000, math.inf, False)
            times.append(perf_counter() - began)
            assert status == Status.REACHED
        row: Row = {"peer": "mechsim", "form": "the mechanism file", "setting": tolerance}
        row |= {"digits": round(digits(andrews_angles(prepared, unknowns[-1, : prepared.system.n])), 2)}
        row |= {"steps": len(t) - 1, "times": times, "preparing": preparing}
        rows.append(row)
    return rows


def significant_digits(values: np.ndarray, reference: np.ndarray) -> float:
    """SCD of seed 001, section 4.6."""
    worst = float(np.max(np.abs((values - reference) / reference)))
    return -math.log10(max(worst, 1e-17))


def energy_curve(prepared: Prepared, solution: Solution, tolerance: float) -> Row:
    """(E_t - E_0)/tol at about ENERGY_POINTS of the steps taken."""
    t, q, v = solution.t, solution.q, solution.v
    pick = np.unique(np.linspace(0, len(t) - 1, ENERGY_POINTS).round().astype(int))
    kinetic, potential = prepared.system.energies(t[pick], q[pick], v[pick])
    drift = (kinetic + potential - kinetic[0] - potential[0]) / tolerance
    return {"tolerance": tolerance, "t": t[pick].tolist(), "drift": drift.tolist()}


def figure(experiment: Figure) -> Row:
    """CPU time against digits, and energy error over tolerance against t; the reference is our run at 1e-14."""
    prepared = Prepared(experiment.file)
    columns = prepared.columns(experiment.owners)

    def judged(solution: Solution) -> np.ndarray:
        parts = [solution.q[-1][columns]] + ([solution.v[-1][columns]] if experiment.velocities else [])
        return np.concatenate(parts)

    reference = prepared.run(experiment.end, 1e-14, FIGURE_ORDER)
    repeats = max(1, min(7, round(1.0 / reference.statistics["seconds"])))
    rows: list[Row] = []
    curves = []
    for tolerance in FIGURE_TOLERANCES:
        runs = [prepared.run(experiment.end, tolerance, FIGURE_ORDER) for _ in range(repeats)]
        row: Row = {"tolerance": tolerance, "digits": significant_digits(judged(runs[-1]), judged(reference))}
        row |= {"seconds": min(run.statistics["seconds"] for run in runs), "steps": runs[-1].statistics["steps"]}
        rows.append(row)
        if any(math.isclose(tolerance, wanted) for wanted in ENERGY_TOLERANCES):
            curves.append(energy_curve(prepared, runs[-1], tolerance))
    print(f"  {experiment.title}: {rows[-1]['digits']:.1f} digits at 1e-13, {rows[-1]['seconds']:.3f} s", flush=True)
    return {"key": experiment.key, "title": experiment.title, "rows": rows, "energy": curves}
