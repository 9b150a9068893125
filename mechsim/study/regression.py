"""Batch regression: specs with a `Reference` are run, judged, and compared with the figures accepted last.

A run **fails** when it misses its Reference or does not come to its end. It has **regressed** when it meets the Reference,
but by less than was accepted: fewer digits, more steps, a larger drift of energy. Time is told and never judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

# Errors at tight tolerances are roundings, which another compiler or processor makes otherwise; tolerances that differ
# by a hair change the digits of our specs by up to 0.9. A method that lost order or a projection costs more than one.
FEWER_DIGITS = 1.0
MORE_STEPS = 0.05  # of the accepted ones, for the same reason; one step more is always allowed
LARGER_DRIFT = 10.0  # times the accepted one
ROUNDING_DRIFT = 1e-13  # below this a drift is rounding, however many times the accepted one it is

FINISHED = "finished"
PASSED, NEW, BETTER = "passed", "new", "better"
REGRESSED, FAILED, VANISHED = "regressed", "failed", "vanished"
NO_REFERENCE = "no reference"
BAD = (FAILED, REGRESSED, VANISHED)


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a Reference: digits that were found and that are asked for."""

    column: str
    time: float
    digits: float
    asked: float


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run came to. `status` is "finished", or what it failed at; `missed` are bars of its Reference."""

    status: str
    message: str = ""
    title: str = ""
    values: tuple[Value, ...] = ()
    missed: tuple[str, ...] = ()
    energy: float | None = None
    constraints: float | None = None
    steps: int | None = None
    rejected: int | None = None
    order: int | None = None
    tolerance: float | None = None
    seconds: float | None = None  # of the integration alone
    seconds_in_all: float | None = None

    @property
    def worst(self) -> Value | None:
        """The value that comes nearest to its bar, or misses it furthest."""
        return min(self.values, key=lambda each: (each.digits - each.asked, each.time, each.column), default=None)

    @property
    def digits(self) -> float | None:
        """Its digits: those of the run."""
        return self.worst.digits if self.worst else None

    @property
    def attempts(self) -> int | None:
        """Steps taken and steps rejected: what a run costs, on any machine."""
        return None if self.steps is None else self.steps + (self.rejected or 0)


@dataclass(frozen=True, slots=True)
class Accepted:
    """Figures that were accepted after review."""

    digits: float | None
    steps: int
    rejected: int
    energy: float

    @property
    def attempts(self) -> int:
        return self.steps + self.rejected

    @staticmethod
    def of(figures: Figures) -> Accepted:
        """Rounded to what means something, so that a file of them changes only when something did."""
        digits = None if figures.digits is None else round(figures.digits, 1)
        return Accepted(digits, figures.steps or 0, figures.rejected or 0, float(f"{figures.energy or 0.0:.1e}"))

    def as_dict(self) -> dict[str, float]:
        return {name: value for name, value in asdict(self).items() if value is not None}

    @staticmethod
    def from_dict(values: Mapping[str, float]) -> Accepted:
        """Raises KeyError, TypeError or ValueError for what is none."""
        digits = values.get("digits")
        counts = int(values["steps"]), int(values["rejected"])
        return Accepted(None if digits is None else float(digits), *counts, float(values["energy"]))

    def changes(self, new: Accepted) -> list[str]:
        """What differs, in words: `steps 110 to 105`."""
        pairs = [(each.name, getattr(self, each.name), getattr(new, each.name)) for each in fields(self)]
        return [f"{name} {old} to {now}" for name, old, now in pairs if old != now]


@dataclass(frozen=True, slots=True)
class Row:
    """One spec of a batch: what it came to, what was accepted, and the verdict with its reasons."""

    spec: str  # as a person would type it
    verdict: str
    reasons: tuple[str, ...] = ()
    figures: Figures | None = None
    accepted: Accepted | None = None


def judged(spec: str, figures: Figures, accepted: Accepted | None) -> Row:
    """The row of a spec that was run."""
    if figures.status != FINISHED:
        return Row(spec, FAILED, (figures.message,), figures, accepted)
    if figures.missed:
        return Row(spec, FAILED, figures.missed, figures, accepted)
    if accepted is None:
        return Row(spec, NEW, (), figures)
    if worse := _worse(figures, accepted):
        return Row(spec, REGRESSED, worse, figures, accepted)
    gains = _gains(figures, accepted)
    return Row(spec, BETTER if gains else PASSED, gains, figures, accepted)


def counted(rows: Sequence[Row]) -> dict[str, int]:
    """How many rows have each verdict, in the order in which people want to know."""
    order = (PASSED, BETTER, NEW, REGRESSED, FAILED, VANISHED, NO_REFERENCE)
    found = {verdict: sum(row.verdict == verdict for row in rows) for verdict in order}
    return {verdict: number for verdict, number in found.items() if number}


def is_bad(rows: Sequence[Row]) -> bool:
    """Whether any spec failed, regressed or vanished."""
    return any(row.verdict in BAD for row in rows)


def _worse(figures: Figures, accepted: Accepted) -> tuple[str, ...]:
    reasons = []
    if accepted.digits is not None and figures.digits is None:
        reasons.append(f"its Reference has no values any more; {accepted.digits:.1f} digits were accepted")
    elif accepted.digits is not None and (figures.digits or 0.0) < accepted.digits - FEWER_DIGITS:
        reasons.append(f"{figures.digits:.1f} digits, where {accepted.digits:.1f} were accepted")
    attempts = figures.attempts or 0
    if attempts > max(accepted.attempts * (1.0 + MORE_STEPS), accepted.attempts + 1):
        reasons.append(f"{attempts} steps with rejected ones, where {accepted.attempts} were accepted")
    energy = figures.energy or 0.0
    if not energy <= max(LARGER_DRIFT * accepted.energy, ROUNDING_DRIFT):
        reasons.append(f"energy drifts by {energy:.1e}, where {accepted.energy:.1e} was accepted")
    return tuple(reasons)


def _gains(figures: Figures, accepted: Accepted) -> tuple[str, ...]:
    gains = []
    if accepted.digits is not None and (figures.digits or 0.0) > accepted.digits + FEWER_DIGITS:
        gains.append(f"{figures.digits:.1f} digits, where {accepted.digits:.1f} were accepted")
    attempts = figures.attempts or 0
    if attempts < min(accepted.attempts * (1.0 - MORE_STEPS), accepted.attempts - 1):
        gains.append(f"{attempts} steps with rejected ones, where {accepted.attempts} were accepted")
    return tuple(gains)
