"""Lyapunov exponents as they were found: averages with error bars, how these came about, and what follows from them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

from mechsim._version import __version__
from mechsim.errors import Fault
from mechsim.frozen import frozen
from mechsim.result.layout import Array
from mechsim.result.paths import SIGNATURE, OutputError, check_target, replacing

# The spread of 4 blocks is known to two fifths, but motions that linger beside islands of order need blocks so long.
BLOCKS = (64, 32, 16, 8, 4)
# An average is zero within its error up to so many of it. Motions that part like a power of time make log(t) / t of it.
ZERO = 3.0
ONE_DIGIT = 0.25  # an error that is a larger share of its exponent leaves no digit
SUMS = 5.0  # errors by which the sum may be off the mean divergence
FORMS = (".csv", ".npz")


@frozen(slots=False, eq=False)
class Exponents:
    """Exponents in falling order, 1/s, with errors of one standard deviation; `dimension` is how many there are. Those
    of directions that contacts have taken for good, because they last, are minus infinity.

    `times` and `running` (times, exponents) tell how averages from `begun` on came to their values. The status is
    "finished", or "interrupted" where Ctrl-C ended it.
    """

    values: Array
    errors: Array
    sum_error: float
    dimension: int
    conservative: bool  # no force does work that no potential gives back, no velocity is constrained by itself
    begun: float  # where the average begins, after the transient
    times: Array
    running: Array
    status: str
    statistics: dict[str, float]
    divergence: tuple[float, float] | None = None  # its mean along the motion and the error of that, where known

    @classmethod
    def of(
        cls,
        times: Array,
        totals: Array,
        *,
        dimension: int,
        conservative: bool,
        status: str,
        statistics: dict[str, float],
        divergence: tuple[float, float] | None = None,
    ) -> Exponents:
        """From logarithms of lengths at equally spaced times, (times, exponents). Those that come to minus infinity, at
        whatever time, are of directions that a contact has taken for good."""
        span = times[1:] - times[0]
        gone = ~np.isfinite(totals[-1])
        with np.errstate(invalid="ignore"):  # of these
            running = np.where(gone, -np.inf, (totals[1:] - totals[0]) / span[:, None])
            local = np.where(gone, 0.0, np.diff(totals, axis=0) / np.diff(times)[:, None])
        order = np.argsort(-running[-1], kind="stable")
        errors = errors_of(np.column_stack([local[:, order], local.sum(axis=1)]), float(span[-1]))
        return cls(
            values=running[-1, order],
            errors=np.where(gone[order], 0.0, errors[:-1]),
            sum_error=float(errors[-1]),
            dimension=dimension,
            conservative=conservative,
            begun=float(times[0]),
            times=times[1:],
            running=running[:, order],
            status=status,
            statistics=statistics,
            divergence=divergence,
        )

    @property
    def span(self) -> float:
        """The time that is averaged over."""
        return float(self.times[-1] - self.begun)

    @property
    def complete(self) -> bool:
        """Whether these are all exponents there are."""
        return len(self.values) == self.dimension

    @property
    def zero(self) -> np.ndarray:
        """Which exponents are zero within their errors."""
        return np.asarray(np.abs(self.values) <= ZERO * self.errors)

    @property
    def lost(self) -> int:
        """How many are minus infinity."""
        return int(np.count_nonzero(np.isneginf(self.values)))

    @property
    def sum(self) -> float:
        """Of all exponents that are finite, the mean divergence of the flow; of some, the rate at which their volume
        grows."""
        return float(self.values[np.isfinite(self.values)].sum())

    @property
    def unpaired(self) -> float | None:
        """How far the exponents of a conservative motion are from pairs of opposite sign, which they are in the limit;
        None for others, and where not all are known."""
        return float(np.max(np.abs(self.values + self.values[::-1]))) if self.complete and self.conservative else None

    @property
    def kaplan_yorke(self) -> float | None:
        """The dimension of the attractor by the formula of Kaplan and Yorke; None where more exponents are needed."""
        if self.conservative:
            return float(self.dimension)  # no volume is lost
        sums = np.cumsum(np.where(self.zero, 0.0, self.values))
        kept = int(np.count_nonzero(np.minimum.accumulate(sums) >= 0))
        if kept == len(sums):
            return float(kept) if self.complete else None
        return kept + (float(sums[kept - 1]) / -float(self.values[kept]) if kept else 0.0)

    @property
    def adds_up(self) -> bool:
        """Whether the sum of all is the mean divergence, as far as both are known. Volumes of states are measured here
        by other coordinates, which makes a bounded number over the time."""
        if self.divergence is None or not self.complete or not math.isfinite(self.sum):
            return True
        mean, error = self.divergence
        return abs(self.sum - mean) <= SUMS * (math.hypot(self.sum_error, error) + self.dimension / self.span)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know before they trust the digits."""
        first, error = float(self.values[0]), float(self.errors[0])
        found = [f"interrupted at t = {self.times[-1]:g}: averages end there"] if self.status == "interrupted" else []
        if self.lost:
            which = "1 of the exponents is" if self.lost == 1 else f"{self.lost} of the exponents are"
            why = "what held for a while, a contact, a bond or friction that stuck, has taken directions away"
            found.append(f"{which} minus infinity: {why}")
        if math.isinf(first):
            return tuple(found)
        if not math.isfinite(error):
            return (*found, "the run is too short for error bars, and so for any digit")
        if not self.adds_up:
            mean, spread = self.divergence or (math.nan, math.nan)
            found.append(
                f"the sum {self.sum:.3g} is not the mean divergence {mean:.3g} ± {spread:.1g}: do not trust it"
            )
        if abs(first) <= ZERO * error:
            told = f"the largest exponent is zero within its error {error:.2g}"
            longer = f"a run {1 / ONE_DIGIT**2:.0f} times as long would quarter it"
            found.append(f"{told}: motions part slowly, or the run is too short to tell; {longer}")
        elif error > ONE_DIGIT * abs(first):
            needed = self.span * (error / (ONE_DIGIT * abs(first))) ** 2
            message = f"the run is too short for a digit of the largest exponent, whose error is {error:.2g}"
            found.append(f"{message}: errors fall with the root of the time, so {needed:.2g} s of it would do")
        return tuple(found)

    def as_dict(self) -> dict[str, object]:
        """What `--json` prints."""
        return {
            "status": self.status,
            "exponents": [value if math.isfinite(value) else None for value in self.values.tolist()],
            "lost": self.lost,
            "errors": [error if math.isfinite(error) else None for error in self.errors.tolist()],
            "zero": self.zero.tolist(),
            "dimension": self.dimension,
            "conservative": self.conservative,
            "sum": self.sum,
            "sum_error": self.sum_error if math.isfinite(self.sum_error) else None,
            "divergence": None if self.divergence is None else self.divergence[0],
            "divergence_error": None if self.divergence is None else self.divergence[1],
            "unpaired": self.unpaired,
            "kaplan_yorke": self.kaplan_yorke,
            "begun": self.begun,
            "tend": float(self.times[-1]),
            "notes": list(self.notes),
            "statistics": self.statistics,
        }

    def save(self, path: str | Path) -> None:
        """Write averages against time to a .csv or .npz; raises OutputError."""
        target = check_history(path)
        with replacing(target) as temporary:
            if target.suffix.lower() == ".npz":
                with open(temporary, "wb") as stream:
                    np.savez(stream, t=self.times, running=self.running, exponents=self.values, errors=self.errors)
            else:
                temporary.write_text(self._csv(), encoding="utf-8")

    def _csv(self) -> str:
        told = {key: value for key, value in self.as_dict().items() if key != "statistics"}
        names = ["t", *(f"lambda_{number + 1}" for number in range(len(self.values)))]
        rows = np.column_stack([self.times, self.running]).tolist()
        lines = [f"{SIGNATURE.decode()}{__version__}", f"# lyapunov: {json.dumps(told)}", ",".join(names)]
        return "\n".join([*lines, *(",".join(map(repr, row)) for row in rows)]) + "\n"


