"""How each of many motions ended: statuses, the columns of all ends, and what is known of one that went alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechsim.engine.many import COUNTS, Many
from mechsim.engine.many import STATUSES as ENDINGS
from mechsim.errors import AssemblyError, IntegrationError, MechsimError, SpecError
from mechsim.frozen import frozen
from mechsim.model.mechanism import Mechanism
from mechsim.result import Motion
from mechsim.result.layout import Array
from mechsim.simulation import CutShort

NOT_BEGUN = {SpecError: "not_read", AssemblyError: "not_assembled", IntegrationError: "not_started"}
NOT_FOLLOWED = "not_followed"  # the branch of its start was lost, and a BranchWarning is an error
STATUSES = (*ENDINGS, *NOT_BEGUN.values(), NOT_FOLLOWED)
Indices = NDArray[np.intp]


@frozen(slots=False)
class Ending:
    """Where a motion of its own mechanism ended."""

    mechanism: Mechanism
    labels: tuple[str, ...]  # of coordinates, then of multipliers
    t: float
    q: Array
    v: Array
    lam: Array
    energies: tuple[float, float]
    counts: Sequence[int]
    projection: float

    @classmethod
    def of(cls, motion: Motion) -> Ending:
        solution = motion.solution
        last = solution.t[-1:], solution.q[-1:], solution.v[-1:]
        kinetic, potential = solution.system_at(solution.t[-1:]).energies(*last)
        statistics = solution.statistics
        return cls(
            motion.mechanism,
            tuple(solution.system.labels),
            float(solution.t[-1]),
            solution.q[-1],
            solution.v[-1],
            solution.lam[-1],
            (float(kinetic[0]), float(potential[0])),
            [int(statistics.get(name, statistics["steps"])) for name in COUNTS],
            float(statistics["largest_projection"]),
        )


@dataclass
class Alone:
    """A motion that was followed alone, or why there is none."""

    found: Motion | None = None
    problem: MechsimError | None = None
    ending: Ending | None = None

    @property
    def words(self) -> str:
        return "" if self.problem is None else "; ".join(fault.message for fault in self.problem.faults)


@dataclass(eq=False)
class Ends:
    """Where all motions ended; NaN where that is not known."""

    t: Array
    q: Array
    v: Array
    lam: Array
    codes: NDArray[np.int8]
    counts: NDArray[np.int64]
    projections: Array

    @classmethod
    def unknown(cls, count: int, coordinates: int, multipliers: int) -> Ends:
        q, v, lam = (np.full((count, size), np.nan) for size in (coordinates, coordinates, multipliers))
        codes = np.full(count, STATUSES.index("interrupted"), dtype=np.int8)
        counts = np.zeros((count, len(COUNTS)), dtype=np.int64)
        return cls(np.full(count, np.nan), q, v, lam, codes, counts, np.zeros(count))

    def chosen(self, rows: slice) -> Ends:
        return Ends(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def take(self, rows: Indices, many: Many) -> None:
        self.t[rows], self.q[rows], self.v[rows], self.lam[rows] = many.t, many.q, many.v, many.lam
        self.codes[rows], self.projections[rows] = many.codes, many.statistics["largest_projection"]
        for place, name in enumerate(COUNTS):
            self.counts[rows, place] = many.statistics[name]

    def take_alone(self, row: int, alone: Alone, code: int, labels: tuple[str, ...]) -> None:
        """Unknowns by their labels, for its mechanism may have others."""
        self.codes[row] = code
        if (ending := alone.ending) is None:
            return
        self.t[row], self.projections[row], self.counts[row] = ending.t, ending.projection, ending.counts
        n = self.q.shape[1]
        values = dict(zip(ending.labels, [*ending.q, *ending.lam], strict=True))
        rates = dict(zip(ending.labels, ending.v, strict=False))
        self.q[row] = [values.get(label, np.nan) for label in labels[:n]]
        self.v[row] = [rates.get(label, np.nan) for label in labels[:n]]
        self.lam[row] = [values.get(label, np.nan) for label in labels[n:]]


def of_motion(motion: Motion, kept: bool, error: MechsimError | None = None) -> tuple[Alone, str]:
    """A motion that was followed alone, and its status."""
    if not len(motion.solution.t):
        return Alone(problem=error), motion.status
    return Alone(motion if kept else None, error, Ending.of(motion)), motion.status


def of_error(error: MechsimError, kept: bool) -> tuple[Alone, str]:
    if isinstance(error, CutShort):
        return of_motion(error.motion, kept, IntegrationError(*error.faults))
    status = next((name for kind, name in NOT_BEGUN.items() if isinstance(error, kind)), "not_started")
    return Alone(problem=error), status
