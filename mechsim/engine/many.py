"""Many motions of one mechanism at once, in the kernel's lanes and in threads. A motion that fails is a status."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from mechsim.engine import MESSAGES, integrate
from mechsim.engine.control import order_for
from mechsim.engine.fleets import Fleets, NumberTables, Sets
from mechsim.engine.leading import planned
from mechsim.engine.segments import Segments
from mechsim.engine.solution import Solution
from mechsim.engine.state import InitialState, States
from mechsim.frozen import frozen
from mechsim.kernel import _kernel
from mechsim.kernel.compiled import Status
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System
from mechsim.structure import Structure

SLICE = 0.05  # seconds that the kernel runs before it is asked whether to go on
MOST_AT_ONCE = 1024  # motions of one fleet: their numbers and results are in memory
PORTIONS = 4  # for each thread, so that all have something to do to the end
KEPT = {"final": 0, "steps": 1, "polynomials": 2}
# alone: steps of a march of its own
COUNTS = ("steps", "alone", "rejected", "factorizations", "evaluations", "pivot_choices")
OTHER_STRUCTURE = "other_structure"
# How a motion can end, by the numbers of the kernel; then what only a march of its own says, and what begins none.
STATUSES = (*("finished", "interrupted"), *(s.name.lower() for s in Status if s > 1), "contradiction", OTHER_STRUCTURE)

Record = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # times, unknowns, rates, polynomials


@frozen(slots=False)
class Many:
    """Motions of one mechanism, as they ended: one row each. What is not known is NaN.

    `status` as of a Solution, or "other_structure": with these parameters the file describes another mechanism.
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    codes: np.ndarray  # of STATUSES
    statistics: dict[str, np.ndarray]
    kept: tuple[Record | Solution | None, ...]  # of each motion, where wished; a Solution of one that went alone
    seconds: float
    system: System
    structure: Structure
    plan: Plan
    order: int
    tolerance: float
    sets: Sets | None

    def __len__(self) -> int:
        return len(self.t)

    @property
    def status(self) -> tuple[str, ...]:
        return tuple(STATUSES[code] for code in self.codes.tolist())

    @property
    def finished(self) -> np.ndarray:
        return np.asarray(self.codes == 0)

    def message(self, k: int) -> str:
        """Why a motion has not come to its end."""
        return words_of(STATUSES[self.codes[k]], self.t[k])

    def without_sets(self) -> Many:
        """The same, less the numbers of all motions, which are many."""
        return replace(self, sets=None)

    def solution(self, k: int) -> Solution:
        """One motion, of those whose steps or polynomials were kept."""
        kept = self.kept[k] if self.kept else None
        if kept is None:
            raise ValueError(f"of motion {k} only its end is known: keep='steps' or keep='polynomials'")
        if isinstance(kept, Solution):
            return kept
        system = self.system if self.sets is None else self.sets.system(self.system, k)
        plan = self.plan if self.sets is None else self.sets.plan(self.plan, system, k)
        t, x, rates, polynomials = kept
        n = system.n
        coefficients = np.ascontiguousarray(polynomials.transpose(0, 2, 1)) if len(polynomials) else None
        statistics = {name: column[k].item() for name, column in self.statistics.items()} | {"order": self.order}
        head = (t, x[:, :n], rates[:, :n], x[:, n:], coefficients, Segments.whole(float(t[0]), float(t[-1])))
        told = (STATUSES[self.codes[k]], self.message(k), statistics)
        return Solution(*head, *told, system, self.structure, plan, self.order, self.tolerance)


def words_of(status: str, t: float) -> str:
    """Why a motion with this status came to t only."""
    if status == OTHER_STRUCTURE:
        return "with these parameters the mechanism has another structure: its file must be read anew"
    reasons = {each.name.lower(): words for each, words in MESSAGES.items()}
    where = "at its start" if math.isnan(t) else f"at t = {t:.9g}"
    return f"{reasons[status]}, {where}" if status in reasons else ""


