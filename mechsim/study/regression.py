"""Batch regression: specs with a `Reference` are run, judged, and compared with the figures accepted last.

A run **fails** when it misses its Reference or does not come to its end. It has **regressed** when it meets the
Reference, but by less than was accepted: fewer digits, more steps, more drift of energy. Time is told, never judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields

from mechsim.frozen import frozen

# Errors at tight tolerances are roundings, which another compiler or processor makes otherwise: among runs of our specs
# at tolerances that differ by a tenth, the fewest digits vary by up to 1.1, in one spec by 1.9. What breaks a method
# costs more.
FEWER_DIGITS = 1.5
MORE_STEPS = 0.05  # of the accepted ones, for the same reason; one step more is always allowed
LARGER_DRIFT = 10.0  # times the accepted one
ROUNDING_DRIFT = 1e-13  # below this a drift is rounding, however many times the accepted one it is

FINISHED = "finished"
PASSED, NEW, BETTER = "passed", "new", "better"
REGRESSED, FAILED, VANISHED = "regressed", "failed", "vanished"
NO_REFERENCE = "no reference"
BAD = (FAILED, REGRESSED, VANISHED)


@frozen
class Value:
    """A value of a Reference: digits that were found and that are asked for."""

    column: str
    time: float
    digits: float
    asked: float


@frozen
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
    def margin(self) -> float | None:
        """Its digits beyond those asked for."""
        return self.worst.digits - self.worst.asked if self.worst else None

    @property
    def attempts(self) -> int | None:
        """Steps taken and steps rejected: what a run costs, on any machine."""
        return None if self.steps is None else self.steps + (self.rejected or 0)


@frozen
class Accepted:
    """Figures that were accepted after review; `margin` are digits beyond those asked for."""

    margin: float | None
    steps: int
    rejected: int
    energy: float

    @property
    def attempts(self) -> int:
        return self.steps + self.rejected

    @staticmethod
    def of(figures: Figures) -> Accepted:
        """Rounded to what means something, so that a file of them changes only when something did."""
        margin = None if figures.margin is None else round(figures.margin, 1)
        return Accepted(margin, figures.steps or 0, figures.rejected or 0, float(f"{figures.energy or 0.0:.1e}"))

    def as_dict(self) -> dict[str, float]:
        return {name: value for name, value in asdict(self).items() if value is not None}

    @staticmethod
    def from_dict(values: Mapping[str, float]) -> Accepted:
        """Raises KeyError, TypeError or ValueError for what is none."""
        margin = values.get("margin")
        counts = int(values["steps"]), int(values["rejected"])
        return Accepted(None if margin is None else float(margin), *counts, float(values["energy"]))

    def changes(self, new: Accepted) -> list[str]:
        """What differs, in words: `steps 110 to 105`."""
        pairs = [(each.name, getattr(self, each.name), getattr(new, each.name)) for each in fields(self)]
        return [f"{name} {old} to {now}" for name, old, now in pairs if old != now]


@frozen
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
    if accepted.margin is not None and figures.margin is None:
        reasons.append("its Reference has no values any more, but digits of some were accepted")
    elif accepted.margin is not None and figures.margin is not None and figures.margin < accepted.margin - FEWER_DIGITS:
        reasons.append(_margins(figures.margin, accepted.margin))
    attempts = figures.attempts or 0
    if attempts > max(accepted.attempts * (1.0 + MORE_STEPS), accepted.attempts + 1):
        reasons.append(_steps(attempts, accepted.attempts))
    energy = figures.energy or 0.0
    if not energy <= max(LARGER_DRIFT * accepted.energy, ROUNDING_DRIFT):
        reasons.append(f"energy drifts by {energy:.1e}, where {accepted.energy:.1e} was accepted")
    return tuple(reasons)


def _gains(figures: Figures, accepted: Accepted) -> tuple[str, ...]:
    gains = []
    if accepted.margin is not None and figures.margin is not None and figures.margin > accepted.margin + FEWER_DIGITS:
        gains.append(_margins(figures.margin, accepted.margin))
    attempts = figures.attempts or 0
    if attempts < min(accepted.attempts * (1.0 - MORE_STEPS), accepted.attempts - 1):
        gains.append(_steps(attempts, accepted.attempts))
    return tuple(gains)


def _margins(now: float, accepted: float) -> str:
    return f"{now:.1f} digits beyond what is asked for, where {accepted:.1f} were accepted"


def _steps(now: int, accepted: int) -> str:
    return f"{now} steps, rejected ones included, where {accepted} were accepted"