def check_history(path: str | Path) -> Path:
    """The path that averages can be written to, or an OutputError that says why not."""
    target = check_target(path)
    if target.suffix.lower() not in FORMS:
        raise OutputError(Fault(f"cannot write {path}: averages go to other files", hint=f"use {' or '.join(FORMS)}"))
    return target


def errors_of(local: Array, span: float) -> Array:
    """Standard errors of the means of local exponents (laps, exponents), equally long laps of a time `span`.

    By blocks (Flyvbjerg and Petersen 1989): means over longer blocks are more independent, so that s / sqrt(blocks), by
    their spread s, comes to a plateau; the largest of its values for BLOCKS counts, a fifth above the plateau on
    average. More blocks say too much where lengths swing to and fro. One unit of the logarithm over the time comes on
    top, squared: which directions one begins with, and by which norm they are measured, is worth so much.
    """
    if len(local) < max(BLOCKS):
        return np.full(local.shape[1], np.inf)
    spreads = []
    for blocks in BLOCKS:
        size = len(local) // blocks
        means = local[len(local) - blocks * size :].reshape(blocks, size, -1).mean(axis=1)
        spreads.append(means.std(axis=0, ddof=1) / math.sqrt(blocks))
    return np.asarray(np.hypot(np.max(spreads, axis=0), 1.0 / span))