def integrate_many(
    system: System,
    structure: Structure,
    starts: Sequence[InitialState],
    *,
    tends: ArrayLike,
    tolerance: float,
    order: int | None = None,
    sets: Sets | None = None,
    keep: str = "final",
    threads: int = 1,
    fleets: Fleets | None = None,
    reference: InitialState | None = None,
) -> Many:
    """March from each of `starts` to its end, one of `tends` or the only one. Starts are States, as columns, or a list
    of what has the attributes of one.

    `sets` gives each motion parameters of its own; the system is that of the file. `keep`: "final" points only, all
    "steps", or the "polynomials" of all steps. `reference` is the state at which pivots are chosen, by default the
    first start; `fleets`, made with it, may serve many calls. A motion depends on nothing but its own numbers, its
    start and the reference. Tables, samplers, redundant constraints and starts on singular poses are not for lanes:
    such motions are followed one by one.
    """
    began = time.perf_counter()
    count = len(starts)
    ends = np.ascontiguousarray(np.broadcast_to(np.asarray(tends, dtype=float), (count,)))
    plan = fleets.plan if fleets else planned(system, structure)
    order = order or (fleets.order if fleets else order_for(tolerance, plan))
    if fleets is None and count:
        fleets = Fleets(system, plan, reference or starts[0], order, tolerance)
    gathered = _Gathered(system, plan, count, keep)
    good = np.ones(count, dtype=bool) if sets is None else sets.hold
    gathered.refuse(np.flatnonzero(~good))
    states = starts if isinstance(starts, States) else States.of(starts, system.n)
    alone = _go_alone(system, plan, states)
    one_by_one, in_lanes = np.flatnonzero(good & alone), np.flatnonzero(good & ~alone)
    stop = threading.Event()

    def follow(k: int) -> None:
        own = system if sets is None else sets.system(system, k)
        kept = "steps" if keep == "final" else keep
        if not stop.is_set():
            solution = integrate(own, structure, starts[k], tend=ends[k], tolerance=tolerance, order=order, keep=kept)
            gathered.take_solution(k, solution)

    def run(chosen: np.ndarray) -> None:
        assert fleets is not None
        begun = states.derivatives(plan.variable_offsets, chosen)
        with fleets.one() as fleet:
            blocks, constants, scales, matrix = tables.of(chosen)
            fleet.begin(blocks, constants, scales, matrix, states.t[chosen], begun, ends[chosen], KEPT[keep])
            while not stop.is_set() and not fleet.run(SLICE):
                pass
            gathered.take(chosen, fleet)

    tables = NumberTables(plan, sets)
    size = _portion(len(in_lanes), threads, fleets.width) if fleets and threads > 1 else MOST_AT_ONCE
    tasks = [partial(run, in_lanes[first : first + size]) for first in range(0, len(in_lanes), size)]
    _do([*tasks, *(partial(follow, int(k)) for k in one_by_one)], threads, stop)
    seconds = time.perf_counter() - began
    return Many(
        gathered.t, gathered.q, gathered.v, gathered.lam, gathered.codes, gathered.statistics, tuple(gathered.kept),
        seconds, system, structure, plan, order, tolerance, sets,
    )  # fmt: skip


def _portion(count: int, threads: int, width: int) -> int:
    """How many motions a thread takes at once: such that all have something to do, and all lanes of each."""
    rows = -(-count // (PORTIONS * threads * width))
    return min(MOST_AT_ONCE, width * max(1, rows))


def _go_alone(system: System, plan: Plan, states: States) -> np.ndarray:
    if system.switches or system.samplers or plan.redundant:
        return np.ones(len(states), dtype=bool)
    return np.asarray(states.singular & (states.velocities != 0).any(axis=1))


def _do(tasks: Iterable[Callable[[], None]], threads: int, stop: threading.Event) -> None:
    """All tasks; an interrupt ends them where they are."""
    try:
        if threads == 1:
            for task in tasks:
                task()
            return
        with ThreadPoolExecutor(threads) as pool:
            futures = [pool.submit(task) for task in tasks]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                stop.set()
                raise
    except KeyboardInterrupt:
        stop.set()


class _Gathered:
    """Results of motions in the order of their starts; threads fill in their own rows."""

    def __init__(self, system: System, plan: Plan, count: int, keep: str):
        self.n, self.keep = system.n, keep
        self.t = np.full(count, np.nan)
        self.x, self.rates = np.full((2, count, plan.size), np.nan)
        self.codes = np.full(count, STATUSES.index("interrupted"), dtype=np.int8)
        self.counts = np.zeros((count, len(COUNTS)), dtype=np.int64)
        self.projections = np.zeros(count)
        self.kept: list[Record | Solution | None] = [None] * count if keep != "final" else []

    def refuse(self, rows: np.ndarray) -> None:
        self.codes[rows] = STATUSES.index(OTHER_STRUCTURE)

    def take(self, rows: np.ndarray, fleet: _kernel.Fleet) -> None:
        counts, projections = fleet.counts()
        self.projections[rows] = projections
        self.t[rows], self.x[rows], self.rates[rows] = fleet.last()
        self.counts[rows] = counts[:, 1:].astype(np.int64)
        self.codes[rows] = counts[:, 0].astype(np.int8)
        if self.keep != "final":
            for place, k in enumerate(rows):
                self.kept[k] = fleet.record(place)

    def take_solution(self, k: int, solution: Solution) -> None:
        self.codes[k] = STATUSES.index(solution.status)
        statistics = solution.statistics
        self.counts[k] = [statistics.get(name, statistics["steps"]) for name in COUNTS]
        self.projections[k] = statistics["largest_projection"]
        if len(solution.t):
            self.t[k] = solution.t[-1]
            self.x[k] = np.concatenate([solution.q[-1], solution.lam[-1]])
            self.rates[k, : self.n] = solution.v[-1]
        if self.keep != "final":
            self.kept[k] = solution

    @property
    def q(self) -> np.ndarray:
        return self.x[:, : self.n]

    @property
    def v(self) -> np.ndarray:
        return self.rates[:, : self.n]

    @property
    def lam(self) -> np.ndarray:
        return self.x[:, self.n :]

    @property
    def statistics(self) -> dict[str, np.ndarray]:
        counts = {name: self.counts[:, i] for i, name in enumerate(COUNTS)}
        return {**counts, "largest_projection": self.projections}
