"""What is asked of a section or of a diagram."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike

from mechsim.analysis.subject import Subject
from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.measure.reading import Vocabulary
from mechsim.result.layout import Array
from mechsim.spec.suggest import did_you_mean

DIRECTIONS = ("up", "down", "both")
WAYS = ("up", "down", "both")


@frozen
class Cut:
    """What a section is: whole periods of a forcing, zeros of an expression in a direction, or an event of the file."""

    period: str | float | None = None
    expression: str | None = None
    direction: str = "up"
    event: str | None = None


@frozen
class Wanted:
    """What is asked of a section: `points` of each motion after a `transient`, which may be an expression of
    parameters; columns, and which two are drawn (None: chosen); parameters that `vary` and coordinates of `starts`,
    each with its values, of which all combinations are taken. Over one parameter it is a diagram, in which motions may
    `follow` each other: each begins where the one before ended."""

    cut: Cut
    points: int = 1000
    transient: str | float = 0.0
    columns: Sequence[str] | None = None
    axes: tuple[str | None, str | None] = (None, None)
    vary: Mapping[str, Array] = field(default_factory=dict)
    starts: Mapping[str, Array] = field(default_factory=dict)
    over: str | None = None
    follow: str | None = None


def settings(given: Mapping[str, ArrayLike] | None) -> dict[str, Array]:
    """Values by name, as a program gives them. Raises SpecError."""
    found = {name: np.atleast_1d(np.asarray(values, dtype=float)) for name, values in (given or {}).items()}
    for name, values in found.items():
        if values.ndim != 1 or not values.size or not np.isfinite(values).all():
            raise SpecError(Fault(f"the values of {name} must be finite numbers in a row"))
    return found


def refuse(subject: Subject, wanted: Wanted) -> None:
    """Raise SpecError for what makes no sense."""
    cut = wanted.cut
    if sum(each is not None for each in (cut.period, cut.expression, cut.event)) != 1:
        message = "a section is by a period, by an expression that crosses zero, or by an event: say one of them"
        raise SpecError(Fault(message))
    if cut.direction not in DIRECTIONS:
        raise SpecError(Fault(f"a direction is one of {', '.join(DIRECTIONS)}, not {cut.direction}"))
    if wanted.points < 1:
        raise SpecError(Fault(f"a section has points from 1 on, not {wanted.points}"))
    if cut.event is not None and happening_of(subject.names, cut.event) is None:
        known = list(subject.names.happenings)
        hint = did_you_mean(cut.event, known) or (f"there are {', '.join(known)}" if known else "there is none")
        raise SpecError(Fault(f"there is no event or contact {cut.event}", hint=hint))
    for name in wanted.vary:
        if name not in subject.parameters:
            raise SpecError(Fault(f"there is no parameter {name}", hint=parameters_hint(name, subject.parameters)))
    if wanted.follow is not None and (wanted.over is None or len(wanted.vary) > 1 or wanted.starts):
        raise SpecError(Fault("motions follow each other over one parameter: give one, and no starts"))
    if wanted.follow is not None and wanted.follow not in WAYS:
        raise SpecError(Fault(f"motions follow each other one of {', '.join(WAYS)}, not {wanted.follow}"))


def parameters_hint(name: str, known: Collection[str]) -> str:
    """What there is instead of a parameter that there is not."""
    return did_you_mean(name, known) or (f"there are {', '.join(known)}" if known else "there are no parameters")


def happening_of(names: Vocabulary, event: str) -> str | None:
    """What an event or contact is called where it happens; contacts go by their own names too, or by their columns'."""
    return names.happenings.get(event, names.happenings.get(f"contact_{event}"))


def combined(varied: Mapping[str, Array]) -> tuple[dict[str, Array], int]:
    """All combinations of values, a column for each name; the last varies fastest."""
    if not varied:
        return {}, 1
    grids = np.meshgrid(*(np.asarray(values, dtype=float) for values in varied.values()), indexing="ij")
    return {name: grid.ravel() for name, grid in zip(varied, grids, strict=True)}, grids[0].size
