"""The Taylor polynomials of many motions, all steps one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mechsim.engine.points import lasting
from mechsim.engine.solution import Solution
from mechsim.frozen import frozen

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Steps = tuple[
    Array, Array
]  # of one motion: times of their ends, the start first; coefficients (steps, degrees, unknowns)


@frozen(slots=False, eq=False)
class Series:
    """Step s of all goes from `begins[s]` to `ends[s]`; there unknown j is the polynomial `coefficients[s, :, j]` of
    the time since its beginning. Those of motion k are the steps `offsets[k]` to `offsets[k + 1]`."""

    unknowns: tuple[str, ...]  # coordinates, then multipliers
    offsets: Indices
    begins: Array
    ends: Array
    coefficients: Array
    constants: Array  # of the mechanism, (motions, constants)

    def of(self, k: int) -> Steps:
        """The times of one motion's steps, (steps + 1,), and their coefficients, (steps, degrees, unknowns)."""
        own = slice(self.offsets[k], self.offsets[k + 1])
        begins, ends = self.begins[own], self.ends[own]
        return np.append(begins[:1], ends), self.coefficients[own]

    def place(self, label: str) -> int:
        """Which of the unknowns has this label; -1 if none."""
        return self.unknowns.index(label) if label in self.unknowns else -1


def joined(unknowns: tuple[str, ...], motions: Sequence[Steps | None], constants: Array) -> Series:
    """Those of all motions; None is one without any."""
    known = [(np.zeros(0), np.zeros((0, 0, len(unknowns)))) if steps is None else steps for steps in motions]
    counts = [len(coefficients) for _, coefficients in known]
    degrees = max((coefficients.shape[1] for _, coefficients in known), default=0)
    offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.intp)]).astype(np.intp)
    none = np.zeros(0)
    begins = np.concatenate([none, *(times[:-1] for times, _ in known)])
    ends = np.concatenate([none, *(times[1:] for times, _ in known)])
    coefficients = np.zeros((int(offsets[-1]), degrees, len(unknowns)))
    for first, (_, own) in zip(offsets.tolist(), known, strict=False):
        coefficients[first : first + len(own), : own.shape[1]] = own
    return Series(unknowns, offsets, begins, ends, coefficients, constants)


def steps_of(solution: Solution, unknowns: tuple[str, ...]) -> Steps | None:
    """The steps of a motion of its own, whose unknowns may be others: of those that it has not nothing is known."""
    if solution.coefficients is None:
        return None
    labels = list(solution.system.labels)
    places = [labels.index(label) if label in labels else -1 for label in unknowns]
    steps, _, degrees = solution.coefficients.shape
    found = np.full((steps, degrees, len(unknowns)), np.nan)
    known = [place for place, at in enumerate(places) if at >= 0]
    found[:, :, known] = solution.coefficients[:, [places[place] for place in known]].transpose(0, 2, 1)
    return lasting(np.asarray(solution.t), found)
